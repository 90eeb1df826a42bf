/* hub_call.c - the way of a call to its server. To a connected one it goes at once and costs
 * nothing here; else it waits until the server has come up, with its time running.
 *
 * The id of a call says where it is: the number of the server above ID_SHIFT, below it the link's
 * own id, or with WAITING_BIT the number of a call that had to wait. */
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub_impl.h"
#include "mcp/client/client.h"
#include <assert.h>

enum { ID_SHIFT = 40 };
#define WAITING_BIT (UINT64_C(1) << (ID_SHIFT - 1))
#define LOW_BITS    ((UINT64_C(1) << ID_SHIFT) - 1)

struct waiting_call {
    struct list at; /* in member.waiting while it waits */
    struct member *m;
    uint64_t id;
    uint64_t sent;         /* the link's id; 0: it still waits */
    struct call_spec spec; /* as the link gets it; the strings are ours */
    struct call_spec to;   /* whom to tell: only the functions and ctx */
    struct blob *params, *subject;
    char *method, *caller, *origin, *client, *caps, *uuid;
    struct timer timer;
    uint64_t limit_ms;
    bool held;    /* see hub_hold() */
    bool sending; /* the link has it and has not given it an id yet, */
    bool stopped; /* and somebody who heard that it starts has cancelled it: */
    enum call_cancel why;
};

static uint64_t id_of(const struct member *m, uint64_t low)
{
    assert(low <= LOW_BITS);
    return m->no << ID_SHIFT | low;
}

/* ---- a call that waits ---- */

static void unwait(struct waiting_call *p)
{
    struct hub *h = p->m->hub;

    if (!p->sent)
        h->n_waiting--;
    if (p->uuid && map_get(&h->named, span_of(p->uuid)) == p)
        map_del(&h->named, span_of(p->uuid));
    list_remove(&p->at);
    timer_stop(&p->timer);
}

static void waiting_end(struct waiting_call *p, const struct client_reply *reply)
{
    struct call_spec to = p->to;
    bool told = p->sent != 0; /* by the link */

    unwait(p);
    map_del(&p->m->hub->waiting, map_u64(&p->id));
    blob_unref(p->params);
    blob_unref(p->subject);
    free(p->method);
    free(p->caller);
    free(p->origin);
    free(p->client);
    free(p->uuid);
    free(p->caps);
    free(p);
    if (to.ended && !told)
        to.ended(to.ended_ctx, &(struct call_end){ .reply = reply });
    to.reply(to.ctx, reply);
}

static void waiting_fail(struct waiting_call *p, const struct pb_error *err)
{
    waiting_end(p, &(struct client_reply){ .err = err });
}

static void fail_late(struct waiting_call *p)
{
    struct pb_error err;

    call_fail(&err, CALL_TIMED_OUT, &p->spec, p->m->name, p->limit_ms);
    waiting_fail(p, &err);
}

static void on_deadline(void *ctx) { fail_late(ctx); }

static void on_progress(void *ctx, struct span params)
{
    struct waiting_call *p = ctx;

    p->to.progress(p->to.ctx, params);
}

static void on_log(void *ctx, struct span params)
{
    struct waiting_call *p = ctx;

    p->to.log(p->to.ctx, params);
}

static bool on_question(void *ctx, struct link_question *q, struct span method, struct span params)
{
    struct waiting_call *p = ctx;

    return p->to.question(p->to.ctx, q, method, params);
}

static void on_withdrawn(void *ctx, const struct link_question *q)
{
    struct waiting_call *p = ctx;

    p->to.withdrawn(p->to.ctx, q);
}

static void on_reply(void *ctx, const struct client_reply *reply)
{
    struct waiting_call *p = ctx;

    /* The link counts from when it got the call; people count from when they made it. */
    if (reply->err && fault_of(reply->err) == FAULT_TIMEOUT)
        fail_late(p);
    else
        waiting_end(p, reply);
}

static struct waiting_call *waiting_new(struct member *m, const struct call_spec *spec)
{
    struct waiting_call *p = NEW(struct waiting_call);

    list_init(&p->at);
    p->m = m;
    p->id = id_of(m, WAITING_BIT | (++m->hub->last_waiting & (WAITING_BIT - 1)));
    p->to = p->spec = *spec;
    p->spec.params = blob_span(p->params = blob_new(spec->params));
    p->spec.subject = blob_span(p->subject = blob_new(spec->subject));
    p->spec.server = m->name;
    p->spec.method = p->method = mem_dup(spec->method);
    p->spec.caller = p->caller = mem_dup_opt(spec->caller);
    p->spec.origin = p->origin = mem_dup_opt(spec->origin);
    p->spec.client = p->client = mem_dup_opt(spec->client);
    p->spec.uuid = p->uuid = mem_dup_opt(spec->uuid);
    p->spec.caps = p->caps = mem_dup_opt(spec->caps);
    p->spec.progress = spec->progress ? on_progress : NULL;
    p->spec.log = spec->log ? on_log : NULL;
    p->spec.question = spec->question ? on_question : NULL;
    p->spec.withdrawn = spec->withdrawn ? on_withdrawn : NULL;
    p->spec.reply = on_reply;
    p->spec.ctx = p;
    p->limit_ms = spec->timeout_ms ? spec->timeout_ms : link_call_ms(m->link);
    timer_init(&p->timer, m->hub->loop, on_deadline, p);
    timer_start(&p->timer, p->limit_ms);
    return p;
}

static uint64_t time_left(const struct waiting_call *p)
{
    uint64_t now = loop_now(p->m->hub->loop);

    return p->timer.due > now ? p->timer.due - now : 0;
}

/* That it starts is told before there is an id: what listeners do to it is done when there is. */
static void send_waiting(struct waiting_call *p)
{
    uint64_t left = time_left(p), low;
    struct pb_error err;
    int rc;

    p->spec.timeout_ms = left ? left : 1;
    p->sending = true;
    rc = link_call(p->m->link, &p->spec, &low, &err);
    p->sending = false;
    if (rc < 0) {
        waiting_fail(p, &err);
        return;
    }
    unwait(p);
    p->sent = low;
    if (p->held)
        link_hold(p->m->link, low, true);
    if (p->stopped)
        link_cancel(p->m->link, low, p->why);
}

void member_end_calls(struct member *m, const struct pb_error *err)
{
    while (!list_empty(&m->waiting))
        waiting_fail(CONTAINER_OF(m->waiting.next, struct waiting_call, at), err);
}

/* It was asked for before its server said what it is now, or by rules that have changed. */
static bool is_unwanted(const struct waiting_call *p, struct pb_error *why)
{
    return hub_holds_call(p->m->hub, &p->spec, why) ||
           (p->to.still && !p->to.still(p->to.ended_ctx, why));
}

void member_send_waiting(struct member *m)
{
    struct list now = LIST_INIT(now);
    struct pb_error err, why;

    if (list_empty(&m->waiting))
        return;
    if (!member_is_wanted(m)) {
        member_fault(m, &err);
        member_end_calls(m, &err);
        return;
    }
    /* A reply may make new calls wait or take this server away: only those that wait now are sent.
     */
    list_move(&now, &m->waiting);
    fault_fail(&err, FAULT_NO_SERVER, "server '%s' has been removed", m->name);
    while (!list_empty(&now)) {
        struct waiting_call *p = CONTAINER_OF(now.next, struct waiting_call, at);

        list_remove(&p->at);
        if (member_is(m, MEMBER_LEAVING))
            waiting_fail(p, &err);
        else if (link_state(m->link) == LINK_CONNECTED && is_unwanted(p, &why))
            waiting_fail(p, &why);
        else if (link_state(m->link) == LINK_CONNECTED)
            send_waiting(p);
        else
            list_append(&m->waiting, &p->at);
    }
}

/* ---- calls ---- */

int member_fault(const struct member *m, struct pb_error *err)
{
    struct link_status st;

    link_status(m->link, &st);
    if (st.state == LINK_DISABLED)
        return fault_fail(err, FAULT_DISABLED, "server '%s' is disabled", m->name);
    return fault_fail(err, FAULT_NOT_CONNECTED, "server '%s' is not connected (%s)%s%s", m->name,
                      link_state_name(st.state), st.message ? ": " : "",
                      st.message ? st.message : "");
}

int hub_call(struct hub *h, const struct call_spec *spec, uint64_t *out_id, struct pb_error *err)
{
    struct member *m = h->own && strcmp(spec->server, SPEC_OWN) == 0
                           ? h->own
                           : hub_find_or_fail(h, spec->server, err);
    enum link_state s;
    struct waiting_call *p;
    uint64_t low;
    int rc;

    if (!m)
        return -PB_E_NOT_FOUND;
    s = link_state(m->link);
    if (s == LINK_CONNECTED) {
        rc = link_call(m->link, spec, &low, err);
        if (rc == 0)
            *out_id = id_of(m, low);
        return rc;
    }
    if (!member_is_wanted(m) && !(member_is_lazy(m) && (s == LINK_IDLE || s == LINK_ERROR)))
        return member_fault(m, err);
    if (h->n_waiting >= HUB_WAITING_MAX)
        return fault_fail(err, FAULT_BUSY, "%d calls wait for their servers already",
                          HUB_WAITING_MAX);
    p = waiting_new(m, spec);
    list_append(&m->waiting, &p->at);
    map_put(&h->waiting, map_u64(&p->id), p);
    if (p->uuid)
        map_put(&h->named, span_of(p->uuid), p);
    h->n_waiting++;
    *out_id = p->id;
    member_wake(m);
    return 0;
}

enum era hub_call_era(const struct hub *h, uint64_t id)
{
    const struct member *m = hub_by_no(h, id >> ID_SHIFT);

    return m && link_state(m->link) == LINK_CONNECTED ? link_era(m->link) : ERA_UNKNOWN;
}

static void cancel_waiting(struct waiting_call *p, enum call_cancel why)
{
    struct pb_error err;

    if (p->sending) {
        p->stopped = true;
        p->why = why;
        return;
    }
    call_fail(&err, why, &p->spec, p->m->name, p->limit_ms);
    waiting_fail(p, &err);
}

bool hub_cancel(struct hub *h, uint64_t id, enum call_cancel why)
{
    struct waiting_call *p = id & WAITING_BIT ? map_get(&h->waiting, map_u64(&id)) : NULL;
    struct member *m = hub_by_no(h, id >> ID_SHIFT);

    if (p && p->sent)
        return link_cancel(p->m->link, p->sent, why);
    if (p)
        cancel_waiting(p, why);
    return p || (m && !(id & WAITING_BIT) && link_cancel(m->link, id & LOW_BITS, why));
}

/* One that still waits for its server: no link knows of it. */
static struct waiting_call *waiting_of_uuid(const struct hub *h, const char *uuid)
{
    return map_get(&h->named, span_of(uuid));
}

bool hub_cancel_uuid(struct hub *h, const char *uuid, enum call_cancel why)
{
    struct waiting_call *waiting = waiting_of_uuid(h, uuid);
    struct list *pos, *safe;

    if (waiting) {
        cancel_waiting(waiting, why);
        return true;
    }
    LIST_FOREACH(pos, safe, &h->members)
        if (link_cancel_uuid(CONTAINER_OF(pos, struct member, at)->link, uuid, why))
            return true;
    return h->own && link_cancel_uuid(h->own->link, uuid, why);
}

bool hub_has_call(const struct hub *h, const char *uuid)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &h->members)
        if (link_has_call(CONTAINER_OF(pos, struct member, at)->link, uuid))
            return true;
    return waiting_of_uuid(h, uuid) || (h->own && link_has_call(h->own->link, uuid));
}

void hub_hold(struct hub *h, uint64_t id, bool held)
{
    struct waiting_call *p = id & WAITING_BIT ? map_get(&h->waiting, map_u64(&id)) : NULL;
    struct member *m = hub_by_no(h, id >> ID_SHIFT);

    if (p && p->sent)
        link_hold(p->m->link, p->sent, held);
    else if (p)
        p->held = held;
    else if (m && !(id & WAITING_BIT))
        link_hold(m->link, id & LOW_BITS, held);
}

static void drop_calls_of(struct member *m, const char *caller)
{
    struct list *pos, *safe;
    struct list gone;

    list_init(&gone);
    LIST_FOREACH(pos, safe, &m->waiting) {
        struct waiting_call *p = CONTAINER_OF(pos, struct waiting_call, at);

        if (p->caller && !strcmp(p->caller, caller)) {
            list_remove(pos);
            list_append(&gone, pos);
        }
    }
    while (!list_empty(&gone))
        cancel_waiting(CONTAINER_OF(gone.next, struct waiting_call, at), CALL_BY_USER);
}

void hub_caller_left(struct hub *h, const char *caller)
{
    AUTO_FREE uint64_t *no = NULL;
    size_t n = *caller ? hub_numbers(h, &no) : 0;

    for (size_t i = 0; i < n; i++) {
        struct member *m = hub_by_no(h, no[i]);

        if (!m)
            continue;
        drop_calls_of(m, caller);
        if (!member_is(m, MEMBER_LEAVING))
            link_caller_left(m->link, caller);
    }
}
