// The calls that run now, in the corner of every page. S0-133
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { at, post } from "../../hub/api";
import { active } from "../../hub/store";
import type { Call } from "../../hub/types";
import { now } from "../../shared/now";
import { href, route } from "../../shared/router";
import { tellFailure } from "../../shared/toasts";
import { Button, Spinner, WorkButton } from "../../shared/ui/parts";
import { oneLine, plural, T } from "../../shared/ui/text";
import { placeText, progressOf, shownCalls, type Shown } from "./active_model";
import "./active.css";

const folded = signal(false);

async function cancel(call: Call): Promise<void> {
  try {
    await post(at("/api/calls/{}/cancel", call.id));
  } catch (why) {
    tellFailure(`${call.subject} was not cancelled`, why);
  }
}

function Row({ call }: { call: Call }) {
  const done = progressOf(call);
  const name = oneLine(call.subject);
  return (
    <li class="active-row">
      <Spinner label="running" />
      <div class="active-what">
        <T class="active-name">{call.subject}</T>
        <T class="active-place">{placeText(call, Math.max(now.value, Date.now()))}</T>
        {done !== undefined && <progress value={done} aria-label={`Progress of ${name}`} />}
      </div>
      <WorkButton small label={`Cancel ${name}`} onClick={() => cancel(call)}>
        Cancel
      </WorkButton>
    </li>
  );
}

/** Draws again when the next call has run long enough to be shown. */
function useShown(): Shown {
  const [, wake] = useState(0);
  const shown = shownCalls(active.value.values(), Date.now());
  const { nextAt } = shown;
  useEffect(() => {
    if (nextAt === undefined) return;
    const timer = setTimeout(() => wake((n) => n + 1), nextAt - Date.now() + 1);
    return () => clearTimeout(timer);
  }, [nextAt]);
  return shown;
}

export function ActiveCalls() {
  const { rows, more } = useShown();
  if (rows.length === 0 || route.value.page === "calls") return null; // which shows them all
  const open = !folded.value;
  return (
    <section class="active" aria-label="Running calls">
      <header>
        <strong>{plural(rows.length + more, "running call")}</strong>
        <Button
          kind="plain"
          small
          label={open ? "Fold running calls" : "Show running calls"}
          onClick={() => (folded.value = open)}
        >
          {open ? "▾" : "▴"}
        </Button>
      </header>
      {open && (
        <ul>
          {rows.map((call) => (
            <Row key={call.id} call={call} />
          ))}
        </ul>
      )}
      {open && more > 0 && (
        <a class="active-more" href={href("calls")}>
          and {more} more
        </a>
      )}
    </section>
  );
}
