// The keyboard: one table, which the help is made of.
import { signal } from "@preact/signals";
import { go } from "./shared/router";

export const helpShown = signal(false);

interface Key {
  keys: string; // "g s": one after the other
  what: string;
  run: () => void;
}

export const keys: readonly Key[] = [
  { keys: "/", what: "Search on this page", run: focusSearch },
  { keys: "g s", what: "Go to servers", run: () => go("servers") },
  { keys: "g t", what: "Go to tools", run: () => go("tools") },
  { keys: "g r", what: "Go to resources", run: () => go("resources") },
  { keys: "g p", what: "Go to prompts", run: () => go("prompts") },
  { keys: "g c", what: "Go to calls", run: () => go("calls") },
  { keys: "g q", what: "Go to questions", run: () => go("questions") },
  { keys: "g m", what: "Go to modes", run: () => go("modes") },
  { keys: "g a", what: "Go to alerts", run: () => go("alerts") },
  { keys: "g ,", what: "Go to settings", run: () => go("settings") },
  { keys: "a", what: "Add a server", run: () => go("add") },
  { keys: "?", what: "Show these keys", run: () => (helpShown.value = !helpShown.value) },
];

const SECOND_KEY_MS = 1000;

function focusSearch(): void {
  const over = document.querySelector("dialog[open]");
  const field = (over ?? document).querySelector<HTMLInputElement>("[data-search]");
  field?.focus();
  field?.select();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

export function startKeys(): void {
  let first = "";
  let timer = 0;

  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || isTyping(e.target)) return;
    if (e.key !== "/" && document.querySelector("dialog[open]")) return;
    const typed = first ? `${first} ${e.key}` : e.key;
    clearTimeout(timer);
    first = "";
    const hit = keys.find((k) => k.keys === typed) ?? keys.find((k) => k.keys === e.key);
    if (hit) {
      e.preventDefault();
      hit.run();
    } else if (keys.some((k) => k.keys.startsWith(e.key + " "))) {
      first = e.key;
      timer = setTimeout(() => (first = ""), SECOND_KEY_MS);
    }
  });
}
