#include "serve.h"
#include "console.h"
#include "face/caller/caller.h"
#include "face/host/host.h"
#include "face/rest/rest.h"
#include "io/http/http.h"
#include "mcp/carrier/carrier.h"
#include "mcp/rpc/rpc.h"
#include <stdio.h>

enum { GUESSES_MS = 1000 };

/* A token beside our own that was used. */
struct bearer {
    char *principal;
    unsigned may; /* now; 0: it was taken back */
};

/* One place where MCP is spoken: made when it is first asked for. */
struct mount {
    struct host *host;
    const char *principal; /* the guard's or the bearer's */
    struct endpoint *endpoint;
    struct sse_carrier *sse;
    const struct bearer *by; /* NULL: our own token opens it, or none is wanted */
};

struct serve {
    struct hosts *hosts;
    struct pb_loop *loop;
    struct front front; /* its streams are those of all mounts */
    struct rest *rest;
    struct map mounts;   /* by host and principal: however it is spelt, a place is made once */
    struct mount *found; /* the last one that was asked for: mostly it is asked for again */
    struct tokens *tokens;
    struct map bearers; /* by principal, which sessions borrow */
    int64_t started_at;
    uint64_t guesses_since; /* wrong tokens are counted from then on */
    unsigned guesses;

    loop_fn *closed_fn;
    void *closed_ctx;
};

/* What a path asks for. */
struct path_target {
    struct host_scope scope;
    enum { PLACE_MCP, PLACE_SSE, PLACE_MESSAGES } what;
    struct span path; /* without what it is */
};

static void refuse(struct http_request *r, int status, const char *why)
{
    endpoint_refuse(r, status, NULL, SPAN(""), RPC_SERVER_ERROR, why);
}

static void reply_health(struct http_request *r)
{
    const struct span body = SPAN("{\"status\":\"ok\"}\n");

    http_reply(r, 200, "Content-Type: application/json\r\nCache-Control: no-store\r\n", &body, 1);
}

/* Takes "/sse" or "/messages" off the end. */
static bool take_tail(struct span *path, const char *tail)
{
    size_t n = strlen(tail);

    if (path->n < n || memcmp(path->p + path->n - n, tail, n) != 0)
        return false;
    path->n -= n;
    return true;
}

/* "/mcp[/<server>|/mode/<mode>][/sse|/messages]", and "/sse", "/messages" for "/mcp/sse", …. One
 * that is called "sse" itself is reached as "%73se". Names lie in the arena. */
static bool find_place(struct span path, struct path_target *out, struct arena *a)
{
    AUTO_BUF struct buf name = { 0 };
    struct span rest;
    bool mode;

    *out = (struct path_target){ 0 };
    if (take_tail(&path, "/sse"))
        out->what = PLACE_SSE;
    else if (take_tail(&path, "/messages"))
        out->what = PLACE_MESSAGES;
    if (!path.n && out->what != PLACE_MCP)
        path = SPAN("/mcp");
    if (!span_starts(path, "/mcp") || (path.n > 4 && path.p[4] != '/'))
        return false;
    out->path = path;
    if (path.n == 4)
        return true;
    rest = span_from(path, 5);
    mode = span_starts(rest, "mode/");
    if (mode)
        rest = span_from(rest, 5);
    if (!rest.n || memchr(rest.p, '/', rest.n) || !http_decode(&name, rest))
        return false;
    *(mode ? &out->scope.mode : &out->scope.server) = arena_dup(a, buf_span(&name));
    return true;
}

static struct mount *find_mount(struct serve *s, const struct path_target *p, const char *principal,
                                struct pb_error *err)
{
    AUTO_BUF struct buf messages = { 0 }, key = { 0 };
    struct host *host;
    struct mount *m = s->found;

    /* Asked each time: a server or mode may be gone by now. */
    if (hosts_get(s->hosts, &p->scope, &host, err) < 0)
        return NULL;
    if (m && m->host == host && strcmp(m->principal, principal) == 0)
        return m;
    buf_add(&key, &host, sizeof host); /* hosts outlive this listener */
    buf_str(&key, principal);
    m = map_get(&s->mounts, buf_span(&key));
    if (m)
        return s->found = m;
    buf_add_span(&messages, p->path);
    buf_str(&messages, "/messages");
    m = NEW(struct mount);
    m->host = host;
    m->principal = principal;
    m->endpoint = endpoint_new(host_server(host), &s->front.streams, principal, false);
    m->sse = sse_carrier_new(host_server(host), &s->front.streams, buf_cstr(&messages));
    m->by = map_get(&s->bearers, span_of(principal));
    map_put(&s->mounts, buf_span(&key), m);
    return s->found = m;
}

/* What is the same for everybody, and that we are alive, is no secret; but a page elsewhere need
 * not know it. */
static bool is_public(struct span path)
{
    return span_is(path, "/health") || console_owns(path) || rest_is_public(path);
}

/* Who guesses is told to wait. The right token always opens: whoever has it must not suffer from
 * those who have not. */
static bool guesses_too_much(struct serve *s)
{
    uint64_t now = loop_now(s->loop);

    if (now - s->guesses_since >= GUESSES_MS) {
        s->guesses_since = now;
        s->guesses = 0;
    }
    return ++s->guesses > SERVE_WRONG_TOKENS_MAX;
}

/* ---- tokens beside our own ---- */

static void mount_free(struct mount *m)
{
    sse_carrier_free(m->sse);
    endpoint_free(m->endpoint);
    free(m);
}

static void bearer_free(struct bearer *b)
{
    free(b->principal);
    free(b);
}

static const struct bearer *bearer_of(struct serve *s, const struct token *t)
{
    struct bearer *b = map_get(&s->bearers, span_of(t->principal));

    if (!b) {
        b = NEW(struct bearer);
        *b = (struct bearer){ mem_dup(t->principal), t->may };
        map_put(&s->bearers, span_of(b->principal), b);
    }
    return b;
}

static void set_rights(struct serve *s)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &s->bearers)
        ((struct bearer *)slot->value)->may = 0;
    for (size_t i = 0; s->tokens && i < s->tokens->n; i++) {
        const struct token *t = &s->tokens->v[i];
        struct bearer *b = map_get(&s->bearers, span_of(t->principal));

        if (b)
            b->may = t->may;
    }
}

static bool may_listen(void *ctx, const char *principal)
{
    const struct serve *s = ctx;
    const struct bearer *b = map_get(&s->bearers, span_of(principal));

    return !b || b->may & TOKEN_READ;
}

void serve_config_changed(struct serve *s) { rest_config_changed(s->rest); }

static bool may_stay(const struct mount *m) { return !m->by || m->by->may & TOKEN_MCP; }

void serve_set_tokens(struct serve *s, struct tokens *take_tokens)
{
    struct map_slot *slot;

    tokens_free(s->tokens);
    s->tokens = take_tokens;
    set_rights(s);
    rest_end_streams(s->rest, may_listen, s);
    MAP_FOREACH(slot, &s->mounts) {
        struct mount *m = slot->value;

        if (may_stay(m))
            continue;
        map_del(&s->mounts, span_make(slot->key, slot->key_n));
        if (s->found == m)
            s->found = NULL;
        mount_free(m);
    }
    MAP_FOREACH(slot, &s->bearers) {
        struct bearer *b = slot->value;

        if (b->may)
            continue;
        map_del(&s->bearers, span_of(b->principal));
        bearer_free(b);
    }
}

static const struct token *find_token(const struct serve *s, const struct http_request *r)
{
    static const char scheme[] = "Bearer ";
    size_t n = sizeof scheme - 1, tokens;
    struct span given = http_header(r, "Authorization", &tokens);

    if (!s->tokens || tokens != 1 || given.n <= n || !span_is_nocase(span_make(given.p, n), scheme))
        return NULL;
    return tokens_find(s->tokens, span_trim(span_from(given, n)));
}

static enum token_may needed(const struct http_request *r)
{
    struct span path = http_path(r);

    return rest_owns(path) ? rest_needs(http_method(r), path) : TOKEN_MCP;
}

/* Host and Origin are right, and the token is not our own: is it another that may do this? */
static struct guard_verdict judge_token(struct serve *s, const struct http_request *r,
                                        struct guard_verdict wrong)
{
    static const char *const refusals[] = {
        [TOKEN_MCP] = "Forbidden: this token may not use MCP; 'patchbay token add NAME --may mcp' "
                      "makes one that may",
        [TOKEN_READ] = "Forbidden: this token may not read REST; 'patchbay token add NAME --may "
                       "read' makes one that may",
        [TOKEN_REST] = "Forbidden: this token may not change anything; 'patchbay token add NAME "
                       "--may all' makes one that may",
    };
    const struct token *t = find_token(s, r);
    enum token_may need = needed(r);

    if (!t)
        return wrong;
    if (!(t->may & need) && !is_public(http_path(r)))
        return (struct guard_verdict){ .status = 403, .why = refusals[need], .principal = "" };
    return (struct guard_verdict){ .principal = bearer_of(s, t)->principal };
}

static struct guard_verdict judge(struct serve *s, const struct http_request *r)
{
    struct guard_verdict v = guard_check(s->front.guard, r);

    if (v.wrong_token)
        v = judge_token(s, r, v);
    if (v.status == 401 && is_public(http_path(r)))
        return (struct guard_verdict){ .principal = "" };
    if (v.wrong_token && guesses_too_much(s)) {
        v.status = 429;
        v.why = "Too Many Requests: too many wrong tokens";
        v.headers = "Retry-After: 1\r\n";
    }
    return v;
}

static bool takes_body(const struct http_request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    struct path_target place;

    if (rest_owns(http_path(r)))
        return rest_takes_body(r);
    return endpoint_takes_body(r) && find_place(http_path(r), &place, &a);
}

/* Each door refuses in its own words. */
static void refuse_by_guard(struct serve *s, struct http_request *r, const struct guard_verdict *v)
{
    if (rest_owns(http_path(r)))
        rest_handle(s->rest, r, v);
    else if (console_owns(http_path(r)))
        console_handle(r, v);
    else
        endpoint_refuse(r, v->status, v->headers, SPAN(""), RPC_SERVER_ERROR, v->why);
}

/* Nobody sends us a body before the guard has seen who it is, nor much of one to where it is not
 * asked for: some places are open to all. */
static bool admit(void *ctx, struct http_request *r, size_t *max_body)
{
    struct serve *s = ctx;
    struct guard_verdict v = judge(s, r);

    if (v.status) {
        refuse_by_guard(s, r, &v);
        return false;
    }
    if (!takes_body(r))
        *max_body = HTTP_STRAY_BODY_MAX;
    return true;
}

static void handle(void *ctx, struct http_request *r)
{
    struct serve *s = ctx;
    AUTO_ARENA struct arena a = { 0 };
    struct guard_verdict v = judge(s, r);
    struct pb_error err;
    struct path_target place;
    struct mount *m;

    if (v.status)
        refuse_by_guard(s, r, &v);
    else if (rest_owns(http_path(r)))
        rest_handle(s->rest, r, &v);
    else if (console_owns(http_path(r)))
        console_handle(r, &v);
    else if (span_is(http_path(r), "/health"))
        reply_health(r);
    else if (!find_place(http_path(r), &place, &a))
        refuse(r, 404, "Not Found: MCP is at /mcp, /mcp/<server> and /mcp/mode/<mode>");
    else if (!(m = find_mount(s, &place, v.principal, &err)))
        refuse(r, 404, err.msg);
    else if (place.what == PLACE_SSE)
        sse_carrier_open(m->sse, r, v.principal);
    else if (place.what == PLACE_MESSAGES)
        sse_carrier_post(m->sse, r, v.principal);
    else
        endpoint_handle(m->endpoint, r, v.principal);
}

/* What the HTTP server refuses by itself: bad heads, bodies over the limit. */
static void write_refusal(struct buf *out, struct span path, int status, const char *why)
{
    if (rest_owns(path))
        rest_write_refusal(out, status, why);
    else
        front_write_refusal(out, path, status, why);
}

int serve_start(struct serve **out, struct hosts *hosts, const struct serve_options *o,
                struct pb_error *err)
{
    struct pb_loop *loop = hosts_loop(hosts);
    struct serve *s = NEW(struct serve);
    struct front_options front = { .http = { .host = o->host,
                                             .port = o->port,
                                             .handler = handle,
                                             .admit = admit,
                                             .refusal = write_refusal,
                                             .ctx = s },
                                   .guard = { .token = o->token,
                                              .allowed_hosts = o->allowed_hosts,
                                              .allowed_origins = o->allowed_origins },
                                   .must_guard = "set one with --token" };
    int rc = front_open(&s->front, loop, &front, err);

    if (rc < 0) {
        free(s);
        return rc;
    }
    s->hosts = hosts;
    s->loop = loop;
    s->rest = rest_new(&(struct rest_options){ .hosts = hosts, .http = s->front.http });
    s->started_at = loop_wall(loop);
    *out = s;
    return 0;
}

int serve_port(const struct serve *s) { return http_server_port(s->front.http); }

/* ---- closing ------------------------------------------------------------------------------ */

static void free_serve(void *p)
{
    struct serve *s = p;

    struct map_slot *slot;

    tokens_free(s->tokens);
    MAP_FOREACH(slot, &s->bearers)
        bearer_free(slot->value);
    map_done(&s->bearers);
    free(s);
}

static void on_closed(void *ctx)
{
    struct serve *s = ctx;

    rest_free(TAKE(s->rest)); /* while there still is a hub */
    if (s->closed_fn)
        s->closed_fn(s->closed_ctx);
    loop_free_later(s->loop, s, free_serve);
}

static void close_all(void *ctx)
{
    struct serve *s = ctx;
    struct map_slot *slot;

    MAP_FOREACH(slot, &s->mounts)
        mount_free(slot->value);
    s->found = NULL;
    map_done(&s->mounts);
    front_close(&s->front, on_closed, s);
}

/* The connections tell when all is answered. */
static void ignore(void *ctx) { (void)ctx; }

void serve_close(struct serve *s, loop_fn *fn, void *ctx)
{
    struct map_slot *slot;

    s->closed_fn = fn;
    s->closed_ctx = ctx;
    front_drain(&s->front);
    rest_drain(s->rest);
    MAP_FOREACH(slot, &s->mounts) {
        struct mount *m = slot->value;

        endpoint_drain(m->endpoint, ignore, NULL);
        sse_carrier_drain(m->sse, ignore, NULL);
    }
    front_flush(&s->front, close_all, s);
}
