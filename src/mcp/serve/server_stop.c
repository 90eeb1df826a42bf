/* server_stop.c - the life of a server: its carriers, running, and the graceful end.
 *
 * To stop: calls in flight are cancelled and answered, listen streams end, carriers drain, handlers
 * that still run get the rest of MCP_STOP_MS; then the carriers are closed, ready or not. */
#include "peer_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

struct carrier {
    struct list link;
    struct pb_server *server;
    const struct carrier_ops *ops;
    void *carrier;
    bool draining, closing;
};

/* clang-format off */
#define TO(s) SM_BIT(SERVER_##s)
static const struct sm_state states[] = {
    [SERVER_CREATED]      = { "created",      TO(INITIALIZING) | TO(CLOSING) | TO(ERROR), NULL },
    [SERVER_INITIALIZING] = { "initializing", TO(READY) | TO(CLOSING) | TO(ERROR),        NULL },
    [SERVER_READY]        = { "ready",        TO(CLOSING) | TO(ERROR),                    NULL },
    [SERVER_CLOSING]      = { "closing",      TO(CLOSED),                                 NULL },
    [SERVER_CLOSED]       = { "closed",       TO(INITIALIZING),                           NULL },
    [SERVER_ERROR]        = { "error",        TO(CLOSING),                                NULL },
};
/* clang-format on */
_Static_assert(ARRAY_LEN(states) == SERVER_COUNT, "every state has a row");

const char *server_state(const struct pb_server *s) { return sm_name(&s->state); }

bool server_heard(struct pb_server *s)
{
    if (s->state.now == SERVER_CREATED)
        sm_move(&s->state, s, SERVER_INITIALIZING);
    if (s->state.now == SERVER_INITIALIZING)
        sm_move(&s->state, s, SERVER_READY);
    return s->state.now == SERVER_READY;
}

static size_t handlers_running(const struct pb_server *s)
{
    return s->provider->running ? s->provider->running(s->provider_ctx) : 0;
}

/* ---- being woken -------------------------------------------------------------------------- */

static void begin_stop(struct pb_server *s);

static void on_wake(void *ctx, struct span bytes)
{
    struct pb_server *s = ctx;

    (void)bytes;
    if (atomic_load(&s->stop_asked))
        begin_stop(s);
}

/* A pipe, because a signal handler may do no more than write to one. It is listened to while
 * something is served, so that it alone does not keep a loop alive. */
static int watch_wake(struct pb_server *s, struct pb_error *err)
{
    static const struct stream_events events = { .data = on_wake };
    int rc, fds[2];

    if (s->wake)
        return 0;
    if (s->wake_out < 0) {
        if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
            return fail_sys(err, errno, "open a pipe");
        s->wake_out = fds[0];
        atomic_store(&s->wake_in, fds[1]);
    }
    rc = stream_open(&s->wake, s->loop, s->wake_out, true, &events, s, err);
    if (rc < 0)
        return rc;
    stream_read(s->wake, true);
    return 0;
}

static void on_wake_closed(void *ctx)
{
    struct pb_server *s = ctx;

    s->closing--;
    server_check_end(s);
}

static void unwatch_wake(struct pb_server *s)
{
    if (!s->wake)
        return;
    s->closing++;
    stream_close(TAKE(s->wake), on_wake_closed, s);
}

void server_stop_done(struct pb_server *s)
{
    while (!list_empty(&s->old_carriers)) {
        struct carrier *h = CONTAINER_OF(s->old_carriers.next, struct carrier, link);

        list_remove(&h->link);
        free(h);
    }
    if (s->wake_out < 0)
        return;
    close(s->wake_out);
    close(atomic_load(&s->wake_in));
}

/* ---- stopping ----------------------------------------------------------------------------- */

static void closed(struct pb_server *s)
{
    if (s->state.now != SERVER_CLOSING)
        return;
    unwatch_wake(s);
    s->closing_carriers = false;
    atomic_store(&s->stop_asked, false);
    sm_move(&s->state, s, SERVER_CLOSED);
    log_info("server closed");
    if (s->running)
        loop_stop(s->loop);
    if (s->free_when_closed)
        pb_server_free(s); /* which never frees inside the call on a loop of others */
}

static void on_carrier_closed(void *ctx)
{
    struct carrier *h = ctx;
    struct pb_server *s = h->server;

    list_remove(&h->link);
    free(h);
    s->closing--;
    if (s->closing_carriers && list_empty(&s->carriers))
        closed(s);
    server_check_end(s);
}

static void close_carrier(struct carrier *h)
{
    if (h->closing)
        return;
    h->closing = true;
    h->server->closing++;
    h->ops->close(h->carrier, on_carrier_closed, h);
}

static void close_carriers(struct pb_server *s)
{
    struct list *pos, *safe;

    s->closing_carriers = true;
    timer_stop(&s->stop_timer);
    if (list_empty(&s->carriers)) {
        closed(s);
        return;
    }
    LIST_FOREACH(pos, safe, &s->carriers)
        close_carrier(CONTAINER_OF(pos, struct carrier, link));
}

static void go_on(struct pb_server *s)
{
    if (s->state.now == SERVER_CLOSING && !s->closing_carriers && !s->draining &&
        handlers_running(s) == 0)
        close_carriers(s);
}

static void on_drained(void *ctx)
{
    struct carrier *h = ctx;
    struct pb_server *s = h->server;

    if (!h->draining)
        return;
    h->draining = false;
    s->draining--;
    go_on(s);
}

static void on_stop_timer(void *ctx)
{
    struct pb_server *s = ctx;

    log_warn("%zu handlers still run and %zu transports are not flushed after %d s: closing",
             handlers_running(s), s->draining, MCP_STOP_MS / 1000);
    s->stop_was_late = handlers_running(s) > 0;
    close_carriers(s);
}

/* A peer that was dealt with moves to another list: what cancelling one does may close others. */
static void cancel_calls(struct pb_server *s)
{
    struct list done = LIST_INIT(done);

    while (!list_empty(&s->peers)) {
        struct peer *p = CONTAINER_OF(s->peers.next, struct peer, in_server);

        list_remove(&p->in_server);
        list_append(&done, &p->in_server);
        peer_cancel_all(p);
    }
    while (!list_empty(&done)) {
        struct list *pos = done.next;

        list_remove(pos);
        list_append(&s->peers, pos);
    }
    if (s->provider->stop)
        s->provider->stop(s->provider_ctx);
}

static void begin_stop_within(struct pb_server *s, uint64_t ms)
{
    struct list *pos, *safe;

    if (!sm_try(&s->state, s, SERVER_CLOSING))
        return;
    log_info("server stopping, %zu requests in flight", s->in_flight);
    timer_start(&s->stop_timer, ms);
    cancel_calls(s);
    s->draining++; /* so that none of them is the last one yet */
    LIST_FOREACH(pos, safe, &s->carriers) {
        struct carrier *h = CONTAINER_OF(pos, struct carrier, link);

        if (h->closing)
            continue;
        h->draining = true;
        s->draining++;
        h->ops->drain(h->carrier, on_drained, h);
    }
    s->draining--;
    go_on(s);
}

static void begin_stop(struct pb_server *s) { begin_stop_within(s, MCP_STOP_MS); }

void server_begin_stop(struct pb_server *s)
{
    if (s->state.now == SERVER_CLOSED)
        pb_server_free(s);
    else
        begin_stop(s); /* or it is under way */
}

void server_stop_init(struct pb_server *s)
{
    s->state = (struct sm){ .table = states, .now = SERVER_CREATED };
    list_init(&s->carriers);
    list_init(&s->old_carriers);
    timer_init(&s->stop_timer, s->loop, on_stop_timer, s);
    atomic_init(&s->stop_asked, false);
    atomic_init(&s->wake_in, -1);
    s->wake_out = -1;
}

void server_drained(struct pb_server *s)
{
    go_on(s);
    server_check_end(s);
}

void server_abandon(struct pb_server *s)
{
    if (sm_try(&s->state, s, SERVER_CLOSING))
        cancel_calls(s);
    if (s->state.now == SERVER_CLOSING)
        close_carriers(s);
    timer_stop(&s->stop_timer);
    unwatch_wake(s);
}

bool server_is_over(struct pb_server *s)
{
    return s->closing == 0 && handlers_running(s) == 0 && !inbox_posted(&s->inbox);
}

/* ---- carriers -------------------------------------------------------------------------------- */

void server_add_carrier(struct pb_server *s, const struct carrier_ops *ops, void *carrier)
{
    struct carrier *h = NEW(struct carrier);
    struct pb_error err;

    *h = (struct carrier){ .server = s, .ops = ops, .carrier = carrier };
    list_append(&s->carriers, &h->link);
    sm_try(&s->state, s, SERVER_INITIALIZING);
    if (watch_wake(s, &err) < 0)
        log_warn("pb_server_stop() cannot wake the loop: %s", err.msg);
}

void server_forget_carrier(struct pb_server *s, void *carrier)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->carriers) {
        struct carrier *h = CONTAINER_OF(pos, struct carrier, link);

        if (h->carrier != carrier || h->closing)
            continue;
        list_remove(&h->link);
        if (h->draining) { /* its callback may still come */
            list_append(&s->old_carriers, &h->link);
            on_drained(h);
        } else {
            free(h);
        }
    }
    if (list_empty(&s->carriers) && !s->running && s->state.now != SERVER_CLOSING)
        unwatch_wake(s); /* nothing to stop: a loop of the program's own may end */
}

void server_carrier_ended(struct pb_server *s, void *carrier)
{
    server_forget_carrier(s, carrier);
    if (list_empty(&s->carriers))
        begin_stop(s);
}

void server_carrier_ending(struct pb_server *s, void *carrier, uint64_t since)
{
    uint64_t gone = loop_now(s->loop) - since;

    if (s->carriers.next == s->carriers.prev && !list_empty(&s->carriers) &&
        CONTAINER_OF(s->carriers.next, struct carrier, link)->carrier == carrier)
        begin_stop_within(s, gone < MCP_STOP_MS ? MCP_STOP_MS - gone : 0);
}

/* ---- running ------------------------------------------------------------------------------ */

void pb_server_stop(struct pb_server *s)
{
    int fd, keep = errno;
    ssize_t n;

    atomic_store(&s->stop_asked, true);
    fd = atomic_load(&s->wake_in);
    if (fd >= 0) {
        n = write(fd, "", 1); /* a full pipe wakes just as well */
        (void)n;
    }
    errno = keep;
}

static void on_signal(void *ctx) { begin_stop(ctx); }

/* Only while it runs: before and after that the program's own handling counts. */
static int watch_signals(struct pb_server *s, struct pb_error *err)
{
    int rc = loop_on_signal(s->loop, SIGTERM, on_signal, s, err);

    if (rc == 0)
        rc = loop_on_signal(s->loop, SIGINT, on_signal, s, err);
    if (rc < 0)
        loop_off_signal(s->loop, on_signal, s);
    return rc;
}

int pb_server_run(struct pb_server *s, struct pb_error *err)
{
    int rc;

    if (s->state.now == SERVER_CLOSING || s->state.now == SERVER_ERROR)
        return fail(err, PB_E_CLOSED, "the server cannot be run in state '%s'", server_state(s));
    if (list_empty(&s->carriers) && list_empty(&s->peers))
        return fail(err, PB_E_INVALID,
                    "nothing is served: call pb_server_stdio() or pb_server_http() first");
    rc = watch_wake(s, err);
    if (rc == 0)
        rc = watch_signals(s, err);
    if (rc < 0) {
        sm_try(&s->state, s, SERVER_ERROR);
        return rc;
    }
    if (s->state.now == SERVER_CLOSED)
        sm_move(&s->state, s, SERVER_INITIALIZING);
    (void)server_heard(s);
    s->running = true;
    if (atomic_load(&s->stop_asked))
        begin_stop(s);
    loop_run(s->loop);
    s->running = false;
    loop_off_signal(s->loop, on_signal, s);
    return 0;
}
