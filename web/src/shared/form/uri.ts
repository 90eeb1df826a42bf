// URI templates (RFC 6570) with texts as values: what a server offers as resources by pattern.

export interface Expression {
  operator: string;
  names: { name: string; most: number }[]; // most: letters taken of the value, as {var:3} has it
}
export type Part = string | Expression;

/** Appendix A of the RFC: what an expression begins with, what stands between, how a value is written. */
const OPERATORS: Record<string, { first: string; between: string; named: boolean; ifEmpty: string; reserved: boolean }> = {
  "": { first: "", between: ",", named: false, ifEmpty: "", reserved: false },
  "+": { first: "", between: ",", named: false, ifEmpty: "", reserved: true },
  "#": { first: "#", between: ",", named: false, ifEmpty: "", reserved: true },
  ".": { first: ".", between: ".", named: false, ifEmpty: "", reserved: false },
  "/": { first: "/", between: "/", named: false, ifEmpty: "", reserved: false },
  ";": { first: ";", between: ";", named: true, ifEmpty: "", reserved: false },
  "?": { first: "?", between: "&", named: true, ifEmpty: "=", reserved: false },
  "&": { first: "&", between: "&", named: true, ifEmpty: "=", reserved: false },
};

const EXPRESSION = /^([+#./;?&]?)([A-Za-z0-9_.%,:*-]+)$/;

function expressionOf(inside: string): Expression | null {
  const found = EXPRESSION.exec(inside);
  if (!found) return null;
  const names = found[2]!.split(",").map((one) => {
    const [name = "", most] = one.replace(/\*$/, "").split(":");
    return { name, most: most ? Number(most) || Infinity : Infinity };
  });
  return names.every((n) => n.name) ? { operator: found[1]!, names } : null;
}

/** What is no expression stays as it is written. */
export function parseTemplate(template: string): Part[] {
  return template
    .split(/(\{[^{}]*\})/)
    .filter((text) => text !== "")
    .map((text) => (text.startsWith("{") && text.endsWith("}") ? (expressionOf(text.slice(1, -1)) ?? text) : text));
}

/** The names to ask for, each once, in their order. */
export function variables(template: string): string[] {
  const names = parseTemplate(template).flatMap((part) => (typeof part === "string" ? [] : part.names.map((n) => n.name)));
  return [...new Set(names)];
}

const strictly = (text: string) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => "%" + c.charCodeAt(0).toString(16).toUpperCase());

/** Reserved letters and what is already encoded stay. */
const openly = (text: string) => encodeURI(text).replace(/%25([0-9A-Fa-f]{2})/g, "%$1").replace(/%5B/g, "[").replace(/%5D/g, "]");

function expandOne(e: Expression, values: ReadonlyMap<string, string>): string {
  const how = OPERATORS[e.operator]!;
  const parts: string[] = [];
  for (const { name, most } of e.names) {
    const value = values.get(name);
    if (value === undefined) continue;
    // Halves of a letter cannot be encoded.
    const text = [...value.replace(/\p{Surrogate}/gu, "\ufffd")].slice(0, most).join("");
    const encoded = how.reserved ? openly(text) : strictly(text);
    parts.push(how.named ? name + (text ? "=" + encoded : how.ifEmpty) : encoded);
  }
  return parts.length ? how.first + parts.join(how.between) : "";
}

export function expand(template: string, values: ReadonlyMap<string, string>): string {
  return parseTemplate(template)
    .map((part) => (typeof part === "string" ? part : expandOne(part, values)))
    .join("");
}
