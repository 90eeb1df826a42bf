// Doing what an alert asks for. The list itself follows by an event.
import { ask, at } from "../api";
import { tellFailure } from "../toasts";
import type { Alert } from "../types";
import { change } from "./server_actions";

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
  void change(alert.server, "reconnect");
}

export async function dismissAll(): Promise<void> {
  try {
    await ask("DELETE", "/api/alerts");
  } catch (why) {
    tellFailure("The alerts were not dismissed", why);
  }
}
