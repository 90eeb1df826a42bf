// The filter of a mode: its JSON form, a tree that a form can be made of, and back.
import type { Json } from "../../hub/types";

export type WordsKind = "servers" | "tools" | "toolIDs";
export type GroupKind = "and" | "or";

export type Filter =
  | { readonly kind: "all" | "none" }
  | { readonly kind: WordsKind; readonly words: readonly string[] }
  | { readonly kind: "pattern"; readonly pattern: string }
  | { readonly kind: GroupKind; readonly parts: readonly Filter[] }
  | { readonly kind: "not"; readonly part: Filter };

export type FilterKind = Filter["kind"];

/** In the order in which they are offered. */
export const filterKinds: readonly { kind: FilterKind; label: string }[] = [
  { kind: "all", label: "All tools" },
  { kind: "none", label: "No tools" },
  { kind: "servers", label: "Tools of these servers" },
  { kind: "tools", label: "Tools of these names, on any server" },
  { kind: "toolIDs", label: "Exactly these tools" },
  { kind: "pattern", label: "Tools whose name matches a pattern" },
  { kind: "and", label: "All of the following hold" },
  { kind: "or", label: "One of the following holds" },
  { kind: "not", label: "The following does not hold" },
];

const isKind = (name: string): name is FilterKind => filterKinds.some((k) => k.kind === name);

// ---- reading ----

class Wrong extends Error {}

function wrong(where: string, text: string): never {
  throw new Wrong(where ? `${where}: ${text}` : text);
}

/** {"servers":{"_0":[…]}} is how Swift writes {"servers":[…]}. */
function unwrap(v: Json | undefined): Json | undefined {
  if (v && typeof v === "object" && !Array.isArray(v) && Object.keys(v).join() === "_0") return v["_0"];
  return v;
}

function readWords(v: Json | undefined, where: string): string[] {
  if (!Array.isArray(v) || !v.every((w) => typeof w === "string")) wrong(where, "expected a list of texts");
  return v as string[];
}

function readParts(v: Json | undefined, where: string): Filter[] {
  if (!Array.isArray(v)) wrong(where, "expected a list of filters");
  return v.map((part, i) => read(part, `${where}.${i}`));
}

function readMember(kind: FilterKind, v: Json | undefined, where: string): Filter {
  switch (kind) {
    case "all":
    case "none":
      return { kind };
    case "servers":
    case "tools":
    case "toolIDs":
      return { kind, words: readWords(v, where) };
    case "pattern":
      return typeof v === "string" ? { kind, pattern: v } : wrong(where, "expected a text");
    case "and":
    case "or":
      return { kind, parts: readParts(v, where) };
    case "not":
      return v === undefined ? wrong(where, "expected a filter") : { kind, part: read(v, where) };
  }
}

function read(v: Json, where: string): Filter {
  if (v === "all" || v === "none") return { kind: v };
  if (v === null || typeof v !== "object" || Array.isArray(v)) wrong(where, 'expected "all", "none" or an object');
  const [name, ...more] = Object.keys(v);
  if (name === undefined || more.length) wrong(where, "expected one member");
  if (!isKind(name)) wrong(where, `"${name}" is no kind of filter`);
  return readMember(name, unwrap(v[name]), where ? `${where}.${name}` : name);
}

export type Reading = { filter: Filter } | { error: string };

export function filterOf(v: Json): Reading {
  try {
    return { filter: read(v, "") };
  } catch (why) {
    if (why instanceof Wrong) return { error: why.message };
    throw why;
  }
}

export function filterOfText(text: string): Reading {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (why) {
    return { error: `This is no JSON: ${(why as Error).message}` };
  }
  return filterOf(value);
}

// ---- writing ----

export function jsonOf(f: Filter): Json {
  switch (f.kind) {
    case "all":
    case "none":
      return f.kind;
    case "servers":
    case "tools":
    case "toolIDs":
      return { [f.kind]: f.words.filter((w) => w !== "") }; // a line that is just being begun
    case "pattern":
      return { pattern: f.pattern };
    case "and":
    case "or":
      return { [f.kind]: f.parts.map(jsonOf) };
    case "not":
      return { not: jsonOf(f.part) };
  }
}

export const textOf = (f: Filter) => JSON.stringify(jsonOf(f), null, 2);

// ---- changing ----

function partsOf(f: Filter): readonly Filter[] {
  if (f.kind === "and" || f.kind === "or") return f.parts;
  if (f.kind === "not") return [f.part];
  return f.kind === "none" ? [] : [f];
}

/** The filter as one of another kind, with as much of it kept as fits. */
export function asKind(f: Filter, kind: FilterKind): Filter {
  switch (kind) {
    case "all":
    case "none":
      return { kind };
    case "servers":
    case "tools":
    case "toolIDs":
      return { kind, words: [] };
    case "pattern":
      return { kind, pattern: "" };
    case "and":
    case "or":
      return { kind, parts: partsOf(f) };
    case "not":
      return { kind, part: f.kind === "not" ? f.part : (partsOf(f)[0] ?? { kind: "all" }) };
  }
}

export type Group = Extract<Filter, { kind: GroupKind }>;

export const withPart = (g: Group, i: number, part: Filter): Filter => ({
  ...g,
  parts: g.parts.map((old, j) => (j === i ? part : old)),
});
export const withoutPart = (g: Group, i: number): Filter => ({ ...g, parts: g.parts.filter((_, j) => j !== i) });
export const withNewPart = (g: Group): Filter => ({ ...g, parts: [...g.parts, { kind: "servers", words: [] }] });

// ---- the form and its JSON side ----

/** The text is always what is saved; the form shows the last of it that was right. */
export interface Both {
  readonly filter: Filter;
  readonly text: string;
  readonly error: string;
}

export const bothOf = (filter: Filter): Both => ({ filter, text: textOf(filter), error: "" });

export function typedText(b: Both, text: string): Both {
  const reading = filterOfText(text);
  return "filter" in reading ? { filter: reading.filter, text, error: "" } : { ...b, text, error: reading.error };
}

/** "Read only!" -> "read-only": an id that needs no quotes anywhere. */
export function idFrom(name: string): string {
  return name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);
}

export function idProblem(id: string, taken: readonly string[]): string {
  if (id === "") return "A mode needs an id.";
  if (/[/\u0000-\u001f\u007f]/.test(id)) return "Neither / nor control characters are possible.";
  if (new TextEncoder().encode(id).length > 64) return "At most 64 characters are possible.";
  return taken.includes(id) ? "There is a mode of this id already." : "";
}
