/* gate_wait.c - orders whose server is yet to come up. If the rules change meanwhile, they are
 * decided again before the server hears of them. */
#include "gate_impl.h"
#include <stdio.h>

struct late_order {
    struct gate *g;
    struct arena arena;
    struct order order;   /* of it only what is decided by; its strings are ours */
    const char *approved; /* see order_walk */
    char rules[17];       /* policy_version() when it was decided */
    call_ended_fn *ended; /* may be NULL */
    void *ended_ctx;
};

static const char *keep(struct late_order *l, const char *text)
{
    return text ? arena_dup(&l->arena, span_of(text)) : NULL;
}

static struct span keep_span(struct late_order *l, struct span s)
{
    return s.n ? span_make(arena_dup(&l->arena, s), s.n) : s;
}

static struct late_order *late_new(const struct order_walk *w)
{
    struct late_order *l = NEW(struct late_order);
    const struct order *o = w->order;

    l->g = w->g;
    l->order = (struct order){ .call = { .server = keep(l, o->call.server),
                                         .method = keep(l, o->call.method),
                                         .subject = keep_span(l, o->call.subject),
                                         .caller = keep(l, o->call.caller),
                                         .client = keep(l, o->call.client) },
                               .face = o->face,
                               .scope = o->scope,
                               .mode = keep(l, o->mode),
                               .arguments = keep_span(l, o->arguments),
                               .conversation = keep(l, o->conversation),
                               .directory = keep(l, o->directory) };
    l->approved = keep(l, w->approved);
    snprintf(l->rules, sizeof l->rules, "%s", policy_version(w->g->policy));
    return l;
}

static void late_free(struct late_order *l)
{
    arena_done(&l->arena);
    free(l);
}

/* call_spec.still. Nobody can be asked any more: whoever wants it calls again, and is. */
static bool late_still(void *ctx, struct pb_error *err)
{
    struct late_order *l = ctx;
    AUTO_WALK struct order_walk w = {
        .g = l->g, .order = &l->order, .approved = l->approved, .anew = true
    };

    if (strcmp(l->rules, policy_version(l->g->policy)) == 0)
        return true;
    w.look = gate_look(l->g, &l->order);
    switch (steps_walk(&w)) {
    case STEP_PASS:
        return true;
    case STEP_ASK:
        fault_fail(err, FAULT_DENIED,
                   "the rules have changed while server '%s' was started: somebody must be asked "
                   "about this call now. Call it again",
                   l->order.call.server);
        return false;
    default:
        *err = w.err;
        return false;
    }
}

static void late_ended(void *ctx, const struct call_end *e)
{
    struct late_order *l = ctx;
    call_ended_fn *ended = l->ended;
    void *ended_ctx = l->ended_ctx;

    late_free(l);
    if (ended)
        ended(ended_ctx, e);
}

int gate_send(struct gate *g, const struct order_walk *w, const struct call_spec *spec,
              uint64_t *out_id, struct pb_error *err)
{
    const struct link *server = spec->server ? hub_link(g->hub, spec->server) : NULL;
    struct call_spec late = *spec;
    struct late_order *l;
    int rc;

    if (!server || link_state(server) == LINK_CONNECTED)
        return hub_call(g->hub, spec, out_id, err);
    l = late_new(w);
    l->ended = spec->ended;
    l->ended_ctx = spec->ended_ctx;
    late.ended = late_ended;
    late.still = late_still;
    late.ended_ctx = l;
    rc = hub_call(g->hub, &late, out_id, err);
    if (rc < 0)
        late_free(l);
    return rc;
}
