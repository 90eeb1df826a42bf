#include "attach.h"
#include "face/host/host.h"
#include "mcp/serve/serve.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { BACKLOG = 64, GUESTS_MAX = 1024 };

/* A connection whose first line has not come yet. */
struct guest {
    struct list link;
    struct attach *attach;
    int fd;
    struct readable *readable;
    struct timer patience;
    size_t n;
    char line[ATTACH_LINE_MAX];
};

struct attach {
    struct hosts *hosts;
    struct pb_loop *loop;
    char *path;
    int fd, lock;
    struct listener *listener;
    struct list guests;
    size_t n_guests;
};

/* ---- the first line ------------------------------------------------------------------------ */

struct attach_wish {
    struct json attach;
    char *server, *mode, *expose, *directory;
    bool control;
};

static int read_wish(struct span line, struct host_scope *out, struct arena *a,
                     struct pb_error *err)
{
    static const struct json_field outer[] = {
        { "attach", JSON_FIELD_OBJECT, offsetof(struct attach_wish, attach), JSON_REQUIRED },
        { 0 },
    };
    static const struct json_field inner[] = {
        { "server", JSON_FIELD_CSTR, offsetof(struct attach_wish, server), 0 },
        { "mode", JSON_FIELD_CSTR, offsetof(struct attach_wish, mode), 0 },
        { "expose", JSON_FIELD_CSTR, offsetof(struct attach_wish, expose), 0 },
        { "directory", JSON_FIELD_CSTR, offsetof(struct attach_wish, directory), 0 },
        { "control", JSON_FIELD_BOOL, offsetof(struct attach_wish, control), 0 },
        { 0 },
    };
    AUTO_JSON struct json_doc doc = { 0 };
    struct attach_wish w = { 0 };
    int rc = json_parse(&doc, line, &(struct json_opts){ .unique_depth = JSON_ALL }, err);

    if (rc == 0)
        rc = json_fields(json_root(&doc), outer, &w, a, err);
    if (rc == 0)
        rc = json_fields(w.attach, inner, &w, a, err);
    if (rc < 0)
        return fail_in(err, "the first line");
    *out = (struct host_scope){
        .server = w.server, .mode = w.mode, .directory = w.directory, .control = w.control
    };
    return w.expose ? host_parse_expose(w.expose, &out->expose, err) : 0;
}

static void write_wish(struct buf *out, const struct host_scope *s)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_begin_object(&o, "attach");
    json_put_str_opt(&o, "server", s->server);
    json_put_str_opt(&o, "mode", s->mode);
    json_put_str_opt(&o, "directory", s->directory);
    if (s->expose) {
        AUTO_BUF struct buf names = { 0 };

        host_write_expose(&names, s->expose);
        json_put_span(&o, "expose", buf_span(&names));
    }
    if (s->control)
        json_put_bool(&o, "control", true);
    json_end(&o);
    json_end(&o);
    buf_byte(out, '\n');
}

/* On both ends: who is there may take over what the other one may do. */
static bool same_user(int fd)
{
    struct ucred cred;
    socklen_t n = sizeof cred;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) == 0 &&
           (cred.uid == geteuid() || cred.uid == 0);
}

/* ---- the daemon's end ---------------------------------------------------------------------- */

static void guest_free(void *p) { free(p); }

/* The descriptor is another's, or closed by the caller. */
static void forget(struct guest *g)
{
    timer_stop(&g->patience);
    readable_free(TAKE(g->readable));
    list_remove(&g->link);
    g->attach->n_guests--;
    loop_free_later(g->attach->loop, g, guest_free);
}

static void say(int fd, const char *key, const char *text)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    if (strcmp(key, "attached") == 0) {
        json_begin_object(&o, key);
        json_put_str(&o, "version", text);
        json_end(&o);
    } else {
        json_put_str(&o, key, text);
    }
    json_end(&o);
    buf_byte(&b, '\n');
    /* A fresh socket has room for one line; one that has not is of somebody who does not read. */
    if (send(fd, b.p, b.n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        log_debug("attach: a client is gone before it was answered");
}

static void welcome(struct guest *g)
{
    AUTO_ARENA struct arena a = { 0 };
    struct host_scope scope;
    struct host *host;
    struct pb_error err;
    int fd = g->fd;
    int rc = read_wish(span_make(g->line, g->n), &scope, &a, &err);

    if (rc == 0)
        rc = hosts_get(g->attach->hosts, &scope, &host, &err);
    forget(g);
    if (rc == 0) {
        say(fd, "attached", pb_version());
        rc = server_take_socket(host_server(host), fd, &err);
    } else {
        say(fd, "error", err.msg);
    }
    if (rc < 0) {
        log_debug("attach: %s", err.msg);
        close(fd);
    }
}

static void drop(struct guest *g, const char *why)
{
    int fd = g->fd;

    forget(g);
    if (why)
        say(fd, "error", why);
    close(fd);
}

static void on_late(void *ctx) { drop(ctx, "no first line in time"); }

/* Bytes behind the line are MCP's: only what belongs to it is taken from the socket. */
static void on_first_bytes(void *ctx)
{
    struct guest *g = ctx;
    ssize_t n = recv(g->fd, g->line + g->n, sizeof g->line - g->n, MSG_PEEK | MSG_DONTWAIT);
    const char *end;

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        drop(g, NULL);
        return;
    }
    end = memchr(g->line + g->n, '\n', (size_t)n);
    if (end)
        n = end + 1 - (g->line + g->n);
    n = recv(g->fd, g->line + g->n, (size_t)n, MSG_DONTWAIT);
    if (n > 0)
        g->n += (size_t)n;
    if (end)
        welcome(g);
    else if (g->n == sizeof g->line)
        drop(g, "the first line is too long");
}

static void on_connection(void *ctx, int fd)
{
    struct attach *a = ctx;
    struct pb_error err;
    struct guest *g;

    if (!same_user(fd) || a->n_guests == GUESTS_MAX) {
        log_warn("attach: %s", a->n_guests == GUESTS_MAX ? "too many at once" : "another user");
        close(fd);
        return;
    }
    g = NEW(struct guest);
    g->attach = a;
    g->fd = fd;
    if (readable_new(&g->readable, a->loop, fd, on_first_bytes, g, &err) < 0) {
        log_warn("attach: %s", err.msg);
        close(fd);
        free(g);
        return;
    }
    timer_init(&g->patience, a->loop, on_late, g);
    timer_start_weak(&g->patience, ATTACH_MS);
    list_append(&a->guests, &g->link);
    a->n_guests++;
}

static int set_address(struct sockaddr_un *to, const char *path, struct pb_error *err)
{
    size_t n = strlen(path);

    *to = (struct sockaddr_un){ .sun_family = AF_UNIX };
    if (n >= sizeof to->sun_path)
        return fail(err, PB_E_LIMIT,
                    "the socket's path is longer than the %zu bytes that are possible; set "
                    "XDG_RUNTIME_DIR or PATCHBAY_HOME to something shorter. It is %s",
                    sizeof to->sun_path - 1, path);
    memcpy(to->sun_path, path, n + 1);
    return 0;
}

/* Who may write there could put a socket of his own in our place. */
static int check_directory(const char *dir, struct pb_error *err)
{
    struct stat st;

    if (stat(dir, &st) < 0)
        return fail_sys(err, errno, "look at the directory '%s'", dir);
    if ((st.st_uid != geteuid() && st.st_uid != 0) || (st.st_mode & 022))
        return fail(err, PB_E_INVALID,
                    "the directory '%s' of the socket is another user's or others may write to "
                    "it; make it yours alone: chmod 700",
                    dir);
    return 0;
}

static int make_directory(const char *path, struct pb_error *err)
{
    AUTO_FREE char *dir = mem_dup(path);
    char *slash = strrchr(dir, '/');
    int rc;

    if (!slash || slash == dir)
        return 0;
    *slash = '\0';
    rc = file_make_directories(dir, err);
    return rc < 0 ? rc : check_directory(dir, err);
}

static int fail_busy(const char *path, struct pb_error *err)
{
    return fail(err, PB_E_BUSY,
                "another patchbay is running and listens on '%s'; 'patchbay status' tells more",
                path);
}

/* Held for life: of two that start at the same moment, and both find an old socket, only one goes
 * on; and nobody removes the socket of another. The kernel lets go of it when we are killed. */
static int take_lock(const char *path, struct pb_error *err)
{
    AUTO_BUF struct buf name = { 0 };
    int fd;

    buf_printf(&name, "%s.lock", path);
    fd = open(buf_cstr(&name), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fail_sys(err, errno, "open '%s'", buf_cstr(&name));
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    int rc = errno == EWOULDBLOCK ? fail_busy(path, err)
                                  : fail_sys(err, errno, "lock '%s'", buf_cstr(&name));

    close(fd);
    return rc;
}

/* A socket file stays when its daemon was killed: it is in the way, but nobody listens. */
static int clear_the_way(const struct sockaddr_un *to, struct pb_error *err)
{
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct stat st;

    if (lstat(to->sun_path, &st) < 0)
        return 0;
    if (!S_ISSOCK(st.st_mode))
        return fail(err, PB_E_INVALID, "'%s' is in the way and no socket; remove it", to->sun_path);
    if (fd >= 0 && (connect(fd, (const struct sockaddr *)to, sizeof *to) == 0 || errno == EAGAIN))
        return fail_busy(to->sun_path, err);
    if (unlink(to->sun_path) < 0 && errno != ENOENT)
        return fail_sys(err, errno, "remove the old socket '%s'", to->sun_path);
    return 0;
}

static int listen_at(const struct sockaddr_un *to, struct pb_error *err)
{
    int fd, rc = clear_the_way(to, err);

    if (rc < 0)
        return rc;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return fail_sys(err, errno, "make a unix socket");
    /* Linux takes the mode of the file from the socket's own: it is never wider, not for a moment.
     */
    if (fchmod(fd, 0600) < 0 || bind(fd, (const struct sockaddr *)to, sizeof *to) < 0 ||
        listen(fd, BACKLOG) < 0) {
        rc = fail_sys(err, errno, "listen on '%s'", to->sun_path);
        close(fd);
        return rc;
    }
    return fd;
}

/* *lock and the socket, or neither. */
static int open_door(int *lock, const char *path, struct pb_error *err)
{
    struct sockaddr_un to;
    int fd, rc = set_address(&to, path, err);

    if (rc == 0)
        rc = make_directory(path, err);
    if (rc < 0)
        return rc;
    *lock = take_lock(path, err);
    if (*lock < 0)
        return *lock;
    fd = listen_at(&to, err);
    if (fd < 0)
        close(*lock);
    return fd;
}

int attach_listen(struct attach **out, struct hosts *hosts, const char *path, struct pb_error *err)
{
    int lock, fd = open_door(&lock, path, err);
    struct attach *a;
    int rc;

    if (fd < 0)
        return fd;
    a = NEW(struct attach);
    *a = (struct attach){ .hosts = hosts, .loop = hosts_loop(hosts), .fd = fd, .lock = lock };
    list_init(&a->guests);
    rc = listener_new(&a->listener, a->loop, fd, on_connection, a, err);
    if (rc < 0) {
        unlink(path);
        close(fd);
        close(lock);
        free(a);
        return rc;
    }
    a->path = mem_dup(path);
    *out = a;
    return 0;
}

static void attach_free(void *p)
{
    struct attach *a = p;

    free(a->path);
    free(a);
}

void attach_close(struct attach *a, loop_fn *fn, void *ctx)
{
    while (!list_empty(&a->guests))
        drop(CONTAINER_OF(a->guests.next, struct guest, link), "the daemon is stopping");
    listener_free(TAKE(a->listener));
    unlink(a->path);
    close(a->fd);
    close(a->lock); /* its file stays: another may have opened it already */
    if (fn)
        loop_defer(a->loop, fn, ctx);
    loop_free_later(a->loop, a, attach_free);
}

/* ---- the other end ------------------------------------------------------------------------- */

/* One line, and not a byte more. */
static int read_line(int fd, struct buf *out, struct pb_error *err)
{
    while (out->n < ATTACH_LINE_MAX) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        char c;
        ssize_t n;

        if (poll(&p, 1, ATTACH_MS) == 0)
            return fail(err, PB_E_TIMEOUT, "the daemon does not answer");
        n = recv(fd, &c, 1, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return fail(err, PB_E_CLOSED, "the daemon has closed the connection");
        if (c == '\n')
            return 0;
        buf_byte(out, c);
    }
    return fail(err, PB_E_LIMIT, "the daemon's first line is too long");
}

static int greet(int fd, const struct host_scope *scope, struct pb_error *err)
{
    AUTO_BUF struct buf line = { 0 };
    AUTO_BUF struct buf answer = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct json refusal;
    int rc;

    write_wish(&line, scope);
    if (send(fd, line.p, line.n, MSG_NOSIGNAL) != (ssize_t)line.n)
        return fail_sys(err, errno, "talk to the daemon");
    rc = read_line(fd, &answer, err);
    if (rc == 0)
        rc = json_parse(&doc, buf_span(&answer), NULL, err);
    if (rc < 0)
        return rc;
    refusal = json_get(json_root(&doc), "error");
    if (json_is(refusal, JSON_STRING))
        return fail(err, PB_E_NOT_FOUND, "%s", json_cstr(refusal, &a));
    return 0;
}

int attach_connect(int *out, const char *path, const struct host_scope *scope, struct pb_error *err)
{
    struct sockaddr_un to;
    int fd, rc = set_address(&to, path, err);

    if (rc < 0)
        return rc;
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fail_sys(err, errno, "make a unix socket");
    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
        rc = errno == ENOENT || errno == ECONNREFUSED
                 ? fail(err, PB_E_CLOSED, "no daemon listens on '%s'", path)
                 : fail_sys(err, errno, "connect to '%s'", path);
    else if (!same_user(fd))
        rc = fail(err, PB_E_INVALID, "who listens on '%s' is another user; it is not used", path);
    else
        rc = greet(fd, scope, err);
    if (rc < 0) {
        close(fd);
        return rc;
    }
    *out = fd;
    return 0;
}
