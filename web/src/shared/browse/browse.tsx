// Two panes: a long list to search, and the one that was chosen. On a narrow screen one after the other.
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { atMostEvery, catalogVersion, servers } from "../../hub/store";
import type { Unreached } from "../../hub/types";
import { route, setQuery } from "../router";
import { Search, Trouble } from "../ui/parts";
import { oneLine, plural } from "../ui/text";
import { VirtualList } from "../ui/virtual";
import { Paged, type ReadPage } from "./paged";
import "./browse.css";

const TYPING_MS = 120;
const AGAIN_MS = 500; // between two looks, however often the catalog changes
const NAMES_SHOWN = 3;
export const ROW_HEIGHT = 64;

/** What is typed, at once; and in the address when the typing rests. */
function useSearchText(): [string, (text: string) => void] {
  const given = route.value.query.get("q") ?? "";
  const [text, setText] = useState(given);
  const timer = useRef(0);
  const sent = useRef(given);
  useEffect(() => {
    if (given === sent.current) return;
    sent.current = given;
    setText(given);
  }, [given]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return [
    text,
    (next) => {
      setText(next);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => {
        sent.current = next.trim();
        setQuery({ q: next.trim() });
      }, TYPING_MS);
    },
  ];
}

/** The list for a question, kept true while the catalog changes. */
export function usePaged<Q, T>(question: Q, read: ReadPage<Q, T>): Paged<Q, T> {
  const list = useMemo(() => new Paged<Q, T>(read), []);
  const again = useMemo(() => atMostEvery(AGAIN_MS, () => list.again()), []);
  const seen = useRef(catalogVersion.value);
  useEffect(() => list.ask(question), [JSON.stringify(question)]);
  useEffect(() => {
    if (seen.current === catalogVersion.value) return;
    seen.current = catalogVersion.value;
    again();
  }, [catalogVersion.value]);
  useEffect(() => () => list.stop(), []);
  return list;
}

export function ServerSelect({ value, onChange }: { value: string; onChange: (server: string) => void }) {
  const names = servers.value.map((s) => s.name);
  if (value && !names.includes(value)) names.push(value);
  return (
    <select aria-label="Server" value={value} onChange={(e) => onChange(e.currentTarget.value)}>
      <option value="">All servers</option>
      {names.map((name) => (
        <option value={name}>{oneLine(name)}</option>
      ))}
    </select>
  );
}

function Missing({ failed }: { failed: readonly Unreached[] }) {
  if (!failed.length) return null;
  const names = failed.slice(0, NAMES_SHOWN).map((f) => oneLine(f.server));
  if (failed.length > NAMES_SHOWN) names.push("…");
  const why = failed.map((f) => `${oneLine(f.server)}: ${oneLine(f.message)}`).join("\n");
  return (
    <p class="browse-missing" title={why}>
      {plural(failed.length, "server is", "servers are")} not there: {names.join(", ")}
    </p>
  );
}

/** Arrow keys walk from the search field into the rows and along them. */
function walk(e: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const by = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
  const target = e.target as HTMLElement;
  if (!by || target.tagName === "SELECT") return;
  const rows = [...e.currentTarget.querySelectorAll<HTMLElement>(".browse-row a")];
  const at = rows.indexOf(target.closest<HTMLElement>(".browse-row a") ?? target);
  if (at < 0 && by < 0) return;
  const next = at < 0 ? rows[0] : rows[at + by];
  if (next) next.focus();
  else if (at === 0) e.currentTarget.querySelector<HTMLElement>("[data-search]")?.focus();
  e.preventDefault();
}

type ListProps<Q, T> = {
  list: Paged<Q, T>;
  one: string; // "tool"
  label: string; // of the search field
  filters: ComponentChildren;
  row: (item: T) => ComponentChildren;
  empty: ComponentChildren;
};
export function BrowseList<Q, T>({ list, one, label, filters, row, empty }: ListProps<Q, T>) {
  const [text, setText] = useSearchText();
  const version = list.version.value;
  const rowAt = (i: number) => {
    const item = list.at(i);
    return (
      <div class="browse-row" role="listitem" key={i} aria-busy={!item}>
        {item ? row(item) : <span class="faint">…</span>}
      </div>
    );
  };
  return (
    <section class="browse-list" aria-label={`List of ${one}s`} onKeyDown={walk}>
      <Search value={text} onInput={setText} label={label} />
      <div class="browse-filters">{filters}</div>
      <div class="browse-count faint" role="status">
        {version > 0 && !list.why ? plural(list.total, one) : " "}
      </div>
      <Missing failed={list.failed} />
      {!!list.why && <Trouble why={list.why} />}
      <div class="browse-rows card">
        {list.answered > 0 && list.total === 0 ? (
          empty
        ) : (
          <VirtualList
            key={list.answered}
            count={list.total}
            rowHeight={ROW_HEIGHT}
            row={rowAt}
            label={`${one}s`}
            onRange={(from, to) => list.sight(from, to)}
          />
        )}
      </div>
    </section>
  );
}

type PanesProps = { title: string; chosen: string; back: string; list: ComponentChildren; detail: ComponentChildren; hint: string };
export function Panes({ title, chosen, back, list, detail, hint }: PanesProps) {
  // Another one is read from its beginning.
  useEffect(() => window.scrollTo(0, 0), [chosen]);
  return (
    <div class={`browse${chosen ? " chosen" : ""}`}>
      <div class="browse-left">
        <h1>{title}</h1>
        {list}
      </div>
      <div class="browse-right">
        {chosen ? (
          <>
            <a class="browse-back" href={back}>
              ← {title}
            </a>
            {detail}
          </>
        ) : (
          <div class="browse-hint faint">{hint}</div>
        )}
      </div>
    </div>
  );
}
