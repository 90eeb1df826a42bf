import { browser } from "../testing/browser";
import assert from "node:assert/strict";
import test from "node:test";
import { effect } from "@preact/signals";
import { own } from "./own";
import { withQuery } from "./query";
import { go, hold, href, leave, moved, parseRoute, route, setQuery } from "./router";

const parsed = (hash: string) => {
  const { page, parts, query } = parseRoute(hash);
  return [page, parts, Object.fromEntries(query)];
};
const here = () => location.hash;

test("an address has a page, parts and a query", () => {
  assert.deepEqual(parsed("#/tools/git/log?q=a&server=b"), ["tools", ["git", "log"], { q: "a", server: "b" }]);
  assert.deepEqual(parsed("#tools"), ["tools", [], {}]);
  assert.deepEqual(parsed("#/tools//log/"), ["tools", ["log"], {}]);
});

test("without a page it is that of the servers", () => {
  for (const hash of ["", "#", "#/", "#/?", "#//"]) assert.equal(parseRoute(hash).page, "servers", hash);
  assert.deepEqual(parsed("#/?q=a"), ["servers", [], { q: "a" }]);
});

test("what names hold stays in its part, there and back", () => {
  for (const name of ["a b", "a/b", "a?b=c&d", "a#b", "100%", "%2F", "…é", "..", "<b>", "a+b"]) {
    assert.deepEqual(parseRoute(href("tools", name, "x")).parts, [name, "x"]);
    assert.equal(parseRoute(withQuery(href("tools"), { q: name })).query.get("q"), name);
  }
  assert.equal(href("tools", "my server", "a/b"), "#/tools/my%20server/a%2Fb");
});

test("a part that is badly written is taken as it is", () => {
  assert.deepEqual(parsed("#/tools/100%/%zz"), ["tools", ["100%", "%zz"], {}]);
  assert.deepEqual(parsed("#/%/x"), ["%", ["x"], {}]);
});

test("only the first question mark begins the query", () => {
  assert.deepEqual(parsed("#/tools?q=why?&server=a?b"), ["tools", [], { q: "why?", server: "a?b" }]);
});

test("a page that is not there is none, whatever it is called", () => {
  const pages = { servers: 1, tools: 2 };
  assert.equal(own(pages, "tools"), 2);
  for (const name of ["nosuch", "constructor", "toString", "__proto__", "hasOwnProperty"])
    assert.equal(own(pages, parseRoute(`#/${name}/x`).page), undefined, name);
});

test("what is empty is left out of a query", () => {
  assert.equal(withQuery("#/tools", { q: "", server: undefined }), "#/tools");
  assert.equal(withQuery("#/tools", { q: "a b", server: "" }), "#/tools?q=a+b");
});

test("going somewhere is a step in the history, a change of the query is none", () => {
  go("tools", "git");
  const steps = browser.steps().length;
  setQuery({ q: "a b", server: "x&y" });
  assert.equal(here(), "#/tools/git?q=a+b&server=x%26y");
  assert.equal(route.value.query.get("server"), "x&y");
  setQuery({ q: undefined });
  assert.equal(here(), "#/tools/git?server=x%26y");
  setQuery({ server: "" });
  assert.equal(here(), "#/tools/git");
  assert.equal(browser.steps().length, steps);
  go("calls");
  assert.equal(browser.steps().length, steps + 1);
  browser.back();
  assert.deepEqual([route.value.page, route.value.parts], ["tools", ["git"]]);
});

test("whoever shows the address draws once a step", () => {
  const seen: string[] = [];
  const stop = effect(() => void seen.push(route.value.page));
  go("modes");
  go("modes");
  go("alerts");
  stop();
  assert.deepEqual(seen, ["tools", "modes", "alerts"]);
});

test("an address that was changed without a step is seen when that is said", () => {
  history.replaceState(null, "", "/#/settings");
  assert.equal(route.value.page, "alerts");
  moved();
  assert.equal(route.value.page, "settings");
});

test("who is held stays where he is, and is asked with where he wanted to go", () => {
  const asked: string[] = [];
  go("configure", "git");
  const release = hold((to) => asked.push(to));
  go("tools", "a/b");
  assert.deepEqual(asked, ["#/tools/a%2Fb"]);
  assert.equal(here(), "#/configure/git");
  assert.equal(route.value.page, "configure");
  setQuery({ tab: "env" });
  assert.equal(here(), "#/configure/git?tab=env", "a change of the query leaves nothing");
  browser.back();
  assert.equal(asked.length, 2);
  assert.equal(here(), "#/configure/git?tab=env");
  release();
  go("tools");
  assert.equal(route.value.page, "tools");
  assert.equal(asked.length, 2);
});

test("leaving goes there whatever holds, and nothing holds afterwards", () => {
  const asked: string[] = [];
  hold((to) => asked.push(to));
  leave("#/calls");
  assert.equal(route.value.page, "calls");
  go("modes");
  assert.equal(route.value.page, "modes");
  assert.deepEqual(asked, []);
});

test("an old hold does not end a newer one", () => {
  const asked: string[] = [];
  const first = hold(() => asked.push("first"));
  const second = hold(() => asked.push("second"));
  first();
  go("servers");
  assert.deepEqual(asked, ["second"]);
  second();
});
