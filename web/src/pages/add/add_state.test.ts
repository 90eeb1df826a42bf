import assert from "node:assert/strict";
import test from "node:test";
import type { Candidate, JsonObject } from "../../hub/types";
import { Latest } from "../../shared/latest";
import { blank, canGoOn, chosenOnes, given, goOnText, kindOf, note, paused, refused, runs, toggle, typed, understood } from "./add_state";

function candidate(name: string, entry: JsonObject, more: Partial<Candidate> = {}): Candidate {
  const transport = "url" in entry ? "http" : "stdio";
  return { name, display_name: name, transport, target: "…", auth: "none", exists: false, entry, ...more };
}
const npx = candidate("pkg", { command: "npx", args: ["-y", "@scope/pkg"] });

// S1-77
test("Next is disabled at first", () => {
  assert.equal(canGoOn(blank), false);
});

// S1-78
test("Next is enabled when the field holds something that is understood", () => {
  const filled = typed(blank, "npx -y @scope/pkg");
  assert.equal(canGoOn(filled), false, "not before it is known what it is");
  assert.equal(canGoOn(understood(filled, filled.text, [npx])), true);
});

test("Next is disabled while what was understood is about an older text", () => {
  const s = understood(typed(blank, "npx a"), "npx a", [npx]);
  assert.equal(canGoOn(typed(s, "npx ab")), false);
  assert.equal(typed(s, "npx ab").candidates.length, 1, "but it stays in sight");
});

test("Next is disabled again when the field is emptied or makes no sense", () => {
  const s = understood(typed(blank, "npx a"), "npx a", [npx]);
  assert.equal(canGoOn(typed(s, "  ")), false);
  assert.equal(typed(s, "").candidates.length, 0);
  assert.equal(canGoOn(refused(typed(s, "?"), "?", "not a command")), false);
});

test("answers about an older text change nothing", () => {
  const s = typed(blank, "new");
  assert.equal(understood(s, "old", [npx]), s);
  assert.equal(refused(s, "old", "bad"), s);
});

// S1-80
test("input is parsed at every change", async () => {
  const asked: string[] = [];
  let state = blank;
  const parser = new Latest<string, Candidate[]>(
    1,
    (text) => {
      asked.push(text);
      return Promise.resolve([text.startsWith("http") ? candidate("host", { url: text }) : npx]);
    },
    {
      answer: (text, candidates) => (state = understood(state, text, candidates)),
      failure: (text, why) => (state = refused(state, text, String(why))),
    },
  );
  const kinds: string[] = [];
  for (const text of ["npx -y @scope/pkg", "docker run image", "https://host.test/mcp"]) {
    state = typed(state, text);
    parser.want(text);
    while (state.about !== text) await new Promise<void>((next) => setTimeout(next, 1));
    kinds.push(state.candidates[0]!.transport);
    assert.ok(canGoOn(state), text);
  }
  assert.deepEqual(asked, ["npx -y @scope/pkg", "docker run image", "https://host.test/mcp"]);
  assert.deepEqual(kinds, ["stdio", "stdio", "http"]);
});

test("an error is said only after a pause, and not any more when somebody types on", () => {
  const s = refused(typed(blank, "?"), "?", "not a command");
  assert.equal(note(s), "");
  assert.equal(note(paused(s)), "not a command");
  assert.equal(note(typed(paused(s), "??")), "");
});

test("of several, those that replace nothing are chosen", () => {
  const there = candidate("there", { command: "x" }, { exists: true });
  const s = understood(typed(blank, "{}"), "{}", [npx, there]);
  assert.deepEqual(chosenOnes(s), [npx]);
  assert.equal(goOnText(s), "Add 1 server");
  assert.equal(goOnText(toggle(s, 1)), "Add 2 servers");
  assert.equal(canGoOn(toggle(s, 0)), false, "none is chosen");
});

test("one alone is chosen even where it replaces something: the next screen asks", () => {
  const s = understood(typed(blank, "x"), "x", [{ ...npx, exists: true }]);
  assert.ok(canGoOn(s));
  assert.equal(goOnText(s), "Next");
});

test("a candidate says what will be run", () => {
  assert.equal(runs(npx), "npx -y @scope/pkg");
  assert.equal(runs(candidate("a", { command: ["node", "a b.js"] })), "node 'a b.js'");
  assert.equal(runs(candidate("a", { url: "https://host.test/mcp" })), "https://host.test/mcp");
  assert.equal(kindOf(npx), "program");
  assert.equal(kindOf(candidate("a", { command: "/usr/bin/docker", args: ["run", "x"] })), "container");
  assert.equal(kindOf(candidate("a", { url: "https://host.test/mcp" })), "remote");
  assert.deepEqual(given(candidate("a", { command: "x", env: { TOKEN: "t" } }), "env"), ["TOKEN"]);
  assert.deepEqual(given(npx, "headers"), []);
});
