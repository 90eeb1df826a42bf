import assert from "node:assert/strict";
import test from "node:test";
import type { Setting } from "../../hub/types";
import { allRight, defaultOf, defaultText, isChanged, patchOf, problemOf, textOf, titleOf, valueOf } from "./settings_state";
import type { Edits } from "./settings_state";

const make = (more: Partial<Setting> & Pick<Setting, "name" | "kind" | "value" | "default">): Setting => ({ applies: "at_once", pending: false, help: "", ...more });
const health = make({ name: "health_s", kind: "seconds", value: 30, default: "30", min: 0, max: 86400 });
const most = make({ name: "max_servers", kind: "count", value: 5, default: "0", min: 0, max: 1000 });
const jitter = make({ name: "reconnect_jitter", kind: "boolean", value: false, default: "false" });
const expose = make({ name: "expose", kind: "text", value: null, default: '"catalog,builtin"' });
const version = make({ name: "server_version", kind: "text", value: null, default: "the program's" });
const all = [health, most, jitter, expose, version];
const edits = (o: Record<string, unknown>) => new Map(Object.entries(o)) as Edits;
const none: Edits = new Map();

test("defaults are read as values, and told as people write them", () => {
  assert.deepEqual(all.map(defaultOf), [30, 0, false, "catalog,builtin", null]);
  assert.deepEqual(all.map(defaultText), ["30", "0", "off", "catalog,builtin", "the program's"]);
});

test("what is not the default is marked", () => {
  assert.deepEqual(all.map((s) => isChanged(s, none)), [false, true, false, false, false]);
  assert.equal(isChanged(health, edits({ health_s: { text: "10" } })), true);
  assert.equal(isChanged(most, edits({ max_servers: null })), false);
});

test("only what changed is sent", () => {
  assert.deepEqual(patchOf(all, none), {});
  assert.deepEqual(patchOf(all, edits({ health_s: { text: "30" }, expose: { text: "" } })), {}, "typed as it was");
  assert.deepEqual(patchOf(all, edits({ health_s: { text: "1.5" }, reconnect_jitter: true, expose: { text: "catalog" } })), {
    health_s: 1.5,
    reconnect_jitter: true,
    expose: "catalog",
  });
});

test("the default is asked for by null, however it is typed", () => {
  for (const edit of [null, { text: "" }, { text: "0" }])
    assert.deepEqual(patchOf(all, edits({ max_servers: edit })), { max_servers: null });
});

test("numbers are checked against their bounds", () => {
  const cases: [Setting, string, RegExp][] = [
    [health, "soon", /number/],
    [health, "-1", /0 to 86,400/],
    [most, "1.5", /whole/],
    [most, "1001", /0 to 1,000/],
  ];
  for (const [s, text, want] of cases) {
    const e = edits({ [s.name]: { text } });
    assert.match(problemOf(s, e), want);
    assert.equal(valueOf(s, e), undefined);
    assert.equal(allRight(all, e), false);
    assert.deepEqual(patchOf(all, e), {});
  }
  assert.equal(problemOf(most, edits({ max_servers: { text: "7" } })), "");
});

test("a field shows what was typed, or what is saved", () => {
  assert.equal(textOf(health, none), "30");
  assert.equal(textOf(health, edits({ health_s: { text: "3" } })), "3");
  assert.equal(textOf(expose, none), "");
  assert.equal(titleOf(health), "Health");
  assert.equal(titleOf(most), "Max servers");
});
