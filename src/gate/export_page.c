/* export_page.c - some recorded calls with their bytes: a page of records is found, then the bytes
 * of each are fetched, one after the other, and it is written. */
#include "export.h"

/* Of a call that is written on the loop; more by a worker. */
enum { EXPORT_SMALL_BYTES = EXPORT_PAGE_BYTES / 16 };

struct export_read {
    struct pb_loop *loop;
    struct store *store;
    enum export_format format;
    export_page_fn *fn;
    void *ctx;
    struct store_read *read; /* is under way */
    struct arena arena;
    struct call_record *calls; /* copies */
    size_t n, at;
    uint64_t next;
    struct buf arguments, result, text;
    bool has_arguments, has_result;
    bool writing, cancelled; /* a worker has it; and nobody wants it any more */
};

/* The strings of a record. */
static const size_t strings[] = {
    offsetof(struct call_record, r.uuid),         offsetof(struct call_record, r.source),
    offsetof(struct call_record, r.face),         offsetof(struct call_record, r.method),
    offsetof(struct call_record, r.caller),       offsetof(struct call_record, r.run),
    offsetof(struct call_record, r.conversation), offsetof(struct call_record, r.server),
    offsetof(struct call_record, r.tool),         offsetof(struct call_record, r.status),
    offsetof(struct call_record, r.note),         offsetof(struct call_record, r.parent),
    offsetof(struct call_record, r.question),     offsetof(struct call_record, r.answered_by),
    offsetof(struct call_record, r.rule),         offsetof(struct call_record, r.trace),
    offsetof(struct call_record, arguments_cid),  offsetof(struct call_record, result_cid),
    offsetof(struct call_record, definition_cid), offsetof(struct call_record, redacted),
};

static void keep(struct export_read *r, struct call_record *to, const struct call_record *from)
{
    *to = *from;
    for (size_t i = 0; i < ARRAY_LEN(strings); i++) {
        const char **at = (const char **)(void *)((char *)to + strings[i]);

        *at = *at ? arena_dup(&r->arena, span_of(*at)) : NULL;
    }
}

static void export_free(struct export_read *r)
{
    arena_done(&r->arena);
    buf_done(&r->arguments);
    buf_done(&r->result);
    buf_done(&r->text);
    free(r);
}

static void finish(struct export_read *r, const struct pb_error *err)
{
    r->fn(r->ctx, err ? SPAN("") : buf_span(&r->text), r->next, err);
    export_free(r);
}

static void fetch(struct export_read *r);

static bool is_there(const char *cid) { return cid && *cid; }

static void write_one(struct export_read *r)
{
    struct export_bytes bytes = { 0 };

    if (r->has_arguments)
        bytes.arguments = r->arguments.p ? buf_span(&r->arguments) : SPAN("");
    if (r->has_result)
        bytes.result = r->result.p ? buf_span(&r->result) : SPAN("");
    if (r->at)
        buf_str(&r->text, export_between(r->format));
    export_call(&r->text, r->format, &r->calls[r->at], &bytes);
    r->at++;
}

/* That bytes are gone is no reason to leave the call out; that the store closes is one to end. */
static bool is_over(struct export_read *r, const struct pb_error *err)
{
    if (!err || err->code == PB_E_NOT_FOUND || err->code == PB_E_LIMIT)
        return false;
    finish(r, err);
    return true;
}

/* One is written. */
static void go_on(struct export_read *r)
{
    if (r->at < r->n && r->text.n >= EXPORT_PAGE_BYTES)
        r->next = r->calls[r->at - 1].no;
    else if (r->at < r->n) {
        fetch(r);
        return;
    }
    finish(r, NULL);
}

static void on_worker(void *ctx) { write_one(ctx); }

static void on_written(void *ctx)
{
    struct export_read *r = ctx;

    r->writing = false;
    if (r->cancelled)
        export_free(r);
    else
        go_on(r);
}

static void next_one(struct export_read *r)
{
    r->writing = r->arguments.n + r->result.n > EXPORT_SMALL_BYTES &&
                 loop_work(r->loop, on_worker, on_written, r, NULL) == 0;
    if (r->writing)
        return;
    write_one(r);
    go_on(r);
}

static void on_result(void *ctx, struct span bytes, const struct pb_error *err)
{
    struct export_read *r = ctx;

    r->read = NULL;
    if (is_over(r, err))
        return;
    r->has_result = !err;
    buf_add_span(&r->result, bytes);
    next_one(r);
}

static void closed(struct export_read *r)
{
    struct pb_error err;

    fail(&err, PB_E_CLOSED, "the store is closed");
    finish(r, &err);
}

static void fetch_result(struct export_read *r)
{
    const struct call_record *c = &r->calls[r->at];

    if (!is_there(c->result_cid)) {
        next_one(r);
        return;
    }
    r->read = store_object(r->store, c->result_cid, on_result, r);
    if (!r->read)
        closed(r);
}

static void on_arguments(void *ctx, struct span bytes, const struct pb_error *err)
{
    struct export_read *r = ctx;

    r->read = NULL;
    if (is_over(r, err))
        return;
    r->has_arguments = !err;
    buf_add_span(&r->arguments, bytes);
    fetch_result(r);
}

/* Those that have neither are written in one go. */
static void fetch(struct export_read *r)
{
    const struct call_record *c;

    while (r->at < r->n && !is_there(r->calls[r->at].arguments_cid) &&
           !is_there(r->calls[r->at].result_cid)) {
        r->has_arguments = r->has_result = false;
        write_one(r);
    }
    if (r->at == r->n) {
        finish(r, NULL);
        return;
    }
    c = &r->calls[r->at];
    r->has_arguments = r->has_result = false;
    r->arguments.n = r->result.n = 0;
    if (!is_there(c->arguments_cid)) {
        fetch_result(r);
        return;
    }
    r->read = store_object(r->store, c->arguments_cid, on_arguments, r);
    if (!r->read)
        closed(r);
}

static void on_page(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    struct export_read *r = ctx;

    r->read = NULL;
    if (err) {
        finish(r, err);
        return;
    }
    r->next = p->next;
    r->n = p->n;
    r->calls = arena_alloc(&r->arena, (p->n + 1) * sizeof *r->calls);
    for (size_t i = 0; i < p->n; i++)
        keep(r, &r->calls[i], &p->v[i]);
    fetch(r);
}

struct export_read *export_page(struct pb_loop *loop, struct store *s, const struct call_query *q,
                                enum export_format f, export_page_fn *fn, void *ctx)
{
    struct export_read *r = NEW(struct export_read);
    struct call_query some = *q;

    *r = (struct export_read){ .loop = loop, .store = s, .format = f, .fn = fn, .ctx = ctx };
    if (!some.limit || some.limit > EXPORT_PAGE_CALLS)
        some.limit = EXPORT_PAGE_CALLS;
    r->read = store_find(s, &some, on_page, r);
    if (r->read)
        return r;
    export_free(r);
    return NULL;
}

void export_cancel(struct export_read *r)
{
    if (r->read)
        store_cancel(r->read);
    r->cancelled = true;
    if (!r->writing)
        export_free(r);
}
