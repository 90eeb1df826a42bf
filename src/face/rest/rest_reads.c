/* rest_reads.c - requests that the store answers. Who goes away meanwhile is not answered, and the
 * work ends soon. */
#include "gate/gate.h"
#include "io/http/http.h"
#include "rest_impl.h"

static void read_free(struct rest_read *w)
{
    list_remove(&w->in_rest);
    if (w->rest)
        w->rest->reads_n--;
    if (w->done)
        w->done(w);
    free(w);
}

/* Nobody waits for it any more. What a worker has in hand is freed when it gives it back. */
static void leave(struct rest_read *w)
{
    w->r = NULL;
    if (w->read)
        store_cancel(TAKE(w->read));
    if (!w->working)
        read_free(w);
}

static void on_gone(void *ctx) { leave(ctx); }

struct store *rest_store_of(const struct rest_call *c)
{
    return c->rest->gate ? gate_store(c->rest->gate) : NULL;
}

void *rest_read_new(struct rest_call *c, size_t size, void (*done)(struct rest_read *w))
{
    struct rest_read *w;

    if (c->rest->reads_n >= REST_READS_MAX) {
        rest_fail(c->r,
                  &(struct rest_failure){ 503, "busy", .message = "Too many look into the records",
                                          .next = "try again in a moment" });
        return NULL;
    }
    w = mem_zero(size);
    w->rest = c->rest;
    w->store = rest_store_of(c);
    w->r = c->r;
    w->done = done;
    list_append(&c->rest->reads, &w->in_rest);
    c->rest->reads_n++;
    http_on_gone(c->r, on_gone, w);
    return w;
}

void rest_read_begin(struct rest_read *w, struct store_read *read)
{
    w->read = read;
    if (!read)
        rest_read_fail(w, &(struct pb_error){ .code = PB_E_CLOSED });
}

static void work(void *ctx)
{
    struct rest_read *w = ctx;

    w->work(w);
}

static void worked(void *ctx)
{
    struct rest_read *w = ctx;

    w->working = false;
    if (w->r)
        w->worked(w);
    else
        read_free(w);
}

void rest_read_work(struct rest_read *w, void (*on_worker)(struct rest_read *w),
                    void (*then)(struct rest_read *w))
{
    struct pb_error err;

    w->work = on_worker;
    w->worked = then;
    w->working = true;
    if (loop_work(w->rest->loop, work, worked, w, &err) < 0) {
        w->working = false;
        rest_read_fail(w, &err);
    }
}

void rest_read_end(struct rest_read *w) { read_free(w); }

void rest_read_fail(struct rest_read *w, const struct pb_error *err)
{
    struct http_request *r = w->r;

    read_free(w);
    if (err->code == PB_E_CLOSED)
        rest_fail(r, &(struct rest_failure){ 503, "stopping", .message = "Patchbay is stopping" });
    else if (err->code == PB_E_INVALID)
        rest_fail(r, &(struct rest_failure){ 400, "invalid_request", .message = err->msg });
    else if (err->code == PB_E_BUSY)
        rest_fail(r, &(struct rest_failure){ 503, "busy", .message = err->msg,
                                             .next = "try again in a moment" });
    else if (err->code == PB_E_TIMEOUT)
        rest_fail(r, &(struct rest_failure){ 504, "records_slow", .message = err->msg,
                                             .next = "ask for less, or for fewer words" });
    else
        rest_fail(r, &(struct rest_failure){ 500, "records_not_read", .message = err->msg,
                                             .next = "GET /api/store tells which file it is" });
}

void rest_reads_end(struct rest *s)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->reads) {
        struct rest_read *w = CONTAINER_OF(pos, struct rest_read, in_rest);
        struct http_request *r = w->r;

        list_remove(&w->in_rest);
        s->reads_n--;
        w->rest = NULL;
        leave(w);
        if (r)
            rest_fail(r,
                      &(struct rest_failure){ 503, "stopping", .message = "Patchbay is stopping" });
    }
}
