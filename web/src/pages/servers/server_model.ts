// What the row of a server says, and what can be done with it: without a page.
import type { RowAction, Server, State } from "../../hub/types";
import type { Change } from "../../shared/change_server";
import { plural } from "../../shared/ui/text";

/** What a person can do with a server; the path is below /api/servers/{name}. */
export type Act = Change | "logs" | "configure" | "remove";

export interface Offer {
  text: string;
  act: Act;
  danger?: boolean;
}

const actOf: Record<RowAction, Act> = {
  Retry: "reconnect",
  Cancel: "cancel",
  Disconnect: "disconnect",
  "View Logs": "logs",
};

const connect: Offer = { text: "Connect", act: "connect" };
const restart: Offer = { text: "Restart", act: "restart" };
const retryNow: Offer = { text: "Retry now", act: "reconnect" };
const stopTrying: Offer = { text: "Stop trying", act: "cancel" };
const enable: Offer = { text: "Enable", act: "enable" };
const disable: Offer = { text: "Disable", act: "disable" };

/** What a state allows beside the actions that the daemon names. */
const beside: Partial<Record<State, Offer[]>> = {
  idle: [connect],
  disconnected: [connect],
  reconnecting: [retryNow, stopTrying],
  connected: [restart],
};

/** S0-131, then what every server has. */
export function menuOf(s: Server): Offer[] {
  return [
    ...s.actions.map((text) => ({ text, act: actOf[text] })),
    ...(beside[s.state] ?? []),
    s.state === "disabled" ? enable : disable,
    { text: "Edit", act: "configure" },
    { text: "Remove…", act: "remove", danger: true },
  ];
}

const quick: Partial<Record<State, Offer>> = {
  disabled: enable,
  idle: connect,
  connecting: { text: "Cancel", act: "cancel" },
  authenticating: { text: "Cancel", act: "cancel" },
};

/** What is most likely wanted of one that gives no tools now: a button in the row. */
export const quickOf = (s: Server): Offer | undefined => quick[s.state];

export const isBusy = (s: Server): boolean =>
  s.state === "connecting" || s.state === "authenticating" || s.state === "reconnecting";

export const isFailed = (s: Server): boolean => s.state === "error" || s.state === "failed";

/** S0-129 */
export const showsReconnectFailed = (all: readonly Server[]): boolean => all.some(isFailed);

export interface Trouble {
  text: string;
  offers: Offer[];
  hint?: string; // a command line
  advice?: string; // words
}

/** The row says already which server it is, and that it does not connect. */
function reasonOf(s: Server): string {
  if (s.problem) return s.problem;
  const prefixes = [`Cannot connect to server '${s.name}': `, "handshake: "];
  return prefixes.reduce((text, p) => (text.startsWith(p) ? text.slice(p.length) : text), s.message || s.status);
}

/** The next step is words when it is known what is wrong, else a command. */
const stepOf = (s: Server): { hint?: string; advice?: string } =>
  s.problem ? { advice: s.next_step } : { hint: s.next_step };

/** What is wrong, in words, and what to do about it. */
export function troubleOf(s: Server): Trouble | null {
  const logs: Offer = { text: "View logs", act: "logs" };
  if (isFailed(s)) {
    return { text: reasonOf(s), offers: [{ text: "Retry", act: "reconnect" }, logs], ...stepOf(s) };
  }
  if (s.state === "reconnecting") {
    return { text: s.message ? reasonOf(s) : "The connection was lost.", offers: [retryNow, stopTrying, logs] };
  }
  if (s.state === "disconnected" && s.message) {
    return { text: reasonOf(s), offers: [connect, logs], ...stepOf(s) };
  }
  return null;
}

/** The word beside the name, and its colour. S1-120 to S1-123; S1 has no word for what is under way. */
export function badgeOf(s: Server): Server["badge"] {
  return isBusy(s) ? undefined : s.badge;
}

/** S0-130. Said once: not when the badge says the same, nor when it is the reason below the row. */
export function statusOf(s: Server): string {
  const saidBelow = isFailed(s) && (!s.message || s.status === s.message);
  return saidBelow || s.status === badgeOf(s)?.text ? "" : s.status;
}

export interface Count {
  text: string;
  page: "tools" | "resources" | "prompts";
}

/** S0-130: only of a connected one. */
export function countsOf(s: Server): Count[] {
  if (s.state !== "connected") return [];
  const counts: Count[] = [{ text: plural(s.tools, "tool"), page: "tools" }];
  const resources = s.resources + s.templates;
  if (resources > 0) counts.push({ text: plural(resources, "resource"), page: "resources" });
  if (s.prompts > 0) counts.push({ text: plural(s.prompts, "prompt"), page: "prompts" });
  return counts;
}

/** "retry in 4 s", counted up: it never says 0 before it is time. */
export function retryText(nextRetryAt: number | undefined, nowMs: number): string {
  if (nextRetryAt === undefined) return "";
  const s = Math.ceil(nextRetryAt - nowMs / 1000);
  if (s <= 0) return "retrying now";
  return s < 120 ? `retry in ${s} s` : `retry in ${Math.round(s / 60)} min`;
}

// ---- which are shown ----

export const SHOWS = ["all", "connected", "trouble", "off"] as const;
export type Show = (typeof SHOWS)[number];

const isOff = (s: Server): boolean =>
  s.state === "disabled" || s.state === "idle" || (s.state === "disconnected" && !s.message);

const shows: Record<Show, (s: Server) => boolean> = {
  all: () => true,
  connected: (s) => s.state === "connected",
  trouble: (s) => troubleOf(s) !== null,
  off: isOff,
};

export function countShown(all: readonly Server[]): Record<Show, number> {
  const counts = { all: 0, connected: 0, trouble: 0, off: 0 };
  for (const s of all) for (const show of SHOWS) if (shows[show](s)) counts[show]++;
  return counts;
}

export function asShow(text: string | null): Show {
  return SHOWS.find((s) => s === text) ?? "all";
}

/** Every word is in the name or in what is run. */
export function findServers(all: readonly Server[], text: string, show: Show): Server[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((s) => {
    const place = `${s.name} ${s.display_name} ${s.transport} ${s.target}`.toLowerCase();
    return shows[show](s) && words.every((w) => place.includes(w));
  });
}
