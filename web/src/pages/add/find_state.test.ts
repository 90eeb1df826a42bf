import assert from "node:assert/strict";
import test from "node:test";
import { asked, choices, lineOf } from "./find_state";

// S1-111
test("nothing is asked before a registry is chosen and something is typed", () => {
  assert.equal(choices[0]?.value, "");
  assert.equal(asked("", "git"), null);
  assert.equal(asked("all", "  "), null);
  assert.deepEqual(asked("all", " git "), { search: "git" });
  assert.deepEqual(asked("smithery", "git"), { search: "git", registry: "smithery" });
});

test("a result is used by the line that it comes with", () => {
  assert.equal(lineOf({ name: "a", source: "official", add: "npx -y a" }), "npx -y a");
  assert.equal(lineOf({ name: "a", source: "smithery" }), undefined);
  assert.equal(lineOf(undefined), undefined);
});
