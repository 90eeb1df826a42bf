#include "readable.h"
#include <uv.h>

struct readable {
    uv_poll_t poll;
    struct pb_loop *loop;
    loop_fn *fn;
    void *ctx;
};

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct readable *r = poll->data;

    (void)status; /* an error shows when it is read */
    (void)events;
    r->fn(r->ctx);
}

static void on_closed(uv_handle_t *handle)
{
    struct readable *r = handle->data;

    loop_closing_end(r->loop);
    free(r);
}

void readable_free(struct readable *r)
{
    if (!r)
        return;
    loop_closing_begin(r->loop);
    uv_poll_stop(&r->poll); /* the descriptor leaves the loop here, before it is closed */
    uv_close((uv_handle_t *)&r->poll, on_closed);
}

int readable_new(struct readable **out, struct pb_loop *l, int fd, loop_fn *fn, void *ctx,
                 struct pb_error *err)
{
    struct readable *r = NEW(struct readable);
    int rc = uv_poll_init(loop_uv(l), &r->poll, fd);

    if (rc < 0) {
        free(r);
        return fail_sys(err, -rc, "watch descriptor %d", fd);
    }
    r->loop = l;
    r->fn = fn;
    r->ctx = ctx;
    r->poll.data = r;
    rc = uv_poll_start(&r->poll, UV_READABLE, on_poll);
    if (rc < 0) {
        readable_free(r);
        return fail_sys(err, -rc, "watch descriptor %d", fd);
    }
    *out = r;
    return 0;
}
