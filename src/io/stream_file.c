/* stream_file.c - a stream over what epoll refuses: plain files and /dev/null, as stdin or stdout
 * often are. Each read and write is a job of the worker pool, as a disk may take its time. */
#include "quiet.h"
#include "stream_impl.h"
#include <errno.h>

static void read_job(void *ctx)
{
    struct stream *s = ctx;
    struct stream_file *f = s->file;

    do {
        f->got = read(s->fd, f->in.p, f->in.cap);
    } while (f->got < 0 && errno == EINTR);
    f->in_errno = f->got < 0 ? errno : 0;
}

static void read_done(void *ctx)
{
    struct stream *s = ctx;
    struct stream_file *f = s->file;

    f->reading = false;
    if (s->closing) {
        stream_finish_close(s);
        return;
    }
    /* Paused meanwhile: the bytes stay where they are until reading is on again. */
    f->in.n = f->got > 0 ? (size_t)f->got : 0;
    f->in_held = true;
    file_pump(s);
}

static void write_job(void *ctx)
{
    struct stream *s = ctx;
    struct stream_file *f = s->file;

    f->put = quiet_writev(s->fd, false, f->iov, f->iov_n);
    f->out_errno = f->put < 0 ? errno : 0;
}

static void write_done(void *ctx)
{
    struct stream *s = ctx;
    struct stream_file *f = s->file;

    f->writing = false;
    if (s->closing) {
        stream_finish_close(s);
        return;
    }
    stream_written(s, f->put > 0 ? (size_t)f->put : 0, f->out_errno);
    if (!s->closing)
        file_pump(s);
}

void file_open(struct stream *s)
{
    s->file = NEW(struct stream_file);
    s->file->reader = (struct job){ .work = read_job, .done = read_done, .ctx = s };
    s->file->writer = (struct job){ .work = write_job, .done = write_done, .ctx = s };
}

static void deliver(struct stream *s)
{
    struct stream_file *f = s->file;
    size_t n = f->in.n;

    f->in_held = false;
    f->in.n = 0;
    stream_received(s, f->in.p, n, f->in_errno);
}

void file_pump(struct stream *s)
{
    struct stream_file *f = s->file;

    if (s->reading && f->in_held)
        deliver(s);
    if (s->closing)
        return;
    if (s->reading && !s->read_over && !f->reading && !f->in_held) {
        buf_reserve(&f->in, STREAM_READ_BYTES);
        f->reading = true;
        work_push(s->loop, &f->reader);
    }
    if (s->queue.bytes && !s->write_over && !f->writing) {
        f->iov_n = queue_peek(&s->queue, f->iov);
        f->writing = true;
        work_push(s->loop, &f->writer);
    }
}
