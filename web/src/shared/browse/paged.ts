// A long list that the daemon has: read page by page as it comes into sight.
import { signal } from "@preact/signals";
import type { Unreached } from "../../hub/types";

export const PAGE = 100;

export interface Answer<T> {
  items: T[];
  total: number;
  failed: Unreached[];
}
export type ReadPage<Q, T> = (question: Q, offset: number, limit: number, signal: AbortSignal) => Promise<Answer<T>>;

export class Paged<Q, T> {
  /** Counts up when there is something new to draw. */
  readonly version = signal(0);
  total = 0;
  failed: readonly Unreached[] = [];
  why: unknown = null; // what went wrong last
  /** Counts the questions that have been answered: the list begins anew. */
  answered = 0;
  private question: Q | undefined;
  private isNew = false; // the question: what is shown answers the one before
  private pages = new Map<number, T[]>();
  private done = new Set<number>(); // read since the question or since again()
  private busy = new Map<number, AbortController>();
  private from = 0;
  private to = 1;
  private readonly read: ReadPage<Q, T>;

  constructor(read: ReadPage<Q, T>) {
    this.read = read;
  }

  /** Another question. What is shown stays until its answer comes. */
  ask(question: Q): void {
    this.question = question;
    this.isNew = true;
    this.from = 0;
    this.to = 1;
    void this.again();
  }

  /** The same question once more: rows stay where they are, and change in place. */
  async again(): Promise<void> {
    this.stop();
    this.done.clear();
    await this.fill();
  }

  stop(): void {
    for (const one of this.busy.values()) one.abort();
    this.busy.clear();
  }

  /** Rows from..to come into sight. */
  sight(from: number, to: number): void {
    this.from = from;
    this.to = Math.max(to, from + 1);
    void this.fill();
  }

  at(i: number): T | undefined {
    return this.pages.get(Math.floor(i / PAGE))?.[i % PAGE];
  }

  find(is: (item: T) => boolean): T | undefined {
    for (const page of this.pages.values()) {
      const hit = page.find(is);
      if (hit) return hit;
    }
    return undefined;
  }

  private async fill(): Promise<void> {
    if (this.question === undefined) return;
    const first = this.isNew ? 0 : Math.floor(this.from / PAGE);
    const last = this.isNew ? 0 : Math.floor((this.to - 1) / PAGE);
    const wanted: Promise<void>[] = [];
    for (let page = first; page <= last; page++)
      if (!this.done.has(page) && !this.busy.has(page)) wanted.push(this.load(page, this.question));
    await Promise.all(wanted);
  }

  private async load(page: number, question: Q): Promise<void> {
    const mine = new AbortController();
    this.busy.set(page, mine);
    try {
      const answer = await this.read(question, page * PAGE, PAGE, mine.signal);
      if (!mine.signal.aborted) this.take(page, answer);
    } catch (why) {
      if (!mine.signal.aborted) this.fail(page, why);
    }
  }

  private take(page: number, answer: Answer<T>): void {
    if (this.isNew) {
      this.pages.clear();
      this.isNew = false;
      this.answered++;
    }
    this.busy.delete(page);
    this.done.add(page);
    this.pages.set(page, answer.items);
    this.total = answer.total;
    this.failed = answer.failed;
    this.why = null;
    for (const known of this.pages.keys()) if (known * PAGE >= answer.total) this.pages.delete(known);
    this.version.value++;
  }

  /** Not asked again by itself: a page that is refused once would be asked for without end. */
  private fail(page: number, why: unknown): void {
    this.busy.delete(page);
    this.done.add(page);
    this.why = why;
    this.version.value++;
  }
}
