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

/** Reconnects and dismisses. Not waited for how it goes: if it fails again, that is another alert. */
export async function retryAlert(alert: Alert): Promise<void> {
  void change(alert.server, "reconnect");
  await dismissAlert(alert);
}

export async function dismissAll(): Promise<void> {
  try {
    await ask("DELETE", "/api/alerts");
  } catch (why) {
    tellFailure("The alerts were not dismissed", why);
  }
}
