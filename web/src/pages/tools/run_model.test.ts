import assert from "node:assert/strict";
import test from "node:test";
import { ApiError } from "../../hub/api";
import { displayOf } from "./run_model";
import type { Run } from "./runs";

const run = (more: Partial<Run>): Run => ({
  id: "1",
  tool: "github/search",
  args: {},
  startedAt: 0,
  state: "done",
  ms: 12,
  bytes: 0,
  ...more,
});
const failure = (code: string, message: string) => new ApiError(504, { error: "call_failed", code, message });

// S1-96, S1-97, S1-98, S1-99
test("a call says what became of it", () => {
  assert.deepEqual(displayOf(run({ state: "running" })), { text: "Using github.search...", icon: "spinner", tone: "yellow" });
  assert.deepEqual(displayOf(run({ result: { content: [] } })), { text: "github.search completed", icon: "✓", tone: "green" });
  assert.deepEqual(displayOf(run({ result: { content: [], isError: true } })).text, "github.search failed");
  const late = run({ state: "failed", why: failure("call_timeout", "timeout after 30s") });
  assert.deepEqual(displayOf(late), { text: "github.search timed out after 30s", icon: "✗", tone: "red" });
  const broken = run({ state: "failed", why: failure("call_failed", "the process ended") });
  assert.deepEqual(displayOf(broken), { text: "github.search failed", icon: "✗", tone: "red" });
  assert.equal(displayOf(run({ state: "cancelled" })).text, "github.search cancelled");
});
