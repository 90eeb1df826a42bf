import assert from "node:assert/strict";
import test from "node:test";
import { Latest } from "./latest";

async function until(come: () => boolean): Promise<void> {
  while (!come()) await new Promise<void>((next) => setTimeout(next, 1));
}

/** Asks nobody: the test answers when it likes. */
function rig() {
  const told: string[] = [];
  const asked = new Map<string, { answer: (a: string) => void; fail: (why: Error) => void; signal: AbortSignal }>();
  const latest = new Latest<string, string>(
    1,
    (question, signal) => new Promise((answer, fail) => asked.set(question, { answer, fail, signal })),
    {
      answer: (question, answer) => told.push(`${question}: ${answer}`),
      failure: (question, why) => told.push(`${question}: ${String(why)}`),
    },
  );
  return { told, asked, latest };
}

test("only the last of what is typed in one go is asked", async () => {
  const { told, asked, latest } = rig();
  for (const question of ["a", "ab", "abc"]) latest.want(question);
  await until(() => asked.has("abc"));
  asked.get("abc")!.answer("yes");
  await until(() => told.length > 0);
  assert.deepEqual([...asked.keys()], ["abc"]);
  assert.deepEqual(told, ["abc: yes"]);
});

test("an answer that comes after a newer question is not told, and its request is given up", async () => {
  const { told, asked, latest } = rig();
  latest.want("old");
  await until(() => asked.has("old"));
  latest.want("new");
  assert.equal(asked.get("old")!.signal.aborted, true);
  await until(() => asked.has("new"));
  asked.get("old")!.answer("late");
  asked.get("new")!.answer("yes");
  await until(() => told.length > 0);
  assert.deepEqual(told, ["new: yes"]);
});

test("nothing is told after it was stopped", async () => {
  const { told, asked, latest } = rig();
  latest.want("never asked");
  latest.stop();
  latest.want("asked");
  await until(() => asked.has("asked"));
  latest.stop();
  asked.get("asked")!.fail(new Error("aborted"));
  latest.want("last");
  await until(() => asked.has("last"));
  asked.get("last")!.answer("yes");
  await until(() => told.length > 0);
  assert.deepEqual(told, ["last: yes"]);
  assert.equal(asked.has("never asked"), false);
});

test("a failure is told with its question", async () => {
  const { told, asked, latest } = rig();
  latest.want("q");
  await until(() => asked.has("q"));
  asked.get("q")!.fail(new Error("no"));
  await until(() => told.length > 0);
  assert.deepEqual(told, ["q: Error: no"]);
});
