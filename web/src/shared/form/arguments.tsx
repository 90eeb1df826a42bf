// The arguments of a call: a form, and the same as JSON.
import { useEffect, useState } from "preact/hooks";
import type { JsonObject } from "../../hub/types";
import { Field } from "../ui/parts";
import type { Choices, Problem } from "./check";
import { PartField } from "./fields";
import { isObject, sameJson } from "./model";

type SidesProps = { sides: readonly string[]; side: string; onSide: (side: string) => void; disabled?: boolean; label: string };
/** Two ways to look at one thing. */
export function Sides({ sides, side, onSide, disabled, label }: SidesProps) {
  return (
    <div class="form-sides" role="group" aria-label={label}>
      {sides.map((one) => (
        <button type="button" aria-pressed={side === one} disabled={disabled && side !== one} onClick={() => onSide(one)}>
          {one}
        </button>
      ))}
    </div>
  );
}

type JsonSideProps = { value: JsonObject; onChange: (value: JsonObject) => void; onBroken: (broken: boolean) => void };
function JsonSide({ value, onChange, onBroken }: JsonSideProps) {
  const [typed, setTyped] = useState(() => JSON.stringify(value, null, 2));
  const [error, setError] = useState("");
  // The value may change from outside: a call that is used again.
  useEffect(() => {
    if (!error && !sameJson(read(typed), value)) setTyped(JSON.stringify(value, null, 2));
  }, [value]);
  const change = (text: string) => {
    setTyped(text);
    const now = read(text);
    const wrong = typeof now === "string" ? now : "";
    setError(wrong);
    onBroken(!!wrong);
    if (typeof now !== "string") onChange(now);
  };
  return (
    <Field label="Arguments as JSON" error={error || undefined}>
      {(id, note) => (
        <textarea
          id={id}
          class="code form-json"
          spellcheck={false}
          aria-describedby={note}
          aria-invalid={!!error}
          value={typed}
          onInput={(e) => change(e.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** The object, or what is wrong with the text. */
function read(text: string): JsonObject | string {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value as JsonObject) ? (value as JsonObject) : "Arguments are an object: { … }";
  } catch (why) {
    return `This is not JSON: ${(why as Error).message}`;
  }
}

type Props = {
  schema: JsonObject;
  value: JsonObject;
  side: string;
  problems: readonly Problem[];
  choices: Choices;
  onChange: (value: JsonObject) => void;
  onChoices: (choices: Choices) => void;
  onBroken: (broken: boolean) => void;
};
export function Arguments({ schema, value, side, problems, choices, onChange, onChoices, onBroken }: Props) {
  if (side === "JSON") return <JsonSide value={value} onChange={onChange} onBroken={onBroken} />;
  const choose = (path: string, i: number) => {
    const next = new Map(choices);
    if (i < 0) next.delete(path);
    else next.set(path, i);
    onChoices(next);
  };
  const form = { root: schema, problems: new Map(problems.map((p) => [p.path, p.text])), choices, choose };
  return (
    <PartField
      form={form}
      schema={{ additionalProperties: false, ...schema, type: "object" }} // further names only where they are meant
      value={value}
      path=""
      label="Arguments"
      required={true}
      onChange={(v) => onChange(isObject(v) ? v : {})}
    />
  );
}
