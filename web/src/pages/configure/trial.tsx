// Trying a server before it is saved: it is started for real, asked for its tools, and stopped again.
import { useEffect, useRef, useState } from "preact/hooks";
import { post } from "../../hub/api";
import type { Bodies, Trial } from "../../hub/types";
import { now } from "../../shared/now";
import { Button, Spinner, Trouble } from "../../shared/ui/parts";
import { duration, elapsed, oneLine, plural, Pre, T } from "../../shared/ui/text";
import "./trial.css";

const SHOWN_TOOLS = 12;

type State =
  | { is: "idle" }
  | { is: "running"; since: number; stop: AbortController }
  | { is: "ended"; trial: Trial }
  | { is: "refused"; why: unknown };

/** `body`: what is tried; `disabled`: it is not complete yet. */
export function TestConnection({ body, disabled }: { body: () => Bodies["POST /api/servers/test"]; disabled: boolean }) {
  const [state, setState] = useState<State>({ is: "idle" });
  const running = useRef<AbortController | null>(null);
  const result = useRef<HTMLDivElement>(null);
  useEffect(() => () => running.current?.abort(), []);
  useEffect(() => result.current?.scrollIntoView({ block: "nearest" }), [state.is]);

  const run = async () => {
    const stop = (running.current = new AbortController());
    setState({ is: "running", since: Date.now(), stop });
    try {
      const trial = await post("/api/servers/test", body(), stop.signal);
      setState({ is: "ended", trial });
    } catch (why) {
      setState(stop.signal.aborted ? { is: "idle" } : { is: "refused", why });
    }
  };
  return (
    <section class="trial" aria-label="Test connection">
      <div class="trial-bar">
        {state.is === "running" ? (
          <Button onClick={() => state.stop.abort()}>Cancel test</Button>
        ) : (
          <Button onClick={() => void run()} disabled={disabled}>
            {state.is === "idle" ? "Test connection" : "Test again"}
          </Button>
        )}
        <span class="faint">
          {state.is === "running" ? <Running since={state.since} /> : "Starts it, lists its tools, and stops it again."}
        </span>
      </div>
      <div aria-live="polite" ref={result}>
        {state.is === "refused" && <Trouble why={state.why} />}
        {state.is === "ended" && (state.trial.ok ? <Works trial={state.trial} /> : <Fails trial={state.trial} />)}
      </div>
    </section>
  );
}

function Running({ since }: { since: number }) {
  return (
    <>
      <Spinner label="testing" /> Connecting… {elapsed(now.value - since)}
    </>
  );
}

function Works({ trial }: { trial: Trial }) {
  const name = trial.server_info?.["title"] ?? trial.server_info?.["name"];
  const version = trial.server_info?.["version"];
  const tools = trial.tools ?? [];
  return (
    <div class="trial-works">
      <strong>✓ It works.</strong>{" "}
      {typeof name === "string" && <T>{typeof version === "string" ? `${name} ${version}` : name}</T>}{" "}
      <span class="faint">
        {trial.protocol && <>protocol {oneLine(trial.protocol)}, </>}
        {plural(tools.length, "tool")}, {duration(trial.took_ms)}
      </span>
      {tools.length > 0 && (
        <div class="trial-tools">
          {tools.slice(0, SHOWN_TOOLS).map((t) => (
            <code>{oneLine(t)}</code>
          ))}
          {tools.length > SHOWN_TOOLS && <span class="faint">and {tools.length - SHOWN_TOOLS} more</span>}
        </div>
      )}
    </div>
  );
}

function Fails({ trial }: { trial: Trial }) {
  const lines = trial.stderr ?? [];
  return (
    <div class="trouble" role="alert">
      <strong>{oneLine(trial.message ?? trial.error ?? "It did not work")}</strong>
      {trial.next && <div>{oneLine(trial.next)}</div>}
      {lines.length > 0 && (
        <>
          <h3>What it printed</h3>
          <Pre>{lines.join("\n")}</Pre>
        </>
      )}
    </div>
  );
}
