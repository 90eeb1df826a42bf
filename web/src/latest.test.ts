import assert from "node:assert/strict";
import test from "node:test";
import { Latest } from "./latest";

const rest = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** Answers "x" with "X" after the time given in front of it: "20 x". */
async function slowly(question: string, signal: AbortSignal): Promise<string> {
  await rest(parseInt(question, 10));
  if (signal.aborted) aborted.push(question);
  return question.toUpperCase();
}
let aborted: string[] = [];

function collect() {
  const got: string[] = [];
  aborted = [];
  const latest = new Latest<string, string>(10, slowly, {
    answer: (_, answer) => got.push(answer),
    failure: (question, why) => got.push(`${question}: ${String(why)}`),
  });
  return { got, latest };
}

test("only the last of what is typed in one go is asked", async () => {
  const { got, latest } = collect();
  for (const question of ["0 a", "0 ab", "0 abc"]) latest.want(question);
  await rest(60);
  assert.deepEqual(got, ["0 ABC"]);
});

test("an answer that comes after a newer question is not told", async () => {
  const { got, latest } = collect();
  latest.want("60 slow");
  await rest(30);
  latest.want("0 fast");
  await rest(120);
  assert.deepEqual(got, ["0 FAST"]);
  assert.deepEqual(aborted, ["60 slow"]);
});

test("nothing is told after it was stopped", async () => {
  const { got, latest } = collect();
  latest.want("0 a");
  latest.stop();
  latest.want("40 b");
  await rest(20);
  latest.stop();
  await rest(60);
  assert.deepEqual(got, []);
});

test("a failure is told with its question", async () => {
  const told: string[] = [];
  const latest = new Latest<string, string>(0, () => Promise.reject(new Error("no")), {
    answer: () => told.push("answer"),
    failure: (question, why) => told.push(`${question} ${String(why)}`),
  });
  latest.want("q");
  await rest(20);
  assert.deepEqual(told, ["q Error: no"]);
});
