import assert from "node:assert/strict";
import test from "node:test";
import { expand, variables } from "./uri";

const values = new Map([
  ["var", "value"],
  ["hello", "Hello World!"],
  ["path", "/foo/bar"],
  ["x", "1024"],
  ["y", "768"],
  ["empty", ""],
  ["half", "50%"],
  ["base", "http://example.com/home/"],
  ["v", "6"],
  ["who", "fred"],
  ["dub", "me/too"],
]);

test("templates expand as the examples of RFC 6570 do", () => {
  const cases: [string, string][] = [
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["{+var}", "value"],
    ["{+hello}", "Hello%20World!"],
    ["{+path}/here", "/foo/bar/here"],
    ["here?ref={+path}", "here?ref=/foo/bar"],
    ["{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"],
    ["{+base}index", "http://example.com/home/index"],
    ["{half}", "50%25"],
    ["{+half}", "50%25"],
    ["X{#hello}", "X#Hello%20World!"],
    ["map?{x,y}", "map?1024,768"],
    ["{+x,hello,y}", "1024,Hello%20World!,768"],
    ["{#path,x}/here", "#/foo/bar,1024/here"],
    ["X{.var}", "X.value"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{?x,y,empty}", "?x=1024&y=768&empty="],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
    ["{/who,dub}", "/fred/me%2Ftoo"],
    ["{?undef,y}", "?y=768"],
    ["O{undef}X", "OX"],
    ["{var:3}", "val"],
    ["{/var:1,var}", "/v/value"],
  ];
  for (const [template, want] of cases) assert.equal(expand(template, values), want, template);
});

test("what is no expression stays, and nothing a person types ends the page", () => {
  assert.equal(expand("a{}b{not ok}c{", new Map()), "a{}b{not ok}c{");
  assert.equal(expand("x{v}", new Map([["v", "\ud800"]])), "x%EF%BF%BD");
  assert.equal(expand("x{+v}", new Map([["v", "%41 [::1]"]])), "x%41%20[::1]");
  assert.equal(expand("{constructor}", new Map()), "");
});

test("each variable is asked for once", () => {
  assert.deepEqual(variables("demo://{kind}/{+path}{?q,limit,kind}{rest*}"), ["kind", "path", "q", "limit", "rest"]);
  assert.deepEqual(variables("demo://plain"), []);
});
