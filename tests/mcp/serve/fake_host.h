/* fake_host.h - a transport that remembers what it was given to send, and a provider whose tools
 * do what a test needs, on a loop whose clock stands still. What is sent must be JSON, each
 * request is answered at most once, and nothing is sent about a request that has ended. */
#pragma once
#include "base/base.h"
#include "io/io.h"
#include "manual_clock.h"
#include "mcp/rpc/rpc.h"
#include "mcp/sent.h"
#include "mcp/serve/serve.h"
#include "patchbay.h"
#include "tap.h"
#include "json/json.h"

enum { FAKE_SENT_MAX = MCP_INFLIGHT_MAX + 16 };

struct fake_sent {
    char *text;
    enum send_kind kind;
    int http_status;
    void *exchange;
    bool about;
};

struct fake {
    struct manual_clock clock;
    struct pb_loop *loop;
    struct pb_server *server;
    struct peer *peer;

    struct fake_sent sent[FAKE_SENT_MAX];
    size_t n_sent, n_finished;

    /* The provider's. */
    const char *caps; /* members of capabilities */
    struct request *held[FAKE_SENT_MAX];
    size_t n_held, n_cancelled, n_notified, n_watched, n_answers;
    enum cancel_reason why;
    size_t running;
    bool closes;      /* whatever is cancelled takes the peer with it */
    char answer[256]; /* to the last question: a result, or "code text" */
    struct span schema;
};

#define FAKE_CAPS                                                         \
    "\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true," \
    "\"listChanged\":true},\"extensions\":{\"" EXT_TASKS "\":{}}"

/* A modern request's _meta, with braces. */
#define FAKE_META                           \
    "{\"" META_VERSION "\":\"2026-07-28\"," \
    "\"" META_CLIENT_CAPS "\":{}}"

/* ---- the transport ------------------------------------------------------------------------ */

static void fake_send(void *transport, struct request *about, enum send_kind kind,
                      const struct span *parts, size_t n)
{
    struct fake *f = transport;
    char *text = sent_text(parts, n);

    CHECK(!strchr(text, '\n'));
    CHECK(!about || !about->over);
    CHECK(kind != SEND_RESPONSE || about);
    CHECK(f->n_sent < FAKE_SENT_MAX);
    f->sent[f->n_sent++] = (struct fake_sent){ .text = text,
                                               .kind = kind,
                                               .http_status = about ? about->http_status : 0,
                                               .exchange = about ? about->exchange : NULL,
                                               .about = about != NULL };
}

static void fake_finished(void *transport, struct request *about)
{
    struct fake *f = transport;

    CHECK(about->over);
    f->n_finished++;
}

static const struct peer_ops fake_peer_ops = { .send = fake_send, .finished = fake_finished };

/* ---- the provider ------------------------------------------------------------------------- */

static void fake_capabilities(void *ctx, struct json_out *o, const struct envelope *env)
{
    struct fake *f = ctx;
    AUTO_BUF struct buf text = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };

    (void)env;
    buf_printf(&text, "{%s}", f->caps);
    CHECK_INT(json_parse(&doc, buf_span(&text), NULL, NULL), 0);
    JSON_FOREACH(member, json_root(&doc))
        json_put_raw_key(o, json_key_str(member, &arena), json_text(member));
}

static void fake_cancel(struct request *r, enum cancel_reason why)
{
    struct fake *f = r->work;

    f->n_cancelled++;
    f->why = why;
    request_reply(r, SPAN("{\"late\":true}")); /* allowed, and ignored */
    if (f->closes)
        peer_close(TAKE(f->peer));
    for (size_t i = 0; i < f->n_held; i++)
        if (f->held[i] == r)
            f->held[i] = NULL;
}

static void fake_hold(struct fake *f, struct request *r)
{
    r->work = f;
    r->cancel = fake_cancel;
    CHECK(f->n_held < FAKE_SENT_MAX);
    f->held[f->n_held++] = r;
}

static void fake_expire(struct request *r)
{
    request_reply(r, SPAN("{\"content\":[],\"isError\":true}"));
}

static void fake_on_answer(struct request *r, void *ctx, struct span result,
                           const struct pb_error *err)
{
    struct fake *f = ctx;

    (void)r;
    f->n_answers++;
    if (err)
        snprintf(f->answer, sizeof f->answer, "%s %d %s", pb_code_name(err->code), err->sys,
                 err->msg);
    else
        snprintf(f->answer, sizeof f->answer, "%.*s", SPAN_ARG(result));
}

/* What the tools do is their name. */
static void fake_call(struct fake *f, struct request *r)
{
    struct json name = json_get(r->params, "name");

    if (json_str_is(name, "hold")) {
        fake_hold(f, r);
    } else if (json_str_is(name, "slow")) {
        fake_hold(f, r);
        request_set_deadline(r, 250);
    } else if (json_str_is(name, "slow-own-words")) {
        fake_hold(f, r);
        r->expire = fake_expire;
        request_set_deadline(r, 60000);
    } else if (json_str_is(name, "ask")) {
        struct pb_error err;

        fake_hold(f, r);
        if (request_question(r, "roots/list", SPAN("{}"), fake_on_answer, f, &err) < 0)
            request_fail(r, RPC_INTERNAL_ERROR, SPAN(""), "%s: %s", pb_code_name(err.code),
                         err.msg);
    } else if (json_str_is(name, "talk")) {
        request_progress(r, 1, 10, "one");
        request_progress(r, 1, 10, "again");
        request_progress(r, 5, 0, NULL);
        request_log(r, PB_LOG_DEBUG, NULL, SPAN("\"quiet\""));
        request_log(r, PB_LOG_WARNING, "tool", SPAN("{\"a\":1}"));
        request_reply(r, SPAN("{\"content\":[]}"));
    } else if (json_str_is(name, "raw")) { /* replies with its own arguments */
        request_reply(r, json_text(json_get(r->params, "arguments")));
    } else if (json_str_is(name, "sample")) {
        request_fail(r, RPC_MISSING_CAPABILITY,
                     SPAN("{\"requiredCapabilities\":{\"sampling\":{}}}"), "needs sampling");
    } else if (json_str_is(name, "close")) { /* the transport breaks under the handler */
        peer_close(TAKE(f->peer));
        request_reply(r, SPAN("{}"));
    } else if (json_str_is(name, "echo")) {
        request_reply(r, SPAN("{\"content\":[]}"));
    } else {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Unknown tool");
    }
}

static bool fake_handle(void *ctx, struct request *r)
{
    struct fake *f = ctx;

    if (span_is(r->method, "tools/call"))
        fake_call(f, r);
    else if (span_is(r->method, "tools/list"))
        request_reply(r, SPAN("{\"tools\":[]}"));
    else if (span_is(r->method, "resources/read") || span_is(r->method, "tasks/get"))
        request_reply(r, SPAN("{}"));
    else
        return false;
    return true;
}

static struct span fake_tool_schema(void *ctx, struct span tool)
{
    struct fake *f = ctx;

    return span_is(tool, "echo") ? f->schema : SPAN("");
}

static bool fake_subscribable(void *ctx, struct span uri)
{
    (void)ctx;
    return span_starts(uri, "test://");
}

static bool fake_has_task(void *ctx, const struct request *r, struct span task_id)
{
    (void)ctx;
    return !strcmp(peer_principal(r->peer), "") && task_id.n == 1;
}

static void fake_watch(void *ctx, struct span uri, bool on)
{
    struct fake *f = ctx;

    (void)uri;
    f->n_watched += on ? 1 : (size_t)-1;
}

static void fake_notified(void *ctx, struct peer *p, const struct rpc *message)
{
    struct fake *f = ctx;

    (void)p, (void)message;
    f->n_notified++;
}

static size_t fake_running(void *ctx)
{
    struct fake *f = ctx;

    return f->running;
}

static const struct provider fake_provider = {
    .capabilities = fake_capabilities,
    .handle = fake_handle,
    .tool_schema = fake_tool_schema,
    .subscribable = fake_subscribable,
    .has_task = fake_has_task,
    .watch = fake_watch,
    .notified = fake_notified,
    .running = fake_running,
};

/* ---- the test's side ---------------------------------------------------------------------- */

static inline void fake_start(struct fake *f, enum peer_kind kind,
                              const struct pb_server_options *opts)
{
    struct pb_server_options o = PB_SERVER_OPTIONS_INIT;

    if (opts)
        o = *opts;
    *f = (struct fake){ .caps = FAKE_CAPS };
    manual_clock_init(&f->clock);
    f->loop = loop_new(&f->clock.clock);
    o.loop = f->loop;
    f->server = pb_server_new(&o);
    server_set_provider(f->server, &fake_provider, f);
    f->peer = peer_new(f->server, kind, &fake_peer_ops, f);
}

static inline void fake_forget(struct fake *f)
{
    while (f->n_sent)
        free(f->sent[--f->n_sent].text);
}

static inline void fake_end(struct fake *f)
{
    peer_close(TAKE(f->peer));
    pb_server_free(f->server);
    loop_free(f->loop);
    fake_forget(f);
}

static inline void fake_say_http(struct fake *f, const char *text, const struct http_facts *facts,
                                 void *exchange)
{
    peer_receive(f->peer, message_new(blob_new(span_of(text))), facts, exchange);
    loop_turn(f->loop, false);
}

static inline void fake_say(struct fake *f, const char *text)
{
    fake_say_http(f, text, NULL, NULL);
}

/* The one message sent since the last look. */
static inline const char *fake_heard(struct fake *f)
{
    if (f->n_sent != 1)
        TAP_FAIL("%zu messages were sent, expected 1; the last: %s", f->n_sent,
                 f->n_sent ? f->sent[f->n_sent - 1].text : "(none)");
    return f->sent[0].text;
}

#define FAKE_ANSWERS(f, say, want)      \
    do {                                \
        fake_forget(f);                 \
        fake_say(f, say);               \
        CHECK_STR(fake_heard(f), want); \
    } while (0)
#define FAKE_ANSWERS_WITH(f, say, want) \
    do {                                \
        fake_forget(f);                 \
        fake_say(f, say);               \
        CHECK_HAS(fake_heard(f), want); \
    } while (0)
#define FAKE_SILENT(f, say)        \
    do {                           \
        fake_forget(f);            \
        fake_say(f, say);          \
        CHECK_INT((f)->n_sent, 0); \
    } while (0)
