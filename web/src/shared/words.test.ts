import assert from "node:assert/strict";
import test from "node:test";
import { joinWords, shellWord, splitWords } from "./words";

test("a line is split as a shell splits it", () => {
  const cases: [string, string[] | null][] = [
    ["", []],
    ["  npx  -y\t@scope/pkg\n", ["npx", "-y", "@scope/pkg"]],
    ["a 'b c' \"d e\"", ["a", "b c", "d e"]],
    ["a''b \"\" ''", ["ab", "", ""]],
    ['"a\\"b\\\\c" "\\n"', ['a"b\\c', "\\n"]],
    ["a\\ b \\'", ["a b", "'"]],
    ["'a\\b'", ["a\\b"]],
    ["docker run \\\n  image", ["docker", "run", "image"]],
    ["a 'b", null],
    ['a "b', null],
    ["a\\", ["a\\"]],
  ];
  for (const [line, words] of cases) assert.deepEqual(splitWords(line), words, line);
});

test("words that are joined come back as they were", () => {
  const cases = [
    ["npx", "-y", "@scope/pkg"],
    ["a b", "", "'", '"', "\\", "a'b'c", "line\nline", "tab\t", "$HOME", "${TOKEN}", "ä ö"],
  ];
  for (const words of cases) assert.deepEqual(splitWords(joinWords(words)), words);
});

test("plain words need no quotes", () => {
  assert.equal(joinWords(["@scope/pkg@1.2", "${TOKEN}", "a b", "a;b"]), "@scope/pkg@1.2 ${TOKEN} 'a b' 'a;b'");
});

test("for a shell more is quoted", () => {
  assert.equal(shellWord("read-only"), "read-only");
  for (const word of ["$HOME", "*", "~", "#x", "a b", ""]) assert.equal(shellWord(word), `'${word}'`);
});
