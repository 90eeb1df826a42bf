/* schema.h - JSON Schema 2020-12.
 *
 * All keywords of the core, applicator, unevaluated and validation vocabularies are applied;
 * `format` and the content keywords are annotations, as the draft says. $ref, $dynamicRef,
 * $anchor, $dynamicAnchor, $id and $defs work inside the one document; a reference that leaves
 * it is refused when the schema is compiled, and never fetched. Work is bounded
 * (JSON_SCHEMA_DEPTH_MAX, JSON_SCHEMA_STEPS_MAX, JSON_PATTERN_STEPS_MAX); what hits a bound is
 * an error, never "valid".
 *
 * Numbers are compared as written, without rounding. Patterns are ECMA-262 (schema_pattern.c says
 * how). When $schema names an older draft, `items` may be an array, with additionalItems, and
 * exclusiveMinimum a boolean; `definitions` and `dependencies` are known in any case.
 *
 * Texts name places, keywords and values of the schema, never a value that was checked. */
#pragma once
#include "doc.h"

struct schema;

/* Copies the text. -PB_E_INVALID with the place in the schema when it is no usable schema, which
 * one with duplicate keys is not; -PB_E_LIMIT when it is too large (JSON_SCHEMA_BYTES_MAX,
 * JSON_SCHEMA_SUBS_MAX, JSON_PATTERN_BYTES_MAX, JSON_DEPTH_MAX). */
MUST_CHECK int schema_compile(struct schema **out, struct span text, struct pb_error *err);
void schema_free(struct schema *s);
AUTO_DEFINE(schema, schema_free)

/* 0 when `value` (fully taped) satisfies the schema. Otherwise -PB_E_INVALID and the first
 * failure with its path: "/user/age: expected an integer, got a string"; the root is "value".
 * -PB_E_LIMIT when a bound was hit. Safe from any number of threads at once. */
MUST_CHECK int schema_check(const struct schema *s, struct json value, struct pb_error *err);

/* The schema itself, taped, for those who want to read what it says; a *place* is a schema in it.
 */
struct json schema_root(const struct schema *s);
/* Where the $ref of the schema at `place` leads; JSON_NONE: it has none. A circle has no end: who
 * follows several has a bound. */
struct json schema_follow(const struct schema *s, struct json place);
/* schema_check() with the schema at `place`; paths begin at `value`. */
MUST_CHECK int schema_check_at(const struct schema *s, struct json place, struct json value,
                               struct pb_error *err);
