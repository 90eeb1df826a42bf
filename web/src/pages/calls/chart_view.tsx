// The chart of calls: throughput as bars, latency as lines. Its colours are those of the theme.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { samples } from "../../hub/samples";
import { now } from "../../shared/now";
import { theme } from "../../shared/theme";
import { clock, duration } from "../../shared/ui/text";
import { bundled, bundleText, type ChartData, chartData, lonely, scaleTop, splits, summary } from "./chart";

const HEIGHT = 170;
const BUNDLE_S = 5;
const LEAST_RATE = 5;
const LEAST_MS = 10;

/** `alpha` is two hex digits: the theme's colours are written in hex. */
const color = (name: string, alpha = "") => () =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim() + alpha;

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

function options(width: number, onHover: (i: number | null) => void): uPlot.Options {
  const upTo = (least: number) => (_: uPlot, __: number, high: number | null) =>
    [0, scaleTop(high, least)] as uPlot.Range.MinMax;
  const parted = (_: uPlot, __: number, ___: number, top: number) => splits(top);
  const line = (name: string): uPlot.Series => ({
    scale: "ms",
    stroke: color(name),
    width: 1.5,
    points: { show: true, size: 5, fill: color(name), filter: (u, i) => lonely(u.data[i] ?? []) },
  });
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    padding: [8, 0, 0, 0],
    cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
    hooks: { setCursor: [(u) => onHover(u.cursor.idx ?? null)] },
    scales: { x: { time: true }, rate: { range: upTo(LEAST_RATE) }, ms: { range: upTo(LEAST_MS) } },
    axes: [
      { ...axis("x", 2, 26, clock), space: 90 },
      { ...axis("rate", 3, 34, (v) => String(v)), splits: parted },
      { ...axis("ms", 1, 52, (v) => (v === 0 ? "0" : duration(v))), splits: parted },
    ],
    series: [
      {},
      {
        scale: "rate",
        fill: color("--gray-dot", "70"),
        width: 0,
        points: { show: false },
        paths: uPlot.paths.bars!({ size: [0.8, 12, 1] }),
      },
      line("--green"),
      line("--accent"),
    ],
  };
}

/** Redraws with its data, with its place, and with the theme. */
function Canvas({ data, onHover }: { data: ChartData; onHover: (i: number | null) => void }) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const drawn = theme.value;

  useEffect(() => {
    const place = box.current!;
    const u = (chart.current = new uPlot(options(place.clientWidth, onHover), data, place));
    const sized = new ResizeObserver(() => u.setSize({ width: place.clientWidth, height: HEIGHT }));
    sized.observe(place);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const again = () => u.redraw(false);
    dark.addEventListener("change", again);
    return () => {
      dark.removeEventListener("change", again);
      sized.disconnect();
      u.destroy();
    };
  }, []);
  useEffect(() => chart.current?.setData(data), [data]);
  useEffect(() => chart.current?.redraw(false), [drawn]); // only the colours are others
  return <div ref={box} class="calls-canvas" style={{ height: `${HEIGHT}px` }} />;
}

export function CallsChart() {
  const [at, setAt] = useState<number | null>(null);
  const whole = Math.floor(now.value / 1000);
  const { bundles, data, said } = useMemo(() => {
    const seconds = samples.window(whole);
    const bundles = bundled(seconds, BUNDLE_S);
    return { bundles, data: chartData(bundles), said: summary(seconds) };
  }, [whole]);
  const hovered = at === null ? undefined : bundles[at];
  return (
    <figure class="card calls-chart">
      <div role="img" aria-label={`Calls per second and latency over the last five minutes. ${said}.`}>
        <Canvas data={data} onHover={setAt} />
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
        <span class="calls-said">{hovered ? bundleText(hovered) : said}</span>
      </figcaption>
    </figure>
  );
}
