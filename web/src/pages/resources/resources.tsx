// Resources of all servers, and the templates of those that are made on demand.
import { asked, get } from "../../hub/api";
import type { Resource, ResourceTemplate } from "../../hub/types";
import { BrowseList, Panes, ServerSelect, usePaged } from "../../shared/browse/browse";
import type { Answer } from "../../shared/browse/paged";
import { Sides } from "../../shared/form/arguments";
import { withQuery } from "../../shared/query";
import { go, href, route, setQuery } from "../../shared/router";
import { Badge, Empty } from "../../shared/ui/parts";
import { oneLine, T } from "../../shared/ui/text";
import { ResourcePane, TemplatePane } from "./resource";

interface Question {
  q: string;
  server: string;
}

function read(question: Question, offset: number, limit: number, signal: AbortSignal) {
  const path = asked("/api/resources", { ...question, limit: String(limit), offset: String(offset) });
  return get(path, signal);
}

async function readResources(question: Question, offset: number, limit: number, signal: AbortSignal): Promise<Answer<Resource>> {
  const r = await read(question, offset, limit, signal);
  return { items: r.resources, total: r.total, failed: r.failed };
}

async function readTemplates(question: Question, offset: number, limit: number, signal: AbortSignal): Promise<Answer<ResourceTemplate>> {
  const r = await read(question, offset, limit, signal);
  return { items: r.resourceTemplates, total: r.total_templates, failed: r.failed };
}

type RowProps = { item: Resource | ResourceTemplate; uri: string; to: Record<string, string>; chosen: boolean };
function Row({ item, uri, to, chosen }: RowProps) {
  const d = item.definition;
  return (
    <a href={withQuery(href("resources"), to)} aria-current={chosen ? "true" : undefined} title={oneLine(uri)}>
      <div class="browse-first">
        <span class="browse-name">
          <T>{d.title ?? d.name}</T>
        </span>
        <span class="browse-end">
          <T>{item.server}</T>
        </span>
      </div>
      <div class="browse-second">
        {d.mimeType && (
          <Badge>
            <T>{d.mimeType}</T>
          </Badge>
        )}
        <T class="mono">{uri}</T>
      </div>
    </a>
  );
}

const RESOURCES = "Resources";
const TEMPLATES = "Templates";

function Filters({ server, kind }: { server: string; kind: string }) {
  return (
    <>
      <ServerSelect value={server} onChange={(name) => setQuery({ server: name })} />
      <Sides
        label="Show"
        sides={[RESOURCES, TEMPLATES]}
        side={kind}
        onSide={(side) => setQuery({ kind: side === TEMPLATES ? "templates" : undefined })}
      />
    </>
  );
}

function Nothing({ what, narrowed }: { what: string; narrowed: boolean }) {
  return (
    <Empty title={`No ${what}`}>
      {narrowed ? (
        <button type="button" class="button" onClick={() => go("resources")}>
          Show all
        </button>
      ) : (
        <p>No connected server offers any.</p>
      )}
    </Empty>
  );
}

function ResourceList({ question, kept, chosen }: { question: Question; kept: Record<string, string>; chosen: string }) {
  const list = usePaged(question, readResources);
  return (
    <BrowseList
      list={list}
      one="resource"
      label="Search resources"
      filters={<Filters server={question.server} kind={RESOURCES} />}
      row={(r) => <Row item={r} uri={r.uri} to={{ ...kept, of: r.server, uri: r.uri }} chosen={`${r.server} ${r.uri}` === chosen} />}
      empty={<Nothing what="resources" narrowed={!!(question.q || question.server)} />}
    />
  );
}

function TemplateList({ question, kept, chosen }: { question: Question; kept: Record<string, string>; chosen: string }) {
  const list = usePaged(question, readTemplates);
  return (
    <BrowseList
      list={list}
      one="template"
      label="Search templates"
      filters={<Filters server={question.server} kind={TEMPLATES} />}
      row={(t) => (
        <Row
          item={t}
          uri={t.uriTemplate}
          to={{ ...kept, of: t.server, template: t.uriTemplate }}
          chosen={`${t.server} ${t.uriTemplate}` === chosen}
        />
      )}
      empty={<Nothing what="templates" narrowed={!!(question.q || question.server)} />}
    />
  );
}

/** "of" is whose the chosen one is; "server" narrows the list. */
export function ResourcesPage() {
  const { query } = route.value;
  const question = { q: query.get("q") ?? "", server: query.get("server") ?? "" };
  const kind = query.get("kind") ?? "";
  const of = query.get("of") ?? question.server;
  const uri = query.get("uri") ?? "";
  const template = query.get("template") ?? "";
  const kept = { ...question, kind };
  const what = uri || template;
  const chosen = of && what ? `${of} ${what}` : "";
  return (
    <Panes
      title="Resources"
      chosen={chosen}
      back={withQuery(href("resources"), kept)}
      hint="Choose a resource to read it."
      list={
        kind === "templates" ? (
          <TemplateList question={question} kept={kept} chosen={chosen} />
        ) : (
          <ResourceList question={question} kept={kept} chosen={chosen} />
        )
      }
      detail={uri ? <ResourcePane key={chosen} server={of} uri={uri} /> : <TemplatePane key={chosen} server={of} template={template} />}
    />
  );
}
