/* hub_retry.c - when a server is tried, and when no more.
 *
 * Two counters. Reconnects: attempts by ourselves since the connection was lost or never came; the
 * wait before each is twice the one before. Restarts: how often the process of a server that had
 * been connected ended; past the limit the server is given up. Asking for a server by hand sets
 * both to 0, and so does a connection that lasted. */
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub_impl.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include <assert.h>

int member_open(void *ctx, struct client **out, struct pb_loop *loop, const struct spec *spec,
                const char *caller, const struct client_events *events, void *events_ctx,
                struct pb_error *err)
{
    struct member *m = ctx;
    const struct hub_options *o = &m->hub->opts;
    struct spec hinted = *spec; /* is only looked at while the client is being opened */

    /* A client takes the era of a spec as an order. Left to itself it asks for the modern one
     * first, so that only the old one is worth a hint; that a server was modern once is no proof
     * that it is. */
    if (spec->era == PB_ERA_AUTO && m->hint == PB_ERA_LEGACY)
        hinted.era = PB_ERA_LEGACY;
    if (o->open)
        return o->open(o->open_ctx, out, loop, &hinted, caller, events, events_ctx, err);
    return link_open_client(&m->hub->link_opts, out, loop, &hinted, caller, events, events_ctx,
                            err);
}

/* Begins an attempt, as soon as nothing is left of the one before. */
static void member_attempt(struct member *m)
{
    struct pb_error err;

    if (m->load || m->closing || !link_is_clear(m->link))
        return; /* whoever ends that looks again */
    if (link_connect(m->link, m->reconnects, &err) < 0) {
        log_warn("server '%s': %s", m->name, err.msg);
        member_unwant(m);
    }
    member_touch(m);
}

void member_on_retry(void *ctx) { member_attempt(ctx); }

/* clang-format off */
/* How a link fares, as far as it matters for what is done next. */
enum fare { FARE_DOWN, FARE_TRIED, FARE_FAILED, FARE_CONNECTED, FARES };
static const enum fare fares[LINK_COUNT] = {
    [LINK_CONNECTING] = FARE_TRIED, [LINK_AUTHENTICATING] = FARE_TRIED,
    [LINK_ERROR] = FARE_FAILED,     [LINK_CONNECTED] = FARE_CONNECTED, /* all others: down */
};
/* clang-format on */

void member_start(struct member *m)
{
    member_move(m, MEMBER_ASKED);
    if (fares[link_state(m->link)] == FARE_TRIED)
        link_cancel_connect(m->link);
    m->reconnects = m->restarts = 0;
    m->used_at = loop_now(m->hub->loop);
    member_attempt(m);
    member_touch(m);
}

void member_wake(struct member *m)
{
    if (member_is_wanted(m))
        return;
    member_move(m, MEMBER_WOKEN);
    m->reconnects = 0;
    m->used_at = loop_now(m->hub->loop);
    member_attempt(m);
    member_touch(m);
}

static uint64_t delay_of(const struct retry_policy *p, unsigned n)
{
    uint64_t ms = p->base_ms, cut = 0;

    if (p->kind != RETRY_BACKOFF)
        return 0;
    while (n-- > 0 && ms < HUB_DELAY_MAX_MS)
        ms *= 2;
    if (ms > HUB_DELAY_MAX_MS)
        ms = HUB_DELAY_MAX_MS;
    if (p->jitter && ms >= 2) {
        id_random(&cut, sizeof cut);
        cut %= ms / 2 + 1;
    }
    return ms - cut;
}

/* `step` is how often the wait is doubled. */
static void try_again(struct member *m, unsigned step)
{
    const struct retry_policy *p = &m->hub->opts.reconnect;
    uint64_t ms;

    if (m->reconnects >= p->max) {
        member_move(m, MEMBER_UNWANTED);
        link_give_up(m->link);
        return;
    }
    ms = delay_of(p, step);
    m->reconnects++;
    member_move(m, member_was_up(m) ? MEMBER_MISSED : MEMBER_WOKEN);
    link_mark_reconnecting(m->link, m->reconnects, p->max,
                           ms ? loop_wall(m->hub->loop) + (int64_t)ms : 0);
    if (ms)
        timer_start(&m->retry, ms);
    else
        member_attempt(m);
}

static bool may_retry(const struct member *m)
{
    return link_spec(m->link)->auto_reconnect && m->hub->opts.reconnect.kind != RETRY_NONE;
}

/* It had been connected and went away by itself. */
static void answer_loss(struct member *m)
{
    uint64_t lived = loop_now(m->hub->loop) - m->up_since;
    struct link_facts facts;

    if (!may_retry(m)) {
        member_unwant(m);
        return;
    }
    if (lived >= HUB_PROVEN_MS)
        m->reconnects = 0;
    if (lived >= HUB_STEADY_MS)
        m->restarts = 0;
    link_facts(m->link, &facts);
    if (!facts.crashed) {
        try_again(m, m->reconnects);
        return;
    }
    if (m->restarts >= m->hub->opts.restart_max) {
        member_move(m, MEMBER_GIVEN_UP);
        link_give_up(m->link);
        return;
    }
    m->reconnects = 0;
    try_again(m, m->restarts++);
}

/* The last attempt failed. */
static void answer_failure(struct member *m)
{
    const struct pb_error *why = link_last_error(m->link);
    bool refused = why && why->code == PB_E_AUTH; /* trying again does not make us welcome */
    bool policy = !refused && may_retry(m) && (member_was_up(m) || m->hub->opts.retry_initial);
    bool hinted = !refused && m->hint == PB_ERA_LEGACY;

    if (hinted && !policy && !link_is_clear(m->link))
        return; /* looked at again when the process that failed is gone */
    m->hint = PB_ERA_AUTO;
    if (policy)
        try_again(m, m->reconnects);
    else if (hinted)
        member_attempt(m); /* it may have been replaced by one that speaks the other era */
    else
        member_unwant(m);
}

/* From then on it is one that went away by itself. */
static void answer_silence(struct member *m) { link_disconnect(m->link); }

/* It had to wait until its file was read or its old process gone. */
static void answer_delay(struct member *m)
{
    if (!timer_running(&m->retry))
        member_attempt(m);
}

/* clang-format off */
/* What is wanted of it, against how its link fares: what is done about it; NULL: nothing. */
static void (*const answers[MEMBER_COUNT][FARES])(struct member *m) = {
    /*                    down          tried        failed          connected */
    [MEMBER_UNWANTED] = { NULL,         NULL,        NULL,           member_save },
    [MEMBER_GIVEN_UP] = { NULL,         NULL,        NULL,           member_save },
    [MEMBER_ASKED]    = { answer_delay, NULL,        answer_failure, member_save },
    [MEMBER_WOKEN]    = { answer_delay, NULL,        answer_failure, member_save },
    [MEMBER_UP]       = { answer_loss,  answer_loss, answer_loss,    member_save },
    [MEMBER_SICK]     = { answer_loss,  answer_loss, answer_loss,    answer_silence },
    [MEMBER_MISSED]   = { answer_delay, NULL,        answer_failure, member_save },
    [MEMBER_LEAVING]  = { NULL,         NULL,        NULL,           member_save },
};
/* clang-format on */

/* What a server listed that nobody wants any more, and that did not just fail to start, is gone. */
static bool has_ended(const struct member *m)
{
    enum link_state s = link_state(m->link);

    return !member_is_wanted(m) && link_is_terminal(s) && !(s == LINK_ERROR && member_is_lazy(m));
}

void member_review(struct member *m)
{
    enum fare fare = fares[link_state(m->link)];

    if (answers[m->state.now][fare])
        answers[m->state.now][fare](m);
    if (fare != FARE_CONNECTED && has_ended(m))
        member_forget_lists(m);
    member_send_waiting(m);
    member_tell_waits(m);
}
