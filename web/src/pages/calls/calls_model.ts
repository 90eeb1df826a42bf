// What the calls page says: which calls it shows, in which words, and what they add up to.
import { endedAt, tookMs } from "../../hub/samples";
import type { Call, CallRecord, CallStatus, Face } from "../../hub/types";
import { own } from "../../shared/own";
import { duration } from "../../shared/ui/text";

export type Outcome = "running" | CallStatus;

/** Icon and word: the colour is never the only sign. */
export const outcomeWords: Record<Outcome, { icon: string; word: string; tone: string }> = {
  running: { icon: "", word: "running", tone: "" },
  success: { icon: "✓", word: "done", tone: "green" },
  error: { icon: "✕", word: "tool error", tone: "red" },
  failed: { icon: "✕", word: "failed", tone: "red" },
  timeout: { icon: "✕", word: "timed out", tone: "red" },
  cancelled: { icon: "⊘", word: "cancelled", tone: "yellow" },
  denied: { icon: "⊘", word: "denied", tone: "yellow" },
  expired: { icon: "⊘", word: "not answered", tone: "yellow" },
  input_required: { icon: "?", word: "asks back", tone: "" },
  task: { icon: "…", word: "task", tone: "" },
};
export const outcomes = Object.keys(outcomeWords) as Outcome[];

/** One row: a call that runs, or one that has ended. */
export interface Row {
  id: string;
  outcome: Outcome;
  server: string;
  subject: string;
  method: string;
  client: string;
  at: number; // when it was asked; seconds since 1970
  ms?: number; // how long it took
  why: string;
  running?: Call;
}

export const runningRow = (call: Call): Row => ({
  id: call.id,
  outcome: "running",
  server: call.server,
  subject: call.subject,
  method: call.method,
  client: call.client ?? "",
  at: call.started_at,
  why: "",
  running: call,
});

export const endedRow = (call: CallRecord): Row => ({
  id: call.id,
  outcome: call.status ?? "failed",
  server: call.server ?? "",
  subject: call.tool ?? "",
  method: call.method ?? "",
  client: call.caller ?? "",
  at: call.queued_at ?? endedAt(call),
  ms: tookMs(call) ?? (call.duration === undefined ? undefined : call.duration * 1000),
  why: whyText(call),
});

const reasons: Record<string, string> = {
  userRequested: "cancelled by a person or the client",
  serverDisconnected: "server went away",
  appShutdown: "Patchbay was shut down",
};

/** Why a call did not come to a good end, or nothing. What only an event has told is told in words. */
export function whyText(call: CallRecord): string {
  if (call.note === "timeout") return `timed out after ${duration((call.duration ?? 0) * 1000)}`;
  if (call.note) return own(reasons, call.note) ?? call.note;
  return call.status === "error" ? "the tool answered with an error" : "";
}

const kinds: Record<string, string> = { "tools/call": "", "prompts/get": "prompt", "resources/read": "resource" };
/** What was asked for, where it is no tool. */
export const kindOf = (method: string): string => own(kinds, method) ?? method;

export const faceWords: Record<Face, string> = { mcp_server: "MCP", rest: "REST", cli: "the command line", agent: "an agent" };

export interface CallFilter {
  text: string;
  server: string;
  client: string;
  outcome: string;
}
export const NO_FILTER: CallFilter = { text: "", server: "", client: "", outcome: "" };

/** Words that are looked for in what calls carried are found by the daemon only; those of a name here. */
export function matches(row: Row, filter: CallFilter): boolean {
  if (filter.server && row.server !== filter.server) return false;
  if (filter.client && row.client !== filter.client) return false;
  if (filter.outcome && row.outcome !== filter.outcome) return false;
  const text = filter.text.trim().toLowerCase();
  if (!text) return true;
  return [row.subject, row.server, row.client, row.method].some((part) => part.toLowerCase().includes(text));
}

/** Running ones first, those that run longest on top; then ended ones, newest first: those that the page has only heard
 * of, and those that were read. */
export function rowsOf(active: Iterable<Call>, heard: readonly CallRecord[], read: readonly CallRecord[], filter: CallFilter, recorded: boolean): Row[] {
  const fits = (row: Row) => matches(row, filter);
  const words = recorded && filter.text.trim() !== "";
  const running = [...active].map(runningRow).filter(fits).sort((a, b) => a.at - b.at);
  const known = new Set(read.map((c) => c.id));
  const fresh: Row[] = [];
  for (const call of words ? [] : heard) {
    if (call.no || known.has(call.id)) break; // what is older was read
    const row = endedRow(call);
    if (fits(row)) fresh.push(row);
  }
  const ended = read.map(endedRow);
  return [...running, ...fresh, ...(recorded ? ended : ended.filter(fits))];
}

/** Each name once, sorted: what a filter offers. */
export function choices(names: Iterable<string | undefined>): string[] {
  const seen = new Set<string>();
  for (const name of names) seen.add(name ?? "");
  seen.delete("");
  return [...seen].sort((a, b) => a.localeCompare(b));
}

/** How many calls have ended since the list was held at `newest`. */
export function endedSince(newest: string | undefined, ended: readonly CallRecord[]): number {
  const at = ended.findIndex((c) => c.id === newest);
  return at < 0 ? ended.length : at;
}

const FAILURES: readonly (CallStatus | undefined)[] = ["error", "failed", "timeout"];
/** A call that somebody gave up or did not allow is no failure; one that the server let down is. */
export const isFailure = (call: CallRecord) => FAILURES.includes(call.status);

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

export function tilesOf(ended: readonly CallRecord[], nowSeconds: number): Tiles {
  const sorted = ended.map(tookMs).filter((ms) => ms !== undefined).sort((a, b) => a - b);
  return {
    perMinute: ended.filter((c) => endedAt(c) > nowSeconds - 60).length,
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
