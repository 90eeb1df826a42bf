import assert from "node:assert/strict";
import test from "node:test";
import type { Json, JsonObject } from "../../hub/types";
import { isQuick, problemsOf, variantOf } from "./check";
import {
  added,
  emptyArguments,
  initial,
  looseText,
  loosely,
  moved,
  renamed,
  shapeOf,
  withMember,
  type Shape,
} from "./model";

const kind = (schema: Json, root: JsonObject = {}) => shapeOf(schema, root).kind;
const texts = (value: Json, schema: JsonObject) => problemsOf(value, schema, schema).map((p) => `${p.path}: ${p.text}`);
function as<K extends Shape["kind"]>(shape: Shape, k: K): Extract<Shape, { kind: K }> {
  assert.equal(shape.kind, k);
  return shape as Extract<Shape, { kind: K }>;
}

test("every type has its field, and what has none is JSON", () => {
  const cases: [Json, Shape["kind"]][] = [
    [{ type: "string" }, "text"],
    [{ type: "string", enum: ["a", "b"] }, "choice"],
    [{ enum: [1, null, "x"] }, "choice"],
    [{ type: "number" }, "number"],
    [{ type: "integer" }, "number"],
    [{ type: "boolean" }, "boolean"],
    [{ type: "null" }, "null"],
    [{ const: 7 }, "const"],
    [{ type: "array", items: { type: "string" } }, "list"],
    [{ type: "object", properties: { a: {} } }, "object"],
    [{ properties: { a: {} } }, "object"],
    [{ minimum: 1 }, "number"],
    [{ type: ["string", "null"] }, "variants"],
    [{ type: ["string"] }, "text"],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "variants"],
    [{ oneOf: [{ const: "a", title: "A" }, { const: "b" }] }, "choice"],
    [{ anyOf: [{ type: "integer" }] }, "number"],
    [{ type: "object", properties: { a: {} }, oneOf: [{ required: ["a"] }] }, "object"],
    [{}, "raw"],
    [true, "raw"],
    [{ type: "made-up" }, "raw"],
    [{ type: "constructor" }, "raw"],
    [{ $ref: "http://elsewhere/schema" }, "raw"],
  ];
  for (const [schema, want] of cases) assert.equal(kind(schema), want, JSON.stringify(schema));
});

test("a number keeps its limits", () => {
  const n = as(shapeOf({ type: "integer", minimum: 1, exclusiveMaximum: 9, multipleOf: 2 }, {}), "number");
  assert.deepEqual(n, { kind: "number", whole: true, min: 1, max: 9, step: 2 });
});

test("references are followed, also through each other, and what stands beside them counts", () => {
  const root: JsonObject = {
    $defs: { "a/b": { $ref: "#/$defs/name" }, name: { type: "string", description: "old" }, loop: { $ref: "#/$defs/loop" } },
  };
  assert.equal(kind({ $ref: "#/$defs/a~1b" }, root), "text");
  assert.equal(kind({ $ref: "#/$defs/a%2Fb" }, root), "raw");
  assert.equal(kind({ $ref: "#/$defs/loop" }, root), "raw");
  assert.equal(kind({ $ref: "#/$defs/none" }, root), "raw");
  assert.equal(kind({ $ref: "#/$defs/name", enum: ["x"] }, root), "choice");
});

test("allOf is one object with the members of all", () => {
  const shape = as(
    shapeOf(
      {
        allOf: [
          { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { b: { type: "number" } }, required: ["b"] },
        ],
      },
      {},
    ),
    "object",
  );
  assert.deepEqual(
    shape.members.map((m) => [m.name, m.required]),
    [
      ["a", true],
      ["b", true],
    ],
  );
});

test("further members are offered where the schema has room for them", () => {
  assert.equal(as(shapeOf({ type: "object", properties: { a: {} } }, {}), "object").extra, null);
  assert.deepEqual(as(shapeOf({ type: "object" }, {}), "object").extra, {});
  assert.equal(as(shapeOf({ type: "object", additionalProperties: false }, {}), "object").extra, null);
  const typed = shapeOf({ type: "object", properties: { a: {} }, additionalProperties: { type: "string" } }, {});
  assert.deepEqual(as(typed, "object").extra, { type: "string" });
});

test("a tuple has a field of its own for each place", () => {
  const list = as(shapeOf({ type: "array", prefixItems: [{ type: "string" }], items: { type: "number" } }, {}), "list");
  assert.equal(kind(list.item(0)), "text");
  assert.equal(kind(list.item(1)), "number");
});

test("a form starts with what the schema gives, and no more", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      text: { type: "string" },
      count: { type: "number", default: 3 },
      flag: { type: "boolean" },
      version: { const: "v1" },
      where: { type: "object", properties: { city: { type: "string", default: "Ulm" } } },
      must: { type: "object", properties: { list: { type: "array" } }, required: ["list"] },
      maybe: { const: "x" },
    },
    required: ["text", "flag", "version", "must"],
  };
  assert.deepEqual(emptyArguments(schema), { count: 3, flag: false, version: "v1", must: { list: [] } });
  assert.deepEqual(emptyArguments({ type: "array" }), {});
  assert.deepEqual(initial({ type: ["string", "null"] }, {}, false), undefined);
  assert.equal(added({ type: "string" }, {}), "");
  assert.equal(added({ enum: ["a", "b"] }, {}), "a");
});

test("a schema that is made of itself has an end", () => {
  const tree: JsonObject = {
    type: "object",
    properties: { name: { type: "string" }, left: { $ref: "#" }, right: { $ref: "#" } },
    required: ["name", "left", "right"],
  };
  assert.ok(JSON.stringify(emptyArguments(tree)).length < 20_000);
  const wide: JsonObject = { type: "object", properties: {}, required: [] };
  for (let i = 0; i < 40; i++) {
    (wide["properties"] as JsonObject)[`m${i}`] = { $ref: "#" };
    (wide["required"] as Json[]).push(`m${i}`);
  }
  assert.ok(JSON.stringify(emptyArguments(wide)).length < 100_000);
  for (const self of [{ anyOf: [{ $ref: "#" }] }, { anyOf: [{ $ref: "#" }, { $ref: "#" }] }, { allOf: [{ $ref: "#" }] }] as JsonObject[]) {
    assert.ok(shapeOf(self, self));
    assert.ok(Array.isArray(problemsOf("x", self, self)));
    initial(self, self, true);
  }
});

test("what is wrong is said at its place", () => {
  const schema: JsonObject = {
    type: "object",
    properties: {
      name: { type: "string", minLength: 2, pattern: "^[a-z]+$" },
      count: { type: "integer", minimum: 1, maximum: 10 },
      size: { enum: ["S", "M"] },
      "a/b": { type: "array", items: { type: "number" }, minItems: 1 },
      on: { type: "boolean" },
    },
    required: ["name", "count"],
  };
  assert.deepEqual(texts({}, schema), ["/name: This is required.", "/count: This is required."]);
  assert.deepEqual(texts({ name: "ab", count: 3 }, schema), []);
  assert.deepEqual(texts({ name: "A1", count: "many" }, schema), [
    "/name: Does not fit the pattern ^[a-z]+$",
    "/count: Expected a whole number.",
  ]);
  assert.deepEqual(texts({ name: "a", count: 1.5 }, schema), ["/name: At least 2 letters.", "/count: Expected a whole number."]);
  assert.deepEqual(texts({ name: "ab", count: 11, size: "L", "a/b": [1, "x"], on: "yes" }, schema), [
    "/count: At most 10.",
    "/size: One of: S, M",
    "/a~1b/1: Expected a number.",
    "/on: Expected yes or no.",
  ]);
  assert.deepEqual(texts({ name: "ab", count: 1, "a/b": [] }, schema), ["/a~1b: At least 1 of them."]);
  assert.deepEqual(texts(0.3, { multipleOf: 0.1, type: "number" }), []);
  assert.deepEqual(texts(5, { exclusiveMinimum: 5, type: "number" }), [": More than 5."]);
});

test("a member named like a part of every object is missed when it is not there", () => {
  const schema: JsonObject = { type: "object", properties: { constructor: { type: "string" } }, required: ["constructor"] };
  assert.deepEqual(texts({}, schema), ["/constructor: This is required."]);
  const hostile = JSON.parse('{"__proto__":{"x":1}}') as JsonObject;
  const copy = withMember(hostile, "a", 1);
  assert.ok(Object.hasOwn(copy, "__proto__"));
  assert.equal(JSON.stringify(withMember({}, "__proto__", "v")), '{"__proto__":"v"}');
  assert.equal(JSON.stringify(renamed({ a: 1, b: 2 }, "a", "__proto__")), '{"__proto__":1,"b":2}');
});

test("of several variants the value tells which it is, unless a person has chosen", () => {
  const schema: JsonObject = {
    anyOf: [
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      { type: "object", properties: { b: { type: "string" } }, required: ["b"] },
      { type: "null" },
    ],
  };
  const { variants } = as(shapeOf(schema, schema), "variants");
  const at = (value: Json, choices = new Map<string, number>()) => variantOf(value, variants, schema, choices, "");
  assert.equal(at({ a: "x" }), 0);
  assert.equal(at({ b: "x" }), 1);
  assert.equal(at(null), 2);
  assert.equal(at({}, new Map([["", 1]])), 1);
  assert.equal(at(null, new Map([["", 1]])), 2);
  assert.deepEqual(problemsOf({}, schema, schema, new Map([["", 1]])), [{ path: "/b", text: "This is required." }]);
});

test("a pattern that can take forever is left to the server", () => {
  for (const p of ["^(a+)+$", "(a|b)*c", "(x{1,9}){1,9}", "a*b*c*d*e", "(a)\\1", "(?=a)"]) assert.equal(isQuick(p), false, p);
  for (const p of ["^[a-z]+$", "^\\d{4}-\\d{2}$", "^(a|b)?$"]) assert.equal(isQuick(p), true, p);
  const slow: JsonObject = { type: "string", pattern: "^(a+)+$" };
  assert.deepEqual(texts("a".repeat(60) + "!", slow), []);
  assert.deepEqual(texts("x", { type: "string", pattern: "(" }), []);
});

test("rows move and members are renamed at their place", () => {
  assert.deepEqual(moved(["a", "b", "c"], 0, 2), ["b", "c", "a"]);
  assert.deepEqual(moved(["a", "b", "c"], 2, 0), ["c", "a", "b"]);
  assert.deepEqual(Object.keys(renamed({ a: 1, b: 2 }, "a", "z")), ["z", "b"]);
  assert.deepEqual(renamed({ a: 1, b: 2 }, "a", "b"), { a: 1, b: 2 });
});

test("a field without a shape takes JSON or text, and shows it again as it was", () => {
  const cases: [string, Json | undefined][] = [
    ["", undefined],
    ["hello", "hello"],
    ["12", 12],
    ['"12"', "12"],
    ["[1]", [1]],
    ['{"a":', '{"a":'],
  ];
  for (const [text, value] of cases) {
    assert.deepEqual(loosely(text), value, text);
    assert.deepEqual(loosely(looseText(value)), value, text);
  }
});
