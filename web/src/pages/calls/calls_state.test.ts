import { pass, settle } from "../../testing/browser";
import assert from "node:assert/strict";
import test from "node:test";
import type { CallList, CallRecord } from "../../hub/types";
import { NO_FILTER } from "./calls_model";
import { CallBook, joined, queryOf, searchText } from "./calls_state";

const record = (no: number): CallRecord => ({ id: `c${no}`, no, detail: "all" });
const page = (from: number, n: number, next?: number): CallList => ({
  calls: [],
  recent: Array.from({ length: n }, (_, i) => record(from - i)),
  ...(next !== undefined && { next }),
  total: 1000,
  recorded: true,
});
const numbers = (rows: readonly CallRecord[]) => rows.map((c) => c.no);

test("what is typed is searched for word by word, whatever it holds", () => {
  const cases: [string, string][] = [
    ["", ""],
    ["  ", ""],
    ["hel", '"hel"*'],
    ["hello wor", '"hello" "wor"*'],
    ["hello ", '"hello"'],
    ['"two words" x', '"two words" "x"*'],
    ['"two wor', '"two wor"*'],
    ['say "hi"', '"say" "hi"'],
    ["foo-bar:(x)", '"foo-bar:(x)"*'],
    ['"', ""],
    ["- * +", ""],
    ["größe", '"größe"*'],
  ];
  for (const [typed, sent] of cases) assert.equal(searchText(typed), sent, typed);
});

test("filters are told to the daemon, and words only where there are records", () => {
  const filter = { text: "x", server: "git", client: "", outcome: "error" };
  assert.deepEqual(queryOf(filter, true), { server: "git", caller: undefined, status: "error", text: '"x"*', limit: "100" });
  assert.equal(queryOf(filter, false)["text"], undefined);
});

test("the newest page is put before what was read, unless something may lie between", () => {
  const before = [record(5), record(4), record(3)];
  assert.deepEqual(numbers(joined([record(7), record(6), record(5)], 5, before).rows), [7, 6, 5, 4, 3]);
  const gap = joined([record(9), record(8)], 8, before);
  assert.deepEqual([numbers(gap.rows), gap.whole], [[9, 8], false]);
  assert.deepEqual(numbers(joined([record(2)], undefined, before).rows), [2], "all there are: the others were forgotten");
  assert.deepEqual(numbers(joined([], undefined, before).rows), []);
});

test("pages are read one after the other, and the newest again when calls have ended", async () => {
  const asked: Record<string, string | undefined>[] = [];
  const answers = [page(10, 3, 8), page(7, 3, 5), page(12, 3, 10), page(4, 3)];
  const book = new CallBook(async (query) => (asked.push(query), answers.shift()!));
  book.ask(NO_FILTER);
  await settle();
  assert.deepEqual(numbers(book.rows), [10, 9, 8]);
  assert.equal(book.next, 8);
  await book.older();
  assert.equal(asked[1]!["before"], "8");
  assert.deepEqual(numbers(book.rows), [10, 9, 8, 7, 6, 5]);
  book.again();
  await settle();
  assert.equal(asked.length, 2, "not at once: it was read a moment ago");
  await pass(500);
  assert.equal(asked[2]!["before"], undefined);
  assert.deepEqual(numbers(book.rows), [12, 11, 10, 9, 8, 7, 6, 5]);
  assert.equal(book.next, 5, "what is older is still where it was");
  await book.older();
  assert.deepEqual(numbers(book.rows), [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]);
  assert.equal(book.next, undefined);
  await book.older();
  assert.equal(asked.length, 4);
  book.stop();
});

test("another question begins anew, and what is typed is waited for", async () => {
  const asked: Record<string, string | undefined>[] = [];
  const book = new CallBook(async (query) => (asked.push(query), page(10, 1)));
  book.ask(NO_FILTER);
  await settle();
  book.ask({ ...NO_FILTER, text: "a" });
  book.ask({ ...NO_FILTER, text: "ab" });
  await pass(249);
  assert.equal(asked.length, 1);
  await pass(1);
  assert.deepEqual(asked.map((q) => q["text"]), [undefined, '"ab"*']);
  book.ask({ ...NO_FILTER, text: "ab", server: "git" });
  await settle();
  assert.equal(asked[2]!["server"], "git", "a choice is not waited for");
  book.stop();
});

test("what goes wrong is told, and goes with the next answer", async () => {
  let fail = true;
  const book = new CallBook(async () => {
    if (fail) throw new Error("no");
    return page(1, 1);
  });
  book.ask(NO_FILTER);
  await settle();
  assert.equal((book.why as Error).message, "no");
  fail = false;
  book.again();
  await pass(500);
  assert.equal(book.why, null);
  assert.deepEqual(numbers(book.rows), [1]);
  book.stop();
});
