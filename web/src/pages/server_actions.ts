// Doing to a server what a person asks for. How it went is seen in its row.
import { ApiError, ask, at, post } from "../api";
import { go, href, route, withQuery } from "../router";
import { refreshServers } from "../store";
import { tellFailure, toast } from "../toasts";
import type { Server } from "../types";
import { oneLine } from "../ui/text";
import { DeleteState } from "./delete_state";
import type { Act } from "./server_model";

export const removal = new DeleteState();

type Asked = Exclude<Act, "logs" | "configure" | "remove">;

const failed: Record<Asked, string> = {
  connect: "could not be connected",
  reconnect: "could not be connected",
  cancel: "goes on",
  disconnect: "could not be disconnected",
  restart: "could not be restarted",
  enable: "could not be enabled",
  disable: "could not be disabled",
};

/** That it did not connect is said by its row, with the reason; not once more in the corner. */
function isInRow(why: unknown): boolean {
  return why instanceof ApiError && why.failure.error === "connect_failed";
}

export async function change(name: string, act: Asked): Promise<void> {
  try {
    await post(at(`/api/servers/{}/${act}`, name));
  } catch (why) {
    if (!isInRow(why)) tellFailure(`${name} ${failed[act]}`, why);
  }
  refreshServers();
}

/** The drawer lies over the list, which stays as it was searched. */
function goWithin(...parts: string[]): void {
  const { page, query } = route.peek();
  location.hash = withQuery(href("servers", ...parts), page === "servers" ? Object.fromEntries(query) : {});
}
export const hideLogs = () => goWithin();

export function run(server: Server, act: Act): void {
  if (act === "logs") goWithin(server.name, "logs");
  else if (act === "configure") go("configure", server.name);
  else if (act === "remove") removal.show(server);
  else void change(server.name, act);
}

export async function reconnectFailed(): Promise<void> {
  try {
    await post("/api/reconnect-failed");
  } catch (why) {
    tellFailure("Nothing was reconnected", why);
  }
  refreshServers();
}

export async function remove(name: string): Promise<void> {
  try {
    await ask("DELETE", at("/api/servers/{}", name));
    toast({ text: `${oneLine(name)} was removed.`, level: "success" });
  } catch (why) {
    tellFailure(`${name} was not removed`, why);
  }
  refreshServers();
}
