import assert from "node:assert/strict";
import test from "node:test";
import type { Call } from "../../hub/types";
import { placeText, progressOf, shownCalls } from "./active_model";

const call = (id: string, started_at: number, more: Partial<Call> = {}): Call => ({
  id,
  server: "github",
  method: "tools/call",
  subject: "search",
  started_at,
  ...more,
});

// S0-133
test("nothing is shown while no call runs", () => {
  assert.deepEqual(shownCalls([], 1000), { rows: [], more: 0, nextAt: undefined });
});

test("a call is shown once it has run for 300 ms", () => {
  assert.deepEqual(shownCalls([call("a", 100)], 100_299).rows, []);
  assert.equal(shownCalls([call("a", 100)], 100_299).nextAt, 100_300);
  assert.deepEqual(shownCalls([call("a", 100)], 100_300).rows.map((c) => c.id), ["a"]);
});

test("five are shown, the oldest first, and the others are counted", () => {
  const calls = Array.from({ length: 17 }, (_, i) => call(String(i), 100 - i));
  const shown = shownCalls([...calls, call("young", 999.9)], 1_000_000);
  assert.deepEqual(shown.rows.map((c) => c.id), ["16", "15", "14", "13", "12"]);
  assert.equal(shown.more, 12);
  assert.equal(shown.nextAt, 1_000_200);
});

// S0-133
test("a row says where the call runs, and for how long", () => {
  assert.equal(placeText(call("a", 100), 105_900), "on github • 5s");
  assert.equal(placeText(call("a", 100), 165_000), "on github • 1m 5s");
  assert.equal(placeText(call("a", 100), 99_000), "on github • 0s", "clocks may differ");
});

test("progress is known only with a total, and stays within it", () => {
  assert.equal(progressOf(call("a", 1)), undefined);
  assert.equal(progressOf(call("a", 1, { progress: 3 })), undefined);
  assert.equal(progressOf(call("a", 1, { progress: 3, total: 0 })), undefined);
  assert.equal(progressOf(call("a", 1, { progress: 3, total: 4 })), 0.75);
  assert.equal(progressOf(call("a", 1, { progress: 9, total: 4 })), 1);
});
