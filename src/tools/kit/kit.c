#include "hub/hub/hub.h"
#include "kit_impl.h"
#include "mcp/registry/registry.h"
#include <assert.h>

/* ---- one tool ---- */

enum { PB_FLAGS = 0xffff }; /* those of the library */

/* The operation NULL: the tool as a whole, of which kit_run() can only say which operations it has.
 */
static struct kit_entry *entry_new(struct kit *k, const struct tool *t, void **state,
                                   const struct tool_operation *op)
{
    struct kit_entry *e = NEW(struct kit_entry);
    AUTO_BUF struct buf name = { 0 };

    *e = (struct kit_entry){ k, t, op, state, NULL };
    buf_str(&name, t->name);
    if (op && !op_is_tool(op))
        buf_printf(&name, ".%s", op->name);
    e->name = mem_dup(buf_cstr(&name));
    map_put(&k->entries, span_of(e->name), e);
    return e;
}

/* What is missing is told by kit_run(), in the words that tools have for it. */
static struct pb_param *all_optional(const struct pb_param *params)
{
    struct pb_param *copy;
    size_t n = 0;

    while (params && params[n].name)
        n++;
    copy = mem_zero((n + 1) * sizeof *copy);
    for (size_t i = 0; i < n; i++) {
        copy[i] = params[i];
        copy[i].flags |= PB_OPTIONAL;
    }
    return copy;
}

static void serve(struct kit *k, struct kit_entry *e)
{
    AUTO_FREE struct pb_param *params = all_optional(e->op ? e->op->params : NULL);
    struct pb_tool t = { .name = e->name,
                         .description = e->op ? e->op->help : e->tool->help,
                         .params = e->op ? params : NULL,
                         .input_schema = e->op ? NULL : "{\"type\":\"object\"}",
                         .flags = ((e->op ? e->op->flags : 0) & PB_FLAGS) | PB_ON_LOOP,
                         .timeout_ms = UINT32_MAX,
                         .run = kit_run,
                         .ctx = e };
    struct pb_error err;
    int rc = pb_server_add_tool(k->server, &t, &err);

    if (rc < 0)
        log_error("built-in tool '%s': %s", e->name, err.msg);
    assert(rc == 0 && "a row of the table is well-formed");
}

bool kit_is_alone(const struct tool *const *tools, const struct tool_operation *op)
{
    size_t n = 0;

    for (; *tools; tools++) {
        n += strcmp((*tools)->name, op->name) == 0;
        for (const struct tool_operation *o = (*tools)->operations; o->run; o++)
            n += o->name && strcmp(o->name, op->name) == 0;
    }
    return n == 1 && !(op->flags & TOOL_FULL_NAME);
}

static void show_operation(struct kit *k, const struct tool *t, const struct kit_entry *e)
{
    AUTO_BUF struct buf text = { 0 };

    kit_describe(&text, t, e->op);
    catalog_add_alias(hub_catalog(gate_hub(k->gate)), t->group, buf_span(&text),
                      kit_is_alone(k->tools, e->op) ? e->op->name : NULL);
}

static void add_tool(struct kit *k, size_t i)
{
    const struct tool *t = k->tools[i];
    AUTO_BUF struct buf text = { 0 };

    if (t->family && t->family->open)
        k->states[i] = t->family->open(k);
    kit_describe(&text, t, NULL);
    catalog_add_own(hub_catalog(gate_hub(k->gate)), t->group, buf_span(&text));
    if (!op_is_tool(t->operations))
        serve(k, entry_new(k, t, &k->states[i], NULL));
    for (const struct tool_operation *op = t->operations; op->run; op++) {
        struct kit_entry *e = entry_new(k, t, &k->states[i], op);

        serve(k, e);
        if (!op_is_tool(op))
            show_operation(k, t, e);
    }
}

/* ---- the end ---- */

static void kit_free(struct kit *k)
{
    struct map_slot *slot;

    pb_server_free(k->server);
    for (size_t i = 0; k->tools[i]; i++)
        if (k->tools[i]->family && k->tools[i]->family->close)
            k->tools[i]->family->close(k->states[i]);
    MAP_FOREACH(slot, &k->entries) {
        struct kit_entry *e = slot->value;

        free(e->name);
        free(e);
    }
    map_done(&k->entries);
    map_done(&k->lanes);
    timer_stop(&k->limit);
    free(k->states);
    free(k->home);
    free(k->real_home);
    free(k->directory);
    free(k);
}

void kit_maybe_end(struct kit *k)
{
    loop_fn *fn = k->closed;
    void *ctx = k->closed_ctx;

    if (!k->closing || k->running)
        return;
    kit_free(k);
    fn(ctx);
}

static void on_late(void *ctx)
{
    struct kit *k = ctx;

    log_error("%zu calls of built-in tools did not end within %d ms; going on without them",
              k->running, KIT_STOP_MS);
    k->closing = false;
    k->closed(k->closed_ctx);
}

static void kit_close(void *self, loop_fn *fn, void *ctx)
{
    struct kit *k = self;

    k->closing = true;
    k->closed = fn;
    k->closed_ctx = ctx;
    timer_init(&k->limit, k->loop, on_late, k);
    timer_start(&k->limit, KIT_STOP_MS);
    kit_drop_lanes(k);
    kit_maybe_end(k);
}

/* ---- the beginning ---- */

struct kit *kit_new(const struct kit_options *o)
{
    struct pb_server_options server = PB_SERVER_OPTIONS_INIT;
    struct kit *k = NEW(struct kit);
    size_t n = 0;

    k->gate = o->gate;
    k->loop = hub_loop(gate_hub(o->gate));
    k->home = mem_dup(o->home);
    k->real_home = realpath(o->home, NULL);
    if (!k->real_home)
        k->real_home = place_path("/", o->home);
    k->directory = mem_dup_opt(o->directory);
    k->tools = o->tools;
    k->settings = o->settings;
    while (k->tools[n])
        n++;
    k->states = mem_zero((n + 1) * sizeof *k->states);
    server.name = "patchbay-tools";
    server.version = pb_version();
    server.loop = k->loop;
    k->server = pb_server_new(&server);
    for (size_t i = 0; i < n; i++)
        add_tool(k, i);
    k->settings = NULL;
    gate_set_own(k->gate, &(struct own_tools){ kit_read, kit_reaches, k });
    hub_add_own(gate_hub(k->gate), &(struct hub_own){ k->server, kit_close, k });
    return k;
}

const char *kit_home(const struct kit *k) { return k->home; }

const char *kit_real_home(const struct kit *k) { return k->real_home; }

const struct settings *kit_settings(const struct kit *k) { return k->settings; }
