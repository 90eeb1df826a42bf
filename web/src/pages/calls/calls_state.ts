// The calls that have ended, as the daemon has them: read page by page, and kept true at their newest end.
import { signal } from "@preact/signals";
import type { CallList, CallRecord } from "../../hub/types";
import type { CallFilter } from "./calls_model";

export const PAGE = 100;
const AGAIN_MS = 500; // between two looks at the newest ones, however many calls end
const TYPING_MS = 250;

/** What is typed, as the daemon searches: each word or "phrase in quotes" for itself, the last one may still be
 * being typed. */
export function searchText(typed: string): string {
  const words = typed.match(/"[^"]*"?|[^\s"]+/g) ?? [];
  const open = /[^\s"]$/.test(typed);
  return words
    .map((word) => word.replaceAll('"', "").trim())
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .map((word, i, all) => `"${word}"${open && i === all.length - 1 ? "*" : ""}`)
    .join(" ");
}

/** undefined is left out. */
export function queryOf(filter: CallFilter, recorded: boolean): Record<string, string | undefined> {
  return {
    server: filter.server || undefined,
    caller: filter.client || undefined,
    status: filter.outcome || undefined,
    text: (recorded && searchText(filter.text)) || undefined,
    limit: String(PAGE),
  };
}

/** The newest page read anew, and what was read before it. */
export function joined(page: readonly CallRecord[], more: number | undefined, before: readonly CallRecord[]): { rows: CallRecord[]; whole: boolean } {
  const last = page.at(-1);
  if (!last || more === undefined || !before.some((c) => c.no >= last.no)) return { rows: [...page], whole: false };
  return { rows: [...page, ...before.filter((c) => c.no < last.no)], whole: true };
}

type Read = (query: Record<string, string | undefined>, signal: AbortSignal) => Promise<CallList>;

export class CallBook {
  /** Counts up when there is something new to draw. */
  readonly version = signal(0);
  rows: readonly CallRecord[] = [];
  next: number | undefined; // there may be more
  total = 0;
  recorded = true;
  loaded = false;
  busy = false; // older ones are being read
  why: unknown = null; // what went wrong last
  private readonly read: Read;
  private filter: CallFilter | null = null;
  private isNew = true; // the question: what is shown answers the one before
  private running: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wanted = false;

  constructor(read: Read) {
    this.read = read;
  }

  /** Another question. What is shown stays until its answer comes. */
  ask(filter: CallFilter): void {
    const typed = this.filter !== null && this.filter.text !== filter.text;
    this.filter = filter;
    this.isNew = true;
    this.stop();
    if (typed) this.timer = setTimeout(() => void this.first(), TYPING_MS);
    else void this.first();
  }

  /** The newest once more, soon. */
  again(): void {
    this.wanted = true;
    if (this.timer === undefined && !this.running && this.filter) void this.first();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.running?.abort();
    this.running = null;
    this.busy = false;
  }

  private async load(before?: number): Promise<CallList | null> {
    const mine = (this.running = new AbortController());
    try {
      const query = { ...queryOf(this.filter!, this.recorded), before: before === undefined ? undefined : String(before) };
      const read = await this.read(query, mine.signal);
      if (this.running !== mine) return null;
      this.why = null;
      return read;
    } catch (why) {
      if (this.running === mine) this.why = why;
      return null;
    } finally {
      if (this.running === mine) this.running = null;
    }
  }

  private async first(): Promise<void> {
    this.wanted = false;
    const mine = (this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.wanted) this.again();
    }, AGAIN_MS));
    const read = await this.load();
    if (read) this.take(read);
    if (read || this.timer === mine) this.version.value++;
  }

  private take(read: CallList): void {
    const { rows, whole } = joined(read.recent, read.next, this.isNew ? [] : this.rows);
    this.rows = rows;
    if (!whole) this.next = read.next;
    this.total = read.total;
    this.recorded = read.recorded;
    this.loaded = true;
    this.isNew = false;
  }

  /** The next page, if there is one and nothing else is being read. */
  async older(): Promise<void> {
    if (this.next === undefined || this.running || this.isNew) return;
    this.busy = true;
    this.version.value++;
    const read = await this.load(this.next);
    this.busy = false;
    if (read) {
      this.rows = [...this.rows, ...read.recent];
      this.next = read.next;
    }
    this.version.value++;
  }
}
