// How long calls took and how many there were: for sparklines and the chart.
import { type Signal, signal } from "@preact/signals";
import type { CallRecord } from "./types";

const PER_SERVER = 40;
const SECONDS = 300;

/** What ended within one second. */
export interface Second {
  at: number; // seconds since 1970
  calls: number;
  errors: number;
  slowest: number; // ms
  sum: number; // ms
}

/** One that was never executed has ended when it was asked. */
export const endedAt = (call: CallRecord) => call.ended_at ?? call.queued_at ?? 0;

/** Milliseconds that its server took, without the time that a person took to allow it; undefined: it was never asked. */
export function tookMs(call: CallRecord): number | undefined {
  if (call.started_at !== undefined && call.ended_at !== undefined) return Math.max(0, call.ended_at - call.started_at) * 1000;
  return call.detail === "none" && call.duration !== undefined ? call.duration * 1000 : undefined;
}

class Samples {
  /** Counts up when there is something new. */
  readonly version = signal(0);
  private latency = new Map<string, Signal<readonly number[]>>();
  private seconds = new Map<number, Second>();

  add(call: CallRecord): void {
    const ms = tookMs(call);
    if (ms === undefined) return;
    const mine = this.latencyOf(call.server ?? "");
    mine.value = [...mine.peek(), ms].slice(-PER_SERVER);

    const at = Math.floor(endedAt(call));
    const second = this.seconds.get(at) ?? { at, calls: 0, errors: 0, slowest: 0, sum: 0 };
    second.calls++;
    if (call.status !== "success") second.errors++;
    second.slowest = Math.max(second.slowest, ms);
    second.sum += ms;
    this.seconds.set(at, second);
    if (this.seconds.size > SECONDS * 2) this.forget(at - SECONDS);
    this.version.value++;
  }

  /** Instead of all that is known: the calls that the daemon knows, newest first. */
  seed(calls: readonly CallRecord[]): void {
    for (const one of this.latency.values()) one.value = [];
    this.seconds.clear();
    for (let i = calls.length - 1; i >= 0; i--) this.add(calls[i]!);
  }

  /** Read while drawing, it draws again when a call of this very server has ended. */
  of(server: string): readonly number[] {
    return this.latencyOf(server).value;
  }

  /** The last so many seconds up to now, with empty ones. */
  window(now: number, length = SECONDS): Second[] {
    const out: Second[] = [];
    for (let at = Math.floor(now) - length + 1; at <= now; at++)
      out.push(this.seconds.get(at) ?? { at, calls: 0, errors: 0, slowest: 0, sum: 0 });
    return out;
  }

  private latencyOf(server: string): Signal<readonly number[]> {
    let mine = this.latency.get(server);
    if (!mine) this.latency.set(server, (mine = signal<readonly number[]>([])));
    return mine;
  }

  private forget(before: number): void {
    for (const at of this.seconds.keys()) if (at < before) this.seconds.delete(at);
  }
}

export const samples = new Samples();
