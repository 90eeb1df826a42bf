// Looking for a server in the public registries. What is taken from there goes into the one field of
// the page, where it is read like anything else that somebody pastes.
import { useState } from "preact/hooks";
import { post } from "../../hub/api";
import type { RegistryResult, RegistryResults } from "../../hub/types";
import { Badge, Button, Field, Spinner, Trouble } from "../../shared/ui/parts";
import { oneLine, T } from "../../shared/ui/text";
import { asked, type Choice, choices, sources, lineOf } from "./find_state";

type Answer = "none" | "working" | RegistryResults | { why: unknown };

export function Find({ onTake }: { onTake: (text: string) => void }) {
  const [choice, setChoice] = useState<Choice>("");
  const [text, setText] = useState("");
  const [answer, setAnswer] = useState<Answer>("none");
  const find = async () => {
    const wanted = asked(choice, text);
    if (!wanted) return;
    setAnswer("working");
    setAnswer(await post("/api/registry/search", wanted).catch((why: unknown) => ({ why })));
  };
  return (
    <details class="add-find">
      <summary>Find one in a registry</summary>
      <div class="add-find-row">
        <Field label="Registry">
          {(id) => (
            <select id={id} value={choice} onChange={(e) => setChoice(e.currentTarget.value as Choice)}>
              {choices.map((c) => (
                <option value={c.value}>{c.text}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Search for">
          {(id) => (
            <input
              id={id}
              type="search"
              value={text}
              disabled={choice === ""}
              onInput={(e) => setText(e.currentTarget.value)}
              onKeyDown={(e) => {
                if (e.key !== "Enter") return;
                e.preventDefault();
                void find();
              }}
            />
          )}
        </Field>
        <Button onClick={() => void find()} disabled={!asked(choice, text)}>
          Search
        </Button>
      </div>
      <Found answer={answer} onTake={onTake} />
    </details>
  );
}

function Found({ answer, onTake }: { answer: Answer; onTake: (text: string) => void }) {
  if (answer === "none") return null;
  if (answer === "working") return <Spinner label="searching" />;
  if ("why" in answer) return <Trouble why={answer.why} />;
  return (
    <>
      {answer.failed.map((f) => (
        <p class="faint">
          {sources[f.registry]} has not answered: {oneLine(f.message)}
        </p>
      ))}
      {answer.results.length === 0 && <p class="faint">Nothing was found.</p>}
      <ul class="add-results" aria-label="Found in registries">
        {answer.results.map((r) => (
          <Result key={r.name} result={r} onTake={onTake} />
        ))}
      </ul>
    </>
  );
}

function Result({ result: r, onTake }: { result: RegistryResult; onTake: (text: string) => void }) {
  const [why, setWhy] = useState<unknown>(null);
  const take = async () => {
    try {
      const text = lineOf(r) ?? lineOf((await post("/api/registry/server", { name: r.name })).results[0]);
      if (text) onTake(text);
      else setWhy(new Error("The registry does not say how to run it."));
    } catch (e) {
      setWhy(e);
    }
  };
  return (
    <li>
      <strong>
        <T>{r.title ?? r.name}</T>
      </strong>{" "}
      <Badge>{sources[r.source]}</Badge>{" "}
      <Button small label={`Use ${oneLine(r.name)}`} onClick={() => void take()}>
        Use
      </Button>
      <p class="faint">
        <code>{oneLine(r.name)}</code> {r.description && <T>{r.description}</T>}
      </p>
      {why ? <Trouble why={why} /> : null}
    </li>
  );
}
