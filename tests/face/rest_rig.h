/* rest_rig.h - the REST face over a hub of fake servers, and a client that writes what it is told
 * over a real socket.
 *
 *     struct rest_rig rig;
 *
 *     rest_init(&rig, NULL);
 *     fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
 *     rest_start(&rig);
 *     CHECK_INT(GET(&rig, "/api/mcp-tools"), 200);
 *     CHECK_STR(got("tools.0.name"), "alpha/echo");
 *     rest_done(&rig); */
#pragma once
/* No test uses all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "base/base.h"
#include "face/host/host.h"
#include "face/listen/listen.h"
#include "face/rest/rest_impl.h"
#include "host_rig.h"
#include "io/io.h"
#include "json_member.h"
#include "loopback.h"
#include "patchbay.h"
#include "shape_rig.h"
#include "json/json.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define REST_TOKEN  "Authorization: Bearer secret\r\n"
#define REST_JSON   "Content-Type: application/json\r\n"
#define EX(command) "{\"name\":\"" command "\",\"command\":\"x\",\"transport\":\"stdio\"}"

enum { ANSWER_MAX = 1 << 20 };
static char rest_head[65536], rest_body[ANSWER_MAX];

struct rest_rig {
    struct hub_rig hub;
    struct hosts *bare; /* without a hub */
    struct serve *serve;
    bool closed;
};

/* dir: where calls are recorded; NULL: they are not. */
static void rest_init_store(struct rest_rig *w, const struct serve_options *opts, const char *dir)
{
    static const struct serve_options usual = { .token = "secret" };
    struct pb_error err;

    *w = (struct rest_rig){ 0 };
    rig_init_store(&w->hub, NULL, dir);
    if (serve_start(&w->serve, w->hub.hosts, opts ? opts : &usual, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

static void rest_init(struct rest_rig *w, const struct serve_options *opts)
{
    rest_init_store(w, opts, NULL);
}

static void rest_start(struct rest_rig *w) { rig_start(&w->hub); }

static void rest_on_closed(void *ctx) { ((struct rest_rig *)ctx)->closed = true; }

static void rest_close(struct rest_rig *w)
{
    serve_close(w->serve, rest_on_closed, w);
    for (int i = 0; i < 1000 && !w->closed; i++) {
        fakes_settle(&w->hub.fakes);
        loop_advance(w->hub.fakes.loop, 10);
    }
    CHECK(w->closed);
}

static void rest_done(struct rest_rig *w)
{
    rest_close(w);
    rig_done(&w->hub);
}

/* ---- a client ---- */

/* Both ends of every connection are ours. */
static void allow_files(rlim_t n)
{
    struct rlimit files;

    CHECK_INT(getrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_cur < n)
        files.rlim_cur = n;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &files), 0);
}

struct line {
    struct rest_rig *rig;
    int fd;
    struct buf in;     /* all that came and was not looked at */
    char request[256]; /* the last one */
    bool over;
};

static void line_open(struct rest_rig *w, struct line *s)
{
    *s = (struct line){ .rig = w, .fd = loopback_dial(serve_port(w->serve)) };
    CHECK_INT(fcntl(s->fd, F_SETFL, O_NONBLOCK), 0);
}

static void read_shapes(void)
{
    static struct buf openapi;

    if (openapi.n)
        return;
    rest_write_openapi(&openapi);
    shape_read(buf_span(&openapi));
}

static void line_close(struct line *s)
{
    if (strncmp(s->request, "GET /api/events", 15) == 0 && s->in.n) {
        read_shapes();
        shape_check_events(buf_cstr(&s->in));
    }
    close(s->fd);
    buf_done(&s->in);
    fakes_settle(&s->rig->hub.fakes);
}

static void line_turn(struct line *s)
{
    struct pollfd p = { .fd = s->fd, .events = POLLIN };
    ssize_t n;

    loop_turn(s->rig->hub.fakes.loop, false);
    poll(&p, 1, 1);
    n = recv(s->fd, buf_reserve(&s->in, 65536), 65536, 0);
    if (n > 0)
        s->in.n += (size_t)n;
    else if (n == 0 || errno != EAGAIN)
        s->over = true;
}

static void line_until(struct line *s, const char *text)
{
    for (int i = 0; !strstr(buf_cstr(&s->in), text); i++) {
        if (i > 5000)
            TAP_FAIL("\"%s\" never came: \"%s\"", text, buf_cstr(&s->in));
        line_turn(s);
    }
}

static void line_send(struct line *s, struct span text)
{
    while (text.n) {
        ssize_t n = send(s->fd, text.p, text.n, MSG_NOSIGNAL);

        if (n > 0)
            text = span_from(text, (size_t)n);
        else if (errno == EAGAIN)
            loop_turn(s->rig->hub.fakes.loop, false);
        else
            return; /* refused: the answer tells */
    }
}

/* The head of a request: a body that it announces may come or not. host NULL: the right one. */
static void line_head(struct line *s, const char *request, const char *host, const char *headers)
{
    AUTO_BUF struct buf b = { 0 };

    snprintf(s->request, sizeof s->request, "%s", request);
    buf_printf(&b, "%s HTTP/1.1\r\nHost: ", request);
    if (host)
        buf_str(&b, host);
    else
        buf_printf(&b, "127.0.0.1:%d", serve_port(s->rig->serve));
    buf_printf(&b, "\r\n%s\r\n", headers);
    line_send(s, buf_span(&b));
}

static void line_ask(struct line *s, const char *request, const char *host, const char *headers,
                     const char *body)
{
    AUTO_BUF struct buf all = { 0 };

    buf_printf(&all, "%sContent-Length: %zu\r\n", headers, strlen(body));
    line_head(s, request, host, buf_cstr(&all));
    line_send(s, span_of(body));
}

/* Calls a tool on a line of its own; line_answer() waits for what comes of it. */
static void line_call(struct rest_rig *w, struct line *s, const char *body)
{
    line_open(w, s);
    line_ask(s, "POST /api/mcp-tools/call", NULL, REST_TOKEN REST_JSON, body);
}

/* The same, of a tool that does not answer by itself; returns when it has been called. */
static void line_hang(struct rest_rig *w, struct line *s, const struct fake_server *f,
                      const char *body)
{
    line_call(w, s, body);
    while (!f->n_held)
        line_turn(s);
}

/* Fills rest_head and rest_body, which must be as /openapi.json says; the status. */
static int line_answer(struct line *s)
{
    const char *end, *length;
    size_t head, n;
    int status;

    line_until(s, "\r\n\r\n");
    end = strstr(buf_cstr(&s->in), "\r\n\r\n");
    head = (size_t)(end - s->in.p) + 4;
    snprintf(rest_head, sizeof rest_head, "%.*s", (int)head, s->in.p);
    length = strstr(rest_head, "Content-Length: ");
    n = length && strncmp(rest_head + 9, "204", 3) != 0 ? strtoul(length + 16, NULL, 10) : 0;
    while (s->in.n < head + n && !s->over)
        line_turn(s);
    snprintf(rest_body, sizeof rest_body, "%.*s", (int)(s->in.n - head), s->in.p + head);
    status = (int)strtol(rest_head + 9, NULL, 10);
    if (*rest_body && strstr(rest_head, "Content-Type: application/json\r\n")) {
        read_shapes();
        shape_check(s->request, status, span_of(rest_body));
    }
    return status;
}

static int rest_ask(struct rest_rig *w, const char *request, const char *host, const char *headers,
                    const char *body)
{
    struct line s;
    int status;

    line_open(w, &s);
    line_ask(&s, request, host, headers, body);
    status = line_answer(&s);
    line_close(&s);
    return status;
}

static int rest_send(struct rest_rig *w, const char *request, const char *body)
{
    return rest_ask(w, request, NULL, *body ? REST_TOKEN REST_JSON : REST_TOKEN, body);
}

#define GET(w, path)        rest_send(w, "GET " path, "")
#define POST(w, path, body) rest_send(w, "POST " path, body)

/* A member of the answer's body: see json_member(). */
static const char *got(const char *path) { return json_member(rest_body, path); }
