/* peer_modern.c - the modern era: every request is judged by what it says about itself, in the
 * order of the specification. Over HTTP its headers must say the same. */
#include "listen.h"
#include "mcp/rpc/rpc.h"
#include "peer_impl.h"

bool modern_claimed(const struct message *m)
{
    struct json meta = json_get(m->rpc.params, "_meta");

    return m->claims_modern || !json_is(json_get(meta, META_VERSION), JSON_NONE) ||
           !json_is(json_get(meta, META_CLIENT_CAPS), JSON_NONE);
}

/* ---- the checks, one per step ------------------------------------------------------------- */

static bool refuse_meta(struct request *r, const char *what)
{
    request_refuse(r, 400, RPC_INVALID_PARAMS, SPAN(""), "Invalid params: %s", what);
    return false;
}

static bool check_meta(struct request *r, const struct http_facts *facts)
{
    struct json meta = json_get(r->params, "_meta");
    struct json caps = json_get(meta, META_CLIENT_CAPS), info = json_get(meta, META_CLIENT_INFO);
    struct json level = json_get(meta, META_LOG_LEVEL);
    bool no_caps = !json_is(caps, JSON_OBJECT), no_version = !r->message->claims_modern;
    const char *wrong;

    (void)facts;
    if (no_caps || no_version) {
        request_refuse(r, 400, RPC_INVALID_PARAMS, SPAN(""), "Invalid params: _meta needs %s%s%s",
                       no_version ? META_VERSION " (a string)" : "",
                       no_caps && no_version ? " and " : "",
                       no_caps ? META_CLIENT_CAPS " (an object)" : "");
        return false;
    }
    if (!json_is(info, JSON_NONE) && !json_is(info, JSON_OBJECT))
        return refuse_meta(r, META_CLIENT_INFO " must be an object");
    r->env.client_caps = json_text(caps);
    r->env.client_info = json_is(info, JSON_OBJECT) ? json_text(info) : SPAN("{}");
    r->env.wants_log = !json_is(level, JSON_NONE);
    if (r->env.wants_log &&
        !log_level_parse(json_str(level, &r->message->arena), &r->env.log_level))
        return refuse_meta(r, META_LOG_LEVEL " is no log level");
    wrong = envelope_set_token(&r->env, r->params);
    return wrong ? refuse_meta(r, wrong) : true;
}

static bool mismatch(struct request *r, const char *header, const char *why)
{
    request_fail(r, RPC_HEADER_MISMATCH, SPAN(""), "Header mismatch: %s %s", header, why);
    return false;
}

static bool check_version_header(struct request *r, const struct http_facts *facts)
{
    if (!facts)
        return true;
    if (!facts->version.p)
        return mismatch(r, "MCP-Protocol-Version", "is missing");
    if (!span_eq(facts->version, r->message->claimed_version))
        return mismatch(r, "MCP-Protocol-Version", "differs from _meta");
    return true;
}

static void refuse_version(struct request *r, struct span requested, bool modern_only)
{
    AUTO_BUF struct buf data = { 0 };
    struct json_out o = json_out(&data);

    json_begin_object(&o, NULL);
    server_versions(&o, "supported", modern_only);
    json_put_span(&o, "requested", requested);
    json_end(&o);
    request_fail(r, RPC_UNSUPPORTED_VERSION, buf_span(&data), "Unsupported protocol version");
}

static bool check_version(struct request *r, const struct http_facts *facts)
{
    const struct revision *rev = revision_find(r->message->claimed_version);

    (void)facts;
    if (!rev || rev->era != ERA_MODERN) {
        refuse_version(r, r->message->claimed_version, false);
        return false;
    }
    r->env.revision = rev;
    envelope_set_caps(&r->env, json_get(json_get(r->params, "_meta"), META_CLIENT_CAPS));
    /* A probe decides nothing: the client may go on to shake hands in the old way. */
    if (!span_is(r->method, "server/discover"))
        r->peer->era = ERA_MODERN;
    return true;
}

static bool check_method_header(struct request *r, const struct http_facts *facts)
{
    if (!facts)
        return true;
    if (!facts->method.p)
        return mismatch(r, "Mcp-Method", "is missing");
    if (!span_eq(facts->method, r->method))
        return mismatch(r, "Mcp-Method", "differs from the method");
    return true;
}

/* Which member of params Mcp-Name repeats. */
static const struct {
    const char *method, *member;
} named[] = {
    { "prompts/get", "name" }, { "resources/read", "uri" },  { "tasks/cancel", "taskId" },
    { "tasks/get", "taskId" }, { "tasks/update", "taskId" }, { "tools/call", "name" },
};

static bool check_name_header(struct request *r, const struct http_facts *facts)
{
    struct json name = { 0 };
    struct span text;

    if (!facts)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(named); i++)
        if (span_is(r->method, named[i].method))
            name = json_get(r->params, named[i].member);
    if (!json_is(name, JSON_STRING))
        return true; /* nothing to repeat; a method that needs it will say so itself */
    if (!facts->name.p)
        return mismatch(r, "Mcp-Name", "is missing");
    if (!header_decode(facts->name, &text, &r->message->arena))
        return mismatch(r, "Mcp-Name", "is not decodable");
    if (!span_eq(text, json_str(name, &r->message->arena)))
        return mismatch(r, "Mcp-Name", "differs from params");
    return true;
}

/* Most schemas have no annotations; a search tells that sooner than a parse. An annotation that is
 * spelled with escapes is still found. */
static bool may_mirror(struct span schema)
{
    return memmem(schema.p, schema.n, "x-mcp-header", strlen("x-mcp-header")) ||
           memmem(schema.p, schema.n, "\\u", 2);
}

static bool check_param_headers(struct request *r, const struct http_facts *facts)
{
    struct pb_server *s = r->server;
    struct header_params params = { 0 };
    struct pb_error err;
    struct span schema;
    bool ok = true;

    if (!facts || !facts->header || !s->provider->tool_schema || !span_is(r->method, "tools/call"))
        return true;
    schema = s->provider->tool_schema(s->provider_ctx,
                                      json_str(json_get(r->params, "name"), &r->message->arena));
    if (!schema.p || !schema.n || !may_mirror(schema))
        return true;
    if (header_params_read(&params, schema, NULL) < 0)
        return true; /* annotations that break the rules bind nobody */
    if (header_params_check(&params, json_get(r->params, "arguments"), facts->header, facts->ctx,
                            &err) < 0) {
        request_fail(r, RPC_HEADER_MISMATCH, SPAN(""), "Header mismatch: %s", err.msg);
        ok = false;
    }
    header_params_done(&params);
    return ok;
}

static bool (*const checks[])(struct request *, const struct http_facts *) = {
    check_meta,          check_version_header, check_version,
    check_method_header, check_name_header,    check_param_headers,
};

/* ---- the methods -------------------------------------------------------------------------- */

static void discover(struct request *r)
{
    struct pb_server *s = r->server;
    AUTO_BUF struct buf out = { 0 }, caps = { 0 };
    struct json_out o = json_out(&out);

    server_capabilities(s, &caps, &r->env);
    json_begin_object(&o, NULL);
    server_versions(&o, "supportedVersions", false);
    json_put_raw(&o, "capabilities", buf_span(&caps));
    server_put_instructions(s, &o);
    json_put_int(&o, "ttlMs", s->opts.cache_ttl_ms);
    json_put_str(&o, "cacheScope", request_cache_scope(r));
    json_end(&o);
    request_reply(r, buf_span(&out));
}

static void removed(struct request *r)
{
    request_fail(r, RPC_METHOD_NOT_FOUND, SPAN(""), "Method not found: %.*s", SPAN_ARG(r->method));
}

/* clang-format off */
static const struct method methods[] = {
    { SPAN_CONST("initialize"),            removed },
    { SPAN_CONST("logging/setLevel"),      removed },
    { SPAN_CONST("ping"),                  removed },
    { SPAN_CONST("resources/subscribe"),   removed },
    { SPAN_CONST("resources/unsubscribe"), removed },
    { SPAN_CONST("server/discover"),       discover },
    { SPAN_CONST("subscriptions/listen"),  listen_open },
};
/* clang-format on */

void modern_request(struct request *r, const struct http_facts *facts)
{
    struct peer *p = r->peer;
    const struct method *own;

    r->env.revision = revision_find(SPAN(MCP_NEWEST_MODERN));
    if (p->era == ERA_MODERN && p->kind != PEER_STATELESS && !modern_claimed(r->message) &&
        span_is(r->method, "initialize")) {
        struct json version = json_get(r->params, "protocolVersion");

        /* Too late for a handshake on this connection: the versions that are left. */
        refuse_version(r, json_str(version, &r->message->arena), true);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        if (!checks[i](r, facts))
            return;
    own = method_find(methods, ARRAY_LEN(methods), r->method);
    if (own)
        own->run(r);
    else
        peer_dispatch(r);
}
