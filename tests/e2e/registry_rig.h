/* registry_rig.h - a registry of servers that a test plays: one HTTP server on a thread, which
 * answers everything with what it was last told, and knows what it was asked. */
#pragma once
#include "rest_http.h"
#include <pthread.h>
#include <stdatomic.h>

enum { MOCK_REQUEST_MAX = 4096 };

struct mock {
    int fd, port;
    pthread_t thread;
    _Atomic int status;
    const char *_Atomic body;
    struct mock *_Atomic waits_for; /* answers when that one has been asked */
    atomic_int asked;
    char line[MOCK_REQUEST_MAX]; /* the last request's first; good once it is answered */
};

static void mock_answer(struct mock *m, int fd)
{
    char text[MOCK_REQUEST_MAX] = "";
    size_t n = 0;
    ssize_t got;

    while (!strstr(text, "\r\n\r\n") && (got = recv(fd, text + n, sizeof text - 1 - n, 0)) > 0)
        text[n += (size_t)got] = '\0';
    snprintf(m->line, sizeof m->line, "%.*s", (int)strcspn(text, "\r"), text);
    atomic_fetch_add(&m->asked, 1);
    while (m->waits_for && !atomic_load(&m->waits_for->asked))
        poll(NULL, 0, 1);
    dprintf(fd,
            "HTTP/1.1 %d x\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n"
            "Connection: close\r\n\r\n%s",
            m->status, strlen(m->body), m->body);
}

static void *mock_run(void *ctx)
{
    struct mock *m = ctx;
    int fd;

    while ((fd = accept4(m->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        mock_answer(m, fd);
        close(fd);
    }
    return NULL;
}

static void mock_start(struct mock *m, const char *body)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t n = sizeof at;

    *m = (struct mock){ .status = 200, .body = body };
    m->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(m->fd >= 0 && bind(m->fd, (struct sockaddr *)&at, n) == 0 && listen(m->fd, 16) == 0);
    CHECK_INT(getsockname(m->fd, (struct sockaddr *)&at, &n), 0);
    m->port = ntohs(at.sin_port);
    CHECK_INT(pthread_create(&m->thread, NULL, mock_run, m), 0);
}

static void mock_stop(struct mock *m)
{
    shutdown(m->fd, SHUT_RDWR);
    pthread_join(m->thread, NULL);
    close(m->fd);
}

#define GITHUB                                                                               \
    "{\"servers\":[{\"server\":{\"name\":\"github/github-mcp-server\",\"title\":\"GitHub\"," \
    "\"description\":\"GitHub MCP Server\"}}]}"
#define SMITHERY_GITHUB                                                              \
    "{\"servers\":[{\"qualifiedName\":\"github/github-mcp-server\",\"displayName\":" \
    "\"Another\"},{\"qualifiedName\":\"brave\",\"displayName\":\"Brave\",\"description\":\"Web\"}]}"
