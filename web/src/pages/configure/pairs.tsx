// Variables or headers: a row each, with a name and a value.
import type { Pair } from "../../shared/entry/entry_form";
import { isHidden } from "../../shared/entry/entry_form";
import { Button } from "../../shared/ui/parts";
import { oneLine } from "../../shared/ui/text";
import "./pairs.css";

type Props = { label: string; one: string; all: readonly Pair[]; onChange: (all: Pair[]) => void };

/** As the daemon sees it when it decides what to hide. */
const SECRET = /key|token|secret|passw|pwd|auth|credential|cookie|signature|bearer|^pat$/i;

export function Pairs({ label, one, all, onChange }: Props) {
  const put = (i: number, change: Partial<Pair>) => onChange(all.map((p, j) => (j === i ? { ...p, ...change } : p)));
  return (
    <div role="group" aria-label={label} class="pairs">
      {all.map((p, i) => (
        <div class="pairs-row">
          <input
            class="mono"
            aria-label={`Name of ${one} ${i + 1}`}
            placeholder="NAME"
            value={p.name}
            spellcheck={false}
            autocomplete="off"
            onInput={(e) => put(i, { name: e.currentTarget.value })}
          />
          <Value pair={p} label={`Value of ${p.name ? oneLine(p.name) : `${one} ${i + 1}`}`} onText={(value) => put(i, { value })} />
          <Button
            kind="plain"
            label={`Remove ${p.name ? oneLine(p.name) : `${one} ${i + 1}`}`}
            onClick={() => onChange(all.filter((_, j) => j !== i))}
          >
            ✕
          </Button>
        </div>
      ))}
      <Button small onClick={() => onChange([...all, { name: "", value: "", hidden: "" }])}>
        + Add a {one}
      </Button>
    </div>
  );
}

function Value({ pair, label, onText }: { pair: Pair; label: string; onText: (text: string) => void }) {
  const common = {
    class: "mono",
    "aria-label": label,
    placeholder: isHidden(pair) ? "unchanged" : "value",
    value: pair.value,
    spellcheck: false,
    autocomplete: "off",
    onInput: (e: { currentTarget: HTMLInputElement }) => onText(e.currentTarget.value),
  };
  return SECRET.test(pair.name) ? <input type="password" {...common} /> : <input type="text" {...common} />;
}
