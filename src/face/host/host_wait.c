/* host_wait.c - requests that came before the servers they are about. A client often asks in the
 * moment it has started us, and many ask once only: lists and URIs that nobody has wait for servers
 * of which nothing is known yet, names of tools and prompts for the one server that they begin
 * with. All for a bounded time. */
#include "host_impl.h"
#include "hub/hub/hub.h"
#include "mcp/serve/serve.h"

struct waiting {
    struct list link;
    struct host *h;
    struct request *r;
    char *server; /* NULL: any that the host shows */
    bool lookup;  /* of what one of them may have: whenever one has come it is tried again */
    bool over;    /* its time is, or there is nobody to wait for */
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

static bool wait_for(struct host *h, struct request *r, const char *server, bool lookup)
{
    struct waiting *w;

    if (!h->set->list_wait_ms || h->impatient || !worth_it(h, server))
        return false;
    w = NEW(struct waiting);
    *w = (struct waiting){ .h = h, .r = r, .server = mem_dup_opt(server), .lookup = lookup };
    if (!timer_running(&h->wait))
        timer_start_weak(&h->wait, h->set->list_wait_ms);
    list_append(&h->waiting, &w->link);
    r->work = w;
    r->cancel = on_cancel;
    return true;
}

bool host_wait(struct host *h, struct request *r, const char *server)
{
    return wait_for(h, r, server, false);
}

bool host_wait_any(void *ctx, struct request *r) { return wait_for(ctx, r, NULL, true); }

/* Is handled anew; when its time is over, it is not put off again. */
static void go_on(struct host *h, struct waiting *w)
{
    struct request *r = w->r;
    bool over = w->over;

    forget(w);
    h->impatient = over;
    if (!host_handle(h, r))
        request_again(r);
    h->impatient = false;
}

static void on_due(void *ctx);

static void run_later(struct host *h)
{
    if (h->check_due || (list_empty(&h->waiting) && list_empty(&h->due)))
        return;
    h->check_due = true;
    loop_defer(h->set->loop, on_due, h);
}

/* Each may cost a search: so many in a turn. */
static void run_due(struct host *h)
{
    for (int n = 0; n < HOST_WAITS_PER_TURN && !list_empty(&h->due); n++)
        go_on(h, CONTAINER_OF(h->due.next, struct waiting, link));
    if (!list_empty(&h->due))
        run_later(h);
    else if (list_empty(&h->waiting))
        timer_stop(&h->wait);
}

/* One that waits on after it was handled is not looked at again until there are other news. */
static void collect_due(struct host *h)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &h->waiting) {
        struct waiting *w = CONTAINER_OF(pos, struct waiting, link);

        w->over |= !worth_it(h, w->server);
        if (!w->lookup && !w->over)
            continue;
        list_remove(pos);
        list_append(&h->due, pos);
    }
}

static void on_due(void *ctx)
{
    struct host *h = ctx;

    h->check_due = false;
    if (h->closing) {
        host_free(h);
        return;
    }
    if (h->waits_stale)
        collect_due(h);
    h->waits_stale = false;
    run_due(h);
}

/* At the end of the turn: the hub first makes up its mind about what has happened. */
void host_waits_check(struct host *h)
{
    h->waits_stale = true;
    run_later(h);
}

void host_waits_over(void *ctx)
{
    struct host *h = ctx;
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &h->waiting)
        CONTAINER_OF(pos, struct waiting, link)->over = true;
    LIST_FOREACH(pos, safe, &h->due)
        CONTAINER_OF(pos, struct waiting, link)->over = true;
    host_waits_check(h);
}

void host_waits_drop(struct host *h)
{
    timer_stop(&h->wait);
    while (!list_empty(&h->waiting))
        forget(CONTAINER_OF(h->waiting.next, struct waiting, link));
    while (!list_empty(&h->due))
        forget(CONTAINER_OF(h->due.next, struct waiting, link));
}
