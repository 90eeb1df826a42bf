/* relay_kit.h - a hub with fake servers, a host that relays everything, and clients of either era
 * that write their messages by hand: what they are sent is kept word for word. */
#pragma once
#include "face/host/host_impl.h"
#include "face/relay/relay.h"
#include "hub/catalog/catalog.h"
#include "hub/fake_server.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

enum { KIT_SENT_MAX = 4096 };

#define ASKS_ALL                                                                          \
    "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{\"tools\":{}},\"roots\":{}," \
    "\"extensions\":{\"" EXT_TASKS "\":{}}}"

struct kit {
    struct fakes fakes;
    struct hub *hub;
    struct relays *relays;
    struct pb_server *server;
    struct scope scope;
    uint64_t timeout_ms; /* of the orders */
    bool hub_closed;
};

/* ---- the host ----------------------------------------------------------------------------- */

static inline void kit_capabilities(void *ctx, struct json_out *o, const struct envelope *env)
{
    (void)ctx, (void)env;
    json_put_raw(o, "tools", SPAN("{}"));
}

static inline void kit_relay(struct kit *k, struct request *r, const char *server, const char *key,
                             struct span subject)
{
    AUTO_BUF struct buf params = { 0 }, quoted = { 0 };
    AUTO_ARENA struct arena a = { 0 };

    if (relay_resume(k->relays, r, &k->scope))
        return;
    json_quote(&quoted, subject);
    relay_params(&params, r->params, (struct own_param[]){ { key, buf_span(&quoted) }, { 0 } });
    relay_start(k->relays, r,
                &(struct relay_order){ .scope = &k->scope,
                                       .server = server,
                                       .method = arena_dup(&a, r->method),
                                       .params = buf_span(&params),
                                       .subject = subject,
                                       .timeout_ms = k->timeout_ms });
}

static inline bool kit_handle(void *ctx, struct request *r)
{
    struct kit *k = ctx;
    const struct catalog *c = hub_catalog(k->hub);
    struct span name = json_str(json_get(r->params, "name"), &r->message->arena);
    struct pb_error err = { 0 };
    const struct entry *e;

    if (span_is(r->method, "resources/read")) {
        struct uri_route to =
            catalog_route(c, &k->scope, json_str(json_get(r->params, "uri"), &r->message->arena),
                          &r->message->arena);

        CHECK(to.server);
        kit_relay(k, r, to.server, "uri", to.uri);
        return true;
    }
    if (!span_is(r->method, "tools/call") && !span_is(r->method, "prompts/get"))
        return false;
    e = catalog_find(c, &k->scope, span_is(r->method, "tools/call") ? LIST_TOOLS : LIST_PROMPTS,
                     name, &err);
    if (!e)
        TAP_FAIL("%s", err.msg);
    kit_relay(k, r, e->server, "name", e->name);
    return true;
}

static inline void kit_left(void *ctx, struct peer *p)
{
    struct kit *k = ctx;

    if (k->relays && peer_kind(p) != PEER_STATELESS)
        relays_left(k->relays, p);
}

static const struct provider kit_provider = {
    .capabilities = kit_capabilities,
    .handle = kit_handle,
    .left = kit_left,
};

static inline void kit_open(struct kit *k)
{
    struct hub_options ho = HUB_OPTIONS_INIT;
    struct pb_server_options so = PB_SERVER_OPTIONS_INIT;

    *k = (struct kit){ 0 };
    fakes_init(&k->fakes);
    ho.loop = k->fakes.loop;
    ho.open = fake_open;
    ho.open_ctx = &k->fakes;
    ho.health_ms = 0;
    k->hub = hub_new(&ho);
    k->relays = relays_new(k->hub);
    so.loop = k->fakes.loop;
    so.name = "hub";
    so.version = "1";
    k->server = pb_server_new(&so);
    server_set_provider(k->server, &kit_provider, k);
}

/* The server must have its tools by now. */
static inline void kit_connect(struct kit *k, struct fake_server *f)
{
    static const char *const none[] = { NULL };
    struct spec *spec = spec_stdio(f->name, "fake", none, none);
    struct pb_error err;

    if (hub_add(k->hub, spec, &err) < 0 || hub_connect(k->hub, f->name, &err) < 0)
        TAP_FAIL("%s", err.msg);
    spec_unref(spec);
    FAKES_UNTIL(&k->fakes, link_state(hub_link(k->hub, f->name)) == LINK_CONNECTED);
}

/* A server of this era with one tool of this name. */
static inline struct fake_tool *kit_tool(struct kit *k, const char *server, enum pb_era era,
                                         const char *tool, enum fake_tool_kind kind)
{
    struct fake_server *f = fakes_add(&k->fakes, server);
    struct fake_tool *t = fake_tool(f, tool, kind);

    f->era = era;
    kit_connect(k, f);
    return t;
}

static inline void kit_hub_closed(void *ctx) { *(bool *)ctx = true; }

/* Relays first, as a host does it. */
static inline void kit_close(struct kit *k)
{
    relays_free(TAKE(k->relays));
    hub_close(k->hub, kit_hub_closed, &k->hub_closed);
    FAKES_UNTIL(&k->fakes, k->hub_closed);
    pb_server_free(k->server);
    fakes_done(&k->fakes);
}

/* ---- clients ------------------------------------------------------------------------------ */

struct down {
    struct kit *kit;
    struct peer *peer;
    enum era era;
    const char *caps, *name; /* name: clientInfo's; may be NULL */
    char *sent[KIT_SENT_MAX];
    enum send_kind kinds[KIT_SENT_MAX];
    int status; /* of the last answer */
    size_t n;
    char asked[16384]; /* "method params\n" of all questions it has seen */
};

static inline void down_send(void *transport, struct request *about, enum send_kind kind,
                             const struct span *parts, size_t n)
{
    struct down *d = transport;
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_opts strict = { .unique_depth = JSON_ALL };
    struct buf text = { 0 };
    struct pb_error err;

    for (size_t i = 0; i < n; i++)
        buf_add_span(&text, parts[i]);
    if (json_parse(&doc, buf_span(&text), &strict, &err) < 0)
        TAP_FAIL("sent no JSON: %s: %s", err.msg, buf_cstr(&text));
    CHECK(d->n < KIT_SENT_MAX);
    if (kind == SEND_RESPONSE)
        d->status = about->http_status;
    d->kinds[d->n] = kind;
    d->sent[d->n++] = buf_take(&text);
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

static inline void down_open(struct down *d, struct kit *k, enum peer_kind kind, enum era era,
                             const char *caps)
{
    static const struct peer_ops ops = { .send = down_send, .finished = down_finished };
    AUTO_BUF struct buf hello = { 0 };

    *d = (struct down){ .kit = k, .era = era, .caps = caps };
    d->peer = peer_new(k->server, kind, &ops, d);
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

    FAKES_UNTIL(&d->kit->fakes, d->n > had);
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

        FAKES_UNTIL(&d->kit->fakes, d->n > at);
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
