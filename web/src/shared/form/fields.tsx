// A form made from a JSON schema: one field for each shape, each within the next.
import { useState } from "preact/hooks";
import type { Json, JsonObject } from "../../hub/types";
import { own } from "../own";
import { Button } from "../ui/parts";
import { oneLine } from "../ui/text";
import { step, variantOf } from "./check";
import { added, isObject, moved, renamed, shapeOf, withMember, type Member, type Shape } from "./model";
import {
  BooleanField,
  ChoiceField,
  FixedField,
  Help,
  marked,
  NumberField,
  RawField,
  TextField,
  type Part,
  type Props,
} from "./single";

const MEMBERS_SHOWN = 100;

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
