#include "fields.h"

/* What a kind accepts and how it is named in a message. `types` has one bit per enum json_type. */
#define IS(t) (1u << (t))

typedef int read_fn(struct json v, void *place, struct arena *arena, struct pb_error *err);

static int read_string(struct json v, void *place, struct arena *arena, struct pb_error *err)
{
    struct span s = json_str(v, arena);

    (void)err;
    memcpy(place, &s, sizeof s);
    return 0;
}

static int read_cstr(struct json v, void *place, struct arena *arena, struct pb_error *err)
{
    char *s = json_cstr(v, arena);

    if (!s)
        return fail(err, PB_E_INVALID, "a NUL character is not allowed here");
    memcpy(place, &s, sizeof s);
    return 0;
}

static int read_int(struct json v, void *place, struct arena *arena, struct pb_error *err)
{
    (void)arena;
    return json_int(v, place, err);
}

static int read_uint(struct json v, void *place, struct arena *arena, struct pb_error *err)
{
    (void)arena;
    return json_uint(v, place, err);
}

static int read_double(struct json v, void *place, struct arena *arena, struct pb_error *err)
{
    (void)arena;
    return json_double(v, place, err);
}

static int read_bool(struct json v, void *place, struct arena *arena, struct pb_error *err)
{
    bool b = json_bool(v, false);

    (void)arena, (void)err;
    memcpy(place, &b, sizeof b);
    return 0;
}

static int read_value(struct json v, void *place, struct arena *arena, struct pb_error *err)
{
    (void)arena, (void)err;
    memcpy(place, &v, sizeof v);
    return 0;
}

/* clang-format off */
static const struct field_kind {
    unsigned types;
    const char *name;
    read_fn *read;
} kinds[] = {
    [JSON_FIELD_STRING] = { IS(JSON_STRING),                "a string",       read_string },
    [JSON_FIELD_CSTR]   = { IS(JSON_STRING),                "a string",       read_cstr },
    [JSON_FIELD_INT]    = { IS(JSON_NUMBER),                "a whole number", read_int },
    [JSON_FIELD_UINT]   = { IS(JSON_NUMBER),                "a whole number", read_uint },
    [JSON_FIELD_DOUBLE] = { IS(JSON_NUMBER),                "a number",       read_double },
    [JSON_FIELD_BOOL]   = { IS(JSON_TRUE) | IS(JSON_FALSE), "a boolean",      read_bool },
    [JSON_FIELD_OBJECT] = { IS(JSON_OBJECT),                "an object",      read_value },
    [JSON_FIELD_ARRAY]  = { IS(JSON_ARRAY),                 "an array",       read_value },
    [JSON_FIELD_ANY]    = { ~0u,                            "a value",        read_value },
};

/* clang-format on */

static bool absent(struct json v) { return json_is(v, JSON_NONE) || json_is(v, JSON_NULL); }

static int read_field(struct json v, const struct json_field *f, void *out, struct arena *arena,
                      struct pb_error *err)
{
    const struct field_kind *k = &kinds[f->kind];
    int rc;

    if (absent(v)) {
        if (f->flags & JSON_REQUIRED)
            return fail(err, PB_E_INVALID, "%s: missing; expected %s", f->name, k->name);
        return 0;
    }
    if (!(k->types & IS(json_type(v))))
        return fail(err, PB_E_INVALID, "%s: expected %s, got %s", f->name, k->name,
                    json_type_phrase(v));
    rc = k->read(v, (char *)out + f->offset, arena, err);
    if (rc < 0)
        fail_in(err, "%s", f->name);
    return rc;
}

int json_fields(struct json v, const struct json_field *table, void *out, struct arena *arena,
                struct pb_error *err)
{
    if (!absent(v) && !json_is(v, JSON_OBJECT))
        return fail(err, PB_E_INVALID, "expected an object, got %s", json_type_phrase(v));
    for (const struct json_field *f = table; f->name; f++) {
        int rc = read_field(json_get(v, f->name), f, out, arena, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}
