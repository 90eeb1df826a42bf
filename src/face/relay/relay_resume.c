/* relay_resume.c - a client comes back with a requestState: to the call that is parked for it, or
 * to the server that its own state was wrapped for. */
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "relay_impl.h"

/* Does what the client asks for still lead to the same thing of the same server? */
static bool leads_there(const struct relays *s, const struct request *r, const struct scope *scope,
                        const struct relay_state *st, struct arena *arena)
{
    struct span name = json_str(json_get(r->params, subject_key(r)), arena);
    const struct catalog *catalog = hub_catalog(s->hub);
    const struct entry *e;
    struct uri_route to;

    if (span_is(r->method, "resources/read")) {
        to = catalog_route(catalog, scope, name, arena);
        if (!to.server && scope->server) /* it may have some that it does not list */
            to = (struct uri_route){ .server = scope->server, .uri = name };
        return to.server && span_is(st->server, to.server) && span_eq(st->subject, to.uri);
    }
    e = catalog_find(catalog, scope, span_is(r->method, "tools/call") ? LIST_TOOLS : LIST_PROMPTS,
                     name, NULL);
    return e && e->server && span_is(st->server, e->server) && span_eq(st->subject, e->name);
}

static struct span quoted(struct span text, struct arena *arena)
{
    AUTO_BUF struct buf b = { 0 };

    json_quote(&b, text);
    return span_make(arena_dup(arena, buf_span(&b)), b.n);
}

/* The request once more, as its server knows it. */
static void retry_params(struct buf *out, const struct request *r, const struct relay_state *st,
                         struct arena *arena)
{
    struct json inputs = json_get(r->params, "inputResponses");
    struct own_param own[4] = { { subject_key(r), quoted(st->subject, arena) } };
    size_t n = 1;

    if (json_is(inputs, JSON_OBJECT))
        own[n++] = (struct own_param){ "inputResponses", json_text(inputs) };
    if (st->upstream.n)
        own[n++] = (struct own_param){ "requestState", st->upstream };
    relay_params(out, r->params, own);
}

static void resume_passed(struct relays *s, struct request *r, const struct relay_order *like,
                          const struct relay_state *st, struct arena *arena)
{
    AUTO_BUF struct buf params = { 0 };
    struct relay_order o = {
        .scope = like->scope,
        .mode = like->mode,
        .directory = like->directory,
        .face = like->face,
        .server = arena_dup(arena, st->server),
        .method = arena_dup(arena, r->method),
        .subject = st->subject,
    };

    if (!leads_there(s, r, like->scope, st, arena)) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "requestState is not valid for this request");
        return;
    }
    retry_params(&params, r, st, arena);
    o.params = buf_span(&params);
    relay_start(s, r, &o);
}

bool relay_resume(struct relays *s, struct request *r, const struct relay_order *like)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct json text = { 0 }, inputs;
    struct relay_state st = { 0 };
    struct pb_error err;

    if (r->env.era == ERA_MODERN)
        text = json_get(r->params, "requestState");
    if (json_is(text, JSON_NONE) || json_is(text, JSON_NULL))
        return false;
    inputs = json_get(r->params, "inputResponses");
    if (!json_is(inputs, JSON_OBJECT) && !json_is(inputs, JSON_NONE) && !json_is(inputs, JSON_NULL))
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "inputResponses: expected an object, got %s",
                     json_type_name(inputs));
    else if (relay_open(&st, s, r, text, &arena, &err) < 0)
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "%s", err.msg);
    else if (st.ticket.n)
        relay_resume_parked(s, r, like->scope, st.ticket);
    else
        resume_passed(s, r, like, &st, &arena);
    return true;
}
