// The time, for what ticks: elapsed, countdowns, charts.
import { useEffect, useState } from "preact/hooks";

/** Milliseconds since 1970; draws again every `ms`, but not while nobody looks. */
export function useNow(ms = 1000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, ms);
    return () => clearInterval(timer);
  }, [ms]);
  return now;
}
