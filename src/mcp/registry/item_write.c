#include "item.h"
#include "mcp/rpc/rpc.h"

/* Optional members by the revision that brought them. */
static bool since(const struct revision *rev, const char *date)
{
    return strcmp(rev->date, date) >= 0;
}

/* clang-format off */
static const struct {
    const char *hint;
    unsigned flag;
    bool value;
} hints[] = {
    { "readOnlyHint",    PB_READ_ONLY,    true },
    { "destructiveHint", PB_DESTRUCTIVE,  true },
    { "destructiveHint", PB_ADDITIVE,     false },
    { "idempotentHint",  PB_IDEMPOTENT,   true },
    { "openWorldHint",   PB_OPEN_WORLD,   true },
    { "openWorldHint",   PB_CLOSED_WORLD, false },
};
/* clang-format on */

static void write_hints(struct json_out *o, unsigned flags)
{
    bool open = false;

    for (size_t k = 0; k < ARRAY_LEN(hints); k++) {
        if (!(flags & hints[k].flag))
            continue;
        if (!open)
            json_begin_object(o, "annotations");
        open = true;
        json_put_bool(o, hints[k].hint, hints[k].value);
    }
    if (open)
        json_end(o);
}

static void write_tool(const struct item *i, struct json_out *o, const struct revision *rev)
{
    json_put_raw(o, "inputSchema", i->input_schema);
    if (rev->structured && (rev->era == ERA_MODERN || i->output_is_object))
        json_put_raw(o, "outputSchema", i->output_schema);
    if (since(rev, "2025-03-26"))
        write_hints(o, i->flags);
}

static void write_resource(const struct item *i, struct json_out *o, const struct revision *rev)
{
    (void)rev;
    json_put_str_opt(o, "mimeType", i->mime_type);
    json_put_raw(o, "annotations", i->annotations);
    if (i->size > 0)
        json_put_int(o, "size", i->size);
}

static void write_prompt(const struct item *i, struct json_out *o, const struct revision *rev)
{
    (void)rev;
    if (!i->n_args)
        return;
    json_begin_array(o, "arguments");
    for (size_t k = 0; k < i->n_args; k++) {
        json_begin_object(o, NULL);
        json_put_str(o, "name", i->args[k].name);
        json_put_str_opt(o, "description", i->args[k].description);
        json_put_bool(o, "required", i->args[k].required);
        json_end(o);
    }
    json_end(o);
}

/* clang-format off */
static const struct {
    const char *key; /* what the item is found by, where that is not its name */
    void (*rest)(const struct item *i, struct json_out *o, const struct revision *rev);
} kinds[] = {
    [ITEM_TOOL]     = { NULL,          write_tool },
    [ITEM_RESOURCE] = { "uri",         write_resource },
    [ITEM_TEMPLATE] = { "uriTemplate", write_resource },
    [ITEM_PROMPT]   = { NULL,          write_prompt },
};
/* clang-format on */

void item_write(const struct item *i, struct buf *out, const struct revision *rev)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    if (kinds[i->kind].key)
        json_put_span(&o, kinds[i->kind].key, i->key);
    json_put_str(&o, "name", i->name);
    if (rev->structured)
        json_put_str_opt(&o, "title", i->title);
    json_put_str_opt(&o, "description", i->description);
    kinds[i->kind].rest(i, &o, rev);
    if (since(rev, "2025-11-25"))
        json_put_raw(&o, "icons", i->icons);
    if (rev->structured)
        json_put_raw(&o, "_meta", i->meta);
    json_end(&o);
}
