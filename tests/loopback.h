/* loopback.h - sockets that lead to this machine. */
#pragma once
#include "tap.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

static inline struct sockaddr_in loopback_at(int port)
{
    return (struct sockaddr_in){ .sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* -1: nobody listens there. */
static inline int loopback_try(int port)
{
    struct sockaddr_in to = loopback_at(port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

static inline bool loopback_listens(int port)
{
    int fd = loopback_try(port);

    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static inline int loopback_dial(int port)
{
    int fd = loopback_try(port);

    if (fd < 0)
        TAP_FAIL("nobody listens on port %d", port);
    return fd;
}

/* A socket with a port that nobody else gets while it is open, and on which nobody listens. */
static inline int loopback_bind(int *port)
{
    struct sockaddr_in at = loopback_at(0);
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&at, &n) == 0);
    *port = ntohs(at.sin_port);
    return fd;
}

/* One that was free just now, for a program that is given its port. */
static inline int loopback_free_port(void)
{
    int port;

    close(loopback_bind(&port));
    return port;
}
