import assert from "node:assert/strict";
import test from "node:test";
import type { LogEntry } from "../../hub/types";
import { asText, findLines, LINES_MAX, LogBook } from "./log_book";

const line = (n: number, more: Partial<LogEntry> = {}): LogEntry => ({
  id: `id${n}`,
  server: "github",
  timestamp: n,
  level: "info",
  source: "stderr",
  message: `line ${n}`,
  ...more,
});
const times = (book: LogBook) => book.lines.map((e) => e.timestamp);

test("a line that came while the others were read is there once, in its place", () => {
  const book = new LogBook();
  book.add([line(3)]);
  assert.equal(book.add([line(1), line(2), line(3)]), true);
  assert.deepEqual(times(book), [1, 2, 3]);
  assert.equal(book.add([line(2)]), false);
  assert.equal(book.total, 3);
});

test("only the last lines are kept", () => {
  const book = new LogBook();
  book.add(Array.from({ length: LINES_MAX }, (_, i) => line(i)));
  book.add([line(LINES_MAX), line(LINES_MAX + 1)]);
  assert.equal(book.lines.length, LINES_MAX);
  assert.equal(book.lines[0]?.timestamp, 2);
  assert.equal(book.total, LINES_MAX + 2);
});

test("lines are found by level and by text", () => {
  const lines = [line(1, { level: "debug" }), line(2), line(3, { level: "warning", message: "Slow DISK" })];
  assert.equal(findLines(lines, "debug", ""), lines);
  assert.deepEqual(findLines(lines, "info", "").map((e) => e.timestamp), [2, 3]);
  assert.deepEqual(findLines(lines, "debug", " disk ").map((e) => e.timestamp), [3]);
  assert.deepEqual(findLines(lines, "error", ""), []);
});

test("what is copied is one line each, without escapes that a terminal would obey", () => {
  const text = asText([line(0, { message: "a\u001b[31mb\nc" }), line(1)]);
  assert.equal(
    text,
    "1970-01-01T00:00:00.000Z info stderr a⟨U+001B⟩[31mb c\n1970-01-01T00:00:01.000Z info stderr line 1\n",
  );
});
