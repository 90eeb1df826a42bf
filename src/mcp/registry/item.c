#include "item.h"
#include "mcp/rpc/rpc.h"

enum { TOOL_NAME_MAX = 128 };

static const unsigned contradictions[] = {
    PB_DESTRUCTIVE | PB_ADDITIVE,
    PB_OPEN_WORLD | PB_CLOSED_WORLD,
};

static void item_free(struct item *i)
{
    params_free(i->params);
    schema_free(i->input);
    schema_free(i->output);
    uri_template_free(i->match);
    arena_done(&i->arena);
    free(i);
}

struct item *item_ref(struct item *i)
{
    atomic_fetch_add(&i->refs, 1);
    return i;
}

void item_unref(struct item *i)
{
    if (i && atomic_fetch_sub(&i->refs, 1) == 1)
        item_free(i);
}

static struct item *item_new(enum item_kind kind)
{
    struct item *i = NEW(struct item);

    atomic_store(&i->refs, 1);
    i->kind = kind;
    return i;
}

static const char *copy(struct item *i, const char *s)
{
    return s ? arena_dup(&i->arena, span_of(s)) : NULL;
}

/* JSON that the program wrote goes out as it is, so it must be right. */
static int copy_json(struct item *i, struct span *out, const char *what, const char *text,
                     enum json_type type, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_opts opts = { .keep_depth = 1, .unique_depth = JSON_ALL };

    if (!text)
        return 0;
    if (json_parse(&doc, span_of(text), &opts, err) < 0)
        return fail_in(err, "%s", what);
    if (!json_is(json_root(&doc), type))
        return fail(err, PB_E_INVALID, "%s: expected a JSON %s, got %s", what,
                    type == JSON_ARRAY ? "array" : "object", json_type_name(json_root(&doc)));
    /* without the white space around it, and in one line: stdio has lines */
    *out = json_text(json_root(&doc));
    if (memchr(out->p, '\n', out->n) || memchr(out->p, '\r', out->n)) {
        AUTO_BUF struct buf line = { 0 };

        for (size_t k = 0; k < out->n; k++)
            if (out->p[k] != '\n' && out->p[k] != '\r')
                buf_byte(&line, out->p[k]);
        *out = (struct span){ arena_dup(&i->arena, buf_span(&line)), line.n };
        return 0;
    }
    out->p = arena_dup(&i->arena, *out);
    return 0;
}

static int check_tool(const struct pb_tool *t, struct pb_error *err)
{
    size_t n = t->name ? strlen(t->name) : 0;

    if (n == 0 || n > TOOL_NAME_MAX)
        return fail(err, PB_E_INVALID, "a tool's name has 1 to %d characters", TOOL_NAME_MAX);
    for (size_t k = 0; k < n; k++) {
        char c = t->name[k];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-' || c == '.' || c == '/'))
            return fail(err, PB_E_INVALID, "the name may hold A-Z a-z 0-9 _ - . / only");
    }
    if (!t->run)
        return fail(err, PB_E_INVALID, "has no function to run");
    if (t->params && t->input_schema)
        return fail(err, PB_E_INVALID, "has params and an input_schema; give one of them");
    for (size_t k = 0; k < ARRAY_LEN(contradictions); k++)
        if ((t->flags & contradictions[k]) == contradictions[k])
            return fail(err, PB_E_INVALID, "has flags that contradict each other");
    return 0;
}

/* Root type "object", as every revision wants of an input schema and the legacy ones of an output
 * schema. */
static bool is_object_schema(struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_opts opts = { .keep_depth = 1 };

    return json_parse(&doc, text, &opts, NULL) == 0 &&
           json_str_is(json_get(json_root(&doc), "type"), "object");
}

static int set_input(struct item *i, const struct pb_tool *t, struct pb_error *err)
{
    struct header_params headers = { 0 };
    AUTO_BUF struct buf text = { 0 };

    if (t->input_schema) {
        if (copy_json(i, &i->input_schema, "input_schema", t->input_schema, JSON_OBJECT, err) < 0)
            return -(int)err->code;
        if (schema_compile(&i->input, i->input_schema, err) < 0)
            return fail_in(err, "input_schema");
        if (!is_object_schema(i->input_schema))
            return fail(err, PB_E_INVALID, "input_schema: the root must have \"type\": \"object\"");
    } else {
        if (params_new(&i->params, t->params, err) < 0)
            return -(int)err->code;
        params_schema(i->params, &text);
        i->input_schema = (struct span){ arena_dup(&i->arena, buf_span(&text)), text.n };
    }
    if (header_params_read(&headers, i->input_schema, err) < 0)
        return -(int)err->code;
    header_params_done(&headers);
    return 0;
}

static int set_output(struct item *i, const char *schema, struct pb_error *err)
{
    if (!schema)
        return 0;
    if (copy_json(i, &i->output_schema, "output_schema", schema, JSON_OBJECT, err) < 0)
        return -(int)err->code;
    if (schema_compile(&i->output, i->output_schema, err) < 0)
        return fail_in(err, "output_schema");
    i->output_is_object = is_object_schema(i->output_schema);
    return 0;
}

int item_of_tool(struct item **out, const struct pb_tool *t, struct pb_error *err)
{
    AUTO(item) struct item *i = item_new(ITEM_TOOL);
    struct pb_error why;

    i->name = copy(i, t->name);
    i->key = span_of(i->name);
    i->title = copy(i, t->title);
    i->description = copy(i, t->description);
    i->flags = t->flags;
    i->timeout_ms = t->timeout_ms;
    i->run = t->run;
    i->ctx = t->ctx;
    if (check_tool(t, &why) < 0 || set_input(i, t, &why) < 0 ||
        set_output(i, t->output_schema, &why) < 0 ||
        copy_json(i, &i->icons, "icons", t->icons, JSON_ARRAY, &why) < 0 ||
        copy_json(i, &i->meta, "meta", t->meta, JSON_OBJECT, &why) < 0) {
        fail_in(&why, "tool '%.*s'", TOOL_NAME_MAX, t->name ? t->name : "");
        return fail_copy(err, &why);
    }
    *out = TAKE(i);
    return 0;
}

static int check_resource(const struct pb_resource *r, bool is_template, struct pb_error *err)
{
    size_t n = r->uri ? strlen(r->uri) : 0;

    if (n == 0 || n > MCP_URI_BYTES_MAX)
        return fail(err, PB_E_INVALID, "a URI has 1 to %d bytes", MCP_URI_BYTES_MAX);
    if (!r->name || !*r->name)
        return fail(err, PB_E_INVALID, "has no name");
    if (!r->read)
        return fail(err, PB_E_INVALID, "has no function to read it");
    if (r->complete && !is_template)
        return fail(err, PB_E_INVALID, "only templates have something to complete");
    return 0;
}

int item_of_resource(struct item **out, const struct pb_resource *r, bool is_template,
                     struct pb_error *err)
{
    AUTO(item) struct item *i = item_new(is_template ? ITEM_TEMPLATE : ITEM_RESOURCE);
    struct pb_error why;

    i->key = span_of(copy(i, r->uri));
    i->name = copy(i, r->name);
    i->title = copy(i, r->title);
    i->description = copy(i, r->description);
    i->mime_type = copy(i, r->mime_type);
    i->size = is_template ? 0 : r->size;
    i->flags = r->flags & PB_ON_LOOP;
    i->run = r->read;
    i->complete = r->complete;
    i->ctx = r->ctx;
    if (check_resource(r, is_template, &why) < 0 ||
        (is_template && uri_template_new(&i->match, i->key, &why) < 0) ||
        copy_json(i, &i->icons, "icons", r->icons, JSON_ARRAY, &why) < 0 ||
        copy_json(i, &i->annotations, "annotations", r->annotations, JSON_OBJECT, &why) < 0 ||
        copy_json(i, &i->meta, "meta", r->meta, JSON_OBJECT, &why) < 0) {
        fail_in(&why, "resource '%.100s'", r->uri ? r->uri : "");
        return fail_copy(err, &why);
    }
    *out = TAKE(i);
    return 0;
}

static void copy_args(struct item *i, const struct pb_prompt_arg *args)
{
    size_t n = 0;

    while (args && args[n].name)
        n++;
    i->args = arena_alloc(&i->arena, (n + 1) * sizeof *i->args);
    i->n_args = n;
    for (size_t k = 0; k < n; k++)
        i->args[k] = (struct pb_prompt_arg){ copy(i, args[k].name), copy(i, args[k].description),
                                             args[k].required };
}

int item_of_prompt(struct item **out, const struct pb_prompt *p, struct pb_error *err)
{
    AUTO(item) struct item *i = item_new(ITEM_PROMPT);
    struct pb_error why = { 0 };

    i->name = copy(i, p->name);
    i->key = span_of(i->name);
    i->title = copy(i, p->title);
    i->description = copy(i, p->description);
    i->flags = p->flags & PB_ON_LOOP;
    i->run = p->get;
    i->complete = p->complete;
    i->ctx = p->ctx;
    copy_args(i, p->args);
    if (i->key.n == 0)
        return fail(err, PB_E_INVALID, "a prompt has no name");
    if (!i->run)
        return fail(err, PB_E_INVALID, "prompt '%.100s': has no function to get it", p->name);
    if (copy_json(i, &i->icons, "icons", p->icons, JSON_ARRAY, &why) < 0 ||
        copy_json(i, &i->meta, "meta", p->meta, JSON_OBJECT, &why) < 0) {
        fail_in(&why, "prompt '%.100s'", p->name);
        return fail_copy(err, &why);
    }
    *out = TAKE(i);
    return 0;
}
