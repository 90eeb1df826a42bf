/* client_listen.c - the one subscriptions/listen stream of the modern era, which is opened anew
 * when the set of what is watched changes or the stream breaks. The old stream ends when the new
 * one is acknowledged, so that nothing is missed.
 */
#include "client_impl.h"
#include "mcp/rpc/rpc.h"

struct listen_stream {
    struct client *c;
    uint64_t call;
    uint64_t began;
    bool replaced; /* by us: its end means nothing */
    bool empty;    /* the server honours nothing of it */
};

static void stream_ended(void *ctx, const struct client_reply *reply);

static void on_again(void *ctx)
{
    struct client *c = ctx;

    if (client_in(c, CL_READY))
        client_listen_open(c);
}

void client_listen_init(struct client *c) { timer_init(&c->listen.again, c->loop, on_again, c); }

void client_listen_free(struct client *c)
{
    struct map_slot *slot;

    timer_stop(&c->listen.again);
    MAP_FOREACH(slot, &c->listen.uris) {
        free(((struct subscription *)slot->value)->waiting);
        free(slot->value);
    }
    map_done(&c->listen.uris);
    map_done(&c->listen.tasks);
}

/* ---- modern: opening ---- */

/* clang-format off */
static const struct {
    const char *capability, *filter;
} list_kinds[] = {
    { "prompts",   "promptsListChanged" },
    { "resources", "resourcesListChanged" },
    { "tools",     "toolsListChanged" },
};
/* clang-format on */

static size_t put_lists(struct json_out *o, const struct client *c)
{
    AUTO_JSON struct json_doc doc = { 0 };
    size_t n = 0;

    if (!c->events.notification ||
        json_parse(&doc, client_capabilities(c), &(struct json_opts){ .keep_depth = 2 }, NULL) < 0)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(list_kinds); i++) {
        struct json cap = json_get(json_root(&doc), list_kinds[i].capability);

        if (!json_is(cap, JSON_OBJECT) || !json_bool(json_get(cap, "listChanged"), false))
            continue;
        json_put_bool(o, list_kinds[i].filter, true);
        n++;
    }
    return n;
}

static size_t put_uris(struct json_out *o, struct client *c)
{
    struct map_slot *slot;

    if (!c->listen.uris.n)
        return 0;
    json_begin_array(o, "resourceSubscriptions");
    MAP_FOREACH(slot, &c->listen.uris) {
        json_put_span(o, NULL, span_make(slot->key, slot->key_n));
        ((struct subscription *)slot->value)->sent = true;
    }
    json_end(o);
    return c->listen.uris.n;
}

static size_t put_tasks(struct json_out *o, const struct client *c)
{
    struct map_slot *slot;

    if (!c->listen.tasks.n)
        return 0;
    json_begin_array(o, "taskIds");
    MAP_FOREACH(slot, &c->listen.tasks)
        json_put_span(o, NULL, span_make(slot->key, slot->key_n));
    json_end(o);
    return c->listen.tasks.n;
}

static void cancel_stream(struct client *c, struct listen_stream *s)
{
    if (!s)
        return;
    s->replaced = true;
    client_cancel(c, s->call, NULL);
}

/* Ends every silent call of a subscription. */
void client_listen_tell(struct client *c, struct subscription *s, const struct pb_error *err)
{
    AUTO_FREE uint64_t *waiting = TAKE(s->waiting);
    size_t n = s->n_waiting;
    struct client_reply reply = { .err = err };

    s->n_waiting = 0;
    if (!err)
        reply.result = SPAN("{}");
    for (size_t i = 0; i < n; i++) {
        struct client_call *call = client_call_find(c, waiting[i]);

        if (call)
            client_call_finish(call, &reply);
    }
}

/* Whoever waits for what was sent is told why it will not be; those URIs are no longer watched. */
static void refuse_waiting(struct client *c, const struct pb_error *err)
{
    for (bool found = true; found && !c->closing;) {
        struct map_slot *slot;

        found = false;
        MAP_FOREACH(slot, &c->listen.uris) {
            struct subscription *s = slot->value;

            if (!s->sent || !s->n_waiting)
                continue;
            found = true;
            map_del(&c->listen.uris, span_make(slot->key, slot->key_n));
            client_listen_tell(c, s, err);
            free(s);
            break;
        }
    }
}

static void refuse_later(void *ctx)
{
    struct client *c = ctx;

    if (!c->closing && !client_in(c, CL_DEAD))
        refuse_waiting(c, &c->listen.refusal);
    client_unref(c);
}

void client_listen_open(struct client *c)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct listen_stream *s;
    struct client_request_spec spec = { .method = "subscriptions/listen", .reply = stream_ended };
    size_t n;

    timer_stop(&c->listen.again);
    if (c->listen.next) {
        c->listen.stale = true;
        return;
    }
    c->listen.stale = false;
    json_begin_object(&o, NULL);
    json_begin_object(&o, "notifications");
    n = put_lists(&o, c);
    n += put_uris(&o, c);
    n += put_tasks(&o, c);
    json_end(&o);
    json_end(&o);
    if (!n) {
        cancel_stream(c, c->listen.now);
        return;
    }
    s = NEW(struct listen_stream);
    *s = (struct listen_stream){ .c = c, .began = loop_now(c->loop) };
    spec.params = buf_span(&params);
    if (c->listen.tasks.n)
        spec.caps = "{\"extensions\":{\"" EXT_TASKS "\":{}}}";
    spec.ctx = s;
    c->listen.next = s;
    if (client_call_new(c, &spec, CALL_IS_ENDLESS, &s->call, &c->listen.refusal) < 0) {
        c->listen.next = NULL;
        free(s);
        client_ref(c);
        loop_defer(c->loop, refuse_later, c);
    }
}

/* ---- modern: being told ---- */

static bool about_stream(struct client *c, struct listen_stream *s, struct json id)
{
    struct client_call *call = s ? client_call_find(c, s->call) : NULL;
    uint64_t wire_id;

    return call && json_uint(id, &wire_id, NULL) == 0 && wire_id == call->wire_id;
}

/* Of more than we can have asked for, the rest is not looked at. */
static bool honours(struct json uris, struct span uri)
{
    size_t left = MCP_SUBSCRIPTIONS_MAX;

    JSON_FOREACH(v, uris) {
        if (!left--)
            return false;
        if (json_str_is_span(v, uri))
            return true;
    }
    return false;
}

static void end_waiting(struct client *c, struct json uris)
{
    for (bool found = true; found && !c->closing;) {
        struct map_slot *slot;

        found = false;
        MAP_FOREACH(slot, &c->listen.uris) {
            struct subscription *s = slot->value;
            struct span uri = span_make(slot->key, slot->key_n);
            struct pb_error err;

            if (!s->sent || !s->n_waiting)
                continue;
            found = true;
            if (honours(uris, uri)) {
                client_listen_tell(c, s, NULL);
                break;
            }
            fail(&err, PB_E_UNSUPPORTED, "the server does not tell of changes of '%.*s'",
                 (int)(uri.n < 120 ? uri.n : 120), uri.p);
            map_del(&c->listen.uris, uri);
            client_listen_tell(c, s, &err);
            free(s);
            break;
        }
    }
}

void client_listen_acknowledged(struct client *c, struct json params)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct listen_stream *s = c->listen.next, *old = c->listen.now;
    struct json honoured;

    /* Two levels deeper than the envelope was read. */
    if (json_parse(&doc, json_text(params), &(struct json_opts){ .keep_depth = 3 }, NULL) < 0 ||
        !about_stream(c, s, json_get(json_get(json_root(&doc), "_meta"), META_SUBSCRIPTION_ID)))
        return;
    honoured = json_get(json_root(&doc), "notifications");
    s->empty = json_len(honoured) == 0;
    c->listen.now = s;
    c->listen.next = NULL;
    cancel_stream(c, old);
    end_waiting(c, json_get(honoured, "resourceSubscriptions"));
    if (c->listen.stale && !c->closing && client_in(c, CL_READY))
        client_listen_open(c);
}

void client_listen_cancelled(struct client *c, struct json params)
{
    struct json id = json_get(params, "requestId");
    struct listen_stream *streams[] = { c->listen.now, c->listen.next };
    struct pb_error err;

    fail(&err, PB_E_CLOSED, "the server ended the subscription");
    for (size_t i = 0; i < ARRAY_LEN(streams); i++)
        if (about_stream(c, streams[i], id))
            client_call_fail(client_call_find(c, streams[i]->call), &err, 0);
}

/* ---- modern: the end of a stream ---- */

static void try_again_later(struct client *c, const struct listen_stream *s)
{
    uint64_t wait = MCP_RESUME_MS;

    if (loop_now(c->loop) - s->began >= MCP_STREAM_STEADY_MS)
        c->listen.tries = 0;
    for (unsigned i = 0; i < c->listen.tries && wait < MCP_RESUME_MAX_MS; i++)
        wait *= 2;
    c->listen.tries++;
    timer_start(&c->listen.again, wait < MCP_RESUME_MAX_MS ? wait : MCP_RESUME_MAX_MS);
}

static void never_opened(struct client *c, const struct client_reply *reply)
{
    struct pb_error err;

    if (reply->err)
        err = *reply->err;
    else
        fail(&err, PB_E_UNSUPPORTED, "the server has nothing to listen to");
    if (err.code == PB_E_REMOTE && c->listen.tasks.n) {
        log_debug("the server does not tell of tasks: %s", err.msg);
        map_done(&c->listen.tasks); /* what else is watched is asked for without them */
    }
    c->listen.off = !reply->err || (err.code == PB_E_REMOTE && err.sys == RPC_METHOD_NOT_FOUND);
    if (c->listen.off)
        err.code = PB_E_UNSUPPORTED;
    refuse_waiting(c, &err);
}

static void stream_ended(void *ctx, const struct client_reply *reply)
{
    AUTO_FREE struct listen_stream *s = ctx;
    struct client *c = s->c;
    bool opened = c->listen.now == s;

    if (opened)
        c->listen.now = NULL;
    if (c->listen.next == s)
        c->listen.next = NULL;
    if (s->replaced || c->closing || client_in(c, CL_DEAD))
        return;
    if (!opened)
        never_opened(c, reply);
    if (c->closing || c->listen.off || s->empty)
        return;
    if (c->listen.stale)
        client_listen_open(c);
    else
        try_again_later(c, s);
}
