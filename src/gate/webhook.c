#include "gate_impl.h"
#include "io/http/http.h"

/* One that is being told. */
struct telling {
    struct list at;
    struct webhook *w;
    struct http_call *call;
    char
        *id; /* of the question; NULL: it is told that one is over, and nobody wants to know more */
    int status;
    bool too_much;
    struct buf body;
};

struct webhook {
    struct gate *gate;
    struct pb_loop *loop;
    struct http_client *http; /* NULL until something is told */
    char *url;
    struct list tellings;
    size_t n;
    loop_fn *closed;
    void *closed_ctx;
};

static void telling_free(struct telling *t)
{
    list_remove(&t->at);
    t->w->n--;
    free(t->id);
    buf_done(&t->body);
    free(t);
}

static void on_head(void *ctx, int status) { ((struct telling *)ctx)->status = status; }

static size_t on_data(void *ctx, struct span bytes)
{
    struct telling *t = ctx;

    if (t->body.n + bytes.n <= WEBHOOK_ANSWER_MAX)
        buf_add_span(&t->body, bytes);
    else
        t->too_much = true;
    return bytes.n;
}

static int read_choice(struct json v, enum question_choice *out, struct pb_error *err)
{
    for (unsigned i = 0; i < CHOICE_COUNT; i++)
        if (json_str_is(v, question_choice_name((enum question_choice)i))) {
            *out = (enum question_choice)i;
            return 0;
        }
    return fail(err, PB_E_INVALID, "choice: expected \"approve\", \"grant\" or \"deny\"");
}

static int read_duration(struct json v, uint64_t *out, struct pb_error *err)
{
    AUTO_ARENA struct arena a = { 0 };
    struct span text = json_is(v, JSON_STRING) ? json_str(v, &a) : json_text(v);

    if (json_is(v, JSON_NONE))
        return 0;
    return duration_parse(text, out)
               ? 0
               : fail(err, PB_E_INVALID, "for: expected seconds, or a duration such as \"5m\"");
}

static int read_answer(const struct telling *t, struct question_answer *out, struct arena *a,
                       struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json root;
    int rc =
        json_parse(&doc, buf_span(&t->body), &(struct json_opts){ .unique_depth = JSON_ALL }, err);

    root = json_root(&doc);
    if (rc == 0 && !json_is(root, JSON_OBJECT))
        rc = fail(err, PB_E_INVALID, "expected an object, got %s", json_type_phrase(root));
    if (rc == 0)
        rc = read_choice(json_get(root, "choice"), &out->choice, err);
    if (rc == 0)
        rc = read_duration(json_get(root, "for"), &out->grant_ms, err);
    if (rc == 0) {
        out->grant_once = json_bool(json_get(root, "once"), false);
        out->reason = json_cstr(json_get(root, "reason"), a);
    }
    return rc;
}

/* 202 and 204 say: somebody else, or later. */
static bool is_answer(const struct telling *t)
{
    return t->id && t->status == 200 && t->body.n && !t->too_much;
}

static void on_done(void *ctx, const struct pb_error *why)
{
    AUTO_ARENA struct arena a = { 0 };
    struct telling *t = ctx;
    struct question_answer answer = { .by = ASK_WEBHOOK, .who = "webhook" };
    AUTO_FREE char *id = NULL;
    struct gate *g = t->w->gate;
    struct pb_error err = { 0 };
    bool answers = false;

    t->call = NULL;
    if (why)
        err = *why;
    else if (t->too_much)
        fail(&err, PB_E_LIMIT, "the answer has more than %d bytes", WEBHOOK_ANSWER_MAX);
    else if (t->status < 200 || t->status > 299)
        fail(&err, PB_E_REMOTE, "HTTP %d", t->status);
    else if (is_answer(t))
        answers = read_answer(t, &answer, &a, &err) == 0;
    id = TAKE(t->id);
    telling_free(t);
    if (answers && gate_answer(g, id, &answer, &err) < 0 && err.code == PB_E_NOT_FOUND)
        return; /* somebody else was faster */
    if (err.code)
        log_warn("webhook_url, question %s: %s", id ? id : "that is over", err.msg);
}

static void tell(struct webhook *w, struct span body, const char *id)
{
    static const struct http_client_events events = { on_head, on_data, on_done };
    static const char *const headers[] = { "Content-Type: application/json",
                                           "Accept: application/json", NULL };
    struct http_client_request request = { .url = w->url,
                                           .headers = headers,
                                           .body = body,
                                           .has_body = true,
                                           .total_ms = id ? GATE_ASK_MAX_MS : WEBHOOK_OVER_MS };
    struct telling *t;
    struct pb_error err;

    if (w->n >= WEBHOOK_OPEN_MAX) {
        log_warn("webhook_url is told of no more questions: %d are being told", WEBHOOK_OPEN_MAX);
        return;
    }
    if (!w->http)
        w->http = http_client_new(w->loop);
    t = NEW(struct telling);
    t->w = w;
    t->id = id ? mem_dup(id) : NULL;
    list_append(&w->tellings, &t->at);
    w->n++;
    if (http_client_send(w->http, &t->call, &request, &events, t, &err) < 0) {
        log_warn("webhook_url: %s", err.msg);
        telling_free(t);
    }
}

static struct telling *telling_of(const struct webhook *w, const char *id)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &w->tellings) {
        struct telling *t = CONTAINER_OF(pos, struct telling, at);

        if (t->id && strcmp(t->id, id) == 0)
            return t;
    }
    return NULL;
}

static void on_question(void *ctx, const struct question *q, bool over)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);
    struct webhook *w = ctx;
    struct telling *t = over ? telling_of(w, q->id) : NULL;

    if (t) {
        http_call_cancel(TAKE(t->call));
        telling_free(t);
    }
    if (!w->url || !(q->by & ASK_WEBHOOK))
        return;
    json_begin_object(&o, NULL);
    json_put_str(&o, "type", over ? "question_over" : "question");
    if (over)
        json_put_str(&o, "id", q->id);
    else
        question_write(&o, "question", q);
    json_end(&o);
    tell(w, buf_span(&body), over ? NULL : q->id);
}

struct webhook *webhook_new(struct gate *g)
{
    struct webhook *w = NEW(struct webhook);

    w->gate = g;
    w->loop = hub_loop(gate_hub(g));
    list_init(&w->tellings);
    gate_listen(g, &(struct gate_listener){ .question = on_question, .ctx = w });
    return w;
}

void webhook_set_url(struct webhook *w, const char *url)
{
    free(w->url);
    w->url = url && *url ? mem_dup(url) : NULL;
}

static void on_closed(void *ctx)
{
    struct webhook *w = ctx;
    loop_fn *fn = w->closed;
    void *fn_ctx = w->closed_ctx;

    while (!list_empty(&w->tellings))
        telling_free(CONTAINER_OF(w->tellings.next, struct telling, at));
    free(w->url);
    free(w);
    fn(fn_ctx);
}

void webhook_close(struct webhook *w, loop_fn *fn, void *ctx)
{
    gate_unlisten(w->gate, w);
    w->closed = fn;
    w->closed_ctx = ctx;
    if (w->http)
        http_client_close(TAKE(w->http), on_closed, w);
    else
        loop_defer(w->loop, on_closed, w);
}
