/* rest_schema.c - shapes as JSON Schema, for /openapi.json. What a shape has of its base is written
 * into it once more: only so can members be forbidden that neither has. */
#include "rest_impl.h"

enum { SHAPES_MAX = 128 };

/* clang-format off */
static const char *const names[] = {
    [REST_STRING] = "string",  [REST_COUNT] = "integer", [REST_NUMBER] = "number",
    [REST_BOOL]   = "boolean", [REST_OBJECT] = "object", [REST_ANY] = NULL,
    [REST_SCALAR] = NULL,      [REST_SHAPE] = NULL,
};
/* clang-format on */

void rest_put_type(struct json_out *o, enum rest_type type, bool nullable)
{
    if (type == REST_SCALAR)
        json_put_raw(o, "type", SPAN("[\"boolean\",\"number\",\"string\",\"null\"]"));
    if (names[type] && nullable) {
        json_begin_array(o, "type");
        json_put_str(o, NULL, names[type]);
        json_put_str(o, NULL, "null");
        json_end(o);
    } else {
        json_put_str_opt(o, "type", names[type]);
    }
    if (type == REST_COUNT)
        json_put_uint(o, "minimum", 0);
}

void rest_put_ref(struct json_out *o, const struct rest_shape *shape)
{
    json_put_fmt(o, "$ref", "#/components/schemas/%s", shape->name);
}

/* ---- one member ---- */

/* One of them, whether it is alone, in a list or in a map. */
static void put_one(struct json_out *o, const struct rest_field *f)
{
    if (f->type == REST_SHAPE)
        rest_put_ref(o, f->shape);
    rest_put_type(o, f->type, f->how & REST_NULLABLE);
    if (!f->word || f->how & REST_MAP)
        return;
    json_begin_array(o, "enum");
    for (unsigned i = 0; f->word(i); i++)
        json_put_str(o, NULL, f->word(i));
    json_end(o);
}

static void put_under(struct json_out *o, const char *key, const struct rest_field *f)
{
    json_begin_object(o, key);
    put_one(o, f);
    json_end(o);
}

static void put_map(struct json_out *o, const struct rest_field *f)
{
    json_put_str(o, "type", "object");
    if (!f->word) {
        put_under(o, "additionalProperties", f);
        return;
    }
    json_begin_object(o, "properties");
    for (unsigned i = 0; f->word(i); i++)
        put_under(o, f->word(i), f);
    json_end(o);
    json_put_bool(o, "additionalProperties", false);
}

static void put_field(struct json_out *o, const struct rest_field *f)
{
    json_begin_object(o, f->name);
    if (f->how & REST_MAP) {
        put_map(o, f);
    } else if (f->how & REST_LIST) {
        json_put_str(o, "type", "array");
        put_under(o, "items", f);
    } else {
        put_one(o, f);
    }
    json_put_str_opt(o, "description", f->help);
    json_end(o);
}

/* ---- one shape ---- */

static void put_fields(struct json_out *o, const struct rest_shape *s)
{
    if (s->base)
        put_fields(o, s->base);
    for (const struct rest_field *f = s->fields; f && f->name; f++)
        put_field(o, f);
}

static void put_required(struct json_out *o, const struct rest_shape *s)
{
    if (s->base)
        put_required(o, s->base);
    for (const struct rest_field *f = s->fields; f && f->name; f++)
        if (!(f->how & REST_OPTIONAL))
            json_put_str(o, NULL, f->name);
}

static void put_object(struct json_out *o, const struct rest_shape *s)
{
    json_put_str(o, "type", "object");
    json_begin_object(o, "properties");
    if (s->tag) {
        json_begin_object(o, "type");
        json_put_str(o, "const", s->tag);
        json_end(o);
    }
    put_fields(o, s);
    json_end(o);
    json_begin_array(o, "required");
    if (s->tag)
        json_put_str(o, NULL, "type");
    put_required(o, s);
    json_end(o);
    json_put_bool(o, "additionalProperties", s->foreign);
}

static void put_choice(struct json_out *o, const struct rest_shape *s)
{
    json_begin_array(o, "oneOf");
    for (const struct rest_shape *const *p = s->one_of; *p; p++) {
        json_begin_object(o, NULL);
        rest_put_ref(o, *p);
        json_end(o);
    }
    json_end(o);
    json_put_raw(o, "discriminator", SPAN("{\"propertyName\":\"type\"}"));
}

/* ---- all of them ---- */

struct found {
    const struct rest_shape *all[SHAPES_MAX];
    size_t n;
};

static void find(struct found *in, const struct rest_shape *s);

static void find_within(struct found *in, const struct rest_shape *s)
{
    if (s->base)
        find_within(in, s->base);
    for (const struct rest_field *f = s->fields; f && f->name; f++)
        find(in, f->shape);
    for (const struct rest_shape *const *p = s->one_of; p && *p; p++)
        find(in, *p);
}

static void find(struct found *in, const struct rest_shape *s)
{
    for (size_t i = 0; s && i < in->n; i++)
        if (in->all[i] == s)
            return;
    if (!s)
        return;
    assert(in->n < SHAPES_MAX);
    in->all[in->n++] = s;
    find_within(in, s);
}

void rest_put_schemas(struct json_out *o, const char *key)
{
    struct found found = { 0 };

    find(&found, &rest_failure_shape);
    find(&found, &rest_event_shape);
    for (const struct rest_route *t = rest_routes; t->method; t++) {
        find(&found, t->answer);
        find(&found, t->plan);
    }
    json_begin_object(o, key);
    for (size_t i = 0; i < found.n; i++) {
        json_begin_object(o, found.all[i]->name);
        (found.all[i]->one_of ? put_choice : put_object)(o, found.all[i]);
        json_put_str_opt(o, "description", found.all[i]->help);
        json_end(o);
    }
    json_end(o);
}

const char *rest_example(const struct rest_shape *shape)
{
    for (const struct rest_example *e = rest_examples; e->shape; e++)
        if (strcmp(e->shape, shape->name) == 0)
            return e->json;
    return NULL;
}
