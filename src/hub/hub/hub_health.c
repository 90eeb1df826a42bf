/* hub_health.c - asking connected servers whether they live, and stopping lazy ones that nobody
 * uses. One timer each for the whole hub, running only while there is somebody to ask or stop. */
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub_impl.h"
#include "mcp/client/client.h"

/* ---- health ---- */

static void on_pong(void *ctx, const struct client_reply *reply)
{
    struct member *m = ctx;

    uint64_t pinged_at = m->pinged_at;

    m->pinged_at = 0;
    /* Cancelled: it is being disconnected. */
    if (!reply->err || reply->err->code == PB_E_CANCELLED || !member_is(m, MEMBER_UP) ||
        link_state(m->link) != LINK_CONNECTED)
        return;
    /* Whatever else it says proves that it lives. */
    if (reply->err->code == PB_E_TIMEOUT &&
        (link_may_be_busy(m->link) || link_heard_at(m->link) >= pinged_at))
        return;
    link_log(m->link, PB_LOG_WARNING, "Health check failed: %s", reply->err->msg);
    member_move(m, MEMBER_SICK);
    member_touch(m);
}

static void ask(struct member *m)
{
    struct pb_error err;

    if (m->pinged_at)
        return;
    m->pinged_at = loop_now(m->hub->loop);
    if (link_ping(m->link, m->hub->opts.connect_ms, on_pong, m, &err) < 0) {
        m->pinged_at = 0;
        log_debug("server '%s' cannot be asked after its health: %s", m->name, err.msg);
    }
}

static void check_health(void *ctx)
{
    struct hub *h = ctx;
    struct list *pos, *safe;
    bool any = false;

    LIST_FOREACH(pos, safe, &h->members) {
        struct member *m = CONTAINER_OF(pos, struct member, at);

        if (link_state(m->link) == LINK_CONNECTED) {
            any = true;
            ask(m);
        }
    }
    if (any)
        timer_start_weak(&h->health, h->opts.health_ms);
}

void hub_health_wake(struct hub *h)
{
    if (h->opts.health_ms && !h->closing && !timer_running(&h->health))
        timer_start_weak(&h->health, h->opts.health_ms);
}

/* ---- idle servers ---- */

/* When it is to be stopped; UINT64_MAX: not as things are. */
static uint64_t idle_due(const struct member *m)
{
    const struct spec *spec = link_spec(m->link);
    struct link_facts facts;

    if (!member_is_lazy(m) || spec->idle_ms == 0 || link_state(m->link) != LINK_CONNECTED)
        return UINT64_MAX;
    link_facts(m->link, &facts);
    if (facts.in_flight || facts.queued || m->subscriptions || link_watches_tasks(m->link) ||
        !list_empty(&m->waiting))
        return loop_now(m->hub->loop) + spec->idle_ms;
    return (facts.used_at > m->used_at ? facts.used_at : m->used_at) + spec->idle_ms;
}

void hub_idle_wake(struct hub *h)
{
    uint64_t first = UINT64_MAX, now = loop_now(h->loop);
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &h->members) {
        uint64_t due = idle_due(CONTAINER_OF(pos, struct member, at));

        if (due < first)
            first = due;
    }
    if (first == UINT64_MAX || h->closing)
        timer_stop(&h->idle);
    else
        timer_start_weak(&h->idle, first > now ? first - now : 0);
}

size_t hub_cleanup_idle(struct hub *h)
{
    AUTO_FREE uint64_t *no = NULL;
    size_t n = hub_numbers(h, &no), stopped = 0;

    for (size_t i = 0; i < n; i++) {
        struct member *m = hub_by_no(h, no[i]);

        if (!m || idle_due(m) > loop_now(h->loop))
            continue;
        member_unwant(m);
        link_go_idle(m->link);
        stopped++;
    }
    hub_idle_wake(h);
    return stopped;
}

static void check_idle(void *ctx) { hub_cleanup_idle(ctx); }

void hub_health_init(struct hub *h)
{
    timer_init(&h->health, h->loop, check_health, h);
    timer_init(&h->idle, h->loop, check_idle, h);
}
