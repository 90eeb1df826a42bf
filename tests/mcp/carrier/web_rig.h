/* web_rig.h - an HTTP client for tests: it writes what it is told, byte for byte, and takes answers
 * apart, turning the server's loop while it waits. */
#pragma once
/* No test uses all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "loopback.h"
#include "mcp/registry/registry.h"
#include "mcp/rpc/rpc.h"
#include "mcp/server_rig.h"

struct web {
    struct rig *rig;
    int fd;
    struct buf in;   /* received and not looked at yet */
    struct buf body; /* of a stream, without its chunks */
    bool chunked, over;
};

struct answer {
    int status;
    const char *head; /* with the status line */
    const char *body; /* NULL: it is a stream */
};

static void rig_http(struct rig *rig, const struct pb_http_options *options)
{
    struct pb_error err;

    rig_open(rig, NULL);
    if (pb_server_http(rig->server, options, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

static struct web web_open(struct rig *rig)
{
    struct web w = { .rig = rig, .fd = loopback_dial(pb_server_port(rig->server)) };

    CHECK_INT(fcntl(w.fd, F_SETFL, O_NONBLOCK), 0);
    return w;
}

static void web_close(struct web *w)
{
    close(w->fd);
    buf_done(&w->in);
    buf_done(&w->body);
    rig_settle(w->rig);
}

static void web_send_bytes(struct web *w, const char *p, size_t n)
{
    for (int i = 0; n; i++) {
        ssize_t done = send(w->fd, p, n, MSG_NOSIGNAL);

        if (done > 0) {
            p += done;
            n -= (size_t)done;
        } else if (errno != EAGAIN || i > RIG_TURNS_MAX) {
            return; /* refused: the answer tells */
        }
        rig_turn(w->rig);
    }
}

/* False at the end of the connection. */
static bool web_receive(struct web *w)
{
    char *room = buf_reserve(&w->in, 65536);
    ssize_t n = recv(w->fd, room, 65536, 0);

    if (n > 0)
        w->in.n += (size_t)n;
    return n > 0 || (n < 0 && errno == EAGAIN);
}

static void web_wait(struct web *w, int *turns)
{
    rig_turn(w->rig);
    if (!web_receive(w))
        w->over = true;
    if (++*turns > 100)
        rig_breathe(w->rig, w->fd);
    if (*turns > RIG_TURNS_MAX)
        TAP_FAIL("nothing came");
}

static const char *web_header(struct web *w, const char *head, const char *name)
{
    size_t n = strlen(name);

    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (!strncasecmp(line + 2, name, n) && line[2 + n] == ':') {
            const char *value = line + 3 + n + strspn(line + 3 + n, " ");

            return arena_dup(&w->rig->arena, span_make(value, strcspn(value, "\r")));
        }
    return NULL;
}

/* The answer without its body, which an answer to HEAD has not. */
static struct answer web_head(struct web *w)
{
    struct answer a = { 0 };
    const char *end;
    size_t n;
    int turns = 0;

    while (!(end = w->in.n ? memmem(w->in.p, w->in.n, "\r\n\r\n", 4) : NULL)) {
        if (w->over)
            TAP_FAIL("the connection ended without an answer");
        web_wait(w, &turns);
    }
    n = (size_t)(end - w->in.p) + 4;
    a.head = arena_dup(&w->rig->arena, span_make(w->in.p, n));
    a.status = (int)strtol(a.head + 9, NULL, 10);
    buf_consume(&w->in, n);
    return a;
}

static struct answer web_answer(struct web *w)
{
    struct answer a = web_head(w);
    const char *length = web_header(w, a.head, "Content-Length");
    size_t want = length ? (size_t)strtoul(length, NULL, 10) : 0;
    int turns = 0;

    w->chunked = web_header(w, a.head, "Transfer-Encoding") != NULL;
    if (w->chunked)
        return a;
    while (w->in.n < want)
        web_wait(w, &turns);
    a.body = arena_dup(&w->rig->arena, span_make(w->in.p, want));
    buf_consume(&w->in, want);
    return a;
}

/* Moves whole chunks to the body; the last one ends it. */
static void web_unchunk(struct web *w)
{
    for (;;) {
        const char *line = w->in.n ? memmem(w->in.p, w->in.n, "\r\n", 2) : NULL;
        size_t size, at;

        if (!line)
            return;
        size = strtoul(w->in.p, NULL, 16);
        at = (size_t)(line - w->in.p) + 2;
        if (w->in.n < at + size + 2)
            return;
        buf_add(&w->body, w->in.p + at, size);
        buf_consume(&w->in, at + size + 2);
        if (!size) {
            w->over = true;
            return;
        }
    }
}

/* The next event, as it was written, without the blank line; NULL at the end of the stream. */
static const char *web_event(struct web *w)
{
    int turns = 0;

    for (;;) {
        const char *end;
        const char *event;

        web_unchunk(w);
        end = w->body.n ? memmem(w->body.p, w->body.n, "\n\n", 2) : NULL;
        if (end) {
            event = arena_dup(&w->rig->arena, span_make(w->body.p, (size_t)(end - w->body.p)));
            buf_consume(&w->body, (size_t)(end - w->body.p) + 2);
            return event;
        }
        if (w->over)
            return NULL;
        web_wait(w, &turns);
    }
}

/* No event comes, however often the loop turns. */
static void web_no_event(struct web *w)
{
    rig_settle(w->rig);
    web_receive(w);
    web_unchunk(w);
    CHECK(!memmem(w->body.p ? w->body.p : "", w->body.n, "\n\n", 2));
    CHECK(!w->over);
}

/* ---- MCP ---------------------------------------------------------------------------------- */

/* `headers` are complete lines, or "". Host comes by itself. */
static void web_request(struct web *w, const char *method, const char *path, const char *headers,
                        const char *body)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%s", method, path,
               pb_server_port(w->rig->server), headers);
    if (body)
        buf_printf(&text, "Content-Length: %zu\r\n", strlen(body));
    buf_printf(&text, "\r\n%s", body ? body : "");
    web_send_bytes(w, text.p, text.n);
}

#define WEB_POST                         \
    "Content-Type: application/json\r\n" \
    "Accept: application/json, text/event-stream\r\n"

static struct answer web_post(struct web *w, const char *headers, const char *body)
{
    web_request(w, "POST", "/mcp", arena_printf(&w->rig->arena, WEB_POST "%s", headers), body);
    return web_answer(w);
}

/* Opens a session; returns the header line that names it. */
static const char *web_session(struct web *w, const char *version)
{
    struct answer a =
        web_post(w, "",
                 arena_printf(&w->rig->arena,
                              "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                              "\"protocolVersion\":\"%s\",\"capabilities\":{\"elicitation\":{}},"
                              "\"clientInfo\":{\"name\":\"rig\",\"version\":\"1\"}}}",
                              version));
    const char *id = web_header(w, a.head, "Mcp-Session-Id");

    CHECK_INT(a.status, 200);
    CHECK(id);
    return arena_printf(&w->rig->arena, "Mcp-Session-Id: %s\r\n", id);
}

/* Opens the stream of a session that belongs to no request. */
static void web_own_stream(struct web *w, const char *session)
{
    struct answer a;

    web_request(w, "GET", "/mcp",
                arena_printf(&w->rig->arena, "%sAccept: text/event-stream\r\n", session), NULL);
    a = web_answer(w);
    CHECK_INT(a.status, 200);
    CHECK_STR(web_header(w, a.head, "Content-Type"), "text/event-stream");
}

#define WEB_MODERN_HEADERS(method) "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " method "\r\n"
#define WEB_META                                                         \
    "\"_meta\":{\"" META_VERSION "\":\"2026-07-28\",\"" META_CLIENT_CAPS \
    "\":{},\"progressToken\":\"p\"}"
#define WEB_MODERN(id, method, params) \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":{" params WEB_META "}}"
#define WEB_CALL(id, tool)                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool \
    "\",\"arguments\":{},\"_meta\":{\"progressToken\":1}}}"
#define WEB_PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define WEB_MODERN_CALL(tool) \
    WEB_MODERN("1", "tools/call", "\"name\":\"" tool "\",\"arguments\":{},")
#define WEB_MODERN_CALL_HEADERS(tool) WEB_MODERN_HEADERS("tools/call") "Mcp-Name: " tool "\r\n"
