/* server_stdio.c - over pipes: a line is a message. */
#include "server.h"
#include "server_carry.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 65536 };

static void write_all(const char *p, size_t n)
{
    while (n) {
        ssize_t w = write(1, p, n);

        if (w <= 0)
            exit(0); /* nobody reads us any more */
        p += w;
        n -= (size_t)w;
    }
}

static void say(outlet to, const char *message, size_t n, bool last)
{
    (void)to;
    (void)last;
    write_all(message, n);
    write_all("\n", 1);
}

static void raw(outlet to, const char *bytes, size_t n)
{
    (void)to;
    write_all(bytes, n);
}

static void hear_lines(struct text *held)
{
    char *end;

    while (held->n && (end = memchr(held->p, '\n', held->n))) {
        size_t n = (size_t)(end - held->p);

        talk_heard(OUTLET_NEWS + 1, 0, (struct slice){ held->p, n });
        text_drop(held, n + 1);
    }
}

int serve_stdio(void)
{
    static char bytes[READ_BYTES];
    struct text held = { 0 };

    carry_by(say, raw);
    for (;;) {
        struct pollfd p = { .fd = 0, .events = POLLIN };
        int ready = poll(&p, 1, talk_patience());
        ssize_t n;

        look_at_clock();
        if (ready > 0) {
            n = read(0, bytes, sizeof bytes);
            if (n <= 0)
                break;
            text_add(&held, bytes, (size_t)n);
            hear_lines(&held);
        }
        talk_tick();
    }
    free(held.p);
    return 0;
}
