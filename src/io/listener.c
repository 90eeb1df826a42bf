#include "listener.h"
#include "loop_impl.h"
#include "readable.h"
#include <errno.h>
#include <sys/socket.h>

struct listener {
    struct pb_loop *loop;
    int fd;
    struct readable *readable; /* NULL: it backs off */
    struct timer again;
    bool starved; /* of descriptors, and that has been logged */
    bool freed;
    listener_fn *fn;
    void *ctx;
};

static void back_off(struct listener *s)
{
    readable_free(TAKE(s->readable));
    timer_start_weak(&s->again, HTTP_ACCEPT_RETRY_MS);
}

/* What is left in the backlog after these comes with the next turn. */
static void on_connection(void *ctx)
{
    struct listener *s = ctx;

    loop_mark(s->loop, "accept");
    for (int i = 0; i < HTTP_ACCEPTS_PER_TURN && !s->freed; i++) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            s->starved = false;
            s->fn(s->ctx, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            if (!s->starved)
                log_warn("no more connections can be accepted for now: %s", uv_err_name(-errno));
            s->starved = true;
            back_off(s);
            return;
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

static void listen_again(void *ctx)
{
    struct listener *s = ctx;
    struct pb_error err;

    if (readable_new(&s->readable, s->loop, s->fd, on_connection, s, &err) < 0)
        timer_start_weak(&s->again, HTTP_ACCEPT_RETRY_MS);
}

int listener_new(struct listener **out, struct pb_loop *l, int fd, listener_fn *fn, void *ctx,
                 struct pb_error *err)
{
    struct listener *s = NEW(struct listener);
    int rc;

    *s = (struct listener){ .loop = l, .fd = fd, .fn = fn, .ctx = ctx };
    timer_init(&s->again, l, listen_again, s);
    rc = readable_new(&s->readable, l, fd, on_connection, s, err);
    if (rc < 0) {
        free(s);
        return rc;
    }
    *out = s;
    return 0;
}

void listener_free(struct listener *s)
{
    if (!s)
        return;
    s->freed = true;
    timer_stop(&s->again);
    readable_free(TAKE(s->readable));
    loop_free_later(s->loop, s, free);
}
