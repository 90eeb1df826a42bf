// Settings as fields: what was typed, whether it is right, and what is to be sent.
import type { Setting } from "../../hub/types";

export type Value = Setting["value"];
/** What was typed for some of them; null: back to the default. */
export type Edits = ReadonlyMap<string, Value | { readonly text: string }>;

/** The default is told as it would be written; some are told in words. */
export function defaultOf(s: Setting): Value {
  try {
    return JSON.parse(s.default) as Value;
  } catch {
    return null;
  }
}

/** For people: texts without their quotes. */
export function defaultText(s: Setting): string {
  const value = defaultOf(s);
  if (value === null) return s.default;
  if (typeof value === "boolean") return value ? "on" : "off";
  return String(value);
}

const isDefault = (s: Setting, value: Value) => value === null || value === defaultOf(s);

/** The value that it will have once everything is saved; undefined: what was typed is none. */
export function valueOf(s: Setting, edits: Edits): Value | undefined {
  const edit = edits.get(s.name);
  if (edit === undefined) return s.value;
  if (edit === null || typeof edit !== "object") return edit;
  if (edit.text.trim() === "") return null;
  if (s.kind !== "count" && s.kind !== "seconds") return edit.text;
  const number = Number(edit.text);
  return problemOf(s, edits) ? undefined : number;
}

export function textOf(s: Setting, edits: Edits): string {
  const edit = edits.get(s.name);
  if (edit && typeof edit === "object") return edit.text;
  const value = edit === undefined ? s.value : edit;
  return value === null ? "" : String(value);
}

export function problemOf(s: Setting, edits: Edits): string {
  const edit = edits.get(s.name);
  if (!edit || typeof edit !== "object" || edit.text.trim() === "") return "";
  if (s.kind !== "count" && s.kind !== "seconds") return "";
  const number = Number(edit.text);
  if (Number.isNaN(number)) return "Give a number.";
  if (s.kind === "count" && !Number.isInteger(number)) return "Give a whole number.";
  const low = s.min ?? -Infinity;
  const high = s.max ?? Infinity;
  return number < low || number > high ? `Give ${low} to ${high.toLocaleString("en")}.` : "";
}

/** Not as it is by default. */
export function isChanged(s: Setting, edits: Edits): boolean {
  const value = valueOf(s, edits);
  return value === undefined || !isDefault(s, value);
}

/** Only what is different from what is saved; the default is asked for by null. */
export function patchOf(settings: readonly Setting[], edits: Edits): Record<string, Value> {
  const patch: Record<string, Value> = {};
  for (const s of settings) {
    const value = valueOf(s, edits);
    if (value === undefined || value === s.value) continue;
    if (isDefault(s, value) && isDefault(s, s.value)) continue;
    patch[s.name] = isDefault(s, value) ? null : value;
  }
  return patch;
}

export const allRight = (settings: readonly Setting[], edits: Edits) => settings.every((s) => !problemOf(s, edits));

/** "reconnect_base_s" -> "Reconnect base": the unit stands beside the field. */
export function titleOf(s: Setting): string {
  const words = s.name.replace(/_s$/, "").replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
