// A filter as a small form that holds itself: groups have parts, which are filters again.
import { servers } from "../../hub/store";
import { GrowingText } from "../../shared/ui/grow";
import { Button } from "../../shared/ui/parts";
import { oneLine } from "../../shared/ui/text";
import { asKind, filterKinds, withNewPart, withoutPart, withPart } from "./filter_state";
import type { Filter, FilterKind, Group } from "./filter_state";

type Props = { filter: Filter; onChange: (filter: Filter) => void; label: string };

export function FilterForm({ filter, onChange, label }: Props) {
  return (
    <div class="filter" role="group" aria-label={label}>
      <select
        aria-label={`Kind of ${label}`}
        value={filter.kind}
        onChange={(e) => onChange(asKind(filter, e.currentTarget.value as FilterKind))}
      >
        {filterKinds.map((k) => (
          <option value={k.kind}>{k.label}</option>
        ))}
      </select>
      <Inside filter={filter} onChange={onChange} label={label} />
    </div>
  );
}

function Inside({ filter: f, onChange, label }: Props) {
  switch (f.kind) {
    case "all":
    case "none":
      return null;
    case "servers":
      return <ServerWords words={f.words} onChange={(words) => onChange({ ...f, words })} />;
    case "tools":
    case "toolIDs":
      return (
        <Words
          words={f.words}
          label={`Tools of ${label}`}
          placeholder={f.kind === "tools" ? "read_file" : "server/read_file"}
          onChange={(words) => onChange({ ...f, words })}
        />
      );
    case "pattern":
      return (
        <input
          class="mono filter-wide"
          aria-label={`Pattern of ${label}`}
          placeholder="^read_"
          value={f.pattern}
          spellcheck={false}
          autocomplete="off"
          onInput={(e) => onChange({ ...f, pattern: e.currentTarget.value })}
        />
      );
    case "not":
      return (
        <div class="filter-parts">
          <FilterForm filter={f.part} onChange={(part) => onChange({ ...f, part })} label={`${label}, turned round`} />
        </div>
      );
    case "and":
    case "or":
      return <Parts group={f} onChange={onChange} label={label} />;
  }
}

function Parts({ group, onChange, label }: { group: Group; onChange: (f: Filter) => void; label: string }) {
  return (
    <div class="filter-parts">
      {group.parts.map((part, i) => (
        <div class="filter-part">
          <FilterForm filter={part} onChange={(p) => onChange(withPart(group, i, p))} label={`${label}, part ${i + 1}`} />
          <Button kind="plain" label={`Remove ${label}, part ${i + 1}`} onClick={() => onChange(withoutPart(group, i))}>
            ✕
          </Button>
        </div>
      ))}
      <Button small onClick={() => onChange(withNewPart(group))}>
        + Add a part
      </Button>
    </div>
  );
}

/** Those that are there, and those that the filter names though they are not. */
function ServerWords({ words, onChange }: { words: readonly string[]; onChange: (words: string[]) => void }) {
  const known = servers.value.map((s) => s.name);
  const all = [...known, ...words.filter((w) => !known.includes(w))];
  if (!all.length) return <p class="faint">There are no servers yet.</p>;
  return (
    <div class="filter-servers">
      {all.map((name) => (
        <label>
          <input
            type="checkbox"
            checked={words.includes(name)}
            onChange={(e) => onChange(e.currentTarget.checked ? [...words, name] : words.filter((w) => w !== name))}
          />{" "}
          {oneLine(name)}
          {!known.includes(name) && <span class="faint"> (not there)</span>}
        </label>
      ))}
    </div>
  );
}

type WordsProps = { words: readonly string[]; label: string; placeholder: string; onChange: (words: string[]) => void };
function Words({ words, label, placeholder, onChange }: WordsProps) {
  return (
    <GrowingText
      class="mono"
      rows={2}
      label={`${label}, one per line`}
      placeholder={placeholder}
      value={words.join("\n")}
      onText={(text) => onChange(text === "" ? [] : text.split("\n"))}
    />
  );
}
