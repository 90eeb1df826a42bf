// The dot with "3/5" at the top of every page.
import type { DotColor } from "./hub/types";

/** S0-134 */
export function indicator(c: number, total: number): { text: string; title: string; color: DotColor } {
  const color = total > 0 && c === total ? "green" : c > 0 ? "yellow" : "red";
  return { text: `${c}/${total}`, title: `${c} of ${total} servers connected`, color };
}
