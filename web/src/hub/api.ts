// Asking REST: one function for requests, one for the events.
import { signal } from "@preact/signals";
import { withQuery } from "../shared/query";
import type { Answers, Bodies, Failure, HubEvent } from "./types";

const TOKEN_KEY = "patchbay.token";
const RETRY_MS = [500, 1000, 2000, 4000, 5000];
const HIDDEN_MS = 30_000;

/** Whether the daemon is there, and lets us in. */
export type Link = "opening" | "live" | "lost" | "denied";
export const link = signal<Link>("opening");

let token = "";

/** The token of a link that ends in "#token=…", or nothing. */
export function tokenIn(link: string): string | null {
  const hash = link.indexOf("#");
  return hash < 0 ? null : new URLSearchParams(link.slice(hash + 1)).get("token");
}

/** The link that "patchbay serve" prints ends in "#token=…": taken once, and out of the history. */
export function takeToken(): boolean {
  const given = tokenIn(location.hash);
  if (given) {
    history.replaceState(null, "", location.pathname + "#/servers");
    keepToken(given);
    return true;
  }
  token = sessionStorage.getItem(TOKEN_KEY) ?? "";
  return false;
}

export function keepToken(given: string): void {
  token = given;
  sessionStorage.setItem(TOKEN_KEY, given);
}

/** What REST refused, in its own words. */
export class ApiError extends Error {
  readonly status: number;
  readonly failure: Failure;
  constructor(status: number, failure: Failure) {
    super(failure.message ?? failure.error);
    this.status = status;
    this.failure = failure;
  }
}

function headers(more: Record<string, string>): Record<string, string> {
  const own = { "X-Patchbay-Client": "console", ...more }; // so that calls tell who asked
  // Empty where the daemon runs without a token.
  return token ? { Authorization: `Bearer ${token}`, ...own } : own;
}

async function failureOf(answer: Response): Promise<ApiError> {
  try {
    return new ApiError(answer.status, (await answer.json()) as Failure);
  } catch {
    return new ApiError(answer.status, { error: "unreadable", message: `The daemon answered ${answer.status}` });
  }
}

// ---- requests: what a route takes and answers is known by its path ----

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
type Route = keyof Answers;
type PathOf<M extends Method, R = Route> = R extends `${M} ${infer P}` ? P : never;
type AnswerOf<M extends Method, P extends string> = Answers[`${M} ${P}` & Route];
type BodyOf<M extends Method, P extends string> = `${M} ${P}` extends keyof Bodies ? Bodies[`${M} ${P}`] : Record<string, never>;

declare const template: unique symbol;
/** A path whose parts are put in, or with a query; it is still known of which route. */
export type Filled<P extends string> = string & { readonly [template]: P };

/** One request. Rejects with ApiError, also when nobody answers (status 0); with AbortError when aborted. */
export async function ask<M extends Method, P extends PathOf<M>>(
  method: M,
  path: P | Filled<P>,
  body?: BodyOf<M, P>,
  signal?: AbortSignal,
): Promise<AnswerOf<M, P>> {
  let answer: Response;
  const init: RequestInit = {
    method,
    headers: headers(body === undefined ? {} : { "Content-Type": "application/json" }),
    cache: "no-store",
  };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (signal) init.signal = signal;
  try {
    answer = await fetch(path, init);
  } catch (why) {
    if (signal?.aborted) throw why;
    throw new ApiError(0, {
      error: "unreachable",
      message: "Patchbay does not answer",
      next: "Is it still running? Start it with: patchbay serve",
    });
  }
  if (answer.status === 401) link.value = "denied";
  if (!answer.ok) throw await failureOf(answer);
  return (await answer.json()) as AnswerOf<M, P>;
}

export const get = <P extends PathOf<"GET">>(path: P | Filled<P>, signal?: AbortSignal) => ask("GET", path, undefined, signal);
export const post = <P extends PathOf<"POST">>(path: P | Filled<P>, body?: BodyOf<"POST", P>, signal?: AbortSignal) =>
  ask("POST", path, body ?? ({} as BodyOf<"POST", P>), signal);

/** Bytes that a record names, as they are. A link could not say the token. */
export async function objectOf(cid: string): Promise<Blob> {
  const answer = await fetch(`/api/objects/${encodeURIComponent(cid)}`, { headers: headers({}), cache: "no-store" });
  if (!answer.ok) throw await failureOf(answer);
  return answer.blob();
}

/** "/api/servers/{}/logs" with its parts put in, each as one part whatever it holds. */
export function at<P extends string>(path: P, ...parts: string[]): Filled<P> {
  let i = 0;
  return path.replace(/\{\}/g, () => encodeURIComponent(parts[i++] ?? "")) as Filled<P>;
}

/** With a query behind; what is empty is left out. */
export const asked = <P extends string>(path: P | Filled<P>, query: Record<string, string | undefined>) =>
  withQuery(path, query) as Filled<P>;

// ---- events ----

/** One event of a text/event-stream at a time, as the standard splits it; comments are left out. */
export class SseReader {
  private text = "";
  private data: string[] = [];
  lastId = "";

  feed(chunk: string, each: (data: string) => void): void {
    this.text += chunk;
    for (;;) {
      const end = this.text.search(/\r\n|\n|\r(?!$)/);
      if (end < 0) return;
      const line = this.text.slice(0, end);
      this.text = this.text.slice(end + (this.text.startsWith("\r\n", end) ? 2 : 1));
      this.line(line, each);
    }
  }

  private line(line: string, each: (data: string) => void): void {
    if (line === "") {
      const data = this.data.join("\n");
      this.data = [];
      if (data) each(data);
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") this.data.push(value);
    else if (field === "id") this.lastId = value;
  }
}

export interface EventSink {
  /** A stream has begun. fresh: what happened before it is not known, all is to be read anew. */
  opened(fresh: boolean): void;
  event(e: HubEvent): void;
}

/** Follows the events until the page ends: comes back by itself, rests while nobody looks. */
export function follow(sink: EventSink): void {
  let lastId = "";
  let tries = 0;
  let running: AbortController | null = null;
  let timer = 0;
  let hiddenTimer = 0;

  const again = () => {
    const wait = RETRY_MS[Math.min(tries++, RETRY_MS.length - 1)] ?? 5000;
    clearTimeout(timer);
    timer = setTimeout(open, wait);
  };

  async function read(answer: Response): Promise<void> {
    const reader = new SseReader();
    const from = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { done, value } = await from.read();
      if (done) return;
      reader.feed(value, (data) => {
        const e = JSON.parse(data) as HubEvent;
        if (e.type === "reset") sink.opened(true);
        else sink.event(e);
      });
      lastId = reader.lastId || lastId;
    }
  }

  async function open(): Promise<void> {
    if (running) return;
    const mine = (running = new AbortController());
    try {
      const answer = await fetch("/api/events", {
        headers: headers(lastId ? { "Last-Event-ID": lastId } : {}),
        cache: "no-store",
        signal: mine.signal,
      });
      if (answer.status === 401) {
        link.value = "denied";
        return;
      }
      if (!answer.ok) throw await failureOf(answer);
      tries = 0;
      link.value = "live";
      sink.opened(!lastId);
      await read(answer);
      throw new Error("ended");
    } catch {
      if (mine.signal.aborted) return;
      if (link.value === "live" || tries > 0) link.value = "lost";
      again();
    } finally {
      if (running === mine) running = null;
    }
  }

  // A browser lets a site have few connections: those of hidden pages are given back.
  document.addEventListener("visibilitychange", () => {
    clearTimeout(hiddenTimer);
    if (document.hidden) {
      hiddenTimer = setTimeout(() => {
        running?.abort();
        running = null;
        clearTimeout(timer);
      }, HIDDEN_MS);
    } else if (!running && link.value !== "denied") {
      tries = 0;
      void open();
    }
  });
  window.addEventListener("online", () => void open());
  reopen = () => {
    link.value = "opening";
    void open();
  };
  void open();
}

let reopen = () => {};
/** After a token was given. */
export const openAgain = () => reopen();
