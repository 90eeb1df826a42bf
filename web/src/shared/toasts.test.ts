import { pass, waiting } from "../testing/browser";
import assert from "node:assert/strict";
import test from "node:test";
import { dismiss, tellFailure, toast, toasts } from "./toasts";

const shown = () => toasts.value.map((t) => t.text);

function clear(): void {
  for (const t of toasts.value) dismiss(t.id);
}

/* S1-128 */
test("a success goes by itself after five seconds, and not before", async () => {
  toast({ text: "done", level: "success" });
  await pass(4999);
  assert.deepEqual(shown(), ["done"]);
  await pass(1);
  assert.deepEqual(shown(), []);
});

/* S1-129 */
test("what stays and what is still going on are there until somebody dismisses them", async () => {
  toast({ text: "broken", level: "error", stays: true });
  toast({ text: "trying", level: "warning", spinner: true });
  await pass(3_600_000);
  assert.deepEqual(shown(), ["broken", "trying"]);
  assert.equal(waiting(), 0);
  dismiss(toasts.value[0]!.id);
  assert.deepEqual(shown(), ["trying"]);
  clear();
});

test("a newer one about the same server takes the place of the older, and gets its own time", async () => {
  toast({ text: "git is away", level: "warning", about: "git" });
  toast({ text: "db is away", level: "warning", about: "db" });
  await pass(4000);
  toast({ text: "git is back", level: "success", about: "git" });
  assert.deepEqual(shown(), ["db is away", "git is back"]);
  await pass(1000);
  assert.deepEqual(shown(), ["git is back"], "the end of the older one is not the end of the newer");
  await pass(4000);
  assert.deepEqual(shown(), []);
});

test("those that are about no server never replace each other", () => {
  toast({ text: "one", level: "success" });
  toast({ text: "one", level: "success" });
  toast({ text: "git", level: "success", about: "git" });
  assert.deepEqual(shown(), ["one", "one", "git"]);
  clear();
});

test("there are five at most: the oldest make room", async () => {
  for (let i = 1; i <= 5; i++) toast({ text: `${i}`, level: "error", stays: true });
  assert.deepEqual(shown(), ["1", "2", "3", "4", "5"]);
  for (let i = 6; i <= 100; i++) toast({ text: `${i}`, level: "error", stays: true });
  assert.deepEqual(shown(), ["96", "97", "98", "99", "100"]);
  clear();
  await pass(10_000);
});

test("one that had to make room does not come back, and its end ends no other", async () => {
  for (let i = 1; i <= 6; i++) toast({ text: `${i}`, level: "success" });
  const ids = new Set(toasts.value.map((t) => t.id));
  assert.equal(ids.size, 5);
  dismiss(Math.min(...ids) - 1);
  assert.deepEqual(shown(), ["2", "3", "4", "5", "6"]);
  await pass(5000);
  assert.deepEqual(shown(), []);
});

test("a failure is told with what was wanted, and stays", async () => {
  tellFailure("git was not removed", new Error("There is no such server"));
  tellFailure("db was not removed", "no");
  await pass(60_000);
  assert.deepEqual(shown(), ["git was not removed: There is no such server", "db was not removed: no"]);
  assert.ok(toasts.value.every((t) => t.level === "error"));
  clear();
});

test("what a person has given up is no failure", () => {
  tellFailure("git was not read", new DOMException("gone", "AbortError"));
  assert.deepEqual(shown(), []);
});
