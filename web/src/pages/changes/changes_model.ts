// What is said of a definition that is not what was approved.
import type { DiffSegment, Pin } from "../../hub/types";

/** What does not change is shown this far beside what does. */
const CONTEXT = 160;

export const keyOf = (p: Pin): string => `${p.server}\n${p.kind}\n${p.name}`;

export const titleOf = (p: Pin): string =>
  p.kind === "instructions" ? `${p.server}: instructions` : p.kind === "prompt" ? `${p.server}.${p.name} (prompt)` : `${p.server}.${p.name}`;

export const stateText = (p: Pin): string => (p.state === "held" ? "Held back" : "Changed, let through");

/** The query that asks for it alone. */
export const lookOf = (p: Pin) => ({ server: p.server, kind: p.kind, name: p.kind === "instructions" ? undefined : p.name });

/** What approves exactly what is shown, and nothing that came since. */
export const approvalOf = (p: Pin) =>
  p.kind === "instructions"
    ? { server: p.server, kind: p.kind, cid: p.cid }
    : { server: p.server, kind: p.kind, name: p.name, cid: p.cid };

/** Of long pieces that are the same only what is near a change. */
export function near(diff: readonly DiffSegment[]): DiffSegment[] {
  return diff.map((s, i) => {
    const chars = [...s.text];
    if (s.op !== "same" || chars.length <= 2 * CONTEXT) return s;
    const head = i > 0 ? chars.slice(0, CONTEXT).join("") : "";
    const tail = i < diff.length - 1 ? chars.slice(-CONTEXT).join("") : "";
    return { op: "same", text: `${head} … ${tail}` };
  });
}
