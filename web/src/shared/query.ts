/** An address with a query behind; what is empty is left out. */
export function withQuery(where: string, query: Record<string, string | undefined>): string {
  const all = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) if (value) all.set(key, value);
  const text = all.toString();
  return text ? `${where}?${text}` : where;
}
