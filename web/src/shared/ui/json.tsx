// A JSON value as a tree that opens and closes.
import { useState } from "preact/hooks";
import type { Json } from "../../hub/types";
import { shown } from "./text";

const OPEN_DEPTH = 2;
const SHOWN_ITEMS = 100;
const SHOWN_CHARS = 2000;

export function JsonTree({ value, name, depth = 0 }: { value: Json; name?: string; depth?: number }) {
  const [open, setOpen] = useState(depth < OPEN_DEPTH);
  const [all, setAll] = useState(false);
  const label = name === undefined ? null : <span class="json-key">{shown(name)}: </span>;

  if (value === null || typeof value !== "object") {
    return (
      <div class="json-line">
        {label}
        <Leaf value={value} />
      </div>
    );
  }
  const entries = Array.isArray(value) ? value.map((v, i) => [String(i), v] as const) : Object.entries(value);
  const [left, right] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return (
    <div class="json-node">
      <button type="button" class="json-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span aria-hidden="true">{open ? "▾" : "▸"}</span> {label}
        <span class="faint">{open ? left : `${left} ${entries.length} ${right}`}</span>
      </button>
      {open && (
        <div class="json-inside">
          {(all ? entries : entries.slice(0, SHOWN_ITEMS)).map(([key, v]) => (
            <JsonTree key={key} name={key} value={v} depth={depth + 1} />
          ))}
          {!all && entries.length > SHOWN_ITEMS && (
            <button type="button" class="button link" onClick={() => setAll(true)}>
              {entries.length - SHOWN_ITEMS} more
            </button>
          )}
        </div>
      )}
      {open && <div class="faint">{right}</div>}
    </div>
  );
}

function Leaf({ value }: { value: null | boolean | number | string }) {
  const [all, setAll] = useState(false);
  if (typeof value !== "string") return <span class="json-value">{String(value)}</span>;
  const cut = !all && value.length > SHOWN_CHARS;
  return (
    <span class="json-string">
      "{shown(cut ? value.slice(0, SHOWN_CHARS) : value)}"
      {cut && (
        <button type="button" class="button link" onClick={() => setAll(true)}>
          … {value.length - SHOWN_CHARS} more
        </button>
      )}
    </span>
  );
}
