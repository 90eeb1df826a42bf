// Lists that are read again and again: what did not change stays the very same object, so that
// whatever shows it needs not be drawn again.

const texts = new WeakMap<object, string>();

function textOf(item: object): string {
  let text = texts.get(item);
  if (text === undefined) texts.set(item, (text = JSON.stringify(item)));
  return text;
}

/** `fresh`, with the items of `old` where they are equal; `old` itself when all are. */
export function keepSame<T extends object>(old: T[], fresh: T[], keyOf: (item: T) => string): T[] {
  const known = new Map(old.map((item) => [keyOf(item), item]));
  const kept = fresh.map((item) => {
    const before = known.get(keyOf(item));
    return before && textOf(before) === textOf(item) ? before : item;
  });
  return kept.length === old.length && kept.every((item, i) => item === old[i]) ? old : kept;
}
