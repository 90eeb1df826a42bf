// What the page of questions says.
import type { Question } from "../../hub/types";

export const GRANT_S = 300;

/** "4 min 05 s", "12 s"; nothing is left: "0 s". */
export function leftText(question: Question, nowMs: number): string {
  const s = Math.max(0, Math.ceil(question.expires_at - nowMs / 1000));
  if (s >= 3600) return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, "0")} min`;
  return s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, "0")} s`;
}

/** Of its time, from 1 to 0. */
export function leftPart(question: Question, nowMs: number): number {
  const whole = question.expires_at - question.asked_at;
  return whole > 0 ? Math.min(1, Math.max(0, (question.expires_at - nowMs / 1000) / whole)) : 0;
}

export const mayAnswer = (question: Question) => question.answer_by.includes("console");

const answerers: Record<Question["answer_by"][number], string> = {
  console: "this page",
  cli: "the command line",
  client: "the client that asked",
  webhook: "a webhook",
};
/** "the command line or the client that asked" */
export const answerersText = (question: Question) => question.answer_by.map((a) => answerers[a]).join(" or ");

/** The rule by what it is called: a number is its place. */
export const ruleText = (rule: string) => (/^\d+$/.test(rule) ? `rule ${rule}` : rule === "default" ? "what is usual" : `rule “${rule}”`);
