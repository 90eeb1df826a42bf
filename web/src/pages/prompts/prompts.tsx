// Prompts of all servers: filled in, and looked at as the conversation that they begin.
import { asked, get } from "../../hub/api";
import type { Prompt } from "../../hub/types";
import { BrowseList, Panes, ServerSelect, usePaged } from "../../shared/browse/browse";
import type { Answer } from "../../shared/browse/paged";
import { withQuery } from "../../shared/query";
import { go, href, route, setQuery } from "../../shared/router";
import { Badge, Empty } from "../../shared/ui/parts";
import { oneLine, plural, T } from "../../shared/ui/text";
import { PromptPane } from "./prompt";

interface Question {
  q: string;
  server: string;
}

async function readPrompts(question: Question, offset: number, limit: number, signal: AbortSignal): Promise<Answer<Prompt>> {
  const path = asked("/api/prompts", { ...question, limit: String(limit), offset: String(offset) });
  const read = await get(path, signal);
  return { items: read.prompts, total: read.total, failed: read.failed };
}

function Row({ prompt, chosen, query }: { prompt: Prompt; chosen: boolean; query: Record<string, string> }) {
  const d = prompt.definition;
  const n = d.arguments?.length ?? 0;
  return (
    <a href={withQuery(href("prompts", prompt.server, d.name), query)} aria-current={chosen ? "true" : undefined} title={oneLine(prompt.name)}>
      <div class="browse-first">
        <span class="browse-name">
          <T>{d.name}</T>
        </span>
        <span class="browse-end">
          <T>{prompt.server}</T>
        </span>
      </div>
      <div class="browse-second">
        {n > 0 && <Badge>{plural(n, "argument")}</Badge>}
        <T>{d.description ?? d.title}</T>
      </div>
    </a>
  );
}

export function PromptsPage() {
  const { parts, query } = route.value;
  const [first, prompt] = parts;
  const server = query.get("server") ?? (prompt === undefined ? (first ?? "") : "");
  const question = { q: query.get("q") ?? "", server };
  const list = usePaged(question, readPrompts);
  const chosen = prompt === undefined ? "" : `${first}/${prompt}`;
  const narrow = (name: string) => {
    if (prompt !== undefined) setQuery({ server: name });
    else location.hash = withQuery(name ? href("prompts", name) : href("prompts"), { q: question.q });
  };
  return (
    <Panes
      title="Prompts"
      chosen={chosen}
      back={withQuery(server ? href("prompts", server) : href("prompts"), { q: question.q })}
      hint="Choose a prompt to fill it in and see what it says."
      list={
        <BrowseList
          list={list}
          one="prompt"
          label="Search prompts"
          filters={<ServerSelect value={server} onChange={narrow} />}
          row={(p) => <Row prompt={p} chosen={p.name === chosen} query={question} />}
          empty={
            <Empty title="No prompts">
              {question.q || server ? (
                <button type="button" class="button" onClick={() => go("prompts")}>
                  Show all prompts
                </button>
              ) : (
                <p>No connected server offers any.</p>
              )}
            </Empty>
          }
        />
      }
      detail={<PromptPane key={chosen} server={first ?? ""} name={prompt ?? ""} known={list.find((p) => p.name === chosen)} />}
    />
  );
}
