// One resource: read and shown by its type; or made of a template first.
import { useEffect, useState } from "preact/hooks";
import { post } from "../../hub/api";
import type { ResourceAnswer } from "../../hub/types";
import { expand, variables } from "../../shared/form/uri";
import { ResourceView } from "../../shared/result/view";
import { Button, Copy, Field, Spinner, Trouble } from "../../shared/ui/parts";
import { T } from "../../shared/ui/text";

type State = { read?: ResourceAnswer; why?: unknown };

function Contents({ read, server, uri }: { read: ResourceAnswer; server: string; uri: string }) {
  if (read.contents) {
    return (
      <>
        {read.contents.map((c) => (
          <div class="browse-box card">
            <code>
              <T>{c.uri}</T>
            </code>
            <ResourceView text={c.text} blob={c.blob} mime={c.mimeType ?? ""} server={server} uri={c.uri ?? uri} />
          </div>
        ))}
      </>
    );
  }
  if (read.content === null) return <p class="faint">This resource has no content.</p>;
  const bytes = read.encoding === "base64";
  return (
    <div class="browse-box card">
      <ResourceView
        text={bytes ? undefined : read.content}
        blob={bytes ? read.content : undefined}
        mime={read.mime_type ?? ""}
        server={server}
        uri={uri}
      />
    </div>
  );
}

function Reading({ server, uri }: { server: string; uri: string }) {
  const [state, setState] = useState<State>({});
  const [times, setTimes] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState({});
    post("/api/mcp-resources/read", { server, uri }, abort.signal).then(
      (read) => setState({ read }),
      (why) => !abort.signal.aborted && setState({ why }),
    );
    return () => abort.abort();
  }, [server, uri, times]);
  return (
    <>
      <div class="browse-actions">
        <Copy text={uri}>Copy URI</Copy>
        <Button small onClick={() => setTimes(times + 1)}>
          Read again
        </Button>
      </div>
      {!state.read && !state.why && <Spinner label="reading" />}
      {!!state.why && <Trouble why={state.why} />}
      {state.read && <Contents read={state.read} server={server} uri={uri} />}
    </>
  );
}

function Head({ title, server, uri }: { title: string; server: string; uri: string }) {
  return (
    <header>
      <div class="browse-head">
        <h2>{title}</h2>
        <span class="faint">
          of <T>{server}</T>
        </span>
      </div>
      <code>
        <T>{uri}</T>
      </code>
    </header>
  );
}

export function ResourcePane({ server, uri }: { server: string; uri: string }) {
  return (
    <article aria-label="Resource">
      <Head title="Resource" server={server} uri={uri} />
      <Reading server={server} uri={uri} />
    </article>
  );
}

export function TemplatePane({ server, template }: { server: string; template: string }) {
  const names = variables(template);
  const [values, setValues] = useState<ReadonlyMap<string, string>>(new Map());
  const [asked, setAsked] = useState("");
  const uri = expand(template, values);
  const set = (name: string, text: string) => {
    const next = new Map(values);
    if (text) next.set(name, text);
    else next.delete(name);
    setValues(next);
  };
  return (
    <article aria-label="Resource template">
      <Head title="Template" server={server} uri={template} />
      <form
        class="browse-box card"
        aria-label="Fill the template"
        onSubmit={(e) => {
          e.preventDefault();
          setAsked(uri);
        }}
      >
        {names.map((name) => (
          <Field label={name}>
            {(id) => (
              <input
                id={id}
                value={values.get(name) ?? ""}
                spellcheck={false}
                autocomplete="off"
                onInput={(e) => set(name, e.currentTarget.value)}
              />
            )}
          </Field>
        ))}
        <div>
          <span class="faint">Reads </span>
          <code aria-live="polite">
            <T>{uri}</T>
          </code>
        </div>
        <div class="browse-actions">
          <Button type="submit" kind="primary">
            Read
          </Button>
        </div>
      </form>
      {asked && <Reading key={asked} server={server} uri={asked} />}
    </article>
  );
}
