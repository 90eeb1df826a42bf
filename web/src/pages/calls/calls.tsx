// Who asked what of which server: what runs, what ended and how, and how fast it went.
import { useMemo, useState } from "preact/hooks";
import { at, post } from "../../hub/api";
import { active, ended } from "../../hub/store";
import type { Call, EndedCall } from "../../hub/types";
import { now } from "../../shared/now";
import { href } from "../../shared/router";
import { tellFailure } from "../../shared/toasts";
import { Badge, Button, Empty, Search, Spinner, WorkButton } from "../../shared/ui/parts";
import { clock, duration, elapsed, oneLine, plural, T } from "../../shared/ui/text";
import { VirtualList } from "../../shared/ui/virtual";
import "./calls.css";
import {
  type AnyCall,
  type CallFilter,
  choices,
  endedSince,
  kindOf,
  outcomeOf,
  outcomes,
  outcomeWords,
  percent,
  reasonText,
  rowsOf,
  tilesOf,
} from "./calls_model";
import { CallsChart } from "./chart_view";

const ROW_PX = 54;

function Tile({ label, value, note }: { label: string; value: string; note: string }) {
  return (
    <div class="card calls-tile">
      <dt>{label}</dt>
      <dd>
        <strong>{value}</strong>
        <span class="faint">{note}</span>
      </dd>
    </div>
  );
}

function TileRow() {
  const second = Math.floor(now.value / 1000);
  const t = useMemo(() => tilesOf(ended.value, second), [ended.value, second]);
  const of = t.known ? `of the last ${t.known.toLocaleString("en")}` : "no calls yet";
  return (
    <dl class="calls-tiles">
      <Tile label="Calls" value={String(t.perMinute)} note="in the last minute" />
      <Tile label="Failed" value={percent(t.failures, t.known)} note={of} />
      <Tile label="Half take less than" value={t.p50 === null ? "–" : duration(t.p50)} note={of} />
      <Tile label="95 % take less than" value={t.p95 === null ? "–" : duration(t.p95)} note={of} />
    </dl>
  );
}

function Progress({ call }: { call: AnyCall }) {
  if (call.progress === undefined) return <T>{call.message}</T>;
  const known = call.total !== undefined && call.total > 0;
  return (
    <>
      <progress aria-label="progress" max={known ? call.total : undefined} value={known ? call.progress : undefined} />
      <span>{known ? percent(call.progress, call.total!) : call.progress}</span> <T>{call.message}</T>
    </>
  );
}

function cancel(call: Call): Promise<unknown> {
  return post(at("/api/calls/{}/cancel", call.id)).catch((why: unknown) => tellFailure("Not cancelled", why));
}

/** Ticks by itself, so that the list around it is not drawn again. */
function Elapsed({ since }: { since: number }) {
  return <>{elapsed(now.value - since * 1000)}</>;
}

function CallRow({ call }: { call: AnyCall }) {
  const outcome = outcomeOf(call);
  const { icon, word, tone } = outcomeWords[outcome];
  const running = outcome === "running";
  const kind = kindOf(call);
  const why = reasonText(call);
  return (
    <div role="listitem" class={`calls-row ${tone}`}>
      <span class="calls-outcome">
        {running ? <Spinner label="running" /> : <span aria-hidden="true">{icon}</span>}
        <span class="calls-word">{word}</span>
      </span>
      <span class="calls-what">
        <span class="calls-name" title={oneLine(`${call.subject} on ${call.server}`)}>
          {kind ? <T class="calls-subject">{call.subject}</T> : <a href={href("tools", call.server, call.subject)}><T>{call.subject}</T></a>}
          {kind && <Badge>{kind}</Badge>} <span class="faint">on <T>{call.server}</T></span>
        </span>
        <span class="calls-more faint">
          {call.client && <span>asked by <T>{call.client}</T></span>}
          {running ? <Progress call={call} /> : why && <span class="calls-why">{why}</span>}
        </span>
      </span>
      <span class="calls-when">
        <span>{running ? <Elapsed since={call.started_at} /> : duration((call.duration ?? 0) * 1000)}</span>
        <span class="faint">{clock(call.started_at)}</span>
      </span>
      <span class="calls-do">
        {running && <WorkButton small label={`Cancel ${oneLine(call.subject)}`} onClick={() => cancel(call)}>Cancel</WorkButton>}
      </span>
    </div>
  );
}

type PickProps = { label: string; any: string; value: string; options: readonly string[]; onPick: (v: string) => void };
function Pick({ label, any, value, options, onPick }: PickProps) {
  const all = value && !options.includes(value) ? [value, ...options] : options;
  return (
    <select aria-label={label} value={value} onChange={(e) => onPick(e.currentTarget.value)}>
      <option value="">{any}</option>
      {all.map((o) => (
        <option key={o} value={o}>
          {oneLine(o)}
        </option>
      ))}
    </select>
  );
}

interface Held {
  active: Call[];
  ended: readonly EndedCall[];
}

function NoCalls() {
  return (
    <Empty title="No calls yet">
      <p>
        A call shows up here as soon as somebody makes one: an agent that is connected to Patchbay, the form of a{" "}
        <a href={href("tools")}>tool</a>, or <code>patchbay call server/tool key=value</code>.
      </p>
    </Empty>
  );
}

export function CallsPage() {
  const [filter, setFilter] = useState<CallFilter>({ text: "", server: "", client: "", outcome: "" });
  const [held, setHeld] = useState<Held | null>(null);
  const running = held?.active ?? [...active.value.values()];
  const done = held?.ended ?? ended.value;
  const known = [...running, ...done];
  const { rows, running: shownRunning } = rowsOf(running, done, filter);
  const missed = held ? endedSince(held.ended[0]?.id, ended.value) : 0;
  const set = (change: Partial<CallFilter>) => setFilter({ ...filter, ...change });

  return (
    <div class="calls-page">
      <h1 class="calls-title">Calls</h1>
      <TileRow />
      <CallsChart />
      <div class="bar calls-bar">
        <Search label="Search calls" value={filter.text} onInput={(text) => set({ text })} />
        <Pick label="Server" any="All servers" value={filter.server} options={choices(known, (c) => c.server)} onPick={(server) => set({ server })} />
        <Pick label="Client" any="All clients" value={filter.client} options={choices(known, (c) => c.client)} onPick={(client) => set({ client })} />
        <Pick label="Outcome" any="All outcomes" value={filter.outcome} options={outcomes} onPick={(outcome) => set({ outcome })} />
        <Button onClick={() => setHeld(held ? null : { active: running, ended: done })}>
          {held ? `Resume (${missed} new)` : "Pause"}
        </Button>
      </div>
      <p class="calls-count faint" aria-live="off">
        {plural(shownRunning, "call runs", "calls run")}, {plural(rows.length - shownRunning, "ended call")} shown
        {held ? ". The list is paused." : ""}
      </p>
      <div class="card calls-list">
        {known.length === 0 ? (
          <NoCalls />
        ) : rows.length === 0 ? (
          <Empty title="No call matches">
            <Button onClick={() => set({ text: "", server: "", client: "", outcome: "" })}>Show all calls</Button>
          </Empty>
        ) : (
          <VirtualList
            label="Calls"
            count={rows.length}
            rowHeight={ROW_PX}
            row={(i) => <CallRow key={rows[i]!.id} call={rows[i]!} />}
          />
        )}
      </div>
    </div>
  );
}
