// What the calls page says: which calls it shows, in which words, and what they add up to.
import type { Call, EndedCall } from "../../hub/types";
import { duration } from "../../shared/ui/text";

export type Outcome = "running" | "ok" | "error" | "cancelled";
export const outcomes: readonly Outcome[] = ["running", "ok", "error", "cancelled"];

export type AnyCall = Call & Partial<Pick<EndedCall, "duration" | "outcome" | "reason">>;

export const outcomeOf = (call: AnyCall): Outcome => call.outcome ?? "running";

/** Icon and word: the colour is never the only sign. */
export const outcomeWords: Record<Outcome, { icon: string; word: string; tone: string }> = {
  running: { icon: "", word: "running", tone: "" },
  ok: { icon: "✓", word: "done", tone: "green" },
  error: { icon: "✕", word: "failed", tone: "red" },
  cancelled: { icon: "⊘", word: "cancelled", tone: "yellow" },
};

/** Why a call did not come to its end, or nothing. */
export function reasonText(call: AnyCall): string {
  switch (call.reason) {
    case "userRequested":
      return "cancelled by a person or the client";
    case "timeout":
      return `timed out after ${duration((call.duration ?? 0) * 1000)}`;
    case "serverDisconnected":
      return "server went away";
    case "appShutdown":
      return "Patchbay was shut down";
    case undefined:
      return call.outcome === "error" ? "the server answered with an error" : "";
  }
}

const kinds: Record<string, string> = { "tools/call": "", "prompts/get": "prompt", "resources/read": "resource" };
/** What was asked for, where it is no tool. */
export const kindOf = (call: Call): string => kinds[call.method] ?? call.method;

export interface CallFilter {
  text: string;
  server: string;
  client: string;
  outcome: string;
}

export function matches(call: AnyCall, filter: CallFilter): boolean {
  if (filter.server && call.server !== filter.server) return false;
  if (filter.client && (call.client ?? "") !== filter.client) return false;
  if (filter.outcome && outcomeOf(call) !== filter.outcome) return false;
  const text = filter.text.trim().toLowerCase();
  if (!text) return true;
  return [call.subject, call.server, call.client ?? "", call.method].some((part) => part.toLowerCase().includes(text));
}

/** Running ones first, those that run longest on top; then ended ones, newest first. */
export function rowsOf(
  active: Iterable<Call>,
  ended: readonly EndedCall[],
  filter: CallFilter,
): { rows: AnyCall[]; running: number } {
  const running = [...active].filter((c) => matches(c, filter)).sort((a, b) => a.started_at - b.started_at);
  return { rows: [...running, ...ended.filter((c) => matches(c, filter))], running: running.length };
}

/** Each name once, sorted: what a filter offers. */
export function choices(calls: Iterable<AnyCall>, of: (c: AnyCall) => string | undefined): string[] {
  const seen = new Set<string>();
  for (const call of calls) seen.add(of(call) ?? "");
  seen.delete("");
  return [...seen].sort((a, b) => a.localeCompare(b));
}

/** How many calls have ended since the list was held at `newest`. */
export function endedSince(newest: string | undefined, ended: readonly EndedCall[]): number {
  const at = ended.findIndex((c) => c.id === newest);
  return at < 0 ? ended.length : at;
}

/** A call that somebody gave up is no failure; one that the server let down is. */
export function isFailure(call: EndedCall): boolean {
  if (call.outcome === "cancelled") return call.reason === "timeout" || call.reason === "serverDisconnected";
  return call.outcome === "error";
}

export interface Tiles {
  perMinute: number;
  failures: number;
  known: number;
  p50: number | null; // ms
  p95: number | null;
}

/** Nearest rank: always a duration that some call really had. */
export function percentile(sorted: readonly number[], p: number): number | null {
  if (sorted.length === 0) return null;
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)] ?? null;
}

export function tilesOf(ended: readonly EndedCall[], nowSeconds: number): Tiles {
  const sorted = ended.map((c) => c.duration * 1000).sort((a, b) => a - b);
  return {
    perMinute: ended.filter((c) => c.started_at + c.duration > nowSeconds - 60).length,
    failures: ended.filter(isFailure).length,
    known: ended.length,
    p50: percentile(sorted, 50),
    p95: percentile(sorted, 95),
  };
}

/** "0 %", "0.3 %", "12 %" */
export function percent(part: number, whole: number): string {
  if (whole === 0) return "–";
  const value = (part / whole) * 100;
  return `${value > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} %`;
}
