// One prompt: a form for its arguments, and the messages it makes.
import { useEffect, useRef, useState } from "preact/hooks";
import { asked, get, post } from "../../hub/api";
import { catalogVersion } from "../../hub/store";
import type { JsonObject, McpPromptResult, Prompt } from "../../hub/types";
import { withMember } from "../../shared/form/model";
import { own } from "../../shared/own";
import { plainText } from "../../shared/result/kind";
import { ContentView } from "../../shared/result/view";
import { Button, Copy, Empty, Field, Spinner, Trouble } from "../../shared/ui/parts";
import { oneLine, shown, T } from "../../shared/ui/text";
import "../../shared/form/form.css";
import "./prompt.css";

type Found = { prompt?: Prompt; why?: unknown; missing?: string };

async function findPrompt(server: string, prompt: string, signal: AbortSignal): Promise<Found> {
  const name = `${server}/${prompt}`;
  const read = await get(asked("/api/prompts", { server, q: name, limit: "1000" }), signal);
  const hit = read.prompts.find((p) => p.name === name);
  if (hit) return { prompt: hit };
  return { missing: read.failed[0]?.message ?? `${server} has no prompt named ${prompt}.` };
}

function usePrompt(server: string, name: string, known: Prompt | undefined): Found {
  const [found, setFound] = useState<Found>({ prompt: known });
  const version = catalogVersion.value;
  useEffect(() => {
    const abort = new AbortController();
    findPrompt(server, name, abort.signal).then(
      (now) => setFound((old) => (JSON.stringify(old) === JSON.stringify(now) ? old : now)),
      (why) => !abort.signal.aborted && setFound((old) => ({ ...old, why })),
    );
    return () => abort.abort();
  }, [server, name, version]);
  return found;
}

const textOf = (result: McpPromptResult) =>
  result.messages.map((m) => `${m.role}:\n${plainText([m.content])}`).join("\n\n");

function Conversation({ result, prompt }: { result: McpPromptResult; prompt: Prompt }) {
  const messages = Array.isArray(result.messages) ? result.messages : [];
  return (
    <section class="browse-box card" aria-label="Messages">
      {result.description && (
        <p class="faint">
          <T>{result.description}</T>
        </p>
      )}
      {messages.map((m) => (
        <div class={`prompt-message${m.role === "assistant" ? " assistant" : ""}`}>
          <strong>
            <T>{m.role}</T>
          </strong>
          <ContentView content={m.content} server={prompt.server} name={prompt.name} />
        </div>
      ))}
      {!messages.length && <p class="faint">This prompt has no messages.</p>}
      <div class="browse-actions">
        <Copy text={() => textOf({ messages })}>Copy as text</Copy>
        <Copy text={() => JSON.stringify(result, null, 2)}>Copy as JSON</Copy>
      </div>
    </section>
  );
}

type Answer = { result?: McpPromptResult; why?: unknown; busy?: boolean };

function Filling({ prompt }: { prompt: Prompt }) {
  const fields = Array.isArray(prompt.definition.arguments) ? prompt.definition.arguments : [];
  const [values, setValues] = useState<JsonObject>({});
  const [tried, setTried] = useState(false);
  const [answer, setAnswer] = useState<Answer>({});
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const missing = fields.filter((f) => f.required && !Object.hasOwn(values, f.name));

  const preview = async (anyway: boolean) => {
    setTried(true);
    if (missing.length && !anyway) return;
    running.current?.abort();
    const mine = (running.current = new AbortController());
    setAnswer({ busy: true });
    try {
      const { result } = await post("/api/mcp-prompts/get", { prompt: prompt.name, arguments: values }, mine.signal);
      setAnswer({ result });
    } catch (why) {
      if (!mine.signal.aborted) setAnswer({ why });
    }
  };
  const set = (name: string, text: string) => setValues(withMember(values, name, text || undefined));

  return (
    <>
      <form
        class="browse-box card"
        aria-label={`Fill in ${oneLine(prompt.definition.name)}`}
        onSubmit={(e) => {
          e.preventDefault();
          void preview(false);
        }}
        onKeyDown={(e) => {
          if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
          e.preventDefault();
          void preview(false);
        }}
      >
        {fields.map((f) => (
          <Field
            key={f.name}
            label={oneLine(f.name) + (f.required ? " *" : "")}
            help={f.description ? <T>{f.description}</T> : undefined}
            error={tried && missing.includes(f) ? "This is required." : undefined}
          >
            {(id, note) => (
              <textarea
                id={id}
                class="form-text"
                rows={1}
                aria-describedby={note}
                aria-required={f.required === true}
                value={String(own(values, f.name) ?? "")}
                onInput={(e) => set(f.name, e.currentTarget.value)}
              />
            )}
          </Field>
        ))}
        {!fields.length && <p class="faint">This prompt takes no arguments.</p>}
        <div class="browse-actions">
          <Button type="submit" kind="primary" disabled={answer.busy}>
            Preview
          </Button>
          {tried && missing.length > 0 && (
            <Button kind="link" onClick={() => void preview(true)}>
              Preview anyway
            </Button>
          )}
          {answer.busy && <Spinner label="asking" />}
        </div>
      </form>
      {!!answer.why && <Trouble why={answer.why} />}
      {answer.result && <Conversation result={answer.result} prompt={prompt} />}
    </>
  );
}

export function PromptPane({ server, name, known }: { server: string; name: string; known: Prompt | undefined }) {
  const { prompt, why, missing } = usePrompt(server, name, known);
  if (!prompt) {
    if (why) return <Trouble why={why} />;
    if (!missing) return <Spinner label="reading the prompt" />;
    return (
      <Empty title="This prompt is not there">
        <T>{missing}</T>
      </Empty>
    );
  }
  const d = prompt.definition;
  return (
    <article aria-label={`Prompt ${oneLine(d.name)}`}>
      <div class="browse-head">
        <h2>
          <T>{d.title ?? d.name}</T>
        </h2>
        <span class="faint">
          <code>
            <T>{d.name}</T>
          </code>{" "}
          of <T>{prompt.server}</T>
        </span>
      </div>
      {d.description && <p class="browse-text">{shown(d.description)}</p>}
      <Filling prompt={prompt} />
    </article>
  );
}
