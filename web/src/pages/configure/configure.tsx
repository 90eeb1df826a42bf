// Configuring a server: a new one before it is saved, or one that is there.
import { useEffect, useMemo, useState } from "preact/hooks";
import { ask, at, get, post } from "../../hub/api";
import { refreshServers, servers, status } from "../../hub/store";
import type { Candidate, Server, ServerDetail } from "../../hub/types";
import { href, leave, route } from "../../shared/router";
import { toast } from "../../shared/toasts";
import { AskBeforeLeaving } from "../../shared/ui/leave";
import { Button, Empty, Spinner, Trouble } from "../../shared/ui/parts";
import { oneLine, T } from "../../shared/ui/text";
import { Authentication } from "./configure_auth";
import "./configure.css";
import { draft } from "../../shared/entry/draft";
import { authOf, candidateForm, changedServer, elsewhere, formOf, isChanged, isValid, newServer, problemsOf } from "../../shared/entry/entry_form";
import type { Form, Problems } from "../../shared/entry/entry_form";
import { Names, Reach, Treatment } from "./configure_fields";
import { TestConnection } from "./trial";

export function ConfigurePage() {
  const name = route.value.parts[0];
  if (name !== undefined) return <Saved key={name} name={name} />;
  return draft.value ? <Fresh candidate={draft.value} /> : <Nothing />;
}

function Nothing() {
  return (
    <Empty title="There is nothing to configure">
      <p>Start with the server's command, package or URL.</p>
      <a class="button primary" href={href("add")}>
        Add a server
      </a>
    </Empty>
  );
}

function Fresh({ candidate: c }: { candidate: Candidate }) {
  const first = useMemo(() => candidateForm(c), [c]);
  return <Editor first={first} title="Configure the new server" back={href("add")} />;
}

function Saved({ name }: { name: string }) {
  const [server, setServer] = useState<ServerDetail | null>(null);
  const [why, setWhy] = useState<unknown>(null);
  useEffect(() => {
    const gone = new AbortController();
    get(at("/api/servers/{}", name), gone.signal).then(setServer, (e) => {
      if (!gone.signal.aborted) setWhy(e);
    });
    return () => gone.abort();
  }, [name]);

  if (why) return <Trouble why={why} />;
  if (!server)
    return (
      <p>
        <Spinner label="loading" />
      </p>
    );
  const first = formOf({ name, entry: server.spec, auth: authOf(server.spec), saved: true });
  return <Editor first={first} title={server.display_name} back={href("servers")} server={server} />;
}

type EditorProps = { first: Form; title: string; back: string; server?: Server };
function Editor({ first, title, back, server }: EditorProps) {
  const [start] = useState(first);
  const [form, setForm] = useState(start);
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [why, setWhy] = useState<unknown>(null);
  const [saving, setSaving] = useState(false);

  const names = new Set(servers.value.map((s) => s.name));
  const problems = problemsOf(form, names);
  const valid = isValid(form, names);
  // The first answer about this machine may come after the page: until then nobody is locked out.
  const where = server && status.value ? elsewhere(server, status.value.home) : null;

  const change = (c: Partial<Form>) => {
    setForm((f) => ({ ...f, ...c }));
    setTouched((t) => new Set([...t, ...Object.keys(c)]));
  };
  const save = async () => {
    setSaving(true);
    setWhy(null);
    try {
      await send(form);
      done(form);
    } catch (e) {
      setWhy(e);
    } finally {
      setSaving(false);
    }
  };
  const shownProblems = onlyTouched(problems, touched);
  return (
    <form
      class="configure"
      onSubmit={(e) => {
        e.preventDefault();
        if (valid && !saving && !where) void save();
      }}
    >
      <h1>
        <T>{title}</T>
      </h1>
      {where && <Elsewhere where={where} />}
      <div class="card configure-card">
        <fieldset class="configure-all" disabled={!!where}>
          <Names form={form} problems={shownProblems} change={change} taken={names.has(form.name)} />
          <Reach form={form} problems={shownProblems} change={change} />
          <Authentication form={form} problems={shownProblems} change={change} />
          <Treatment form={form} problems={shownProblems} change={change} />
        </fieldset>
        {!where && <TestConnection disabled={!valid} body={() => newServer(form)} />}
      </div>
      {why !== null && <Trouble why={why} />}
      <div class="configure-actions">
        <span class="faint configure-why">{valid || where ? "" : Object.values(problems)[0]}</span>
        <a class="button" href={back}>
          Cancel
        </a>
        <Button type="submit" kind="primary" disabled={!valid || saving || !!where}>
          {saving ? "Saving…" : "Save"}
        </Button>
      </div>
      <AskBeforeLeaving when={isChanged(start, form) && !saving} />
    </form>
  );
}

/** Nothing is called wrong before anybody was there, but a name that is taken. */
function onlyTouched(problems: Problems, touched: ReadonlySet<string>): Problems {
  return Object.fromEntries(Object.entries(problems).filter(([field]) => field === "name" || touched.has(field))) as Problems;
}

async function send(form: Form): Promise<void> {
  if (form.saved) await ask("PUT", at("/api/servers/{}", form.name), changedServer(form));
  else await post("/api/servers", { ...newServer(form), force: form.replace });
}

function done(form: Form): void {
  const name = oneLine(form.displayName || form.name);
  draft.value = null;
  refreshServers();
  toast({ text: form.saved ? `${name} is saved.` : `${name} is added.`, level: "success" });
  leave(href("servers"));
}

function Elsewhere({ where }: { where: string }) {
  return (
    <p class="configure-elsewhere" role="note">
      This server is defined in <code>{oneLine(where)}</code>. Change it there; Patchbay notices. Here it can only be looked
      at.
    </p>
  );
}
