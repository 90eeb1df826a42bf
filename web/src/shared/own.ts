/** A member that the object itself has: what every object has, such as "constructor", is none. */
export function own<T>(o: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(o, key) ? o[key] : undefined;
}
