// Asking the hub to do something to a server. How it went is seen wherever the server is shown.
import { ApiError, at, post } from "../hub/api";
import { refreshServers } from "../hub/store";
import { tellFailure } from "./toasts";

const failed = {
  connect: "could not be connected",
  reconnect: "could not be connected",
  cancel: "goes on",
  disconnect: "could not be disconnected",
  restart: "could not be restarted",
  enable: "could not be enabled",
  disable: "could not be disabled",
};
export type Change = keyof typeof failed;

/** That it did not connect is said by its row, with the reason; not once more in the corner. */
function isInRow(why: unknown): boolean {
  return why instanceof ApiError && why.failure.error === "connect_failed";
}

export async function changeServer(name: string, change: Change): Promise<void> {
  try {
    await post(at(`/api/servers/{}/${change}`, name));
  } catch (why) {
    if (!isInRow(why)) tellFailure(`${name} ${failed[change]}`, why);
  }
  refreshServers();
}
