// The chart of calls: throughput as bars, latency as lines. Its colours are those of the theme.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { samples, type Second } from "../samples";
import { theme } from "../theme";
import { useNow } from "../ui/now";
import { clock, duration } from "../ui/text";
import { chartData, scaleTop, secondText, summary } from "./chart";

const HEIGHT = 170;
const LEAST_RATE = 5;
const LEAST_MS = 10;

const color = (name: string) => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function axis(scale: string, side: uPlot.Axis.Side, size: number, words: (v: number) => string): uPlot.Axis {
  return {
    scale,
    side,
    size,
    font: "11px system-ui, sans-serif",
    stroke: color("--soft"),
    grid: { show: side !== 1, stroke: color("--line"), width: 1 },
    ticks: { show: false },
    values: (_, ticks) => ticks.map(words),
  };
}

function options(width: number, onSecond: (i: number | null) => void): uPlot.Options {
  const upTo = (least: number) => (_: uPlot, __: number, high: number | null) =>
    [0, scaleTop(high, least)] as uPlot.Range.MinMax;
  const line = (name: string): uPlot.Series => ({
    scale: "ms",
    stroke: color(name),
    width: 1.5,
    points: { show: true, size: 4, fill: color(name) },
  });
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    padding: [8, 0, 0, 0],
    cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
    hooks: { setCursor: [(u) => onSecond(u.cursor.idx ?? null)] },
    scales: { x: { time: true }, rate: { range: upTo(LEAST_RATE) }, ms: { range: upTo(LEAST_MS) } },
    axes: [
      { ...axis("x", 2, 26, clock), space: 90 },
      axis("rate", 3, 34, (v) => String(v)),
      axis("ms", 1, 52, (v) => (v === 0 ? "0" : duration(v))),
    ],
    series: [
      {},
      {
        scale: "rate",
        fill: color("--gray-dot"),
        width: 0,
        points: { show: false },
        paths: uPlot.paths.bars!({ size: [0.8, 12, 1] }),
      },
      line("--green"),
      line("--accent"),
    ],
  };
}

/** Redraws by itself once a second, with its place, and with the theme. */
function Canvas({ seconds, onSecond }: { seconds: readonly Second[]; onSecond: (i: number | null) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const drawn = theme.value;

  useEffect(() => {
    const place = box.current!;
    const u = (chart.current = new uPlot(options(place.clientWidth, onSecond), chartData(seconds), place));
    const sized = new ResizeObserver(() => u.setSize({ width: place.clientWidth, height: HEIGHT }));
    sized.observe(place);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const again = () => u.redraw();
    dark.addEventListener("change", again);
    return () => {
      dark.removeEventListener("change", again);
      sized.disconnect();
      u.destroy();
    };
  }, []);
  useEffect(() => chart.current?.setData(chartData(seconds)), [seconds]);
  useEffect(() => chart.current?.redraw(), [drawn]);
  return <div ref={box} class="calls-canvas" style={{ height: `${HEIGHT}px` }} />;
}

export function CallsChart() {
  const now = useNow();
  const [at, setAt] = useState<number | null>(null);
  const whole = Math.floor(now / 1000);
  const seconds = useMemo(() => samples.window(whole), [whole]);
  const said = summary(seconds);
  const second = at === null ? undefined : seconds[at];
  return (
    <figure class="card calls-chart">
      <div role="img" aria-label={`Calls per second and latency over the last five minutes. ${said}.`}>
        <Canvas seconds={seconds} onSecond={setAt} />
      </div>
      <figcaption>
        <span class="calls-key">
          <i class="rate" /> calls per second
        </span>
        <span class="calls-key">
          <i class="mean" /> mean
        </span>
        <span class="calls-key">
          <i class="slowest" /> slowest
        </span>
        <span class="calls-said">{second ? secondText(second) : said}</span>
      </figcaption>
    </figure>
  );
}
