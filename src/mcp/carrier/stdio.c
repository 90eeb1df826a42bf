/* stdio.c - one client on a pair of descriptors, a message per line.
 *
 * open -> ending -> flushing -> ended
 *    \________________________/          the output broke: nobody is left to flush to
 *
 * Open: lines are read and answered; while the client does not read, neither do we. If it takes
 * nothing at all though more waits than can be kept, it is cut off. Ending: there
 * is no more input; calls get a moment to finish, then they are cancelled, which answers them.
 * Flushing: the client gets MCP_FLUSH_MS to read what is answered. */
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "missed.h"
#include <errno.h>
#include <fcntl.h>

enum {
    PARTS_DIRECT = 15,    /* parts of a message written without putting them together first */
    GATHER_BYTES = 65536, /* answers of one read that leave together */
};

enum stdio_state { STDIO_OPEN, STDIO_ENDING, STDIO_FLUSHING, STDIO_ENDED, STDIO_COUNT };

struct stdio_carrier {
    struct pb_server *server;
    struct pb_loop *loop;
    struct peer *peer;
    struct stream *in, *out;
    struct lines lines;
    struct sm state;
    int lines_left; /* of this turn */
    /* What is answered while a read is being handled leaves in one write: a client that is woken by
     * the first answer would find the others missing. */
    struct buf gathered;
    bool gathering;
    bool resume_due, eof, broken;
    bool congestion_due; /* the peer is to be told how things stand */
    bool guest;          /* one of many: its end is not the server's ... */
    loop_fn *ended_fn;   /* ... but may be told */
    void *ended_ctx;

    /* Which answers have left: `given` counts bytes handed to the stream, `ends` has the end of
     * each answer that may still be queued there. */
    uint64_t given;
    struct buf ends;
    size_t flushed, dropped; /* since the end of input */
    struct missed missed;
    size_t batched;     /* bytes of answers to batches that are not over */
    uint64_t left_then; /* what had left when the stall clock was started */

    struct timer grace, stall;
    uint64_t ended_at;
    size_t closing; /* streams not closed yet */
    loop_fn *drained_fn, *closed_fn;
    void *drained_ctx, *closed_ctx;
};

#define TO(s) SM_BIT(STDIO_##s)
/* clang-format off */
static const struct sm_state stdio_states[] = {
    [STDIO_OPEN]     = { "open",     TO(ENDING)   | TO(ENDED), NULL },
    [STDIO_ENDING]   = { "ending",   TO(FLUSHING) | TO(ENDED), NULL },
    [STDIO_FLUSHING] = { "flushing", TO(ENDED),                NULL },
    [STDIO_ENDED]    = { "ended",    0,                        NULL },
};
/* clang-format on */
#undef TO
_Static_assert(ARRAY_LEN(stdio_states) == STDIO_COUNT, "every state has a row");

static void end_input(struct stdio_carrier *h);
static void pump_more(struct stdio_carrier *h);

/* How many bytes have left the queue. */
static uint64_t left_so_far(const struct stdio_carrier *h)
{
    return h->given - h->gathered.n - stream_queued(h->out);
}

/* Forgets the answers that have left the queue, and counts them once the input has ended. */
static void forget_sent(struct stdio_carrier *h)
{
    const uint64_t *ends = (const uint64_t *)(const void *)h->ends.p;
    uint64_t left = left_so_far(h);
    size_t n = h->ends.n / sizeof *ends, k = 0;

    if (h->broken)
        return;
    while (k < n && ends[k] <= left)
        k++;
    if (h->eof)
        h->flushed += k;
    buf_consume(&h->ends, k * sizeof *ends);
}

static void drop_unsent(struct stdio_carrier *h)
{
    h->dropped += h->ends.n / sizeof(uint64_t);
    h->ends.n = 0;
}

static void close_carrier(void *carrier, loop_fn *fn, void *ctx);

static void end(struct stdio_carrier *h)
{
    sm_move(&h->state, h, STDIO_ENDED);
    timer_stop(&h->grace);
    timer_stop(&h->stall);
    drop_unsent(h);
    log_info("Client disconnected (EOF), flushed %zu responses, dropped %zu responses", h->flushed,
             h->dropped);
}

static void finish(struct stdio_carrier *h)
{
    loop_fn *fn = TAKE(h->drained_fn);

    end(h);
    if (fn) {
        fn(h->drained_ctx);
        return;
    }
    if (h->guest)
        server_forget_carrier(h->server, h);
    else
        server_carrier_ended(h->server, h);
    fn = h->ended_fn;
    if (fn)
        loop_defer(h->loop, fn, h->ended_ctx);
    close_carrier(h, NULL, NULL);
}

static void on_broken(void *ctx)
{
    struct stdio_carrier *h = ctx;

    if (h->state.now == STDIO_ENDED)
        return;
    stream_read(h->in, false);
    peer_cancel_all(h->peer);
    finish(h);
}

/* May be inside the peer, which must not be called back: the rest is done at the end of the turn.
 */
static void set_broken(struct stdio_carrier *h)
{
    if (h->broken)
        return;
    h->broken = true;
    drop_unsent(h);
    loop_defer(h->loop, on_broken, h);
}

static void add_line(struct buf *out, const struct span *parts, size_t n)
{
    size_t from = out->n;

    for (size_t i = 0; i < n; i++)
        buf_add_span(out, parts[i]);
    buf_flatten(out, from);
    buf_byte(out, '\n');
}

static void on_congestion(void *ctx)
{
    struct stdio_carrier *h = ctx;

    h->congestion_due = false;
    if (h->state.now < STDIO_FLUSHING)
        peer_set_congested(h->peer, stream_full(h->out));
}

/* May be inside the peer. */
static void check_congestion(struct stdio_carrier *h)
{
    if (h->congestion_due || stream_full(h->out) == peer_congested(h->peer))
        return;
    h->congestion_due = true;
    loop_defer(h->loop, on_congestion, h);
}

static void give(struct stdio_carrier *h, const struct span *parts, size_t n)
{
    struct pb_error err;

    if (h->broken)
        return;
    if (stream_write(h->out, parts, n, &err) < 0) {
        log_warn("stdio: %s", err.msg);
        set_broken(h);
        return;
    }
    if (!stream_queued(h->out))
        forget_sent(h);
    check_congestion(h);
}

static void give_gathered(struct stdio_carrier *h)
{
    struct buf text = h->gathered;
    struct span whole = buf_span(&text);

    if (!text.n)
        return;
    h->gathered = (struct buf){ 0 };
    give(h, &whole, 1);
    text.n = 0;
    buf_shrink(&text, GATHER_BYTES);
    h->gathered = text;
}

/* A large message goes out as it lies; a copy of it would cost more than a write. */
static void give_line(struct stdio_carrier *h, const struct span *parts, size_t n)
{
    AUTO_BUF struct buf text = { 0 };
    struct span all[PARTS_DIRECT + 1];
    bool plain = n <= PARTS_DIRECT;

    for (size_t i = 0; plain && i < n; i++) {
        all[i] = parts[i];
        plain = !span_line_end(parts[i]);
    }
    if (plain) {
        all[n] = SPAN("\n");
        give(h, all, n + 1);
    } else {
        add_line(&text, parts, n);
        all[0] = buf_span(&text);
        give(h, all, 1);
    }
}

static void write_line(struct stdio_carrier *h, const struct span *parts, size_t n, bool response)
{
    size_t size = spans_size(parts, n) + 1;

    if (h->broken || h->state.now > STDIO_ENDING) {
        h->dropped += response;
        return;
    }
    if (h->gathered.n + size > GATHER_BYTES)
        give_gathered(h);
    h->given += size;
    if (response)
        buf_add(&h->ends, &h->given, sizeof h->given);
    if (h->gathering && size <= GATHER_BYTES)
        add_line(&h->gathered, parts, n);
    else
        give_line(h, parts, n);
}

/* ---- past the hard mark ---- */

static void watch_stall(struct stdio_carrier *h)
{
    if (timer_running(&h->stall))
        return;
    h->left_then = left_so_far(h);
    timer_start(&h->stall, STDIO_STALL_MS);
}

static void on_stall(void *ctx)
{
    struct stdio_carrier *h = ctx;

    if (!stream_full(h->out))
        return;
    if (left_so_far(h) != h->left_then) {
        watch_stall(h);
        return;
    }
    log_warn(
        "stdio: %zu bytes wait for the client, and it has read nothing for %d s; it is cut off",
        stream_queued(h->out), STDIO_STALL_MS / 1000);
    set_broken(h);
}

static void answer(struct stdio_carrier *h, const struct request *about, const struct span *parts,
                   size_t n)
{
    size_t waiting = stream_queued(h->out) + h->gathered.n + h->batched;
    struct batch *b = about ? about->exchange : NULL;
    AUTO_BUF struct buf refusal = { 0 };
    struct span instead = missed_answer(&refusal, about, spans_size(parts, n), waiting);

    if (instead.p) {
        watch_stall(h);
        parts = &instead;
        n = 1;
    }
    if (b)
        batch_add(b, about->id, parts, n);
    else
        write_line(h, parts, n, true);
}

static void on_send(void *transport, struct request *about, enum send_kind kind,
                    const struct span *parts, size_t n)
{
    struct stdio_carrier *h = transport;

    if (kind == SEND_RESPONSE)
        answer(h, about, parts, n);
    else if (!missed_drop(&h->missed, kind, stream_full(h->out)))
        write_line(h, parts, n, false);
}

static void answer_batch(struct stdio_carrier *h, struct batch *b)
{
    struct span text = batch_finish(b);

    if (text.n)
        write_line(h, &text, 1, true);
    batch_free(b);
}

static void on_idle(void *ctx);

static void on_finished(void *transport, struct request *about)
{
    struct stdio_carrier *h = transport;
    struct batch *b = about->exchange;

    if (b && batch_ended(b))
        answer_batch(h, b);
    if (h->state.now == STDIO_ENDING)
        loop_defer(h->loop, on_idle, h);
}

static const struct peer_ops stdio_peer_ops = { .send = on_send, .finished = on_finished };

/* Go on with the next line now? */
static bool may_go_on(struct stdio_carrier *h)
{
    return --h->lines_left > 0 && !stream_full(h->out) && !h->broken;
}

static bool on_line(void *ctx, struct span line)
{
    struct stdio_carrier *h = ctx;
    struct message *m = message_new(lines_keep(&h->lines, line));
    struct batch *b = NULL;

    if (m->rpc.kind == RPC_BATCH)
        b = batch_begin(h->peer, m, &h->batched);
    else
        peer_receive(h->peer, m, NULL, NULL);
    if (b)
        answer_batch(h, b);
    return may_go_on(h);
}

static bool on_oversize(void *ctx, struct span head, uint64_t total)
{
    struct stdio_carrier *h = ctx;

    log_warn("Line exceeds %zuMB limit: %llu bytes", server_max_request(h->server) >> 20,
             (unsigned long long)total);
    peer_receive_oversize(h->peer, head, total, NULL);
    return may_go_on(h);
}

static void on_resume(void *ctx)
{
    struct stdio_carrier *h = ctx;

    h->resume_due = false;
    if (h->state.now == STDIO_OPEN)
        pump_more(h);
}

/* After lines were handled: stop the flow, or let it go on. */
static void steer(struct stdio_carrier *h)
{
    bool stopped = lines_stopped(&h->lines);

    if (h->broken || h->state.now != STDIO_OPEN)
        return;
    stream_read(h->in, !stopped && !h->eof);
    if (stopped && !stream_full(h->out) && !h->resume_due) {
        h->resume_due = true;
        loop_defer(h->loop, on_resume, h);
    }
    if (!stopped && h->eof)
        end_input(h);
}

static void begin_lines(struct stdio_carrier *h)
{
    h->lines_left = LOOP_LINES_PER_TURN;
    h->gathering = true;
}

static void end_lines(struct stdio_carrier *h)
{
    h->gathering = false;
    give_gathered(h);
    steer(h);
}

static void pump_more(struct stdio_carrier *h)
{
    begin_lines(h);
    lines_resume(&h->lines);
    end_lines(h);
}

static void on_data(void *ctx, struct span bytes)
{
    struct stdio_carrier *h = ctx;

    begin_lines(h);
    lines_feed(&h->lines, bytes);
    end_lines(h);
}

static void tell_missed(struct stdio_carrier *h)
{
    AUTO_BUF struct buf text = { 0 };
    struct span whole;

    missed_tell(&h->missed, &text);
    whole = buf_span(&text);
    if (whole.n)
        write_line(h, &whole, 1, false);
}

static void on_drain(void *ctx)
{
    struct stdio_carrier *h = ctx;

    forget_sent(h);
    check_congestion(h);
    tell_missed(h);
    if (h->state.now == STDIO_OPEN && lines_stopped(&h->lines))
        pump_more(h);
}

static void on_flushed(void *ctx, bool flushed)
{
    struct stdio_carrier *h = ctx;

    if (h->state.now != STDIO_FLUSHING)
        return;
    if (flushed)
        forget_sent(h);
    finish(h);
}

static void start_flush(struct stdio_carrier *h)
{
    if (h->state.now != STDIO_ENDING || h->broken)
        return;
    sm_move(&h->state, h, STDIO_FLUSHING);
    timer_stop(&h->grace);
    stream_shutdown(h->out, MCP_FLUSH_MS, on_flushed, h);
}

/* The last running call has ended, perhaps. The peer is gone when the carrier has ended. */
static void on_idle(void *ctx)
{
    struct stdio_carrier *h = ctx;

    if (h->state.now == STDIO_ENDING && !peer_in_flight(h->peer))
        start_flush(h);
}

static void on_grace_over(void *ctx)
{
    struct stdio_carrier *h = ctx;
    size_t n = peer_cancel_all(h->peer);

    if (n)
        log_debug("stdio: cancelled %zu calls", n);
    start_flush(h);
    if (!h->guest)
        server_carrier_ending(h->server, h, h->ended_at); /* handlers may take longer than we do */
}

static void start_ending(struct stdio_carrier *h, uint64_t grace_ms)
{
    sm_move(&h->state, h, STDIO_ENDING);
    h->ended_at = loop_now(h->loop);
    forget_sent(h);
    if (!peer_in_flight(h->peer))
        start_flush(h);
    else
        timer_start(&h->grace, grace_ms);
}

static void end_input(struct stdio_carrier *h)
{
    log_info("EOF detected, closing input stream");
    start_ending(h, MCP_EOF_GRACE_MS);
}

static void on_eof(void *ctx)
{
    struct stdio_carrier *h = ctx;

    forget_sent(h);
    h->eof = true;
    begin_lines(h);
    lines_end(&h->lines);
    end_lines(h);
}

static void on_in_error(void *ctx, const struct pb_error *err)
{
    log_warn("stdio: %s", err->msg);
    on_eof(ctx);
}

static void on_out_error(void *ctx, const struct pb_error *err)
{
    (void)err;
    set_broken(ctx);
}

static void drain(void *carrier, loop_fn *fn, void *ctx)
{
    struct stdio_carrier *h = carrier;

    h->drained_fn = fn;
    h->drained_ctx = ctx;
    stream_read(h->in, false);
    if (h->state.now == STDIO_OPEN)
        start_ending(h, MCP_STOP_MS);
}

static void free_carrier(void *p)
{
    struct stdio_carrier *h = p;

    lines_done(&h->lines);
    buf_done(&h->ends);
    buf_done(&h->gathered);
    free(h);
}

static void on_closed(void *ctx)
{
    struct stdio_carrier *h = ctx;

    if (--h->closing)
        return;
    if (h->closed_fn)
        h->closed_fn(h->closed_ctx);
    loop_free_later(h->loop, h, free_carrier);
}

static void close_carrier(void *carrier, loop_fn *fn, void *ctx)
{
    struct stdio_carrier *h = carrier;

    h->closed_fn = fn;
    h->closed_ctx = ctx;
    h->closing = 2;
    peer_close(h->peer);
    if (h->state.now != STDIO_ENDED)
        end(h);
    stream_close(h->in, on_closed, h);
    stream_close(h->out, on_closed, h);
}

static const struct carrier_ops stdio_carrier_ops = { .drain = drain, .close = close_carrier };

struct guest_terms {
    bool guest, keep_fds;
    const char *in, *out; /* what they are called */
    loop_fn *ended;
    void *ended_ctx;
};

/* When it fails, `in` is still the caller's; `out` is closed unless it is to be kept. */
static int open_carrier(struct pb_server *server, int in, int out, const struct guest_terms *terms,
                        struct pb_error *err)
{
    static const struct lines_events line_events = { on_line, on_oversize };
    static const struct stream_events in_events = { .data = on_data,
                                                    .eof = on_eof,
                                                    .error = on_in_error };
    static const struct stream_events out_events = { .error = on_out_error, .drain = on_drain };
    struct pb_loop *loop = server_loop(server);
    struct stdio_carrier *h = NEW(struct stdio_carrier);

    *h = (struct stdio_carrier){ .server = server,
                                 .loop = loop,
                                 .state = { stdio_states, 0 },
                                 .guest = terms->guest,
                                 .ended_fn = terms->ended,
                                 .ended_ctx = terms->ended_ctx };
    if (stream_open(&h->out, loop, out, terms->keep_fds, &out_events, h, err) < 0) {
        if (!terms->keep_fds)
            close(out);
        free(h);
        return fail_in(err, "%s", terms->out);
    }
    if (stream_open(&h->in, loop, in, terms->keep_fds, &in_events, h, err) < 0) {
        stream_close(h->out, NULL, NULL);
        loop_free_later(loop, h, free);
        return fail_in(err, "%s", terms->in);
    }
    lines_init(&h->lines, server_max_request(server), &line_events, h);
    timer_init(&h->grace, loop, on_grace_over, h);
    timer_init(&h->stall, loop, on_stall, h);
    stream_set_hard_limit(h->out, (size_t)STREAM_QUEUE_HARD + STREAM_QUEUE_NOTES);
    h->peer = peer_new(server, PEER_STDIO, &stdio_peer_ops, h);
    server_add_carrier(server, &stdio_carrier_ops, h);
    stream_read(h->in, true);
    return 0;
}

int pb_server_stdio(struct pb_server *server, int in, int out, struct pb_error *err)
{
    const struct guest_terms terms = { .keep_fds = true,
                                       .in = "standard input",
                                       .out = "standard output" };

    return open_carrier(server, in, out, &terms, err);
}

int server_take_stdio(struct pb_server *server, int in, int out, loop_fn *ended, void *ctx,
                      struct pb_error *err)
{
    const struct guest_terms terms = { .guest = true,
                                       .keep_fds = true,
                                       .in = "standard input",
                                       .out = "standard output",
                                       .ended = ended,
                                       .ended_ctx = ctx };

    return open_carrier(server, in, out, &terms, err);
}

int server_take_socket(struct pb_server *server, int fd, struct pb_error *err)
{
    const struct guest_terms terms = { .guest = true, .in = "socket", .out = "socket" };
    int twin = fcntl(fd, F_DUPFD_CLOEXEC, 3);

    if (twin < 0)
        return fail_sys(err, errno, "descriptor %d", fd);
    return open_carrier(server, fd, twin, &terms, err);
}
