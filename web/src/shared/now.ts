// The time for what counts seconds on the page: one clock for all, which runs only while somebody looks.
import { signal } from "@preact/signals";

const TICK_MS = 500;
let timer = 0;

/** Milliseconds since 1970. Read while drawing, it draws again twice a second. */
export const now = signal(Date.now(), {
  watched() {
    const tick = () => (now.value = Date.now());
    queueMicrotask(tick); // what is kept may be old
    timer = setInterval(tick, TICK_MS);
  },
  unwatched() {
    clearInterval(timer);
  },
});
