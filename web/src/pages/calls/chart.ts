// What the chart of calls draws, and what it says to those who do not see it.
import type { Second } from "../../hub/samples";
import { clock, duration, plural } from "../../shared/ui/text";

/** In the order of the chart's lines: time, calls per second, mean ms, slowest ms. */
export type ChartData = [number[], number[], (number | null)[], (number | null)[]];

/** Seconds bundled by `n`, at times that are multiples of it: a bar keeps its place as time goes on. */
export function bundled(seconds: readonly Second[], n: number): (Second & { seconds: number })[] {
  const out: (Second & { seconds: number })[] = [];
  for (const s of seconds) {
    const at = s.at - (s.at % n);
    let last = out.at(-1);
    if (last?.at !== at) out.push((last = { at, calls: 0, errors: 0, slowest: 0, sum: 0, seconds: 0 }));
    last.calls += s.calls;
    last.errors += s.errors;
    last.sum += s.sum;
    last.slowest = Math.max(last.slowest, s.slowest);
    last.seconds++;
  }
  return out;
}

/** A time without calls has a rate, but no latency. */
export function chartData(bundles: readonly (Second & { seconds: number })[]): ChartData {
  return [
    bundles.map((b) => b.at),
    bundles.map((b) => b.calls / b.seconds),
    bundles.map((b) => (b.calls ? b.sum / b.calls : null)),
    bundles.map((b) => (b.calls ? b.slowest : null)),
  ];
}

/** Those that no line leads to: they are drawn as a dot, or would not be seen. */
export function lonely(values: ArrayLike<number | null | undefined>): number[] {
  const out: number[] = [];
  for (let i = 0; i < values.length; i++)
    if (values[i] != null && values[i - 1] == null && values[i + 1] == null) out.push(i);
  return out;
}

/** "12 calls in the last minute, slowest 300 ms" */
export function summary(seconds: readonly Second[]): string {
  const minute = seconds.slice(-60);
  const calls = minute.reduce((n, s) => n + s.calls, 0);
  if (calls === 0) return "No calls in the last minute";
  const slowest = Math.max(...minute.map((s) => s.slowest));
  const errors = minute.reduce((n, s) => n + s.errors, 0);
  const bad = errors ? `, ${errors} of them not done` : "";
  return `${plural(calls, "call")} in the last minute${bad}, slowest ${duration(slowest)}`;
}

/** "12:00:05: 3 calls, mean 12 ms, slowest 30 ms" */
export function bundleText(s: Second): string {
  if (s.calls === 0) return `${clock(s.at)}: no calls`;
  return `${clock(s.at)}: ${plural(s.calls, "call")}, mean ${duration(s.sum / s.calls)}, slowest ${duration(s.slowest)}`;
}

/** A scale from 0 up to a round number at or above the highest value; never flat. */
export function scaleTop(highest: number | null | undefined, least: number): number {
  const value = Math.max(highest ?? 0, least);
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 5, 10]) if (value <= step * power) return step * power;
  return value;
}

/** From 0 to the top of a scale, in steps that are round as well. */
export function splits(top: number): number[] {
  const parts = String(top).startsWith("2") ? 4 : 5;
  return Array.from({ length: parts + 1 }, (_, i) => (top * i) / parts);
}
