// Text from servers: shown as text, whatever it holds.

// Controls, and everything that changes the order of letters or is not seen: bidi controls, zero
// width, tags. A name must not be able to look like another one.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

/** With what cannot be seen made visible: "a⟨U+202E⟩b". Tab and newline stay. */
export function shown(text: string): string {
  return text.replace(HIDDEN, (c) => `⟨U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

/** In one line: newlines, too, are made visible. */
export function oneLine(text: string): string {
  return shown(text).replace(/[\t\n]+/g, " ");
}

/** A name or sentence of a server within our own. Its direction stays its own. */
export function T({ children, class: name }: { children: string | undefined; class?: string }) {
  return <bdi class={name}>{oneLine(children ?? "")}</bdi>;
}

/** Text of a server on its own, with its lines. */
export function Pre({ children, class: name }: { children: string; class?: string }) {
  return (
    <pre class={name ?? "pre"} tabIndex={0}>
      {shown(children)}
    </pre>
  );
}

export function plural(n: number, one: string, many = one + "s"): string {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

/** "350 ms", "1.2 s", "3 min", "2 h" */
export function duration(ms: number): string {
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}

/** "5s", as beside a running call. S0-133 */
export function elapsed(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  return s < 60 ? `${s}s` : `${Math.floor(s / 60)}m ${s % 60}s`;
}

export function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString("en-GB");
}

/** The same with its day, unless that is the day of `nowMs`. */
export function dayClock(seconds: number, nowMs: number): string {
  const at = new Date(seconds * 1000);
  if (at.toDateString() === new Date(nowMs).toDateString()) return clock(seconds);
  return `${at.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })}`;
}
