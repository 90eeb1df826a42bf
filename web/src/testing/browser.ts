// A browser that is small enough for tests: an address with its history, and a clock that goes when it
// is told to. Imported before what is tested, which may look at the address as soon as it is loaded.

declare function setImmediate(next: () => void): void;

/** Until all that needs no clock has happened. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise<void>((next) => setImmediate(next));
}

export async function until(come: () => boolean): Promise<void> {
  for (let i = 0; i < 1000 && !come(); i++) await new Promise<void>((next) => setImmediate(next));
  if (!come()) throw new Error(`it never came: ${come}`);
}

// ---- the clock ----

interface Timer {
  at: number;
  every: number;
  run: () => void;
}
const timers = new Map<number, Timer>();
let now = 0;
let lastTimer = 0;

function start(run: () => void, ms: number, every: number): number {
  timers.set(++lastTimer, { at: now + ms, every, run });
  return lastTimer;
}

function next(before: number): [number, Timer] | undefined {
  return [...timers].filter(([, t]) => t.at <= before).sort(([, a], [, b]) => a.at - b.at)[0];
}

/** Lets time pass, and all happen that is due meanwhile. */
export async function pass(ms: number): Promise<void> {
  const end = now + ms;
  await settle();
  for (let due = next(end); due; due = next(end)) {
    const [id, timer] = due;
    now = timer.at;
    if (timer.every) timer.at += timer.every;
    else timers.delete(id);
    timer.run();
    await settle();
  }
  now = end;
}

/** Until the clock stands at a multiple of `ms`. */
export const passTo = (ms: number) => pass(ms - (now % ms));

/** How many timers there are. */
export const waiting = () => timers.size;

// ---- the address ----

const target = new EventTarget();
let steps = [""];
let step = 0;

function goTo(hash: string): void {
  const was = steps[step];
  const named = !hash || hash.startsWith("#") ? hash : `#${hash}`;
  if (named === was) return;
  steps = [...steps.slice(0, step + 1), named];
  step++;
  target.dispatchEvent(new Event("hashchange"));
}

const hashOf = (url: string) => (url.includes("#") ? url.slice(url.indexOf("#")) : "");

export const browser = {
  /** What the button "back" would lead through, oldest first. */
  steps: () => steps.slice(0, step + 1),
  back(): void {
    if (step === 0) return;
    step--;
    target.dispatchEvent(new Event("hashchange"));
  },
  hide(hidden: boolean): void {
    page.hidden = hidden;
    page.dispatchEvent(new Event("visibilitychange"));
  },
  online: () => target.dispatchEvent(new Event("online")),
};

const page = Object.assign(new EventTarget(), { hidden: false });
const kept = new Map<string, string>();

Object.assign(globalThis, {
  window: target,
  document: page,
  location: {
    pathname: "/",
    get hash(): string {
      return steps[step] ?? "";
    },
    set hash(to: string) {
      goTo(to);
    },
  },
  history: {
    pushState(_state: unknown, _title: string, url: string) {
      steps = [...steps.slice(0, step + 1), hashOf(url)];
      step++;
    },
    replaceState(_state: unknown, _title: string, url: string) {
      steps[step] = hashOf(url);
    },
  },
  sessionStorage: {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
  },
  setTimeout: (run: () => void, ms = 0) => start(run, ms, 0),
  setInterval: (run: () => void, ms: number) => start(run, ms, ms),
  clearTimeout: (id: number) => void timers.delete(id),
  clearInterval: (id: number) => void timers.delete(id),
});
