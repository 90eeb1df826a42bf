/* server_http.c - Streamable HTTP of both eras, and HTTP+SSE: every response is an outlet of its
 * own. A request is answered in JSON when its answer is the first thing to say, else by a stream.
 */
#include "server.h"
#include "server_carry.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    CONNS_MAX = 256,
    RESTS_MAX = 64,
    CUT_RETRY_MS = 100,
    READ_BYTES = 65536,
    BIND_TRIES = 100,
    BIND_PAUSE_MS = 100
};

enum asks { ASKS_NOTHING, ASKS_ANSWER, ASKS_NEWS };

struct conn {
    int fd; /* 0: free */
    enum asks asks;
    bool streams, opens_session;
    bool cut; /* hangs up as soon as all is sent */
    outlet name;
    unsigned events; /* so many had numbers */
    struct text in, out;
};

/* The rest of a stream that was cut, for whoever comes back. */
struct rest {
    outlet name; /* 0: free */
    unsigned first, events;
    bool ended;
    struct text texts; /* each ends with a NUL */
};

static struct conn conns[CONNS_MAX];
static struct rest rests[RESTS_MAX];
static outlet names;
static bool is_sse;

static struct conn *conn_of(outlet name)
{
    for (int i = 0; i < CONNS_MAX; i++)
        if (conns[i].fd && conns[i].name == name)
            return &conns[i];
    return NULL;
}

static void conn_close(struct conn *c)
{
    outlet name = c->name;

    close(c->fd);
    free(c->in.p);
    free(c->out.p);
    *c = (struct conn){ 0 };
    talk_gone(name);
}

static struct rest *rest_of(outlet name)
{
    for (int i = 0; i < RESTS_MAX; i++)
        if (rests[i].name == name)
            return &rests[i];
    return NULL;
}

static void rest_free(struct rest *r)
{
    free(r->texts.p);
    *r = (struct rest){ 0 };
}

/* ---- saying ---- */

static void reply(struct conn *c, const char *status, const char *headers, const char *body,
                  size_t n)
{
    text_printf(&c->out, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n", status, headers, n);
    if (c->opens_session)
        text_printf(&c->out, "Mcp-Session-Id: %d-%llu\r\n", getpid(), (unsigned long long)c->name);
    text_printf(&c->out, "\r\n");
    text_add(&c->out, body, n);
    c->opens_session = false;
    c->asks = ASKS_NOTHING;
}

static void begin_stream(struct conn *c)
{
    text_printf(&c->out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                         "Transfer-Encoding: chunked\r\n\r\n");
    c->streams = true;
}

static void put_chunk(struct conn *c, const char *p, size_t n)
{
    text_printf(&c->out, "%zx\r\n", n);
    text_add(&c->out, p, n);
    text_add(&c->out, "\r\n", 2);
}

/* Streams that may be cut have numbers. */
static void put_event(struct conn *c, const char *type, const char *data, size_t n)
{
    struct text t = { 0 };

    if (self.kind->cuts && c->asks == ASKS_ANSWER)
        text_printf(&t, "id: %llu-%u\nretry: %d\n", (unsigned long long)c->name, ++c->events,
                    CUT_RETRY_MS);
    text_printf(&t, "event: %s\ndata: ", type);
    text_add(&t, data, n);
    text_add(&t, "\n\n", 2);
    put_chunk(c, t.p, t.n);
    free(t.p);
}

static void end_stream(struct conn *c)
{
    text_printf(&c->out, "0\r\n\r\n");
    c->streams = false;
    c->asks = ASKS_NOTHING;
}

/* What is said from now on about this request waits for its caller to come back. */
static void cut(struct conn *c)
{
    struct rest *r = rest_of(0);

    if (!r) { /* one whose caller did not come back has to go */
        r = &rests[among(RESTS_MAX)];
        talk_gone(r->name);
        rest_free(r);
    }
    *r = (struct rest){ .name = c->name, .first = c->events + 1, .events = c->events };
    c->name = ++names;
    c->cut = true;
    c->asks = ASKS_NOTHING;
}

static void say_on(struct conn *c, const char *message, size_t n, bool last)
{
    if (last && !c->streams && c->asks == ASKS_ANSWER) {
        reply(c, "200 OK", "Content-Type: application/json\r\n", message, n);
        return;
    }
    if (!c->streams)
        begin_stream(c);
    put_event(c, "message", message, n);
    if (last && c->asks == ASKS_ANSWER)
        end_stream(c);
    else if (self.kind->cuts && c->asks == ASKS_ANSWER && among(3) == 0)
        cut(c);
}

static void keep_for_later(struct rest *r, const char *message, size_t n, bool last)
{
    text_add(&r->texts, message, n);
    text_add(&r->texts, "", 1);
    r->events++;
    r->ended = last;
}

/* A second answer finds its response ended, and is not said. */
static void say(outlet to, const char *message, size_t n, bool last)
{
    struct conn *c = to == OUTLET_NEWS ? NULL : conn_of(to);
    struct rest *r = to == OUTLET_NEWS ? NULL : rest_of(to);

    if (r && !r->ended)
        keep_for_later(r, message, n, last);
    else if (c && c->asks != ASKS_NOTHING)
        say_on(c, message, n, last);
    for (int i = 0; to == OUTLET_NEWS && i < CONNS_MAX; i++)
        if (conns[i].fd && conns[i].asks == ASKS_NEWS)
            say_on(&conns[i], message, n, false);
}

/* What is no JSON is said as an event. */
static void raw(outlet to, const char *bytes, size_t n)
{
    struct conn *c = conn_of(to);

    while (n && bytes[n - 1] == '\n')
        n--;
    if (!c || c->asks == ASKS_NOTHING)
        return;
    if (!c->streams)
        begin_stream(c);
    put_event(c, "message", bytes, n);
}

/* ---- hearing ---- */

struct head {
    char method[16], path[256], session[64], last_event[64];
    size_t length, bytes; /* of the body; of the head itself */
};

static void header(const char *head, const char *name, char *out, size_t room)
{
    const char *p = strcasestr(head, name);

    out[0] = '\0';
    if (!p)
        return;
    p += strlen(name);
    p += strspn(p, " ");
    snprintf(out, room, "%.*s", (int)strcspn(p, "\r"), p);
}

static bool read_head(const struct text *in, struct head *h)
{
    char *end = in->n ? memmem(in->p, in->n, "\r\n\r\n", 4) : NULL;
    char length[32];
    const char *p;

    if (!end)
        return false;
    *end = '\0';
    h->bytes = (size_t)(end - in->p) + 4;
    snprintf(h->method, sizeof h->method, "%.*s", (int)strcspn(in->p, " "), in->p);
    p = in->p + strcspn(in->p, " ");
    p += *p == ' ';
    snprintf(h->path, sizeof h->path, "%.*s", (int)strcspn(p, " "), p);
    header(in->p, "\r\nContent-Length:", length, sizeof length);
    header(in->p, "\r\nMcp-Session-Id:", h->session, sizeof h->session);
    header(in->p, "\r\nLast-Event-ID:", h->last_event, sizeof h->last_event);
    h->length = strtoul(length, NULL, 10);
    *end = '\r';
    return true;
}

/* Sessions are PID-NUMBER: those of a process that has died are not known to the next. */
static bool knows(const char *session) { return strtol(session, NULL, 10) == getpid(); }

static uint64_t number_of(const char *session)
{
    const char *dash = strchr(session, '-');

    return dash ? strtoull(dash + 1, NULL, 10) : 0;
}

static void answer_later(struct conn *c, const struct head *h, struct slice body)
{
    c->asks = ASKS_ANSWER;
    c->name = ++names;
    talk_heard(c->name, number_of(h->session), body);
}

/* The answer comes on the stream that this address was told on. */
static void heard_post_sse(struct conn *c, const struct head *h, struct slice body)
{
    const char *at = strstr(h->path, "?c=");
    const char *session = at ? at + 3 : "";

    if (!knows(session) || !conn_of(number_of(session))) {
        reply(c, "404 Not Found", "", "", 0);
        return;
    }
    reply(c, "202 Accepted", "", "", 0);
    talk_heard(number_of(session), number_of(session), body);
}

static void heard_post(struct conn *c, const struct head *h, struct slice body)
{
    struct slice method = slice_get(body, "method");
    bool wants = method.p && slice_get(body, "id").p;

    if (is_sse) {
        heard_post_sse(c, h, body);
    } else if (slice_is(method, "initialize") && !self.modern) {
        c->opens_session = true;
        answer_later(c, h, body);
    } else if (!self.modern && !knows(h->session) && !slice_is(method, "server/discover")) {
        reply(c, "404 Not Found", "", "", 0);
    } else if (wants) {
        answer_later(c, h, body);
    } else {
        reply(c, "202 Accepted", "", "", 0);
        talk_heard(OUTLET_NEWS, number_of(h->session), body);
    }
}

static void resume(struct conn *c, const char *last_event)
{
    struct rest *r = rest_of(strtoull(last_event, NULL, 10));
    const char *dash = strchr(last_event, '-'), *p;

    if (!r || !dash || strtoul(dash + 1, NULL, 10) + 1 != r->first) {
        reply(c, "404 Not Found", "", "", 0);
        return;
    }
    c->asks = ASKS_ANSWER;
    c->name = r->name;
    c->events = r->first - 1;
    begin_stream(c);
    p = r->texts.p;
    for (unsigned i = r->first; i <= r->events; i++, p += strlen(p) + 1)
        put_event(c, "message", p, strlen(p));
    if (r->ended)
        end_stream(c);
    rest_free(r);
}

static void heard_get(struct conn *c, const struct head *h)
{
    char path[64];

    if (self.modern || (!is_sse && !knows(h->session))) {
        reply(c, self.modern ? "405 Method Not Allowed" : "404 Not Found", "", "", 0);
        return;
    }
    if (h->last_event[0]) {
        resume(c, h->last_event);
        return;
    }
    c->asks = ASKS_NEWS;
    c->name = ++names;
    begin_stream(c);
    if (is_sse) {
        snprintf(path, sizeof path, "/messages?c=%d-%llu", getpid(), (unsigned long long)c->name);
        put_event(c, "endpoint", path, strlen(path));
    }
}

static void heard(struct conn *c, const struct head *h, struct slice body)
{
    if (strcmp(h->method, "POST") == 0)
        heard_post(c, h, body);
    else if (strcmp(h->method, "GET") == 0)
        heard_get(c, h);
    else
        reply(c, "200 OK", "", "", 0);
}

/* One request after the other: the next is looked at when the last is answered. */
static void hear(struct conn *c)
{
    struct head h = { 0 };

    while (c->fd && c->asks == ASKS_NOTHING && read_head(&c->in, &h) &&
           c->in.n >= h.bytes + h.length) {
        struct text body = { 0 };

        text_add(&body, c->in.p + h.bytes, h.length);
        text_drop(&c->in, h.bytes + h.length);
        heard(c, &h, (struct slice){ body.p, body.n });
        free(body.p);
    }
}

/* ---- turning ---- */

static void conn_read(struct conn *c)
{
    static char bytes[READ_BYTES];
    ssize_t n = read(c->fd, bytes, sizeof bytes);

    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        conn_close(c);
        return;
    }
    text_add(&c->in, bytes, (size_t)n);
    hear(c);
}

static void conn_write(struct conn *c)
{
    ssize_t n = write(c->fd, c->out.p, c->out.n);

    if (n > 0)
        text_drop(&c->out, (size_t)n);
    if ((n < 0 && errno != EAGAIN) || (c->cut && !c->out.n))
        conn_close(c);
}

static void welcome(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    for (int i = 0; fd >= 0 && i < CONNS_MAX; i++)
        if (!conns[i].fd) {
            conns[i] = (struct conn){ .fd = fd, .name = ++names };
            return;
        }
    if (fd >= 0)
        close(fd);
}

static int listen_at(int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    for (int i = 0; i < BIND_TRIES; i++) {
        if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 128) == 0)
            return fd;
        poll(NULL, 0, BIND_PAUSE_MS);
    }
    return -1;
}

static void turn(int listener)
{
    struct pollfd p[CONNS_MAX + 1] = { { .fd = listener, .events = POLLIN } };
    struct conn *of[CONNS_MAX + 1];
    nfds_t n = 1;

    for (int i = 0; i < CONNS_MAX; i++)
        if (conns[i].fd) {
            of[n] = &conns[i];
            p[n++] = (struct pollfd){ .fd = conns[i].fd,
                                      .events = (short)(POLLIN | (conns[i].out.n ? POLLOUT : 0)) };
        }
    poll(p, n, talk_patience());
    look_at_clock();
    for (nfds_t i = 1; i < n; i++) {
        if (p[i].revents & (POLLIN | POLLHUP | POLLERR))
            conn_read(of[i]);
        if (of[i]->fd && of[i]->asks == ASKS_NOTHING && of[i]->in.n)
            hear(of[i]);
    }
    if (p[0].revents)
        welcome(listener);
    talk_tick();
    for (int i = 0; i < CONNS_MAX; i++)
        if (conns[i].fd && conns[i].out.n)
            conn_write(&conns[i]);
}

int serve_http(int port, bool sse)
{
    int listener = listen_at(port);

    if (listener < 0)
        return 1;
    is_sse = sse;
    carry_by(say, raw);
    for (;;)
        turn(listener);
}
