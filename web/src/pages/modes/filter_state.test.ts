import assert from "node:assert/strict";
import test from "node:test";
import type { Json } from "../../hub/types";
import { asKind, bothOf, filterKinds, filterOf, filterOfText, idFrom, idProblem, jsonOf, typedText, withNewPart, withoutPart, withPart } from "./filter_state";
import type { Filter, Group } from "./filter_state";

function good(v: Json): Filter {
  const reading = filterOf(v);
  assert.ok("filter" in reading, JSON.stringify(reading));
  return (reading as { filter: Filter }).filter;
}

test("every form is written as it was read", () => {
  const forms: Json[] = [
    "all",
    "none",
    { servers: ["git", "files"] },
    { tools: ["read"] },
    { toolIDs: ["git/log", "files.read"] },
    { pattern: "^read_" },
    { and: [{ servers: ["git"] }, { not: { pattern: "^delete" } }] },
    { or: ["all", { and: [] }] },
    { not: "none" },
    { servers: [] },
  ];
  for (const form of forms) assert.deepEqual(jsonOf(good(form)), form);
  const kinds = forms.map((form) => good(form).kind);
  for (const { kind } of filterKinds) assert.ok(kinds.includes(kind), kind);
});

test("the spelling of Swift is read and written as ours", () => {
  assert.deepEqual(jsonOf(good({ all: {} })), "all");
  assert.deepEqual(jsonOf(good({ servers: { _0: ["a"] } })), { servers: ["a"] });
  assert.deepEqual(jsonOf(good({ not: { _0: { pattern: { _0: "x" } } } })), { not: { pattern: "x" } });
});

test("what is wrong is told with its place", () => {
  const cases: [Json, RegExp][] = [
    [3, /^expected "all"/],
    ["some", /^expected "all"/],
    [{}, /^expected one member/],
    [{ tools: [], servers: [] }, /^expected one member/],
    [{ server: ["a"] }, /^"server" is no kind/],
    [{ servers: "a" }, /^servers: expected a list of texts/],
    [{ tools: [1] }, /^tools: expected a list of texts/],
    [{ pattern: 1 }, /^pattern: expected a text/],
    [{ and: {} }, /^and: expected a list of filters/],
    [{ and: ["all", { or: [{ not: 1 }] }] }, /^and\.1\.or\.0\.not: expected "all"/],
  ];
  for (const [json, text] of cases) assert.match((filterOf(json) as { error: string }).error, text);
  assert.match((filterOfText("{") as { error: string }).error, /no JSON/);
});

test("another kind keeps what fits", () => {
  const one = good({ servers: ["git"] });
  assert.deepEqual(jsonOf(asKind(one, "and")), { and: [{ servers: ["git"] }] });
  assert.deepEqual(jsonOf(asKind(one, "not")), { not: { servers: ["git"] } });
  assert.deepEqual(jsonOf(asKind(asKind(one, "and"), "or")), { or: [{ servers: ["git"] }] });
  assert.deepEqual(jsonOf(asKind(asKind(one, "or"), "not")), { not: { servers: ["git"] } });
  assert.deepEqual(jsonOf(asKind(good("none"), "and")), { and: [] });
  for (const { kind } of filterKinds) assert.equal(asKind(one, kind).kind, kind);
});

test("parts are changed, added and removed", () => {
  const group = good({ or: ["all", "none"] }) as Group;
  assert.deepEqual(jsonOf(withPart(group, 1, { kind: "pattern", pattern: "x" })), { or: ["all", { pattern: "x" }] });
  assert.deepEqual(jsonOf(withoutPart(group, 0)), { or: ["none"] });
  assert.deepEqual(jsonOf(withNewPart(group)), { or: ["all", "none", { servers: [] }] });
});

test("the form follows the JSON side as far as that is right", () => {
  const start = bothOf(good("all"));
  const half = typedText(start, '{"servers":["a"');
  assert.deepEqual(half.filter, start.filter, "the form stays");
  assert.match(half.error, /no JSON/);
  const whole = typedText(half, '{"servers":["a"]}');
  assert.deepEqual(jsonOf(whole.filter), { servers: ["a"] });
  assert.equal(whole.error, "");
  assert.equal(whole.text, '{"servers":["a"]}', "and the text as it was typed");
});

test("an id comes from the name and is checked", () => {
  assert.equal(idFrom("Read only!"), "read-only");
  assert.equal(idFrom("Über"), "uber");
  assert.equal(idProblem("read-only", ["full"]), "");
  assert.match(idProblem("", []), /needs/);
  assert.match(idProblem("a/b", []), /Neither/);
  assert.match(idProblem("ä".repeat(33), []), /At most/);
  assert.match(idProblem("full", ["full"]), /already/);
});
