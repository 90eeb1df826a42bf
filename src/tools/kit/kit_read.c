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

static unsigned flags_of(const struct tool_operation *op, const char *name)
{
    const struct pb_param *p = op->params;

    while (strcmp(p->name, name) != 0)
        p++;
    return p->flags;
}

static void put_path(struct json_out *o, const char *key, const char *directory, struct json v)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *said = json_cstr(v, &a);
    AUTO_FREE char *path = *said ? place_path(directory, said) : mem_dup("");

    json_put_str(o, key, path);
}

/* Paths have many spellings, too: rules, and whoever looks at the record, see the one that is
 * meant. */
static void put_argument(struct json_out *o, const char *name, const char *directory,
                         unsigned flags, struct json v)
{
    bool paths = flags & (TOOL_PATH | TOOL_PATH_WRITTEN);

    if (paths && json_is(v, JSON_STRING)) {
        put_path(o, name, directory, v);
    } else if (paths && json_is(v, JSON_ARRAY)) {
        json_begin_array(o, name);
        JSON_FOREACH(one, v) {
            if (json_is(one, JSON_STRING))
                put_path(o, NULL, directory, one);
            else
                json_put_raw(o, NULL, json_text(one));
        }
        json_end(o);
    } else {
        json_put_raw(o, name, json_text(v));
    }
}

/* Those that are spelt as in the row. */
static void note_exact(struct map *out, const struct tool_operation *op, struct json arguments)
{
    for (const struct pb_param *p = op->params; p && p->name; p++)
        if (!json_is(json_get(arguments, p->name), JSON_NONE))
            map_put(out, span_of(p->name), out);
}

static void rewrite(struct buf *out, const struct kit_entry *e, const struct tool_operation *op,
                    const char *directory, struct json arguments)
{
    AUTO_ARENA struct arena a = { 0 };
    struct map taken = { 0 };
    struct json_out o = json_out(out);

    note_exact(&taken, op, arguments);
    json_begin_object(&o, NULL);
    JSON_FOREACH(v, arguments) {
        struct span key = json_key_str(v, &a);
        const char *name = meant(e->tool, op, key);

        if (!name && !op_is_tool(op) && (span_is(key, "operation") || is_of_another(e->tool, key)))
            continue;
        /* Said in two spellings: one stays as it is written, to be refused as one that nobody
         * knows. The row's own spelling counts, or the same key would be there twice. */
        if (name && !span_is(key, name) && map_put(&taken, span_of(name), &taken))
            name = NULL;
        if (name)
            put_argument(&o, name, directory, flags_of(op, name), v);
        else
            json_put_raw_key(&o, key, json_text(v));
    }
    json_end(&o);
    map_done(&taken);
}

void kit_read(void *ctx, const struct own_wish *w, struct buf *name, struct buf *rewritten)
{
    static const struct json_opts shallow = { .keep_depth = 2, .unique_depth = 1 };
    const struct kit *k = ctx;
    const struct kit_entry *e = map_get(&k->entries, w->tool);
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    const struct tool_operation *op = e ? e->op : NULL;

    if (!e || json_parse(&doc, w->arguments.n ? w->arguments : SPAN("{}"), &shallow, NULL) < 0 ||
        !json_is(json_root(&doc), JSON_OBJECT) || json_len(json_root(&doc)) > KIT_ARGUMENTS_MAX)
        return;
    if (!op)
        op = operation_named(e->tool, json_str(json_get(json_root(&doc), "operation"), &a));
    if (!op)
        return;
    buf_str(name, e->tool->name);
    if (!op_is_tool(op))
        buf_printf(name, ".%s", op->name);
    rewrite(rewritten, e, op, kit_directory(k, w->directory, &a), json_root(&doc));
}
