/* talk.h - a server with registered functions, and a client that writes messages by hand: what the
 * server sends is kept word for word. The clock stands still unless it is moved; workers are real
 * threads. */
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
#include <sched.h>

enum { TALK_SENT_MAX = 2048 };

struct talk {
    struct manual_clock clock;
    struct pb_loop *loop;
    struct pb_server *server;
    struct peer *peer;
    char *sent[TALK_SENT_MAX];
    enum send_kind kinds[TALK_SENT_MAX];
    int http_status;
    size_t n;
};

static inline void talk_send(void *transport, struct request *about, enum send_kind kind,
                             const struct span *parts, size_t n)
{
    struct talk *t = transport;
    char *text = sent_text(parts, n);

    CHECK(!strchr(text, '\n'));
    CHECK(t->n < TALK_SENT_MAX);
    t->http_status = about ? about->http_status : 0;
    t->kinds[t->n] = kind;
    t->sent[t->n++] = text;
}

static inline void talk_finished(void *transport, struct request *about)
{
    (void)transport, (void)about;
}

static inline void talk_open(struct talk *t, enum peer_kind kind,
                             const struct pb_server_options *opts)
{
    static const struct peer_ops ops = { .send = talk_send, .finished = talk_finished };
    struct pb_server_options o = PB_SERVER_OPTIONS_INIT;

    if (opts)
        o = *opts;
    *t = (struct talk){ 0 };
    manual_clock_init(&t->clock);
    t->loop = loop_new(&t->clock.clock);
    o.loop = t->loop;
    o.name = "t";
    o.version = "1";
    t->server = pb_server_new(&o);
    t->peer = peer_new(t->server, kind, &ops, t);
}

static inline void talk_forget(struct talk *t)
{
    while (t->n)
        free(t->sent[--t->n]);
}

static inline void talk_close(struct talk *t)
{
    if (t->peer)
        peer_close(t->peer);
    pb_server_free(t->server);
    loop_free(t->loop);
    talk_forget(t);
}

static inline void talk_say(struct talk *t, const char *text)
{
    peer_receive(t->peer, message_new(blob_new(span_of(text))), NULL, NULL);
}

/* Turns the loop until n messages have been sent since talk_forget(). */
static inline const char *talk_wait(struct talk *t, size_t n)
{
    while (t->n < n)
        loop_turn(t->loop, true);
    return t->sent[n - 1];
}

/* One request, one answer. */
static inline const char *talk_ask(struct talk *t, const char *text)
{
    talk_forget(t);
    talk_say(t, text);
    talk_wait(t, 1);
    if (t->n != 1)
        TAP_FAIL("%zu messages instead of one; the last: %s", t->n, t->sent[t->n - 1]);
    return t->sent[0];
}

static inline void talk_shake(struct talk *t, const char *revision, const char *caps)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text,
               "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
               "\"protocolVersion\":\"%s\",\"capabilities\":%s,\"clientInfo\":{\"name\":\"c\","
               "\"version\":\"1\"}}}",
               revision, caps);
    CHECK_HAS(talk_ask(t, buf_cstr(&text)), revision);
    talk_say(t, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    loop_turn(t->loop, false);
    talk_forget(t);
}

/* A legacy request: params without braces. */
#define LEGACY(method, params) \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{" params "}}"
/* A modern one: params end with a comma, or are empty. */
#define MODERN_CAPS(caps, method, params)                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{" params \
    "\"_meta\":{\"" META_VERSION "\":\"2026-07-28\",\"" META_CLIENT_CAPS "\":" caps "}}}"
#define MODERN(method, params) MODERN_CAPS("{}", method, params)
/* How results begin, legacy and modern. */
#define RESULT "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"
#define MODERN_RESULT                                                                          \
    RESULT "{\"resultType\":\"complete\",\"_meta\":{\"" META_SERVER_INFO "\":{\"name\":\"t\"," \
           "\"version\":\"1\"}}"
#define FAILED(code, message) \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":" code ",\"message\":\"" message "\"}}"
