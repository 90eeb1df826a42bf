// The small parts that every page is made of.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "../../hub/api";
import type { DotColor } from "../../hub/types";
import { oneLine } from "./text";

export function Dot({ color, pulse }: { color: DotColor; pulse?: boolean }) {
  return <span class={`dot ${color}${pulse ? " pulse" : ""}`} aria-hidden="true" />;
}

export function Badge({ children, tone, title }: { children: ComponentChildren; tone?: string; title?: string }) {
  return (
    <span class={`badge ${tone ?? ""}`} title={title}>
      {children}
    </span>
  );
}

export function Spinner({ label }: { label?: string }) {
  return <span class="spinner" role="img" aria-label={label ?? "working"} />;
}

type ButtonProps = {
  children: ComponentChildren;
  onClick?: (e: MouseEvent) => void;
  kind?: "primary" | "danger" | "plain" | "link";
  disabled?: boolean;
  type?: "button" | "submit";
  label?: string; // for screen readers, when what is shown is no word
  title?: string;
  small?: boolean;
};
export function Button({ children, onClick, kind, disabled, type, label, title, small }: ButtonProps) {
  return (
    <button
      type={type ?? "button"}
      class={`button ${kind ?? ""}${small ? " small" : ""}`}
      onClick={onClick}
      disabled={disabled}
      aria-label={label}
      title={title}
    >
      {children}
    </button>
  );
}

/** A button that is busy while what it started goes on. */
export function WorkButton({ onClick, ...rest }: Omit<ButtonProps, "onClick"> & { onClick: () => Promise<unknown> }) {
  const [busy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      await onClick();
    } finally {
      setBusy(false);
    }
  };
  return <Button {...rest} disabled={rest.disabled || busy} onClick={() => void run()} />;
}

type FieldProps = {
  label: string;
  help?: ComponentChildren;
  error?: string;
  children: (id: string, describedBy: string | undefined) => JSX.Element;
};
let fields = 0;
/** A labelled field; what is wrong with it is said to screen readers, too. */
export function Field({ label, help, error, children }: FieldProps) {
  const [id] = useState(() => `field${++fields}`);
  const note = error || help;
  return (
    <div class={`field${error ? " wrong" : ""}`}>
      <label for={id}>{label}</label>
      {children(id, note ? id + "n" : undefined)}
      {note && (
        <div class="note" id={id + "n"} role={error ? "alert" : undefined}>
          {note}
        </div>
      )}
    </div>
  );
}

type SearchProps = { value: string; onInput: (text: string) => void; label: string };
/** What "/" goes to. */
export function Search({ value, onInput, label }: SearchProps) {
  return (
    <input
      class="search"
      type="search"
      data-search
      value={value}
      placeholder={`${label}  ( / )`}
      aria-label={label}
      spellcheck={false}
      autocomplete="off"
      onInput={(e) => onInput(e.currentTarget.value)}
      onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()}
    />
  );
}

type DialogProps = { title: string; onClose: () => void; children: ComponentChildren; wide?: boolean; side?: boolean };
/** Over the page until it is closed: Escape and the cross do. `side` is a drawer. */
export function Dialog({ title, onClose, children, wide, side }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class={`${side ? "drawer" : "dialog"}${wide ? " wide" : ""}`}
      aria-label={title}
      onCancel={(e) => {
        e.preventDefault();
        onClose();
      }}
      onClick={(e) => e.target === ref.current && onClose()}
    >
      <div class="dialog-body">
        <header>
          <h2>{title}</h2>
          <Button kind="plain" label="Close" onClick={onClose}>
            ✕
          </Button>
        </header>
        {children}
      </div>
    </dialog>
  );
}

type MenuItem = { text: string; run: () => void; danger?: boolean };
/** "⋯" with what can be done. Arrow keys walk, Escape closes. */
export function Menu({ label, items }: { label: string; items: MenuItem[] }) {
  const [open, setOpen] = useState(false);
  const [up, setUp] = useState(false);
  const ref = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!open) return;
    ref.current?.querySelector<HTMLButtonElement>("[role=menuitem]")?.focus();
    const away = (e: Event) => {
      if (!ref.current?.contains(e.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, [open]);

  // At the end of the window it opens upwards.
  useLayoutEffect(() => {
    const box = open && ref.current?.querySelector(".menu-items")?.getBoundingClientRect();
    setUp(!!box && box.bottom > innerHeight && box.top > box.height);
  }, [open]);

  const walk = (e: KeyboardEvent) => {
    const all = [...(ref.current?.querySelectorAll<HTMLButtonElement>("[role=menuitem]") ?? [])];
    const i = all.indexOf(document.activeElement as HTMLButtonElement);
    const step = e.key === "ArrowDown" ? 1 : e.key === "ArrowUp" ? -1 : 0;
    if (e.key === "Escape") {
      setOpen(false);
      button.current?.focus();
    } else if (step) {
      all[(i + step + all.length) % all.length]?.focus();
    } else {
      return;
    }
    e.preventDefault();
    e.stopPropagation();
  };

  return (
    <div class="menu" ref={ref} onKeyDown={open ? walk : undefined}>
      <button
        ref={button}
        type="button"
        class="button plain"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={label}
        onClick={() => setOpen(!open)}
      >
        ⋯
      </button>
      {open && (
        <div class={`menu-items${up ? " up" : ""}`} role="menu" aria-label={label}>
          {items.map((item) => (
            <button
              type="button"
              role="menuitem"
              tabIndex={-1}
              class={item.danger ? "danger" : ""}
              onClick={() => {
                setOpen(false);
                button.current?.focus();
                item.run();
              }}
            >
              {item.text}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** What went wrong, and what to do about it. */
export function Trouble({ why }: { why: unknown }) {
  const failure = why instanceof ApiError ? why.failure : null;
  const text = why instanceof Error ? why.message : String(why);
  return (
    <div class="trouble" role="alert">
      <strong>{oneLine(text)}</strong>
      {failure?.next && <div>{oneLine(failure.next)}</div>}
      {failure && <code class="faint">{failure.code ?? failure.error}</code>}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Copies, and says so. */
export function Copy({ text, children }: { text: string | (() => string); children: ComponentChildren }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "string" ? text : text());
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <Button small onClick={() => void copy().catch(() => {})}>
      {done ? "Copied" : children}
    </Button>
  );
}

/** A line of the last values, as wide as its place. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }) {
  const top = Math.max(1, ...values);
  const step = 100 / Math.max(1, values.length - 1);
  const points = values.map((v, i) => `${(i * step).toFixed(1)},${(22 - (v / top) * 20).toFixed(1)}`).join(" ");
  return (
    <svg class="sparkline" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
      {values.length > 1 && <polyline points={points} />}
    </svg>
  );
}
