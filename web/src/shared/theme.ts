// Light or dark: as the system has it, until a person says otherwise.
import { signal } from "@preact/signals";

const KEY = "patchbay.theme";
export type Theme = "system" | "light" | "dark";
export const theme = signal<Theme>("system");

function show(): void {
  const root = document.documentElement;
  if (theme.value === "system") root.removeAttribute("data-theme");
  else root.setAttribute("data-theme", theme.value);
}

export function startTheme(): void {
  const kept = localStorage.getItem(KEY);
  theme.value = kept === "light" || kept === "dark" ? kept : "system";
  show();
}

export function setTheme(t: Theme): void {
  theme.value = t;
  localStorage.setItem(KEY, t);
  show();
}
