/* stream_fd.c - what a stream does to its descriptor, and undoes: blocking mode, terminals that are
 * shared with a shell, numbers that are in use twice. */
#include "stream_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* A kept descriptor is put back into the mode it came in, by the last stream over it. */
static void note_mode(struct stream *s, const struct stat *st)
{
    int flags = fcntl(s->fd, F_GETFL);

    s->dev = st->st_dev;
    s->ino = st->st_ino;
    s->restore = flags >= 0 && !(flags & O_NONBLOCK);
    list_append(&s->loop->kept, &s->kept);
}

static void give_back_mode(struct stream *s)
{
    struct list *pos, *safe;
    int off = 0;

    if (list_empty(&s->kept))
        return;
    list_remove(&s->kept);
    if (!s->restore)
        return;
    LIST_FOREACH(pos, safe, &s->loop->kept) {
        struct stream *other = CONTAINER_OF(pos, struct stream, kept);

        if (other->dev == s->dev && other->ino == s->ino) {
            other->restore = true;
            return;
        }
    }
    ioctl(s->fd, FIONBIO, &off);
}

/* A terminal is shared with the shell that started us; an open file of our own leaves it alone,
 * whatever happens to us. */
static void reopen_terminal(struct stream *s)
{
    char path[32];
    int flags = fcntl(s->fd, F_GETFL);
    int fd, number;

    if (ioctl(s->fd, TIOCGPTN, &number) == 0)
        return; /* a master: opening it again would make another terminal */
    snprintf(path, sizeof path, "/proc/self/fd/%d", s->fd);
    fd = open(path, (flags & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    s->fd = fd;
    s->own_fd = true;
}

/* One descriptor may be both input and output; libuv wants a number per handle. */
static int poll_init(struct stream *s)
{
    uv_loop_t *uv = loop_uv(s->loop);
    int rc = uv_poll_init(uv, &s->poll, s->fd);
    int fd;

    if (rc != UV_EEXIST)
        return rc;
    fd = fcntl(s->fd, F_DUPFD_CLOEXEC, 3);
    if (fd < 0)
        return -errno;
    s->fd = fd;
    s->own_fd = true;
    return uv_poll_init(uv, &s->poll, s->fd);
}

int stream_watch(struct stream *s)
{
    struct stat st;
    int rc, given = s->fd;

    if (fstat(s->fd, &st) < 0)
        return -errno;
    s->socket = S_ISSOCK(st.st_mode);
    s->tty = S_ISCHR(st.st_mode) && isatty(s->fd);
    if (s->tty)
        reopen_terminal(s);
    if (s->keep_fd && !s->own_fd)
        note_mode(s, &st);
    rc = poll_init(s);
    if (rc == 0) {
        s->poll.data = s;
        s->poll_state = POLL_OPEN;
    } else if (rc != UV_EPERM) {
        give_back_mode(s);
        return rc; /* what was given is untouched: it is still the caller's */
    }
    if (s->own_fd && !s->keep_fd)
        close(given);
    return rc;
}

void stream_widen(struct stream *s, bool on)
{
    if (s->wide == on || s->socket || s->tty || s->file)
        return;
    /* It cannot become narrow while it holds more than that: another time, then. */
    if (fcntl(s->fd, F_SETPIPE_SZ, on ? STREAM_READ_MAX : STREAM_READ_BYTES) >= 0 || errno != EBUSY)
        s->wide = on;
}

void stream_let_go(struct stream *s)
{
    give_back_mode(s);
    if (s->fd >= 0 && (!s->keep_fd || s->own_fd))
        close(s->fd);
    s->fd = -1;
}
