/* link_rig.h - one link to one fake server, remembering what it says. */
#pragma once
#include "fake_server.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

struct link_rig {
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

static inline void link_rig_listed(void *ctx, struct link *l, enum list_kind kind,
                                   struct span array)
{
    struct link_rig *rig = ctx;

    free(rig->lists[kind]);
    rig->lists[kind] = mem_dupn(array.n ? array.p : "", array.n);
    rig->listed[kind]++;
    rig->state_when_listed = link_state(l);
}

static inline void link_rig_updated(void *ctx, struct link *l, struct span uri)
{
    struct link_rig *rig = ctx;

    (void)l;
    rig->n_updated++;
    snprintf(rig->updated, sizeof rig->updated, "%.*s", SPAN_ARG(uri));
}

static inline void link_rig_message(void *ctx, struct link *l, const char *caller,
                                    struct span params)
{
    struct link_rig *rig = ctx;

    (void)l, (void)caller;
    rig->n_messages++;
    snprintf(rig->message, sizeof rig->message, "%.*s", SPAN_ARG(params));
}

static inline bool link_rig_question(void *ctx, struct link *l, struct link_question *q,
                                     struct span method, struct span params)
{
    struct link_rig *rig = ctx;

    (void)l, (void)params;
    if (!rig->takes_questions)
        return false;
    CHECK(rig->n_asked < ARRAY_LEN(rig->questions));
    snprintf(rig->asked[rig->n_asked], sizeof rig->asked[0], "%.*s", SPAN_ARG(method));
    rig->questions[rig->n_asked++] = q;
    return true;
}

static inline void link_rig_event(void *ctx, const struct hub_event *e)
{
    struct link_rig *rig = ctx;

    fake_on_event(&rig->fakes, e);
}

/* With a spec of one's own (its reference is taken), or NULL. Change rig->opts before
 * link_rig_make(). */
static inline void link_rig_init(struct link_rig *rig)
{
    *rig = (struct link_rig){ 0 };
    fakes_init(&rig->fakes);
    rig->f = fakes_add(&rig->fakes, "alpha");
    rig->spec = spec_stdio("alpha", "echo", (const char *const[]){ "test", NULL }, NULL);
    rig->opts = (struct link_options){
        .loop = rig->fakes.loop,
        .open = fake_open,
        .open_ctx = &rig->fakes,
        .connect_ms = 10000,
        .call_ms = 30000,
        .refresh_on_change = true,
        .event = link_rig_event,
        .listed = link_rig_listed,
        .resource_updated = link_rig_updated,
        .message = link_rig_message,
        .question = link_rig_question,
        .ctx = rig,
    };
}

static inline void link_rig_make(struct link_rig *rig)
{
    rig->link = link_new(&rig->opts, rig->spec);
}

static inline void link_rig_connect(struct link_rig *rig)
{
    struct pb_error err;

    if (link_connect(rig->link, 0, &err) < 0)
        TAP_FAIL("connect: %s", err.msg);
    FAKES_UNTIL(&rig->fakes, link_is_terminal(link_state(rig->link)));
    if (link_state(rig->link) != LINK_CONNECTED) {
        struct link_status s;

        link_status(rig->link, &s);
        TAP_FAIL("connect: %s", s.message ? s.message : link_state_name(s.state));
    }
}

/* A link with these tools that is connected. */
static inline void link_rig_start(struct link_rig *rig)
{
    link_rig_make(rig);
    link_rig_connect(rig);
}

static inline void link_rig_gone(void *ctx) { ((struct link_rig *)ctx)->gone = true; }

static inline void link_rig_done(struct link_rig *rig)
{
    if (rig->link) {
        link_close(rig->link, CALL_SHUTDOWN, link_rig_gone, rig);
        FAKES_UNTIL(&rig->fakes, rig->gone);
    }
    for (int i = 0; i < LIST_KINDS; i++)
        free(rig->lists[i]);
    spec_unref(rig->spec);
    fakes_done(&rig->fakes);
}

static inline struct call_spec link_rig_spec(struct fake_reply *a, const char *tool,
                                             struct buf *params)
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
static inline uint64_t link_rig_call_with(struct link_rig *rig, struct fake_reply *a,
                                          const char *tool, const struct call_spec *more)
{
    AUTO_BUF struct buf params = { 0 };
    struct call_spec s = link_rig_spec(a, tool, &params);
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
    if (link_call(rig->link, &s, &id, &a->err) < 0) {
        CHECK_INT(a->count, 0);
        a->count = 1;
        return 0;
    }
    CHECK_INT(a->count, 0); /* never inside the call */
    return id;
}

static inline uint64_t link_rig_call(struct link_rig *rig, struct fake_reply *a, const char *tool)
{
    return link_rig_call_with(rig, a, tool, NULL);
}

/* Calls and waits. */
static inline void link_rig_ask(struct link_rig *rig, struct fake_reply *a, const char *tool)
{
    link_rig_call(rig, a, tool);
    FAKES_UNTIL(&rig->fakes, a->count);
}

static inline const char *link_rig_message_of_state(struct link_rig *rig)
{
    struct link_status s;

    link_status(rig->link, &s);
    return s.message ? s.message : "";
}
