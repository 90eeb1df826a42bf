/* hub_own.c - the tools of this program itself: a server of the hub that is no process, that nobody
 * has configured, and that is always there. */
#include "hub_impl.h"

bool member_is_own(const struct member *m) { return m == m->hub->own; }

struct link *hub_own(const struct hub *h) { return h->own ? h->own->link : NULL; }

int own_open(void *ctx, struct client **out, struct pb_loop *loop, const struct spec *spec,
             const char *caller, const struct client_events *events, void *events_ctx,
             struct pb_error *err)
{
    const struct member *m = ctx;
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;

    (void)spec;
    (void)caller;
    o.server = m->hub->own_end.server;
    o.era = PB_ERA_MODERN;
    return client_open(out, loop, &o, events, events_ctx, err);
}

/* How long one of its calls may take is decided by the tool. */
static struct spec *own_spec(void)
{
    struct spec *s = spec_blank(SPEC_OWN);

    s->instance = SPEC_ALWAYS_SHARED;
    s->timeout_ms = (uint64_t)SPEC_SECONDS_MAX * 1000;
    s->runtime_only = true;
    return s;
}

void hub_add_own(struct hub *h, const struct hub_own *own)
{
    AUTO(spec) struct spec *spec = own_spec();

    hub_owned(h);
    assert(!h->own && "once");
    h->own_end = *own;
    h->own = member_new(h, spec);
    member_start(h->own);
}

static void own_closed(void *ctx)
{
    struct hub *h = ctx;

    h->jobs--;
    hub_maybe_end(h);
}

bool hub_end_own(struct hub *h)
{
    struct hub_own own = h->own_end;

    if (!own.close)
        return false;
    h->own_end.close = NULL;
    h->jobs++;
    own.close(own.ctx, own_closed, h); /* may be the end of h */
    return true;
}
