// What is asked of registries, and what is made of a result.
import type { RegistryResult } from "../../hub/types";

export type Choice = "" | "all" | "official" | "smithery";

export const sources = { official: "Official", smithery: "Smithery" } as const;

export const choices: readonly { value: Choice; text: string }[] = [
  { value: "", text: "Choose a registry" },
  { value: "all", text: "All registries" },
  { value: "official", text: sources.official },
  { value: "smithery", text: sources.smithery },
];

/** The question; null while there is none to ask. S1-111 */
export function asked(choice: Choice, text: string): { search: string; registry?: string } | null {
  const search = text.trim();
  if (choice === "" || search === "") return null;
  return choice === "all" ? { search } : { search, registry: choice };
}

/** What goes into the field of the page; undefined: its details have to be asked for, or do not say. */
export const lineOf = (result: RegistryResult | undefined): string | undefined => result?.add;
