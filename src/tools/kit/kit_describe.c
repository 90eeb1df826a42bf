/* kit_describe.c - what clients are shown of a tool: one schema for an operation, and one for the
 * tool as a whole, in which every parameter says for which operations it is. */
#include "kit_impl.h"
#include "mcp/registry/registry.h"
#include <assert.h>

enum { PARAMS_MAX = 64 };

struct hint {
    const char *key;
    unsigned flag;
    bool value;
};

/* Of several operations a tool may do whatever one of them may. */
static void put_annotations(struct json_out *o, const struct tool *t,
                            const struct tool_operation *one)
{
    bool read_only = true, destructive = false, open = false;

    for (const struct tool_operation *op = one ? one : t->operations; op->run; op++) {
        read_only &= (op->flags & PB_READ_ONLY) != 0;
        destructive |= (op->flags & PB_DESTRUCTIVE) != 0;
        open |= (op->flags & PB_OPEN_WORLD) != 0;
        if (one)
            break;
    }
    json_begin_object(o, "annotations");
    json_put_bool(o, "readOnlyHint", read_only);
    if (!read_only)
        json_put_bool(o, "destructiveHint", destructive);
    json_put_bool(o, "openWorldHint", open);
    json_end(o);
}

static void put_schema(struct json_out *o, const struct pb_param *params)
{
    struct params *p = NULL;
    AUTO_BUF struct buf text = { 0 };
    struct pb_error err;
    int rc = params_new(&p, params, &err);

    if (rc < 0)
        log_error("a built-in tool: %s", err.msg);
    assert(rc == 0 && "a row of the table is well-formed");
    params_schema(p, &text);
    params_free(p);
    json_put_raw(o, "inputSchema", buf_span(&text));
}

/* ---- all operations together ---- */

struct union_of {
    struct pb_param v[PARAMS_MAX + 1];
    const char *used_by[PARAMS_MAX]; /* the operations, for the description */
    size_t n;
    struct arena arena;
};

static size_t place_of(struct union_of *u, const struct pb_param *p)
{
    size_t i = 0;

    while (i < u->n && strcmp(u->v[i].name, p->name) != 0)
        i++;
    if (i < u->n)
        return i;
    assert(u->n < PARAMS_MAX);
    u->v[i] = *p;
    u->v[i].flags |= PB_OPTIONAL;
    u->v[i].fallback = NULL; /* operations may differ in it */
    u->used_by[i] = "";
    u->n++;
    return i;
}

static void take_params(struct union_of *u, const struct tool_operation *op)
{
    for (const struct pb_param *p = op->params; p && p->name; p++) {
        AUTO_BUF struct buf used = { 0 };
        size_t i = place_of(u, p);

        buf_printf(&used, "%s%s%s", u->used_by[i], *u->used_by[i] ? ", " : "", op->name);
        u->used_by[i] = arena_dup(&u->arena, buf_span(&used));
    }
}

static void put_union(struct json_out *o, const struct tool *t)
{
    struct union_of u = { 0 };
    const char **names;
    size_t n = 0;

    for (const struct tool_operation *op = t->operations; op->run; op++)
        n++;
    names = mem_zero((n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++)
        names[i] = t->operations[i].name;
    u.v[0] = (struct pb_param){
        .name = "operation", .type = PB_ONE_OF, .options = names, .description = "What to do"
    };
    u.used_by[0] = "";
    u.n = 1;
    for (const struct tool_operation *op = t->operations; op->run; op++)
        take_params(&u, op);
    for (size_t i = 1; i < u.n; i++) {
        AUTO_BUF struct buf text = { 0 };

        buf_printf(&text, "%s (%s)", u.v[i].description ? u.v[i].description : "", u.used_by[i]);
        u.v[i].description = arena_dup(&u.arena, buf_span(&text));
    }
    put_schema(o, u.v);
    arena_done(&u.arena);
    free(names);
}

static void put_help(struct json_out *o, const struct tool *t, const struct tool_operation *one)
{
    AUTO_BUF struct buf text = { 0 };

    buf_str(&text, one ? one->help : t->help);
    for (const struct tool_operation *op = t->operations; !one && op->run && op->name; op++)
        buf_printf(&text, "%s%s: %s", op == t->operations ? "\n\nOperations:\n- " : "\n- ",
                   op->name, op->help);
    json_put_span(o, "description", buf_span(&text));
}

void kit_describe(struct buf *out, const struct tool *t, const struct tool_operation *op)
{
    struct json_out o = json_out(out);

    if (!op && op_is_tool(t->operations))
        op = t->operations;
    json_begin_object(&o, NULL);
    if (op && !op_is_tool(op))
        json_put_fmt(&o, "name", "%s.%s", t->name, op->name);
    else
        json_put_str(&o, "name", t->name);
    json_put_str(&o, "title", t->title);
    if (op && op_is_tool(op) && !op->help)
        json_put_str(&o, "description", t->help);
    else
        put_help(&o, t, op);
    if (op)
        put_schema(&o, op->params);
    else
        put_union(&o, t);
    put_annotations(&o, t, op);
    if (t->icon) { /* icons of MCP are pictures; this is a word */
        json_begin_object(&o, "_meta");
        json_put_str(&o, KIT_META_ICON, t->icon);
        json_end(&o);
    }
    json_end(&o);
}
