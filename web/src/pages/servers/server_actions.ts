// Doing to a server what a person asks for. How it went is seen in its row.
import { ask, at, post } from "../../hub/api";
import { refreshServers } from "../../hub/store";
import type { Server } from "../../hub/types";
import { changeServer } from "../../shared/change_server";
import { withQuery } from "../../shared/query";
import { go, href, route } from "../../shared/router";
import { tellFailure, toast } from "../../shared/toasts";
import { oneLine } from "../../shared/ui/text";
import { DeleteState } from "./delete_state";
import type { Act } from "./server_model";

export const removal = new DeleteState();

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
  else void changeServer(server.name, act);
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
