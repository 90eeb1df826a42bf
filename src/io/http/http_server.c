#include "http_conn.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

void server_release(struct http_server *s)
{
    loop_fn *fn = s->closed;
    void *ctx = s->closed_ctx;
    struct pb_loop *l = s->loop;

    if (!s->closing || s->handles)
        return;
    timer_stop(&s->timer);
    free(s->path);
    tally_unref(s->bodies);
    free(s);
    if (fn)
        fn(ctx);
    loop_closing_end(l);
}

static void release_later(void *ctx)
{
    struct http_server *s = ctx;

    s->handles--;
    server_release(s);
}

static void stop_listening(struct http_server *s)
{
    if (!s->listener)
        return;
    listener_free(TAKE(s->listener));
    close(s->fd);
    if (s->path)
        unlink(s->path);
}

static void on_connection(void *ctx, int fd) { conn_open(ctx, fd); }

/* Of the descriptors that this process may have some stay for children, files and connections of
 * its own. */
static void limit_connections(struct http_server *s, int wanted)
{
    struct rlimit files;
    size_t left, reserve;

    s->max_connections = wanted ? (size_t)wanted : HTTP_CONNECTIONS_MAX;
    s->max_refusals = HTTP_REFUSALS_MAX;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur == RLIM_INFINITY)
        return;
    reserve = files.rlim_cur / 2 < HTTP_FILES_RESERVE ? files.rlim_cur / 2 : HTTP_FILES_RESERVE;
    left = files.rlim_cur - reserve;
    if (s->max_connections > left)
        s->max_connections = left;
    if (s->max_refusals > reserve / 2)
        s->max_refusals = reserve / 2;
}

static int parse_address(const char *host, int port, struct sockaddr_storage *out,
                         struct pb_error *err)
{
    if (port < 0 || port > 65535)
        return fail(err, PB_E_INVALID, "port %d is outside 0..65535", port);
    if (uv_ip4_addr(host, port, (struct sockaddr_in *)out) == 0 ||
        uv_ip6_addr(host, port, (struct sockaddr_in6 *)out) == 0)
        return 0;
    return fail(err, PB_E_INVALID, "'%s' is not an IP address; use one, like 127.0.0.1 or ::1",
                host);
}

/* Accepted sockets inherit these on Linux: a few system calls for all of them together. A peer that
 * vanished without a word is found by the probes. */
static void set_options(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        { SOL_SOCKET, SO_REUSEADDR, 1 },
        { SOL_SOCKET, SO_KEEPALIVE, 1 },
        { IPPROTO_TCP, TCP_NODELAY, 1 },
        { IPPROTO_TCP, TCP_KEEPIDLE, HTTP_PROBE_S },
        { IPPROTO_TCP, TCP_KEEPINTVL, HTTP_PROBE_S / 4 },
        { IPPROTO_TCP, TCP_KEEPCNT, 4 },
    };

    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                   sizeof options[i].value);
}

static int listen_tcp(struct http_server *s, const char *host, int port, struct pb_error *err)
{
    struct sockaddr_storage addr = { 0 };
    socklen_t len;

    if (parse_address(host, port, &addr, err) < 0)
        return -PB_E_INVALID;
    len = addr.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    s->fd = socket(addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->fd < 0)
        return fail_sys(err, errno, "make a socket");
    set_options(s->fd);
    if (bind(s->fd, (struct sockaddr *)&addr, len) < 0 || listen(s->fd, HTTP_BACKLOG) < 0 ||
        getsockname(s->fd, (struct sockaddr *)&addr, &len) < 0)
        return fail_sys(err, errno, "listen on %s port %d", host, port);
    s->port = ntohs(addr.ss_family == AF_INET ? ((struct sockaddr_in *)&addr)->sin_port
                                              : ((struct sockaddr_in6 *)&addr)->sin6_port);
    return 0;
}

/* A socket that a killed process left behind is in the way; one that answers is not ours. */
static void remove_stale(const struct sockaddr_un *addr)
{
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct stat st;

    if (fd < 0 || lstat(addr->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return;
    if (connect(fd, (const struct sockaddr *)addr, sizeof *addr) < 0 && errno == ECONNREFUSED)
        unlink(addr->sun_path);
}

static int listen_unix(struct http_server *s, const char *path, struct pb_error *err)
{
    struct sockaddr_un addr = { .sun_family = AF_UNIX };

    if (strlen(path) >= sizeof addr.sun_path)
        return fail(err, PB_E_INVALID, "the path of a socket is longer than %zu bytes: '%s'",
                    sizeof addr.sun_path - 1, path);
    memcpy(addr.sun_path, path, strlen(path));
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->fd < 0)
        return fail_sys(err, errno, "make a socket");
    remove_stale(&addr);
    if (bind(s->fd, (struct sockaddr *)&addr, sizeof addr) < 0)
        return fail_sys(err, errno, "bind to '%s'", path);
    s->path = mem_dup(path);
    /* The mode before listening: until then nobody can connect. */
    if (chmod(path, 0600) < 0 || listen(s->fd, HTTP_BACKLOG) < 0)
        return fail_sys(err, errno, "listen on '%s'", path);
    return 0;
}

static int start_listening(struct http_server *s, const struct http_server_options *opts,
                           struct pb_error *err)
{
    int rc = opts->unix_path
                 ? listen_unix(s, opts->unix_path, err)
                 : listen_tcp(s, opts->host ? opts->host : "127.0.0.1", opts->port, err);

    if (rc < 0)
        return rc;
    return listener_new(&s->listener, s->loop, s->fd, on_connection, s, err);
}

int http_server_new(struct http_server **out, struct pb_loop *l,
                    const struct http_server_options *opts, struct pb_error *err)
{
    struct http_server *s = NEW(struct http_server);
    int rc;

    s->loop = l;
    s->fd = -1;
    s->bodies = tally_new();
    s->handler = opts->handler;
    s->admit = opts->admit;
    s->refusal = opts->refusal;
    s->ctx = opts->ctx;
    s->max_body = opts->max_body ? opts->max_body : REQUEST_BYTES_MAX;
    s->max_bodies = opts->max_bodies ? opts->max_bodies : HTTP_BODIES_BYTES_MAX;
    s->max_unread = opts->max_unread ? opts->max_unread : HTTP_UNREAD_BYTES_MAX;
    limit_connections(s, opts->max_connections);
    wait_init(s);
    rc = start_listening(s, opts, err);
    if (rc < 0) {
        if (s->fd >= 0)
            close(s->fd);
        if (s->path)
            unlink(s->path);
        free(s->path);
        tally_unref(s->bodies);
        free(s);
        return rc;
    }
    *out = s;
    return 0;
}

int http_server_port(const struct http_server *s) { return s->port; }

size_t http_server_connections(const struct http_server *s) { return s->connections; }

void http_server_drain(struct http_server *s)
{
    struct list *pos, *safe;

    s->draining = true;
    stop_listening(s);
    for (int w = HTTP_WAIT_HEAD; w <= HTTP_WAIT_IDLE; w++)
        LIST_FOREACH(pos, safe, &s->waits[w]) {
            struct http_conn *c = CONTAINER_OF(pos, struct http_conn, link);

            if (c->state.now == CONN_IDLE && !c->held.n)
                conn_close(c);
        }
    LIST_FOREACH(pos, safe, &s->waits[HTTP_WAIT_NONE])
        CONTAINER_OF(pos, struct http_conn, link)->close_after = true;
    LIST_FOREACH(pos, safe, &s->waits[HTTP_WAIT_STALL])
        CONTAINER_OF(pos, struct http_conn, link)->close_after = true;
}

void http_server_close(struct http_server *s, loop_fn *fn, void *ctx)
{
    loop_closing_begin(s->loop);
    s->closed = fn;
    s->closed_ctx = ctx;
    s->closing = true;
    s->handles++; /* for release_later(): no gone callback sees it freed */
    stop_listening(s);
    timer_stop(&s->timer);
    for (int w = 0; w < HTTP_WAIT_COUNT; w++)
        while (!list_empty(&s->waits[w]))
            conn_close(CONTAINER_OF(s->waits[w].next, struct http_conn, link));
    loop_defer(s->loop, release_later, s);
}
