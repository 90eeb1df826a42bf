import assert from "node:assert/strict";
import test from "node:test";
import type { Pin } from "../../hub/types";
import { approvalOf, lookOf, near, stateText, titleOf } from "./changes_model";

const pin: Pin = { server: "git", kind: "tool", name: "log", state: "held", approved_cid: "a", cid: "b", approved_at: 1 };

test("a definition is named as people type it", () => {
  assert.equal(titleOf(pin), "git.log");
  assert.equal(titleOf({ ...pin, kind: "prompt" }), "git.log (prompt)");
  assert.equal(titleOf({ ...pin, kind: "instructions", name: "" }), "git: instructions");
  assert.equal(stateText(pin), "Held back");
  assert.equal(stateText({ ...pin, state: "changed" }), "Changed, let through");
});

test("what is approved is what is shown", () => {
  assert.deepEqual(approvalOf(pin), { server: "git", kind: "tool", name: "log", cid: "b" });
  assert.deepEqual(approvalOf({ ...pin, kind: "instructions", name: "" }), { server: "git", kind: "instructions", cid: "b" });
});

test("one of too many is asked for by itself", () => {
  assert.deepEqual(lookOf(pin), { server: "git", kind: "tool", name: "log" });
  assert.equal(lookOf({ ...pin, kind: "instructions", name: "" }).name, undefined);
});

test("of much that is the same only what is near a change is shown", () => {
  const long = "x".repeat(1000);
  const short = near([
    { op: "same", text: long },
    { op: "add", text: long },
    { op: "same", text: long },
  ]);
  assert.equal(short[0]?.text, ` … ${"x".repeat(160)}`);
  assert.equal(short[1]?.text, long);
  assert.equal(short[2]?.text, `${"x".repeat(160)} … `);
});
