/* host_wait.c - requests that came before the servers they are about. A client often asks in the
 * moment it has started us, and many ask once only: lists wait for servers of which nothing is
 * known yet, calls for the one server that their name begins with. Both for a bounded time. */
#include "host_impl.h"

struct waiting {
    struct list link;
    struct host *h;
    struct request *r;
    char *server; /* NULL: any that the host shows */
};

static bool worth_it(const struct host *h, const char *server)
{
    if (!h->set->hub || h->scope.no_external)
        return false;
    return hub_expects(h->set->hub, server ? server : h->server_name);
}

static void forget(struct waiting *w)
{
    list_remove(&w->link);
    w->r->cancel = NULL;
    w->r->work = NULL;
    free(w->server);
    free(w);
}

static void on_cancel(struct request *r, enum cancel_reason why)
{
    (void)why;
    forget(r->work);
}

bool host_wait(struct host *h, struct request *r, const char *server)
{
    struct waiting *w;

    if (!h->set->list_wait_ms || h->impatient || !worth_it(h, server))
        return false;
    w = NEW(struct waiting);
    *w = (struct waiting){ .h = h, .r = r, .server = mem_dup_opt(server) };
    if (list_empty(&h->waiting))
        timer_start_weak(&h->wait, h->set->list_wait_ms);
    list_append(&h->waiting, &w->link);
    r->work = w;
    r->cancel = on_cancel;
    return true;
}

/* Is handled anew, and not put off again. */
static void go_on(struct host *h, struct waiting *w)
{
    struct request *r = w->r;

    forget(w);
    h->impatient = true;
    host_handle(h, r);
    h->impatient = false;
}

static void check(struct host *h)
{
    struct list *pos, *safe;
    struct list now = LIST_INIT(now);

    LIST_FOREACH(pos, safe, &h->waiting) {
        struct waiting *w = CONTAINER_OF(pos, struct waiting, link);

        if (timer_running(&h->wait) && worth_it(h, w->server))
            continue;
        list_remove(pos);
        list_append(&now, pos);
    }
    while (!list_empty(&now))
        go_on(h, CONTAINER_OF(now.next, struct waiting, link));
    if (list_empty(&h->waiting))
        timer_stop(&h->wait);
}

static void on_due(void *ctx)
{
    struct host *h = ctx;

    h->check_due = false;
    if (h->closing)
        host_free(h);
    else
        check(h);
}

/* At the end of the turn: the hub first makes up its mind about what has happened. */
void host_waits_check(struct host *h)
{
    if (list_empty(&h->waiting) || h->check_due)
        return;
    h->check_due = true;
    loop_defer(h->set->loop, on_due, h);
}

void host_waits_over(void *ctx) { check(ctx); }

void host_waits_drop(struct host *h)
{
    timer_stop(&h->wait);
    while (!list_empty(&h->waiting))
        forget(CONTAINER_OF(h->waiting.next, struct waiting, link));
}
