// Which running calls are shown.
import type { Call } from "../../hub/types";
import { elapsed } from "../../shared/ui/text";

/** Calls that end sooner are never seen: the panel must not flicker. */
const SHOWN_AFTER_MS = 300;
const ROWS = 5;

export interface Shown {
  rows: Call[]; // the oldest first
  more: number;
  nextAt?: number; // ms since 1970: when there is one more to show
}

export function shownCalls(calls: Iterable<Call>, nowMs: number): Shown {
  const old: Call[] = [];
  let nextAt: number | undefined;
  for (const call of calls) {
    const shownAt = call.started_at * 1000 + SHOWN_AFTER_MS;
    if (shownAt <= nowMs) old.push(call);
    else nextAt = Math.min(nextAt ?? shownAt, shownAt);
  }
  old.sort((a, b) => a.started_at - b.started_at);
  return { rows: old.slice(0, ROWS), more: Math.max(0, old.length - ROWS), nextAt };
}

/** S0-133 */
export function placeText(call: Call, nowMs: number): string {
  return `on ${call.server} • ${elapsed(nowMs - call.started_at * 1000)}`;
}

/** 0 to 1; undefined: not known. */
export function progressOf(call: Call): number | undefined {
  if (call.progress === undefined || !call.total || call.total <= 0) return undefined;
  return Math.min(1, Math.max(0, call.progress / call.total));
}
