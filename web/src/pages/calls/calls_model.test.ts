import assert from "node:assert/strict";
import test from "node:test";
import type { Call, CallRecord } from "../../hub/types";
import { choices, endedRow, endedSince, isFailure, kindOf, matches, NO_FILTER, percent, percentile, rowsOf, runningRow, tilesOf, whyText } from "./calls_model";

const call = (id: string, more: Partial<Call> = {}): Call => ({
  id,
  server: "files",
  method: "tools/call",
  subject: "read",
  client: "Agent 1.0",
  started_at: 1000,
  ...more,
});
const done = (id: string, more: Partial<CallRecord> = {}): CallRecord => ({
  id,
  no: 1,
  server: "files",
  method: "tools/call",
  tool: "read",
  caller: "Agent 1.0",
  queued_at: 1000,
  ended_at: 1000.1,
  duration: 0.1,
  status: "success",
  detail: "all",
  ...more,
});
const heard = (id: string, more: Partial<CallRecord> = {}) => done(id, { no: 0, detail: "none", ...more });
const ids = (rows: { id: string }[]) => rows.map((r) => r.id);

test("running calls come first, the longest on top, then ended ones as they are given", () => {
  const active = [call("late", { started_at: 1005 }), call("early", { started_at: 1001 })];
  assert.deepEqual(ids(rowsOf(active, [], [done("new"), done("old")], NO_FILTER, true)), ["early", "late", "new", "old"]);
});

test("what the page has only heard of stands before what was read, and once", () => {
  const read = [done("b", { no: 2 }), done("a", { no: 1 })];
  assert.deepEqual(ids(rowsOf([], [heard("d"), heard("c"), heard("b"), heard("z")], read, NO_FILTER, true)), ["d", "c", "b", "a"]);
  assert.deepEqual(ids(rowsOf([], [heard("c"), done("b"), heard("z")], read, NO_FILTER, true)), ["c", "b", "a"]);
  assert.deepEqual(ids(rowsOf([], [heard("c", { status: "error" })], read, { ...NO_FILTER, outcome: "success" }, true)), ["b", "a"]);
});

test("what calls carried is searched by the daemon, where it is recorded", () => {
  const filter = { ...NO_FILTER, text: "hello" };
  assert.deepEqual(ids(rowsOf([call("r")], [heard("c")], [done("a")], filter, true)), ["a"]);
  assert.deepEqual(ids(rowsOf([call("r")], [], [done("a"), done("b", { tool: "say-hello" })], filter, false)), ["b"]);
});

test("a call is found by tool, server, client and method, whatever the case", () => {
  for (const text of ["READ", "fil", "agent", "tools/", " read "]) assert.ok(matches(runningRow(call("a")), { ...NO_FILTER, text }), text);
  assert.ok(!matches(runningRow(call("a")), { ...NO_FILTER, text: "write" }));
});

test("server, client and outcome must all fit", () => {
  assert.ok(matches(runningRow(call("a")), { ...NO_FILTER, server: "files", client: "Agent 1.0", outcome: "running" }));
  assert.ok(!matches(runningRow(call("a")), { ...NO_FILTER, server: "file" }));
  assert.ok(!matches(runningRow(call("a", { client: undefined })), { ...NO_FILTER, client: "Agent 1.0" }));
  assert.ok(!matches(endedRow(done("a")), { ...NO_FILTER, outcome: "running" }));
  assert.ok(matches(endedRow(done("a", { status: "error" })), { ...NO_FILTER, outcome: "error" }));
});

test("why is told in words", () => {
  const cases: [Partial<CallRecord>, string][] = [
    [{}, ""],
    [{ status: "error" }, "the tool answered with an error"],
    [{ status: "cancelled", note: "userRequested" }, "cancelled by a person or the client"],
    [{ status: "timeout", note: "timeout", duration: 30 }, "timed out after 30 s"],
    [{ status: "failed", note: "serverDisconnected" }, "server went away"],
    [{ status: "cancelled", note: "appShutdown" }, "Patchbay was shut down"],
    [{ status: "denied", note: "not today" }, "not today"],
    [{ status: "denied", note: "constructor" }, "constructor"],
  ];
  for (const [more, words] of cases) assert.equal(whyText(done("a", more)), words);
});

test("what was asked for is named where it is no tool", () => {
  assert.equal(kindOf("tools/call"), "");
  assert.equal(kindOf("prompts/get"), "prompt");
  assert.equal(kindOf("resources/read"), "resource");
  assert.equal(kindOf("completion/complete"), "completion/complete");
});

test("filters offer each name once, sorted, and none that is empty", () => {
  assert.deepEqual(choices(["b", "a", undefined, "", "b"]), ["a", "b"]);
});

test("while the list is held, what is new is counted", () => {
  const ended = [done("3"), done("2"), done("1")];
  assert.equal(endedSince("3", ended), 0);
  assert.equal(endedSince("1", ended), 2);
  assert.equal(endedSince("long gone", ended), 3);
  assert.equal(endedSince(undefined, []), 0);
});

test("a call that was given up or not allowed is no failure, one that was let down is", () => {
  for (const status of ["success", "cancelled", "denied", "expired", "task", "input_required"] as const) assert.ok(!isFailure(done("a", { status })), status);
  for (const status of ["error", "failed", "timeout"] as const) assert.ok(isFailure(done("a", { status })), status);
});

test("percentiles are durations that calls really had", () => {
  const sorted = Array.from({ length: 100 }, (_, i) => i + 1);
  assert.equal(percentile(sorted, 50), 50);
  assert.equal(percentile(sorted, 95), 95);
  assert.equal(percentile([7], 95), 7);
  assert.equal(percentile([], 50), null);
});

test("tiles add up the last minute and all that is known, without the time that people took", () => {
  const ended = [
    done("a", { started_at: 990, ended_at: 992, duration: 2 }),
    done("b", { started_at: 945, ended_at: 945.5, duration: 0.5, status: "error" }),
    heard("c", { ended_at: 901, duration: 1 }),
    done("d", { ended_at: 880, duration: 300, status: "denied" }),
    done("e", { queued_at: 500, started_at: 800, ended_at: 801.5, duration: 301.5 }),
  ];
  assert.deepEqual(tilesOf(ended, 1000), { perMinute: 2, failures: 1, known: 5, p50: 1000, p95: 2000 });
  assert.deepEqual(tilesOf([], 1000), { perMinute: 0, failures: 0, known: 0, p50: null, p95: null });
});

test("small shares keep a digit, none of nothing is no number", () => {
  assert.equal(percent(3, 1000), "0.3 %");
  assert.equal(percent(120, 1000), "12 %");
  assert.equal(percent(0, 1000), "0 %");
  assert.equal(percent(0, 0), "–");
});
