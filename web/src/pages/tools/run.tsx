// One call that was made here: how it goes, and what came of it.
import { active } from "../../hub/store";
import type { JsonObject } from "../../hub/types";
import { now } from "../../shared/now";
import { plainText, sizeText } from "../../shared/result/kind";
import { ContentView, Download, Structured } from "../../shared/result/view";
import { Badge, Button, Copy, Spinner, Trouble } from "../../shared/ui/parts";
import { clock, duration, elapsed, oneLine } from "../../shared/ui/text";
import { displayOf } from "./run_model";
import type { Run } from "./runs";

function Progress({ run }: { run: Run }) {
  const call = active.value.get(run.id);
  return (
    <div class="run-head" role="status">
      <Spinner label="calling" />
      <span>{elapsed(now.value - run.startedAt)}</span>
      {call?.progress !== undefined &&
        (call.total ? (
          <>
            <progress value={call.progress} max={call.total} aria-label="Progress" />
            <span>
              {call.progress} of {call.total}
            </span>
          </>
        ) : (
          <span>{call.progress}</span>
        ))}
      {call?.message && <bdi>{oneLine(call.message)}</bdi>}
    </div>
  );
}

function Result({ run, server }: { run: Run; server: string }) {
  const result = run.result;
  if (run.state === "cancelled") return <p>The call was cancelled.</p>;
  if (run.state === "failed") return <Trouble why={run.why} />;
  if (!result) return <p class="faint">This result was too large to be kept beside a newer one.</p>;
  const contents = Array.isArray(result.content) ? result.content : [];
  const text = plainText(contents);
  return (
    <>
      {contents.map((c) => (
        <ContentView content={c} server={server} name={run.tool} />
      ))}
      {result.structuredContent !== undefined && <Structured value={result.structuredContent} />}
      {!contents.length && result.structuredContent === undefined && <p class="faint">The result is empty.</p>}
      <div class="browse-actions">
        <Copy text={() => text || JSON.stringify(result, null, 2)}>Copy result</Copy>
        <Copy text={() => JSON.stringify(result, null, 2)}>Copy as JSON</Copy>
        <Download name={run.tool} mime="application/json" data={() => JSON.stringify(result, null, 2)} />
      </div>
    </>
  );
}

export function RunView({ run, server }: { run: Run; server: string }) {
  const { text, icon, tone } = displayOf(run);
  return (
    <section class={`run browse-box card${tone === "red" ? " failed" : ""}`} aria-label="Result">
      <div class="run-head">
        <h3>{oneLine(text)}</h3>
        {run.state !== "running" && (
          <span role="status">
            <Badge tone={tone}>{icon}</Badge>{" "}
            <span class="faint">
              {duration(run.ms)}
              {run.bytes > 0 && `, ${sizeText(run.bytes)}`}
            </span>
          </span>
        )}
      </div>
      {run.state === "running" ? <Progress run={run} /> : <Result key={run.id} run={run} server={server} />}
    </section>
  );
}

const brief = (args: JsonObject) => JSON.stringify(args).slice(0, 300);

type HistoryProps = { all: readonly Run[]; current: Run | undefined; onShow: (run: Run) => void; onUse: (run: Run) => void };
export function History({ all, current, onShow, onUse }: HistoryProps) {
  return (
    <section class="browse-box card" aria-label="Last calls">
      <h3>Last calls from this page</h3>
      <ol class="run-list">
        {all.map((r) => {
          const { text, icon, tone } = displayOf(r);
          const when = clock(r.startedAt / 1000);
          return (
            <li key={r.id} aria-current={r === current ? "true" : undefined}>
              <span class="run-when">{when}</span>
              <Badge tone={tone} title={oneLine(text)}>
                {icon}
              </Badge>
              <bdi class="run-args" title={oneLine(brief(r.args))}>
                {oneLine(brief(r.args))}
              </bdi>
              <Button small label={`Show the call of ${when}`} onClick={() => onShow(r)}>
                Show
              </Button>
              <Button small label={`Use again: arguments of ${when}`} onClick={() => onUse(r)}>
                Use again
              </Button>
            </li>
          );
        })}
      </ol>
    </section>
  );
}
