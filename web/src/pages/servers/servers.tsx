// All servers: which live, what they can do, and what is wrong with the one that does not.
import { signal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { loaded, servers } from "../../hub/store";
import { withQuery } from "../../shared/query";
import { href, route, setQuery } from "../../shared/router";
import { Button, Dialog, Empty, Search, WorkButton } from "../../shared/ui/parts";
import { oneLine, shown } from "../../shared/ui/text";
import { deleteText } from "./delete_state";
import { LogDrawer } from "./logs";
import { reconnectFailed, removal, remove } from "./server_actions";
import { asShow, countShown, findServers, SHOWS, type Show, showsReconnectFailed } from "./server_model";
import { ServerRow } from "./server_row";
import "./servers.css";

const opened = signal<ReadonlySet<string>>(new Set());

function open(name: string, wanted: boolean): void {
  const names = new Set(opened.peek());
  if (wanted) names.add(name);
  else names.delete(name);
  opened.value = names;
}

const showTexts: Record<Show, string> = { all: "All", connected: "Connected", trouble: "In trouble", off: "Off" };

function Shows({ chosen }: { chosen: Show }) {
  const counts = countShown(servers.value);
  return (
    <div class="servers-shows" role="group" aria-label="Show">
      {SHOWS.map((show) => (
        <button
          type="button"
          class={`servers-show${counts[show] ? ` servers-show-${show}` : ""}`}
          aria-pressed={chosen === show}
          onClick={() => setQuery({ show: show === "all" ? undefined : show })}
        >
          {showTexts[show]} <b>{loaded.value ? counts[show] : "…"}</b>
        </button>
      ))}
    </div>
  );
}

function Bar({ text, show }: { text: string; show: Show }) {
  return (
    <>
      <div class="bar">
        <h1>Servers</h1>
        <span class="grow" />
        <a class="button primary servers-add" href={href("add")}>
          + Add server
        </a>
      </div>
      <div class="bar">
        <Shows chosen={show} />
        <Search label="Search servers" value={text} onInput={(q) => setQuery({ q })} />
        {showsReconnectFailed(servers.value) && <WorkButton onClick={reconnectFailed}>Reconnect Failed</WorkButton>}
      </div>
    </>
  );
}

const FILES = "npx -y @modelcontextprotocol/server-filesystem ~";
const WEB = "https://mcp.example.com/mcp";
const JSON_TEXT = `{
  "mcpServers": {
    "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] }
  }
}`;
const examples = [
  { shown: FILES, text: FILES, what: "A program that reads and writes files in your home" },
  { shown: WEB, text: WEB, what: "A server on the web, by its address" },
  { shown: '{ "mcpServers": { … } }', text: JSON_TEXT, what: "JSON that another client or a README gives you" },
];

function NoServers() {
  return (
    <Empty title="No servers yet">
      <p>A server gives your agents tools: files, databases, issue trackers, the web. Add one, and every agent has it.</p>
      <div class="servers-examples">
        {examples.map((e) => (
          <a class="card" href={withQuery(href("add"), { text: e.text })}>
            <code>{e.shown}</code>
            <span>{e.what}</span>
          </a>
        ))}
      </div>
      <a class="button primary servers-add" href={href("add")}>
        + Add server
      </a>
    </Empty>
  );
}

function Skeleton() {
  return (
    <ul class="servers-list card" aria-busy="true" aria-label="Servers are being read">
      {[0, 1, 2].map((i) => (
        <li key={i} class="servers-row">
          <div class="servers-line">
            <span class="servers-ghost" />
          </div>
        </li>
      ))}
    </ul>
  );
}

function List({ text, show }: { text: string; show: Show }) {
  const found = findServers(servers.value, text, show);
  const toggle = useCallback(open, []);
  if (found.length === 0) {
    return (
      <Empty title="No server is like that">
        <Button onClick={() => setQuery({ q: undefined, show: undefined })}>Show all</Button>
      </Empty>
    );
  }
  return (
    <ul class="servers-list card" aria-label="Servers">
      {found.map((s) => (
        <ServerRow key={s.name} server={s} open={opened.value.has(s.name)} onOpen={toggle} />
      ))}
    </ul>
  );
}

/** S1-125, S1-126 */
function RemoveDialog() {
  const asked = removal.server.value;
  if (!asked) return null;
  return (
    <Dialog title="Remove server" onClose={() => removal.cancel()}>
      <p class="servers-question">{shown(deleteText(oneLine(asked.display_name)))}</p>
      <div class="dialog-actions">
        <Button onClick={() => removal.cancel()}>Cancel</Button>
        <Button
          kind="danger"
          onClick={() => {
            const answer = removal.confirm();
            if (answer) void remove(answer.name);
          }}
        >
          Delete
        </Button>
      </div>
    </Dialog>
  );
}

/** "#/servers/name" opens that one. */
function useNamed(name: string | undefined, ready: boolean): void {
  useEffect(() => {
    if (!name || !ready) return;
    open(name, true);
    requestAnimationFrame(() => document.getElementById(`server-${name}`)?.scrollIntoView({ block: "nearest" }));
  }, [name, ready]);
}

export function ServersPage() {
  const { parts, query } = route.value;
  const [name, part] = parts;
  const text = query.get("q") ?? "";
  const show = asShow(query.get("show"));
  useNamed(part ? undefined : name, loaded.value);
  return (
    <div class="servers">
      <Bar text={text} show={show} />
      {!loaded.value ? <Skeleton /> : servers.value.length === 0 ? <NoServers /> : <List text={text} show={show} />}
      {name && part === "logs" && <LogDrawer key={name} name={name} />}
      <RemoveDialog />
    </div>
  );
}
