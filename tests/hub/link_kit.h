/* link_kit.h - one link to one fake server, remembering what it says. */
#pragma once
#include "fake_server.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

struct link_kit {
    struct fakes fakes;
    struct fake_server *f;
    struct spec *spec;
    struct link *link;
    struct link_options opts;

    char *lists[LIST_KINDS]; /* the newest */
    size_t listed[LIST_KINDS];
    enum link_state state_when_listed;
    char updated[256];
    size_t n_updated, n_messages;
    char message[512];
    bool takes_questions;
    struct link_question *questions[8];
    char asked[8][64];
    size_t n_asked;
    bool gone; /* link_close() is through */
};

static inline void kit_listed(void *ctx, struct link *l, enum list_kind kind, struct span array)
{
    struct link_kit *k = ctx;

    free(k->lists[kind]);
    k->lists[kind] = mem_dupn(array.n ? array.p : "", array.n);
    k->listed[kind]++;
    k->state_when_listed = link_state(l);
}

static inline void kit_updated(void *ctx, struct link *l, struct span uri)
{
    struct link_kit *k = ctx;

    (void)l;
    k->n_updated++;
    snprintf(k->updated, sizeof k->updated, "%.*s", SPAN_ARG(uri));
}

static inline void kit_message(void *ctx, struct link *l, const char *caller, struct span params)
{
    struct link_kit *k = ctx;

    (void)l, (void)caller;
    k->n_messages++;
    snprintf(k->message, sizeof k->message, "%.*s", SPAN_ARG(params));
}

static inline bool kit_question(void *ctx, struct link *l, struct link_question *q,
                                struct span method, struct span params)
{
    struct link_kit *k = ctx;

    (void)l, (void)params;
    if (!k->takes_questions)
        return false;
    CHECK(k->n_asked < ARRAY_LEN(k->questions));
    snprintf(k->asked[k->n_asked], sizeof k->asked[0], "%.*s", SPAN_ARG(method));
    k->questions[k->n_asked++] = q;
    return true;
}

static inline void kit_event(void *ctx, const struct hub_event *e)
{
    struct link_kit *k = ctx;

    fake_on_event(&k->fakes, e);
}

/* With a spec of one's own (its reference is taken), or NULL. Change k->opts before kit_link(). */
static inline void kit_init(struct link_kit *k)
{
    *k = (struct link_kit){ 0 };
    fakes_init(&k->fakes);
    k->f = fakes_add(&k->fakes, "alpha");
    k->spec = spec_stdio("alpha", "echo", (const char *const[]){ "test", NULL }, NULL);
    k->opts = (struct link_options){
        .loop = k->fakes.loop,
        .open = fake_open,
        .open_ctx = &k->fakes,
        .connect_ms = 10000,
        .call_ms = 30000,
        .refresh_on_change = true,
        .event = kit_event,
        .listed = kit_listed,
        .resource_updated = kit_updated,
        .message = kit_message,
        .question = kit_question,
        .ctx = k,
    };
}

static inline void kit_link(struct link_kit *k) { k->link = link_new(&k->opts, k->spec); }

static inline void kit_connect(struct link_kit *k)
{
    struct pb_error err;

    if (link_connect(k->link, 0, &err) < 0)
        TAP_FAIL("connect: %s", err.msg);
    FAKES_UNTIL(&k->fakes, link_is_terminal(link_state(k->link)));
    if (link_state(k->link) != LINK_CONNECTED) {
        struct link_status s;

        link_status(k->link, &s);
        TAP_FAIL("connect: %s", s.message ? s.message : link_state_name(s.state));
    }
}

/* A link with these tools that is connected. */
static inline void kit_start(struct link_kit *k)
{
    kit_link(k);
    kit_connect(k);
}

static inline void kit_gone(void *ctx) { ((struct link_kit *)ctx)->gone = true; }

static inline void kit_done(struct link_kit *k)
{
    if (k->link) {
        link_close(k->link, CALL_SHUTDOWN, kit_gone, k);
        FAKES_UNTIL(&k->fakes, k->gone);
    }
    for (int i = 0; i < LIST_KINDS; i++)
        free(k->lists[i]);
    spec_unref(k->spec);
    fakes_done(&k->fakes);
}

static inline struct call_spec kit_spec(struct fake_reply *a, const char *tool, struct buf *params)
{
    params->n = 0;
    buf_printf(params, "{\"name\":\"%s\",\"arguments\":{\"a\":1}}", tool);
    return (struct call_spec){
        .method = "tools/call",
        .params = buf_span(params),
        .subject = span_of(tool),
        .caller = "",
        .reply = fake_on_reply,
        .ctx = a,
    };
}

/* Calls a tool; what cannot even be sent is in a->err. `more` (may be NULL) changes the spec. */
static inline uint64_t kit_call_with(struct link_kit *k, struct fake_reply *a, const char *tool,
                                     const struct call_spec *more)
{
    AUTO_BUF struct buf params = { 0 };
    struct call_spec s = kit_spec(a, tool, &params);
    uint64_t id = 0;

    *a = (struct fake_reply){ 0 };
    if (more) {
        struct span p = s.params;

        s = *more;
        s.method = more->method ? more->method : "tools/call";
        s.params = more->params.n ? more->params : p;
        s.subject = span_of(tool);
        s.caller = more->caller ? more->caller : "";
        s.reply = fake_on_reply;
        s.ctx = a;
    }
    if (link_call(k->link, &s, &id, &a->err) < 0) {
        CHECK_INT(a->count, 0);
        a->count = 1;
        return 0;
    }
    CHECK_INT(a->count, 0); /* never inside the call */
    return id;
}

static inline uint64_t kit_call(struct link_kit *k, struct fake_reply *a, const char *tool)
{
    return kit_call_with(k, a, tool, NULL);
}

/* Calls and waits. */
static inline void kit_ask(struct link_kit *k, struct fake_reply *a, const char *tool)
{
    kit_call(k, a, tool);
    FAKES_UNTIL(&k->fakes, a->count);
}

static inline const char *kit_message_of_state(struct link_kit *k)
{
    struct link_status s;

    link_status(k->link, &s);
    return s.message ? s.message : "";
}
