// The configure screen: an entry of config.json as fields, and back. What the fields do not know is kept.
import type { Auth, Bodies, Candidate, Json, JsonObject } from "../../hub/types";
import { joinWords, splitWords } from "../words";

const MASKED = "***";
const NAME_MAX = 64;
const SECONDS_MAX = 31_536_000;

/** One variable or header. `hidden`: the name under which a value is saved that is not shown. */
export interface Pair {
  readonly name: string;
  readonly value: string;
  readonly hidden: string;
}

export interface Key {
  readonly name: string;
  readonly value: string;
  readonly required: boolean;
  /** There is one already: it stays when nothing is typed. */
  readonly stored: boolean;
}

export interface Form {
  readonly saved: boolean; // the server is there; its name stays
  readonly remote: boolean;
  readonly name: string;
  readonly replace: boolean;
  readonly displayName: string;
  readonly line: string;
  readonly url: string;
  readonly env: readonly Pair[];
  readonly headers: readonly Pair[];
  readonly cwd: string;
  readonly timeout: string; // seconds, or empty
  readonly lazy: boolean;
  readonly enabledTools: string; // globs, one per line
  readonly disabledTools: string;
  readonly auth: Auth;
  readonly detected: Auth;
  readonly keys: readonly Key[];
  readonly keyfile: string;
  readonly entry: JsonObject; // as it was
}

// ---- from an entry ----

const isText = (v: Json | undefined): v is string => typeof v === "string";
const text = (v: Json | undefined) => (isText(v) ? v : "");
const list = (v: Json | undefined) => (Array.isArray(v) ? v.filter(isText) : []);

function members(v: Json | undefined): [string, Json][] {
  return v && typeof v === "object" && !Array.isArray(v) ? Object.entries(v) : [];
}

function pairs(v: Json | undefined, saved: boolean): Pair[] {
  return members(v).map(([name, value]) => {
    const hidden = saved && value === MASKED;
    return { name, value: hidden ? "" : isText(value) ? value : JSON.stringify(value), hidden: hidden ? name : "" };
  });
}

function lineOf(entry: JsonObject): string {
  const command = Array.isArray(entry["command"]) ? list(entry["command"]) : isText(entry["command"]) ? [entry["command"]] : [];
  return joinWords([...command, ...list(entry["args"])]);
}

/** S1's entries list the variables; older ones name one. */
function keysOf(entry: JsonObject, stored: boolean): Key[] {
  const vars = Array.isArray(entry["env_vars"]) ? entry["env_vars"] : [];
  const keys = vars.flatMap((v) => {
    const one = Object.fromEntries(members(v));
    return isText(one["name"]) ? [{ name: one["name"], value: "", required: one["required"] !== false, stored }] : [];
  });
  if (keys.length) return keys;
  return [{ name: text(entry["env_var_name"]), value: "", required: true, stored }];
}

/** What a README puts where the key belongs. */
const PLACEHOLDER = /^<.*>$|^\[.*\]$|your|x{3}|\.\.\.|…|\*{3}/i;
/** Filled in from the environment: that is a place of its own. */
const REFERENCE = /\$\{/;

/** Keys that came as plain variables or headers go where keys are kept. */
function takeKeys(f: Form): Form {
  if (f.saved || f.auth !== "api_key") return f;
  const from = f.remote ? f.headers : f.env;
  const mine = from.filter((p) => f.keys.some((k) => k.name === p.name));
  if (mine.some((p) => REFERENCE.test(p.value))) return { ...f, auth: "none", detected: "none" };
  const rest = from.filter((p) => !mine.includes(p));
  const keys = f.keys.map((k) => {
    const given = mine.find((p) => p.name === k.name)?.value ?? "";
    return PLACEHOLDER.test(given) ? k : { ...k, value: given };
  });
  return f.remote ? { ...f, keys, headers: rest } : { ...f, keys, env: rest };
}

type Source = { name: string; entry: JsonObject; auth: Auth; displayName?: string; saved: boolean };

export function formOf({ name, entry, auth, displayName, saved }: Source): Form {
  return takeKeys({
    saved,
    remote: isText(entry["url"]),
    name,
    replace: false,
    displayName: text(entry["display_name"]) || (displayName && displayName !== name ? displayName : ""),
    line: lineOf(entry),
    url: text(entry["url"]),
    env: pairs(entry["env"], saved),
    headers: pairs(entry["headers"], saved),
    cwd: text(entry["cwd"]),
    timeout: entry["timeout_s"] === undefined ? "" : String(entry["timeout_s"]),
    lazy: entry["start"] === "lazy",
    enabledTools: list(entry["enabledTools"]).join("\n"),
    disabledTools: list(entry["disabledTools"]).join("\n"),
    auth,
    detected: auth,
    keys: keysOf(entry, saved && auth === "api_key"),
    keyfile: text(entry["keyfile_path"]),
    entry,
  });
}

export const candidateForm = (c: Candidate) =>
  formOf({ name: c.name, displayName: c.display_name, entry: c.entry, auth: c.auth, saved: false });

const AUTHS: readonly string[] = ["none", "api_key", "keyfile", "oauth"];

/** Of a saved entry. */
export function authOf(entry: JsonObject): Auth {
  const said = text(entry["auth_type"]);
  if (AUTHS.includes(said)) return said as Auth;
  return entry["oauth"] ? "oauth" : "none";
}

// ---- to an entry ----

function objectOf(all: readonly Pair[]): JsonObject | undefined {
  const used = all.filter((p) => p.name !== "");
  if (!used.length) return undefined;
  return Object.fromEntries(used.map((p) => [p.name, isHidden(p) ? MASKED : p.value]));
}

/** Its saved value stays: only under its own name can it be found again. */
export const isHidden = (p: Pair) => p.value === "" && p.hidden !== "" && p.hidden === p.name;

const lines = (s: string) => s.split(/[\n,]/).map((l) => l.trim()).filter(Boolean);

function words(f: Form): { command?: Json; args?: Json } {
  if (f.remote) return {};
  const [command, ...args] = splitWords(f.line) ?? [];
  return { command, args: args.length ? args : undefined };
}

function authMembers(f: Form): Record<string, Json | undefined> {
  // What stays none, or a login in the browser, keeps whatever else was said about it.
  if (f.auth === authOf(f.entry) && (f.auth === "none" || f.auth === "oauth")) return {};
  const keyed = f.auth === "api_key" || f.auth === "keyfile";
  const vars = f.keys.filter((k) => k.name !== "").map((k) => ({ name: k.name, required: k.required }));
  return {
    auth_type: f.auth === "none" ? undefined : f.auth,
    env_var_name: undefined,
    env_vars: keyed && vars.length ? vars : undefined,
    keyfile_path: f.auth === "keyfile" ? f.keyfile.trim() : undefined,
    oauth: f.auth === "oauth" ? f.entry["oauth"] : undefined,
  };
}

/** As it is saved: undefined members are left out. */
export function entryOf(f: Form): JsonObject {
  const enabled = lines(f.enabledTools);
  const disabled = lines(f.disabledTools);
  const all: Record<string, Json | undefined> = {
    ...f.entry,
    ...words(f),
    url: f.remote ? f.url.trim() : f.entry["url"],
    env: objectOf(f.env),
    headers: objectOf(f.headers),
    display_name: f.displayName.trim() || undefined,
    cwd: f.cwd.trim() || undefined,
    timeout_s: f.timeout.trim() === "" ? undefined : Number(f.timeout),
    start: f.lazy ? "lazy" : undefined,
    enabledTools: enabled.length ? enabled : undefined,
    disabledTools: disabled.length ? disabled : undefined,
    ...authMembers(f),
  };
  return Object.fromEntries(Object.entries(all).filter((m): m is [string, Json] => m[1] !== undefined));
}

/** Go beside the entry and never into config.json. */
export function secretsOf(f: Form): Record<string, string> {
  if (f.auth !== "api_key") return {};
  return Object.fromEntries(f.keys.filter((k) => k.value !== "").map((k) => [k.name, k.value]));
}

function secretsMember(f: Form): { secrets?: JsonObject } {
  const secrets = secretsOf(f);
  return Object.keys(secrets).length ? { secrets } : {};
}

/** As it is tried and added. */
export const newServer = (f: Form): Bodies["POST /api/servers/test"] => ({ name: f.name, entry: entryOf(f), ...secretsMember(f) });

/** As it is saved when it is there: the members of the entry, and the keys beside them. */
export const changedServer = (f: Form): Bodies["PUT /api/servers/{}"] => ({ ...entryOf(f), ...secretsMember(f) });

// ---- is it right? ----

/** Some of how it is reached is not shown. */
export const hasHidden = (f: Form) => f.saved && (f.remote ? f.url : f.line).includes(MASKED);

export type Problems = Partial<
  Record<"name" | "line" | "url" | "env" | "headers" | "timeout" | "keys" | "keyfile", string>
>;

function nameProblem(f: Form, taken: ReadonlySet<string>): string {
  if (f.saved) return "";
  if (f.name === "") return "A server needs a name.";
  if (!/^[A-Za-z0-9_-]+$/.test(f.name)) return "Only letters, digits, _ and - are possible.";
  if (f.name.length > NAME_MAX) return `At most ${NAME_MAX} characters are possible.`;
  if (taken.has(f.name) && !f.replace) return "There is a server of this name already.";
  return "";
}

const HIDDEN_PART = "*** stands for something that is not shown. Here it is not known for what: type it in full.";

/** What is hidden is known where it was, and nowhere else. */
function isLost(word: string, was: string | undefined): boolean {
  return word.includes(MASKED) && word !== was;
}

function lineProblem(f: Form): string {
  if (f.remote) return "";
  const split = splitWords(f.line);
  if (!split) return "A quote is still open.";
  if (!split[0]) return "Give the program to run.";
  const before = f.saved ? (splitWords(lineOf(f.entry)) ?? []) : [];
  return split.some((word, i) => isLost(word, before[i])) ? HIDDEN_PART : "";
}

function urlProblem(f: Form): string {
  if (!f.remote) return "";
  const url = f.url.trim();
  if (isLost(url, f.saved ? text(f.entry["url"]) : undefined)) return HIDDEN_PART;
  if (/^\$\{/.test(url)) return ""; // filled in when it is used
  return /^https?:\/\/[^\s/]+/i.test(url) ? "" : "Give a URL that begins with https:// or http://";
}

function pairsProblem(all: readonly Pair[], allowed: RegExp, what: string): string {
  const names = all.map((p) => p.name).filter(Boolean);
  const bad = names.find((n) => !allowed.test(n));
  if (bad !== undefined) return `${bad} is no name for a ${what}.`;
  const twice = names.find((n, i) => names.indexOf(n) !== i);
  if (twice !== undefined) return `${twice} is there twice.`;
  if (all.some((p) => p.name === "" && p.value !== "")) return `A ${what} needs a name.`;
  const lost = all.find((p) => p.name !== "" && p.value === "" && p.hidden !== "" && !isHidden(p));
  return lost ? `Type the value of ${lost.name} again: it was saved under another name.` : "";
}

const VARIABLE = /^[^=\s\0]+$/;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function timeoutProblem(f: Form): string {
  if (f.timeout.trim() === "") return "";
  const seconds = Number(f.timeout);
  return seconds > 0 && seconds <= SECONDS_MAX ? "" : "Give seconds, more than 0.";
}

function keysProblem(f: Form): string {
  if (f.auth !== "api_key" && f.auth !== "keyfile") return "";
  const allowed = f.remote ? HEADER : VARIABLE;
  const what = f.remote ? "header" : "variable";
  for (const k of f.keys) {
    if (k.name === "" && !f.remote) return "Say in which variable the server expects it.";
    if (k.name !== "" && !allowed.test(k.name)) return `${k.name} is no name for a ${what}.`;
    if (f.auth === "api_key" && k.value.trim() === "" && k.required && !k.stored)
      return f.keys.length > 1 ? `${k.name} is needed.` : "The key is needed.";
  }
  return "";
}

const keyfileProblem = (f: Form) =>
  f.auth === "keyfile" && f.keyfile.trim() === "" ? "Say where the file is, for example ~/.github_token" : "";

export function problemsOf(f: Form, taken: ReadonlySet<string>): Problems {
  const all: Problems = {
    name: nameProblem(f, taken),
    line: lineProblem(f),
    url: urlProblem(f),
    env: pairsProblem(f.env, VARIABLE, "variable"),
    headers: pairsProblem(f.headers, HEADER, "header"),
    timeout: timeoutProblem(f),
    keys: keysProblem(f),
    keyfile: keyfileProblem(f),
  };
  return Object.fromEntries(Object.entries(all).filter(([, text]) => text !== "")) as Problems;
}

export const isValid = (f: Form, taken: ReadonlySet<string>) => Object.keys(problemsOf(f, taken)).length === 0;

export const isChanged = (a: Form, b: Form) => JSON.stringify(a) !== JSON.stringify(b);

/** Where it is defined, when that is not the file that this page writes. */
export function elsewhere(server: { file?: string; line?: number }, home: string | undefined): string | null {
  if (server.file && home && server.file === `${home}/config.json`) return null;
  if (!server.file) return "on the command line, or by another program while Patchbay runs";
  return server.line ? `${server.file}:${server.line}` : server.file;
}
