// What the chart of calls draws, and what it says to those who do not see it.
import type { Second } from "../samples";
import { clock, duration, plural } from "../ui/text";

/** In the order of the chart's lines: time, calls per second, mean ms, slowest ms. */
export type ChartData = [number[], number[], (number | null)[], (number | null)[]];

/** A second without calls has a rate, but no latency. */
export function chartData(seconds: readonly Second[]): ChartData {
  return [
    seconds.map((s) => s.at),
    seconds.map((s) => s.calls),
    seconds.map((s) => (s.calls ? s.sum / s.calls : null)),
    seconds.map((s) => (s.calls ? s.slowest : null)),
  ];
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

/** "12:00:03: 3 calls, mean 12 ms, slowest 30 ms" */
export function secondText(s: Second): string {
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
