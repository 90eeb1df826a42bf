// What a person should look at: all of it on a page, and the first one over every other page.
import { alerts } from "../../hub/store";
import type { Alert } from "../../hub/types";
import { href, route } from "../../shared/router";
import { Badge, Empty, WorkButton } from "../../shared/ui/parts";
import { clock, oneLine, T } from "../../shared/ui/text";
import { dismissAlert, dismissAll, retryAlert } from "./alert_actions";
import { firstPending, kindText, newestFirst } from "./alert_model";
import "./alerts.css";

function Actions({ alert }: { alert: Alert }) {
  const server = oneLine(alert.server);
  return (
    <div class="alerts-actions">
      {alert.kind === "definitionChanged" ? (
        <a class="button small primary" href={href("changes")} aria-label={`What has changed of ${server}`}>
          See what changed
        </a>
      ) : (
        <WorkButton small kind="primary" label={`Retry ${server}`} onClick={() => retryAlert(alert)}>
          Retry
        </WorkButton>
      )}
      <WorkButton small label={`Dismiss the alert about ${server}`} onClick={() => dismissAlert(alert)}>
        Dismiss
      </WorkButton>
    </div>
  );
}

function Row({ alert }: { alert: Alert }) {
  const at = new Date(alert.timestamp * 1000);
  return (
    <li class="alerts-row">
      <div class="alerts-what">
        <div class="alerts-head">
          <Badge tone="red">{kindText(alert.kind)}</Badge>
          <time class="faint" dateTime={at.toISOString()} title={at.toLocaleString("en-GB")}>
            {clock(alert.timestamp)}
          </time>
        </div>
        <p>
          <T>{alert.text}</T>
        </p>
      </div>
      <a class="button small" href={href("servers", alert.server, "logs")}>
        View logs
      </a>
      <Actions alert={alert} />
    </li>
  );
}

export function AlertsPage() {
  const all = newestFirst(alerts.value);
  return (
    <>
      <div class="bar">
        <h1>Alerts</h1>
        <span class="grow" />
        {all.length > 0 && <WorkButton onClick={dismissAll}>Dismiss all</WorkButton>}
      </div>
      {all.length === 0 ? (
        <Empty title="No alerts">
          <p>When a server cannot be reached or needs a login, it is said here.</p>
        </Empty>
      ) : (
        <ul class="alerts-list card" aria-label="Alerts, newest first">
          {all.map((a) => (
            <Row key={a.id} alert={a} />
          ))}
        </ul>
      )}
    </>
  );
}

/** S0-136 */
/** Where it would be said twice, or lie over a form that somebody fills in. */
const quiet = new Set(["alerts", "add", "configure"]);

export function ServerIssue() {
  const alert = firstPending(alerts.value);
  if (!alert || quiet.has(route.value.page)) return null;
  const others = alerts.value.length - 1;
  return (
    <section class="alerts-issue" aria-labelledby="server-issue">
      <div class="alerts-head">
        <h2 id="server-issue">Server Issue</h2>
        {others > 0 && <a href={href("alerts")}>and {others} more</a>}
      </div>
      <p role="alert" title={oneLine(alert.text)}>
        <T>{alert.text}</T>
      </p>
      <Actions alert={alert} />
    </section>
  );
}
