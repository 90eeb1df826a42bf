#include "http_call.h"
#include <inttypes.h>

/* new -> connect -> sent -> body <-> paused
 *           ^         |       |        |
 *           |         v       v        v
 *           +-- redirect     done <----+    and from everywhere to done */
/* clang-format off */
#define TO(s) SM_BIT(CALL_##s)
static const struct sm_state states[] = {
    [CALL_NEW]      = { "new",      TO(CONNECT) | TO(DONE),                NULL },
    [CALL_CONNECT]  = { "connect",  TO(SENT) | TO(DONE),                   NULL },
    [CALL_SENT]     = { "sent",     TO(BODY) | TO(REDIRECT) | TO(DONE), NULL },
    [CALL_BODY]     = { "body",     TO(PAUSED) | TO(DONE),                 NULL },
    [CALL_PAUSED]   = { "paused",   TO(BODY) | TO(DONE),                   NULL },
    [CALL_REDIRECT] = { "redirect", TO(CONNECT) | TO(DONE),                NULL },
    [CALL_DONE]     = { "done",     0,                                     NULL },
};
/* clang-format on */
_Static_assert(ARRAY_LEN(states) == CALL_COUNT, "every state has a row");

static void move(struct http_call *call, enum http_call_state next)
{
    sm_move(&call->state, call, next);
}

void call_free(struct http_call *call)
{
    const struct curl_api *api = call->client->api;

    timer_stop(&call->timer);
    list_remove(&call->link);
    list_remove(&call->work);
    if (call->easy) {
        api->multi_remove_handle(call->client->multi, call->easy);
        api->easy_cleanup(call->easy);
    }
    api->slist_free_all(call->headers);
    free(call->url);
    free(call->method);
    free(call->origin);
    free(call->redirect);
    buf_done(&call->body);
    buf_done(&call->head);
    arena_done(&call->joined);
    free(call);
}

/* The last event. */
static void end(struct http_call *call, const struct pb_error *err)
{
    struct http_client *c = call->client;

    move(call, CALL_DONE);
    timer_stop(&call->timer);
    if (!call->cancelled && call->events.done)
        call->events.done(call->ctx, err);
    call->cancelled = true;
    c->n_calls--;
    loop_release(c->loop);
    call_free(call);
}

/* ---- Deadlines --------------------------------------------------------------------------- */

struct deadline {
    uint64_t due;
    uint64_t ms;
    const char *what;
};

static void sooner(struct deadline *d, uint64_t from, uint64_t ms, const char *what)
{
    if (ms && from + ms < d->due)
        *d = (struct deadline){ from + ms, ms, what };
}

static struct deadline next_deadline(const struct http_call *call)
{
    struct deadline d = { UINT64_MAX, 0, NULL };
    unsigned now = call->state.now;

    sooner(&d, call->started, call->total_ms, "the whole answer");
    if (now <= CALL_SENT || now == CALL_REDIRECT)
        sooner(&d, call->started, call->head_ms, "an answer");
    if (now == CALL_CONNECT)
        sooner(&d, call->last_byte, call->connect_ms, "a connection");
    if (now == CALL_BODY)
        sooner(&d, call->last_byte, call->idle_ms, "more of the answer");
    return d;
}

static void arm(struct http_call *call)
{
    struct deadline d = next_deadline(call);
    uint64_t now = loop_now(call->client->loop);

    if (d.due == UINT64_MAX)
        timer_stop(&call->timer);
    else
        timer_start(&call->timer, d.due > now ? d.due - now : 0);
}

static void on_timer(void *ctx)
{
    struct http_call *call = ctx;
    struct deadline d = next_deadline(call);

    if (d.due > loop_now(call->client->loop)) {
        arm(call); /* bytes came meanwhile */
        return;
    }
    fail(&call->err, PB_E_TIMEOUT, "%s: %s did not come within %" PRIu64 " ms", call->origin,
         d.what, d.ms);
    end(call, &call->err);
}

/* ---- The response ------------------------------------------------------------------------ */

/* The value of the next field of this name in the lines of a head, which are used up to there. */
static struct span next_field(struct span *head, const char *name)
{
    while (head->n) {
        const char *lf = memchr(head->p, '\n', head->n);
        struct span line = span_make(head->p, lf ? (size_t)(lf - head->p) : head->n);
        const char *colon = memchr(line.p, ':', line.n);

        *head = span_from(*head, lf ? line.n + 1 : line.n);
        if (colon && span_is_nocase(span_make(line.p, (size_t)(colon - line.p)), name))
            return span_trim(span_from(line, (size_t)(colon - line.p) + 1));
    }
    return (struct span){ 0 };
}

struct span http_call_header(const struct http_call *call, const char *name)
{
    /* Kept inside, but no one can tell. */
    struct http_call *self = (struct http_call *)(uintptr_t)call;
    struct span head = buf_span(&call->head);
    struct span value = next_field(&head, name), more = next_field(&head, name);
    AUTO_BUF struct buf all = { 0 };

    if (!more.p)
        return value;
    buf_add_span(&all, value);
    for (; more.p; more = next_field(&head, name)) {
        buf_str(&all, ", ");
        buf_add_span(&all, more);
    }
    return span_make(arena_dup(&self->joined, buf_span(&all)), all.n);
}

/* Redirects that keep method and body, or whose method is GET anyway, and stay where we are. */
static bool wants_redirect(struct http_call *call)
{
    int s = call->status;
    bool get = !strcmp(call->method, "GET") || !strcmp(call->method, "HEAD");
    bool same = s == 307 || s == 308;
    struct span location = http_call_header(call, "Location");

    if (!location.p || call->redirects >= HTTP_REDIRECTS_MAX)
        return false;
    if (!(get && (same || s == 301 || s == 302 || s == 303)) &&
        !(same && !strcmp(call->method, "POST")))
        return false;
    call->redirect = origin_redirect(call->client->api, call->url, location);
    return call->redirect;
}

static bool coding_ok(struct http_call *call)
{
    struct span content = http_call_header(call, "Content-Encoding");
    struct span transfer = http_call_header(call, "Transfer-Encoding");

    if (content.n && !span_is_nocase(content, "identity")) {
        fail(&call->err, PB_E_INVALID, "%s: the answer is compressed, which was not asked for",
             call->origin);
        return false;
    }
    if (transfer.n && !span_is_nocase(transfer, "chunked")) {
        fail(&call->err, PB_E_INVALID, "%s: the answer has a transfer coding not asked for",
             call->origin);
        return false;
    }
    return true;
}

static bool head_complete(struct http_call *call)
{
    long status = 0;

    call->client->api->easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
    if (status < 200)
        return true; /* an interim response; the head is still to come */
    call->status = (int)status;
    if (!coding_ok(call))
        return false;
    if (wants_redirect(call)) {
        move(call, CALL_REDIRECT);
        return true;
    }
    move(call, CALL_BODY);
    call->last_byte = loop_now(call->client->loop);
    arm(call);
    if (call->events.head)
        call->events.head(call->ctx, call->status);
    return !call->cancelled;
}

size_t call_on_header(char *text, size_t size, size_t n, void *ctx)
{
    struct http_call *call = ctx;
    struct span line = span_make(text, size * n);

    if (call->cancelled)
        return 0;
    call->head_bytes += line.n;
    if (call->head_bytes > HTTP_REPLY_HEAD_MAX) {
        fail(&call->err, PB_E_LIMIT, "%s: the head of the answer is larger than %d bytes",
             call->origin, HTTP_REPLY_HEAD_MAX);
        return 0;
    }
    if (call->state.now == CALL_CONNECT)
        move(call, CALL_SENT); /* an answer before the request, it seems */
    if (call->state.now != CALL_SENT)
        return line.n; /* a trailer */
    if (span_starts(line, "HTTP/"))
        call->head.n = 0;
    if (span_trim(line).n)
        buf_add_span(&call->head, line);
    else if (!head_complete(call))
        return 0;
    return line.n;
}

static size_t drop(struct http_call *call, size_t n)
{
    call->dropped += n;
    return call->dropped > HTTP_ERROR_BODY_MAX ? 0 : n; /* too much to save a connection */
}

size_t call_on_body(char *text, size_t size, size_t n, void *ctx)
{
    struct http_call *call = ctx;
    struct span bytes = span_make(text, size * n);
    size_t again = call->taken < bytes.n ? call->taken : bytes.n, used;

    if (call->cancelled)
        return 0;
    if (call->state.now == CALL_REDIRECT)
        return drop(call, bytes.n);
    if (call->state.now == CALL_PAUSED)
        return CURL_WRITEFUNC_PAUSE;
    call->last_byte = loop_now(call->client->loop);
    used = bytes.n - again;
    if (used && call->events.data)
        used = call->events.data(call->ctx, span_from(bytes, again));
    if (call->cancelled)
        return 0;
    if (again + used == bytes.n) {
        call->taken -= again;
        return bytes.n;
    }
    call->taken = again + used;
    move(call, CALL_PAUSED);
    arm(call);
    return CURL_WRITEFUNC_PAUSE;
}

int call_on_connected(void *ctx, char *their_ip, char *our_ip, int their_port, int our_port)
{
    struct http_call *call = ctx;

    (void)their_ip;
    (void)our_ip;
    (void)their_port;
    (void)our_port;
    if (call->state.now == CALL_CONNECT) {
        move(call, CALL_SENT);
        arm(call);
    }
    return CURL_PREREQFUNC_OK;
}

/* ---- The course of a call ---------------------------------------------------------------- */

void call_init(struct http_call *call)
{
    call->state = (struct sm){ states, CALL_NEW };
    list_init(&call->link);
    list_init(&call->work);
    timer_init(&call->timer, call->client->loop, on_timer, call);
    call->started = loop_now(call->client->loop);
}

static int begin(struct http_call *call)
{
    struct http_client *c = call->client;
    CURLMcode code;

    move(call, CALL_CONNECT);
    call->taken = 0;
    call->last_byte = loop_now(c->loop);
    call->curl_text[0] = '\0';
    arm(call);
    code = c->api->multi_add_handle(c->multi, call->easy);
    if (code == CURLM_OK)
        return 0;
    return fail(&call->err, PB_E_SYSTEM, "%s: %s", call->origin, c->api->multi_strerror(code));
}

static int call_start(struct http_call *call)
{
    call->easy = call->client->api->easy_init();
    if (!call->easy)
        return fail(&call->err, PB_E_SYSTEM, "libcurl gives no handle");
    if (call_setup(call) < 0)
        return -(int)call->err.code;
    return begin(call);
}

static int follow(struct http_call *call)
{
    struct http_client *c = call->client;

    c->api->multi_remove_handle(c->multi, call->easy);
    free(call->url);
    call->url = TAKE(call->redirect);
    call->redirects++;
    call->dropped = call->head_bytes = 0;
    if (c->api->easy_setopt(call->easy, CURLOPT_URL, call->url) != CURLE_OK)
        return fail(&call->err, PB_E_SYSTEM, "%s: libcurl does not take a URL", call->origin);
    return begin(call);
}

void call_go_on(struct http_call *call)
{
    bool resumed = call->resumed;
    int rc = 0;

    call->resumed = false;
    if (call->cancelled) {
        end(call, NULL);
        return;
    }
    if (call->state.now == CALL_NEW)
        rc = call_start(call);
    if (rc == 0 && resumed && call->state.now == CALL_PAUSED) {
        move(call, CALL_BODY);
        call->last_byte = loop_now(call->client->loop);
        arm(call);
        call->client->api->easy_pause(call->easy, CURLPAUSE_CONT);
    }
    if (rc < 0)
        end(call, &call->err);
}

void call_push(struct http_call *call)
{
    const struct curl_api *api = call->client->api;

    if (call->state.now != CALL_CONNECT)
        return;
    api->easy_pause(call->easy, CURLPAUSE_SEND);
    api->easy_pause(call->easy, CURLPAUSE_CONT);
}

static const struct {
    CURLcode curl;
    enum pb_code code;
} codes[] = {
    { CURLE_URL_MALFORMAT, PB_E_INVALID },      { CURLE_UNSUPPORTED_PROTOCOL, PB_E_INVALID },
    { CURLE_WEIRD_SERVER_REPLY, PB_E_INVALID }, { CURLE_BAD_CONTENT_ENCODING, PB_E_INVALID },
    { CURLE_SSL_CONNECT_ERROR, PB_E_INVALID },  { CURLE_PEER_FAILED_VERIFICATION, PB_E_INVALID },
    { CURLE_SSL_CACERT_BADFILE, PB_E_INVALID }, { CURLE_SSL_CERTPROBLEM, PB_E_INVALID },
    { CURLE_SSL_CIPHER, PB_E_INVALID },         { CURLE_SSL_ISSUER_ERROR, PB_E_INVALID },
    { CURLE_FILESIZE_EXCEEDED, PB_E_LIMIT },    { CURLE_OUT_OF_MEMORY, PB_E_LIMIT },
    { CURLE_OPERATION_TIMEDOUT, PB_E_TIMEOUT },
};

/* Whatever else goes wrong: nobody is there, or not any more. */
static void describe(struct http_call *call, CURLcode code)
{
    const struct curl_api *api = call->client->api;
    enum pb_code pb = PB_E_CLOSED;
    long sys = 0;

    for (size_t i = 0; i < ARRAY_LEN(codes); i++)
        if (codes[i].curl == code)
            pb = codes[i].code;
    api->easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &sys);
    fail(&call->err, pb, "%s: %s", call->origin,
         call->curl_text[0] ? call->curl_text : api->easy_strerror(code));
    call->err.sys = (int)sys;
}

void call_ended(struct http_call *call, CURLcode code)
{
    if (!call->cancelled && call->state.now == CALL_REDIRECT && call->err.code == PB_OK) {
        if (follow(call) < 0)
            end(call, &call->err);
        return;
    }
    if (call->err.code == PB_OK && code != CURLE_OK)
        describe(call, code);
    end(call, call->err.code == PB_OK ? NULL : &call->err);
}

void http_call_resume(struct http_call *call)
{
    call->resumed = true;
    client_later(call);
}

void http_call_cancel(struct http_call *call)
{
    if (call->cancelled)
        return;
    call->cancelled = true;
    timer_stop(&call->timer);
    client_later(call);
}
