// One tool: what it says about itself, a form to call it, and what came of it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ask, at, get } from "../api";
import { Arguments, Sides } from "../form/arguments";
import { problemsOf, type Choices } from "../form/check";
import { asCommand, asCurl } from "../form/copy";
import { emptyArguments, isObject } from "../form/model";
import { href, withQuery } from "../router";
import { catalogVersion } from "../store";
import { tellFailure } from "../toasts";
import type { Annotations, JsonObject, Tool, Unreached } from "../types";
import { JsonTree } from "../ui/json";
import { Badge, Button, Copy, Empty, Spinner, Trouble } from "../ui/parts";
import { oneLine, plural, shown, T } from "../ui/text";
import { Marks } from "./marks";
import { History, RunView } from "./run";
import { cancel, runsOf, start } from "./runs";
import "./tool.css";

// ---- which tool ----

type Found = { tool?: Tool; why?: unknown; missing?: Unreached | true };

/** REST has no question for one tool: it is among those of its server with its name in them. */
async function findTool(server: string, tool: string, signal: AbortSignal): Promise<Found> {
  const name = `${server}/${tool}`;
  const path = withQuery("/api/tools", { server, q: name, limit: "1000" });
  const read = await get<{ tools: Tool[]; failed: Unreached[] }>(path, signal);
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

// ---- calling ----

function CallBox({ tool }: { tool: Tool }) {
  const schema = isObject(tool.definition.inputSchema) ? tool.definition.inputSchema : {};
  const [value, setValue] = useState<JsonObject>(() => emptyArguments(schema));
  const [choices, setChoices] = useState<Choices>(new Map());
  const [side, setSide] = useState("Form");
  const [broken, setBroken] = useState(false);
  const [tried, setTried] = useState(false);
  const [timeout, setTimeoutText] = useState("");
  const [shownRun, setShownRun] = useState("");
  const box = useRef<HTMLFormElement>(null);

  const found = useMemo(() => problemsOf(value, schema, schema, choices), [value, schema, choices]);
  // What is still empty is no mistake before a person wants to call.
  const problems = tried ? found : found.filter((p) => p.text !== "This is required.");
  const all = runsOf(tool.name);
  const current = all.find((r) => r.id === shownRun) ?? all[0];
  const running = all.find((r) => r.state === "running");
  const seconds = Number(timeout) > 0 ? Number(timeout) : undefined;

  const call = (anyway: boolean) => {
    if (broken || running) return;
    setTried(true);
    if (found.length && !anyway) {
      // After the marks have been drawn.
      setTimeout(() => box.current?.querySelector<HTMLElement>(".wrong :is(input, select, textarea, button)")?.focus(), 0);
      return;
    }
    setShownRun("");
    void start(tool.name, value, seconds);
  };
  const useAgain = (args: JsonObject) => {
    setChoices(new Map());
    setValue(structuredClone(args));
    box.current?.scrollIntoView({ block: "nearest" });
  };

  return (
    <>
      <form
        ref={box}
        class="browse-box card"
        aria-label={`Call ${oneLine(tool.definition.name)}`}
        onSubmit={(e) => {
          e.preventDefault();
          call(false);
        }}
        onKeyDown={(e) => {
          if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
          e.preventDefault();
          call(false);
        }}
        noValidate
      >
        <div class="tool-args">
          <h3>Arguments</h3>
          <Sides sides={["Form", "JSON"]} side={side} onSide={setSide} disabled={broken} label="Arguments as" />
          <Button small onClick={() => (setChoices(new Map()), setValue(emptyArguments(schema)), setTried(false), setBroken(false), setSide("Form"))}>
            Reset
          </Button>
        </div>
        <Arguments
          schema={schema}
          value={value}
          side={side}
          problems={problems}
          choices={choices}
          onChange={setValue}
          onChoices={setChoices}
          onBroken={setBroken}
        />
        {side === "Form" && !Object.keys(isObject(schema["properties"]) ? schema["properties"] : {}).length && (
          <p class="faint">This tool names no arguments.</p>
        )}
        {side === "JSON" && problems.length > 0 && (
          <ul class="tool-problems">
            {problems.slice(0, 10).map((p) => (
              <li>
                <code>{oneLine(p.path || "/")}</code> {oneLine(p.text)}
              </li>
            ))}
          </ul>
        )}
        <div class="browse-actions">
          {running ? (
            <Button kind="danger" onClick={() => cancel(running)}>
              Cancel
            </Button>
          ) : (
            <Button type="submit" kind="primary" disabled={broken} title="Ctrl+Enter">
              Call
            </Button>
          )}
          {tried && found.length > 0 && !running && (
            <span class="tool-anyway" role="status">
              {plural(found.length, "thing")} to mend.{" "}
              <Button kind="link" onClick={() => call(true)}>
                Call anyway
              </Button>
            </span>
          )}
          <label class="tool-timeout">
            Timeout{" "}
            <input type="number" min="0.001" step="any" placeholder="default" value={timeout} onInput={(e) => setTimeoutText(e.currentTarget.value)} /> s
          </label>
          <span class="tool-end">
            <Copy text={() => asCurl(location.origin, tool.name, value)}>Copy as curl</Copy>{" "}
            <Copy text={() => asCommand(tool.name, value)}>Copy as command line</Copy>
          </span>
        </div>
      </form>
      {current && <RunView run={current} server={tool.server} />}
      {all.length > 0 && <History all={all} current={current} onShow={(r) => setShownRun(r.id)} onUse={(r) => useAgain(r.args)} />}
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
