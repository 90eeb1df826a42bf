/* link_instance.c - own processes for callers of a per_client server: opened at the caller's first
 * call, closed when the caller has left or has not called for long. What they do does not change
 * the state of the link; lists come from the shared client. */
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "link_impl.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"

/* ---- who has one ---- */

static bool is_apart(const struct link *l) { return l->apart && l->era == ERA_LEGACY; }

bool instances_wanted(const struct link *l)
{
    return l->spec->instance == SPEC_PER_CLIENT ||
           (l->spec->instance == SPEC_SHARED && is_apart(l));
}

bool instances_take_turns(const struct link *l)
{
    return l->spec->instance == SPEC_ALWAYS_SHARED && is_apart(l);
}

void instances_learn(struct link *l)
{
    if (l->apart)
        return;
    l->apart = true;
    link_log(l, PB_LOG_WARNING, "It asked while calls of several clients were under way: %s",
             instances_take_turns(l) ? "from now on the calls of one client are made at a time"
                                     : "from now on each client has an instance of its own");
    if (l->opts.learned && !l->closed)
        l->opts.learned(l->opts.ctx, l);
}

/* ---- one of them ---- */

struct channel *instance_find(struct link *l, const char *caller)
{
    for (struct list *pos = l->instances.next; pos != &l->instances; pos = pos->next) {
        struct channel *ch = CONTAINER_OF(pos, struct channel, at);

        if (strcmp(ch->caller, caller) == 0)
            return ch;
    }
    return NULL;
}

/* It is nobody's from now on: what its calls' replies do finds it no more, and nothing is armed for
 * it again. */
static void leave(struct channel *ch)
{
    ch->leaving = true;
    timer_stop(&ch->timer);
    list_remove(&ch->at);
    ch->l->n_instances--;
}

static void drop(struct channel *ch, enum call_cancel why)
{
    struct link *l = ch->l;

    link_ref(l); /* a reply may close the link */
    leave(ch);
    calls_cancel(ch, why);
    channel_drop(ch);
    link_unref(l);
}

static void give_up(struct channel *ch, const struct pb_error *why)
{
    struct link *l = ch->l;
    struct pb_error err = *why;

    link_ref(l);
    leave(ch);
    channel_explain(ch, &err);
    link_log(l, PB_LOG_WARNING, "An own instance of a caller ended: %s", err.msg);
    calls_fail_waiting(ch, &err);
    calls_cancel(ch, CALL_DISCONNECTED);
    channel_drop(ch);
    link_unref(l);
}

static void on_timer(void *ctx)
{
    struct channel *ch = ctx;
    struct pb_error err;
    char limit[32];

    if (ch->ready) {
        link_log(ch->l, PB_LOG_INFO, "An own instance of a caller is idle and stops");
        drop(ch, CALL_DISCONNECTED);
        return;
    }
    link_duration(ch->l->opts.connect_ms, limit);
    fail(&err, PB_E_TIMEOUT, "handshake: no answer within %s", limit);
    give_up(ch, &err);
}

/* ---- room for one more ---- */

static bool is_of(const struct channel *ch, const char *origin)
{
    return ch->origin && (!origin || strcmp(ch->origin, origin) == 0);
}

static size_t count_of(const struct link *l, const char *origin)
{
    size_t n = 0;

    for (const struct list *pos = l->instances.next; pos != &l->instances; pos = pos->next)
        n += is_of(CONTAINER_OF(pos, struct channel, at), origin);
    return n;
}

/* The one of this origin (NULL: of any) that has been idle longest goes. False: all of them work.
 */
static bool make_room(struct link *l, const char *origin)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &l->instances) {
        struct channel *ch = CONTAINER_OF(pos, struct channel, at);

        if (!is_of(ch, origin) || ch->in_flight || ch->n_waiting)
            continue;
        link_log(l, PB_LOG_INFO, "An own instance of a caller stops to make room for another");
        drop(ch, CALL_DISCONNECTED);
        return true;
    }
    return false;
}

static int check_room(struct link *l, const char *origin, struct pb_error *err)
{
    if (origin && count_of(l, origin) >= LINK_ORIGIN_MAX && !make_room(l, origin))
        return fault_fail(err, FAULT_BUSY,
                          "Server '%s' works in %d own instances for clients from there already",
                          link_name(l), LINK_ORIGIN_MAX);
    if (l->n_instances >= LINK_INSTANCES_MAX && !make_room(l, NULL))
        return fault_fail(err, FAULT_BUSY,
                          "Server '%s' runs %d own instances of its callers already", link_name(l),
                          LINK_INSTANCES_MAX);
    return 0;
}

int instance_open(struct channel **out, struct link *l, const struct call_spec *spec,
                  struct pb_error *err)
{
    struct channel *ch;
    struct pb_error why;
    int rc = check_room(l, spec->origin, err);

    if (rc < 0)
        return rc;
    ch = NEW(struct channel);
    channel_init(ch, l);
    ch->caller = mem_dup(spec->caller);
    ch->origin = mem_dup_opt(spec->origin);
    timer_init(&ch->timer, l->loop, on_timer, ch);
    list_append(&l->instances, &ch->at);
    l->n_instances++;
    if (channel_open(ch, &why) < 0) {
        redact_error(l->hidden, &why);
        leave(ch);
        channel_drop(ch);
        return fault_fail(err, FAULT_CONNECT, "Cannot connect to server '%s': %s", link_name(l),
                          why.msg);
    }
    timer_start(&ch->timer, l->opts.connect_ms);
    *out = ch;
    return 0;
}

/* While one leaves, its client may still have something to say: that changes nothing any more. */
void instance_opened(struct channel *ch, const struct pb_error *err)
{
    if (ch->leaving)
        return;
    timer_stop(&ch->timer);
    if (err) {
        give_up(ch, err);
        return;
    }
    tasks_restore(ch);
    calls_pump(ch);
    instance_idle(ch);
}

/* ---- one that may hang ---- */

static void on_pong(void *ctx, const struct client_reply *reply)
{
    struct channel *ch = ctx;

    ch->pinging = false;
    if (!ch->leaving && reply->err && reply->err->code == PB_E_TIMEOUT &&
        client_heard_at(ch->client) < ch->pinged_at)
        give_up(ch, reply->err);
}

/* The client ends with its channel, and the ping with the client. */
void instance_doubt(struct channel *ch)
{
    struct pb_error err;

    if (ch->pinging || !ch->client || !ch->ready)
        return;
    ch->pinging = true;
    ch->pinged_at = loop_now(ch->l->loop);
    if (client_ping(ch->client, ch->l->opts.connect_ms, on_pong, ch, &err) < 0)
        ch->pinging = false;
}

void instance_lost(struct channel *ch, const struct pb_error *why)
{
    if (!ch->leaving)
        give_up(ch, why);
}

void instance_idle(struct channel *ch)
{
    uint64_t idle = ch->l->spec->idle_ms ? ch->l->spec->idle_ms : SPEC_IDLE_MS;

    if (ch->leaving || !ch->client || !ch->ready)
        return;
    if (ch->in_flight || ch->n_waiting || tasks_watched(ch))
        timer_stop(&ch->timer);
    else
        timer_start_weak(&ch->timer, idle);
}

void instances_drop(struct link *l, enum call_cancel why)
{
    while (!list_empty(&l->instances))
        drop(CONTAINER_OF(l->instances.next, struct channel, at), why);
}

void link_caller_left(struct link *l, const char *caller)
{
    struct channel *ch = instance_find(l, caller);

    if (ch)
        drop(ch, CALL_BY_USER);
}
