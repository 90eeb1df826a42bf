// Calls that were made from this page: they go on when a person looks at something else.
import { signal } from "@preact/signals";
import { ApiError, post } from "../../hub/api";
import type { JsonObject, McpToolResult } from "../../hub/types";

export const KEPT = 10; // of each tool
const KEPT_BYTES = 1_000_000; // of a result that is not the newest

export interface Run {
  id: string;
  tool: string; // "server/tool"
  args: JsonObject;
  startedAt: number; // ms
  state: "running" | "done" | "failed" | "cancelled";
  ms: number;
  result?: McpToolResult;
  bytes: number; // of the result, as JSON; 0: none
  why?: unknown;
}

/** By tool, the newest first. */
export const runs = signal<ReadonlyMap<string, readonly Run[]>>(new Map());
const running = new Map<string, AbortController>();

export const runsOf = (tool: string): readonly Run[] => runs.value.get(tool) ?? [];

/** The newest with its result whatever its size, of older ones only small results. */
export function kept(list: readonly Run[]): Run[] {
  return list.slice(0, KEPT).map((r, i) => (i > 0 && r.bytes > KEPT_BYTES ? { ...r, result: undefined } : r));
}

function put(run: Run): void {
  const list = runsOf(run.tool);
  const known = list.some((r) => r.id === run.id);
  const next = known ? list.map((r) => (r.id === run.id ? run : r)) : [run, ...list];
  runs.value = new Map(runs.peek()).set(run.tool, kept(next));
}

function outcome(run: Run, more: Partial<Run>): void {
  put({ ...run, ...more, ms: Date.now() - run.startedAt });
}

/** Cancelled from somewhere else: the list of calls, another page, the command line. */
const isCancelled = (why: unknown) => why instanceof ApiError && why.failure.code === "call_cancelled";

export async function start(tool: string, args: JsonObject, timeoutS: number | undefined): Promise<void> {
  const run: Run = { id: crypto.randomUUID(), tool, args, startedAt: Date.now(), state: "running", ms: 0, bytes: 0 };
  const abort = new AbortController();
  running.set(run.id, abort);
  put(run);
  try {
    const body = { tool, arguments: args, id: run.id, timeout_s: timeoutS };
    const { result } = await post("/api/mcp-tools/call", body, abort.signal);
    outcome(run, { state: "done", result, bytes: JSON.stringify(result).length });
  } catch (why) {
    outcome(run, abort.signal.aborted || isCancelled(why) ? { state: "cancelled" } : { state: "failed", why });
  } finally {
    running.delete(run.id);
  }
}

/** Nobody waits any longer: the daemon sees that, and cancels the call on the server. */
export function cancel(run: Run): void {
  running.get(run.id)?.abort();
}
