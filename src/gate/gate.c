#include "pins_impl.h"

static const char *const face_names[] = {
    [FACE_MCP] = "mcp_server", [FACE_REST] = "rest", [FACE_CLI] = "cli", [FACE_AGENT] = "agent"
};
_Static_assert(ARRAY_LEN(face_names) == FACE_COUNT, "every face has a name");

const char *order_face_name(enum order_face f) { return face_names[f]; }

/* The spec of a server says what is recorded of it. */
static void on_event(void *ctx, const struct hub_event *e)
{
    if (e->kind == EVENT_SERVER_ADDED || e->kind == EVENT_SERVER_REMOVED)
        gate_forget_looks(ctx);
}

/* What was known of tools may not be so any more. */
static void on_lists(void *ctx, enum list_kind kind, const char *server)
{
    (void)server;
    if (kind == LIST_TOOLS)
        gate_forget_looks(ctx);
}

struct gate *gate_new(const struct gate_options *o)
{
    struct gate *g = NEW(struct gate);

    g->hub = o->hub;
    g->loop = hub_loop(o->hub);
    g->store = o->store;
    g->redact = o->redact;
    g->redact_ctx = o->redact_ctx;
    g->policy = policy_new();
    g->grants = grants_new(g->loop, held_more_granted, g);
    list_init(&g->held);
    gate_hold_init(g);
    gate_tune(g, o);
    if (o->pins)
        g->pins = pins_new(g, o->pins);
    g->news = hub_listen(
        o->hub, &(struct hub_listener){
                    .event = on_event, .no_calls = true, .list_changed = on_lists, .ctx = g });
    return g;
}

void gate_tune(struct gate *g, const struct gate_options *o)
{
    g->detail = o->detail;
    gate_forget_looks(g);
    if (g->pins && o->pins)
        pins_tune(g->pins, o->pins->changes);
    g->go_on = o->go_on;
    g->ask_ms = o->ask_ms ? o->ask_ms : GATE_ASK_MS;
}

void gate_close(struct gate *g)
{
    if (!g || g->closing)
        return;
    g->closing = true;
    held_end_all(g);
    timer_stop(&g->beat);
    pins_close(g->pins);
    hub_unlisten(TAKE(g->news));
}

void gate_free(struct gate *g)
{
    if (!g)
        return;
    assert(g->closing && !g->by_id.n && "closed, and the hub, too");
    gate_forget_looks(g);
    pins_free(g->pins);
    policy_unref(g->policy);
    grants_free(g->grants);
    table_done(&g->by_id);
    map_done(&g->by_question);
    if (g->walking) /* what is due at the end of this turn frees it */
        g->freed = true;
    else
        free(g);
}

struct hub *gate_hub(const struct gate *g) { return g->hub; }
struct store *gate_store(const struct gate *g) { return g->store; }
void gate_set_store(struct gate *g, struct store *s) { g->store = s; }
struct pins *gate_pins(const struct gate *g) { return g->pins; }
struct grants *gate_grants(const struct gate *g) { return g->grants; }
const struct policy *gate_policy(const struct gate *g) { return g->policy; }

void gate_set_policy(struct gate *g, struct policy *p)
{
    struct policy *now = p ? policy_ref(p) : policy_new();

    policy_unref(g->policy);
    g->policy = now;
    gate_forget_looks(g);
}

void gate_store_changed(struct gate *g, const struct pb_error *err)
{
    g->down = err != NULL;
    if (err)
        g->why_down = *err;
    held_go_on(g); /* or are told that they cannot */
}

void gate_store_drained(struct gate *g)
{
    if (!g->down || g->go_on)
        held_go_on(g);
}

/* ---- who is told ---- */

bool gate_can_listen(const struct gate *g) { return g->n_listeners < GATE_LISTENERS_MAX; }

void gate_listen(struct gate *g, const struct gate_listener *l)
{
    assert(g->n_listeners < GATE_LISTENERS_MAX);
    g->listeners[g->n_listeners++] = *l;
}

void gate_unlisten(struct gate *g, const void *ctx)
{
    size_t kept = 0;

    for (size_t i = 0; i < g->n_listeners; i++)
        if (g->listeners[i].ctx != ctx)
            g->listeners[kept++] = g->listeners[i];
    g->n_listeners = kept;
}

/* From the last on: one that leaves moves only those that have been told. */
void gate_tell(struct gate *g, const struct question *q, bool over)
{
    for (size_t i = g->n_listeners; i-- > 0;)
        if (i < g->n_listeners && g->listeners[i].question)
            g->listeners[i].question(g->listeners[i].ctx, q, over);
}

void gate_tell_recorded(struct gate *g)
{
    for (size_t i = g->n_listeners; i-- > 0;)
        if (i < g->n_listeners && g->listeners[i].recorded)
            g->listeners[i].recorded(g->listeners[i].ctx);
}
