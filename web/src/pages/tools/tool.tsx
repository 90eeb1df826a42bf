// One tool: what it says about itself, and a form to call it.
import { useEffect, useState } from "preact/hooks";
import { ask, asked, at, get } from "../../hub/api";
import { catalogVersion } from "../../hub/store";
import type { Annotations, Tool, Unreached } from "../../hub/types";
import { href } from "../../shared/router";
import { tellFailure } from "../../shared/toasts";
import { JsonTree } from "../../shared/ui/json";
import { Badge, Empty, Spinner, Trouble } from "../../shared/ui/parts";
import { oneLine, shown, T } from "../../shared/ui/text";
import { CallBox } from "./call_box";
import { Marks } from "./marks";
import "./tool.css";

// ---- which tool ----

type Found = { tool?: Tool; why?: unknown; missing?: Unreached | true };

/** REST has no question for one tool: it is among those of its server with its name in them. */
async function findTool(server: string, tool: string, signal: AbortSignal): Promise<Found> {
  const name = `${server}/${tool}`;
  const path = asked("/api/tools", { server, q: name, limit: "1000" });
  const read = await get(path, signal);
  const hit = read.tools.find((t) => t.name === name);
  return hit ? { tool: hit } : { missing: read.failed[0] ?? true };
}

function useTool(server: string, tool: string, known: Tool | undefined): [Found, () => void] {
  const [found, setFound] = useState<Found>({ tool: known });
  const [looks, setLooks] = useState(0);
  const version = catalogVersion.value;
  useEffect(() => {
    const abort = new AbortController();
    findTool(server, tool, abort.signal).then(
      (now) => setFound((old) => (JSON.stringify(old) === JSON.stringify(now) ? old : now)),
      (why) => !abort.signal.aborted && setFound((old) => ({ ...old, why })),
    );
    return () => abort.abort();
  }, [server, tool, version, looks]);
  return [found, () => setLooks((n) => n + 1)];
}

// ---- what it says about itself ----

function inWords(a: Annotations | undefined): string[] {
  const words: string[] = [];
  if (a?.readOnlyHint === true) words.push("reads only");
  if (a?.readOnlyHint === false) words.push(a.destructiveHint === false ? "adds, but destroys nothing" : "may change or destroy things");
  if (a?.idempotentHint === true && a.readOnlyHint !== true) words.push("calling it twice is like calling it once");
  if (a?.openWorldHint === true) words.push("reaches out to the open world");
  if (a?.openWorldHint === false) words.push("stays within its own system");
  return words;
}

function Switch({ tool, onChanged }: { tool: Tool; onChanged: () => void }) {
  const [busy, setBusy] = useState(false);
  const on = tool.enabled !== false;
  const change = async () => {
    setBusy(true);
    try {
      await ask("PUT", at("/api/servers/{}/tools/{}", tool.server, tool.definition.name), { enabled: !on });
      onChanged();
    } catch (why) {
      tellFailure(`${tool.name} stays ${on ? "on" : "off"}`, why);
    } finally {
      setBusy(false);
    }
  };
  return (
    <label class="tool-switch">
      <input type="checkbox" role="switch" checked={on} disabled={busy} onChange={() => void change()} /> {on ? "Clients see it" : "Switched off"}
    </label>
  );
}

function Head({ tool, onChanged }: { tool: Tool; onChanged: () => void }) {
  const d = tool.definition;
  const words = inWords(d.annotations);
  return (
    <header>
      <div class="browse-head">
        <h2>
          <T>{d.title ?? d.annotations?.title ?? d.name}</T>
        </h2>
        <Marks of={d.annotations} />
        {tool.enabled === false && <Badge tone="yellow">off</Badge>}
        <span class="tool-end">
          <Switch tool={tool} onChanged={onChanged} />
        </span>
      </div>
      <div class="faint">
        <code>
          <T>{d.name}</T>
        </code>{" "}
        of{" "}
        <a href={href("tools", tool.server)}>
          <T>{tool.server}</T>
        </a>
      </div>
      {d.description && <p class="browse-text">{shown(d.description)}</p>}
      {words.length > 0 && <p class="faint">The server says: {words.join("; ")}.</p>}
    </header>
  );
}

function Schemas({ tool }: { tool: Tool }) {
  const { inputSchema, outputSchema } = tool.definition;
  return (
    <>
      <details class="browse-box card">
        <summary>Input schema</summary>
        <JsonTree value={inputSchema} />
      </details>
      {outputSchema && (
        <details class="browse-box card">
          <summary>Output schema</summary>
          <JsonTree value={outputSchema} />
        </details>
      )}
    </>
  );
}

export function ToolPane({ server, tool, known }: { server: string; tool: string; known: Tool | undefined }) {
  const [found, lookAgain] = useTool(server, tool, known);
  if (!found.tool) {
    if (found.why) return <Trouble why={found.why} />;
    if (!found.missing) return <Spinner label="reading the tool" />;
    return (
      <Empty title="This tool is not there">
        <p>
          <T>{found.missing === true ? `${server} has no tool named ${tool}.` : `${found.missing.server}: ${found.missing.message}`}</T>
        </p>
        <a href={href("servers")}>See the servers</a>
      </Empty>
    );
  }
  return (
    <article class="tool" aria-label={`Tool ${oneLine(found.tool.definition.name)}`}>
      <Head tool={found.tool} onChanged={lookAgain} />
      <CallBox tool={found.tool} />
      <Schemas tool={found.tool} />
    </article>
  );
}
