import assert from "node:assert/strict";
import test from "node:test";
import { PAGE, Paged, type Answer } from "./paged";

const turn = () => new Promise<void>((done) => setTimeout(done, 0));

/** Answers "q:i" for each row, when it is let go. */
function source(total: () => number) {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const state = { hold: false, refuse: false };
  const read = async (q: string, offset: number, limit: number, signal: AbortSignal): Promise<Answer<string>> => {
    asked.push(`${q}@${offset}`);
    if (state.hold) await new Promise<void>((go) => waiting.push(go));
    if (signal.aborted) throw new DOMException("gone", "AbortError");
    if (state.refuse) throw new Error("refused");
    const n = Math.max(0, Math.min(limit, total() - offset));
    return { items: Array.from({ length: n }, (_, i) => `${q}:${offset + i}`), total: total(), failed: [] };
  };
  return { asked, waiting, state, read };
}

test("pages are read when they come into sight, each once", async () => {
  const s = source(() => 10_000);
  const list = new Paged(s.read);
  list.ask("a");
  await turn();
  assert.equal(list.total, 10_000);
  list.sight(0, 30);
  list.sight(5, 35);
  list.sight(4990, 5020);
  await turn();
  assert.deepEqual(s.asked, ["a@0", `a@${49 * PAGE}`, `a@${50 * PAGE}`]);
  assert.equal(list.at(4999), "a:4999");
  assert.equal(list.at(5001), "a:5001");
  assert.equal(list.at(300), undefined);
});

test("an old question's late answer is not shown", async () => {
  const s = source(() => 5);
  const list = new Paged(s.read);
  s.state.hold = true;
  list.ask("old");
  list.ask("new");
  for (const go of s.waiting.reverse()) go();
  await turn();
  assert.equal(list.at(0), "new:0");
  assert.equal(list.answered, 1);
});

test("rows stay until the next question is answered", async () => {
  const s = source(() => 500);
  const list = new Paged(s.read);
  list.ask("a");
  await turn();
  s.state.hold = true;
  list.ask("b");
  assert.equal(list.at(0), "a:0");
  s.waiting[0]!();
  await turn();
  assert.equal(list.at(0), "b:0");
});

test("asking again changes rows in place, and reads only those in sight", async () => {
  let total = 1000;
  const s = source(() => total);
  const list = new Paged(s.read);
  list.ask("a");
  await turn();
  list.sight(510, 540);
  await turn();
  s.asked.length = 0;
  total = 600;
  await list.again();
  assert.deepEqual(s.asked, ["a@500"]);
  assert.equal(list.answered, 1);
  assert.equal(list.total, 600);
  assert.equal(list.at(0), "a:0");
  total = 20;
  await list.again();
  assert.equal(list.at(510), undefined);
});

test("a page that is refused is told, and not asked for without end", async () => {
  const s = source(() => 10);
  const list = new Paged(s.read);
  s.state.refuse = true;
  list.ask("a");
  await turn();
  list.sight(0, 10);
  await turn();
  assert.equal(s.asked.length, 1);
  assert.match(String(list.why), /refused/);
  s.state.refuse = false;
  await list.again();
  assert.equal(list.why, null);
  assert.equal(list.at(9), "a:9");
});
