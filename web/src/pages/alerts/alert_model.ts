// The order and the words of alerts.
import type { Alert } from "../../hub/types";

const kinds: Record<string, string> = {
  connectionFailed: "Could not connect",
  disconnected: "Connection lost",
  authRequired: "Login needed",
  authExpired: "Login expired",
  definitionChanged: "Definition changed",
};

export const kindText = (kind: string): string => kinds[kind] ?? "Server issue";

export function newestFirst(alerts: readonly Alert[]): Alert[] {
  return [...alerts].sort((a, b) => b.timestamp - a.timestamp);
}

/** The one that has waited longest. S0-136 */
export function firstPending(alerts: readonly Alert[]): Alert | undefined {
  return newestFirst(alerts).at(-1);
}
