import assert from "node:assert/strict";
import test from "node:test";
import type { Call, EndedCall } from "../../hub/types";
import { choices, endedSince, isFailure, kindOf, matches, percent, percentile, reasonText, rowsOf, tilesOf } from "./calls_model";

const NONE = { text: "", server: "", client: "", outcome: "" };
const call = (id: string, more: Partial<Call> = {}): Call => ({
  id,
  server: "files",
  method: "tools/call",
  subject: "read",
  client: "Agent 1.0",
  started_at: 1000,
  ...more,
});
const done = (id: string, more: Partial<EndedCall> = {}): EndedCall => ({ ...call(id), duration: 0.1, outcome: "ok", ...more });

test("running calls come first, the longest on top, then ended ones as they are given", () => {
  const active = [call("late", { started_at: 1005 }), call("early", { started_at: 1001 })];
  const { rows, running } = rowsOf(active, [done("new"), done("old")], NONE);
  assert.deepEqual(rows.map((r) => r.id), ["early", "late", "new", "old"]);
  assert.equal(running, 2);
});

test("a call is found by tool, server, client and method, whatever the case", () => {
  for (const text of ["READ", "fil", "agent", "tools/", " read "]) assert.ok(matches(call("a"), { ...NONE, text }), text);
  assert.ok(!matches(call("a"), { ...NONE, text: "write" }));
});

test("server, client and outcome must all fit", () => {
  assert.ok(matches(call("a"), { ...NONE, server: "files", client: "Agent 1.0", outcome: "running" }));
  assert.ok(!matches(call("a"), { ...NONE, server: "file" }));
  assert.ok(!matches(call("a", { client: undefined }), { ...NONE, client: "Agent 1.0" }));
  assert.ok(!matches(done("a"), { ...NONE, outcome: "running" }));
  assert.ok(matches(done("a", { outcome: "error" }), { ...NONE, outcome: "error" }));
});

test("a reason is told in words", () => {
  const cases: [Partial<EndedCall>, string][] = [
    [{ outcome: "ok" }, ""],
    [{ outcome: "error" }, "the server answered with an error"],
    [{ outcome: "cancelled", reason: "userRequested" }, "cancelled by a person or the client"],
    [{ outcome: "cancelled", reason: "timeout", duration: 30 }, "timed out after 30 s"],
    [{ outcome: "cancelled", reason: "serverDisconnected" }, "server went away"],
    [{ outcome: "cancelled", reason: "appShutdown" }, "Patchbay was shut down"],
  ];
  for (const [more, words] of cases) assert.equal(reasonText(done("a", more)), words);
});

test("what was asked for is named where it is no tool", () => {
  assert.equal(kindOf(call("a")), "");
  assert.equal(kindOf(call("a", { method: "prompts/get" })), "prompt");
  assert.equal(kindOf(call("a", { method: "resources/read" })), "resource");
  assert.equal(kindOf(call("a", { method: "completion/complete" })), "completion/complete");
});

test("filters offer each name once, sorted, and none that is empty", () => {
  const calls = [call("a", { client: "b" }), call("b", { client: "a" }), call("c", { client: undefined }), call("d", { client: "b" })];
  assert.deepEqual(choices(calls, (c) => c.client), ["a", "b"]);
});

test("while the list is held, what is new is counted", () => {
  const ended = [done("3"), done("2"), done("1")];
  assert.equal(endedSince("3", ended), 0);
  assert.equal(endedSince("1", ended), 2);
  assert.equal(endedSince("long gone", ended), 3);
  assert.equal(endedSince(undefined, []), 0);
});

test("a call that was given up is no failure, one that was let down is", () => {
  assert.ok(!isFailure(done("a", { outcome: "cancelled", reason: "userRequested" })));
  assert.ok(!isFailure(done("a", { outcome: "cancelled", reason: "appShutdown" })));
  assert.ok(isFailure(done("a", { outcome: "cancelled", reason: "timeout" })));
  assert.ok(isFailure(done("a", { outcome: "cancelled", reason: "serverDisconnected" })));
  assert.ok(isFailure(done("a", { outcome: "error" })));
});

test("percentiles are durations that calls really had", () => {
  const sorted = Array.from({ length: 100 }, (_, i) => i + 1);
  assert.equal(percentile(sorted, 50), 50);
  assert.equal(percentile(sorted, 95), 95);
  assert.equal(percentile([7], 95), 7);
  assert.equal(percentile([], 50), null);
});

test("tiles add up the last minute and all that is known", () => {
  const ended = [
    done("a", { started_at: 990, duration: 2 }),
    done("b", { started_at: 945, duration: 0.5, outcome: "error" }),
    done("c", { started_at: 900, duration: 1 }),
  ];
  assert.deepEqual(tilesOf(ended, 1000), { perMinute: 2, failures: 1, known: 3, p50: 1000, p95: 2000 });
  assert.deepEqual(tilesOf([], 1000), { perMinute: 0, failures: 0, known: 0, p50: null, p95: null });
});

test("small shares keep a digit, none of nothing is no number", () => {
  assert.equal(percent(3, 1000), "0.3 %");
  assert.equal(percent(120, 1000), "12 %");
  assert.equal(percent(0, 1000), "0 %");
  assert.equal(percent(0, 0), "–");
});
