#include "http_conn.h"
#include <stdio.h>

struct http_request *http_request_new(struct http_conn *c)
{
    struct http_request *r = spare_take(sizeof *r);

    *r = (struct http_request){
        .conn = c,
        .loop = c->server->loop,
        .bodies = tally_ref(c->server->bodies),
    };
    http1_init(&r->in, c->server->max_body);
    return r;
}

void http_request_weigh(struct http_request *r)
{
    size_t now = r->in.body.cap;

    r->bodies->bytes += now - r->counted;
    r->counted = now;
}

void http_request_free(struct http_request *r)
{
    if (r->counter)
        --*r->counter;
    http1_done(&r->in);
    http_request_weigh(r);
    tally_unref(r->bodies);
    free(r->fields);
    spare_give(r, sizeof *r);
}

static void run_gone(void *ctx)
{
    struct http_request *r = ctx;
    loop_fn *fn = r->gone;

    r->gone = NULL;
    if (fn && r->answer != ANSWER_DONE)
        fn(r->gone_ctx);
    http_request_free(r);
}

void http_request_lost(struct http_request *r)
{
    r->conn = NULL;
    r->drain = NULL;
    if (!r->gone)
        return; /* its handler cannot know: the request stays until it is answered */
    r->in_gone = true;
    run_gone(r);
}

void http_on_gone(struct http_request *r, loop_fn *fn, void *ctx)
{
    r->gone = fn;
    r->gone_ctx = ctx;
    if (!r->conn && fn && !r->in_gone) {
        r->in_gone = true;
        loop_defer(r->loop, run_gone, r);
    }
}

void http_count(struct http_request *r, size_t *counter)
{
    r->counter = counter;
    ++*counter;
}

struct span http_method(const struct http_request *r) { return http1_method(&r->in); }

struct span http_target(const struct http_request *r) { return http1_target(&r->in); }

static size_t path_length(struct span target)
{
    const char *mark = target.n ? memchr(target.p, '?', target.n) : NULL;

    return mark ? (size_t)(mark - target.p) : target.n;
}

struct span http_path(const struct http_request *r)
{
    struct span target = http1_target(&r->in);

    return span_make(target.p, path_length(target));
}

struct span http_query(const struct http_request *r)
{
    struct span target = http1_target(&r->in);
    size_t n = path_length(target);

    return n < target.n ? span_from(target, n + 1) : span_make(target.p + n, 0);
}

struct span http_body(const struct http_request *r) { return buf_span(&r->in.body); }

void http_wipe_body(struct http_request *r)
{
    if (r->in.body.n)
        explicit_bzero(r->in.body.p, r->in.body.n);
}

struct blob *http_take_body(struct http_request *r)
{
    struct blob *body;

    http_request_weigh(r);
    body = blob_take_buf(&r->in.body);
    blob_set_tally(body, r->bodies, r->counted);
    r->counted = 0;
    return body;
}

struct span http_header_span(const struct http_request *r, struct span name, size_t *count)
{
    return http1_find(&r->in, name, count);
}

struct span http_repeated(const struct http_request *r, const char *prefix)
{
    size_t n = strlen(prefix), count;

    for (size_t i = 0; r->in.twice && i < r->in.n_fields; i++) {
        struct span name = http1_name(&r->in, i);

        if (name.n < n || !span_is_nocase(span_make(name.p, n), prefix))
            continue;
        http1_find(&r->in, name, &count);
        if (count > 1)
            return name;
    }
    return (struct span){ 0 };
}

size_t http_fields(const struct http_request *r, const struct http_field **out)
{
    /* Kept inside, but no one can tell. */
    struct http_request *self = (struct http_request *)(uintptr_t)r;
    size_t n = r->in.n_fields;

    if (!r->fields) {
        self->fields = mem_alloc(n * sizeof *r->fields);
        for (size_t i = 0; i < n; i++)
            self->fields[i] = (struct http_field){ http1_name(&r->in, i), http1_value(&r->in, i) };
    }
    *out = r->fields;
    return n;
}

void http_on_drain(struct http_request *r, loop_fn *fn, void *ctx)
{
    r->drain = fn;
    r->drain_ctx = ctx;
}

size_t http_unread(const struct http_request *r) { return r->conn ? conn_queued(r->conn) : 0; }

bool http_full(const struct http_request *r) { return http_unread(r) > STREAM_QUEUE_HIGH; }
