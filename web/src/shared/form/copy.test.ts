import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../hub/types";
import { asCommand, asCurl, clearJson, quoted } from "./copy";

test("a word of a shell is quoted so that only that word comes out", () => {
  assert.equal(quoted("plain-word_1.x"), "plain-word_1.x");
  assert.equal(quoted(""), "''");
  assert.equal(quoted("two words"), "'two words'");
  assert.equal(quoted("it's"), `'it'\\''s'`);
  assert.equal(quoted("$(rm -rf ~) `x` !! \\ \"q\""), `'$(rm -rf ~) \`x\` !! \\ "q"'`);
  assert.equal(quoted("grüße 🎉"), "'grüße 🎉'");
  assert.equal(quoted("a\nb'c\\"), "$'a\\u000ab\\'c\\\\'");
  assert.equal(quoted("\u202eevil"), "$'\\u202eevil'");
  assert.equal(quoted("~"), "'~'");
});

test("JSON shows what it holds", () => {
  assert.equal(clearJson({ a: "x\ny\u202e\u007f\ud800" }), '{"a":"x\\ny\\u202e\\u007f\\ud800"}');
  assert.equal(clearJson("\u{e0041}"), '"\\udb40\\udc41"');
  assert.deepEqual(JSON.parse(clearJson("\u{e0041}🎉")), "\u{e0041}🎉");
});

test("curl gets the token from the environment", () => {
  assert.equal(
    asCurl("http://127.0.0.1:7282", "git/log", { n: 3, text: "it's" }),
    `curl -sS http://127.0.0.1:7282/api/mcp-tools/call \\
  -H "Authorization: Bearer $PATCHBAY_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -d '{"tool":"git/log","arguments":{"n":3,"text":"it'\\''s"}}'`,
  );
});

test("the command line writes text as text and the rest as JSON", () => {
  assert.equal(asCommand("git/log", {}), "patchbay call git/log");
  assert.equal(
    asCommand("git/log", { message: "hello world", n: 3, on: true, list: [1, "a"], none: null }),
    `patchbay call git/log 'message=hello world' n:=3 on:=true 'list:=[1,"a"]' none:=null`,
  );
});

test("what the command line would read otherwise is written as JSON", () => {
  assert.equal(asCommand("a/b", { file: "@/etc/passwd" }), `patchbay call a/b 'file:="@/etc/passwd"'`);
  assert.equal(asCommand("a/b", { id: "5", on: "true" }), `patchbay call a/b 'id:="5"' 'on:="true"'`);
  assert.equal(asCommand("a/b", { text: "two\nlines" }), `patchbay call a/b 'text:="two\\nlines"'`);
  const keys: JsonObject[] = [{ "-t": "1" }, { "a=b": "1" }, { "a:": "1" }, { "a.b": "1" }, { "@f": "1" }, { "{": "1" }, { "": "1" }, { "a\u202e": "1" }];
  for (const args of keys) assert.equal(asCommand("a/b", args), `patchbay call a/b '${clearJson(args)}'`);
});

test("a hostile tool name stays one word", () => {
  assert.equal(asCommand("a/b; rm -rf ~", {}), "patchbay call 'a/b; rm -rf ~'");
  assert.equal(asCommand("a/b\u001b[2J", {}), "patchbay call $'a/b\\u001b[2J'");
});
