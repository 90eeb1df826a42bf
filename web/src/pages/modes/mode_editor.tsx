// One mode: what it is called, and which tools belong to it, counted while it is changed.
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError, ask, at, post } from "../../hub/api";
import { catalogVersion, modes, refreshModes } from "../../hub/store";
import type { Json, Mode, ModeMatch } from "../../hub/types";
import { Latest } from "../../shared/latest";
import { href, leave } from "../../shared/router";
import { toast } from "../../shared/toasts";
import { GrowingText } from "../../shared/ui/grow";
import { AskBeforeLeaving } from "../../shared/ui/leave";
import { Button, Copy, Dialog, Field, Trouble, WorkButton } from "../../shared/ui/parts";
import { oneLine, plural } from "../../shared/ui/text";
import { shellWord } from "../../shared/words";
import { FilterForm } from "./filter_form";
import { bothOf, filterOf, idFrom, idProblem, typedText } from "./filter_state";
import type { Both } from "./filter_state";

const MATCH_MS = 200;
const SHOWN_NAMES = 30;
export const FULL = "full";

interface Fields {
  readonly id: string;
  readonly name: string;
  readonly icon: string;
}

/** What the daemon knows and this page does not is shown by its JSON side only. */
function bothOfMode(mode: Mode | null): Both {
  const reading = filterOf(mode?.filter ?? "all");
  if ("filter" in reading) return bothOf(reading.filter);
  return { ...bothOf({ kind: "all" }), text: JSON.stringify(mode?.filter, null, 2), error: reading.error };
}

/** `mode` null: a new one. */
export function ModeEditor({ mode }: { mode: Mode | null }) {
  const [start] = useState(() => ({
    fields: { id: mode?.id ?? "", name: mode?.name ?? "", icon: mode?.icon ?? "" } as Fields,
    both: bothOfMode(mode),
  }));
  const [fields, setFields] = useState(start.fields);
  const [both, setBoth] = useState(start.both);
  const [ownId, setOwnId] = useState(mode !== null); // typed by a person, not made from the name
  const [why, setWhy] = useState<unknown>(null);

  const full = mode?.id === FULL;
  const id = ownId ? fields.id : idFrom(fields.name);
  const wrongId = mode ? "" : idProblem(id, modes.value.map((m) => m.id));
  const changed = JSON.stringify([start.fields, start.both.text]) !== JSON.stringify([fields, both.text]);
  const { match, wrong } = useMatch(both.text, both.error);
  const put = (change: Partial<Fields>) => setFields((f) => ({ ...f, ...change }));

  const save = async () => {
    setWhy(null);
    try {
      const icon = fields.icon.trim() || undefined;
      await ask("PUT", at("/api/modes/{}", id), { name: fields.name.trim() || id, icon, filter: JSON.parse(both.text) as Json });
      refreshModes();
      toast({ text: `Mode ${oneLine(fields.name || id)} is saved.`, level: "success" });
      leave(href("modes"));
    } catch (e) {
      setWhy(e);
    }
  };
  return (
    <div class="modes">
      <h1>{mode ? oneLine(mode.name ?? mode.id) : "New mode"}</h1>
      <div class="card modes-card">
        <div class="modes-fields">
          <Text label="Name" value={fields.name} placeholder="Read only" onText={(name) => put({ name })} />
          <Text
            label="Id"
            mono
            disabled={mode !== null}
            value={id}
            error={(ownId || fields.name !== "") && wrongId ? wrongId : undefined}
            help={mode ? "Clients use it: it stays." : "Clients name the mode by it."}
            onText={(text) => {
              setOwnId(text !== "");
              put({ id: text });
            }}
          />
          <Text label="Icon" value={fields.icon} help="A sign or a picture's name. Optional." onText={(icon) => put({ icon })} />
        </div>
        {full ? (
          <p class="faint">This mode is always there and lets every tool through.</p>
        ) : (
          <FilterSides both={both} onChange={setBoth} wrong={wrong} />
        )}
        <Matches match={wrong ? null : match} />
      </div>
      {mode && <HowToUse id={mode.id} />}
      {why !== null && <Trouble why={why} />}
      <div class="modes-actions">
        {mode && !full && <Remove mode={mode} onFailure={setWhy} />}
        <span class="grow" />
        <a class="button" href={href("modes")}>
          Cancel
        </a>
        <WorkButton kind="primary" disabled={!!wrongId || !!wrong || !changed} onClick={save}>
          Save
        </WorkButton>
      </div>
      <AskBeforeLeaving when={changed} />
    </div>
  );
}

type TextProps = {
  label: string;
  value: string;
  onText: (text: string) => void;
  help?: string;
  error?: string;
  placeholder?: string;
  mono?: boolean;
  disabled?: boolean;
};
function Text({ label, value, onText, help, error, placeholder, mono, disabled }: TextProps) {
  return (
    <Field label={label} help={help} error={error}>
      {(fieldId, describedBy) => (
        <input
          id={fieldId}
          class={mono ? "mono" : ""}
          aria-describedby={describedBy}
          aria-invalid={!!error}
          placeholder={placeholder}
          value={value}
          disabled={disabled}
          autocomplete="off"
          onInput={(e) => onText(e.currentTarget.value)}
        />
      )}
    </Field>
  );
}

function FilterSides({ both, onChange, wrong }: { both: Both; onChange: (both: Both) => void; wrong: string }) {
  return (
    <div class="modes-sides">
      <div>
        <h2>Which tools</h2>
        <FilterForm filter={both.filter} onChange={(f) => onChange(bothOf(f))} label="filter" />
      </div>
      <Field label="As JSON" error={wrong} help="The same, as it stands in config.json.">
        {(id, describedBy) => (
          <GrowingText
            id={id}
            class="mono"
            rows={4}
            describedBy={describedBy}
            value={both.text}
            onText={(text) => onChange(typedText(both, text))}
          />
        )}
      </Field>
    </div>
  );
}

// ---- what matches ----

/** `wrong`: with the filter, as this page or the daemon sees it. */
function useMatch(text: string, error: string): { match: ModeMatch | null; wrong: string } {
  const [match, setMatch] = useState<ModeMatch | null>(null);
  const [refusal, setRefusal] = useState("");
  const asker = useMemo(
    () =>
      new Latest<string, ModeMatch>(
        MATCH_MS,
        (json, signal) => post("/api/modes/match", { filter: JSON.parse(json) as Json }, signal),
        {
          answer(_, m) {
            setMatch(m);
            setRefusal("");
          },
          failure: (_, e) => setRefusal(e instanceof ApiError ? oneLine(e.message) : String(e)),
        },
      ),
    [],
  );
  const catalog = catalogVersion.value;
  useEffect(() => {
    if (!error) asker.want(text);
    return () => asker.stop();
  }, [text, error, catalog]);
  return { match, wrong: error || refusal };
}

function Matches({ match }: { match: ModeMatch | null }) {
  return (
    <div class="modes-matches" aria-live="polite">
      {match ? (
        <>
          <strong>
            Matches {match.tools.toLocaleString("en")} of {plural(match.total, "tool")}
          </strong>
          <Names match={match} />
        </>
      ) : (
        <span class="faint">Not counted yet</span>
      )}
    </div>
  );
}

function Names({ match }: { match: ModeMatch }) {
  const names = match.names.slice(0, SHOWN_NAMES);
  return (
    <div class="modes-names" role="group" aria-label="The first that match" tabIndex={0}>
      {names.map((n) => (
        <code>{oneLine(n)}</code>
      ))}
      {match.tools > names.length && <span class="faint">and {(match.tools - names.length).toLocaleString("en")} more</span>}
    </div>
  );
}

// ---- using and removing it ----

function HowToUse({ id }: { id: string }) {
  const url = `${location.origin}/mcp/mode/${encodeURIComponent(id)}`;
  const command = `patchbay mcp --mode ${shellWord(id)}`;
  return (
    <section class="card modes-card" aria-label="How a client uses it">
      <h2>How a client uses it</h2>
      <p class="faint">A client that is connected this way sees only the tools of this mode.</p>
      {[
        { label: "Copy the URL", text: url },
        { label: "Copy the command", text: command },
      ].map((way) => (
        <div class="modes-way">
          <code>{oneLine(way.text)}</code>
          <Copy text={way.text}>{way.label}</Copy>
        </div>
      ))}
    </section>
  );
}

function Remove({ mode, onFailure }: { mode: Mode; onFailure: (why: unknown) => void }) {
  const [asking, setAsking] = useState(false);
  const remove = async () => {
    try {
      await ask("DELETE", at("/api/modes/{}", mode.id));
      refreshModes();
      toast({ text: `Mode ${oneLine(mode.name ?? mode.id)} is removed.`, level: "success" });
      leave(href("modes"));
    } catch (why) {
      setAsking(false);
      onFailure(why);
    }
  };
  return (
    <>
      <Button kind="danger" onClick={() => setAsking(true)}>
        Delete…
      </Button>
      {asking && (
        <Dialog title={`Delete "${oneLine(mode.name ?? mode.id)}"?`} onClose={() => setAsking(false)}>
          <p>Clients that use this mode are refused from then on. The tools and servers stay.</p>
          <div class="dialog-actions">
            <Button onClick={() => setAsking(false)}>Cancel</Button>
            <WorkButton kind="danger" onClick={remove}>
              Delete
            </WorkButton>
          </div>
        </Dialog>
      )}
    </>
  );
}

