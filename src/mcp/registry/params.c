#include "params_impl.h"
#include <stdio.h>

/* clang-format off */
static const struct {
    const char *schema; /* the word for "type"; NULL: no constraint */
} types[] = {
    [PB_STRING] = { "string" },
    [PB_INT]    = { "integer" },
    [PB_DOUBLE] = { "number" },
    [PB_BOOL]   = { "boolean" },
    [PB_ARRAY]  = { "array" },
    [PB_OBJECT] = { "object" },
    [PB_ONE_OF] = { "string" },
    [PB_ANY]    = { NULL },
};
/* clang-format on */

void place_print(const struct argument_place *at, char out[static PLACE_CHARS])
{
    size_t left = PLACE_CHARS - 1;
    char piece[PLACE_CHARS];

    out[left] = '\0';
    for (; at; at = at->up) {
        const char *dot = at->up ? "." : "";
        size_t n;

        if (at->key)
            snprintf(piece, sizeof piece, "%s%s", dot, at->key);
        else
            snprintf(piece, sizeof piece, "[%zu]", at->index);
        n = strlen(piece);
        if (n > left) {
            memcpy(out, "..", left < 2 ? left : 2);
            break;
        }
        left -= n;
        memcpy(out + left, piece, n);
    }
    memmove(out, out + left, PLACE_CHARS - left);
}

static int refuse(const struct argument_place *at, struct pb_error *err, const char *why)
{
    char path[PLACE_CHARS];

    place_print(at, path);
    return fail(err, PB_E_INVALID, "parameter '%s': %s", path, why);
}

static int copy_options(struct arena *a, struct param *to, const struct pb_param *from,
                        const struct argument_place *at, struct pb_error *err)
{
    const char **options;
    size_t n = 0;

    while (from->options && from->options[n])
        n++;
    if (n == 0)
        return refuse(at, err, "PB_ONE_OF needs options");
    options = arena_alloc(a, (n + 1) * sizeof *options);
    for (size_t i = 0; i < n; i++)
        options[i] = arena_dup(a, span_of(from->options[i]));
    to->options = options;
    to->n_options = n;
    return 0;
}

/* A fallback goes through the same door as an argument, so that the handler can rely on it. */
static int copy_fallback(struct arena *a, struct param *to, const char *text,
                         const struct argument_place *at, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf fitted = { 0 };
    struct json_opts opts = { .unique_depth = JSON_ALL };

    if (json_parse(&doc, span_of(text), &opts, err) < 0)
        return refuse(at, err, "the fallback is not JSON");
    if (param_write(to, json_root(&doc), &fitted, at, err) < 0)
        return fail_in(err, "fallback of a parameter");
    to->fallback = (struct span){ arena_dup(a, buf_span(&fitted)), fitted.n };
    return 0;
}

static int copy_param(struct arena *a, struct param *to, const struct pb_param *from,
                      const struct argument_place *at, unsigned depth, struct pb_error *err);

static int copy_properties(struct arena *a, struct param *to, const struct pb_param *list,
                           const struct argument_place *at, unsigned depth, struct pb_error *err)
{
    size_t n = 0;

    if (!list) {
        to->open = true;
        return 0;
    }
    while (list[n].name)
        n++;
    if (list[n].type)
        return refuse(at, err, "a property has a type but no name");
    to->of = arena_alloc(a, (n + 1) * sizeof *to->of);
    to->n_of = n;
    for (size_t i = 0; i < n; i++) {
        struct argument_place here = { at, list[i].name, 0 };

        for (size_t k = 0; k < i; k++)
            if (strcmp(list[k].name, list[i].name) == 0)
                return refuse(&here, err, "is there twice");
        if (copy_param(a, &to->of[i], &list[i], &here, depth + 1, err) < 0)
            return -(int)err->code;
    }
    return 0;
}

static int copy_inside(struct arena *a, struct param *to, const struct pb_param *from,
                       const struct argument_place *at, unsigned depth, struct pb_error *err)
{
    struct argument_place element = { at, NULL, 0 };

    if (depth > MCP_PARAM_DEPTH_MAX)
        return fail(err, PB_E_LIMIT, "parameters are nested deeper than %d", MCP_PARAM_DEPTH_MAX);
    if (from->type == PB_OBJECT)
        return copy_properties(a, to, from->of, at, depth, err);
    if (from->type == PB_ONE_OF)
        return copy_options(a, to, from, at, err);
    if (from->type != PB_ARRAY)
        return 0;
    to->open = !from->of;
    if (to->open)
        return 0;
    to->of = arena_alloc(a, sizeof *to->of);
    to->n_of = 1;
    return copy_param(a, to->of, from->of, &element, depth + 1, err);
}

static int copy_param(struct arena *a, struct param *to, const struct pb_param *from,
                      const struct argument_place *at, unsigned depth, struct pb_error *err)
{
    if (from->type < PB_STRING || from->type > PB_ANY)
        return refuse(at, err, "has no type");
    if (from->name && !utf8_valid(span_of(from->name)))
        return refuse(at, err, "the name is not UTF-8");
    to->type = from->type;
    to->name = from->name ? arena_dup(a, span_of(from->name)) : NULL;
    to->key = span_of(to->name);
    to->description = from->description ? arena_dup(a, span_of(from->description)) : NULL;
    to->header = from->header ? arena_dup(a, span_of(from->header)) : NULL;
    if (copy_inside(a, to, from, at, depth, err) < 0)
        return -(int)err->code;
    if (from->fallback && copy_fallback(a, to, from->fallback, at, err) < 0)
        return -(int)err->code;
    to->optional = (from->flags & PB_OPTIONAL) || from->fallback;
    return 0;
}

int params_new(struct params **out, const struct pb_param *list, struct pb_error *err)
{
    static const struct pb_param none[] = { { 0 } };
    AUTO(params) struct params *p = NEW(struct params);
    struct pb_error why;

    p->root.type = PB_OBJECT;
    if (copy_properties(&p->arena, &p->root, list ? list : none, NULL, 1, &why) < 0)
        return fail_copy(err, &why);
    *out = TAKE(p);
    return 0;
}

void params_free(struct params *p)
{
    if (!p)
        return;
    arena_done(&p->arena);
    free(p);
}

static void write_schema(struct json_out *o, const char *key, const struct param *p);

static void write_properties(struct json_out *o, const struct param *p)
{
    json_begin_object(o, "properties");
    for (size_t i = 0; i < p->n_of; i++)
        write_schema(o, p->of[i].name, &p->of[i]);
    json_end(o);
    json_begin_array(o, "required");
    for (size_t i = 0; i < p->n_of; i++)
        if (!p->of[i].optional)
            json_put_str(o, NULL, p->of[i].name);
    json_end(o);
}

static void write_schema(struct json_out *o, const char *key, const struct param *p)
{
    json_begin_object(o, key);
    json_put_str_opt(o, "type", types[p->type].schema);
    if (p->type == PB_ARRAY && !p->open)
        write_schema(o, "items", p->of);
    if (p->type == PB_OBJECT && !p->open)
        write_properties(o, p);
    if (p->type == PB_ONE_OF) {
        json_begin_array(o, "enum");
        for (size_t i = 0; i < p->n_options; i++)
            json_put_str(o, NULL, p->options[i]);
        json_end(o);
    }
    json_put_str_opt(o, "description", p->description);
    json_put_raw(o, "default", p->fallback);
    json_put_str_opt(o, "x-mcp-header", p->header);
    json_end(o);
}

void params_schema(const struct params *p, struct buf *out)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_str(&o, "type", "object");
    write_properties(&o, &p->root);
    json_put_bool(&o, "additionalProperties", false);
    json_end(&o);
}
