// The question before a server is removed.
import { signal } from "@preact/signals";
import type { Server } from "../../hub/types";

/** S1-125 */
export function deleteText(displayName: string): string {
  return `Delete "${displayName}"?\n\nThis will remove the MCP and its stored credentials.`;
}

export type Named = Pick<Server, "name" | "display_name">;

/** S1-126 */
export class DeleteState {
  readonly server = signal<Named | null>(null);

  get visible(): boolean {
    return this.server.value !== null;
  }
  show(server: Named): void {
    this.server.value = server;
  }
  /** What is to be done now; null when nothing was asked. */
  confirm(): { action: "Delete"; name: string } | null {
    const asked = this.server.peek();
    this.server.value = null;
    return asked && { action: "Delete", name: asked.name };
  }
  cancel(): void {
    this.server.value = null;
  }
}
