// Adding a server: one field that understands whatever people have at hand.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { link, post } from "../../hub/api";
import { refreshServers } from "../../hub/store";
import type { Auth, Candidate, CandidateList } from "../../hub/types";
import { Latest } from "../../shared/latest";
import { href, route } from "../../shared/router";
import { GrowingText } from "../../shared/ui/grow";
import { Badge, Button, Field, Spinner, Trouble } from "../../shared/ui/parts";
import { oneLine, plural, shown, T } from "../../shared/ui/text";
import "./add.css";
import { draft } from "../../shared/entry/draft";
import { candidateForm, newServer } from "../../shared/entry/entry_form";
import { blank, canGoOn, chosenOnes, given, goOnText, isCurrent, kindOf, note, paused, refused, runs, toggle, typed, understood } from "./add_state";
import type { AddState } from "./add_state";
import { Find } from "./find";

const PARSE_MS = 150;
const PAUSE_MS = 600;

/** Outlives the page: who comes back from the next screen finds the text as it was. */
const state = signal<AddState>(blank);
const unreached = signal<unknown>(null);

const parser = new Latest<string, CandidateList>(
  PARSE_MS,
  (text, signal) => post("/api/servers/parse", { text }, signal),
  {
    answer(text, { servers }) {
      unreached.value = null;
      state.value = understood(state.value, text, servers);
    },
    failure(text, why) {
      // What is wrong with the text is the field's; that nobody answers is not.
      const mine = (why as { status?: number }).status === 400;
      unreached.value = mine ? null : why;
      state.value = refused(state.value, text, mine && why instanceof Error ? why.message : "");
    },
  },
);

const pausing = new Latest<null, null>(PAUSE_MS, async () => null, {
  answer: () => (state.value = paused(state.value)),
  failure: () => {},
});

function type(text: string): void {
  state.value = typed(state.value, text);
  if (text.trim() === "") {
    parser.stop();
    pausing.stop();
    return;
  }
  parser.want(text);
  pausing.want(null);
}

function fill(text: string): void {
  type(text);
  document.querySelector<HTMLElement>(".add-text")?.focus();
}

const examples: readonly { label: string; text: string }[] = [
  { label: "A command", text: "npx -y @modelcontextprotocol/server-everything" },
  { label: "A package", text: "@modelcontextprotocol/server-memory" },
  { label: "A container", text: "docker run -i --rm mcp/time" },
  { label: "A URL", text: "https://mcp.example.com/mcp" },
  {
    label: "JSON of another client",
    text: JSON.stringify({ mcpServers: { files: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "."] } } }, null, 2),
  },
  { label: "A line of another program", text: "claude mcp add --transport http example https://mcp.example.com/mcp" },
  { label: "TOML of Codex", text: '[mcp_servers.files]\ncommand = "npx"\nargs = ["-y", "@modelcontextprotocol/server-filesystem", "."]' },
];

export function AddPage() {
  const [saving, setSaving] = useState<readonly Candidate[] | null>(null);
  const given = route.value.query.get("text");
  useEffect(() => {
    if (given && given !== state.peek().text) type(given);
  }, [given]);
  useEffect(() => {
    if (link.value === "live" && unreached.peek()) parser.want(state.peek().text);
  }, [link.value]);

  if (saving) return <Saving all={saving} onDone={() => setSaving(null)} />;
  return (
    <div class="add">
      <h1>Add a server</h1>
      <form
        class="card add-form"
        onSubmit={(e) => {
          e.preventDefault();
          if (canGoOn(state.value)) goOn(setSaving);
        }}
      >
        <What />
        <Find onTake={fill} />
        <Understood />
        <div class="add-actions">
          <a class="button" href={href("servers")}>
            Cancel
          </a>
          <Button type="submit" kind="primary" disabled={!canGoOn(state.value)}>
            {goOnText(state.value)}
          </Button>
        </div>
      </form>
    </div>
  );
}

function goOn(save: (all: readonly Candidate[]) => void): void {
  const chosen = chosenOnes(state.value);
  if (state.value.candidates.length > 1) {
    save(chosen);
    return;
  }
  draft.value = chosen[0] ?? null;
  location.hash = href("configure") + "?new=1";
}

function What() {
  const s = state.value;
  return (
    <Field
      label="Command, package, URL or JSON"
      error={note(s)}
      help="As a README or another client's settings give it, an install link of an editor, too. It is read while you type; nothing is run yet."
    >
      {(id, describedBy) => (
        <>
          <GrowingText
            id={id}
            class="mono add-text"
            rows={3}
            focused
            value={s.text}
            describedBy={describedBy}
            placeholder="npx -y @scope/server"
            onText={type}
            onBlur={() => (state.value = paused(state.value))}
            onKeyDown={submitByEnter}
          />
          <div class="add-examples">
            <span class="faint">Try:</span>
            {examples.map((e) => (
              <button type="button" class="add-chip" onClick={() => fill(e.text)}>
                {e.label}
              </button>
            ))}
          </div>
        </>
      )}
    </Field>
  );
}

/** In one line Enter goes on; in several it is part of the text, and Ctrl+Enter goes on. */
function submitByEnter(e: KeyboardEvent): void {
  if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
  const field = e.currentTarget as HTMLTextAreaElement;
  if (!e.ctrlKey && !e.metaKey && /[\n{]/.test(field.value)) return;
  e.preventDefault();
  field.form?.requestSubmit();
}

function Understood() {
  const s = state.value;
  const busy = s.text.trim() !== "" && !isCurrent(s);
  return (
    <section class="add-understood" aria-live="polite" aria-busy={busy} aria-label="What was understood">
      {unreached.value ? (
        <Trouble why={unreached.value} />
      ) : s.candidates.length === 0 ? (
        <p class="faint">{busy ? "Reading…" : "What it means shows up here."}</p>
      ) : s.candidates.length === 1 ? (
        <One candidate={s.candidates[0]!} />
      ) : (
        <Several s={s} />
      )}
    </section>
  );
}

const kinds = { program: "Program", container: "Container", remote: "Remote server" } as const;
const auths: Record<Auth, string> = {
  none: "None that is known",
  api_key: "API key, asked for in the next step",
  keyfile: "Key file, asked for in the next step",
  oauth: "Login in the browser (OAuth)",
};

function One({ candidate: c }: { candidate: Candidate }) {
  const kind = kindOf(c);
  const names = given(c, kind === "remote" ? "headers" : "env");
  return (
    <>
      <dl class="add-facts">
        <dt>Name</dt>
        <dd>
          <T class="add-name">{c.display_name}</T> <code>{oneLine(c.name)}</code>
        </dd>
        <dt>Kind</dt>
        <dd>{kinds[kind]}</dd>
        <dt>{kind === "remote" ? "Asks" : "Runs"}</dt>
        <dd>
          <pre class="add-runs" tabIndex={0}>
            {shown(runs(c))}
          </pre>
        </dd>
        {names.length > 0 && (
          <>
            <dt>{kind === "remote" ? "Headers" : "Variables"}</dt>
            <dd>
              {names.map((n) => (
                <code class="add-given">{oneLine(n)}</code>
              ))}
            </dd>
          </>
        )}
        <dt>Login</dt>
        <dd>{auths[c.auth]}</dd>
      </dl>
      {c.exists && <Replaces name={c.name} />}
      <Warning kinds={[kind]} />
    </>
  );
}

function Replaces({ name }: { name: string }) {
  return (
    <p class="add-warning" role="note">
      There is a server called <code>{oneLine(name)}</code> already. The next step lets you give this one another name, or
      replace it.
    </p>
  );
}

/** Said before anything runs. */
function Warning({ kinds }: { kinds: string[] }) {
  const local = kinds.some((k) => k !== "remote");
  return (
    <p class="faint add-trust">
      {local
        ? "Adding it runs this program on your machine, with your rights. Only add what you trust."
        : "Its tools see what agents send to them. Only add what you trust."}
    </p>
  );
}

function Several({ s }: { s: AddState }) {
  return (
    <fieldset class="add-several">
      <legend>{plural(s.candidates.length, "server")} found</legend>
      {s.candidates.map((c, i) => (
        <label class="add-one">
          <input
            type="checkbox"
            checked={s.chosen.has(i)}
            onChange={() => (state.value = toggle(state.value, i))}
            aria-label={oneLine(c.name)}
          />
          <span class="add-one-text">
            <strong>
              <T>{c.name}</T>
            </strong>{" "}
            <Badge>{kinds[kindOf(c)]}</Badge> {c.exists && <Badge tone="yellow">replaces the one you have</Badge>}
            <code class="add-one-runs">{oneLine(runs(c))}</code>
          </span>
        </label>
      ))}
      <Warning kinds={chosenOnes(s).map(kindOf)} />
    </fieldset>
  );
}

// ---- saving several ----

type Outcome = "waiting" | "working" | "added" | { why: unknown };

function Saving({ all, onDone }: { all: readonly Candidate[]; onDone: () => void }) {
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>(() => all.map(() => "waiting"));
  const started = useRef(false);
  const put = (i: number, o: Outcome) => setOutcomes((now) => now.map((old, j) => (j === i ? o : old)));

  const saveAll = async () => {
    for (const [i, c] of all.entries()) {
      put(i, "working");
      try {
        await post("/api/servers", { ...newServer(candidateForm(c)), force: c.exists });
        put(i, "added");
      } catch (why) {
        put(i, { why });
      }
    }
    refreshServers();
  };
  useEffect(() => {
    if (started.current) return;
    started.current = true;
    void saveAll();
  }, []);

  const finished = outcomes.every((o) => o !== "waiting" && o !== "working");
  const bad = outcomes.some((o) => typeof o === "object");
  useEffect(() => {
    if (finished && !bad) state.value = blank;
  }, [finished]);
  return (
    <div class="add">
      <h1>{finished ? summary(outcomes) : "Adding…"}</h1>
      <ul class="card add-outcomes" aria-live="polite">
        {all.map((c, i) => (
          <li>
            <OutcomeMark outcome={outcomes[i]!} />
            <div>
              <strong>
                <T>{c.name}</T>
              </strong>
              <OutcomeText outcome={outcomes[i]!} />
            </div>
          </li>
        ))}
      </ul>
      <div class="add-actions">
        {bad && (
          <Button onClick={onDone} disabled={!finished}>
            Back
          </Button>
        )}
        <a class="button primary" href={href("servers")}>
          Go to servers
        </a>
      </div>
    </div>
  );
}

function summary(outcomes: readonly Outcome[]): string {
  const added = outcomes.filter((o) => o === "added").length;
  if (added === 0) return "Nothing was added";
  return added === outcomes.length
    ? `${plural(added, "server")} added`
    : `${added} of ${plural(outcomes.length, "server")} added`;
}

function OutcomeMark({ outcome }: { outcome: Outcome }) {
  if (outcome === "working") return <Spinner label="adding" />;
  const mark = outcome === "added" ? "✓" : outcome === "waiting" ? "·" : "✕";
  return (
    <span class={`add-mark ${outcome === "added" ? "green" : outcome === "waiting" ? "" : "red"}`} aria-hidden="true">
      {mark}
    </span>
  );
}

function OutcomeText({ outcome }: { outcome: Outcome }) {
  if (typeof outcome === "object") return <Trouble why={outcome.why} />;
  return <div class="faint">{outcome === "added" ? "Added" : outcome === "working" ? "Adding" : "Waiting"}</div>;
}
