/* net.c - one poll for all descriptors, and what is to happen later. */
#include "stress.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { FDS_MAX = 4096, READ_BYTES = 65536, TURN_BYTES = 1 << 20 };

static struct list chans = LIST_INIT(chans);

/* ---- later ---- */

static struct later {
    uint64_t due;
    void (*fn)(void *ctx);
    void *ctx;
} * waiting;
static size_t n_waiting, room_waiting;

void later(uint64_t ms, void (*fn)(void *ctx), void *ctx)
{
    if (n_waiting == room_waiting) {
        room_waiting = room_waiting ? room_waiting * 2 : 64;
        waiting = mem_resize(waiting, room_waiting * sizeof *waiting);
    }
    waiting[n_waiting++] = (struct later){ now() + ms, fn, ctx };
}

void later_forget(const void *ctx)
{
    for (size_t i = 0; i < n_waiting;)
        if (waiting[i].ctx == ctx)
            waiting[i] = waiting[--n_waiting];
        else
            i++;
}

/* What is due may change the list: each time it is looked at from the start. */
static void run_due(void)
{
    uint64_t t = now();

    for (size_t i = 0; i < n_waiting;) {
        struct later l = waiting[i];

        if (l.due > t) {
            i++;
            continue;
        }
        waiting[i] = waiting[--n_waiting];
        l.fn(l.ctx);
        i = 0;
    }
}

static int soonest(int ms)
{
    uint64_t t = now();

    for (size_t i = 0; i < n_waiting; i++) {
        uint64_t wait = waiting[i].due > t ? waiting[i].due - t : 0;

        if (wait < (uint64_t)ms)
            ms = (int)wait;
    }
    return ms;
}

/* ---- connections ---- */

struct chan *chan_new(int in, int out, const struct chan_events *events, void *ctx)
{
    struct chan *c = NEW(struct chan);

    c->in = in;
    c->out = out;
    c->events = events;
    c->ctx = ctx;
    fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK);
    fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK);
    list_append(&chans, &c->link);
    return c;
}

struct chan *chan_dial(int port, const struct chan_events *events, void *ctx)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0 && errno != EINPROGRESS) {
        close(fd);
        return NULL;
    }
    return chan_new(fd, fd, events, ctx);
}

/* What can be written is, at once: on a busy machine our own next turn may come after the hub has
 * lost patience with a connection that says nothing. That it failed is seen in the next turn. */
void chan_say(struct chan *c, struct span bytes)
{
    ssize_t n = c->tx.n || c->dead ? 0 : write(c->out, bytes.p, bytes.n);

    buf_add_span(&c->tx, span_from(bytes, n > 0 ? (size_t)n : 0));
}

void chan_close(struct chan *c)
{
    if (c->dead)
        return;
    c->dead = true;
    close(c->in);
    if (c->out != c->in)
        close(c->out);
}

static void chan_free(struct chan *c)
{
    list_remove(&c->link);
    if (c->free_ctx)
        c->free_ctx(c->ctx);
    buf_done(&c->rx);
    buf_done(&c->tx);
    free(c);
}

static void sweep(void)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &chans) {
        struct chan *c = CONTAINER_OF(pos, struct chan, link);

        if (c->dead)
            chan_free(c);
    }
}

static void ended(struct chan *c)
{
    if (c->dead)
        return;
    chan_close(c);
    c->events->ended(c->ctx);
}

static void hear(struct chan *c)
{
    size_t before = c->rx.n;
    ssize_t n = 1;
    bool over;

    while (c->rx.n - before < TURN_BYTES &&
           (n = read(c->in, buf_reserve(&c->rx, READ_BYTES), READ_BYTES)) > 0)
        c->rx.n += (size_t)n;
    over = n == 0 || (n < 0 && errno != EAGAIN);
    if (c->rx.n > before)
        c->events->heard(c->ctx);
    if (over)
        ended(c);
}

static void say(struct chan *c)
{
    ssize_t n = write(c->out, c->tx.p, c->tx.n);

    if (n > 0)
        buf_consume(&c->tx, (size_t)n);
    else if (n < 0 && errno != EAGAIN)
        ended(c);
}

void net_turn(int ms)
{
    static struct pollfd fds[FDS_MAX];
    static struct chan *of[FDS_MAX];
    struct list *pos, *safe;
    nfds_t n = 0;
    uint64_t t = now();

    LIST_FOREACH(pos, safe, &chans) {
        struct chan *c = CONTAINER_OF(pos, struct chan, link);

        if (n + 2 > FDS_MAX)
            break;
        if (c->deaf_until <= t) {
            of[n] = c;
            fds[n++] = (struct pollfd){ .fd = c->in, .events = POLLIN };
        }
        if (c->tx.n) {
            of[n] = c;
            fds[n++] = (struct pollfd){ .fd = c->out, .events = POLLOUT };
        }
    }
    poll(fds, n, soonest(ms));
    for (nfds_t i = 0; i < n; i++) {
        if (!fds[i].revents || of[i]->dead)
            continue;
        if (fds[i].events & POLLOUT)
            say(of[i]);
        else
            hear(of[i]);
    }
    run_due();
    sweep();
}

void net_hang_up(void)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &chans)
        chan_close(CONTAINER_OF(pos, struct chan, link));
    sweep();
}

void net_done(void)
{
    while (n_waiting) { /* what is due later is due now */
        struct later l = waiting[--n_waiting];

        l.fn(l.ctx);
    }
    net_hang_up();
    free(waiting);
    waiting = NULL;
    room_waiting = 0;
}
