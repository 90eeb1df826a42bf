/* kit_read.c - what a call means: which operation, and its arguments in the spelling of its row. */
#include "kit_impl.h"
#include <ctype.h>

static const struct tool_operation *operation_named(const struct tool *t, struct span name)
{
    for (const struct tool_operation *op = t->operations; op->run; op++)
        if (op->name && span_is(name, op->name))
            return op;
    return NULL;
}

/* "file_path" and "filePath" are the same word. */
static bool same_word(struct span a, const char *b)
{
    size_t i = 0;

    for (; i < a.n && *b; i++, b++) {
        if (a.p[i] == '_' && i + 1 < a.n)
            i++;
        if (*b == '_' && b[1])
            b++;
        if (tolower((unsigned char)a.p[i]) != tolower((unsigned char)*b))
            return false;
    }
    return i == a.n && !*b;
}

static const char *param_of(const struct tool_operation *op, struct span key)
{
    const struct pb_param *p;

    for (p = op->params; p && p->name; p++)
        if (span_is(key, p->name))
            return p->name;
    for (p = op->params; p && p->name; p++)
        if (same_word(key, p->name))
            return p->name;
    return NULL;
}

/* How the row spells it; NULL: it is not there. */
static const char *meant(const struct tool *t, const struct tool_operation *op, struct span key)
{
    const char *name = param_of(op, key);

    for (const struct tool_spelling *s = t->spellings; !name && s && s->written; s++)
        if (same_word(key, s->written))
            name = param_of(op, span_of(s->meant));
    return name;
}

/* Models send what another operation of the same tool would want: that is no mistake. */
static bool is_of_another(const struct tool *t, struct span key)
{
    for (const struct tool_operation *op = t->operations; op->run; op++)
        if (meant(t, op, key))
            return true;
    return false;
}

static void rewrite(struct buf *out, const struct tool *t, const struct tool_operation *op,
                    struct json arguments)
{
    AUTO_ARENA struct arena a = { 0 };
    struct map written = { 0 };
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    JSON_FOREACH(v, arguments) {
        struct span key = json_key_str(v, &a);
        const char *name = meant(t, op, key);

        if (!name && !op_is_tool(op) && (span_is(key, "operation") || is_of_another(t, key)))
            continue;
        /* Said in two spellings: one stays as it is written, to be refused as one that nobody
         * knows. The row's own spelling counts, or the same key would be there twice. */
        if (name && !span_is(key, name) &&
            (map_get(&written, span_of(name)) || !json_is(json_get(arguments, name), JSON_NONE)))
            name = NULL;
        json_put_raw_key(&o, name ? span_of(name) : key, json_text(v));
        if (name)
            map_put(&written, span_of(name), &written);
    }
    json_end(&o);
    map_done(&written);
}

void kit_read(void *ctx, struct span tool, struct span arguments, struct buf *name,
              struct buf *rewritten)
{
    static const struct json_opts shallow = { .keep_depth = 1, .unique_depth = 1 };
    const struct kit *k = ctx;
    const struct kit_entry *e = map_get(&k->entries, tool);
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    const struct tool_operation *op = e ? e->op : NULL;

    if (!e || json_parse(&doc, arguments.n ? arguments : SPAN("{}"), &shallow, NULL) < 0 ||
        !json_is(json_root(&doc), JSON_OBJECT))
        return;
    if (!op)
        op = operation_named(e->tool, json_str(json_get(json_root(&doc), "operation"), &a));
    if (!op)
        return;
    buf_str(name, e->tool->name);
    if (!op_is_tool(op))
        buf_printf(name, ".%s", op->name);
    rewrite(rewritten, e->tool, op, json_root(&doc));
}
