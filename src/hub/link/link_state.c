/* link_state.c - which states follow which, and what leads from one to the next. */
#include "hub/spec/spec.h"
#include "link_impl.h"
#include "mcp/rpc/rpc.h"

#define TO(s) SM_BIT(LINK_##s)
/* Whatever it does, a server can be disconnected, made idle and disabled. */
#define STOPPED (TO(DISCONNECTED) | TO(IDLE) | TO(DISABLED))
/* clang-format off */
static const struct sm_state link_states[LINK_COUNT] = {
    [LINK_DISABLED]       = { "disabled",       TO(IDLE),                                                       NULL },
    [LINK_IDLE]           = { "idle",           TO(CONNECTING) | TO(DISCONNECTED) | TO(DISABLED),               NULL },
    [LINK_CONNECTING]     = { "connecting",     TO(AUTHENTICATING) | TO(CONNECTED) | TO(ERROR) | STOPPED,       NULL },
    [LINK_AUTHENTICATING] = { "authenticating", TO(CONNECTING) | TO(CONNECTED) | TO(ERROR) | STOPPED,           NULL },
    [LINK_CONNECTED]      = { "connected",      STOPPED,                                                        NULL },
    [LINK_RECONNECTING]   = { "reconnecting",   TO(CONNECTING) | TO(FAILED) | STOPPED,                          NULL },
    [LINK_DISCONNECTED]   = { "disconnected",   TO(CONNECTING) | TO(RECONNECTING) | TO(FAILED) | TO(IDLE) | TO(DISABLED), NULL },
    [LINK_ERROR]          = { "error",          TO(CONNECTING) | TO(RECONNECTING) | TO(FAILED) | STOPPED,       NULL },
    [LINK_FAILED]         = { "failed",         TO(CONNECTING) | STOPPED,                                       NULL },
};
/* clang-format on */

/* An attempt may begin here. Coming back from a login is none of this. */
static const uint32_t may_connect =
    TO(IDLE) | TO(DISCONNECTED) | TO(ERROR) | TO(FAILED) | TO(RECONNECTING);

/* False: there is no such transition; that is logged, and nothing changes. */
static bool link_move(struct link *l, const struct link_status *to)
{
    struct hub_event e = link_event(l, EVENT_STATE);
    AUTO_FREE char *to_text = mem_dup_opt(to->message);
    char *from_text = (char *)(uintptr_t)l->status.message;
    enum link_state from = l->sm.now;

    if (!sm_try(&l->sm, l, to->state)) {
        link_log(l, PB_LOG_WARNING, "Refused: State: %s → %s", link_state_name(from),
                 link_state_name(to->state));
        return false;
    }
    e.state.from = l->status;
    l->status = *to;
    l->status.message = mem_dup_opt(to->message);
    e.state.to = *to;
    e.state.to.message = to_text; /* a copy: the receiver may move the link on */
    link_emit(l, &e);
    free(from_text);
    link_log(l, PB_LOG_INFO, "State: %s → %s", link_state_name(from), link_state_name(to->state));
    return true;
}

/* ---- connecting ---- */

static bool is_connecting(const struct link *l)
{
    return !l->closed && (link_in(l, LINK_CONNECTING) || link_in(l, LINK_AUTHENTICATING));
}

void link_connect_failed(struct link *l, const char *phase, const struct pb_error *why)
{
    struct link_status to = { .state = LINK_ERROR, .retries = l->retries };

    if (!is_connecting(l))
        return;
    timer_stop(&l->limit);
    l->error = *why;
    if (phase)
        fail_in(&l->error, "%s", phase);
    fail_in(&l->error, "Cannot connect to server '%s'", link_name(l));
    channel_explain(&l->shared, &l->error);
    channel_drop(&l->shared);
    link_log(l, PB_LOG_ERROR, "%s", l->error.msg);
    to.message = l->error.msg;
    link_move(l, &to);
}

void link_connect_done(struct link *l, size_t tools)
{
    timer_stop(&l->limit);
    l->connect_took = loop_now_exact(l->loop) - l->connect_began;
    l->connected_at = loop_wall(l->loop);
    l->error.code = PB_OK;
    if (l->spec->instance == SPEC_SHARED && l->era != ERA_LEGACY)
        keys_drop(l); /* it says whose its questions are, so that there is only this one */
    link_move(l, &(struct link_status){ .state = LINK_CONNECTED, .tools = tools });
}

static void on_limit(void *ctx)
{
    struct link *l = ctx;
    struct pb_error err;
    char limit[32];

    link_duration(l->opts.connect_ms, limit);
    fail(&err, PB_E_TIMEOUT, "no answer within %s", limit);
    link_connect_failed(l, l->shared.ready ? "listing what it offers" : "handshake", &err);
}

void link_state_init(struct link *l)
{
    l->sm = (struct sm){ link_states, l->spec->enabled ? LINK_IDLE : LINK_DISABLED };
    l->status.state = l->sm.now;
    timer_init(&l->limit, l->loop, on_limit, l);
}

/* An opener that fails at once is told like any other failure: as an event, not in between. */
struct early {
    struct link *l;
    unsigned attempt;
    struct pb_error err;
};

static void fail_early(void *ctx)
{
    AUTO_FREE struct early *e = ctx;

    if (e->attempt == e->l->attempt)
        link_connect_failed(e->l, NULL, &e->err);
    link_unref(e->l);
}

static void open_shared(struct link *l)
{
    struct pb_error err;
    struct early *e;
    int rc = channel_open(&l->shared, &err);

    if (l->spec->instance == SPEC_ALWAYS_SHARED)
        keys_drop(l); /* nobody else is going to be started with them */
    if (rc == 0)
        return;
    e = NEW(struct early);
    *e = (struct early){ l, l->attempt, err };
    link_ref(l);
    loop_defer(l->loop, fail_early, e);
}

static void begin(struct link *l)
{
    timer_start(&l->limit, l->opts.connect_ms);
    keys_fetch(l, open_shared);
}

int link_connect(struct link *l, unsigned retries, struct pb_error *err)
{
    const char *now = link_state_name(l->sm.now);

    link_owned(l);
    if (l->closed || !(may_connect & SM_BIT(l->sm.now))) {
        link_log(l, PB_LOG_WARNING, "Cannot connect from state: %s", now);
        return fail(err, PB_E_BUSY, "Cannot connect from state: %s", now);
    }
    l->retries = retries;
    l->attempt++;
    l->connect_began = loop_now_exact(l->loop);
    link_move(l, &(struct link_status){ .state = LINK_CONNECTING });
    if (link_in(l, LINK_CONNECTING) && !l->shared.client)
        begin(l);
    return 0;
}

/* ---- ending ---- */

/* Nothing is under way after this. */
static void quit(struct link *l, enum call_cancel why)
{
    timer_stop(&l->limit);
    l->attempt++;
    l->shared.leaving = true;
    calls_cancel(&l->shared, why);
    instances_drop(l, why);
    channel_drop(&l->shared);
    keys_drop(l);
}

void link_cancel_connect(struct link *l)
{
    link_owned(l);
    if (!is_connecting(l) && !link_in(l, LINK_RECONNECTING))
        return;
    quit(l, CALL_BY_USER);
    link_move(l, &(struct link_status){ .state = LINK_IDLE });
}

void link_disconnect(struct link *l)
{
    link_owned(l);
    if (l->closed || link_in(l, LINK_DISCONNECTED) || link_in(l, LINK_DISABLED))
        return;
    l->crashed = false;
    quit(l, CALL_DISCONNECTED);
    link_move(l, &(struct link_status){ .state = LINK_DISCONNECTED });
}

void link_go_idle(struct link *l)
{
    if (l->closed || link_in(l, LINK_IDLE) || link_in(l, LINK_DISABLED))
        return;
    l->crashed = false;
    quit(l, CALL_DISCONNECTED);
    link_move(l, &(struct link_status){ .state = LINK_IDLE });
}

void link_set_enabled(struct link *l, bool on)
{
    if (l->closed || on == !link_in(l, LINK_DISABLED))
        return;
    if (!on)
        quit(l, CALL_DISCONNECTED);
    link_move(l, &(struct link_status){ .state = on ? LINK_IDLE : LINK_DISABLED });
}

void link_lost(struct link *l, const struct pb_error *why)
{
    struct link_status to = { .state = LINK_DISCONNECTED };

    if (l->closed || !link_in(l, LINK_CONNECTED))
        return;
    l->crashed = l->spec->transport == SPEC_STDIO;
    l->error = *why;
    fail_in(&l->error, "Server '%s' went away", link_name(l));
    channel_explain(&l->shared, &l->error);
    l->shared.leaving = true;
    calls_fail_waiting(&l->shared, why);
    quit(l, CALL_DISCONNECTED);
    link_log(l, PB_LOG_ERROR, "%s", l->error.msg);
    to.message = l->error.msg;
    link_move(l, &to);
}

/* ---- what the hub has decided ---- */

void link_mark_reconnecting(struct link *l, unsigned attempt, unsigned max, int64_t next_retry_at)
{
    link_move(l, &(struct link_status){ .state = LINK_RECONNECTING,
                                        .attempt = attempt,
                                        .max_attempts = max,
                                        .next_retry_at = next_retry_at });
}

void link_give_up(struct link *l)
{
    struct link_status to = { .state = LINK_FAILED, .retries = l->retries };

    to.message = l->error.code ? l->error.msg : NULL;
    link_move(l, &to);
}
