/* http_client_rig.h - an HTTP client on a loop with a manual clock; our own server on the same
 * loop; and a raw server on a thread of its own that says exactly the bytes it is told. */
#pragma once
#include "cpu_time.h"
#include "http_rig.h"
#include "io/http/http.h"
#include <poll.h>
#include <pthread.h>

struct result {
    int status, heads, datas, done;
    bool failed;
    struct buf body;
    struct pb_error err;
    struct http_call *call;
    struct buf header; /* of `want`, taken when the head came */
    const char *want;
    double header_ms; /* of work that it took to find it */
    bool pause;       /* refuse the next bytes */
    size_t bite;      /* take so many at a time, and resume; 0: all */
    int paused;
};

static inline void result_head(void *ctx, int status)
{
    struct result *r = ctx;
    struct span value;
    double began;

    CHECK_INT(r->done, 0);
    r->heads++;
    r->status = status;
    if (r->want) {
        began = cpu_ms();
        value = http_call_header(r->call, r->want);
        r->header_ms = cpu_ms() - began;
        buf_add_span(&r->header, value.p ? value : SPAN("(absent)"));
    }
}

static inline size_t result_data(void *ctx, struct span bytes)
{
    struct result *r = ctx;

    CHECK_INT(r->heads, 1);
    CHECK_INT(r->done, 0);
    r->datas++;
    if (r->pause) {
        r->paused++;
        return 0;
    }
    if (r->bite && bytes.n > r->bite) {
        bytes.n = r->bite;
        http_call_resume(r->call);
    }
    buf_add_span(&r->body, bytes);
    return bytes.n;
}

static inline void result_done(void *ctx, const struct pb_error *err)
{
    struct result *r = ctx;

    CHECK_INT(r->done, 0);
    r->done = 1;
    r->failed = err;
    if (err)
        r->err = *err;
}

static const struct http_client_events result_events = { result_head, result_data, result_done };

static inline void result_free(struct result *r)
{
    buf_done(&r->body);
    buf_done(&r->header);
}

struct client_rig {
    struct rig rig; /* with our server */
    struct http_client *client;
    char url[64]; /* of our server, without a path */
};

static inline void client_rig_open(struct client_rig *c)
{
    rig_open(&c->rig);
    c->client = http_client_new(c->rig.loop);
    snprintf(c->url, sizeof c->url, "http://127.0.0.1:%d", http_server_port(c->rig.server));
}

static inline void client_rig_close(struct client_rig *c)
{
    http_client_close(c->client, NULL, NULL);
    rig_close(&c->rig);
}

static inline void client_send(struct client_rig *c, struct result *r,
                               const struct http_client_request *req)
{
    struct pb_error err;

    if (http_client_send(c->client, &r->call, req, &result_events, r, &err) < 0)
        TAP_FAIL("%s", err.msg);
    CHECK_INT(r->heads + r->datas + r->done, 0); /* no event inside the call */
}

static inline void client_get(struct client_rig *c, struct result *r, const char *base,
                              const char *path)
{
    char url[256];

    snprintf(url, sizeof url, "%s%s", base, path);
    client_send(c, r, &(struct http_client_request){ .url = url });
}

/* Until *flag; the loop sleeps until something happens. */
static inline void client_until(struct client_rig *c, const int *flag)
{
    while (!*flag)
        CHECK(loop_turn(c->rig.loop, true));
}

/* ---- The raw server ---------------------------------------------------------------------- */

enum { RAW_SCRIPTS = 8 };

struct raw_script {
    struct span first; /* said after a whole request came */
    struct span again; /* then, over and over */
    size_t times;      /* how often; SIZE_MAX: until nobody takes it */
    bool hold;         /* then wait for the client to leave, instead of closing */
};

struct raw {
    int fd, port;
    pthread_t thread;
    struct raw_script scripts[RAW_SCRIPTS]; /* one per request; the last is used again */
    int n_scripts;
    int stop[2];
    struct buf seen; /* all requests; read it after raw_close() */
    char url[64];
};

static inline bool raw_say(int fd, struct span text)
{
    while (text.n) {
        ssize_t n = send(fd, text.p, text.n, MSG_NOSIGNAL);

        if (n <= 0)
            return false;
        text = span_from(text, (size_t)n);
    }
    return true;
}

/* One request, with its body if it has a length. */
static inline bool raw_read(struct raw *w, int fd)
{
    AUTO_BUF struct buf in = { 0 };
    const char *end = NULL, *length;
    size_t need = 0;

    while (!end || in.n < need) {
        ssize_t n = recv(fd, buf_reserve(&in, 65536), 65536, 0);

        if (n <= 0)
            return false;
        in.n += (size_t)n;
        end = strstr(buf_cstr(&in), "\r\n\r\n");
        length = strcasestr(in.p, "\r\nContent-Length: ");
        need = end ? (size_t)(end - in.p) + 4 + (length ? strtoul(length + 18, NULL, 10) : 0) : 0;
    }
    buf_add_span(&w->seen, buf_span(&in));
    return true;
}

static inline void raw_serve(struct raw *w, int fd, int *request)
{
    while (raw_read(w, fd)) {
        int i = *request < w->n_scripts ? *request : w->n_scripts - 1;
        const struct raw_script *s = &w->scripts[i];
        bool ok = raw_say(fd, s->first);

        (*request)++;
        for (size_t k = 0; ok && k < s->times; k++)
            ok = raw_say(fd, s->again);
        if (!ok || !s->hold)
            return;
    }
}

static inline void *raw_main(void *ctx)
{
    struct raw *w = ctx;
    int request = 0;

    for (;;) {
        struct pollfd p[2] = { { w->fd, POLLIN, 0 }, { w->stop[0], POLLIN, 0 } };
        int fd;

        poll(p, 2, -1);
        if (p[1].revents)
            return NULL;
        fd = accept(w->fd, NULL, NULL);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
        raw_serve(w, fd, &request);
        close(fd);
    }
}

/* Port 0: any. */
static inline void raw_open_at(struct raw *w, uint32_t address, int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_addr.s_addr = htonl(address),
                              .sin_port = htons((uint16_t)port) };
    socklen_t len = sizeof at;

    w->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(w->fd, (struct sockaddr *)&at, sizeof at), 0);
    CHECK_INT(listen(w->fd, 16), 0);
    getsockname(w->fd, (struct sockaddr *)&at, &len);
    w->port = ntohs(at.sin_port);
    snprintf(w->url, sizeof w->url, "http://127.0.0.1:%d", w->port);
    CHECK_INT(pipe(w->stop), 0);
    CHECK_INT(pthread_create(&w->thread, NULL, raw_main, w), 0);
}

static inline void raw_open(struct raw *w) { raw_open_at(w, INADDR_LOOPBACK, 0); }

/* All clients must have left. */
static inline void raw_close(struct raw *w)
{
    CHECK_INT(write(w->stop[1], "x", 1), 1);
    pthread_join(w->thread, NULL);
    close(w->fd);
    close(w->stop[0]);
    close(w->stop[1]);
}

static inline void raw_add(struct raw *w, struct raw_script s) { w->scripts[w->n_scripts++] = s; }

/* A listener whose backlog is full: connecting to it hangs. */
struct full {
    int listener, fill[4];
    int port;
};

static inline void full_open(struct full *f)
{
    struct sockaddr_in at;

    f->listener = loopback_bind(&f->port);
    CHECK_INT(listen(f->listener, 0), 0);
    at = loopback_at(f->port);
    for (size_t i = 0; i < ARRAY_LEN(f->fill); i++) {
        f->fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        connect(f->fill[i], (struct sockaddr *)&at, sizeof at);
    }
}

static inline void full_close(struct full *f)
{
    for (size_t i = 0; i < ARRAY_LEN(f->fill); i++)
        close(f->fill[i]);
    close(f->listener);
}
