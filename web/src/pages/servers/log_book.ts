// The last lines that were logged about one server: read once, then added to as they come.
import type { LogEntry } from "../../hub/types";
import { oneLine } from "../../shared/ui/text";

export const LINES_MAX = 1000;

export class LogBook {
  lines: readonly LogEntry[] = [];
  /** How many have been added since it began: what came while nobody looked can be told by it. */
  total = 0;
  private ids = new Set<string>();

  /** Lines in their order. One that is here already is left out: what is read and what comes overlap. */
  add(more: readonly LogEntry[]): boolean {
    const fresh = more.filter((e) => !this.ids.has(e.id));
    if (fresh.length === 0) return false;
    const late = fresh[0]!.timestamp < (this.lines.at(-1)?.timestamp ?? 0);
    const all = [...this.lines, ...fresh];
    if (late) all.sort((a, b) => a.timestamp - b.timestamp);
    this.lines = all.slice(-LINES_MAX);
    this.total += fresh.length;
    this.ids = new Set(this.lines.map((e) => e.id));
    return true;
  }
}

type Level = LogEntry["level"];
const ranks: Record<Level, number> = { debug: 0, info: 1, warning: 2, error: 3 };

export const levelChoices: readonly { level: Level; text: string }[] = [
  { level: "debug", text: "All levels" },
  { level: "info", text: "Info and worse" },
  { level: "warning", text: "Warnings and errors" },
  { level: "error", text: "Errors" },
];

/** Those at least as bad as `level`, with `text` somewhere. */
export function findLines(lines: readonly LogEntry[], level: Level, text: string): readonly LogEntry[] {
  const wanted = text.trim().toLowerCase();
  if (level === "debug" && !wanted) return lines;
  return lines.filter(
    (e) => ranks[e.level] >= ranks[level] && (!wanted || e.message.toLowerCase().includes(wanted)),
  );
}

/** For the clipboard: one line each, with what cannot be seen made visible, for it ends up in a terminal. */
export function asText(lines: readonly LogEntry[]): string {
  return lines
    .map((e) => `${new Date(e.timestamp * 1000).toISOString()} ${e.level} ${e.source} ${oneLine(e.message)}\n`)
    .join("");
}
