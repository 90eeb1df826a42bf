#include "client_impl.h"
#include "mcp/rpc/rpc.h"
#include "mcp/wire/wire.h"

#define TO(s) SM_BIT(CL_##s)
/* clang-format off */
static const struct sm_state states[] = {
    [CL_OPENING]   = { "opening",   TO(PROBING) | TO(SHAKING) | TO(OPENING) | TO(DEAD),           NULL },
    [CL_PROBING]   = { "probing",   TO(READY) | TO(SHAKING) | TO(OPENING) | TO(PROBING) | TO(DEAD), NULL },
    [CL_SHAKING]   = { "shaking",   TO(READY) | TO(OPENING) | TO(DEAD),                           NULL },
    [CL_READY]     = { "ready",     TO(RESHAKING) | TO(DEAD),                                     NULL },
    [CL_RESHAKING] = { "reshaking", TO(READY) | TO(DEAD),                                         NULL },
    [CL_DEAD]      = { "dead",      0,                                                            NULL },
};
/* clang-format on */
_Static_assert(ARRAY_LEN(states) == CL_COUNT, "every state has a row");

void client_ref(struct client *c) { c->refs++; }

/* They may hold keys. */
static void wipe_list(const char *const *list)
{
    for (; list && *list; list++)
        explicit_bzero((char *)(uintptr_t)*list, strlen(*list));
}

static void client_free(void *ctx)
{
    struct client *c = ctx;
    struct pb_loop *l = c->loop;
    loop_fn *closed = c->closed;
    void *closed_ctx = c->closed_ctx;

    client_questions_free(c);
    client_listen_free(c);
    client_tools_free(c);
    table_done(&c->by_id);
    table_done(&c->on_wire);
    buf_done(&c->out);
    json_doc_done(&c->doc);
    buf_done(&c->server_info);
    buf_done(&c->server_caps);
    buf_done(&c->instructions);
    if (c->opening.late)
        blob_unref(c->opening.late);
    free(c->caps);
    free(c->legacy_caps);
    free(c->opening.stray);
    free(c->challenge);
    wipe_list(c->opts.env);
    wipe_list(c->opts.headers);
    arena_done(&c->arena);
    free(c);
    if (closed)
        closed(closed_ctx);
    loop_closing_end(l);
}

/* Later: the last user may be a callback of ours that still looks at us. */
void client_unref(struct client *c)
{
    if (--c->refs == 0)
        loop_defer(c->loop, client_free, c);
}

void client_move(struct client *c, enum client_state next) { sm_move(&c->sm, c, next); }

static void wire_gone(void *ctx) { client_unref(ctx); }

void client_drop_wire(struct client *c)
{
    struct wire *w = TAKE(c->wire);

    if (!w)
        return;
    client_ref(c);
    w->ops->close(w, wire_gone, c);
}

void client_die(struct client *c, const struct pb_error *why)
{
    bool was_open = client_is_open(c);
    struct pb_error reason = *why;

    if (client_in(c, CL_DEAD) || c->closing)
        return;
    client_ref(c);
    c->why = reason;
    client_move(c, CL_DEAD);
    client_opening_stop(c);
    client_questions_forget(c, NULL);
    client_calls_fail_all(c, &reason);
    if (!c->closing && !was_open && c->events.opened)
        c->events.opened(c->ctx, &reason);
    if (!c->closing && was_open && c->events.closed)
        c->events.closed(c->ctx, &reason);
    client_unref(c);
}

/* ---- what the wire says ---- */

/* A client that has given up keeps its wire until it is closed, but does not listen to it. */
static bool is_over(const struct client *c) { return c->closing || client_in(c, CL_DEAD); }

static void on_opened(void *ctx)
{
    struct client *c = ctx;
    struct pb_error err;

    if (!is_over(c) && client_opening_wire_ready(c, &err) < 0)
        client_die(c, &err);
}

static void on_message(void *ctx, struct blob *bytes, uint64_t about, int status)
{
    struct client *c = ctx;

    c->heard_at = loop_now(c->loop);
    client_ref(c);
    client_receive(c, bytes, about, status);
    client_unref(c);
}

static void on_oversize(void *ctx, struct span head, uint64_t total)
{
    struct client *c = ctx;

    client_ref(c);
    client_oversize(c, head, total);
    client_unref(c);
}

static void on_delivered(void *ctx, uint64_t id) { client_opening_delivered(ctx, id); }

static void keep_challenge(struct client *c, const struct wire_fault *fault)
{
    if (fault->err.code != PB_E_AUTH || !fault->challenge.p)
        return;
    free(c->challenge);
    c->challenge = mem_dupn(fault->challenge.p, fault->challenge.n);
}

/* The message was not executed, so that it is safe to send it again in a new session. */
static void lost_session(struct client *c, struct client_call *call, const struct wire_fault *fault)
{
    if (call->shaking || call->resent) {
        client_call_fail(call, &fault->err, fault->status);
        return;
    }
    call->resent = true;
    client_call_unwire(call, WIRE_ABANDONED);
    client_call_move(call, CALL_WAITING);
    if (client_in(c, CL_READY))
        client_opening_again(c);
}

static void on_failed(void *ctx, uint64_t id, const struct wire_fault *fault)
{
    struct client *c = ctx;
    struct client_call *call = client_call_on_wire(c, id);

    if (is_over(c))
        return;
    keep_challenge(c, fault);
    client_ref(c);
    if (id == c->opening.hello)
        client_opening_delivered(c, id); /* told or not: what follows will show */
    else if (call && fault->session_lost)
        lost_session(c, call, fault);
    else if (call && fault->speaks_old_sse && call->shaking)
        client_call_fail(call, &fault->err, 405);
    else if (call)
        client_call_fail(call, &fault->err, fault->status);
    client_unref(c);
}

static void on_stderr(void *ctx, struct span line)
{
    struct client *c = ctx;

    if (c->events.stderr_line && !c->closing)
        c->events.stderr_line(c->ctx, line);
}

static void on_closed(void *ctx, const struct wire_fault *fault)
{
    struct client *c = ctx;

    if (is_over(c))
        return;
    keep_challenge(c, fault);
    if (client_is_open(c) || !client_opening_wire_lost(c, fault))
        client_die(c, &fault->err);
}

const struct wire_events client_wire_events = {
    .opened = on_opened,
    .message = on_message,
    .oversize = on_oversize,
    .delivered = on_delivered,
    .failed = on_failed,
    .stderr_line = on_stderr,
    .closed = on_closed,
};

/* ---- opening and closing ---- */

static const char *dup_opt(struct arena *a, const char *s)
{
    return s ? arena_dup(a, span_of(s)) : NULL;
}

static const char *const *dup_list(struct arena *a, const char *const *list)
{
    const char **copy;
    size_t n = 0;

    if (!list)
        return NULL;
    while (list[n])
        n++;
    copy = arena_alloc(a, (n + 1) * sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = arena_dup(a, span_of(list[i]));
    return copy;
}

static void copy_options(struct client *c, const struct pb_client_options *from)
{
    struct pb_client_options *o = &c->opts;
    struct arena *a = &c->arena;
    size_t n = from->size < sizeof *o ? from->size : sizeof *o;

    memcpy(o, from, n ? n : sizeof *o);
    o->command = dup_opt(a, o->command);
    o->args = dup_list(a, o->args);
    o->env = dup_list(a, o->env);
    o->cwd = dup_opt(a, o->cwd);
    o->url = dup_opt(a, o->url);
    o->headers = dup_list(a, o->headers);
    o->protocol = dup_opt(a, o->protocol);
    o->name = o->name ? dup_opt(a, o->name) : "patchbay";
    o->version = o->version ? dup_opt(a, o->version) : PB_VERSION;
    if (!o->connect_ms)
        o->connect_ms = MCP_CONNECT_MS;
    if (!o->timeout_ms)
        o->timeout_ms = MCP_CALL_MS;
    if (!o->max_message_bytes)
        o->max_message_bytes = REPLY_BYTES_MAX;
}

/* What we can be asked. A bare "elicitation" would mean forms only; we say which. */
static char *write_caps(const struct pb_client_options *o, bool legacy)
{
    struct buf b = { 0 };
    struct json_out out = json_out(&b);

    json_begin_object(&out, NULL);
    if (o->can_list_roots) /* modern servers ask whenever they want to know */
        json_put_raw(&out, "roots", legacy ? SPAN("{\"listChanged\":true}") : SPAN("{}"));
    if (o->can_sample)
        json_put_raw(&out, "sampling", SPAN("{}"));
    if (o->can_elicit || o->can_elicit_url) {
        json_begin_object(&out, "elicitation");
        if (o->can_elicit)
            json_put_raw(&out, "form", SPAN("{}"));
        if (o->can_elicit_url)
            json_put_raw(&out, "url", SPAN("{}"));
        json_end(&out);
    }
    json_end(&out);
    return buf_take(&b);
}

/* {"name","version"}, as servers of both eras are told it; the modern ones with each request. */
static char *write_info(const struct pb_client_options *o, struct arena *a)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out out = json_out(&b);

    json_begin_object(&out, NULL);
    json_put_str(&out, "name", o->name);
    json_put_str(&out, "version", o->version);
    json_end(&out);
    return arena_dup(a, buf_span(&b));
}

static unsigned kinds_declared(const struct pb_client_options *o)
{
    return (o->can_elicit ? 1U << QUESTION_FORM : 0) |
           (o->can_elicit_url ? 1U << QUESTION_URL : 0) |
           (o->can_sample ? 1U << QUESTION_MODEL | 1U << QUESTION_MODEL_TOOLS : 0) |
           (o->can_list_roots ? 1U << QUESTION_ROOTS : 0);
}

static int check_options(const struct pb_client_options *o, struct pb_error *err)
{
    const struct revision *rev = o->protocol ? revision_find(span_of(o->protocol)) : NULL;
    int targets = (o->command != NULL) + (o->url != NULL) + (o->server != NULL) + (o->fd > 0);

    if (targets != 1)
        return fail(err, PB_E_INVALID,
                    "a client needs a command, a URL, a server or a descriptor, one of them");
    if (o->protocol && !rev)
        return fail(err, PB_E_INVALID, "protocol '%s' is not known", o->protocol);
    if (rev && ((o->era == PB_ERA_LEGACY && rev->era != ERA_LEGACY) ||
                (o->era == PB_ERA_MODERN && rev->era != ERA_MODERN)))
        return fail(err, PB_E_INVALID, "protocol '%s' is not of the era asked for", o->protocol);
    if (o->transport == PB_TRANSPORT_SSE &&
        ((rev && rev->era == ERA_MODERN) || o->era == PB_ERA_MODERN))
        return fail(err, PB_E_INVALID, "HTTP+SSE carries no modern protocol");
    return 0;
}

int client_open(struct client **out, struct pb_loop *l, const struct pb_client_options *opts,
                const struct client_events *events, void *ctx, struct pb_error *err)
{
    return client_open_on(out, l, NULL, opts, events, ctx, err);
}

int client_open_on(struct client **out, struct pb_loop *l, wire_open_fn *open_wire,
                   const struct pb_client_options *opts, const struct client_events *events,
                   void *ctx, struct pb_error *err)
{
    struct client *c;
    int rc = check_options(opts, err);

    if (rc < 0)
        return rc;
    c = NEW(struct client);
    c->refs = 1;
    c->loop = l;
    c->open_wire = open_wire;
    c->sm = (struct sm){ states, CL_OPENING };
    c->events = *events;
    c->ctx = ctx;
    list_init(&c->calls);
    list_init(&c->questions);
    copy_options(c, opts);
    c->answers = events->question ? kinds_declared(&c->opts) : 0;
    c->info = write_info(&c->opts, &c->arena);
    c->caps = write_caps(&c->opts, false);
    c->legacy_caps = write_caps(&c->opts, true);
    client_listen_init(c);
    rc = client_opening_begin(c, err);
    if (rc < 0) {
        client_close(c, NULL, NULL);
        return rc;
    }
    *out = c;
    return 0;
}

void client_close(struct client *c, loop_fn *fn, void *ctx)
{
    struct pb_error why;

    loop_closing_begin(c->loop);
    c->closed = fn;
    c->closed_ctx = ctx;
    c->closing = true;
    fail(&why, PB_E_CANCELLED, "the client was closed");
    client_opening_stop(c);
    client_questions_forget(c, NULL);
    client_calls_fail_all(c, &why);
    client_drop_wire(c);
    client_unref(c);
}

/* ---- what is known about the server ---- */

enum era client_era(const struct client *c) { return c->rev ? c->rev->era : ERA_UNKNOWN; }

const struct revision *client_revision(const struct client *c) { return c->rev; }

static struct span or_empty_object(const struct buf *b) { return b->n ? buf_span(b) : SPAN("{}"); }

struct span client_server_info(const struct client *c) { return or_empty_object(&c->server_info); }

struct span client_capabilities(const struct client *c) { return or_empty_object(&c->server_caps); }

struct span client_instructions(const struct client *c) { return buf_span(&c->instructions); }

const char *client_challenge(const struct client *c) { return c->challenge; }

pid_t client_pid(const struct client *c)
{
    return c->wire && c->wire->ops->pid ? c->wire->ops->pid(c->wire) : 0;
}

uint64_t client_heard_at(const struct client *c) { return c->heard_at; }

void client_last_words(const struct client *c, struct buf *out)
{
    if (c->wire && c->wire->ops->last_words)
        c->wire->ops->last_words(c->wire, out);
}
