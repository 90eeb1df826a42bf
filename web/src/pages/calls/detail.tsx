// One call that has ended: who asked what, when, what was allowed, and what it carried.
import { useEffect, useState } from "preact/hooks";
import { at, get, objectOf } from "../../hub/api";
import { tookMs } from "../../hub/samples";
import type { Content, Json, RecordedCall, Redaction } from "../../hub/types";
import { now } from "../../shared/now";
import { sizeText } from "../../shared/result/kind";
import { ContentView, Structured } from "../../shared/result/view";
import { go, href } from "../../shared/router";
import { tellFailure } from "../../shared/toasts";
import { JsonTree } from "../../shared/ui/json";
import { Badge, Copy, Dialog, Spinner, Trouble, WorkButton } from "../../shared/ui/parts";
import { clock, dayClock, duration, oneLine, T } from "../../shared/ui/text";
import { endedRow, faceWords, kindOf, outcomeWords } from "./calls_model";

type FactProps = { name: string; wide?: boolean; children: preact.ComponentChildren };
function Fact({ name, wide, children }: FactProps) {
  return (
    <div class={wide ? "wide" : undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Facts({ call }: { call: RecordedCall }) {
  const took = tookMs(call);
  const waited = call.started_at && call.queued_at ? (call.started_at - call.queued_at) * 1000 : 0;
  return (
    <dl class="call-facts">
      {call.caller && <Fact name="Asked by"><T>{call.caller}</T></Fact>}
      {call.face && <Fact name="Through">{faceWords[call.face]}</Fact>}
      {call.queued_at !== undefined && <Fact name="Asked at">{dayClock(call.queued_at, now.value)}</Fact>}
      {call.ended_at !== undefined && <Fact name="Ended at">{clock(call.ended_at)}</Fact>}
      {took !== undefined && <Fact name="Took">{duration(took)}{waited >= 1 && `, after it had waited ${duration(waited)}`}</Fact>}
      {took === undefined && call.duration !== undefined && <Fact name="Waited">{duration(call.duration * 1000)}</Fact>}
      {call.rule && <Fact name="Rule"><T>{call.rule}</T></Fact>}
      {call.question && <Fact name="Question"><code><T>{call.question}</T></code>{call.answered_by && <> answered by <T>{call.answered_by}</T></>}</Fact>}
      {call.conversation && <Fact name="Conversation"><T>{call.conversation}</T></Fact>}
      {call.run && call.run !== call.conversation && <Fact name="Belongs to"><T>{call.run}</T></Fact>}
      {call.parent && <Fact wide name="Continues"><a href={href("calls", call.parent)}><code>{oneLine(call.parent)}</code></a></Fact>}
      {call.process_pid !== undefined && <Fact name="Process">{call.process_pid}</Fact>}
      <Fact wide name="Id"><code><T>{call.id}</T></code></Fact>
    </dl>
  );
}

function save(cid: string): Promise<void> {
  return objectOf(cid)
    .then((bytes) => {
      const url = URL.createObjectURL(new Blob([bytes], { type: "application/octet-stream" }));
      const a = document.createElement("a");
      a.href = url;
      a.download = `${cid.slice(0, 16)}.json`;
      a.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    })
    .catch((why: unknown) => tellFailure("Not downloaded", why));
}

/** Where its bytes are. */
function Source({ cid, bytes, value }: { cid: string; bytes?: number; value?: Json }) {
  return (
    <div class="result-about faint">
      <span title={cid}>
        <code>{cid.slice(0, 12)}…</code>
        {bytes !== undefined && `, ${sizeText(bytes)}`}
      </span>
      {value !== undefined && <Copy text={() => JSON.stringify(value, null, 2)}>Copy</Copy>}
      <WorkButton small label={`Download object ${cid.slice(0, 12)}`} onClick={() => save(cid)}>
        Download
      </WorkButton>
    </div>
  );
}

function Result({ call }: { call: RecordedCall }) {
  const value = call.result;
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value === undefined ? null : <JsonTree value={value} />;
  const contents = Array.isArray(value["content"]) ? (value["content"] as unknown as Content[]) : null;
  if (!contents)
    return (
      <div class="result-tree">
        <JsonTree value={value} />
      </div>
    );
  return (
    <>
      {contents.map((c) => (
        <ContentView content={c} server={call.server ?? ""} name={call.tool ?? "result"} />
      ))}
      {value["structuredContent"] !== undefined && <Structured value={value["structuredContent"]} />}
      {!contents.length && value["structuredContent"] === undefined && <p class="faint">The result is empty.</p>}
    </>
  );
}

type PartProps = { title: string; cid?: string; bytes?: number; value?: Json; children?: preact.ComponentChildren };
function Part({ title, cid, bytes, value, children }: PartProps) {
  if (!cid) return null;
  return (
    <section class="call-part" aria-label={title}>
      <h3>{title}</h3>
      {value === undefined ? <p class="faint">Too large to be shown here, or not kept.</p> : children}
      <Source cid={cid} bytes={bytes} value={value} />
    </section>
  );
}

const redactionWhy: Record<string, string> = { value: "a secret that Patchbay knows", name: "its name", pattern: "how it looks" };

function Redacted({ all }: { all: readonly Redaction[] }) {
  return (
    <section class="call-part" aria-label="Hidden">
      <h3>Hidden before it was recorded</h3>
      <ul class="call-hidden">
        {all.map((r) =>
          r.more !== undefined ? (
            <li>{r.more} more</li>
          ) : (
            <li>
              <code><T>{`${r.in} ${r.at ?? ""}`}</T></code> {r.why && <span class="faint">by {redactionWhy[r.why]}</span>}
            </li>
          ),
        )}
      </ul>
    </section>
  );
}

function Shown({ call }: { call: RecordedCall }) {
  const row = endedRow(call);
  const { icon, word, tone } = outcomeWords[row.outcome];
  const kind = kindOf(row.method);
  return (
    <div class="call-detail">
      <p class="call-head">
        <Badge tone={tone}>
          {icon} {word}
        </Badge>{" "}
        {kind ? <Badge>{kind}</Badge> : <a href={href("tools", row.server, row.subject)}>Open the tool</a>}
      </p>
      {row.why && <p class={`call-why ${tone}`}><T>{row.why}</T></p>}
      <Facts call={call} />
      {call.detail !== "all" && (
        <p class="faint">{call.detail === "meta" ? "What it carried was not recorded: so it is set for this server." : "It was not recorded, so no more is known of it."}</p>
      )}
      <Part title="Arguments" cid={call.arguments_cid} bytes={call.arguments_bytes} value={call.arguments}>
        <div class="result-tree">
          <JsonTree value={call.arguments ?? null} />
        </div>
      </Part>
      <Part title="Result" cid={call.result_cid} bytes={call.result_bytes} value={call.result}>
        <Result call={call} />
      </Part>
      {call.redacted && <Redacted all={call.redacted} />}
      {call.definition_cid && (
        <details class="call-part">
          <summary>What the tool said of itself</summary>
          {call.definition !== undefined && (
            <div class="result-tree">
              <JsonTree value={call.definition} />
            </div>
          )}
          <Source cid={call.definition_cid} />
        </details>
      )}
    </div>
  );
}

export function CallDetail({ id }: { id: string }) {
  const [call, setCall] = useState<RecordedCall | null>(null);
  const [why, setWhy] = useState<unknown>(null);
  useEffect(() => {
    const asked = new AbortController();
    setCall(null);
    setWhy(null);
    get(at("/api/calls/{}", id), asked.signal).then(setCall, (no: unknown) => !asked.signal.aborted && setWhy(no));
    return () => asked.abort();
  }, [id]);
  return (
    <Dialog side title={call?.name ? oneLine(call.name) : "Call"} onClose={() => go("calls")}>
      {why ? <Trouble why={why} /> : call ? <Shown call={call} /> : <Spinner label="reading" />}
    </Dialog>
  );
}
