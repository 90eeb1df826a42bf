// A long list of rows of one height, of which only those in sight are there.
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

type Props = {
  count: number;
  rowHeight: number; // px; the rows' style must keep to it
  row: (i: number) => ComponentChildren;
  label: string;
  /** Rows from..to come into sight. */
  onRange?: (from: number, to: number) => void;
  /** Keeps the end in sight while it is in sight. */
  follow?: boolean;
  /** The end has come into sight, or has gone out of it. */
  onAtEnd?: (atEnd: boolean) => void;
  /** Goes to the end each time that this changes. */
  toEnd?: number;
};
const SPARE = 8;

export function VirtualList({ count, rowHeight, row, label, onRange, follow, onAtEnd, toEnd }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const atEnd = useRef(true);

  useEffect(() => {
    const sized = new ResizeObserver(() => setHeight(box.current?.clientHeight ?? 600));
    sized.observe(box.current!);
    return () => sized.disconnect();
  }, []);
  useLayoutEffect(() => {
    if (follow && atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [count, follow, height]);

  useLayoutEffect(() => {
    if (toEnd && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [toEnd]);

  const from = Math.max(0, Math.floor(top / rowHeight) - SPARE);
  const to = Math.min(count, Math.ceil((top + height) / rowHeight) + SPARE);
  useEffect(() => onRange?.(from, to), [from, to, count]);

  const rows: ComponentChildren[] = [];
  for (let i = from; i < to; i++) rows.push(row(i));
  return (
    <div
      ref={box}
      class="virtual"
      role="list"
      aria-label={label}
      tabIndex={0}
      onScroll={(e) => {
        const at = e.currentTarget;
        const end = at.scrollTop + at.clientHeight >= at.scrollHeight - rowHeight;
        if (end !== atEnd.current) onAtEnd?.(end);
        atEnd.current = end;
        setTop(at.scrollTop);
      }}
    >
      <div style={{ height: `${count * rowHeight}px`, position: "relative" }}>
        <div style={{ position: "absolute", top: `${from * rowHeight}px`, left: 0, right: 0 }}>{rows}</div>
      </div>
    </div>
  );
}
