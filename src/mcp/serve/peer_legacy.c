/* peer_legacy.c - the legacy era: a handshake fixes the revision, and the session remembers what
 * modern clients say with every request. */
#include "mcp/rpc/rpc.h"
#include "peer_impl.h"

struct initialize_params {
    struct span version;
    struct json caps, info;
};

/* What a client that names no version speaks: there were clients before the field was required. */
static const struct revision *negotiate(struct span version)
{
    const struct revision *rev = revision_find(version.p ? version : SPAN(MCP_OLDEST_LEGACY));

    return rev && rev->era == ERA_LEGACY ? rev : revision_find(SPAN(MCP_NEWEST_LEGACY));
}

static struct span keep_text(struct peer *p, struct json v)
{
    if (!json_is(v, JSON_OBJECT))
        return SPAN("{}");
    return span_make(arena_dup(&p->strings, json_text(v)), json_text(v).n);
}

static struct span keep_label(struct peer *p, struct json info)
{
    AUTO_BUF struct buf label = { 0 };

    envelope_label(&label, info);
    return span_make(arena_dup(&p->strings, buf_span(&label)), label.n);
}

static void initialize(struct request *r)
{
    static const struct json_field fields[] = {
        { "protocolVersion", JSON_FIELD_STRING, offsetof(struct initialize_params, version), 0 },
        { "capabilities", JSON_FIELD_OBJECT, offsetof(struct initialize_params, caps), 0 },
        { "clientInfo", JSON_FIELD_OBJECT, offsetof(struct initialize_params, info), 0 },
        { 0 },
    };
    struct initialize_params params = { 0 };
    struct peer *p = r->peer;
    AUTO_BUF struct buf out = { 0 }, caps = { 0 };
    struct json_out o = json_out(&out);
    struct pb_error err;

    if (p->initialized) {
        request_fail(r, RPC_INVALID_REQUEST, SPAN(""), "This session is initialized already");
        return;
    }
    if (json_fields(r->params, fields, &params, &r->message->arena, &err) < 0) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Invalid params: %s", err.msg);
        return;
    }
    p->session.revision = negotiate(params.version);
    p->session.client_caps = keep_text(p, params.caps);
    p->session.client_info = keep_text(p, params.info);
    p->session.label = keep_label(p, params.info);
    envelope_set_caps(&p->session, params.caps);
    p->initialized = true;
    r->env = p->session;

    server_capabilities(r->server, &caps, &r->env);
    json_begin_object(&o, NULL);
    json_put_str(&o, "protocolVersion", r->env.revision->date);
    json_put_raw(&o, "capabilities", buf_span(&caps));
    json_put_raw(&o, "serverInfo", server_info(r->server, r->env.revision));
    server_put_instructions(r->server, &o);
    json_end(&o);
    request_reply(r, buf_span(&out));
}

static void ping(struct request *r) { request_reply(r, SPAN("{}")); }

static void set_level(struct request *r)
{
    struct json level = json_get(r->params, "level");

    if (!log_level_parse(json_str(level, &r->message->arena), &r->peer->log_level)) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""),
                     "Invalid params: level must be one of debug, info, notice, warning, error, "
                     "critical, alert, emergency");
        return;
    }
    request_reply(r, SPAN("{}"));
}

/* clang-format off */
static const struct method methods[] = {
    { SPAN_CONST("initialize"),            initialize },
    { SPAN_CONST("logging/setLevel"),      set_level },
    { SPAN_CONST("ping"),                  ping },
    { SPAN_CONST("resources/subscribe"),   subscribe_method },
    { SPAN_CONST("resources/unsubscribe"), unsubscribe_method },
};
/* clang-format on */

void legacy_request(struct request *r)
{
    const struct method *own = method_find(methods, ARRAY_LEN(methods), r->method);
    struct peer *p = r->peer;
    const char *wrong;

    p->era = ERA_LEGACY;
    r->env = p->session;
    r->env.log_level = p->log_level;
    if (r->server->opts.strict && !p->initialized &&
        !(own && (own->run == initialize || own->run == ping))) {
        request_fail(r, RPC_INVALID_REQUEST, SPAN(""), "initialize first");
        return;
    }
    wrong = envelope_set_token(&r->env, r->params);
    if (wrong) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Invalid params: %s", wrong);
        return;
    }
    if (own)
        own->run(r);
    else
        peer_dispatch(r);
}
