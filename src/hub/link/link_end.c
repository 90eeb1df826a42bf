/* link_end.c - how a call of a link ends: answered, failed, timed out, cancelled; and its clock. */
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "link_impl.h"
#include "mcp/client/client.h"

/* How much the newest answer counts in the average. */
static const double latency_weight = 0.2;

/* ---- events ---- */

struct hub_event link_call_event(struct link_call *c, enum hub_event_kind kind)
{
    struct hub_event e = link_event(c->l, kind);

    e.call.id = link_call_uuid(c);
    e.call.tool = c->spec.subject;
    e.call.method = c->spec.method;
    e.call.client = c->spec.client;
    return e;
}

bool link_calls_heard(const struct link *l)
{
    return !l->opts.call_hearers || *l->opts.call_hearers;
}

/* The server was used just now. */
static void note_use(struct link *l)
{
    l->last_used_at = loop_wall(l->loop);
    l->used_at = loop_now(l->loop);
}

void link_call_tell_started(struct link_call *c)
{
    struct hub_event e;

    note_use(c->l);
    c->started_at = c->l->last_used_at;
    if (!link_calls_heard(c->l))
        return;
    e = link_call_event(c, EVENT_CALL_STARTED);
    link_emit(c->l, &e);
}

static void tell_completed(struct link_call *c, bool answered, bool success)
{
    struct link *l = c->l;
    double ms = loop_now_exact(l->loop) - c->began;
    struct hub_event e;

    note_use(l);
    if (answered)
        l->latency = l->latency > 0 ? l->latency + latency_weight * (ms - l->latency) : ms;
    if (!success)
        l->failures++;
    if (!link_calls_heard(l))
        return;
    e = link_call_event(c, EVENT_CALL_COMPLETED);
    e.call.ms = ms;
    e.call.success = success;
    link_emit(l, &e);
}

void link_call_tell_failed(struct link_call *c) { tell_completed(c, false, false); }

/* A tool that could not do what it was asked for says so in a result. */
static bool tells_of_failure(const struct client_reply *reply)
{
    return json_bool(json_get(reply->members, "isError"), false);
}

static void tell_cancelled(struct link_call *c, enum call_cancel why, uint64_t limit_ms)
{
    struct hub_event e;

    note_use(c->l);
    c->l->failures++;
    if (!link_calls_heard(c->l))
        return;
    e = link_call_event(c, EVENT_CALL_CANCELLED);
    e.call.ms = loop_now_exact(c->l->loop) - c->began;
    e.call.why = why;
    e.call.limit_ms = limit_ms;
    link_emit(c->l, &e);
}

/* ---- the end ---- */

void link_call_unwait(struct link_call *c)
{
    if (list_empty(&c->in_waiting))
        return;
    list_remove(&c->in_waiting);
    c->ch->n_waiting--;
    c->l->n_waiting--;
}

void link_call_retire(struct link_call *c)
{
    timer_stop(&c->timer);
    if (c->sent) {
        c->ch->in_flight--;
        crowd_remove(&c->ch->working, &c->claim);
    }
    if (c->unanswered)
        claims_haunt(c);
    link_call_unwait(c);
    link_call_delist(c);
    questions_forget(c);
}

/* The event has been told. The channel may be gone after the reply, but not before the turn ends.
 */
static void reply_and_free(struct link_call *c, const struct client_reply *reply)
{
    struct channel *ch = c->ch;

    if (c->spec.ended)
        c->spec.ended(c->spec.ended_ctx,
                      &(struct call_end){ .reply = reply,
                                          .uuid = link_call_uuid(c),
                                          .started_at = c->started_at,
                                          .pid = ch->client ? client_pid(ch->client) : 0,
                                          .process_at = ch->opened_at });
    c->spec.reply(c->spec.ctx, reply);
    link_call_free(c);
    calls_pump(ch);
    if (ch->caller)
        instance_idle(ch);
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

void link_call_explain(const struct link_call *c, const struct pb_error *from, struct pb_error *to)
{
    const struct pb_error was = *from; /* they may be one */

    *to = was;
    switch (was.code) {
    case PB_E_CLOSED:
        fault_fail(to, FAULT_NOT_CONNECTED, "Server '%s' is not connected: %s", link_name(c->l),
                   reason_of(c, &was));
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
    case PB_E_BUSY:
        to->sys = FAULT_BUSY;
        break;
    default: /* mostly an answer that is none */
        fail(to, was.code, "Server '%s': %s", link_name(c->l), reason_of(c, &was));
    }
    redact_error(c->l->hidden, to);
}

void link_call_end_failed(struct link_call *c, const struct client_reply *why)
{
    struct pb_error err;
    struct client_reply reply = *why;

    link_call_explain(c, why->err, &err);
    reply.err = &err;
    link_call_retire(c);
    if (fault_of(&err) == FAULT_NOT_CONNECTED)
        tell_cancelled(c, CALL_DISCONNECTED, 0);
    else
        link_call_tell_failed(c);
    reply_and_free(c, &reply);
}

/* It was an answer all the same: the server is done with the call. */
static bool was_unreadable(const struct pb_error *err)
{
    return err->code == PB_E_INVALID || err->code == PB_E_LIMIT;
}

void link_call_on_reply(void *ctx, const struct client_reply *reply)
{
    struct link_call *c = ctx;

    if (c->cancelling)
        return;
    if (reply->err) {
        c->unanswered = !reply->message && !was_unreadable(reply->err);
        link_call_end_failed(c, reply);
        return;
    }
    link_call_retire(c);
    tell_completed(c, true, !tells_of_failure(reply));
    reply_and_free(c, reply);
}

/* ---- time ---- */

static uint64_t spent(const struct link_call *c)
{
    return loop_now(c->l->loop) - c->started - c->stopped_ms;
}

/* As long as the limit from now on, but not past what all extensions together may give. */
static uint64_t time_left(const struct link_call *c)
{
    uint64_t total = c->limit_ms > MCP_CALL_TOTAL_MS ? c->limit_ms : MCP_CALL_TOTAL_MS;
    uint64_t left = spent(c) < total ? total - spent(c) : 0;

    return left < c->limit_ms ? left : c->limit_ms;
}

void link_call_extend(struct link_call *c)
{
    if (c->stopped)
        return;
    c->extended = true;
    timer_start(&c->timer, time_left(c));
}

void link_call_clock(struct link_call *c)
{
    uint64_t now = loop_now(c->l->loop);
    bool stop = c->held || c->n_questions;

    if (stop == c->stopped || list_empty(&c->at)) /* or it has ended */
        return;
    c->stopped = stop;
    if (stop) {
        c->stopped_at = now;
        c->left_ms = c->timer.due > now ? c->timer.due - now : 0;
        timer_start(&c->timer, MCP_ASK_MS);
    } else {
        c->stopped_ms += now - c->stopped_at;
        timer_start(&c->timer, c->left_ms);
    }
}

void link_hold(struct link *l, uint64_t id, bool held)
{
    struct link_call *c = link_call_find(l, id);

    if (!c)
        return;
    c->held = held;
    if (c->client_id && c->ch->client)
        client_hold(c->ch->client, c->client_id, held);
    link_call_clock(c);
}

/* ---- cancelling ---- */

static uint64_t limit_of(const struct link_call *c)
{
    if (c->stopped)
        return MCP_ASK_MS;
    return c->extended ? spent(c) : c->limit_ms;
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
    call_fail(&err, why, &c->spec, link_name(c->l), limit_ms);
    link_log(c->l, PB_LOG_INFO, "Cancelling tool call: %.*s", SPAN_ARG(shown(c->spec.subject)));
    if (c->client_id && c->ch->client) {
        c->owed = client_cancel(c->ch->client, c->client_id, reasons[why]);
        c->unanswered = true;
    }
    link_call_retire(c);
    tell_cancelled(c, why, limit_ms);
    reply_and_free(c, &reply);
}

void link_call_on_timer(void *ctx)
{
    struct link_call *c = ctx;
    struct channel *ch = c->ch; /* stays until the turn ends */
    bool asked = c->stopped;    /* then it was a person who took too long */
    bool oldest = ch->working.claims.next == &c->claim.at; /* else it may be at work on that one */

    cancel(c, CALL_TIMED_OUT);
    if (asked || !oldest || ch->leaving)
        return;
    ch->late_at = loop_now(ch->l->loop);
    if (ch->caller)
        instance_doubt(ch);
}

bool link_cancel(struct link *l, uint64_t id, enum call_cancel why)
{
    struct link_call *c;

    link_owned(l);
    c = link_call_find(l, id);
    if (!c || c->cancelling)
        return false;
    cancel(c, why);
    return true;
}

bool link_cancel_uuid(struct link *l, const char *uuid, enum call_cancel why)
{
    const struct link_call *c = link_call_of_uuid(l, uuid);

    return c && link_cancel(l, c->id, why);
}

/* Each step looks anew: a reply may end others. */
static struct link_call *next_of(const struct channel *ch)
{
    for (struct list *pos = ch->working.claims.next; pos != &ch->working.claims; pos = pos->next) {
        struct link_call *c = CONTAINER_OF(pos, struct link_call, claim.at);

        if (!c->cancelling)
            return c;
    }
    for (struct list *pos = ch->waiting.next; pos != &ch->waiting; pos = pos->next) {
        struct link_call *c = CONTAINER_OF(pos, struct link_call, in_waiting);

        if (!c->cancelling)
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
        link_call_end_failed(CONTAINER_OF(ch->waiting.next, struct link_call, in_waiting), &reply);
}
