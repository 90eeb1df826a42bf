/* http_wait.c - deadlines of ten thousand connections with one timer. Connections move from list to
 * list with every request; the timer is left alone meanwhile and looks around when it fires. So a
 * busy connection costs list operations, an idle one a wake-up at its deadline. */
#include "http_conn.h"

enum { SWEEP_MAX = 1000 };

static const uint64_t durations[] = {
    [HTTP_WAIT_NONE] = 0,
    [HTTP_WAIT_HEAD] = HTTP_HEAD_MS,
    [HTTP_WAIT_BODY] = HTTP_BODY_MS,
    [HTTP_WAIT_IDLE] = HTTP_IDLE_MS,
    [HTTP_WAIT_STALL] = HTTP_WRITE_STALL_MS,
    [HTTP_WAIT_LINGER] = HTTP_LINGER_MS,
};
_Static_assert(ARRAY_LEN(durations) == HTTP_WAIT_COUNT, "every wait has a duration");

struct http_conn *wait_first(struct http_server *s, enum http_wait w)
{
    struct list *head = &s->waits[w];

    return list_empty(head) ? NULL : CONTAINER_OF(head->next, struct http_conn, link);
}

static void sweep(void *ctx)
{
    struct http_server *s = ctx;
    uint64_t now = loop_now(s->loop), next = UINT64_MAX;
    int left = SWEEP_MAX;

    for (enum http_wait w = HTTP_WAIT_NONE + 1; w < HTTP_WAIT_COUNT; w++) {
        struct http_conn *c;

        while ((c = wait_first(s, w)) && c->due <= now && left-- > 0)
            conn_expired(c);
        if (c && c->due < next)
            next = c->due;
    }
    if (next != UINT64_MAX && !s->closing)
        timer_start_weak(&s->timer, next > now ? next - now : 0);
}

void wait_init(struct http_server *s)
{
    for (int w = 0; w < HTTP_WAIT_COUNT; w++)
        list_init(&s->waits[w]);
    timer_init(&s->timer, s->loop, sweep, s);
}

void conn_wait(struct http_conn *c, enum http_wait w)
{
    struct http_server *s = c->server;

    list_remove(&c->link);
    list_append(&s->waits[w], &c->link);
    c->wait = (uint8_t)w;
    if (w == HTTP_WAIT_NONE)
        return;
    c->due = loop_now(s->loop) + durations[w];
    if (!timer_running(&s->timer) || c->due < s->timer.due)
        timer_start_weak(&s->timer, durations[w]);
}

void wait_none_left(struct http_server *s) { timer_stop(&s->timer); }
