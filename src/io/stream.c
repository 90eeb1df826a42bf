/* stream.c - polled descriptors, and what files have in common with them. We poll with uv_poll_t
 * and read and write ourselves instead of using libuv's streams: one buffer for all streams, reads
 * that grow under load, no SIGPIPE, and any mix of pipe, socket and terminal behind one type. */
#include "quiet.h"
#include "stream_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

static void on_poll(uv_poll_t *p, int status, int events);

static bool writable_now(const struct stream *s)
{
    return s->queue.bytes && list_empty(&s->corked) && !s->write_over;
}

/* Polls for exactly what is wanted; changing it costs two system calls, so only on change. */
static void arm(struct stream *s)
{
    int want =
        (s->reading && !s->read_over ? UV_READABLE : 0) | (writable_now(s) ? UV_WRITABLE : 0);

    if (s->poll_state != POLL_OPEN || want == s->mask)
        return;
    s->mask = want;
    if (want)
        uv_poll_start(&s->poll, want, on_poll);
    else
        uv_poll_stop(&s->poll);
}

static void report_failure(void *ctx)
{
    struct stream *s = ctx;

    s->failure_due = false;
    if (!s->closing && s->events.error)
        s->events.error(s->ctx, &s->failure);
}

/* The event comes at the end of the turn: this may be inside stream_write(). */
static int set_failure(struct stream *s, int error, const char *doing)
{
    int rc;

    if (error == EPIPE || error == ECONNRESET)
        rc = fail(&s->failure, PB_E_CLOSED, "the other side is gone (%s)", doing);
    else
        rc = fail_sys(&s->failure, error, "%s", doing);
    if (!s->failure_due) {
        s->failure_due = true;
        loop_defer(s->loop, report_failure, s);
    }
    return rc;
}

static void report_flushed(void *ctx)
{
    struct stream *s = ctx;
    stream_flushed_fn *fn = s->flushed_fn;

    s->flushed_due = false;
    s->flushed_fn = NULL;
    if (!s->closing && fn)
        fn(s->flushed_ctx, s->flushed);
}

static void set_flushed(struct stream *s, bool flushed)
{
    timer_stop(&s->flush_timer);
    if (!s->flushed_fn || s->flushed_due)
        return;
    s->flushed = flushed;
    s->flushed_due = true;
    loop_defer(s->loop, report_flushed, s);
}

static void free_stream(void *p)
{
    struct stream *s = p;

    queue_clear(&s->queue);
    if (s->file) {
        buf_done(&s->file->in);
        free(s->file);
    }
    free(s);
}

/* After the last callback of the poll handle: nothing refers to s but the turn itself. */
static void closed(void *ctx)
{
    struct stream *s = ctx;

    loop_closing_end(s->loop);
    if (s->closed_fn)
        s->closed_fn(s->closed_ctx);
    loop_free_later(s->loop, s, free_stream);
}

static void on_poll_closed(uv_handle_t *h)
{
    struct stream *s = h->data;

    s->poll_state = POLL_NONE;
    if (s->closing)
        closed(s);
}

/* Always together with the descriptor: libuv forgets a number when its handle closes, and the
 * number may be somebody else's by then. */
static void close_poll(struct stream *s)
{
    if (s->poll_state != POLL_OPEN)
        return;
    s->poll_state = POLL_CLOSING;
    s->mask = 0;
    uv_close((uv_handle_t *)&s->poll, on_poll_closed);
}

static void end_writing(struct stream *s)
{
    if (s->keep_fd || s->fd < 0)
        return;
    if (s->socket) {
        shutdown(s->fd, SHUT_WR);
    } else if ((fcntl(s->fd, F_GETFL) & O_ACCMODE) == O_WRONLY) {
        close_poll(s);
        close(s->fd);
        s->fd = -1;
    }
}

static void check_flushed(struct stream *s)
{
    if (!s->write_ended || s->queue.bytes)
        return;
    end_writing(s);
    set_flushed(s, true);
}

void stream_written(struct stream *s, size_t n, int error)
{
    queue_drop(&s->queue, n);
    if (error && error != EAGAIN) {
        s->write_over = true;
        queue_clear(&s->queue);
        set_failure(s, error, "write");
        set_flushed(s, false);
        return;
    }
    check_flushed(s);
    if (s->was_full && s->queue.bytes < STREAM_QUEUE_HIGH) {
        s->was_full = false;
        if (s->events.drain)
            s->events.drain(s->ctx);
    }
}

static void flush(struct stream *s)
{
    struct iovec iov[QUEUE_IOV];
    int n = queue_peek(&s->queue, iov);
    ssize_t done = quiet_writev(s->fd, s->socket, iov, n);

    stream_written(s, done > 0 ? (size_t)done : 0, done < 0 ? errno : 0);
}

void stream_received(struct stream *s, const char *p, size_t n, int error)
{
    if (error == EIO && s->tty)
        error = 0; /* a terminal that hung up */
    if (n) {
        if (s->events.data)
            s->events.data(s->ctx, span_make(p, n));
        return;
    }
    s->read_over = true;
    if (error)
        set_failure(s, error, "read");
    else if (s->events.eof)
        s->events.eof(s->ctx);
}

static void take(struct stream *s)
{
    size_t room = s->read_size;
    char *p = s->events.room ? s->events.room(s->ctx, &room) : NULL;
    ssize_t n;

    stream_widen(s, p);
    if (!p) {
        room = s->read_size;
        p = loop_read_buffer(s->loop, room);
    }
    do {
        n = s->socket ? recv(s->fd, p, room, MSG_DONTWAIT) : read(s->fd, p, room);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && errno == EAGAIN)
        return;
    /* A long message comes in few large reads; small ones do not pay for it. */
    if (n == (ssize_t)room && room < STREAM_READ_MAX)
        s->read_size = room * 2;
    else if (n < STREAM_READ_BYTES)
        s->read_size = STREAM_READ_BYTES;
    stream_received(s, p, n > 0 ? (size_t)n : 0, n < 0 ? errno : 0);
}

static void on_poll(uv_poll_t *p, int status, int events)
{
    struct stream *s = p->data;

    /* libuv stops the handle on EPOLLERR and does not tell the cause; the system calls do. */
    if (status < 0) {
        s->mask = 0;
        events = UV_READABLE | UV_WRITABLE;
    }
    if ((events & UV_WRITABLE) && writable_now(s)) {
        loop_mark(s->loop, "stream write");
        flush(s);
    }
    if ((events & UV_READABLE) && s->reading && !s->read_over && !s->closing) {
        loop_mark(s->loop, "stream data");
        take(s);
    }
    arm(s);
}

void stream_flush_corked(struct pb_loop *l)
{
    while (!list_empty(&l->corked)) {
        struct stream *s = CONTAINER_OF(l->corked.next, struct stream, corked);

        list_remove(&s->corked);
        if (s->queue.bytes && !s->write_over)
            flush(s);
        arm(s);
    }
}

static void on_flush_timeout(void *ctx) { set_flushed(ctx, false); }

static struct stream *stream_new(struct pb_loop *l, int fd, bool keep_fd,
                                 const struct stream_events *events, void *ctx)
{
    struct stream *s = NEW(struct stream);

    s->loop = l;
    s->fd = fd;
    s->keep_fd = keep_fd;
    s->events = *events;
    s->ctx = ctx;
    s->read_size = STREAM_READ_BYTES;
    s->hard = STREAM_QUEUE_HARD;
    list_init(&s->corked);
    list_init(&s->kept);
    timer_init(&s->flush_timer, l, on_flush_timeout, s);
    return s;
}

int stream_open(struct stream **out, struct pb_loop *l, int fd, bool keep_fd,
                const struct stream_events *events, void *ctx, struct pb_error *err)
{
    struct stream *s = stream_new(l, fd, keep_fd, events, ctx);
    int rc = stream_watch(s);

    if (rc == UV_EPERM) {
        file_open(s);
    } else if (rc < 0) {
        if (s->own_fd)
            close(s->fd);
        free(s);
        return fail_sys(err, -rc, "use descriptor %d as a stream", fd);
    }
    *out = s;
    return 0;
}

static void deferred_pump(void *ctx)
{
    struct stream *s = ctx;

    if (!s->closing)
        file_pump(s);
}

void stream_read(struct stream *s, bool on)
{
    if (s->reading == on || s->closing)
        return;
    s->reading = on;
    if (s->file)
        loop_defer(s->loop, deferred_pump, s);
    else
        arm(s);
}

/* Returns how many bytes went out, or -1 after a failure. */
static ssize_t write_parts(struct stream *s, const struct span *parts, size_t n)
{
    ssize_t total = 0;

    for (size_t i = 0; i < n;) {
        struct iovec iov[QUEUE_IOV];
        size_t bytes = 0;
        int k = 0;
        ssize_t done;

        for (; i < n && k < QUEUE_IOV; i++) {
            if (parts[i].n)
                iov[k++] = (struct iovec){ (char *)parts[i].p, parts[i].n };
            bytes += parts[i].n;
        }
        done = k ? quiet_writev(s->fd, s->socket, iov, k) : 0;
        if (done < 0)
            return errno == EAGAIN ? total : -1;
        total += done;
        if ((size_t)done < bytes)
            break;
    }
    return total;
}

/* The first write of a turn leaves at once; more small ones are put together and leave at its
 * end: a batch of answers is one system call. */
static bool cork(struct stream *s, size_t bytes)
{
    struct pb_loop *l = s->loop;
    bool again = l->in_turn && s->wrote_in == l->turn;

    s->wrote_in = l->turn;
    if (!list_empty(&s->corked)) {
        if (s->queue.bytes + bytes <= STREAM_CORK_BYTES)
            return true;
        list_remove(&s->corked);
        flush(s);
        return false;
    }
    if (!again || s->queue.bytes || bytes > STREAM_CORK_BYTES)
        return false;
    list_append(&l->corked, &s->corked);
    return true;
}

int stream_write(struct stream *s, const struct span *parts, size_t n, struct pb_error *err)
{
    size_t bytes = spans_size(parts, n);
    ssize_t done = 0;

    if (s->closing || s->write_ended)
        return fail(err, PB_E_CLOSED, "the stream has been closed for writing");
    if (s->write_over)
        return fail_copy(err, &s->failure);
    if (bytes > s->hard || s->queue.bytes > s->hard - bytes)
        return fail(err, PB_E_LIMIT,
                    "the reader is too slow: %zu bytes wait for it, %zu are allowed",
                    s->queue.bytes, s->hard);
    if (bytes > STREAM_READ_MAX || (s->wide && !s->queue.bytes))
        stream_widen(s, bytes > STREAM_READ_MAX);
    if (!s->file && !cork(s, bytes) && !s->queue.bytes && !s->write_over)
        done = write_parts(s, parts, n);
    if (s->write_over || done < 0) {
        if (done < 0) {
            s->write_over = true;
            set_failure(s, errno, "write");
        }
        return fail_copy(err, &s->failure);
    }
    if ((size_t)done < bytes)
        queue_add(&s->queue, parts, n, (size_t)done);
    s->was_full |= stream_full(s);
    if (s->file)
        file_pump(s);
    else
        arm(s);
    return 0;
}

size_t stream_queued(const struct stream *s) { return s->queue.bytes; }

bool stream_full(const struct stream *s) { return s->queue.bytes > STREAM_QUEUE_HIGH; }

void stream_set_hard_limit(struct stream *s, size_t bytes) { s->hard = bytes; }

void stream_shutdown(struct stream *s, uint64_t timeout_ms, stream_flushed_fn *fn, void *ctx)
{
    s->flushed_fn = fn;
    s->flushed_ctx = ctx;
    s->write_ended = true;
    if (s->write_over)
        set_flushed(s, false);
    else
        check_flushed(s);
    if (!s->flushed_due && fn && timeout_ms)
        timer_start(&s->flush_timer, timeout_ms);
}

void stream_finish_close(struct stream *s)
{
    if (s->file && (s->file->reading || s->file->writing))
        return;
    close_poll(s);
    stream_let_go(s);
    if (s->poll_state == POLL_NONE)
        loop_defer(s->loop, closed, s);
}

void stream_hangup(struct stream *s)
{
    if (s->closing || s->file)
        return;
    list_remove(&s->corked);
    queue_clear(&s->queue);
    s->read_over = s->write_ended = true;
    set_flushed(s, false);
    close_poll(s);
    stream_let_go(s);
}

void stream_close(struct stream *s, loop_fn *fn, void *ctx)
{
    if (s->closing)
        return;
    s->closing = true;
    s->closed_fn = fn;
    s->closed_ctx = ctx;
    loop_closing_begin(s->loop);
    timer_stop(&s->flush_timer);
    list_remove(&s->corked);
    stream_finish_close(s);
}
