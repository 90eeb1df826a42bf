/* fake_hub.h - a hub that does nothing but remember what it was asked for, answer what the test
 * says, and tell what the test wants told. */
#pragma once
#include "fixtures.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"

enum { FAKE_HUB_CALLS_MAX = 16 };

struct fake_hub {
    struct manual_clock clock;
    struct pb_loop *loop;
    const char *result;    /* JSON of every call's result; a text "mock result" unless said */
    struct pb_error error; /* code not 0: how calls and actions fail instead */
    const char *tools;     /* array's text of every server's tools */
    char log[2048];        /* "reconnect alpha\n", … in the order asked for */
    struct call_spec calls[FAKE_HUB_CALLS_MAX];
    size_t n_calls, n_answered;
    hub_event_fn *fn; /* who listens; NULL: nobody */
    void *fn_ctx;
    struct spec *specs[8];
    size_t n_specs;
};

static inline void fake_hub_note(struct fake_hub *f, const char *what, const char *whom)
{
    size_t n = strlen(f->log);

    snprintf(f->log + n, sizeof f->log - n, "%s%s%s\n", what, whom[0] ? " " : "", whom);
}

static inline void fake_hub_start_all(void *ctx, struct spec *const *specs, size_t n)
{
    struct fake_hub *f = ctx;

    for (size_t i = 0; i < n; i++) {
        fake_hub_note(f, "start", specs[i]->name);
        CHECK(f->n_specs < ARRAY_LEN(f->specs));
        f->specs[f->n_specs++] = spec_ref(specs[i]);
    }
}

/* All of them have come up. */
static inline void
fake_hub_when_settled(void *ctx, void (*fn)(void *ctx, const struct start_result *r), void *fn_ctx)
{
    struct fake_hub *f = ctx;
    const char *names[ARRAY_LEN(f->specs) + 1] = { NULL }, *none[] = { NULL };

    fake_hub_note(f, "wait", "");
    for (size_t i = 0; i < f->n_specs; i++)
        names[i] = f->specs[i]->name;
    fn(fn_ctx, &(struct start_result){ names, none, none, true });
}

static inline int fake_hub_act(struct fake_hub *f, const char *what, const char *server,
                               struct pb_error *err)
{
    fake_hub_note(f, what, server);
    return f->error.code ? fail_copy(err, &f->error) : 0;
}

static inline int fake_hub_reconnect(void *ctx, const char *server, struct pb_error *err)
{
    return fake_hub_act(ctx, "reconnect", server, err);
}

static inline int fake_hub_cancel_connect(void *ctx, const char *server, struct pb_error *err)
{
    return fake_hub_act(ctx, "cancel_connect", server, err);
}

static inline int fake_hub_disconnect(void *ctx, const char *server, struct pb_error *err)
{
    return fake_hub_act(ctx, "disconnect", server, err);
}

static inline void fake_hub_stop_all(void *ctx) { fake_hub_note(ctx, "stop_all", ""); }

static inline bool fake_hub_cancel_call(void *ctx, const char *uuid)
{
    fake_hub_note(ctx, "cancel_call", uuid);
    return true;
}

static inline void fake_hub_replay(void *ctx, hub_event_fn *fn, void *fn_ctx)
{
    (void)ctx, (void)fn, (void)fn_ctx;
}

static inline struct blob *fake_hub_tools(void *ctx, const char *server)
{
    struct fake_hub *f = ctx;

    (void)server;
    return blob_new(span_of(f->tools));
}

static inline void *fake_hub_listen(void *ctx, hub_event_fn *fn, void *fn_ctx)
{
    struct fake_hub *f = ctx;

    CHECK(!f->fn);
    f->fn = fn;
    f->fn_ctx = fn_ctx;
    return f;
}

static inline void fake_hub_unlisten(void *ctx, void *subscription)
{
    struct fake_hub *f = ctx;

    CHECK(subscription == f);
    f->fn = NULL;
}

/* ---- calls ---- */

static inline void fake_hub_answer(void *ctx)
{
    struct fake_hub *f = ctx;
    const struct call_spec *c = &f->calls[f->n_answered++];
    struct client_reply reply = { 0 };

    if (f->error.code)
        reply.err = &f->error;
    else
        reply.result = span_of(f->result);
    c->reply(c->ctx, &reply);
}

static inline int fake_hub_call(void *ctx, const struct call_spec *spec, uint64_t *id,
                                struct pb_error *err)
{
    struct fake_hub *f = ctx;
    char text[512];

    (void)err;
    snprintf(text, sizeof text, "%s %.*s %.*s", spec->server, SPAN_ARG(spec->subject),
             SPAN_ARG(spec->params));
    fake_hub_note(f, "call", text);
    CHECK(f->n_calls < FAKE_HUB_CALLS_MAX);
    f->calls[f->n_calls++] = *spec; /* only reply and ctx are looked at again */
    *id = f->n_calls;
    loop_defer(f->loop, fake_hub_answer, f);
    return 0;
}

static inline bool fake_hub_cancel(void *ctx, uint64_t id, enum call_cancel why)
{
    char text[64];

    snprintf(text, sizeof text, "%llu %s", (unsigned long long)id, call_cancel_name(why));
    fake_hub_note(ctx, "cancel", text);
    return true;
}

/* ---- the whole ---- */

static inline struct desk_hub fake_hub_init(struct fake_hub *f)
{
    *f = (struct fake_hub){
        .result = "{\"content\":[{\"type\":\"text\",\"text\":\"mock result\"}]}",
        .tools = "[]",
    };
    manual_clock_init(&f->clock);
    f->loop = loop_new(&f->clock.clock);
    return (struct desk_hub){
        .start_all = fake_hub_start_all,
        .when_settled = fake_hub_when_settled,
        .reconnect = fake_hub_reconnect,
        .cancel_connect = fake_hub_cancel_connect,
        .disconnect = fake_hub_disconnect,
        .stop_all = fake_hub_stop_all,
        .cancel_call = fake_hub_cancel_call,
        .replay = fake_hub_replay,
        .tools = fake_hub_tools,
        .listen = fake_hub_listen,
        .unlisten = fake_hub_unlisten,
        .caller = { fake_hub_call, fake_hub_cancel, f, f->loop },
        .ctx = f,
    };
}

static inline void fake_hub_done(struct fake_hub *f)
{
    while (f->n_specs)
        spec_unref(f->specs[--f->n_specs]);
    loop_free(f->loop);
}

/* Tells whoever listens. */
static inline void fake_hub_emit(struct fake_hub *f, const struct hub_event *e)
{
    CHECK(f->fn);
    f->fn(f->fn_ctx, e);
}

/* A server is in this state now, whatever it was in. */
static inline void fake_hub_force(struct fake_hub *f, const char *server, struct link_status to)
{
    struct hub_event e = fixture_state(server, (struct link_status){ .state = LINK_IDLE }, to);

    fake_hub_emit(f, &e);
}
