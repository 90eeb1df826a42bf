// A form made from a JSON schema: one field for each shape, each within the next.
import { useState } from "preact/hooks";
import type { Json, JsonObject } from "../types";
import { Button, Field } from "../ui/parts";
import { oneLine, shown } from "../ui/text";
import { step, variantOf, type Choices } from "./check";
import {
  added,
  isObject,
  looseText,
  loosely,
  moved,
  own,
  plain,
  renamed,
  sameJson,
  shapeOf,
  withMember,
  type Member,
  type Shape,
} from "./model";
import "./form.css";

const MEMBERS_SHOWN = 100;

export interface Form {
  root: JsonObject;
  problems: ReadonlyMap<string, string>; // by path
  choices: Choices;
  choose: (path: string, i: number) => void;
}

interface Props<K extends Shape["kind"] = Shape["kind"]> {
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
type Part = Omit<Props, "shape">;

const text = (p: Part, key: string) => {
  const v = own(plain(p.schema, p.form.root), key);
  return typeof v === "string" ? v : "";
};
const marked = (p: Part) => oneLine(p.label) + (p.required && !p.unmarked ? " *" : "");

function Help({ of, hint }: { of: Part; hint?: string }) {
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

function TextField(p: Props<"text">) {
  const format = Object.hasOwn(FORMATS, p.shape.format) ? FORMATS[p.shape.format] : undefined;
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

function NumberField(p: Props<"number">) {
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

function ChoiceField(p: Props<"choice">) {
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

function BooleanField(p: Props<"boolean">) {
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
function FixedField(p: Props<"const" | "null">) {
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

function RawField(p: Part) {
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

// ---- values that hold others ----

type GroupProps = { of: Part; children: preact.ComponentChildren; end?: preact.ComponentChildren };
function Group({ of, children, end }: GroupProps) {
  const error = of.form.problems.get(of.path);
  return (
    <fieldset class={`form-group${error ? " wrong" : ""}`}>
      <legend>
        {marked(of)} {end}
      </legend>
      <Help of={of} />
      {error && (
        <div class="form-error" role="alert">
          {oneLine(error)}
        </div>
      )}
      {children}
    </fieldset>
  );
}

function ListField(p: Props<"list">) {
  const items = Array.isArray(p.value) ? p.value : [];
  const set = (next: Json[]) => p.onChange(next.length || p.required ? next : undefined);
  const what = oneLine(p.label);
  return (
    <Group of={p}>
      {items.map((item, i) => (
        <div class="form-row" key={i}>
          <div class="form-row-field">
            <PartField
              form={p.form}
              schema={p.shape.item(i)}
              value={item}
              path={step(p.path, i)}
              label={`${p.label} ${i + 1}`}
              required={true}
              unmarked
              onChange={(v) => set(items.map((old, k) => (k === i ? (v ?? "") : old)))}
            />
          </div>
          <div class="form-row-actions">
            <Button kind="plain" small label={`Move ${what} ${i + 1} up`} disabled={i === 0} onClick={() => set(moved(items, i, i - 1))}>
              ↑
            </Button>
            <Button
              kind="plain"
              small
              label={`Move ${what} ${i + 1} down`}
              disabled={i === items.length - 1}
              onClick={() => set(moved(items, i, i + 1))}
            >
              ↓
            </Button>
            <Button kind="plain" small label={`Remove ${what} ${i + 1}`} onClick={() => set(items.filter((_, k) => k !== i))}>
              ✕
            </Button>
          </div>
        </div>
      ))}
      <Button
        small
        label={`Add to ${what}`}
        disabled={items.length >= p.shape.max}
        onClick={() => set([...items, added(p.shape.item(items.length), p.form.root)])}
      >
        Add
      </Button>
    </Group>
  );
}

/** A name that is taken over when the field is left: each letter would make another member. */
function KeyField({ name, taken, onRename }: { name: string; taken: (key: string) => boolean; onRename: (to: string) => void }) {
  const [typed, setTyped] = useState(name);
  const double = typed !== name && taken(typed);
  return (
    <input
      class="form-key mono"
      aria-label={`Name of ${oneLine(name)}`}
      aria-invalid={double}
      title={double ? "There is one of this name" : undefined}
      value={typed}
      onInput={(e) => setTyped(e.currentTarget.value)}
      onBlur={() => !double && onRename(typed)}
    />
  );
}

function ExtraRows({ of, extra, known, value }: { of: Props<"object">; extra: Json; known: Set<string>; value: JsonObject }) {
  const rows = Object.entries(value).filter(([key]) => !known.has(key));
  const free = () => {
    for (let i = 1; ; i++) if (!Object.hasOwn(value, `name${i}`)) return `name${i}`;
  };
  return (
    <>
      {rows.map(([key, item]) => (
        <div class="form-row" key={key}>
          <KeyField name={key} taken={(k) => Object.hasOwn(value, k)} onRename={(to) => of.onChange(renamed(value, key, to))} />
          <div class="form-row-field">
            <PartField
              form={of.form}
              schema={extra}
              value={item}
              path={step(of.path, key)}
              label={key}
              required={true}
              unmarked
              onChange={(v) => of.onChange(withMember(value, key, v ?? ""))}
            />
          </div>
          <Button kind="plain" small label={`Remove ${oneLine(key)}`} onClick={() => of.onChange(withMember(value, key, undefined))}>
            ✕
          </Button>
        </div>
      ))}
      <Button small onClick={() => of.onChange(withMember(value, free(), added(extra, of.form.root)))}>
        Add a name
      </Button>
    </>
  );
}

function Members(p: Props<"object">) {
  const [all, setAll] = useState(false);
  const value = isObject(p.value) ? p.value : {};
  const { members, extra } = p.shape;
  const known = new Set(members.map((m) => m.name));
  // What is there is shown, also when the schema does not know it.
  const more = extra ?? (Object.keys(value).some((key) => !known.has(key)) ? {} : null);
  return (
    <>
      {(all ? members : members.slice(0, MEMBERS_SHOWN)).map((m: Member) => (
        <PartField
          key={m.name}
          form={p.form}
          schema={m.schema}
          value={own(value, m.name)}
          path={step(p.path, m.name)}
          label={m.name}
          required={m.required}
          onChange={(v) => p.onChange(withMember(value, m.name, v))}
        />
      ))}
      {!all && members.length > MEMBERS_SHOWN && (
        <Button kind="link" onClick={() => setAll(true)}>
          {members.length - MEMBERS_SHOWN} more
        </Button>
      )}
      {more !== null && <ExtraRows of={p} extra={more} known={known} value={value} />}
    </>
  );
}

/** One that may be left out opens on demand: so does a schema that is made of itself. */
function ObjectField(p: Props<"object">) {
  if (p.path === "") return <Members {...p} />;
  const what = oneLine(p.label);
  if (p.value === undefined) {
    return (
      <Group of={p}>
        <Button small label={`Add ${what}`} onClick={() => p.onChange(added(p.schema, p.form.root))}>
          Add
        </Button>
      </Group>
    );
  }
  const remove = (
    <Button kind="plain" small label={`Remove ${what}`} onClick={() => p.onChange(undefined)}>
      ✕
    </Button>
  );
  return (
    <Group of={p} end={p.required ? null : remove}>
      <Members {...p} />
    </Group>
  );
}

/** The frame is there already: members need no second one, and nothing needs no field. */
function VariantInside(p: Part) {
  const shape = shapeOf(p.schema, p.form.root);
  if (shape.kind === "null") return null;
  if (shape.kind === "object" && isObject(p.value)) return <Members {...p} shape={shape} />;
  return <PartField {...p} />;
}

function VariantField(p: Props<"variants">) {
  const { variants } = p.shape;
  const unset = p.value === undefined && !p.required && !p.form.choices.has(p.path);
  const at = unset ? -1 : variantOf(p.value, variants, p.form.root, p.form.choices, p.path);
  const chosen = variants[at];
  const change = (i: number) => {
    p.form.choose(p.path, i);
    p.onChange(i < 0 ? undefined : added(variants[i]!.schema, p.form.root));
  };
  return (
    <Group of={p}>
      <select aria-label={`Kind of ${oneLine(p.label)}`} value={String(at)} onChange={(e) => change(Number(e.currentTarget.value))}>
        {!p.required && <option value="-1">not set</option>}
        {variants.map((v, i) => (
          <option value={String(i)}>{oneLine(v.title)}</option>
        ))}
      </select>
      {chosen && <VariantInside {...p} key={at} schema={chosen.schema} />}
    </Group>
  );
}

// ---- which of them ----

/** A value of another type than its field can hold is shown as JSON, so that it can be seen and mended. */
function fits(shape: Shape, value: Json | undefined): boolean {
  if (value === undefined) return true;
  if (shape.kind === "list") return Array.isArray(value);
  if (shape.kind === "object") return isObject(value);
  if (shape.kind === "text") return typeof value === "string";
  if (shape.kind === "number") return typeof value === "number";
  return true;
}

export function PartField(p: Part) {
  const shape = shapeOf(p.schema, p.form.root);
  if (!fits(shape, p.value)) return <RawField {...p} />;
  switch (shape.kind) {
    case "text":
      return <TextField {...p} shape={shape} />;
    case "number":
      return <NumberField {...p} shape={shape} />;
    case "choice":
      return <ChoiceField {...p} shape={shape} />;
    case "boolean":
      return <BooleanField {...p} shape={shape} />;
    case "const":
    case "null":
      return <FixedField {...p} shape={shape} />;
    case "list":
      return <ListField {...p} shape={shape} />;
    case "object":
      return <ObjectField {...p} shape={shape} />;
    case "variants":
      return <VariantField {...p} shape={shape} />;
    case "raw":
      return <RawField {...p} />;
  }
}
