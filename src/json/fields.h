/* fields.h - declared objects: a table says which members an object has and where they go.
 *
 *     static const struct json_field fields[] = {
 *         { "name",      JSON_FIELD_STRING, offsetof(struct p, name), JSON_REQUIRED },
 *         { "arguments", JSON_FIELD_OBJECT, offsetof(struct p, arguments), 0 },
 *         { 0 },
 *     };
 *
 * Members that the table does not name are ignored. null counts as absent. On failure the text
 * names the member and what was expected: "name: expected a string, got a number". */
#pragma once
#include "doc.h"

enum json_field_kind {
    JSON_FIELD_STRING = 1, /* struct span, decoded, in the arena if it had escapes */
    JSON_FIELD_CSTR,       /* char *, terminated, in the arena; a NUL inside is refused */
    JSON_FIELD_INT,        /* int64_t */
    JSON_FIELD_UINT,       /* uint64_t */
    JSON_FIELD_DOUBLE,     /* double */
    JSON_FIELD_BOOL,       /* bool */
    JSON_FIELD_OBJECT,     /* struct json, an object */
    JSON_FIELD_ARRAY,      /* struct json, an array */
    JSON_FIELD_ANY,        /* struct json */
};

enum { JSON_REQUIRED = 1 };

struct json_field {
    const char *name;
    enum json_field_kind kind;
    size_t offset;
    unsigned flags;
};

/* Fills *out; members that are absent leave their place as it was. v must be an object (absent
 * and null count as {}). */
MUST_CHECK int json_fields(struct json v, const struct json_field *table, void *out,
                           struct arena *arena, struct pb_error *err);
