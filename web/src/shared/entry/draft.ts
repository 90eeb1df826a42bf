// The server that the add screen hands to the configure screen.
import { signal } from "@preact/signals";
import type { Candidate } from "../../hub/types";

export const draft = signal<Candidate | null>(null);
