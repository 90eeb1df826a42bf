/* otlp.c - how it goes: a call is recorded, a moment later all that are newer than the last one
 * that was sent are read from the store, newest first, written as spans and sent in one request. */
#include "gate_impl.h"
#include "io/http/http.h"
#include <stdio.h>

enum otlp_state { OTLP_IDLE, OTLP_SOON, OTLP_READING, OTLP_SENDING };

struct otlp {
    struct gate *gate;
    struct pb_loop *loop;
    struct http_client *http; /* NULL until something is sent */
    char *url;
    enum otlp_state state;
    bool more;      /* recorded since it was read */
    bool complains; /* the collector was told of as away */
    struct timer timer;
    struct store_read *read;
    struct http_call *call;
    int status;
    uint64_t last, newest; /* numbers: sent, and being sent */
    size_t n;              /* spans in the body */
    struct buf body;
    loop_fn *closed;
    void *closed_ctx;
};

static void read_page(struct otlp *x, uint64_t before);

static void wait_a_moment(struct otlp *x, uint64_t ms)
{
    x->state = OTLP_SOON;
    x->more = false;
    timer_start_weak(&x->timer, ms);
}

static void rest(struct otlp *x)
{
    x->state = OTLP_IDLE;
    if (x->more)
        wait_a_moment(x, OTLP_WAIT_MS);
}

/* ---- sending ---- */

static void on_head(void *ctx, int status) { ((struct otlp *)ctx)->status = status; }

static size_t on_data(void *ctx, struct span bytes)
{
    (void)ctx; /* a partial success is not sent again */
    return bytes.n;
}

static void try_later(struct otlp *x, const char *why)
{
    if (!x->complains)
        log_warn("otlp_url: %s; it is tried again", why);
    x->complains = true;
    wait_a_moment(x, OTLP_RETRY_MS);
}

static void on_done(void *ctx, const struct pb_error *err)
{
    struct otlp *x = ctx;
    char why[32];

    x->call = NULL;
    if (err) {
        try_later(x, err->msg);
        return;
    }
    if (x->status < 200 || x->status > 299) {
        snprintf(why, sizeof why, "HTTP %d", x->status);
        /* Who does not want it now will not want it later, but for being busy. */
        if (x->status == 429 || x->status >= 500) {
            try_later(x, why);
            return;
        }
        log_warn("otlp_url: %s; %zu calls are not sent", why, x->n);
    }
    x->complains = false;
    x->last = x->newest;
    rest(x);
}

static void send_body(struct otlp *x)
{
    static const struct http_client_events events = { on_head, on_data, on_done };
    static const char *const headers[] = { "Content-Type: application/json", NULL };
    struct http_client_request request = {
        .url = x->url, .headers = headers, .has_body = true, .total_ms = OTLP_SEND_MS
    };
    struct pb_error err;

    export_end(&x->body, EXPORT_OTLP);
    request.body = buf_span(&x->body);
    if (!x->http)
        x->http = http_client_new(x->loop);
    x->state = OTLP_SENDING;
    if (http_client_send(x->http, &x->call, &request, &events, x, &err) < 0)
        try_later(x, err.msg);
}

/* ---- reading ---- */

static void add_call(struct otlp *x, const struct call_record *c)
{
    static const struct export_bytes none; /* what was said is nobody's who counts calls */

    if (x->n++)
        buf_str(&x->body, export_between(EXPORT_OTLP));
    export_call(&x->body, EXPORT_OTLP, c, &none);
    if (c->no > x->newest)
        x->newest = c->no;
}

static void on_page(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    struct otlp *x = ctx;
    bool all = !err && !p->next;

    x->read = NULL;
    if (err) { /* what could not be read is not passed over */
        try_later(x, err->msg);
        return;
    }
    for (size_t i = 0; i < p->n && x->n < OTLP_BATCH_MAX; i++) {
        if (p->v[i].no <= x->last) {
            all = true;
            break;
        }
        add_call(x, &p->v[i]);
    }
    if (!all && x->n < OTLP_BATCH_MAX) {
        read_page(x, p->next);
        return;
    }
    if (!all)
        log_warn("otlp_url: more than %d calls at once; older ones are not sent", OTLP_BATCH_MAX);
    if (x->n && x->url)
        send_body(x);
    else
        rest(x);
}

static void read_page(struct otlp *x, uint64_t before)
{
    x->state = OTLP_READING;
    x->read =
        store_find(gate_store(x->gate),
                   &(struct call_query){ .before = before, .limit = STORE_PAGE_MAX }, on_page, x);
    if (!x->read)
        x->state = OTLP_IDLE;
}

/* What was recorded before the collector was named is not for it. */
static void on_newest(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    struct otlp *x = ctx;

    x->read = NULL;
    x->last = !err && p->n ? p->v[0].no : 0;
    rest(x);
}

static void on_timer(void *ctx)
{
    struct otlp *x = ctx;

    x->body.n = 0;
    x->n = 0;
    x->newest = x->last;
    export_begin(&x->body, EXPORT_OTLP);
    read_page(x, 0);
}

static void on_recorded(void *ctx)
{
    struct otlp *x = ctx;

    if (!x->url)
        return;
    x->more = true;
    if (x->state == OTLP_IDLE)
        wait_a_moment(x, OTLP_WAIT_MS);
}

/* ---- life ---- */

struct otlp *otlp_new(struct gate *g)
{
    struct otlp *x = NEW(struct otlp);

    x->gate = g;
    x->loop = hub_loop(gate_hub(g));
    timer_init(&x->timer, x->loop, on_timer, x);
    gate_listen(g, &(struct gate_listener){ .recorded = on_recorded, .ctx = x });
    return x;
}

void otlp_set_url(struct otlp *x, const char *url)
{
    static const char path[] = "/v1/traces";
    AUTO_BUF struct buf whole = { 0 };
    struct span base = url ? span_of(url) : SPAN("");
    bool begins;

    while (base.n && base.p[base.n - 1] == '/')
        base.n--;
    buf_add_span(&whole, base);
    if (base.n < sizeof path || strcmp(buf_cstr(&whole) + base.n - strlen(path), path) != 0)
        buf_str(&whole, path);
    begins = base.n && !x->url;
    free(x->url);
    x->url = base.n ? mem_dup(buf_cstr(&whole)) : NULL;
    if (!begins || x->state != OTLP_IDLE || !gate_store(x->gate))
        return;
    x->state = OTLP_READING;
    x->read = store_find(gate_store(x->gate), &(struct call_query){ .limit = 1 }, on_newest, x);
    if (!x->read)
        x->state = OTLP_IDLE;
}

static void on_closed(void *ctx)
{
    struct otlp *x = ctx;
    loop_fn *fn = x->closed;
    void *fn_ctx = x->closed_ctx;

    buf_done(&x->body);
    free(x->url);
    free(x);
    fn(fn_ctx);
}

void otlp_close(struct otlp *x, loop_fn *fn, void *ctx)
{
    gate_unlisten(x->gate, x);
    timer_stop(&x->timer);
    if (x->read)
        store_cancel(TAKE(x->read));
    x->closed = fn;
    x->closed_ctx = ctx;
    if (x->http)
        http_client_close(TAKE(x->http), on_closed, x);
    else
        loop_defer(x->loop, on_closed, x);
}
