/* hub_rig.h - a hub over servers that do what a test says, on a loop whose clock stands still. With
 * hosts and clients in front of it: face/host_rig.h. */
#pragma once
#include "base/base.h"
#include "fake_server.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "io/io.h"
#include "patchbay.h"
#include "json/json.h"

enum { HUB_RIG_SERVERS_MAX = 64 };

struct hub_rig {
    struct fakes fakes;
    struct hub_options opts;
    struct hub *hub;
    char changes[8192]; /* "tools@alpha ", in the order told */
    bool closed;

    struct gate *gate;
    struct store *store; /* NULL: nothing is recorded */
    bool store_closed;
    struct hosts *hosts; /* in front of it; NULL: there are none */
    bool hosts_closed;
    struct spec *specs[HUB_RIG_SERVERS_MAX]; /* that rig_start() starts, to be changed before */
    size_t n_specs;
};

static inline void hub_rig_changed(void *ctx, enum list_kind kind, const char *server)
{
    struct hub_rig *r = ctx;
    size_t n = strlen(r->changes);

    snprintf(r->changes + n, sizeof r->changes - n, "%s@%s ", list_kind_name(kind), server);
}

/* The options may be changed before hub_rig_start(). */
static inline void hub_rig_init(struct hub_rig *r)
{
    struct hub_options o = HUB_OPTIONS_INIT;

    *r = (struct hub_rig){ 0 };
    fakes_init(&r->fakes);
    r->opts = o;
    r->opts.loop = r->fakes.loop;
    r->opts.open = fake_open;
    r->opts.open_ctx = &r->fakes;
}

static inline void hub_rig_start(struct hub_rig *r)
{
    struct hub_listener events = { .event = fake_on_event, .ctx = &r->fakes };
    struct hub_listener lists = { .list_changed = hub_rig_changed, .ctx = r };

    r->hub = hub_new(&r->opts);
    r->closed = false;
    hub_listen(r->hub, &events);
    hub_listen(r->hub, &lists);
}

static inline void hub_rig_closed(void *ctx) { ((struct hub_rig *)ctx)->closed = true; }

static inline void hub_rig_stop(struct hub_rig *r)
{
    hub_close(r->hub, hub_rig_closed, r);
    FAKES_WAIT(&r->fakes, r->closed);
}

static inline void hub_rig_done(struct hub_rig *r)
{
    if (!r->closed)
        hub_rig_stop(r);
    fakes_done(&r->fakes);
}

/* A server with the tool "echo". */
static inline struct fake_server *hub_rig_server(struct hub_rig *r, const char *name)
{
    struct fake_server *f = fakes_add(&r->fakes, name);

    fake_tool(f, "echo", FAKE_ECHO);
    return f;
}

/* What a test wants of a spec, over the constructor's. */
struct rig_spec {
    enum spec_transport transport;
    bool no_reconnect, lazy, disabled, runtime_only;
    uint64_t idle_ms, timeout_ms;
    const char *arg;
    const char *const *disabled_tools;
};

static inline struct spec *rig_spec(const char *name, const struct rig_spec *want)
{
    const char *args[] = { want->arg, NULL };
    struct spec *s = want->transport == SPEC_STDIO ? spec_stdio(name, "fake", args, NULL)
                                                   : spec_http(name, "http://127.0.0.1:1/mcp");

    s->transport = want->transport;
    s->auto_reconnect = !want->no_reconnect;
    s->start = want->lazy ? SPEC_LAZY : SPEC_EAGER;
    s->enabled = !want->disabled;
    s->runtime_only = want->runtime_only;
    if (want->idle_ms)
        s->idle_ms = want->idle_ms;
    if (want->timeout_ms)
        s->timeout_ms = want->timeout_ms;
    if (want->disabled_tools)
        s->disabled_tools = want->disabled_tools;
    return s;
}

static inline void hub_rig_add(struct hub_rig *r, const char *name, struct rig_spec want)
{
    AUTO(spec) struct spec *s = rig_spec(name, &want);
    struct pb_error err;

    CHECK_INT(hub_add(r->hub, s, &err), 0);
}

static inline void hub_rig_begin(struct hub_rig *r, const char *name, struct rig_spec want)
{
    AUTO(spec) struct spec *s = rig_spec(name, &want);

    hub_start_all(r->hub, &s, 1);
}

static inline enum link_state hub_rig_state(const struct hub_rig *r, const char *name)
{
    return link_state(hub_link(r->hub, name));
}

#define HUB_RIG_REACHES(r, name, state) FAKES_UNTIL(&(r)->fakes, hub_rig_state(r, name) == (state))

/* Time passes, with time for everything that it makes happen. */
static inline void hub_rig_pass(struct hub_rig *r, uint64_t ms)
{
    while (ms) {
        uint64_t step = ms < 1000 ? ms : 1000;

        loop_advance(r->fakes.loop, step);
        fakes_settle(&r->fakes);
        ms -= step;
    }
}

/* A server that is connected. */
static inline struct fake_server *hub_rig_up(struct hub_rig *r, const char *name,
                                             struct rig_spec want)
{
    struct fake_server *f = hub_rig_server(r, name);

    hub_rig_begin(r, name, want);
    HUB_RIG_REACHES(r, name, LINK_CONNECTED);
    fakes_settle(&r->fakes);
    return f;
}

static inline int hub_rig_call(struct hub_rig *r, const char *server, const char *tool,
                               struct fake_reply *a, uint64_t *id, struct pb_error *err)
{
    AUTO_BUF struct buf params = { 0 };
    struct call_spec spec = {
        .server = server,
        .method = "tools/call",
        .subject = span_of(tool),
        .caller = "",
        .reply = fake_on_reply,
        .progress = fake_on_progress,
        .log = fake_on_log,
        .ctx = a,
    };
    uint64_t ignored;

    buf_printf(&params, "{\"name\":\"%s\",\"arguments\":{\"n\":1}}", tool);
    spec.params = buf_span(&params);
    return hub_call(r->hub, &spec, id ? id : &ignored, err);
}

static inline size_t hub_rig_tools(const struct hub_rig *r, const char *server)
{
    return catalog_count(hub_catalog(r->hub), server, LIST_TOOLS);
}

static inline struct hub_counters hub_rig_counters(const struct hub_rig *r, const char *server)
{
    struct hub_counters c;

    hub_counters(r->hub, server, &c);
    return c;
}
