// What a piece of a result is, and whether it may be shown: servers say what they like.
import type { Content, Json } from "../../hub/types";
import { own } from "../own";

// Pictures that can hold no script, and sounds. The data URL is made of these names, never of the server's.
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const SOUNDS = ["audio/wav", "audio/mp3", "audio/mpeg", "audio/ogg", "audio/webm"];
const SAME: Record<string, string> = { "image/jpg": "image/jpeg", "audio/x-wav": "audio/wav", "audio/wave": "audio/wav" };
const TREE_MAX = 2_000_000; // letters of JSON that a tree is made of

export type Shown =
  | { kind: "text"; text: string; mime: string }
  | { kind: "image" | "audio"; src: string; mime: string; bytes: number }
  | { kind: "blob"; data: string; mime: string; bytes: number }
  | { kind: "resource"; uri: string; inside: Shown }
  | { kind: "link"; uri: string; name: string; title: string; description: string; mime: string }
  | { kind: "unknown"; value: Json };

/** "Image/PNG; x=y" is "image/png". */
export function essence(mime: unknown): string {
  const plain = typeof mime === "string" ? mime.split(";")[0]!.trim().toLowerCase() : "";
  return own(SAME, plain) ?? plain;
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
/** Without the line breaks some have in it; null: it is none. */
function cleanBase64(data: unknown): string | null {
  if (typeof data !== "string") return null;
  const plain = /\s/.test(data) ? data.replace(/\s+/g, "") : data;
  return BASE64.test(plain) ? plain : null;
}

export function bytesOf(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

const IS_TEXT = /^text\/|[/+](json|xml|yaml|javascript)$/;
/** The text that bytes are, or null: they are none. */
function textIn(base64: string): string | null {
  try {
    const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** Bytes of a type: a picture, a sound, or something to download. */
function shownBytes(data: unknown, mime: unknown, whole: Json): Shown {
  const clean = cleanBase64(data);
  if (clean === null) return { kind: "unknown", value: whole };
  const type = essence(mime);
  const bytes = bytesOf(clean);
  if (IMAGES.includes(type)) return { kind: "image", src: `data:${type};base64,${clean}`, mime: type, bytes };
  if (SOUNDS.includes(type)) return { kind: "audio", src: `data:${type};base64,${clean}`, mime: type, bytes };
  const text = IS_TEXT.test(type) ? textIn(clean) : null;
  if (text !== null) return { kind: "text", text, mime: type };
  return { kind: "blob", data: clean, mime: type, bytes };
}

const asText = (v: unknown) => (typeof v === "string" ? v : "");

function shownResource(content: Content): Shown {
  const r = content.resource;
  const whole = content as unknown as Json;
  if (!r || typeof r !== "object") return { kind: "unknown", value: whole };
  const uri = asText(r.uri);
  if (typeof r.text === "string") return { kind: "resource", uri, inside: { kind: "text", text: r.text, mime: essence(r.mimeType) } };
  return { kind: "resource", uri, inside: shownBytes(r.blob, r.mimeType, r as unknown as Json) };
}

const BY_TYPE: Record<string, (c: Content) => Shown | null> = {
  text: (c) => (typeof c.text === "string" ? { kind: "text", text: c.text, mime: "" } : null),
  image: (c) => shownBytes(c.data, c.mimeType, c as unknown as Json),
  audio: (c) => shownBytes(c.data, c.mimeType, c as unknown as Json),
  resource: shownResource,
  resource_link: (c) =>
    typeof c.uri === "string"
      ? {
          kind: "link",
          uri: c.uri,
          name: asText(c.name),
          title: asText(c.title),
          description: asText(c.description),
          mime: essence(c.mimeType),
        }
      : null,
};

export function shownAs(content: Content): Shown {
  const type = typeof content === "object" && content !== null ? content.type : "";
  const how = typeof type === "string" ? own(BY_TYPE, type) : null;
  return how?.(content) ?? { kind: "unknown", value: content as unknown as Json };
}

/** The value of a text that is a JSON object or list, and small enough for a tree. */
export function jsonOf(text: string): Json | undefined {
  if (text.length > TREE_MAX || !/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** "512 bytes", "1.2 KB", "3.4 MB" */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  if (bytes < 999_500) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} KB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Long texts in pieces, cut at line ends where there are some: the page draws only those in sight. */
export function pieces(text: string, size = 20_000): string[] {
  const out: string[] = [];
  for (let at = 0; at < text.length; ) {
    let end = Math.min(text.length, at + size);
    if (end < text.length) {
      const line = text.lastIndexOf("\n", end - 1) + 1;
      if (line > at) end = line;
      else if (/[\ud800-\udbff]/.test(text[end - 1]!)) end--;
    }
    out.push(text.slice(at, end));
    at = end;
  }
  return out;
}

/** All that is text in it; JSON of those pieces that are none. */
export function plainText(contents: readonly Content[]): string {
  return contents
    .map((c) => {
      const s = shownAs(c);
      if (s.kind === "text") return s.text;
      if (s.kind === "resource" && s.inside.kind === "text") return s.inside.text;
      return JSON.stringify(c, null, 2);
    })
    .join("\n");
}

/** A name for a file, of letters that no system takes for something else. */
export function fileName(name: string, mime: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "").slice(-80) || "result";
  return /\.[A-Za-z0-9]{1,8}$/.test(plain) ? plain : `${plain}.${own(ENDINGS, mime) ?? "bin"}`;
}
const ENDINGS: Record<string, string> = {
  "text/plain": "txt",
  "text/markdown": "md",
  "text/html": "html",
  "application/json": "json",
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "audio/mp3": "mp3",
  "audio/ogg": "ogg",
  "audio/webm": "webm",
};
