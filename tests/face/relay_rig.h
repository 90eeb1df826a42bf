/* relay_rig.h - clients of either era, in front of the hosts of host_rig.h, that write their
 * messages by hand: what they are sent is kept word for word.
 *
 *     struct hub_rig rig;
 *     struct down d;
 *
 *     rig_init(&rig, NULL);
 *     rig_tool(&rig, "alpha", PB_ERA_LEGACY, "ask", FAKE_ASK);
 *     down_open(&d, &rig, PEER_STDIO, ERA_MODERN, ASKS_ALL);
 *     down_call(&d, 1, "alpha__ask", "");
 *     CHECK_HAS(down_next(&d), "input_required");
 *     down_close(&d);
 *     rig_done(&rig); */
#pragma once
#include "face/host/host_impl.h"
#include "face/relay/relay.h"
#include "host_rig.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/rpc/rpc.h"
#include "mcp/sent.h"
#include "mcp/serve/serve.h"

enum { DOWN_SENT_MAX = 4096 };

#define ASKS_ALL                                                                          \
    "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{\"tools\":{}},\"roots\":{}," \
    "\"extensions\":{\"" EXT_TASKS "\":{}}}"

static inline struct relays *rig_relays(const struct hub_rig *rig) { return rig->hosts->relays; }

/* The server must have its tools by now. */
static inline void rig_connect(struct hub_rig *rig, struct fake_server *f)
{
    struct spec *spec = spec_stdio(f->name, "fake", NULL, NULL);
    struct pb_error err;

    if (hub_add(rig->hub, spec, &err) < 0 || hub_connect(rig->hub, f->name, &err) < 0)
        TAP_FAIL("%s", err.msg);
    spec_unref(spec);
    HUB_RIG_REACHES(rig, f->name, LINK_CONNECTED);
    fakes_settle(&rig->fakes); /* whoever comes now has not heard of it as news */
}

/* A server of this era with one tool of this name. */
static inline struct fake_tool *rig_tool(struct hub_rig *rig, const char *server, enum pb_era era,
                                         const char *tool, enum fake_tool_kind kind)
{
    struct fake_server *f = fakes_add(&rig->fakes, server);
    struct fake_tool *t = fake_tool(f, tool, kind);

    f->era = era;
    rig_connect(rig, f);
    return t;
}

/* ---- clients ------------------------------------------------------------------------------ */

struct down {
    struct fakes *fakes;
    struct peer *peer;
    enum era era;
    const char *caps, *name; /* name: clientInfo's; may be NULL */
    char *sent[DOWN_SENT_MAX];
    enum send_kind kinds[DOWN_SENT_MAX];
    int status; /* of the last answer */
    size_t n;
    char asked[16384]; /* "method params\n" of all questions it has seen */
};

static inline void down_send(void *transport, struct request *about, enum send_kind kind,
                             const struct span *parts, size_t n)
{
    struct down *d = transport;

    CHECK(d->n < DOWN_SENT_MAX);
    if (kind == SEND_RESPONSE)
        d->status = about->http_status;
    d->kinds[d->n] = kind;
    d->sent[d->n++] = sent_text(parts, n);
}

static inline void down_finished(void *transport, struct request *about)
{
    (void)transport, (void)about;
}

static inline void down_say(struct down *d, const char *text)
{
    peer_receive(d->peer, message_new(blob_new(span_of(text))), NULL, d);
}

static inline void down_forget(struct down *d)
{
    while (d->n)
        free(d->sent[--d->n]);
}

/* scope NULL: everything. */
static inline void down_open_at(struct down *d, struct hub_rig *rig, const struct host_scope *scope,
                                enum peer_kind kind, enum era era, const char *caps)
{
    static const struct peer_ops ops = { .send = down_send, .finished = down_finished };
    AUTO_BUF struct buf hello = { 0 };

    *d = (struct down){ .fakes = &rig->fakes, .era = era, .caps = caps };
    d->peer = peer_new(host_server(rig_host(rig, scope)), kind, &ops, d);
    if (era == ERA_MODERN)
        return;
    buf_printf(&hello,
               "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
               "\"protocolVersion\":\"2025-11-25\",\"capabilities\":%s,"
               "\"clientInfo\":{\"name\":\"old\",\"version\":\"1\"}}}",
               caps);
    down_say(d, buf_cstr(&hello));
    CHECK_INT(d->n, 1);
    down_forget(d);
}

static inline void down_open(struct down *d, struct hub_rig *rig, enum peer_kind kind, enum era era,
                             const char *caps)
{
    down_open_at(d, rig, NULL, kind, era, caps);
}

static inline void down_close(struct down *d)
{
    peer_close(TAKE(d->peer));
    down_forget(d);
}

/* Sends a request; `params` are members, each followed by a comma; `meta` the same within _meta. */
static inline void down_request(struct down *d, int id, const char *method, const char *params,
                                const char *meta)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"params\":{", id, method);
    buf_str(&text, params);
    buf_printf(&text, "\"_meta\":{%s", meta);
    if (d->era == ERA_MODERN)
        buf_printf(&text,
                   "\"" META_CLIENT_INFO "\":{\"name\":\"%s\",\"version\":\"1\"},\"" META_VERSION
                   "\":\"2026-07-28\",\"" META_CLIENT_CAPS "\":%s,",
                   d->name ? d->name : "new", d->caps);
    buf_str(&text, "\"x\":1}}}");
    down_say(d, buf_cstr(&text));
}

static inline void down_call(struct down *d, int id, const char *tool, const char *more)
{
    AUTO_BUF struct buf params = { 0 };

    buf_printf(&params, "\"name\":\"%s\",", tool);
    buf_str(&params, more);
    down_request(d, id, "tools/call", buf_cstr(&params), "");
}

/* The next message, whenever it comes. */
static inline const char *down_next(struct down *d)
{
    size_t had = d->n;

    FAKES_UNTIL(d->fakes, d->n > had);
    return d->sent[d->n - 1];
}

static inline const char *down_last(const struct down *d)
{
    CHECK(d->n > 0);
    return d->sent[d->n - 1];
}

/* Answers the last question, a request of ours. `answer` is `"result":...` or `"error":...`. */
static inline void down_answer(struct down *d, const char *answer)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf text = { 0 };
    size_t i = d->n;

    while (i > 0 && d->kinds[i - 1] != SEND_QUESTION)
        i--;
    CHECK(i > 0);
    CHECK_INT(json_parse(&doc, span_of(d->sent[i - 1]), NULL, NULL), 0);
    buf_str(&text, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_span(&text, json_text(json_get(json_root(&doc), "id")));
    buf_printf(&text, ",%s}", answer);
    d->kinds[i - 1] = SEND_NOTIFICATION; /* not to be answered twice */
    down_say(d, buf_cstr(&text));
}

/* What the last message, an input_required, wants to have back: `"requestState":"...",`. */
static inline const char *down_state(const struct down *d)
{
    static struct buf member;
    AUTO_JSON struct json_doc doc = { 0 };
    struct json state;

    member.n = 0;
    CHECK_INT(json_parse(&doc, span_of(down_last(d)), NULL, NULL), 0);
    state = json_get(json_get(json_root(&doc), "result"), "requestState");
    if (!json_is(state, JSON_STRING))
        TAP_FAIL("no requestState: %s", down_last(d));
    buf_str(&member, "\"requestState\":");
    buf_add_span(&member, json_text(state));
    buf_byte(&member, ',');
    return buf_cstr(&member);
}

static inline void down_note(struct down *d, struct json method, struct json params)
{
    AUTO_ARENA struct arena a = { 0 };
    size_t n = strlen(d->asked);

    snprintf(d->asked + n, sizeof d->asked - n, "%s %.*s\n", json_cstr(method, &a),
             SPAN_ARG(json_text(params)));
}

/* ---- a client that answers whatever it is asked ------------------------------------------- */

static inline void down_answer_question(struct down *d, struct json question, const char *answer)
{
    AUTO_BUF struct buf text = { 0 };

    down_note(d, json_get(question, "method"), json_get(question, "params"));
    buf_str(&text, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_span(&text, json_text(json_get(question, "id")));
    buf_printf(&text, ",\"result\":%s}", answer);
    down_say(d, buf_cstr(&text));
}

/* The same request again, as an input_required wants it. */
static inline void down_retry(struct down *d, int id, const char *tool, struct json result,
                              const char *answer)
{
    struct json state = json_get(result, "requestState");
    AUTO_BUF struct buf more = { 0 };
    const char *comma = "";

    buf_str(&more, "\"inputResponses\":{");
    JSON_FOREACH(entry, json_get(result, "inputRequests")) {
        down_note(d, json_get(entry, "method"), json_get(entry, "params"));
        buf_printf(&more, "%s\"%.*s\":%s", comma, SPAN_ARG(json_key(entry)), answer);
        comma = ",";
    }
    buf_str(&more, "},");
    if (json_is(state, JSON_STRING))
        buf_printf(&more, "\"requestState\":%.*s,", SPAN_ARG(json_text(state)));
    down_call(d, id, tool, buf_cstr(&more));
}

/* Calls the tool and answers every question until the call is over; returns its last message. */
static inline const char *down_converse(struct down *d, const char *tool, const char *answer)
{
    size_t at = d->n;
    int id = 100;

    down_call(d, id, tool, "");
    for (;; at++) {
        AUTO_JSON struct json_doc doc = { 0 };
        struct json root, result;

        FAKES_UNTIL(d->fakes, d->n > at);
        CHECK_INT(json_parse(&doc, span_of(d->sent[at]), NULL, NULL), 0);
        root = json_root(&doc);
        result = json_get(root, "result");
        if (d->kinds[at] == SEND_QUESTION)
            down_answer_question(d, root, answer);
        else if (json_str_is(json_get(result, "resultType"), "input_required"))
            down_retry(d, ++id, tool, result, answer);
        else if (d->kinds[at] == SEND_RESPONSE)
            return d->sent[at];
    }
}
