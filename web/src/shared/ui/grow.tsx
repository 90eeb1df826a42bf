// A field that is as high as what is in it.
import { useLayoutEffect, useRef } from "preact/hooks";

type Props = {
  value: string;
  onText: (text: string) => void;
  id?: string;
  class?: string;
  label?: string; // for screen readers, without a <label>
  describedBy?: string;
  placeholder?: string;
  /** It is never less high than this. */
  rows?: number;
  disabled?: boolean;
  focused?: boolean;
  onBlur?: () => void;
  onKeyDown?: (e: KeyboardEvent) => void;
};

export function GrowingText(props: Props) {
  const { value, onText, rows = 1 } = props;
  const ref = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    const field = ref.current!;
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
  }, [value]);
  useLayoutEffect(() => {
    if (props.focused) ref.current!.focus();
  }, []);
  return (
    <textarea
      ref={ref}
      id={props.id}
      class={`growing ${props.class ?? ""}`}
      rows={rows}
      value={value}
      placeholder={props.placeholder}
      disabled={props.disabled}
      aria-label={props.label}
      aria-describedby={props.describedBy}
      spellcheck={false}
      autocomplete="off"
      autocapitalize="off"
      onInput={(e) => onText(e.currentTarget.value)}
      onBlur={props.onBlur}
      onKeyDown={props.onKeyDown}
    />
  );
}
