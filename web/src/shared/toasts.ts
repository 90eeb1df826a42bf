// Short messages in the corner: S1-127 to S1-129. Success goes by itself, an error stays.
import { signal } from "@preact/signals";
import type { ToastLevel } from "../hub/types";

const SHOWN_MS = 5000;
const MOST = 5;

export interface Toast {
  id: number;
  text: string;
  level: ToastLevel;
  spinner?: boolean;
  stays?: boolean;
  /** The server it is about: a newer one about the same takes its place. */
  about?: string;
}

export const toasts = signal<readonly Toast[]>([]);
let last = 0;

export function toast(t: Omit<Toast, "id">): void {
  const id = ++last;
  const others = toasts.value.filter((o) => !t.about || o.about !== t.about);
  toasts.value = [...others, { ...t, id }].slice(-MOST);
  if (!t.stays && !t.spinner) setTimeout(() => dismiss(id), SHOWN_MS);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((t) => t.id !== id);
}

/** What was going on is over, with the servers that `over` names; what came of it is told by itself. */
export function endSpinners(over: (server: string | undefined) => boolean): void {
  toasts.value = toasts.value.filter((t) => !t.spinner || !over(t.about));
}

/** For the catch of something that a person asked for. */
export function tellFailure(what: string, why: unknown): void {
  if (why instanceof DOMException && why.name === "AbortError") return;
  const text = why instanceof Error ? why.message : String(why);
  toast({ text: `${what}: ${text}`, level: "error", stays: true });
}
