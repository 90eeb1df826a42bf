/* client_rig.h - a client session on a loop of its own that remembers what it was told, and two
 * kinds of servers to point it at: shell scripts, which are real processes, and an HTTP server in
 * this process that answers as the test says. With `manual` the clock stands still unless moved. */
#pragma once
#include "base/base.h"
#include "io/http/http.h"
#include "io/io.h"
#include "manual_clock.h"
#include "mcp/client/client.h"
#include "mcp/registry/registry.h"
#include "patchbay.h"
#include "tap.h"
#include "json/json.h"

enum { RIG_QUESTIONS_MAX = 128, RIG_TEXT_MAX = 65536 };

struct rig {
    struct manual_clock clock;
    struct pb_loop *loop;
    struct client *client;
    bool opened, closed;
    struct pb_error open_err, why;
    struct client_question *questions[RIG_QUESTIONS_MAX];
    char asked[RIG_QUESTIONS_MAX][512]; /* "call_id method params" */
    int n_asked;
    char notes[RIG_TEXT_MAX]; /* "method params\n" */
    char words[RIG_TEXT_MAX]; /* lines of stderr */
};

/* One answer. */
struct answer {
    int count;
    char *result, *error; /* NULL when there is none */
    struct pb_error err;
    int status;
    bool inside; /* came inside the call that asked for it */
    bool armed;
    int progressed;
    char progress[1024];
    char log[1024];
};

static inline void rig_opened(void *ctx, const struct pb_error *err)
{
    struct rig *r = ctx;

    CHECK(!r->opened);
    r->opened = true;
    if (err)
        r->open_err = *err;
}

static inline void rig_append(char *to, size_t room, struct span a, struct span b)
{
    size_t n = strlen(to);

    snprintf(to + n, room - n, "%.*s%s%.*s\n", SPAN_ARG(a), b.n ? " " : "", SPAN_ARG(b));
}

static inline void rig_question(void *ctx, struct client_question *q, uint64_t call_id,
                                struct span method, struct span params)
{
    struct rig *r = ctx;

    CHECK(r->n_asked < RIG_QUESTIONS_MAX);
    snprintf(r->asked[r->n_asked], sizeof r->asked[0], "%d %.*s %.*s", call_id != 0,
             SPAN_ARG(method), SPAN_ARG(params));
    r->questions[r->n_asked++] = q;
}

static inline void rig_notification(void *ctx, struct span method, struct span params)
{
    struct rig *r = ctx;

    rig_append(r->notes, sizeof r->notes, method, params);
}

static inline void rig_stderr(void *ctx, struct span line)
{
    struct rig *r = ctx;

    rig_append(r->words, sizeof r->words, line, SPAN(""));
}

static inline void rig_closed(void *ctx, const struct pb_error *why)
{
    struct rig *r = ctx;

    CHECK(!r->closed);
    r->closed = true;
    r->why = *why;
}

static inline void rig_init(struct rig *r, bool manual)
{
    *r = (struct rig){ 0 };
    manual_clock_init(&r->clock);
    r->loop = loop_new(manual ? &r->clock.clock : NULL);
}

/* Starts to open; a failure at once counts as a failed opening. */
static inline void rig_start(struct rig *r, const struct pb_client_options *opts)
{
    static const struct client_events events = {
        .opened = rig_opened,
        .question = rig_question,
        .notification = rig_notification,
        .stderr_line = rig_stderr,
        .closed = rig_closed,
    };
    struct pb_error err;

    if (client_open(&r->client, r->loop, opts, &events, r, &err) < 0) {
        r->opened = true;
        r->open_err = err;
    }
}

#define RIG_UNTIL(r, cond)              \
    do {                                \
        while (!(cond))                 \
            loop_turn((r)->loop, true); \
    } while (0)

static inline void rig_open(struct rig *r, const struct pb_client_options *opts)
{
    rig_start(r, opts);
    RIG_UNTIL(r, r->opened);
}

static inline void rig_open_well(struct rig *r, const struct pb_client_options *opts)
{
    rig_open(r, opts);
    if (r->open_err.code)
        TAP_FAIL("open: %s", r->open_err.msg);
}

static inline void rig_done(struct rig *r)
{
    if (r->client)
        client_close(r->client, NULL, NULL);
    loop_free(r->loop);
}

/* ---- requests ---- */

static inline void answer_reply(void *ctx, const struct client_reply *reply)
{
    struct answer *a = ctx;

    a->count++;
    a->inside = !a->armed;
    a->status = reply->http_status;
    if (reply->err)
        a->err = *reply->err;
    else
        a->result = mem_dupn(reply->result.p, reply->result.n);
    if (reply->error.n)
        a->error = mem_dupn(reply->error.p, reply->error.n);
}

static inline void answer_progress(void *ctx, struct span params)
{
    struct answer *a = ctx;

    a->progressed++;
    rig_append(a->progress, sizeof a->progress, params, SPAN(""));
}

static inline void answer_log(void *ctx, struct span params)
{
    struct answer *a = ctx;

    rig_append(a->log, sizeof a->log, params, SPAN(""));
}

static inline void answer_done(struct answer *a)
{
    free(a->result);
    free(a->error);
    *a = (struct answer){ 0 };
}

static inline uint64_t rig_send_spec(struct rig *r, struct answer *a,
                                     struct client_request_spec spec)
{
    struct pb_error err;
    uint64_t id = 0;

    *a = (struct answer){ 0 };
    spec.reply = answer_reply;
    spec.ctx = a;
    if (client_request(r->client, &spec, &id, &err) < 0) {
        a->count = 1;
        a->err = err;
    }
    a->armed = true;
    return id;
}

static inline uint64_t rig_send(struct rig *r, struct answer *a, const char *method,
                                const char *params)
{
    return rig_send_spec(
        r, a, (struct client_request_spec){ .method = method, .params = span_of(params) });
}

static inline void rig_request(struct rig *r, struct answer *a, const char *method,
                               const char *params)
{
    rig_send(r, a, method, params);
    RIG_UNTIL(r, a->count);
    CHECK(!a->inside);
}

/* Waits for a good answer and compares it. */
#define RIG_RESULT(r, method, params, want)           \
    do {                                              \
        struct answer got_;                           \
        rig_request(r, &got_, method, params);        \
        if (got_.err.code)                            \
            TAP_FAIL("%s: %s", method, got_.err.msg); \
        CHECK_STR(got_.result, want);                 \
        answer_done(&got_);                           \
    } while (0)

/* ---- a server that is a shell script ---- */

/* Functions for scripts. $l is the message just read; `x` becomes its id. A script reads lines and
 * answers with `ok RESULT` or `no CODE TEXT`. `legacy` and `modern` answer what belongs to the
 * opening and fail for everything else. */
static const char rig_sh[] =
    "id(){ x=${l#*\\\"id\\\":}; x=${x%%,*}; x=${x%%\\}*}; }\n"
    "ok(){ id; printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\\n' \"$x\" \"$1\"; }\n"
    "no(){ id; printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%s,\"message\":\"%s\"}}\\n' "
    "\"$x\" \"$1\" \"$2\"; }\n"
    "hello(){ ok '{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
    "\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}'; }\n"
    "legacy(){ case $l in *server/discover*) no -32601 'Method not found';;"
    " *'\"initialize\"'*) hello;; *notifications/initialized*) ;; *) return 1;; esac; }\n"
    "discovered='{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
    "\"capabilities\":{\"tools\":{\"listChanged\":true}},\"instructions\":\"do\",\"ttlMs\":0,"
    "\"cacheScope\":\"private\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":"
    "{\"name\":\"sh\",\"version\":\"2\"}}}'\n"
    "modern(){ case $l in *server/discover*) ok \"$discovered\";; *) return 1;; esac; }\n";

struct rig_script {
    char *text;
    const char *args[3];
};

/* `body` runs after the functions above. */
static inline struct pb_client_options rig_script(struct rig_script *s, const char *body)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct buf b = { 0 };

    buf_str(&b, rig_sh);
    buf_str(&b, body);
    s->text = buf_take(&b);
    s->args[0] = "-c";
    s->args[1] = s->text;
    s->args[2] = NULL;
    o.command = "sh";
    o.args = s->args;
    return o;
}

/* ---- a server that speaks HTTP ---- */

enum { WEB_LOG_MAX = 65536 };

struct web {
    struct http_server *server;
    char url[64];
    /* One line for each request: "POST initialize", "GET", with what the test adds. */
    char log[WEB_LOG_MAX];
    int n;
    /* Answers. `method` is that of JSON-RPC, "" without a body; `id` is as written. */
    void (*answer)(struct web *w, struct http_request *r, const char *method, const char *id);
    void *ctx;
    struct http_request *held; /* an open stream, if the test wants to write more to it */
    int gone;                  /* streams that the client closed */
};

static inline void web_log(struct web *w, const char *text)
{
    size_t n = strlen(w->log);

    snprintf(w->log + n, sizeof w->log - n, "%s", text);
}

static inline void web_handle(void *ctx, struct http_request *r)
{
    struct web *w = ctx;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    struct span body = http_body(r), verb = http_method(r);
    const char *method = "", *id = "";
    AUTO_FREE char *line = NULL;

    if (body.n && json_parse(&doc, body, NULL, NULL) == 0) {
        struct json m = json_get(json_root(&doc), "method");

        method = json_is(m, JSON_STRING) ? json_cstr(m, &arena) : "(answer)";
        id = arena_dup(&arena, json_text(json_get(json_root(&doc), "id")));
    }
    line = mem_alloc(verb.n + strlen(method) + 3);
    snprintf(line, verb.n + strlen(method) + 3, "%.*s%s%s\n", SPAN_ARG(verb), *method ? " " : "",
             method);
    web_log(w, line);
    w->n++;
    w->answer(w, r, method, id);
}

static inline void web_start(struct web *w, struct rig *r,
                             void (*answer)(struct web *w, struct http_request *r,
                                            const char *method, const char *id))
{
    struct http_server_options o = { .handler = web_handle, .ctx = w };
    struct pb_error err;

    w->answer = answer;
    if (http_server_new(&w->server, r->loop, &o, &err) < 0)
        TAP_FAIL("%s", err.msg);
    snprintf(w->url, sizeof w->url, "http://127.0.0.1:%d/mcp", http_server_port(w->server));
}

static inline struct pb_client_options web_options(const struct web *w)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;

    o.url = w->url;
    return o;
}

static inline void web_stop(struct web *w)
{
    if (w->server)
        http_server_close(w->server, NULL, NULL);
    w->server = NULL;
}

#define WEB_JSON "Content-Type: application/json\r\n"
#define WEB_SSE  "Content-Type: text/event-stream\r\n"

static inline void web_reply(struct http_request *r, int status, const char *headers,
                             const char *body)
{
    struct span part = span_of(body);

    http_reply(r, status, headers, &part, 1);
}

/* A JSON-RPC result; more headers may be NULL. */
static inline void web_result(struct http_request *r, const char *id, const char *result,
                              const char *more)
{
    AUTO_BUF struct buf b = { 0 }, h = { 0 };

    buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":", id);
    buf_str(&b, result);
    buf_byte(&b, '}');
    buf_printf(&h, WEB_JSON "%s", more ? more : "");
    web_reply(r, 200, buf_cstr(&h), buf_cstr(&b));
}

static inline void web_error(struct http_request *r, int status, const char *id, int code,
                             const char *data)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b,
               "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"no %d\"%s%s}}",
               id, code, code, data ? ",\"data\":" : "", data ? data : "");
    web_reply(r, status, WEB_JSON, buf_cstr(&b));
}

static inline void web_write(struct http_request *r, const char *text)
{
    struct span part = span_of(text);

    http_write(r, &part, 1);
}

static inline void web_gone(void *ctx)
{
    struct web *w = ctx;

    w->gone++;
}

/* Begins a stream that stays open until the test or the client ends it. */
static inline void web_stream(struct web *w, struct http_request *r)
{
    http_on_gone(r, web_gone, w);
    http_begin(r, 200, WEB_SSE);
}

/* One event with a JSON message. */
static inline void web_event(struct http_request *r, const char *json)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b, "data: %s\n\n", json);
    web_write(r, buf_cstr(&b));
}

#define WEB_WELCOME                                                                      \
    "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{},\"resources\":{" \
    "\"subscribe\":true}},\"serverInfo\":{\"name\":\"web\",\"version\":\"1\"}}"
#define WEB_DISCOVERED                                                                         \
    "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{"   \
    "\"tools\":{},\"resources\":{\"subscribe\":true}},\"ttlMs\":0,\"cacheScope\":\"private\"," \
    "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"web\",\"version\":\"2\"}}}"

/* The opening of a legacy server with a session; false for everything else. */
static inline bool web_legacy(struct http_request *r, const char *method, const char *id)
{
    if (span_is(http_method(r), "GET") || span_is(http_method(r), "DELETE"))
        web_reply(r, 405, NULL, "");
    else if (strcmp(method, "server/discover") == 0)
        web_error(r, 400, id, -32000, NULL);
    else if (strcmp(method, "initialize") == 0)
        web_result(r, id, WEB_WELCOME, "Mcp-Session-Id: s1\r\n");
    else if (strncmp(method, "notifications/", 14) == 0 || strcmp(method, "(answer)") == 0)
        web_reply(r, 202, NULL, "");
    else
        return false;
    return true;
}

static inline bool web_modern(struct http_request *r, const char *method, const char *id)
{
    if (strcmp(method, "server/discover") != 0)
        return false;
    web_result(r, id, WEB_DISCOVERED, NULL);
    return true;
}

/* ---- both together ---- */

struct site {
    struct rig r;
    struct web w;
};

static inline void site_open(struct site *s, bool manual,
                             void (*answer)(struct web *, struct http_request *, const char *,
                                            const char *),
                             struct pb_client_options *more)
{
    struct pb_client_options o;

    rig_init(&s->r, manual);
    s->w = (struct web){ .ctx = s->w.ctx };
    web_start(&s->w, &s->r, answer);
    o = more ? *more : (struct pb_client_options)PB_CLIENT_OPTIONS_INIT;
    o.url = s->w.url;
    rig_open_well(&s->r, &o);
}

static inline void site_done(struct site *s)
{
    if (s->r.client)
        client_close(s->r.client, NULL, NULL);
    s->r.client = NULL;
    RIG_UNTIL(&s->r, !http_server_connections(s->w.server));
    web_stop(&s->w);
    rig_done(&s->r);
}
