// What is said about a call that was made here.
import { ApiError } from "../../hub/api";
import type { Run } from "./runs";

export interface RunDisplay {
  text: string;
  icon: "spinner" | "✓" | "✗" | "–";
  tone: "green" | "red" | "yellow";
}

/** "server/tool" as people write it. */
const nameOf = (run: Run) => run.tool.replace("/", ".");

/** How long was waited; undefined: it failed otherwise. */
function waited(why: unknown): string | undefined {
  if (!(why instanceof ApiError) || why.failure.code !== "call_timeout") return undefined;
  return /timeout after (\S+)/.exec(why.message)?.[1];
}

/** S1-96 to S1-99 */
export function displayOf(run: Run): RunDisplay {
  const name = nameOf(run);
  const time = waited(run.why);
  if (run.state === "running") return { text: `Using ${name}...`, icon: "spinner", tone: "yellow" };
  if (run.state === "cancelled") return { text: `${name} cancelled`, icon: "–", tone: "yellow" };
  if (time) return { text: `${name} timed out after ${time}`, icon: "✗", tone: "red" };
  if (run.state === "failed" || run.result?.isError) return { text: `${name} failed`, icon: "✗", tone: "red" };
  return { text: `${name} completed`, icon: "✓", tone: "green" };
}
