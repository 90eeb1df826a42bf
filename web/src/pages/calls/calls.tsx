// Who asked what of which server: what runs, what ended and how, and how fast it went.
import { useEffect, useMemo, useState } from "preact/hooks";
import { asked, at, get, post } from "../../hub/api";
import { active, callsVersion, ended, recorded, servers } from "../../hub/store";
import type { Call, CallRecord } from "../../hub/types";
import { now } from "../../shared/now";
import { go, href, route } from "../../shared/router";
import { tellFailure } from "../../shared/toasts";
import { Badge, Button, Empty, Search, Spinner, Trouble, WorkButton } from "../../shared/ui/parts";
import { dayClock, duration, elapsed, oneLine, plural, T } from "../../shared/ui/text";
import { VirtualList } from "../../shared/ui/virtual";
import "./calls.css";
import {
  type CallFilter,
  choices,
  endedSince,
  kindOf,
  NO_FILTER,
  outcomes,
  outcomeWords,
  percent,
  type Row,
  rowsOf,
  tilesOf,
} from "./calls_model";
import { CallBook } from "./calls_state";
import { CallsChart } from "./chart_view";
import { CallDetail } from "./detail";

const ROW_PX = 54;
const NEAR_END = 20; // rows: then older ones are read

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

function Progress({ call }: { call: Call }) {
  if (call.progress === undefined) return <T>{call.message}</T>;
  const known = call.total !== undefined && call.total > 0;
  return (
    <>
      <progress aria-label="progress" max={known ? call.total : undefined} value={known ? call.progress : undefined} />
      <span>{known ? percent(call.progress, call.total!) : call.progress}</span> <T>{call.message}</T>
    </>
  );
}

function cancel(row: Row): Promise<unknown> {
  return post(at("/api/calls/{}/cancel", row.id)).catch((why: unknown) => tellFailure("Not cancelled", why));
}

/** Ticks by itself, so that the list around it is not drawn again. */
function Elapsed({ since }: { since: number }) {
  return <>{elapsed(now.value - since * 1000)}</>;
}

/** The whole row leads to the call; what has a way of its own goes that way. */
function open(e: MouseEvent, row: Row): void {
  if (!row.running && !(e.target as Element).closest("a, button")) go("calls", row.id);
}

function CallRow({ row }: { row: Row }) {
  const { icon, word, tone } = outcomeWords[row.outcome];
  const kind = kindOf(row.method);
  const name = <T class="calls-subject">{row.subject}</T>;
  return (
    <div role="listitem" class={`calls-row ${tone}${row.running ? "" : " opens"}`} onClick={(e) => open(e, row)}>
      <span class="calls-outcome">
        {row.running ? <Spinner label="running" /> : <span aria-hidden="true">{icon}</span>}
        <span class="calls-word">{word}</span>
      </span>
      <span class="calls-what">
        <span class="calls-name" title={oneLine(`${row.subject} on ${row.server}`)}>
          {!row.running ? <a href={href("calls", row.id)}>{name}</a> : kind ? name : <a href={href("tools", row.server, row.subject)}>{name}</a>}
          {kind && <Badge>{kind}</Badge>} <span class="faint">on <T>{row.server}</T></span>
        </span>
        <span class="calls-more faint">
          {row.client && <span>asked by <T>{row.client}</T></span>}
          {row.running ? <Progress call={row.running} /> : row.why && <span class="calls-why"><T>{row.why}</T></span>}
        </span>
      </span>
      <span class="calls-when">
        <span>{row.running ? <Elapsed since={row.at} /> : row.ms === undefined ? "–" : duration(row.ms)}</span>
        <span class="faint">{dayClock(row.at, Date.now())}</span>
      </span>
      <span class="calls-do">
        {row.running && <WorkButton small label={`Cancel ${oneLine(row.subject)}`} onClick={() => cancel(row)}>Cancel</WorkButton>}
      </span>
    </div>
  );
}

type PickProps = { label: string; any: string; value: string; options: readonly string[]; words?: (v: string) => string; onPick: (v: string) => void };
function Pick({ label, any, value, options, words, onPick }: PickProps) {
  const all = value && !options.includes(value) ? [value, ...options] : options;
  return (
    <select aria-label={label} value={value} onChange={(e) => onPick(e.currentTarget.value)}>
      <option value="">{any}</option>
      {all.map((o) => (
        <option key={o} value={o}>
          {words ? words(o) : oneLine(o)}
        </option>
      ))}
    </select>
  );
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

interface Held {
  rows: Row[];
  newest: string | undefined;
}

/** Reads what the filter asks for, and the newest again when calls have ended. */
function useBook(filter: CallFilter, held: boolean): CallBook {
  const [book] = useState(() => new CallBook((query, signal) => get(asked("/api/calls", query), signal)));
  useEffect(() => () => book.stop(), []);
  // "running" is no outcome that the daemon could look for.
  const running = filter.outcome === "running";
  useEffect(() => book.ask({ ...filter, outcome: running ? "" : filter.outcome }), [filter]);
  const version = callsVersion.value;
  useEffect(() => {
    if (!held) book.again();
  }, [version, held]);
  book.version.value; // draws again when it has read something
  return book;
}

function Recording({ book }: { book: CallBook }) {
  if (recorded.value && book.recorded) return null;
  return (
    <p class="calls-note" role="note">
      Calls are not recorded: only the last ones since Patchbay was started are known, without what they carried. Start it without{" "}
      <code>--no-record</code>, and see the setting <code>record</code>.
    </p>
  );
}

function Count({ rows, book, held }: { rows: readonly Row[]; book: CallBook; held: boolean }) {
  const running = rows.filter((r) => r.running).length;
  return (
    <p class="calls-count faint" aria-live="off">
      {plural(running, "call runs", "calls run")}, {plural(rows.length - running, "ended call")} shown
      {book.recorded && book.loaded ? ` of ${book.total.toLocaleString("en")} recorded` : ""}
      {held ? ". The list is paused." : ""}
    </p>
  );
}

function List({ rows, book, onAll }: { rows: readonly Row[]; book: CallBook; onAll: () => void }) {
  if (book.why && !rows.length) return <Trouble why={book.why} />;
  if (!rows.length && !book.loaded) return <Empty title="Reading…" />;
  if (!rows.length && book.next === undefined && book.total === 0) return <NoCalls />;
  if (!rows.length)
    return (
      <Empty title={book.next === undefined ? "No call matches" : "No call matches among the newest"}>
        {book.next !== undefined && <WorkButton onClick={() => book.older()}>Look further</WorkButton>} <Button onClick={onAll}>Show all calls</Button>
      </Empty>
    );
  return (
    <VirtualList
      label="Calls"
      count={rows.length}
      rowHeight={ROW_PX}
      row={(i) => <CallRow key={rows[i]!.id} row={rows[i]!} />}
      onRange={(_, to) => to > rows.length - NEAR_END && void book.older()}
    />
  );
}

export function CallsPage() {
  const [filter, setFilter] = useState<CallFilter>(NO_FILTER);
  const [held, setHeld] = useState<Held | null>(null);
  const book = useBook(filter, held !== null);
  const isRecorded = book.recorded;
  const fresh = useMemo(
    () => rowsOf(active.value.values(), ended.value, filter.outcome === "running" ? [] : book.rows, filter, isRecorded),
    [active.value, ended.value, book.version.value, filter],
  );
  const rows = held?.rows ?? fresh;
  const missed = held ? endedSince(held.newest, ended.value) : 0;
  const set = (change: Partial<CallFilter>) => setFilter({ ...filter, ...change });
  const known: readonly CallRecord[] = [...ended.value, ...book.rows];
  const running = [...active.value.values()];
  const id = route.value.parts[0];

  return (
    <div class="calls-page">
      <h1 class="calls-title">Calls</h1>
      <TileRow />
      <CallsChart />
      <Recording book={book} />
      <div class="bar calls-bar">
        <Search label={isRecorded ? "Search arguments and results" : "Search calls"} value={filter.text} onInput={(text) => set({ text })} />
        <Pick label="Server" any="All servers" value={filter.server} options={choices([...servers.value.map((s) => s.name), ...known.map((c) => c.server)])} onPick={(server) => set({ server })} />
        <Pick label="Client" any="All clients" value={filter.client} options={choices([...running.map((c) => c.client), ...known.map((c) => c.caller)])} onPick={(client) => set({ client })} />
        <Pick label="Outcome" any="All outcomes" value={filter.outcome} options={outcomes} words={(o) => outcomeWords[o as Row["outcome"]].word} onPick={(outcome) => set({ outcome })} />
        <Button onClick={() => setHeld(held ? null : { rows: fresh, newest: ended.value[0]?.id })}>
          {held ? `Resume (${missed} new)` : "Pause"}
        </Button>
      </div>
      <Count rows={rows} book={book} held={held !== null} />
      {book.why && rows.length ? <Trouble why={book.why} /> : null}
      <div class="card calls-list">
        <List rows={rows} book={book} onAll={() => setFilter(NO_FILTER)} />
      </div>
      {book.next !== undefined && rows.length > 0 && (
        <div class="calls-older">
          <Button disabled={book.busy} onClick={() => void book.older()}>
            {book.busy ? "Reading…" : "Older calls"}
          </Button>
        </div>
      )}
      {id && <CallDetail key={id} id={id} />}
    </div>
  );
}
