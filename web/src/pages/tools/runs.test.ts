import assert from "node:assert/strict";
import test from "node:test";
import { cancel, KEPT, kept, runsOf, start, type Run } from "./runs";

const run = (id: string, bytes: number): Run => ({
  id,
  tool: "a/b",
  args: {},
  startedAt: 0,
  state: "done",
  ms: 1,
  bytes,
  result: { content: [] },
});

test("the last ten calls are kept, of large results only the newest", () => {
  const many = Array.from({ length: 15 }, (_, i) => run(String(i), 2_000_000));
  const left = kept(many);
  assert.equal(left.length, KEPT);
  assert.ok(left[0]!.result);
  assert.ok(left.slice(1).every((r) => !r.result));
  assert.ok(kept([run("a", 10), run("b", 10)]).every((r) => r.result));
});

/** Answers as the daemon would; a call of "slow" waits until it is aborted. */
function daemon(): void {
  globalThis.fetch = ((_: string, init: RequestInit) => {
    const body = JSON.parse(String(init.body)) as { tool?: string };
    if (body.tool === "s/slow")
      return new Promise((_, no) => init.signal!.addEventListener("abort", () => no(new DOMException("", "AbortError"))));
    const code = body.tool === "s/stopped" ? "call_cancelled" : undefined;
    const bad = body.tool === "s/bad" || !!code;
    const answer = bad ? { error: "call_failed", code, message: "It broke" } : { result: { content: [{ type: "text", text: "hi" }] } };
    return Promise.resolve(new Response(JSON.stringify(answer), { status: bad ? 502 : 200 }));
  }) as typeof fetch;
}

test("a call ends as done, failed or cancelled", async () => {
  daemon();
  await start("s/good", { a: 1 }, undefined);
  assert.equal(runsOf("s/good")[0]!.state, "done");
  assert.ok(runsOf("s/good")[0]!.bytes > 0);

  await start("s/bad", {}, 5);
  assert.equal(runsOf("s/bad")[0]!.state, "failed");
  assert.match(String(runsOf("s/bad")[0]!.why), /It broke/);

  const slow = start("s/slow", {}, undefined);
  const mine = runsOf("s/slow")[0]!;
  assert.equal(mine.state, "running");
  cancel(mine);
  await slow;
  assert.equal(runsOf("s/slow")[0]!.state, "cancelled");

  await start("s/stopped", {}, undefined);
  assert.equal(runsOf("s/stopped")[0]!.state, "cancelled");
});
