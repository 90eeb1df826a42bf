// How a server knows who asks: nothing, a key that we keep, a file that it reads, or a login.
import type { Auth } from "../../hub/types";
import type { Form, Key, Problems } from "../../shared/entry/entry_form";
import { Badge, Field } from "../../shared/ui/parts";

type Props = { form: Form; problems: Problems; change: (change: Partial<Form>) => void };

const choices: readonly { auth: Auth; label: string; help: string }[] = [
  { auth: "none", label: "None", help: "Anybody may use it, or it looks after that itself." },
  { auth: "api_key", label: "API key", help: "Kept by Patchbay in a file that only you can read, not in the config." },
  { auth: "keyfile", label: "Key file", help: "A file with the key in it, read each time the server starts." },
  { auth: "oauth", label: "Login in the browser (OAuth)", help: "You log in when it connects." },
];

export function Authentication({ form, problems, change }: Props) {
  // A login is the server's to offer: it can be kept, not asked for.
  const offered = choices.filter((c) => c.auth !== "oauth" || form.detected === "oauth");
  return (
    <fieldset class="configure-auth">
      <legend>Authentication</legend>
      {offered.map((c) => (
        <label class="configure-choice">
          <input
            type="radio"
            name="auth"
            aria-label={c.label}
            aria-describedby={`auth-${c.auth}`}
            checked={form.auth === c.auth}
            onChange={() => change({ auth: c.auth })}
          />
          <span>
            {c.label} {c.auth === form.detected && c.auth !== "none" && <Badge>detected</Badge>}
            <span class="faint configure-choice-help" id={`auth-${c.auth}`}>
              {c.help}
            </span>
          </span>
        </label>
      ))}
      {form.auth === "api_key" && <Keys form={form} problems={problems} change={change} />}
      {form.auth === "keyfile" && <KeyFile form={form} problems={problems} change={change} />}
    </fieldset>
  );
}

function put(form: Form, i: number, change: Partial<Key>): Partial<Form> {
  return { keys: form.keys.map((k, j) => (j === i ? { ...k, ...change } : k)) };
}

function NameField({ form, i, problems, change }: Props & { i: number }) {
  const key = form.keys[i]!;
  return (
    <Field
      label={form.remote ? "Header" : "Variable"}
      help={form.remote ? "Left empty, it goes as Authorization: Bearer, as most want it." : "The server's manual tells it, for example GITHUB_TOKEN."}
      error={key.name === "" ? problems.keys : undefined}
    >
      {(id, describedBy) => (
        <input
          id={id}
          class="mono"
          aria-describedby={describedBy}
          placeholder={form.remote ? "Authorization: Bearer" : "API_KEY"}
          value={key.name}
          spellcheck={false}
          autocomplete="off"
          onInput={(e) => change(put(form, i, { name: e.currentTarget.value.trim(), stored: false }))}
        />
      )}
    </Field>
  );
}

function Keys(props: Props) {
  const { form, problems, change } = props;
  return (
    <div class="configure-keys">
      {form.keys.map((key, i) => (
        <div class="configure-key">
          <NameField {...props} i={i} />
          <Field
            label={key.required ? "API key" : "API key (optional)"}
            error={key.name !== "" || form.remote ? problems.keys : undefined}
            help={key.stored ? "One is stored. It stays when you leave this empty." : "It is not shown again."}
          >
            {(id, describedBy) => (
              <input
                id={id}
                type="password"
                aria-describedby={describedBy}
                placeholder={key.stored ? "unchanged" : ""}
                value={key.value}
                autocomplete="new-password"
                onInput={(e) => change(put(form, i, { value: e.currentTarget.value }))}
              />
            )}
          </Field>
        </div>
      ))}
    </div>
  );
}

function KeyFile(props: Props) {
  const { form, problems, change } = props;
  return (
    <div class="configure-keys">
      <div class="configure-key">
        <NameField {...props} i={0} />
        <Field label="Path of the file" error={problems.keyfile} help="~ is your home directory.">
          {(id, describedBy) => (
            <input
              id={id}
              class="mono"
              aria-describedby={describedBy}
              placeholder="~/.github_token"
              value={form.keyfile}
              spellcheck={false}
              autocomplete="off"
              onInput={(e) => change({ keyfile: e.currentTarget.value })}
            />
          )}
        </Field>
      </div>
    </div>
  );
}
