/* stream_impl.h - what the files of the stream share.
 *
 *   stream.c         polled descriptors, and what files have in common with them
 *   stream_fd.c      what is done to a descriptor, and undone
 *   stream_file.c    plain files, which cannot be polled
 *   stream_queue.c   bytes that wait to be written */
#pragma once
#include "loop_impl.h"
#include "stream.h"
#include <sys/uio.h>

enum { QUEUE_IOV = 64 }; /* pieces in one write */

struct chunk {
    struct chunk *next;
    size_t off, n, cap; /* bytes[off..n) are to be written */
    char bytes[];
};

struct stream_queue {
    struct chunk *head, *tail;
    size_t bytes;
};

/* Copies parts without their first `skip` bytes. */
void queue_add(struct stream_queue *q, const struct span *parts, size_t n, size_t skip);
/* Fills iov (QUEUE_IOV of them) from the front; returns how many. */
int queue_peek(const struct stream_queue *q, struct iovec *iov);
void queue_drop(struct stream_queue *q, size_t n);
void queue_clear(struct stream_queue *q);

/* The descriptor kinds that epoll refuses: plain files and /dev/null. At most one read and one
 * write job at a time. */
struct stream_file {
    struct job reader, writer;
    bool reading, writing; /* on the pool now */
    struct buf in;
    bool in_held; /* what was read waits for reading to be on again */
    struct iovec iov[QUEUE_IOV];
    int iov_n;
    ssize_t got, put;
    int in_errno, out_errno;
};

struct stream {
    struct pb_loop *loop;
    struct stream_events events;
    void *ctx;
    int fd;
    bool socket, tty, keep_fd, own_fd; /* own_fd: a duplicate of a kept one */
    uv_poll_t poll;
    enum { POLL_NONE, POLL_OPEN, POLL_CLOSING } poll_state;
    int mask; /* what is polled for now */
    size_t read_size;

    bool reading, read_over;      /* over: end of file or failed */
    bool write_over, write_ended; /* failed; ended by shutdown */
    struct stream_queue queue;
    size_t hard;
    bool was_full;
    bool wide;          /* its pipe holds more than most, for a long message */
    struct list corked; /* in the loop's list while small writes are put together */
    uint64_t wrote_in;  /* turn of the last write */
    struct pb_error failure;
    bool failure_due;

    stream_flushed_fn *flushed_fn;
    void *flushed_ctx;
    bool flushed, flushed_due;
    struct timer flush_timer;

    /* Kept descriptors may share one open file: 0, 1 and 2 of a terminal do. The last of them
     * puts the blocking mode back. */
    struct list kept;
    dev_t dev;
    ino_t ino;
    bool restore;

    bool closing;
    loop_fn *closed_fn;
    void *closed_ctx;
    struct stream_file *file; /* NULL: polled */
};

/* The rest of the bytes came back from a write: 0 is fine, otherwise errno. */
void stream_written(struct stream *s, size_t n, int error);
/* Hands on what a read gave: n bytes, 0 at the end, or an errno in `error`. */
void stream_received(struct stream *s, const char *p, size_t n, int error);
void stream_finish_close(struct stream *s);
/* Closes the descriptor at once and drops what is queued, without an event; the stream itself
 * stays, and writing to it fails. Not for files. */
void stream_hangup(struct stream *s);

/* Looks what the descriptor is and makes it ready; UV_EPERM: it cannot be polled. */
/* A pipe that a long message goes through holds more of it at a time: each fill and each drain is a
 * change of process. Given back afterwards, as a user may have only so much of it. */
void stream_widen(struct stream *s, bool on);
int stream_watch(struct stream *s);
/* Gives it back, or closes it. */
void stream_let_go(struct stream *s);

void file_open(struct stream *s);
void file_pump(struct stream *s);
