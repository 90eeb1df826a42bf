/* rest_http.h - asking the daemon of cli_rig.h by HTTP, with its token. */
#pragma once
/* No test uses all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "cli_rig.h"
#include "shape_rig.h"

static void start(const char *const *more)
{
    const char *args[RIG_ARGS_MAX] = { "--token", "secret" };

    for (int i = 0; more && more[i]; i++)
        args[2 + i] = more[i];
    rig_daemon(args);
}

/* The status; `out` gets the body. $BUILD is filled in. */
static int http_plain(const char *method, const char *path, const char *body)
{
    AUTO_BUF struct buf request = { 0 }, answer = { 0 }, filled = { 0 };
    AUTO_CLOSE int fd = daemon_dial();
    const char *end;
    ssize_t n;

    for (const char *p = body; *p; p++) {
        if (strncmp(p, "$BUILD", 6) == 0) {
            buf_str(&filled, getenv("BUILD_DIR"));
            p += 5;
        } else {
            buf_byte(&filled, *p);
        }
    }
    buf_printf(&request,
               "%s %s HTTP/1.1\r\nHost: localhost:%d\r\nAuthorization: Bearer secret\r\n"
               "Connection: close\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
               method, path, daemon_port(), filled.n);
    buf_add_span(&request, buf_span(&filled));
    CHECK_INT(send(fd, request.p, request.n, MSG_NOSIGNAL), request.n);
    while ((n = recv(fd, buf_reserve(&answer, 65536), 65536, 0)) > 0)
        answer.n += (size_t)n;
    end = strstr(buf_cstr(&answer), "\r\n\r\n");
    CHECK(end != NULL);
    snprintf(out, sizeof out, "%s", end + 4);
    return (int)strtol(answer.p + 9, NULL, 10);
}

/* The same; the answer is held against what the program itself says about it in /openapi.json. */
static int http(const char *method, const char *path, const char *body)
{
    static char *openapi;
    char request[512];
    int status;

    if (!openapi) {
        CHECK_INT(http_plain("GET", "/openapi.json", ""), 200);
        openapi = mem_dup(out);
        shape_read(span_of(openapi));
    }
    snprintf(request, sizeof request, "%s %s", method, path);
    status = http_plain(method, path, body);
    if (out[0] == '{')
        shape_check(request, status, span_of(out));
    return status;
}

/* What a server's state is, as REST tells it. */
static const char *state_of(const char *server)
{
    char path[128];

    snprintf(path, sizeof path, "/api/servers/%s", server);
    return http("GET", path, "") == 200 ? member("state") : "";
}

#define BECOMES(server, state) WAIT_FOR(strcmp(state_of(server), state) == 0)

/* ---- events ---- */

static int listen_to_events(void)
{
    const char *host = strstr(file_text("daemon.err"), "127.0.0.1:");
    int fd = daemon_dial();

    dprintf(fd,
            "GET /api/events HTTP/1.1\r\nHost: %.*s\r\nAuthorization: Bearer secret\r\n"
            "Accept: text/event-stream\r\n\r\n",
            (int)strcspn(host, "/"), host);
    return fd;
}

/* Until all that was read holds this; the place after it. */
static size_t events_until(int fd, struct buf *read_so_far, size_t from, const char *what)
{
    const char *at;
    ssize_t n;

    while (!(at = strstr(buf_cstr(read_so_far) + from, what))) {
        n = recv(fd, buf_reserve(read_so_far, 65536), 65536, 0);
        if (n <= 0)
            TAP_FAIL("no '%s' among the events", what);
        read_so_far->n += (size_t)n;
    }
    return (size_t)(at - read_so_far->p) + strlen(what);
}
