// Settings, and what this program is.
import { useEffect, useState } from "preact/hooks";
import { ask, get, post } from "../../hub/api";
import { status } from "../../hub/store";
import type { Setting, SettingList } from "../../hub/types";
import { now } from "../../shared/now";
import { setTheme, theme } from "../../shared/theme";
import type { Theme } from "../../shared/theme";
import { tellFailure, toast } from "../../shared/toasts";
import { AskBeforeLeaving } from "../../shared/ui/leave";
import { Badge, Button, Spinner, Trouble, WorkButton } from "../../shared/ui/parts";
import { duration, oneLine } from "../../shared/ui/text";
import "./settings.css";
import { allRight, defaultText, isChanged, patchOf, problemOf, textOf, titleOf, valueOf } from "./settings_state";
import type { Edits } from "./settings_state";

export function SettingsPage() {
  return (
    <div class="settings">
      <h1>Settings</h1>
      <Table />
      <Appearance />
      <About />
    </div>
  );
}

function Table() {
  const [read, setRead] = useState<SettingList | null>(null);
  const [edits, setEdits] = useState<Edits>(new Map());
  const [why, setWhy] = useState<unknown>(null);
  useEffect(() => {
    const gone = new AbortController();
    get("/api/settings", gone.signal).then(setRead, (e) => {
      if (!gone.signal.aborted) setWhy(e);
    });
    return () => gone.abort();
  }, []);

  const all = read?.settings ?? [];
  const patch = patchOf(all, edits);
  const pending = Object.keys(patch).length;
  const edit = (name: string, value: NonNullable<ReturnType<Edits["get"]>> | null) =>
    setEdits((now) => new Map(now).set(name, value));
  const save = async () => {
    try {
      const answer = await ask("PATCH", "/api/settings", patch);
      setRead(answer);
      setEdits(new Map());
      setWhy(null);
      toast({ text: `Saved. It takes effect ${answer.takes_effect}.`, level: "success" });
    } catch (e) {
      setWhy(e);
    }
  };
  if (!read) return <div class="card settings-card settings-wait">{why ? <Trouble why={why} /> : <Spinner label="loading" />}</div>;
  return (
    <section class="card settings-card" aria-label="Settings of the daemon">
      <p class="faint">What you change here is saved in config.json and takes effect at once, unless it says otherwise.</p>
      {all.map((s) => (
        <Row setting={s} edits={edits} onEdit={(v) => edit(s.name, v)} />
      ))}
      {why !== null && <Trouble why={why} />}
      <div class={`settings-actions${pending ? " pending" : ""}`}>
        <span class="faint">{pending ? `${pending} not saved` : ""}</span>
        <Button disabled={edits.size === 0} onClick={() => setEdits(new Map())}>
          Discard
        </Button>
        <WorkButton kind="primary" disabled={!pending || !allRight(all, edits)} onClick={save}>
          Save
        </WorkButton>
      </div>
      <AskBeforeLeaving when={pending > 0} />
    </section>
  );
}

type Edit = boolean | string | { text: string } | null;
type RowProps = { setting: Setting; edits: Edits; onEdit: (value: Edit) => void };

function Row({ setting: s, edits, onEdit }: RowProps) {
  const problem = problemOf(s, edits);
  const changed = isChanged(s, edits);
  const id = `setting-${s.name}`;
  return (
    <div class={`settings-row${problem ? " field wrong" : ""}`}>
      <div class="settings-text">
        <label for={id}>{titleOf(s)}</label> {changed && <Badge tone="yellow">changed</Badge>}
        <div class="faint" id={id + "-help"}>
          {oneLine(s.help)}
        </div>
      </div>
      <div class="settings-control">
        <div class="settings-line">
          <Control id={id} setting={s} edits={edits} onEdit={onEdit} />
          {s.kind === "seconds" && <span class="faint">s</span>}
        </div>
        <div class="note">
          {problem || (
            <>
              Default: {oneLine(defaultText(s))}
              {s.applies === "restart" && (s.pending ? "; waits for the next start" : "; at the next start")}{" "}
              {changed && (
                <Button kind="link" small label={`Reset ${titleOf(s)} to its default`} onClick={() => onEdit(null)}>
                  Reset
                </Button>
              )}
            </>
          )}
        </div>
      </div>
    </div>
  );
}

function Control({ id, setting: s, edits, onEdit }: RowProps & { id: string }) {
  const common = { id, "aria-describedby": id + "-help" };
  const fallback = defaultText(s);
  if (s.kind === "boolean") {
    const value = valueOf(s, edits) ?? fallback === "on";
    return <input {...common} type="checkbox" checked={value === true} onChange={(e) => onEdit(e.currentTarget.checked)} />;
  }
  if (s.kind === "word")
    return (
      <select {...common} value={textOf(s, edits) || fallback} onChange={(e) => onEdit(e.currentTarget.value)}>
        {(s.words ?? []).map((w) => (
          <option value={w}>{w}</option>
        ))}
      </select>
    );
  return (
    <input
      {...common}
      inputMode={s.kind === "text" ? "text" : "decimal"}
      class={s.kind === "text" ? "" : "settings-number"}
      aria-invalid={!!problemOf(s, edits)}
      placeholder={fallback}
      value={textOf(s, edits)}
      spellcheck={false}
      autocomplete="off"
      onInput={(e) => onEdit({ text: e.currentTarget.value })}
    />
  );
}

const themes: readonly { theme: Theme; label: string }[] = [
  { theme: "system", label: "As the system has it" },
  { theme: "light", label: "Light" },
  { theme: "dark", label: "Dark" },
];

function Appearance() {
  return (
    <fieldset class="card settings-card settings-theme">
      <legend>Appearance</legend>
      {themes.map((t) => (
        <label>
          <input type="radio" name="theme" checked={theme.value === t.theme} onChange={() => setTheme(t.theme)} /> {t.label}
        </label>
      ))}
    </fieldset>
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_048_576).toFixed(1)} MB`;
}

function About() {
  const s = status.value;
  const reload = async () => {
    try {
      await post("/api/reload");
      toast({ text: "The config has been read again.", level: "success" });
    } catch (why) {
      tellFailure("The config was not read", why);
    }
  };
  const facts: [string, string | null | undefined][] = [
    ["Version", s?.version],
    ["Address", s?.url],
    ["Home", s?.home],
    ["Config", s?.files.join("\n")],
    ["Memory", s && megabytes(s.memory_bytes)],
    ["Running for", s?.started_at === undefined ? null : duration(Math.max(0, now.value - s.started_at * 1000))],
    ["Process", s && String(s.pid)],
  ];
  return (
    <section class="card settings-card" aria-label="About">
      <h2>About</h2>
      <dl class="settings-about">
        {facts.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{!value ? "–" : value.split("\n").map((line) => <div>{oneLine(line)}</div>)}</dd>
          </>
        ))}
      </dl>
      <div class="settings-links">
        <a href="/docs" target="_blank" rel="noopener noreferrer">
          REST, for people
        </a>
        <a href="/openapi.json" target="_blank" rel="noopener noreferrer">
          OpenAPI, for programs
        </a>
        <span class="grow" />
        <WorkButton onClick={reload}>Reload config</WorkButton>
      </div>
    </section>
  );
}
