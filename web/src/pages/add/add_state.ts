// The add screen: what is in the field, what was understood of it, and whether one can go on.
import type { Candidate, JsonObject } from "../../hub/types";
import { joinWords } from "../../shared/words";

export interface AddState {
  readonly text: string;
  /** What candidates and error are about. Others are of an older text, and shown until it is known better. */
  readonly about: string;
  readonly candidates: readonly Candidate[];
  readonly chosen: ReadonlySet<number>;
  readonly error: string;
  /** Whether the error is said: not while somebody is still typing. */
  readonly said: boolean;
}

export const blank: AddState = {
  text: "",
  about: "",
  candidates: [],
  chosen: new Set(),
  error: "",
  said: false,
};

export function typed(s: AddState, text: string): AddState {
  if (text.trim() === "") return { ...blank, text };
  return { ...s, text, said: false };
}

/** What would replace something is only done when it is asked for, unless there is nothing else. */
function choose(candidates: readonly Candidate[]): Set<number> {
  const fresh = candidates.flatMap((c, i) => (c.exists ? [] : [i]));
  return new Set(candidates.length === 1 ? [0] : fresh);
}

export function understood(s: AddState, text: string, candidates: readonly Candidate[]): AddState {
  if (text !== s.text) return s;
  return { ...s, about: text, candidates, chosen: choose(candidates), error: "" };
}

export function refused(s: AddState, text: string, error: string): AddState {
  if (text !== s.text) return s;
  return { ...s, about: text, candidates: [], chosen: new Set(), error };
}

export const paused = (s: AddState): AddState => ({ ...s, said: true });

export function toggle(s: AddState, i: number): AddState {
  const chosen = new Set(s.chosen);
  if (!chosen.delete(i)) chosen.add(i);
  return { ...s, chosen };
}

/** What is shown is about what is in the field. */
export const isCurrent = (s: AddState) => s.text.trim() !== "" && s.about === s.text;

export const canGoOn = (s: AddState) => isCurrent(s) && s.chosen.size > 0;

export const chosenOnes = (s: AddState) => s.candidates.filter((_, i) => s.chosen.has(i));

export function goOnText(s: AddState): string {
  if (s.candidates.length < 2) return "Next";
  return s.chosen.size === 1 ? "Add 1 server" : `Add ${s.chosen.size} servers`;
}

export const note = (s: AddState) => (s.said && isCurrent(s) ? s.error : "");

// ---- a candidate in words ----

export type Kind = "program" | "container" | "remote";

const CONTAINERS = /(^|\/)(docker|podman|nerdctl|container)$/;

function text(entry: JsonObject, member: string): string {
  const value = entry[member];
  return typeof value === "string" ? value : "";
}

export function kindOf(c: Candidate): Kind {
  if (c.transport !== "stdio") return "remote";
  return CONTAINERS.test(text(c.entry, "command")) ? "container" : "program";
}

/** Exactly what will be run or asked. */
export function runs(c: Candidate): string {
  if (c.transport !== "stdio") return text(c.entry, "url") || c.target;
  const { command, args } = c.entry;
  const words = [...(Array.isArray(command) ? command : [command ?? ""]), ...(Array.isArray(args) ? args : [])];
  return joinWords(words.map(String)) || c.target;
}

/** The names of what it is given: their values may be secret. */
export function given(c: Candidate, member: "env" | "headers"): string[] {
  const pairs = c.entry[member];
  return pairs && typeof pairs === "object" && !Array.isArray(pairs) ? Object.keys(pairs) : [];
}
