// Doing what an alert asks for. The list itself follows by an event.
import { ask, at } from "../../hub/api";
import type { Alert } from "../../hub/types";
import { changeServer } from "../../shared/change_server";
import { tellFailure } from "../../shared/toasts";

export async function dismissAlert(alert: Alert): Promise<void> {
  try {
    await ask("DELETE", at("/api/alerts/{}", alert.id));
  } catch (why) {
    tellFailure("The alert was not dismissed", why);
  }
}

/** Dismisses first: if the attempt fails again, that is another alert, which takes the place of this one. */
export async function retryAlert(alert: Alert): Promise<void> {
  await dismissAlert(alert);
  void changeServer(alert.server, "reconnect");
}

export async function dismissAll(): Promise<void> {
  try {
    await ask("DELETE", "/api/alerts");
  } catch (why) {
    tellFailure("The alerts were not dismissed", why);
  }
}
