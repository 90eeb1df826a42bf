/* link_call.c - the calls of a link: sent or waiting, timed, cancelled, ended. One struct for each
 * call; on its way nothing is copied that the client copies anyway, and nothing is printed. */
#include "link_impl.h"

enum { BUCKETS_MIN = 64 };

/* The link keeps the time, because its clock can stand still; the client's must never be first. */
static const uint64_t no_limit = UINT64_MAX / 4;

/* How much the newest answer counts in the average. */
static const double latency_weight = 0.2;

/* ---- the table ---- */

static struct link_call **bucket(const struct link *l, uint64_t id)
{
    return &l->buckets[id & (l->n_buckets - 1)];
}

static void grow(struct link *l)
{
    size_t n = l->n_buckets ? l->n_buckets * 2 : BUCKETS_MIN;

    free(l->buckets);
    l->buckets = mem_zero(n * sizeof *l->buckets);
    l->n_buckets = n;
    for (struct list *pos = l->calls.next; pos != &l->calls; pos = pos->next) {
        struct link_call *c = CONTAINER_OF(pos, struct link_call, at);

        c->next = *bucket(l, c->id);
        *bucket(l, c->id) = c;
    }
}

static void enlist(struct link_call *c)
{
    struct link *l = c->l;

    if (l->n_calls >= l->n_buckets)
        grow(l);
    c->next = *bucket(l, c->id);
    *bucket(l, c->id) = c;
    list_append(&l->calls, &c->at);
    l->n_calls++;
}

static void delist(struct link_call *c)
{
    struct link *l = c->l;
    struct link_call **at = bucket(l, c->id);

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    list_remove(&c->at);
    l->n_calls--;
}

struct link_call *call_find(const struct link *l, uint64_t id)
{
    struct link_call *c = l->n_buckets ? *bucket(l, id) : NULL;

    while (c && c->id != id)
        c = c->next;
    return c;
}

struct link_call *call_of_client(const struct channel *ch, uint64_t client_id)
{
    const struct link *l = ch->l;

    for (struct list *pos = l->calls.next; pos != &l->calls; pos = pos->next) {
        struct link_call *c = CONTAINER_OF(pos, struct link_call, at);

        if (c->ch == ch && c->client_id == client_id)
            return c;
    }
    return NULL;
}

const char *call_uuid(struct link_call *c)
{
    if (!c->uuid[0])
        link_uuid(c->l, c->uuid);
    return c->uuid;
}

/* ---- events ---- */

static struct hub_event event_of(struct link_call *c, enum hub_event_kind kind)
{
    struct hub_event e = link_event(c->l, kind);

    e.call.id = call_uuid(c);
    e.call.tool = c->spec.subject;
    e.call.method = c->spec.method;
    return e;
}

static void tell_started(struct link_call *c)
{
    struct hub_event e = event_of(c, EVENT_CALL_STARTED);

    c->started_at = c->l->last_used_at = e.at;
    link_emit(c->l, &e);
}

static void tell_completed(struct link_call *c, bool success)
{
    struct link *l = c->l;
    struct hub_event e = event_of(c, EVENT_CALL_COMPLETED);

    e.call.ms = link_now(l) - c->began;
    e.call.success = success;
    l->last_used_at = e.at;
    if (success)
        l->latency =
            l->latency > 0 ? l->latency + latency_weight * (e.call.ms - l->latency) : e.call.ms;
    else
        l->failures++;
    link_emit(l, &e);
}

static void tell_cancelled(struct link_call *c, enum call_cancel why, uint64_t limit_ms)
{
    struct hub_event e = event_of(c, EVENT_CALL_CANCELLED);

    e.call.ms = link_now(c->l) - c->began;
    e.call.why = why;
    e.call.limit_ms = limit_ms;
    c->l->last_used_at = e.at;
    c->l->failures++;
    link_emit(c->l, &e);
}

/* ---- the end ---- */

static void call_free(struct link_call *c)
{
    if (c->params)
        blob_unref(c->params);
    free(c);
}

static void unwait(struct link_call *c)
{
    if (list_empty(&c->in_waiting))
        return;
    list_remove(&c->in_waiting);
    c->ch->n_waiting--;
    c->l->n_waiting--;
}

/* Off all lists: nobody finds it any more. */
static void retire(struct link_call *c)
{
    timer_stop(&c->timer);
    if (c->sent)
        c->ch->in_flight--;
    unwait(c);
    delist(c);
    questions_forget(c);
}

/* The event has been told. The channel may be gone after the reply, but not before the turn ends.
 */
static void reply_and_free(struct link_call *c, const struct client_reply *reply)
{
    struct channel *ch = c->ch;

    c->spec.reply(c->spec.ctx, reply);
    call_free(c);
    calls_pump(ch);
    if (ch->caller)
        instance_rest(ch);
}

static const char *kind_of(const struct link_call *c)
{
    /* clang-format off */
    static const struct {
        const char *method, *kind;
    } kinds[] = {
        { "prompts/get",    "Prompt" },
        { "resources/read", "Resource" },
        { "tools/call",     "Tool" },
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (strcmp(c->spec.method, kinds[i].method) == 0)
            return kinds[i].kind;
    return c->spec.method;
}

/* Of a name that the server or the client chose. */
static struct span shown(struct span name)
{
    return span_make(name.p, name.n < MCP_NAME_SHOWN_MAX ? name.n : MCP_NAME_SHOWN_MAX);
}

/* Without the method, which a client that has ended puts in front of the reason. */
static const char *reason_of(const struct link_call *c, const struct pb_error *err)
{
    size_t n = strlen(c->spec.method);

    return strncmp(err->msg, c->spec.method, n) == 0 && strncmp(err->msg + n, ": ", 2) == 0
               ? err->msg + n + 2
               : err->msg;
}

/* Why a client's request failed, in the words of a link. */
static void explain(const struct link_call *c, const struct pb_error *from, struct pb_error *to)
{
    *to = *from;
    switch (from->code) {
    case PB_E_CLOSED:
        fault_fail(to, FAULT_NOT_CONNECTED, "Server '%s' is not connected: %s", link_name(c->l),
                   reason_of(c, from));
        channel_explain(c->ch, to);
        break;
    case PB_E_REMOTE:
    case PB_E_AUTH:
    case PB_E_SYSTEM:
        break; /* .sys is theirs */
    case PB_E_TIMEOUT:
        to->sys = FAULT_TIMEOUT;
        break;
    case PB_E_CANCELLED:
        to->sys = FAULT_CANCELLED;
        break;
    default:
        to->sys = from->code == PB_E_BUSY ? FAULT_BUSY : FAULT_NONE;
    }
}

/* `why` is what the client says; the server or the connection has ended the call. */
static void end_failed(struct link_call *c, const struct client_reply *why)
{
    struct pb_error err;
    struct client_reply reply = *why;

    explain(c, why->err, &err);
    reply.err = &err;
    retire(c);
    if (fault_of(&err) == FAULT_NOT_CONNECTED)
        tell_cancelled(c, CALL_DISCONNECTED, 0);
    else
        tell_completed(c, false);
    reply_and_free(c, &reply);
}

static void on_reply(void *ctx, const struct client_reply *reply)
{
    struct link_call *c = ctx;

    if (c->cancelling)
        return;
    if (reply->err) {
        end_failed(c, reply);
        return;
    }
    retire(c);
    tell_completed(c, true);
    reply_and_free(c, reply);
}

/* ---- time ---- */

static uint64_t spent(const struct link_call *c)
{
    return loop_now(c->l->loop) - c->started - c->paused_ms;
}

/* As long as the limit from now on, but not past what all extensions together may give. */
static uint64_t time_left(const struct link_call *c)
{
    uint64_t total = c->limit_ms > MCP_CALL_TOTAL_MS ? c->limit_ms : MCP_CALL_TOTAL_MS;
    uint64_t left = spent(c) < total ? total - spent(c) : 0;

    return left < c->limit_ms ? left : c->limit_ms;
}

void call_clock(struct link_call *c)
{
    uint64_t now = loop_now(c->l->loop);
    bool stop = c->paused || c->n_questions;

    if (stop == c->stopped)
        return;
    c->stopped = stop;
    if (stop) {
        c->paused_at = now;
        c->left_ms = c->timer.due > now ? c->timer.due - now : 0;
        timer_start(&c->timer, MCP_ASK_MS);
    } else {
        c->paused_ms += now - c->paused_at;
        timer_start(&c->timer, c->left_ms);
    }
}

void link_pause(struct link *l, uint64_t id, bool paused)
{
    struct link_call *c = call_find(l, id);

    if (!c)
        return;
    c->paused = paused;
    call_clock(c);
}

/* ---- cancelling ---- */

static uint64_t limit_of(const struct link_call *c)
{
    if (c->stopped)
        return MCP_ASK_MS;
    return c->extended ? spent(c) : c->limit_ms;
}

static void cancel_error(const struct link_call *c, enum call_cancel why, struct pb_error *err)
{
    struct span name = shown(c->spec.subject);
    const char *kind = kind_of(c), *server = link_name(c->l);
    char limit[32];

    switch (why) {
    case CALL_TIMED_OUT:
        link_duration(limit_of(c), limit);
        fault_fail(err, FAULT_TIMEOUT, "%s '%.*s' on server '%s' timed out after %s", kind,
                   SPAN_ARG(name), server, limit);
        break;
    case CALL_DISCONNECTED:
        fault_fail(err, FAULT_NOT_CONNECTED, "%s '%.*s' did not end: server '%s' was disconnected",
                   kind, SPAN_ARG(name), server);
        break;
    case CALL_SHUTDOWN:
        fault_fail(err, FAULT_CANCELLED, "%s '%.*s' on server '%s' was cancelled: the program ends",
                   kind, SPAN_ARG(name), server);
        break;
    case CALL_BY_USER:
        fault_fail(err, FAULT_CANCELLED, "%s '%.*s' on server '%s' was cancelled", kind,
                   SPAN_ARG(name), server);
        break;
    }
    text_make_printable(err->msg);
}

static void cancel(struct link_call *c, enum call_cancel why)
{
    /* clang-format off */
    static const char *const reasons[] = {
        [CALL_BY_USER]      = "cancelled by the user",
        [CALL_TIMED_OUT]    = "timed out",
        [CALL_DISCONNECTED] = "disconnecting",
        [CALL_SHUTDOWN]     = "shutting down",
    };
    /* clang-format on */
    struct pb_error err;
    struct client_reply reply = { .err = &err };
    uint64_t limit_ms = why == CALL_TIMED_OUT ? limit_of(c) : 0;

    if (c->cancelling)
        return;
    c->cancelling = true;
    cancel_error(c, why, &err);
    link_log(c->l, PB_LOG_INFO, "Cancelling tool call: %.*s", SPAN_ARG(shown(c->spec.subject)));
    if (c->client_id && c->ch->client)
        client_cancel(c->ch->client, c->client_id, reasons[why]);
    retire(c);
    tell_cancelled(c, why, limit_ms);
    reply_and_free(c, &reply);
}

static void on_timer(void *ctx) { cancel(ctx, CALL_TIMED_OUT); }

bool link_cancel(struct link *l, uint64_t id, enum call_cancel why)
{
    struct link_call *c = call_find(l, id);

    if (!c || c->cancelling)
        return false;
    cancel(c, why);
    return true;
}

bool link_cancel_uuid(struct link *l, const char *uuid, enum call_cancel why)
{
    for (struct list *pos = l->calls.next; pos != &l->calls; pos = pos->next) {
        struct link_call *c = CONTAINER_OF(pos, struct link_call, at);

        if (strcmp(call_uuid(c), uuid) == 0)
            return link_cancel(l, c->id, why);
    }
    return false;
}

/* Each step looks anew: a reply may end others. */
static struct link_call *next_of(const struct channel *ch)
{
    const struct link *l = ch->l;

    for (struct list *pos = l->calls.next; pos != &l->calls; pos = pos->next) {
        struct link_call *c = CONTAINER_OF(pos, struct link_call, at);

        if (c->ch == ch && !c->cancelling)
            return c;
    }
    return NULL;
}

void calls_cancel(struct channel *ch, enum call_cancel why)
{
    struct link_call *c;

    while ((c = next_of(ch)))
        cancel(c, why);
}

void calls_fail_waiting(struct channel *ch, const struct pb_error *err)
{
    struct pb_error closed = *err;
    struct client_reply reply = { .err = &closed };

    closed.code = PB_E_CLOSED; /* whatever it was, there is no connection */
    while (!list_empty(&ch->waiting))
        end_failed(CONTAINER_OF(ch->waiting.next, struct link_call, in_waiting), &reply);
}

/* ---- on its way ---- */

static void on_progress(void *ctx, struct span params)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    struct link_call *c = ctx;
    struct hub_event e = event_of(c, EVENT_CALL_PROGRESS);

    if (!c->stopped) {
        c->extended = true;
        timer_start(&c->timer, time_left(c));
    }
    if (json_parse(&doc, params, &(struct json_opts){ .keep_depth = 1 }, NULL) < 0)
        return;
    if (json_double(json_get(json_root(&doc), "progress"), &e.call.progress, NULL) < 0)
        return;
    if (json_double(json_get(json_root(&doc), "total"), &e.call.total, NULL) < 0)
        e.call.total = 0;
    e.call.message = json_str(json_get(json_root(&doc), "message"), &arena);
    link_emit(c->l, &e);
    if (c->spec.progress)
        c->spec.progress(c->spec.ctx, params);
}

static void on_log(void *ctx, struct span params) { log_message_of(ctx, params); }

static int call_send(struct link_call *c, struct span params, struct pb_error *err)
{
    const struct call_spec *s = &c->spec;
    struct client_request_spec r = {
        .method = s->method,
        .params = params,
        .timeout_ms = no_limit,
        .wants_progress = s->wants_progress,
        .progress = on_progress,
        .log = s->log ? on_log : NULL,
        .wants_log = s->wants_log,
        .log_level = s->log_level,
        .raw_rounds = s->raw_rounds,
        .caps = s->caps ? s->caps : "{}",
        .reply = on_reply,
        .ctx = c,
    };

    c->sent = true;
    c->ch->in_flight++;
    if (s->wants_log)
        log_want(c->ch, s->log_level);
    return client_request(c->ch->client, &r, &c->client_id, err);
}

static bool may_send(const struct channel *ch)
{
    unsigned max = ch->l->spec->max_calls;

    return ch->client && ch->ready && !ch->leaving && (!max || ch->in_flight < max);
}

void calls_pump(struct channel *ch)
{
    struct pb_error err;
    struct client_reply reply = { .err = &err };

    if (ch->pumping)
        return;
    ch->pumping = true;
    while (!list_empty(&ch->waiting) && may_send(ch)) {
        struct link_call *c = CONTAINER_OF(ch->waiting.next, struct link_call, in_waiting);
        AUTO(blob) struct blob *params = TAKE(c->params);

        unwait(c);
        if (call_send(c, params ? blob_span(params) : SPAN(""), &err) < 0)
            end_failed(c, &reply);
    }
    ch->pumping = false;
}

/* ---- a new one ---- */

static char *put(char **at, struct span s)
{
    char *text = *at;

    if (s.n)
        memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    *at += s.n + 1;
    return text;
}

static struct link_call *call_new(struct channel *ch, const struct call_spec *spec)
{
    struct link *l = ch->l;
    struct span method = span_of(spec->method), caller = span_of(spec->caller ? spec->caller : ""),
                caps = span_of(spec->caps);
    size_t room = method.n + caller.n + caps.n + spec->subject.n + 4;
    struct link_call *c = mem_alloc(sizeof *c + room);
    char *at = c->strings;

    memset(c, 0, sizeof *c);
    c->l = l;
    c->ch = ch;
    c->spec = *spec;
    c->spec.method = put(&at, method);
    c->spec.caller = put(&at, caller);
    c->spec.subject = span_make(put(&at, spec->subject), spec->subject.n);
    if (spec->caps)
        c->spec.caps = put(&at, caps);
    c->id = ++l->last_call;
    c->limit_ms = spec->timeout_ms      ? spec->timeout_ms
                  : l->spec->timeout_ms ? l->spec->timeout_ms
                                        : l->opts.call_ms;
    c->started = loop_now(l->loop);
    c->began = link_now(l);
    list_init(&c->in_waiting);
    list_init(&c->questions);
    timer_init(&c->timer, l->loop, on_timer, c);
    return c;
}

static int not_connected(const struct link *l, struct pb_error *err)
{
    return fault_fail(err, FAULT_NOT_CONNECTED, "Server '%s' is not connected (state: %s)",
                      link_name(l), link_state_name(l->sm.now));
}

static int choose(struct channel **out, struct link *l, const struct call_spec *spec,
                  struct pb_error *err)
{
    if (l->closed || !link_in(l, LINK_CONNECTED) || l->shared.leaving)
        return not_connected(l, err);
    *out = &l->shared;
    if (l->spec->instance == SPEC_PER_CLIENT && spec->caller && *spec->caller) {
        *out = instance_find(l, spec->caller);
        if (!*out)
            return instance_open(out, l, spec->caller, err);
    }
    return 0;
}

static int check_room(const struct channel *ch, struct pb_error *err)
{
    const struct link *l = ch->l;

    if (may_send(ch) && l->n_calls - l->n_waiting >= LINK_CALLS_MAX)
        return fault_fail(err, FAULT_BUSY, "Server '%s' works on %d calls already", link_name(l),
                          LINK_CALLS_MAX);
    if (!may_send(ch) && l->n_waiting >= LINK_QUEUE_MAX)
        return fault_fail(err, FAULT_BUSY, "%d calls wait for server '%s' already", LINK_QUEUE_MAX,
                          link_name(l));
    return 0;
}

static int send_or_wait(struct link_call *c, struct span params, struct pb_error *err)
{
    struct channel *ch = c->ch;
    struct pb_error why;

    if (may_send(ch) && list_empty(&ch->waiting)) {
        if (call_send(c, params, &why) == 0)
            return 0;
        explain(c, &why, &why);
        if (err)
            *err = why;
        return -(int)why.code;
    }
    c->params = params.n ? blob_new(params) : NULL;
    list_append(&ch->waiting, &c->in_waiting);
    ch->n_waiting++;
    c->l->n_waiting++;
    return 0;
}

int link_call(struct link *l, const struct call_spec *spec, uint64_t *out_id, struct pb_error *err)
{
    struct channel *ch;
    struct link_call *c;
    int rc = choose(&ch, l, spec, err);

    if (rc == 0)
        rc = check_room(ch, err);
    if (rc < 0)
        return rc;
    c = call_new(ch, spec);
    tell_started(c);
    enlist(c);
    rc = l->closed || ch->leaving ? not_connected(l, err) : send_or_wait(c, spec->params, err);
    if (rc < 0) {
        retire(c);
        tell_completed(c, false);
        call_free(c);
        return rc;
    }
    timer_start(&c->timer, c->limit_ms);
    if (ch->caller)
        instance_rest(ch);
    if (out_id)
        *out_id = c->id;
    return 0;
}

void link_each_call(const struct link *l, void (*fn)(void *ctx, const struct call_view *c),
                    void *ctx)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &l->calls) {
        struct link_call *c = CONTAINER_OF(pos, struct link_call, at);
        struct call_view v = {
            .id = c->id,
            .uuid = call_uuid(c),
            .subject = c->spec.subject,
            .method = c->spec.method,
            .caller = c->spec.caller,
            .started_at = c->started_at,
        };

        fn(ctx, &v);
    }
}
