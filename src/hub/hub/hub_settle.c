/* hub_settle.c - waiting until one server has come up or not, or until all of them have. */
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub_impl.h"

struct link_wait {
    struct list at; /* in member.waits */
    void (*fn)(void *ctx, const struct pb_error *err);
    void *ctx;
};

struct start_wait {
    struct list at; /* in hub.waits */
    void (*fn)(void *ctx, const struct start_result *r);
    void *ctx;
};

/* ---- one ---- */

void member_end_waits(struct member *m, const struct pb_error *err)
{
    struct list now = LIST_INIT(now);

    list_move(&now, &m->waits);
    while (!list_empty(&now)) {
        struct link_wait *w = CONTAINER_OF(now.next, struct link_wait, at);

        list_remove(&w->at);
        w->fn(w->ctx, err);
        free(w);
    }
}

/* An attempt is under way, or about to be. A wait before the next one is none. */
static bool attempt_expected(const struct member *m)
{
    enum link_state s = link_state(m->link);

    if (s == LINK_CONNECTING || s == LINK_AUTHENTICATING)
        return true;
    return member_is_wanted(m) && s != LINK_CONNECTED && s != LINK_RECONNECTING;
}

static void attempt_error(const struct member *m, struct pb_error *err)
{
    enum link_state s = link_state(m->link);
    const struct pb_error *why = link_last_error(m->link);

    if (why && why->code == PB_E_AUTH)
        *err = *why;
    else if (why && (link_is_failed(s) || s == LINK_RECONNECTING))
        fault_fail(err, FAULT_CONNECT, "%s", why->msg);
    else
        member_fault(m, err);
}

void member_tell_waits(struct member *m)
{
    struct pb_error err;

    if (list_empty(&m->waits) || attempt_expected(m))
        return;
    if (link_state(m->link) == LINK_CONNECTED) {
        member_end_waits(m, NULL);
        return;
    }
    attempt_error(m, &err);
    member_end_waits(m, &err);
}

int hub_when_connected(struct hub *h, const char *name,
                       void (*fn)(void *ctx, const struct pb_error *err), void *ctx,
                       struct pb_error *err)
{
    struct member *m = hub_find_or_fail(h, name, err);
    struct link_wait *w;

    if (!m)
        return -PB_E_NOT_FOUND;
    w = NEW(struct link_wait);
    w->fn = fn;
    w->ctx = ctx;
    list_append(&m->waits, &w->at);
    member_touch(m);
    return 0;
}

/* ---- all ---- */

static bool is_settled(const struct member *m)
{
    enum link_state s = link_state(m->link);

    if (m->load)
        return false;
    return s == LINK_CONNECTED || s == LINK_DISABLED ||
           (!member_is_wanted(m) && (s == LINK_IDLE || link_is_terminal(s)));
}

bool hub_expects(const struct hub *h, const char *name)
{
    const struct member *one = name ? hub_find(h, name) : NULL;
    struct list *pos, *safe;

    if (name)
        return one &&
               (one->load || attempt_expected(one) || link_state(one->link) == LINK_RECONNECTING);
    LIST_FOREACH(pos, safe, &h->members) {
        const struct member *m = CONTAINER_OF(pos, struct member, at);

        if (m->load || (!member_was_up(m) && attempt_expected(m)))
            return true;
    }
    return false;
}

static void report(struct hub *h, struct start_wait *w)
{
    size_t n = h->by_name.n + 1, up = 0, down = 0;
    AUTO_FREE const char **connected = mem_zero(n * sizeof *connected);
    AUTO_FREE const char **failed = mem_zero(n * sizeof *failed);
    AUTO_FREE const char **messages = mem_zero(n * sizeof *messages);
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &h->members) {
        struct member *m = CONTAINER_OF(pos, struct member, at);
        struct link_status st;

        link_status(m->link, &st);
        if (st.state == LINK_CONNECTED) {
            connected[up++] = m->name;
        } else if (link_is_failed(st.state)) {
            messages[down] = st.message ? st.message : link_state_name(st.state);
            failed[down++] = m->name;
        }
    }
    w->fn(w->ctx, &(struct start_result){ connected, failed, messages, down == 0 });
}

void hub_tell_waits(struct hub *h)
{
    struct list now = LIST_INIT(now), *pos, *safe;

    if (list_empty(&h->waits))
        return;
    if (!h->closing) {
        LIST_FOREACH(pos, safe, &h->members)
            if (!is_settled(CONTAINER_OF(pos, struct member, at)))
                return;
    }
    list_move(&now, &h->waits);
    while (!list_empty(&now)) {
        struct start_wait *w = CONTAINER_OF(now.next, struct start_wait, at);

        list_remove(&w->at);
        report(h, w);
        free(w);
    }
}

void hub_when_settled(struct hub *h, void (*fn)(void *ctx, const struct start_result *r), void *ctx)
{
    struct start_wait *w = NEW(struct start_wait);

    w->fn = fn;
    w->ctx = ctx;
    list_append(&h->waits, &w->at);
    hub_touch(h);
}
