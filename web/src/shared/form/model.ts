// What a form shows for a JSON schema: one shape for each part of it, worked out when it comes into sight.
// A schema may refer to itself, so nothing here walks a whole one.
import type { Json, JsonObject } from "../../hub/types";
import { own } from "../own";

// Hostile schemas refer to themselves many times over: each walk has an end.
const REFS_MAX = 16; // "$ref" after "$ref"
const ALL_DEPTH_MAX = 3; // "allOf" within "allOf"
const ALL_MAX = 50;
const VARIANT_DEPTH_MAX = 8; // the only variant of the only variant
const LAID_DEPTH_MAX = 8; // how deep empty objects are laid out, and how many members in all
const LAID_MAX = 500;
const LONG_TEXT = 200; // letters, from which on a text gets more lines

export interface Member {
  name: string;
  schema: Json;
  required: boolean;
}
export interface Variant {
  title: string;
  schema: JsonObject;
}
export type Shape =
  | { kind: "text"; long: boolean; format: string }
  | { kind: "choice"; options: { label: string; value: Json }[] }
  | { kind: "number"; whole: boolean; min?: number; max?: number; step?: number }
  | { kind: "boolean" }
  | { kind: "null" }
  | { kind: "const"; value: Json }
  | { kind: "list"; item: (i: number) => Json; min: number; max: number }
  | { kind: "object"; members: Member[]; extra: Json | null } // extra: what further members are; null: there are none
  | { kind: "variants"; variants: Variant[] }
  | { kind: "raw" }; // no form for it: JSON

// ---- reading schemas ----

export function isObject(v: Json | undefined): v is JsonObject {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

const asText = (v: Json | undefined) => (typeof v === "string" ? v : "");
const asNumber = (v: Json | undefined) => (typeof v === "number" ? v : undefined);
const asList = (v: Json | undefined) => (Array.isArray(v) ? v : []);

/** What "#/$defs/x" points at. Nothing is ever fetched. */
function pointed(root: JsonObject, ref: string): Json | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let at: Json | undefined = root;
  for (const part of decoded(ref.slice(2)).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) at = at[Number(key)];
    else at = isObject(at) ? own(at, key) : undefined;
  }
  return at;
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function without(schema: JsonObject, ...keys: string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
}

/** What holds when both do, as far as a form needs it. */
function both(a: JsonObject, b: JsonObject): JsonObject {
  const out = { ...a, ...b };
  const [ap, bp] = [own(a, "properties"), own(b, "properties")];
  if (isObject(ap) && isObject(bp)) out["properties"] = { ...ap, ...bp };
  const required = new Set([...asList(own(a, "required")), ...asList(own(b, "required"))]);
  if (required.size) out["required"] = [...required];
  return out;
}

/** A schema with its references followed and its "allOf" put together. */
export function plain(schema: Json | undefined, root: JsonObject, depth = 0): JsonObject {
  let s: JsonObject = isObject(schema) ? schema : {};
  for (let i = 0; typeof s["$ref"] === "string"; i++) {
    const target = i < REFS_MAX ? pointed(root, s["$ref"]) : undefined;
    const beside = without(s, "$ref");
    s = isObject(target) ? both(target, beside) : beside;
  }
  const all = asList(own(s, "allOf")).slice(0, ALL_MAX);
  if (!all.length || depth >= ALL_DEPTH_MAX) return s;
  return all.map((one) => plain(one, root, depth + 1)).reduce(both, without(s, "allOf"));
}

// ---- shapes ----

const SAYS_SHAPE = ["type", "properties", "const", "enum", "items", "prefixItems", "oneOf", "anyOf", "additionalProperties"];
const saysShape = (s: JsonObject) => SAYS_SHAPE.some((key) => Object.hasOwn(s, key));

const TYPE_WORDS: Record<string, string> = {
  string: "text",
  number: "number",
  integer: "whole number",
  boolean: "yes or no",
  array: "list",
  object: "object",
  null: "nothing (null)",
};
export const typeWord = (type: string) => own(TYPE_WORDS, type) ?? type;

/** Members that only one type has tell the type where it is left out. */
const HINTS: [string, string][] = [
  ["properties", "object"],
  ["additionalProperties", "object"],
  ["patternProperties", "object"],
  ["items", "array"],
  ["prefixItems", "array"],
  ["pattern", "string"],
  ["minLength", "string"],
  ["maxLength", "string"],
  ["format", "string"],
  ["minimum", "number"],
  ["maximum", "number"],
];
function typeOf(s: JsonObject): string {
  return asText(own(s, "type")) || (HINTS.find(([key]) => Object.hasOwn(s, key))?.[1] ?? "");
}

function titleOf(s: JsonObject, i: number): string {
  const value = own(s, "const");
  return asText(own(s, "title")) || (value !== undefined ? label(value) : typeWord(typeOf(s)) || `choice ${i + 1}`);
}

const label = (value: Json) => (typeof value === "string" ? value : JSON.stringify(value));

function variantsOf(s: JsonObject, root: JsonObject, depth: number): Shape | null {
  const listed = [own(s, "oneOf"), own(s, "anyOf")].find((v) => Array.isArray(v) && v.length) as Json[] | undefined;
  const base = without(s, "oneOf", "anyOf", "title", "default");
  const types = asList(own(s, "type")).map(asText);
  const each = listed
    ? listed.map((one) => plain(one, root))
    : types.map((type) => ({ ...base, type }) as JsonObject);
  // Such as {"required":["a"]}: a rule, not another form. The server keeps it.
  if (!each.length || !each.some(saysShape)) return null;
  if (listed && each.every((one) => Object.hasOwn(one, "const")))
    return { kind: "choice", options: each.map((one, i) => ({ label: titleOf(one, i), value: one["const"]! })) };
  const variants = each.map((one, i) => ({ title: titleOf(one, i), schema: listed ? both(base, one) : one }));
  return variants.length === 1 ? shapeOf(variants[0]!.schema, root, depth + 1) : { kind: "variants", variants };
}

function objectShape(s: JsonObject): Shape {
  const required = new Set(asList(own(s, "required")));
  const properties = own(s, "properties");
  const members = Object.entries(isObject(properties) ? properties : {}).map(([name, schema]) => ({
    name,
    schema,
    required: required.has(name),
  }));
  const further = own(s, "additionalProperties");
  const open = further === undefined ? !members.length || Object.hasOwn(s, "patternProperties") : further !== false;
  return { kind: "object", members, extra: open ? (further ?? {}) : null };
}

function listShape(s: JsonObject): Shape {
  const first = asList(own(s, "prefixItems"));
  const rest = own(s, "items") ?? {};
  return {
    kind: "list",
    item: (i) => first[i] ?? (Array.isArray(rest) ? (rest[i] ?? {}) : rest),
    min: asNumber(own(s, "minItems")) ?? 0,
    max: asNumber(own(s, "maxItems")) ?? Infinity,
  };
}

function numberShape(s: JsonObject, whole: boolean): Shape {
  return {
    kind: "number",
    whole,
    min: asNumber(own(s, "minimum")) ?? asNumber(own(s, "exclusiveMinimum")),
    max: asNumber(own(s, "maximum")) ?? asNumber(own(s, "exclusiveMaximum")),
    step: asNumber(own(s, "multipleOf")),
  };
}

const BY_TYPE: Record<string, (s: JsonObject) => Shape> = {
  string: (s) => ({
    kind: "text",
    long: (asNumber(own(s, "maxLength")) ?? 0) > LONG_TEXT || Object.hasOwn(s, "contentMediaType"),
    format: asText(own(s, "format")),
  }),
  number: (s) => numberShape(s, false),
  integer: (s) => numberShape(s, true),
  boolean: () => ({ kind: "boolean" }),
  null: () => ({ kind: "null" }),
  array: listShape,
  object: objectShape,
};

export function shapeOf(schema: Json | undefined, root: JsonObject, depth = 0): Shape {
  if (depth > VARIANT_DEPTH_MAX) return { kind: "raw" };
  const s = plain(schema, root);
  const fixed = own(s, "const");
  if (fixed !== undefined) return { kind: "const", value: fixed };
  const listed = asList(own(s, "enum"));
  if (listed.length) return { kind: "choice", options: listed.map((value) => ({ label: label(value), value })) };
  const several = variantsOf(s, root, depth);
  if (several) return several;
  const type = typeOf(s);
  return own(BY_TYPE, type)?.(s) ?? { kind: "raw" };
}

// ---- values ----

interface Laying {
  root: JsonObject;
  left: number;
}

function laidObject(shape: Extract<Shape, { kind: "object" }>, laying: Laying, depth: number): JsonObject {
  let out: JsonObject = {};
  for (const m of shape.members) out = withMember(out, m.name, laid(m.schema, laying, m.required, depth + 1));
  return out;
}

function laid(schema: Json | undefined, laying: Laying, required: boolean, depth: number): Json | undefined {
  const { root } = laying;
  const given = own(plain(schema, root), "default");
  if (given !== undefined) return structuredClone(given);
  if (!required || depth > LAID_DEPTH_MAX || laying.left-- <= 0) return undefined;
  const shape = shapeOf(schema, root);
  switch (shape.kind) {
    case "const":
      return structuredClone(shape.value);
    case "choice":
      return shape.options.length === 1 ? structuredClone(shape.options[0]!.value) : undefined;
    case "boolean":
      return false;
    case "null":
      return null;
    case "list":
      return [];
    case "variants":
      return laid(shape.variants[0]!.schema, laying, true, depth + 1);
    case "object":
      return laidObject(shape, laying, depth);
    default:
      return undefined;
  }
}

/** What a part has before anybody touched it; undefined: it is left out. */
export function initial(schema: Json | undefined, root: JsonObject, required: boolean): Json | undefined {
  return laid(schema, { root, left: LAID_MAX }, required, 0);
}

/** What a row or object starts with that a person adds: something to see. */
export function added(schema: Json | undefined, root: JsonObject): Json {
  const value = initial(schema, root, true);
  if (value !== undefined) return value;
  const shape = shapeOf(schema, root);
  return shape.kind === "choice" ? structuredClone(shape.options[0]!.value) : shape.kind === "number" ? 0 : "";
}

/** The arguments a tool's form starts with. */
export function emptyArguments(schema: JsonObject): JsonObject {
  const value = initial(schema, schema, true);
  return isObject(value) ? value : {};
}

/** A copy with one member set, or left out. Computed keys are own members, even "__proto__". */
export function withMember(o: JsonObject, key: string, value: Json | undefined): JsonObject {
  return value === undefined ? without(o, key) : { ...o, [key]: value };
}

/** A copy with a member called otherwise, at its place. An existing name is not taken. */
export function renamed(o: JsonObject, from: string, to: string): JsonObject {
  if (from === to || Object.hasOwn(o, to)) return o;
  return Object.fromEntries(Object.entries(o).map(([key, v]) => [key === from ? to : key, v]));
}

/** A copy with one item moved to another place. */
export function moved(list: readonly Json[], from: number, to: number): Json[] {
  const out = [...list];
  const [item] = out.splice(from, 1);
  out.splice(to, 0, item!);
  return out;
}

/** What a person typed into a field without a shape: JSON if it is JSON, else text. */
export function loosely(text: string): Json | undefined {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** The other way round: a text that reads as JSON gets quotes. */
export function looseText(value: Json | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string" && loosely(value) === value) return value;
  return JSON.stringify(value, null, 2);
}

export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}
