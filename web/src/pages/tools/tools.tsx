// All tools of all servers: found by words, server or mode, looked at, and called.
import { asked, get } from "../../hub/api";
import { modes } from "../../hub/store";
import type { Tool } from "../../hub/types";
import { BrowseList, Panes, ServerSelect, usePaged } from "../../shared/browse/browse";
import type { Answer } from "../../shared/browse/paged";
import { withQuery } from "../../shared/query";
import { go, href, route, setQuery } from "../../shared/router";
import { Badge, Empty } from "../../shared/ui/parts";
import { oneLine, T } from "../../shared/ui/text";
import { Marks } from "./marks";
import { ToolPane } from "./tool";

interface Question {
  q: string;
  server: string;
  mode: string;
}

async function readTools(question: Question, offset: number, limit: number, signal: AbortSignal): Promise<Answer<Tool>> {
  const path = asked("/api/tools", { ...question, limit: String(limit), offset: String(offset) });
  const read = await get(path, signal);
  return { items: read.tools, total: read.total, failed: read.failed };
}

function Row({ tool, chosen, query }: { tool: Tool; chosen: boolean; query: Record<string, string> }) {
  const d = tool.definition;
  return (
    <a href={withQuery(href("tools", tool.server, d.name), query)} aria-current={chosen ? "true" : undefined} title={oneLine(tool.name)}>
      <div class="browse-first">
        <span class="browse-name">
          <T>{d.name}</T>
        </span>
        <span class="browse-end">
          <T>{tool.server}</T>
        </span>
      </div>
      <div class="browse-second">
        {tool.enabled === false && <Badge tone="yellow">off</Badge>}
        <Marks of={d.annotations} />
        <T>{d.description ?? d.title}</T>
      </div>
    </a>
  );
}

function ModeSelect({ value }: { value: string }) {
  const known = modes.value.some((m) => m.id === value) || !value;
  return (
    <select aria-label="Mode" value={value} onChange={(e) => setQuery({ mode: e.currentTarget.value })}>
      <option value="">All modes</option>
      {!known && <option value={value}>{oneLine(value)}</option>}
      {modes.value.map((m) => (
        <option value={m.id}>{oneLine(m.name ?? m.id)}</option>
      ))}
    </select>
  );
}

export function ToolsPage() {
  const { parts, query } = route.value;
  const [first, tool] = parts;
  // "#/tools/git" is the list of one server; a chosen tool must not narrow the list it was chosen from.
  const server = query.get("server") ?? (tool === undefined ? (first ?? "") : "");
  const question = { q: query.get("q") ?? "", server, mode: query.get("mode") ?? "" };
  const list = usePaged(question, readTools);
  const chosen = tool === undefined ? "" : `${first}/${tool}`;
  const back = withQuery(server ? href("tools", server) : href("tools"), { q: question.q, mode: question.mode });

  const narrow = (name: string) => {
    if (tool !== undefined) setQuery({ server: name });
    else {
      location.hash = withQuery(name ? href("tools", name) : href("tools"), { q: question.q, mode: question.mode });
    }
  };
  return (
    <Panes
      title="Tools"
      chosen={chosen}
      back={back}
      hint="Choose a tool: what it does, what it takes, and a form to call it."
      list={
        <BrowseList
          list={list}
          one="tool"
          label="Search tools"
          filters={
            <>
              <ServerSelect value={server} onChange={narrow} />
              <ModeSelect value={question.mode} />
            </>
          }
          row={(t) => <Row tool={t} chosen={t.name === chosen} query={question} />}
          empty={
            <Empty title="No tools">
              {question.q || server || question.mode ? (
                <button type="button" class="button" onClick={() => go("tools")}>
                  Show all tools
                </button>
              ) : (
                <p>
                  Tools come with servers. <a href={href("add")}>Add a server</a>
                </p>
              )}
            </Empty>
          }
        />
      }
      detail={<ToolPane key={chosen} server={first ?? ""} tool={tool ?? ""} known={list.find((t) => t.name === chosen)} />}
    />
  );
}
