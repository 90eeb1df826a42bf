// What is wrong with a value before a tool is called with it. The server has the last word.
import type { Json, JsonObject } from "../../hub/types";
import { own } from "../own";
import { isObject, plain, sameJson, shapeOf, typeWord, type Shape, type Variant } from "./model";

const PROBLEMS_MAX = 100;
const PATTERN_TEXT_MAX = 256;
const PATTERN_LOOPS_MAX = 3;
const WORDS_SHOWN = 8;
const VARIANTS_WITHIN_MAX = 2; // variants that are variants again, of one value

export const REQUIRED = "This is required.";

export interface Problem {
  path: string; // JSON pointer
  text: string;
}
/** Which of several variants a person chose, by path. */
export type Choices = ReadonlyMap<string, number>;

export function step(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

interface Look {
  root: JsonObject;
  choices: Choices;
  found: Problem[];
  within: number;
}

/**
 * A server's pattern runs on this page: one that can take forever must not. Repeated groups, references
 * back and many loops are left to the server.
 */
export function isQuick(pattern: string): boolean {
  if (/\)[*+{]/.test(pattern) || /\\[1-9k]/.test(pattern) || /\(\?[=!<]/.test(pattern)) return false;
  return (pattern.match(/[*+{]/g) ?? []).length <= PATTERN_LOOPS_MAX;
}

function misses(pattern: string, text: string): boolean {
  if (!isQuick(pattern) || text.length > PATTERN_TEXT_MAX) return false;
  try {
    return !new RegExp(pattern, "u").test(text);
  } catch {
    return false;
  }
}

// ---- by kind ----

type Rule = [key: string, wrong: (value: number, limit: number) => boolean, text: (limit: number) => string];

const NUMBER_RULES: Rule[] = [
  ["minimum", (v, l) => v < l, (l) => `At least ${l}.`],
  ["maximum", (v, l) => v > l, (l) => `At most ${l}.`],
  ["exclusiveMinimum", (v, l) => v <= l, (l) => `More than ${l}.`],
  ["exclusiveMaximum", (v, l) => v >= l, (l) => `Less than ${l}.`],
  ["multipleOf", (v, l) => l > 0 && Math.abs(v / l - Math.round(v / l)) > 1e-9, (l) => `A multiple of ${l}.`],
];
const LENGTH_RULES: Rule[] = [
  ["minLength", (v, l) => v < l, (l) => `At least ${l} letters.`],
  ["maxLength", (v, l) => v > l, (l) => `At most ${l} letters.`],
];
const COUNT_RULES: Rule[] = [
  ["minItems", (v, l) => v < l, (l) => `At least ${l} of them.`],
  ["maxItems", (v, l) => v > l, (l) => `At most ${l} of them.`],
];

function byRules(rules: Rule[], s: JsonObject, value: number): string {
  for (const [key, wrong, text] of rules) {
    const limit = own(s, key);
    if (typeof limit === "number" && wrong(value, limit)) return text(limit);
  }
  return "";
}

function textProblem(s: JsonObject, value: Json): string {
  if (typeof value !== "string") return "Expected text.";
  const pattern = own(s, "pattern");
  if (typeof pattern === "string" && misses(pattern, value)) return `Does not fit the pattern ${pattern}`;
  return byRules(LENGTH_RULES, s, [...value].length);
}

function numberProblem(s: JsonObject, value: Json, whole: boolean): string {
  if (typeof value !== "number") return whole ? "Expected a whole number." : "Expected a number.";
  if (whole && !Number.isInteger(value)) return "Expected a whole number.";
  return byRules(NUMBER_RULES, s, value);
}

function isOfType(value: Json, type: string): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value);
  if (type === "null") return value === null;
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function rawProblem(s: JsonObject, value: Json): string {
  const type = own(s, "type");
  return typeof type === "string" && !isOfType(value, type) ? `Expected: ${typeWord(type)}.` : "";
}

function choiceProblem(shape: Extract<Shape, { kind: "choice" }>, value: Json): string {
  if (shape.options.some((o) => sameJson(o.value, value))) return "";
  const words = shape.options.slice(0, WORDS_SHOWN).map((o) => o.label);
  return `One of: ${words.join(", ")}${shape.options.length > WORDS_SHOWN ? ", …" : ""}`;
}

/** About the value itself, not about what is in it. */
function ownProblem(shape: Shape, s: JsonObject, value: Json): string {
  switch (shape.kind) {
    case "text":
      return textProblem(s, value);
    case "number":
      return numberProblem(s, value, shape.whole);
    case "boolean":
      return typeof value === "boolean" ? "" : "Expected yes or no.";
    case "null":
      return value === null ? "" : "Expected nothing (null).";
    case "const":
      return sameJson(value, shape.value) ? "" : `Must be ${JSON.stringify(shape.value)}.`;
    case "choice":
      return choiceProblem(shape, value);
    case "list":
      return Array.isArray(value) ? byRules(COUNT_RULES, s, value.length) : "Expected a list.";
    case "object":
      return isObject(value) ? "" : "Expected an object.";
    case "raw":
      return rawProblem(s, value);
    case "variants":
      return "";
  }
}

// ---- walking ----

function walkInside(look: Look, shape: Shape, value: Json, path: string): void {
  if (shape.kind === "list" && Array.isArray(value))
    value.forEach((item, i) => walk(look, shape.item(i), item, step(path, i), true));
  if (shape.kind !== "object" || !isObject(value)) return;
  for (const m of shape.members) walk(look, m.schema, own(value, m.name), step(path, m.name), m.required);
  if (shape.extra === null) return;
  const known = new Set(shape.members.map((m) => m.name));
  for (const [key, item] of Object.entries(value))
    if (!known.has(key)) walk(look, shape.extra, item, step(path, key), true);
}

function walk(look: Look, schema: Json, value: Json | undefined, path: string, required: boolean): void {
  if (look.found.length >= PROBLEMS_MAX) return;
  if (value === undefined) {
    if (required) look.found.push({ path, text: REQUIRED });
    return;
  }
  const shape = shapeOf(schema, look.root);
  if (shape.kind === "variants") {
    if (look.within >= VARIANTS_WITHIN_MAX) return;
    look.within++;
    const i = pick(look, shape.variants, value, path);
    walk(look, shape.variants[i]!.schema, value, path, required);
    look.within--;
    return;
  }
  const text = ownProblem(shape, plain(schema, look.root), value);
  if (text) look.found.push({ path, text });
  else walkInside(look, shape, value, path);
}

/** The variant that a value is of: the chosen one if it can be, else the one with the least wrong. */
function pick(look: Look, variants: readonly Variant[], value: Json, path: string): number {
  const chosen = look.choices.get(path);
  const counts = variants.map((v) => {
    const inner: Look = { ...look, found: [] };
    walk(inner, v.schema, value, path, true);
    // Of another type altogether is worse than any number of mistakes within.
    return inner.found.some((p) => p.path === path) ? PROBLEMS_MAX + inner.found.length : inner.found.length;
  });
  if (chosen !== undefined && (counts[chosen] ?? Infinity) < PROBLEMS_MAX) return chosen;
  return counts.indexOf(Math.min(...counts));
}

const look = (root: JsonObject, choices: Choices): Look => ({ root, choices, found: [], within: 0 });

export function problemsOf(value: Json, schema: Json, root: JsonObject, choices: Choices = new Map()): Problem[] {
  const seen = look(root, choices);
  walk(seen, schema, value, "", true);
  return seen.found;
}

export function variantOf(
  value: Json | undefined,
  variants: readonly Variant[],
  root: JsonObject,
  choices: Choices,
  path: string,
): number {
  if (value === undefined) return Math.min(choices.get(path) ?? 0, variants.length - 1);
  return pick(look(root, choices), variants, value, path);
}
