import assert from "node:assert/strict";
import test from "node:test";
import { keepSame } from "./same";

const name = (s: { name: string }) => s.name;

test("an item that did not change stays the same object", () => {
  const old = [{ name: "a", n: 1 }, { name: "b", n: 1 }];
  const now = keepSame(old, [{ name: "a", n: 1 }, { name: "b", n: 2 }], name);
  assert.equal(now[0], old[0]);
  assert.notEqual(now[1], old[1]);
  assert.deepEqual(now[1], { name: "b", n: 2 });
});

test("a list in which nothing changed stays the same list", () => {
  const old = [{ name: "a" }, { name: "b" }];
  assert.equal(keepSame(old, [{ name: "a" }, { name: "b" }], name), old);
});

test("another order, a new and a missing item make another list", () => {
  const old = [{ name: "a" }, { name: "b" }];
  assert.deepEqual(keepSame(old, [{ name: "b" }, { name: "a" }], name), [{ name: "b" }, { name: "a" }]);
  assert.deepEqual(keepSame(old, [{ name: "a" }], name), [{ name: "a" }]);
  assert.deepEqual(keepSame(old, [...old, { name: "c" }], name).length, 3);
});
