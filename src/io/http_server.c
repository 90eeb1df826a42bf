#include "http_conn.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
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

static void on_listener_closed(uv_handle_t *h) { release_later(h->data); }

static void stop_listening(struct http_server *s)
{
    if (!s->listening)
        return;
    s->listening = false;
    timer_stop(&s->again);
    uv_poll_stop(&s->poll);
    uv_close((uv_handle_t *)&s->poll, on_listener_closed);
    close(s->fd);
    if (s->path)
        unlink(s->path);
}

static void on_connection(uv_poll_t *poll, int status, int events);

static void listen_again(void *ctx)
{
    struct http_server *s = ctx;

    uv_poll_start(&s->poll, UV_READABLE, on_connection);
}

/* What is left in the backlog after these comes with the next turn. */
static void on_connection(uv_poll_t *poll, int status, int events)
{
    struct http_server *s = poll->data;

    (void)status;
    (void)events;
    loop_mark(s->loop, "HTTP accept");
    for (int i = 0; i < HTTP_ACCEPTS_PER_TURN && s->listening; i++) {
        int fd = accept4(s->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0) {
            s->starved = false;
            conn_open(s, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            /* It would be reported again at once, for ever. */
            if (!s->starved)
                log_warn("no more connections can be accepted for now: %s", uv_err_name(-errno));
            s->starved = true;
            uv_poll_stop(poll);
            timer_start_weak(&s->again, HTTP_ACCEPT_RETRY_MS);
            return;
        } else if (errno == EAGAIN) {
            return;
        }
    }
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
    rc = uv_poll_init(loop_uv(s->loop), &s->poll, s->fd);
    if (rc < 0)
        return fail_sys(err, -rc, "watch a listening socket");
    s->poll.data = s;
    s->handles = 1;
    s->listening = true;
    return 0;
}

int http_server_new(struct http_server **out, struct pb_loop *l,
                    const struct http_server_options *opts, struct pb_error *err)
{
    struct http_server *s = NEW(struct http_server);
    int rc;

    s->loop = l;
    s->fd = -1;
    s->handler = opts->handler;
    s->admit = opts->admit;
    s->refusal = opts->refusal;
    s->ctx = opts->ctx;
    s->max_body = opts->max_body ? opts->max_body : REQUEST_BYTES_MAX;
    s->max_bodies = opts->max_bodies ? opts->max_bodies : HTTP_BODIES_BYTES_MAX;
    s->max_connections =
        (size_t)(opts->max_connections ? opts->max_connections : HTTP_CONNECTIONS_MAX);
    wait_init(s);
    timer_init(&s->again, l, listen_again, s);
    rc = start_listening(s, opts, err);
    if (rc < 0) {
        if (s->fd >= 0)
            close(s->fd);
        if (s->path)
            unlink(s->path);
        free(s->path);
        free(s);
        return rc;
    }
    listen_again(s);
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
