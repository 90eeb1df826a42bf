// Fields for single values: text, numbers, choices, and JSON where there is no better.
import { useState } from "preact/hooks";
import type { Json, JsonObject } from "../../hub/types";
import { own } from "../own";
import { Field } from "../ui/parts";
import { oneLine, shown } from "../ui/text";
import type { Choices } from "./check";
import { looseText, loosely, plain, sameJson, type Shape } from "./model";
import "./form.css";

export interface Form {
  root: JsonObject;
  problems: ReadonlyMap<string, string>; // by path
  choices: Choices;
  choose: (path: string, i: number) => void;
}

export interface Props<K extends Shape["kind"] = Shape["kind"]> {
  form: Form;
  schema: Json;
  shape: Extract<Shape, { kind: K }>;
  value: Json | undefined;
  path: string;
  label: string;
  required: boolean;
  unmarked?: boolean; // a row that is there is always required: no star
  onChange: (value: Json | undefined) => void;
}
export type Part = Omit<Props, "shape">;

const text = (p: Part, key: string) => {
  const v = own(plain(p.schema, p.form.root), key);
  return typeof v === "string" ? v : "";
};
export const marked = (p: Part) => oneLine(p.label) + (p.required && !p.unmarked ? " *" : "");

export function Help({ of, hint }: { of: Part; hint?: string }) {
  const description = text(of, "description");
  const title = text(of, "title");
  const words = [title !== of.label ? title : "", description, hint ?? ""].filter(Boolean).join("\n");
  return words ? <bdi class="form-help">{shown(words)}</bdi> : null;
}

function helpOf(p: Part, hint?: string) {
  return text(p, "description") || text(p, "title") || hint ? <Help of={p} hint={hint} /> : undefined;
}

/** What every control of a field has. */
function control(p: Part, id: string, note: string | undefined) {
  return {
    id,
    "aria-describedby": note,
    "aria-invalid": p.form.problems.has(p.path),
    "aria-required": p.required,
  };
}

// ---- single values ----

const FORMATS: Record<string, { hint: string; sample: string; mode?: "email" | "url" }> = {
  date: { hint: "A date.", sample: "2025-01-31" },
  time: { hint: "A time.", sample: "12:30:00Z" },
  "date-time": { hint: "Date and time.", sample: "2025-01-31T12:30:00Z" },
  email: { hint: "An e-mail address.", sample: "name@example.org", mode: "email" },
  uri: { hint: "A URI.", sample: "https://example.org/", mode: "url" },
  uuid: { hint: "A UUID.", sample: "123e4567-e89b-12d3-a456-426614174000" },
};

function sampleOf(p: Part, other: string): string {
  const examples = own(plain(p.schema, p.form.root), "examples");
  const first = Array.isArray(examples) ? examples[0] : undefined;
  return first === undefined ? other : oneLine(typeof first === "string" ? first : JSON.stringify(first));
}

export function TextField(p: Props<"text">) {
  const format = own(FORMATS, p.shape.format);
  const value = typeof p.value === "string" ? p.value : "";
  const common = {
    value,
    placeholder: sampleOf(p, format?.sample ?? ""),
    spellcheck: false,
    autocomplete: "off",
    // Nothing typed is nothing sent: the other side of the form can send an empty text.
    onInput: (e: { currentTarget: { value: string } }) => p.onChange(e.currentTarget.value || undefined),
  };
  const isDate = p.shape.format === "date" && /^(\d{4}-\d\d-\d\d)?$/.test(value);
  return (
    <Field label={marked(p)} help={helpOf(p, format?.hint)} error={p.form.problems.get(p.path)}>
      {(id, note) => {
        const all = { ...control(p, id, note), ...common };
        if (isDate) return <input type="date" class="form-number" {...all} />;
        if (p.shape.format === "password") return <input type="password" {...all} />;
        if (format) return <input type="text" inputMode={format.mode ?? "text"} {...all} />;
        // Of more than one line: pasted text must not lose its lines.
        return <textarea class={`form-text${p.shape.long ? " long" : ""}`} rows={p.shape.long ? 4 : 1} {...all} />;
      }}
    </Field>
  );
}

export function NumberField(p: Props<"number">) {
  const { whole, min, max, step: by } = p.shape;
  const [typed, setTyped] = useState("");
  // "1.0" is 1: what a person is typing stays until it means something else.
  const value = typed !== "" && Number(typed) === p.value ? typed : typeof p.value === "number" ? String(p.value) : "";
  const range = min !== undefined && max !== undefined ? `${min} to ${max}.` : min !== undefined ? `At least ${min}.` : max !== undefined ? `At most ${max}.` : "";
  return (
    <Field label={marked(p)} help={helpOf(p, range)} error={p.form.problems.get(p.path)}>
      {(id, note) => (
        <input
          type="number"
          class="form-number"
          min={min}
          max={max}
          step={by ?? (whole ? 1 : "any")}
          placeholder={sampleOf(p, "")}
          {...control(p, id, note)}
          value={value}
          onInput={(e) => {
            const now = e.currentTarget.value;
            setTyped(now);
            p.onChange(now === "" ? undefined : Number(now));
          }}
        />
      )}
    </Field>
  );
}

export function ChoiceField(p: Props<"choice">) {
  const at = p.value === undefined ? -1 : p.shape.options.findIndex((o) => sameJson(o.value, p.value));
  return (
    <Field label={marked(p)} help={helpOf(p)} error={p.form.problems.get(p.path)}>
      {(id, note) => (
        <select
          {...control(p, id, note)}
          value={String(at)}
          onChange={(e) => p.onChange(p.shape.options[Number(e.currentTarget.value)]?.value)}
        >
          <option value="-1">{p.required ? "choose…" : "not set"}</option>
          {p.shape.options.map((o, i) => (
            <option value={String(i)}>{oneLine(o.label)}</option>
          ))}
        </select>
      )}
    </Field>
  );
}

const STATES: [string, boolean | undefined][] = [
  ["not set", undefined],
  ["yes", true],
  ["no", false],
];

export function BooleanField(p: Props<"boolean">) {
  const error = p.form.problems.get(p.path);
  const states = p.required ? STATES.slice(1) : STATES;
  if (!p.required || (p.value !== undefined && typeof p.value !== "boolean")) {
    return (
      <Field label={marked(p)} help={helpOf(p)} error={error}>
        {(id, note) => (
          <select
            {...control(p, id, note)}
            value={p.value === undefined ? "not set" : p.value === true ? "yes" : "no"}
            onChange={(e) => p.onChange(STATES.find(([word]) => word === e.currentTarget.value)?.[1])}
          >
            {states.map(([word]) => (
              <option value={word}>{word}</option>
            ))}
          </select>
        )}
      </Field>
    );
  }
  return (
    <Field label={marked(p)} help={helpOf(p)} error={error}>
      {(id, note) => (
        <input
          type="checkbox"
          class="form-check"
          {...control(p, id, note)}
          checked={p.value === true}
          onChange={(e) => p.onChange(e.currentTarget.checked)}
        />
      )}
    </Field>
  );
}

/** One value is possible: it is sent, or left out. */
export function FixedField(p: Props<"const" | "null">) {
  const value = p.shape.kind === "const" ? p.shape.value : null;
  return (
    <Field label={marked(p)} help={helpOf(p)} error={p.form.problems.get(p.path)}>
      {(id, note) => (
        <div class="form-fixed">
          <input
            type="checkbox"
            {...control(p, id, note)}
            disabled={p.required && sameJson(p.value, value)}
            checked={sameJson(p.value, value)}
            onChange={(e) => p.onChange(e.currentTarget.checked ? value : undefined)}
          />
          <code>{shown(JSON.stringify(value))}</code>
        </div>
      )}
    </Field>
  );
}

export function RawField(p: Part) {
  const [typed, setTyped] = useState("");
  const value = sameJson(loosely(typed), p.value) ? typed : looseText(p.value);
  const isText = typeof p.value === "string" && loosely(value) === value;
  return (
    <Field
      label={marked(p)}
      help={helpOf(p, isText ? "JSON, or text. This is sent as text." : "JSON, or text.")}
      error={p.form.problems.get(p.path)}
    >
      {(id, note) => (
        <textarea
          class="code form-text"
          rows={2}
          spellcheck={false}
          {...control(p, id, note)}
          value={value}
          onInput={(e) => {
            setTyped(e.currentTarget.value);
            p.onChange(loosely(e.currentTarget.value));
          }}
        />
      )}
    </Field>
  );
}
