// Where we are: "#/tools/server/tool?q=x". One page at a time.
import { computed, signal } from "@preact/signals";

export interface Route {
  page: string;
  parts: string[];
  query: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path = "", ...query] = hash.replace(/^#\/?/, "").split("?");
  const [page, ...parts] = path.split("/").map(decode);
  return { page: page || "servers", parts: parts.filter((p) => p !== ""), query: new URLSearchParams(query.join("?")) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const hash = signal(location.hash);
let held: ((to: string) => void) | null = null;

window.addEventListener("hashchange", () => {
  const to = location.hash;
  if (!held || to === hash.peek()) {
    hash.value = to;
    return;
  }
  history.pushState(null, "", hash.peek());
  held(to);
});

/** After the address was changed without a step in the history. */
export function moved(): void {
  hash.value = location.hash;
}

/** Until the function returned is called, whoever wants to leave is told to `asked` instead. */
export function hold(asked: (to: string) => void): () => void {
  held = asked;
  return () => {
    if (held === asked) held = null;
  };
}

/** Goes there, whatever holds us. */
export function leave(to: string): void {
  held = null;
  location.hash = to;
}

export const route = computed(() => parseRoute(hash.value));

/** href("tools", "my server", "echo") is "#/tools/my%20server/echo". */
export function href(page: string, ...parts: string[]): string {
  return "#/" + [page, ...parts].map(encodeURIComponent).join("/");
}

export function go(page: string, ...parts: string[]): void {
  location.hash = href(page, ...parts);
}

/** Changes the query of where we are, without a step in the history. */
export function setQuery(changes: Record<string, string | undefined>): void {
  const { page, parts, query } = route.peek();
  for (const [key, value] of Object.entries(changes)) {
    if (value) query.set(key, value);
    else query.delete(key);
  }
  const text = query.toString();
  history.replaceState(null, "", href(page, ...parts) + (text ? "?" + text : ""));
  hash.value = location.hash;
}
