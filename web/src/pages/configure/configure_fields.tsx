// The fields of a server: what it is called, how it is reached, how it is treated.
import { hasHidden } from "../../shared/entry/entry_form";
import type { Form, Problems } from "../../shared/entry/entry_form";
import { GrowingText } from "../../shared/ui/grow";
import { Field } from "../../shared/ui/parts";
import { oneLine } from "../../shared/ui/text";
import { splitWords } from "../../shared/words";
import { Pairs } from "./pairs";

type Props = { form: Form; problems: Problems; change: (change: Partial<Form>) => void };

type LineProps = {
  label: string;
  value: string;
  onText: (text: string) => void;
  help?: string;
  error?: string;
  placeholder?: string;
  mono?: boolean;
  disabled?: boolean;
  number?: boolean;
};
function Line({ label, value, onText, help, error, placeholder, mono, disabled, number }: LineProps) {
  return (
    <Field label={label} help={help} error={error}>
      {(id, describedBy) => (
        <input
          id={id}
          class={mono ? "mono" : ""}
          aria-describedby={describedBy}
          aria-invalid={!!error}
          inputMode={number ? "decimal" : undefined}
          placeholder={placeholder}
          value={value}
          disabled={disabled}
          spellcheck={false}
          autocomplete="off"
          onInput={(e) => onText(e.currentTarget.value)}
        />
      )}
    </Field>
  );
}

export function Names({ form, problems, change, taken }: Props & { taken: boolean }) {
  return (
    <div class="configure-two">
      <div>
        <Line
          label="Name"
          mono
          value={form.name}
          disabled={form.saved}
          error={problems.name}
          help={form.saved ? "Clients know it by this name: it stays." : "Letters, digits, _ and -. Its tools are called name/tool."}
          onText={(name) => change({ name: name.trim(), replace: false })}
        />
        {!form.saved && taken && (
          <label class="configure-choice">
            <input type="checkbox" checked={form.replace} onChange={(e) => change({ replace: e.currentTarget.checked })} />
            <span>Replace the one that is there</span>
          </label>
        )}
      </div>
      <Line
        label="Display name"
        value={form.displayName}
        placeholder={form.name}
        help="What people read. Optional."
        onText={(displayName) => change({ displayName })}
      />
    </div>
  );
}

const HIDDEN = "*** stands for what is not shown; it stays as it is.";

export function Reach({ form, problems, change }: Props) {
  if (form.remote)
    return (
      <>
        <Line label="URL" mono value={form.url} error={problems.url} help={hasHidden(form) ? HIDDEN : undefined} onText={(url) => change({ url })} />
        <PairsField label="Headers" error={problems.headers}>
          <Pairs label="Headers" one="header" all={form.headers} onChange={(headers) => change({ headers })} />
        </PairsField>
      </>
    );
  return (
    <>
      <Field
        label="Command line"
        error={problems.line}
        help={`Run directly, without a shell. \${NAME} is filled in from Patchbay's environment. ${hasHidden(form) ? HIDDEN : ""}`}
      >
        {(id, describedBy) => (
          <GrowingText id={id} class="mono" describedBy={describedBy} value={form.line} onText={(line) => change({ line })} />
        )}
      </Field>
      <Words line={form.line} />
      <PairsField label="Variables" error={problems.env}>
        <Pairs label="Variables" one="variable" all={form.env} onChange={(env) => change({ env })} />
      </PairsField>
    </>
  );
}

/** How the line is taken apart: a forgotten quote is seen at once. */
function Words({ line }: { line: string }) {
  return (
    <div class="configure-words" aria-hidden="true">
      {(splitWords(line) ?? []).map((w) => (
        <code>{w === "" ? "(empty)" : oneLine(w)}</code>
      ))}
    </div>
  );
}

function PairsField({ label, error, children }: { label: string; error?: string; children: preact.JSX.Element }) {
  return (
    <div class={`field${error ? " wrong" : ""}`}>
      <span class="configure-label">{label}</span>
      {children}
      {error && (
        <div class="note" role="alert">
          {error}
        </div>
      )}
    </div>
  );
}

export function Treatment({ form, problems, change }: Props) {
  return (
    <details class="configure-more" open={!!problems.timeout}>
      <summary>More</summary>
      <div class="configure-two">
        {!form.remote && (
          <Line label="Directory it runs in" mono value={form.cwd} placeholder="Patchbay's own" onText={(cwd) => change({ cwd })} />
        )}
        <Line
          label="Timeout of a call, in seconds"
          number
          value={form.timeout}
          placeholder="30"
          error={problems.timeout}
          onText={(timeout) => change({ timeout })}
        />
      </div>
      <label class="configure-choice">
        <input type="checkbox" checked={form.lazy} onChange={(e) => change({ lazy: e.currentTarget.checked })} />
        <span>
          Start it when it is first needed
          <span class="faint configure-choice-help">Otherwise it is started with Patchbay, and kept.</span>
        </span>
      </label>
      <div class="configure-two">
        <Globs label="Only these tools" value={form.enabledTools} onText={(enabledTools) => change({ enabledTools })} />
        <Globs label="Not these tools" value={form.disabledTools} onText={(disabledTools) => change({ disabledTools })} />
      </div>
    </details>
  );
}

function Globs({ label, value, onText }: { label: string; value: string; onText: (text: string) => void }) {
  return (
    <Field label={label} help="One per line. * stands for anything, as in read_*.">
      {(id, describedBy) => <GrowingText id={id} class="mono" rows={2} describedBy={describedBy} value={value} onText={onText} />}
    </Field>
  );
}
