#include "io/http/http.h"
#include "registries_impl.h"
#include <ctype.h>

/* clang-format off */
static const struct {
    const char *name, *url;
    const char *search; /* what follows is the words */
    const char *one;    /* what follows is a name; NULL: all there is to know is in the list */
} registries[REGISTRY_COUNT] = {
    [REGISTRY_OFFICIAL] = { "official", "https://registry.modelcontextprotocol.io",
                            "/v0.1/servers?version=latest&limit=50&search=", NULL },
    [REGISTRY_SMITHERY] = { "smithery", "https://registry.smithery.ai",
                            "/servers?pageSize=50&q=", "/servers/" },
};
/* clang-format on */

const char *registry_name(unsigned i) { return i < REGISTRY_COUNT ? registries[i].name : NULL; }

struct registry_asked {
    struct registry_search *s;
    struct http_call *call; /* NULL: it is over */
    int status;
    bool failed;
    struct pb_error err;
    struct buf body;
};

struct registry_search {
    struct pb_loop *loop;
    struct http_client *http;
    struct registry_asked each[REGISTRY_COUNT];
    unsigned which, left; /* asked; and not answered yet */
    bool one;
    registry_fn *fn; /* NULL: nobody wants to know any more */
    void *ctx;
};

static void on_closed(void *ctx)
{
    struct registry_search *s = ctx;

    for (unsigned i = 0; i < REGISTRY_COUNT; i++)
        buf_done(&s->each[i].body);
    free(s);
}

/* ---- the end ---- */

static void note_failure(struct registry_asked *a, const struct pb_error *err)
{
    if (a->failed)
        return;
    a->failed = true;
    a->err = *err;
}

static void finish(void *ctx)
{
    struct registry_search *s = ctx;
    struct registry_answer answer = { 0 };
    AUTO_BUF struct buf results = { 0 };
    struct json_out o = json_out(&results);
    struct map names = { 0 };
    struct registry_found found = { &o, &names, 0 };

    json_begin_array(&o, NULL);
    for (unsigned i = 0; i < REGISTRY_COUNT && s->fn; i++) {
        struct registry_asked *a = &s->each[i];
        struct pb_error err;

        if (!(s->which & 1U << i))
            continue;
        if (!a->failed &&
            registry_read(&found, (enum registry_source)i, buf_span(&a->body), s->one, &err) < 0)
            note_failure(a, &err);
        answer.failed[i] = a->failed ? &a->err : NULL;
    }
    json_end(&o);
    answer.results = buf_span(&results);
    if (s->fn)
        s->fn(s->ctx, &answer);
    map_done(&names);
    http_client_close(TAKE(s->http), on_closed, s);
}

static void one_less(struct registry_search *s)
{
    if (--s->left == 0)
        loop_defer(s->loop, finish, s);
}

/* ---- one registry ---- */

static void on_head(void *ctx, int status) { ((struct registry_asked *)ctx)->status = status; }

/* Nothing more is read of it. */
static void give_up(struct registry_asked *a, const struct pb_error *why)
{
    note_failure(a, why);
    http_call_cancel(TAKE(a->call));
    one_less(a->s);
}

static size_t on_data(void *ctx, struct span bytes)
{
    struct registry_asked *a = ctx;
    struct pb_error err;

    if (a->body.n + bytes.n <= REGISTRY_BYTES_MAX) {
        buf_add_span(&a->body, bytes);
    } else {
        (void)fail(&err, PB_E_LIMIT, "the answer is longer than %d bytes", REGISTRY_BYTES_MAX);
        give_up(a, &err);
    }
    return bytes.n;
}

static void on_done(void *ctx, const struct pb_error *why)
{
    struct registry_asked *a = ctx;
    struct pb_error err;

    a->call = NULL;
    if (why) {
        note_failure(a, why);
    } else if (a->status != 200) {
        (void)fail(&err, a->status == 404 ? PB_E_NOT_FOUND : PB_E_REMOTE, "HTTP %d", a->status);
        note_failure(a, &err);
    }
    one_less(a->s);
}

static void put_encoded(struct buf *url, const char *text, const char *keep)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if ((*p < 128 && isalnum(*p)) || strchr(keep, *p))
            buf_byte(url, (char)*p);
        else
            buf_printf(url, "%%%02X", *p);
    }
}

static int send(struct registry_search *s, unsigned i, const struct registry_question *q,
                struct pb_error *err)
{
    static const struct http_client_events events = { on_head, on_data, on_done };
    static const char *const headers[] = { "Accept: application/json", NULL };
    AUTO_BUF struct buf url = { 0 };
    struct http_client_request request = { .headers = headers, .total_ms = REGISTRY_MS };

    s->each[i].s = s;
    buf_str(&url, q->urls[i] ? q->urls[i] : registries[i].url);
    buf_str(&url, q->name ? registries[i].one : registries[i].search);
    put_encoded(&url, q->name ? q->name : q->search, q->name ? "-._~@/" : "-._~");
    request.url = buf_cstr(&url);
    return http_client_send(s->http, &s->each[i].call, &request, &events, &s->each[i], err);
}

int registry_ask(struct registry_search **out, struct pb_loop *loop,
                 const struct registry_question *q, registry_fn *fn, void *ctx,
                 struct pb_error *err)
{
    struct registry_search *s;

    if (strlen(q->name ? q->name : q->search) > REGISTRY_TEXT_MAX)
        return fail(err, PB_E_INVALID, "more than %d bytes are looked for", REGISTRY_TEXT_MAX);
    s = NEW(struct registry_search);
    *s = (struct registry_search){ .loop = loop, .which = q->which, .fn = fn, .ctx = ctx };
    s->one = q->name != NULL;
    s->http = http_client_new(loop);
    s->left = 1; /* until all are asked */
    for (unsigned i = 0; i < REGISTRY_COUNT; i++) {
        struct pb_error why;

        if (!(q->which & 1U << i))
            continue;
        s->left++;
        if (send(s, i, q, &why) < 0) {
            note_failure(&s->each[i], &why);
            s->left--;
        }
    }
    one_less(s);
    *out = s;
    return 0;
}

void registry_cancel(struct registry_search *s)
{
    s->fn = NULL;
    if (s->left)
        http_client_close(TAKE(s->http), on_closed, s);
}
