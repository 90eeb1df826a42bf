/* fake_events.h - events and answers as fake servers remember them. */
#pragma once
#include "fake_types.h"
#include "hub/link/link.h"
#include "mcp/client/client.h"

static inline char *fake_event_text(const struct hub_event *e)
{
    struct buf b = { 0 };

    if (e->kind == EVENT_STATE)
        buf_printf(&b, "%s>%s", link_state_name(e->state.from.state),
                   link_state_name(e->state.to.state));
    else if (e->kind == EVENT_LOG)
        buf_str(&b, e->log->text);
    else if (e->kind >= EVENT_CALL_STARTED)
        buf_add_span(&b, e->call.tool);
    return buf_take(&b);
}

/* A hub_event_fn; ctx is struct fakes. */
static inline void fake_on_event(void *ctx, const struct hub_event *e)
{
    struct fakes *s = ctx;
    struct buf json = { 0 };

    CHECK(s->n_events < FAKE_EVENTS_MAX);
    hub_event_write(&json, e);
    s->events[s->n_events++] = (struct fake_event){
        .kind = e->kind,
        .server = mem_dup(e->server),
        .text = fake_event_text(e),
        .json = buf_take(&json),
    };
}

static inline bool fake_event_is(const struct fake_event *e, enum hub_event_kind kind,
                                 const char *server, const char *part)
{
    return e->kind == kind && (!server || strcmp(e->server, server) == 0) &&
           (!part || strstr(e->text, part) || strstr(e->json, part));
}

/* How many events of this kind; server and part (of text or JSON) may be NULL: any. */
static inline size_t fakes_count(const struct fakes *s, enum hub_event_kind kind,
                                 const char *server, const char *part)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_events; i++)
        n += fake_event_is(&s->events[i], kind, server, part);
    return n;
}

/* The newest such event, or NULL. */
static inline const struct fake_event *fakes_event(const struct fakes *s, enum hub_event_kind kind,
                                                   const char *server, const char *part)
{
    for (size_t i = s->n_events; i-- > 0;)
        if (fake_event_is(&s->events[i], kind, server, part))
            return &s->events[i];
    return NULL;
}

/* The JSON of the newest such event; "" when there is none. */
static inline const char *fakes_json(const struct fakes *s, enum hub_event_kind kind,
                                     const char *server, const char *part)
{
    const struct fake_event *e = fakes_event(s, kind, server, part);

    return e ? e->json : "";
}

/* "idle>connecting connecting>connected" of one server, all so far. Good until the next call. */
static inline const char *fakes_states(const struct fakes *s, const char *server)
{
    static char text[65536];
    size_t n = 0;

    text[0] = '\0';
    for (size_t i = 0; i < s->n_events && n < sizeof text; i++)
        if (fake_event_is(&s->events[i], EVENT_STATE, server, NULL))
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? " " : "",
                                  s->events[i].text);
    return text;
}

/* ---- waiting ---- */

enum { FAKES_STEP_MS = 10, FAKES_EVENTUALLY_MS = 1000 };

/* Lets the clock go on in small steps until the condition holds; the test fails past the limit. */
#define FAKES_EVENTUALLY_WITHIN(fakes, limit_ms, cond)                                  \
    do {                                                                                \
        for (uint64_t ms_ = 0; fakes_settle(fakes), !(cond); ms_ += FAKES_STEP_MS) {    \
            if (ms_ >= (limit_ms))                                                      \
                TAP_FAIL("not within %llu ms: " #cond, (unsigned long long)(limit_ms)); \
            loop_advance((fakes)->loop, FAKES_STEP_MS);                                 \
        }                                                                               \
    } while (0)
#define FAKES_EVENTUALLY(fakes, cond) FAKES_EVENTUALLY_WITHIN(fakes, FAKES_EVENTUALLY_MS, cond)

/* Does something and collects the events of this kind that follow, until there are n or the time
 * is over. Returns how many came; the first of them is s->events[*first]. */
static inline size_t fakes_collect(struct fakes *s, enum hub_event_kind kind, size_t n,
                                   uint64_t within_ms, void (*action)(void *ctx), void *ctx,
                                   size_t *first)
{
    size_t before = fakes_count(s, kind, NULL, NULL), from = s->n_events, got = 0;

    action(ctx);
    for (uint64_t ms = 0;; ms += FAKES_STEP_MS) {
        fakes_settle(s);
        got = fakes_count(s, kind, NULL, NULL) - before;
        if (got >= n || ms >= within_ms)
            break;
        loop_advance(s->loop, FAKES_STEP_MS);
    }
    while (from < s->n_events && s->events[from].kind != kind)
        from++;
    *first = from;
    return got;
}

/* ---- answers ---- */

struct fake_reply {
    int count;
    char *result, *error; /* NULL when there is none */
    struct pb_error err;
    int progressed, logged;
    char progress[512], log[512];
};

/* A client_reply_fn; ctx is struct fake_reply. */
static inline void fake_on_reply(void *ctx, const struct client_reply *reply)
{
    struct fake_reply *a = ctx;

    a->count++;
    free(a->result);
    free(a->error);
    a->result = a->error = NULL;
    if (reply->err)
        a->err = *reply->err;
    else
        a->result = mem_dupn(reply->result.p, reply->result.n);
    if (reply->error.n)
        a->error = mem_dupn(reply->error.p, reply->error.n);
}

static inline void fake_on_progress(void *ctx, struct span params)
{
    struct fake_reply *a = ctx;

    a->progressed++;
    snprintf(a->progress, sizeof a->progress, "%.*s", SPAN_ARG(params));
}

static inline void fake_on_log(void *ctx, struct span params)
{
    struct fake_reply *a = ctx;

    a->logged++;
    snprintf(a->log, sizeof a->log, "%.*s", SPAN_ARG(params));
}

static inline void fake_reply_done(struct fake_reply *a)
{
    free(a->result);
    free(a->error);
    *a = (struct fake_reply){ 0 };
}
