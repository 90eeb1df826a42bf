// What was logged about one server: a drawer that follows, until a person scrolls up to read.
import { useEffect, useRef, useState } from "preact/hooks";
import { asked, at, get, link } from "../../hub/api";
import { byName, onLog } from "../../hub/store";
import type { LogEntry } from "../../hub/types";
import { Button, Copy, Dialog, Empty, Search, Trouble } from "../../shared/ui/parts";
import { clock, oneLine, plural, Pre } from "../../shared/ui/text";
import { VirtualList } from "../../shared/ui/virtual";
import { asText, findLines, levelChoices, LINES_MAX, LogBook } from "./log_book";
import { hideLogs } from "./server_actions";
import "./logs.css";

const ROW_HEIGHT = 26;

/** The book of a server: read when the daemon is there (again), and kept up. */
function useBook(name: string): { book: LogBook; read: boolean; why: unknown } {
  const book = useRef(new LogBook()).current;
  const [, setVersion] = useState(0);
  const [read, setRead] = useState(false);
  const [why, setWhy] = useState<unknown>(null);
  const live = link.value === "live";

  const add = (lines: readonly LogEntry[]) => {
    if (book.add(lines)) setVersion((v) => v + 1);
  };
  useEffect(() => onLog((e) => e.server === name && add([e])), [name]);
  useEffect(() => {
    if (!live) return;
    const gone = new AbortController();
    const path = asked(at("/api/servers/{}/logs", name), { lines: String(LINES_MAX) });
    get(path, gone.signal).then(
      (answer) => (add(answer.entries), setRead(true), setWhy(null)),
      (failure: unknown) => gone.signal.aborted || setWhy(failure),
    );
    return () => gone.abort();
  }, [name, live]);
  return { book, read, why };
}

function Line({ entry, onOpen }: { entry: LogEntry; onOpen: (e: LogEntry) => void }) {
  const message = oneLine(entry.message);
  return (
    <div role="listitem" key={entry.id}>
      <button type="button" class={`logs-line ${entry.level}`} title={message.slice(0, 500)} onClick={() => onOpen(entry)}>
        <time>{clock(entry.timestamp)}</time>
        <span class="logs-level">{entry.level}</span>
        <span class="logs-source">{entry.source}</span>
        <bdi class="logs-message">{message}</bdi>
      </button>
    </div>
  );
}

function Whole({ entry, onClose }: { entry: LogEntry; onClose: () => void }) {
  return (
    <section class="logs-whole" aria-label="The whole line">
      <div class="bar">
        <strong>
          {clock(entry.timestamp)} {entry.level} {entry.source}
        </strong>
        <span class="grow" />
        <Copy text={entry.message}>Copy line</Copy>
        <Button small onClick={onClose}>
          Close line
        </Button>
      </div>
      <Pre>{entry.message}</Pre>
    </section>
  );
}

/** What stands still while a person reads: the lines, and how many there had been. */
type Pause = { lines: readonly LogEntry[]; total: number } | null;

export function LogDrawer({ name }: { name: string }) {
  const { book, read, why } = useBook(name);
  const [level, setLevel] = useState<LogEntry["level"]>("debug");
  const [text, setText] = useState("");
  const [pause, setPause] = useState<Pause>(null);
  const [toEnd, setToEnd] = useState(0);
  const [whole, setWhole] = useState<LogEntry | null>(null);

  const found = findLines(pause?.lines ?? book.lines, level, text);
  const added = pause ? Math.min(book.total - pause.total, book.lines.length) : 0;
  const fresh = added ? findLines(book.lines.slice(-added), level, text).length : 0;
  const goOn = () => {
    setPause(null);
    setToEnd((n) => n + 1);
  };

  return (
    <Dialog side title={`Log of ${oneLine(byName(name)?.display_name ?? name)}`} onClose={hideLogs}>
      <div class="bar logs-bar">
        <Search label="Search the log" value={text} onInput={setText} />
        <select aria-label="Level" value={level} onChange={(e) => setLevel(e.currentTarget.value as LogEntry["level"])}>
          {levelChoices.map((c) => (
            <option value={c.level}>{c.text}</option>
          ))}
        </select>
        <Copy text={() => asText(found)}>Copy</Copy>
      </div>
      {why !== null && <Trouble why={why} />}
      <div class="logs-lines">
        {read && found.length === 0 ? (
          <Empty title={book.lines.length ? "No line is like that" : "Nothing has been logged yet"}>
            {!book.lines.length && <p>New lines appear here by themselves.</p>}
          </Empty>
        ) : (
          <VirtualList
            count={found.length}
            rowHeight={ROW_HEIGHT}
            row={(i) => <Line key={found[i]!.id} entry={found[i]!} onOpen={setWhole} />}
            label="Log lines"
            follow={!pause}
            onAtEnd={(end) => (end ? goOn() : setPause({ lines: book.lines, total: book.total }))}
            toEnd={toEnd}
          />
        )}
        {pause && (
          <div class="logs-paused">
            <Button kind="primary" small onClick={goOn}>
              {fresh ? plural(fresh, "new line") : "Go to the end"} ↓
            </Button>
          </div>
        )}
      </div>
      {whole && <Whole entry={whole} onClose={() => setWhole(null)} />}
      <div class="logs-foot faint" role="status">
        {plural(found.length, "line")}
        {pause ? ", paused while you read" : ", following"}
      </div>
    </Dialog>
  );
}
