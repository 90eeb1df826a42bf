// The same call for a shell: as curl, and as a command of this program.
import type { Json, JsonObject } from "../../hub/types";

// What a terminal or an eye could take for something else: controls, bidi, zero width, lone surrogates.
const UNSEEN =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]|[\u{e0000}-\u{e007f}]/gu;
const PLAIN_WORD = /^[A-Za-z0-9_./:=,@%+-]+$/;

const hex = (n: number, digits: number) => n.toString(16).padStart(digits, "0");

/** JSON text in which every letter can be seen. */
export function clearJson(value: Json): string {
  return JSON.stringify(value).replace(UNSEEN, (c) =>
    [...Array(c.length).keys()].map((i) => "\\u" + hex(c.charCodeAt(i), 4)).join(""),
  );
}

/** One word of a shell, whatever it holds. */
export function quoted(word: string): string {
  if (PLAIN_WORD.test(word)) return word;
  if (word.search(UNSEEN) < 0) return `'${word.replaceAll("'", `'\\''`)}'`;
  const escaped = word
    .replace(/[\\']/g, "\\$&")
    .replace(UNSEEN, (c) => (c > "\uffff" || c.length > 1 ? "\\U" + hex(c.codePointAt(0)!, 8) : "\\u" + hex(c.charCodeAt(0), 4)));
  return `$'${escaped}'`;
}

/** The token stays where it is: the command takes it from the environment. */
export function asCurl(origin: string, tool: string, args: JsonObject): string {
  return [
    `curl -sS ${quoted(`${origin}/api/mcp-tools/call`)}`,
    `-H "Authorization: Bearer $PATCHBAY_TOKEN"`,
    `-H 'Content-Type: application/json'`,
    `-d ${quoted(clearJson({ tool, arguments: args }))}`,
  ].join(" \\\n  ");
}

/** Whether "key=…" is read as this key: not as an option, a file, an object, a member of one or another key. */
const isPlainKey = (key: string) => key !== "" && !/[=.]|:$|^[-{@]/.test(key) && key.search(UNSEEN) < 0;

/** Whether a schema could make something else of it than text. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function argument(key: string, value: Json): string {
  const asText = typeof value === "string" && !value.startsWith("@") && !isJson(value) && value.search(UNSEEN) < 0;
  return quoted(asText ? `${key}=${value}` : `${key}:=${clearJson(value)}`);
}

export function asCommand(tool: string, args: JsonObject): string {
  const words = Object.entries(args);
  const each = words.every(([key]) => isPlainKey(key))
    ? words.map(([key, value]) => argument(key, value))
    : [quoted(clearJson(args))];
  return ["patchbay call", quoted(tool), ...each].join(" ");
}
