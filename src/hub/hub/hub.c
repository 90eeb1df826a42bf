/* hub.c - the servers of a hub: adding, asking for, switching off and removing them, and the end of
 * it all. */
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub_impl.h"
#include <stdlib.h>

struct closer {
    struct list at;
    loop_fn *fn;
    void *ctx;
};

/* ---- finding ---- */

/* Most calls go where the one before them went: that name is compared, not hashed. */
static struct member *find(const struct hub *h, struct span name)
{
    struct member *m = h->found;

    if (m && span_is(name, m->name))
        return m;
    m = map_get(&h->by_name, name);
    if (m)
        ((struct hub *)h)->found = m; /* of what can be seen of a hub nothing has changed */
    return m;
}

struct member *hub_find(const struct hub *h, const char *name) { return find(h, span_of(name)); }

struct member *hub_find_or_fail(const struct hub *h, const char *name, struct pb_error *err)
{
    struct member *m;

    hub_owned(h);
    m = hub_find(h, name);
    if (m && member_is_own(m))
        m = NULL; /* nobody starts, stops or removes it */
    if (!m)
        fault_fail(err, FAULT_NO_SERVER, "there is no server '%.*s'", HUB_NAME_MAX, name);
    return m;
}

struct link *hub_link(const struct hub *h, const char *name)
{
    return hub_link_named(h, span_of(name));
}

struct link *hub_link_named(const struct hub *h, struct span name)
{
    struct member *m = find(h, name);

    return m ? m->link : NULL;
}

static bool has_server(const void *ctx, const struct item_name *i)
{
    return hub_link_named(ctx, i->server) != NULL;
}

struct link *hub_link_of(const struct hub *h, const char *item, struct span *own)
{
    struct item_name i;

    if (!item_split(&i, span_of(item), has_server, h))
        return NULL;
    if (own)
        *own = i.own;
    return hub_link_named(h, i.server);
}

struct pb_loop *hub_loop(const struct hub *h) { return h->loop; }

struct vault *hub_vault(const struct hub *h) { return h->opts.vault; }

void hub_link_options(const struct hub *h, struct link_options *out)
{
    *out = (struct link_options){
        .hub = h->id,
        .loop = h->loop,
        .connect_ms = h->opts.connect_ms,
        .call_ms = h->opts.call_ms,
        .marker = h->opts.marker,
        .secrets = h->opts.secrets_dir,
        .vault = h->opts.vault,
        .inherit_env = h->opts.inherit_env,
        .claims = h->claims,
    };
}

struct catalog *hub_catalog(const struct hub *h) { return h->catalog; }

void hub_write_reach(const struct hub *h, const char *server, struct json_out *o, const char *key)
{
    size_t room = HUB_BEHIND_MAX;
    struct list *pos, *safe;

    json_begin_array(o, key);
    if (!server)
        json_put_str(o, NULL, h->id);
    LIST_FOREACH(pos, safe, &h->members) {
        const struct member *m = CONTAINER_OF(pos, struct member, at);
        struct link_facts facts = { 0 };

        if (link_state(m->link) != LINK_CONNECTED || (server && strcmp(server, m->name) != 0))
            continue;
        link_facts(m->link, &facts);
        circle_copy(o, facts.hubs, &room);
    }
    json_end(o);
}

const struct mode_set *hub_modes(const struct hub *h) { return h->modes; }

size_t hub_count(const struct hub *h) { return h->by_name.n - (h->own != NULL); }

void hub_each(const struct hub *h, void (*fn)(void *ctx, struct link *l), void *ctx)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &h->members)
        fn(ctx, CONTAINER_OF(pos, struct member, at)->link);
}

void hub_counters(const struct hub *h, const char *name, struct hub_counters *out)
{
    const struct member *m = hub_find(h, name);

    *out = (struct hub_counters){ 0 };
    if (m)
        *out = (struct hub_counters){ m->reconnects, m->restarts, member_is(m, MEMBER_GIVEN_UP) };
}

int64_t hub_remembered_at(const struct hub *h, const char *name)
{
    const struct member *m = hub_find(h, name);

    return m ? m->remembered_at : 0;
}

struct member *hub_by_no(const struct hub *h, uint64_t no) { return table_get(&h->by_no, no); }

size_t hub_numbers(const struct hub *h, uint64_t **out)
{
    struct list *pos, *safe;
    size_t n = 0;

    *out = mem_alloc((h->by_no.n + 1) * sizeof **out);
    LIST_FOREACH(pos, safe, &h->members)
        (*out)[n++] = CONTAINER_OF(pos, struct member, at)->no;
    if (h->own)
        (*out)[n++] = h->own->no;
    return n;
}

bool member_is_lazy(const struct member *m)
{
    return m->hub->opts.on_demand || link_spec(m->link)->start == SPEC_LAZY;
}

bool member_is_listed(const struct member *m) { return catalog_knows(m->hub->catalog, m->name); }

/* ---- the end of the turn ---- */

static void review(void *ctx)
{
    struct hub *h = ctx;
    struct list now = LIST_INIT(now);

    h->deferred = false;
    list_move(&now, &h->todo);
    while (!list_empty(&now)) {
        struct member *m = CONTAINER_OF(now.next, struct member, todo);

        list_remove(&m->todo);
        member_review(m);
    }
    hub_tell_changes(h);
    hub_tell_waits(h);
    hub_maybe_end(h);
}

void hub_touch(struct hub *h)
{
    if (!h->deferred) {
        h->deferred = true;
        loop_defer(h->loop, review, h);
    }
}

void member_touch(struct member *m)
{
    if (member_is(m, MEMBER_LEAVING))
        return;
    list_remove(&m->todo);
    list_append(&m->hub->todo, &m->todo);
    hub_touch(m->hub);
}

/* ---- one server ---- */

static struct link *make_link(struct member *m, struct spec *spec)
{
    struct link_options o = m->hub->link_opts;
    struct link *l;

    o.open = strcmp(spec->name, SPEC_OWN) == 0 ? own_open : member_open;
    o.open_ctx = m;
    o.ctx = m;
    l = link_new(&o, spec);
    return l;
}

static void member_free(struct member *m)
{
    timer_stop(&m->retry);
    free(m->name);
    table_done(&m->tools_seen);
    member_digests_done(m);
    free(m);
}

static void link_gone(void *ctx)
{
    struct member *m = ctx;
    struct hub *h = m->hub;

    member_touch(m);
    if (--m->closing == 0 && member_is(m, MEMBER_LEAVING)) {
        list_remove(&m->at);
        member_free(m);
    }
    hub_maybe_end(h);
}

void member_forget_lists(struct member *m)
{
    m->remembered_at = 0;
    if (catalog_put_away(m->hub->catalog, m->name))
        hub_lists_changed(m->hub, m->name, (1U << LIST_KINDS) - 1);
}

void member_replace(struct member *m, struct spec *spec)
{
    struct link *old = m->link;

    if (!member_is(m, MEMBER_UNWANTED))
        member_move(m, MEMBER_UNWANTED);
    m->load = NULL;
    m->cache_dirty = false;
    m->reconnects = m->restarts = 0;
    m->hint = PB_ERA_AUTO;
    member_forget_lists(m);
    claims_drop(m->hub->claims, link_spec(old));
    claims_add(m->hub->claims, spec);
    m->link = make_link(m, spec);
    link_move_subscriptions(m->link, old);
    m->closing++;
    link_close(old, CALL_DISCONNECTED, link_gone, m);
}

struct member *member_new(struct hub *h, struct spec *spec)
{
    struct member *m = NEW(struct member);

    m->hub = h;
    m->name = mem_dup(spec->name);
    m->no = ++h->last_no;
    timer_init(&m->retry, h->loop, member_on_retry, m);
    member_state_init(m);
    list_init(&m->at);
    list_init(&m->todo);
    list_init(&m->waiting);
    list_init(&m->waits);
    m->used_at = loop_now(h->loop);
    m->link = make_link(m, spec);
    map_put(&h->by_name, span_of(m->name), m);
    table_put(&h->by_no, m->no, m);
    return m;
}

int hub_add(struct hub *h, struct spec *spec, struct pb_error *err)
{
    struct member *m;

    hub_owned(h);
    if (h->closing)
        return fail(err, PB_E_CLOSED, "the hub is being closed");
    if (spec_check_name(span_of(spec->name), err) < 0) {
        if (err)
            err->sys = FAULT_NAME;
        return -PB_E_INVALID;
    }
    if (hub_find(h, spec->name))
        return fault_fail(err, FAULT_DUPLICATE, "there is a server '%s' already", spec->name);
    if (hub_count(h) >= (h->opts.max_servers ? h->opts.max_servers : HUB_SERVERS_MAX))
        return fail(err, PB_E_LIMIT, "there are %zu servers, and no more are allowed",
                    hub_count(h));
    m = member_new(h, spec);
    list_append(&h->members, &m->at);
    claims_add(h->claims, spec);
    hub_tell_member(m, EVENT_SERVER_ADDED);
    member_load(m);
    return 0;
}

/* Takes it out of every list; the memory stays until its links are gone. */
static void take_out(struct member *m, enum call_cancel why, const struct pb_error *err)
{
    struct hub *h = m->hub;

    claims_drop(h->claims, link_spec(m->link));
    member_forget_lists(m);
    catalog_drop(h->catalog, m->name);
    if (!h->closing)
        hub_tell_member(m, EVENT_SERVER_REMOVED);
    map_del(&h->by_name, span_of(m->name));
    h->found = NULL;
    table_del(&h->by_no, m->no);
    list_remove(&m->todo);
    list_remove(&m->at);
    list_append(&h->leaving, &m->at);
    member_move(m, MEMBER_LEAVING);
    m->closing++;
    member_end_calls(m, err);
    member_end_waits(m, err);
    link_close(m->link, why, link_gone, m);
    hub_touch(h);
}

int hub_remove(struct hub *h, const char *name, struct pb_error *err)
{
    struct member *m = hub_find_or_fail(h, name, err);
    struct pb_error gone;

    if (!m)
        return -PB_E_NOT_FOUND;
    fault_fail(&gone, FAULT_NO_SERVER, "server '%s' has been removed", m->name);
    take_out(m, CALL_DISCONNECTED, &gone);
    return 0;
}

/* ---- what people ask for ---- */

int hub_connect(struct hub *h, const char *name, struct pb_error *err)
{
    struct member *m = hub_find_or_fail(h, name, err);

    if (!m)
        return -PB_E_NOT_FOUND;
    if (link_state(m->link) == LINK_DISABLED)
        return fault_fail(err, FAULT_DISABLED, "server '%s' is disabled", m->name);
    if (link_state(m->link) != LINK_CONNECTED)
        member_start(m);
    return 0;
}

int hub_reconnect(struct hub *h, const char *name, struct pb_error *err)
{
    struct member *m = hub_find_or_fail(h, name, err);

    if (!m)
        return -PB_E_NOT_FOUND;
    /* Many who want the same at once get one attempt; one of the policy's own is cut short. */
    if (member_is(m, MEMBER_ASKED))
        return 0;
    return hub_connect(h, name, err);
}

static void put_down(struct member *m)
{
    member_unwant(m);
    link_disconnect(m->link);
    member_forget_lists(m);
    member_touch(m);
}

int hub_disconnect(struct hub *h, const char *name, struct pb_error *err)
{
    struct member *m = hub_find_or_fail(h, name, err);

    if (!m)
        return -PB_E_NOT_FOUND;
    if (link_state(m->link) != LINK_DISABLED)
        put_down(m);
    return 0;
}

int hub_restart(struct hub *h, const char *name, struct pb_error *err)
{
    struct member *m = hub_find_or_fail(h, name, err);

    if (!m)
        return -PB_E_NOT_FOUND;
    if (link_state(m->link) == LINK_DISABLED)
        return fault_fail(err, FAULT_DISABLED, "server '%s' is disabled", m->name);
    if (link_state(m->link) == LINK_CONNECTED)
        link_disconnect(m->link);
    member_start(m);
    return 0;
}

int hub_cancel_connect(struct hub *h, const char *name, struct pb_error *err)
{
    struct member *m = hub_find_or_fail(h, name, err);

    if (!m)
        return -PB_E_NOT_FOUND;
    if (link_state(m->link) == LINK_CONNECTED)
        return 0;
    member_unwant(m);
    link_cancel_connect(m->link);
    member_touch(m);
    return 0;
}

int hub_enable(struct hub *h, const char *name, bool on, struct pb_error *err)
{
    struct member *m = hub_find_or_fail(h, name, err);

    if (!m)
        return -PB_E_NOT_FOUND;
    if (on == (link_state(m->link) != LINK_DISABLED))
        return 0;
    member_unwant(m);
    link_set_enabled(m->link, on);
    if (on) {
        member_load(m);
        if (!member_is_lazy(m))
            member_start(m);
    } else {
        member_forget_lists(m);
    }
    member_touch(m);
    return 0;
}

void hub_reconnect_failed(struct hub *h)
{
    AUTO_FREE uint64_t *no = NULL;
    size_t n = hub_numbers(h, &no);

    for (size_t i = 0; i < n; i++) {
        struct member *m = hub_by_no(h, no[i]);

        if (m && link_is_failed(link_state(m->link)))
            member_start(m);
    }
}

void hub_subscribe_resource(struct hub *h, const char *server, struct span uri, bool on)
{
    struct member *m = hub_find(h, server);

    if (!m || (!on && m->subscriptions == 0))
        return;
    m->subscriptions = on ? m->subscriptions + 1 : m->subscriptions - 1;
    link_subscribe(m->link, uri, on);
    m->used_at = loop_now(h->loop);
    /* Only a server that runs can tell of changes. */
    if (on && member_is_lazy(m) && link_state(m->link) == LINK_IDLE)
        member_wake(m);
}

void hub_watch_task(struct hub *h, const char *server, const char *caller, struct span id, bool on)
{
    struct member *m = hub_find(h, server);

    if (!m)
        return;
    link_watch_task(m->link, caller, id, on);
    m->used_at = loop_now(h->loop);
}

void hub_set_modes(struct hub *h, struct mode_set *modes)
{
    struct mode_set *old = h->modes;

    if (mode_set_equal(old, modes))
        return;
    h->modes = mode_set_ref(modes);
    mode_set_unref(old);
    hub_lists_changed(h, "", 1U << LIST_TOOLS);
}

void hub_tune(struct hub *h, const struct hub_options *o)
{
    struct hub_options *to = &h->opts;
    struct list *pos, *safe;
    bool asks_otherwise = to->health_ms != o->health_ms;

    to->call_ms = h->link_opts.call_ms = o->call_ms;
    to->connect_ms = h->link_opts.connect_ms = o->connect_ms;
    to->refresh_on_change = h->link_opts.refresh_on_change = o->refresh_on_change;
    to->health_ms = o->health_ms;
    to->reconnect = o->reconnect;
    to->restart_max = o->restart_max;
    to->retry_initial = o->retry_initial;
    to->max_servers = o->max_servers;
    free((char *)(uintptr_t)to->inherit_env);
    to->inherit_env = h->link_opts.inherit_env = mem_dup_opt(o->inherit_env);
    LIST_FOREACH(pos, safe, &h->members)
        link_tune(CONTAINER_OF(pos, struct member, at)->link, &h->link_opts);
    if (asks_otherwise) {
        timer_stop(&h->health);
        hub_health_wake(h);
    }
}

/* ---- beginning and end ---- */

static void copy_options(struct hub *h, const struct hub_options *o)
{
    h->opts = *o;
    h->opts.cache_dir = mem_dup_opt(o->cache_dir);
    h->opts.secrets_dir = mem_dup_opt(o->secrets_dir);
    h->opts.marker = mem_dup_opt(o->marker);
    h->opts.inherit_env = mem_dup_opt(o->inherit_env);
    h->claims = claims_new();
    h->loop = o->loop;
    id_new(h->id);
    h->link_opts = (struct link_options){
        .hub = h->id,
        .loop = o->loop,
        .connect_ms = o->connect_ms,
        .call_ms = o->call_ms,
        .marker = h->opts.marker,
        .secrets = h->opts.secrets_dir,
        .vault = h->opts.vault,
        .inherit_env = h->opts.inherit_env,
        .claims = h->claims,
        .refresh_on_change = o->refresh_on_change,
        .event = member_on_event,
        .call_hearers = &h->call_hearers,
        .listed = member_on_listed,
        .resource_updated = member_on_resource,
        .task_changed = member_on_task,
        .message = member_on_message,
        .question = member_on_question,
        .withdrawn = member_on_withdrawn,
        .elicited = member_on_elicited,
        .learned = member_on_learned,
        .cleared = member_on_clear,
        .greeted = member_on_greeted,
    };
}

static void late(void *ctx)
{
    struct hub *h = ctx;
    struct list *pos, *safe;

    log_error("the hub did not stop within %d ms; going on without waiting", HUB_STOP_MS);
    LIST_FOREACH(pos, safe, &h->closers) {
        struct closer *c = CONTAINER_OF(pos, struct closer, at);

        list_remove(&c->at);
        c->fn(c->ctx);
        free(c);
    }
}

struct hub *hub_new(const struct hub_options *opts)
{
    struct hub *h = NEW(struct hub);

    copy_options(h, opts);
    h->catalog = catalog_new();
    h->modes = mode_set_new();
    list_init(&h->members);
    list_init(&h->leaving);
    list_init(&h->todo);
    list_init(&h->cache_jobs);
    list_init(&h->listeners);
    list_init(&h->waits);
    list_init(&h->closers);
    timer_init(&h->limit, h->loop, late, h);
    timer_init(&h->cache_retry, h->loop, hub_cache_start, h);
    hub_health_init(h);
    return h;
}

static void hub_free(struct hub *h)
{
    timer_stop(&h->limit);
    timer_stop(&h->cache_retry);
    timer_stop(&h->health);
    timer_stop(&h->idle);
    hub_drop_listeners(h);
    catalog_free(h->catalog);
    mode_set_unref(h->modes);
    map_done(&h->by_name);
    table_done(&h->by_no);
    map_done(&h->waiting);
    map_done(&h->named);
    map_done(&h->changed);
    free((char *)h->opts.cache_dir);
    free((char *)h->opts.marker);
    free((char *)h->opts.secrets_dir);
    free((char *)h->opts.inherit_env);
    claims_free(h->claims);
    free(h);
}

void hub_maybe_end(struct hub *h)
{
    struct list closers, *pos, *safe;

    if (!h->closing || h->deferred || h->telling || h->jobs || !list_empty(&h->leaving) ||
        hub_end_own(h))
        return;
    list_init(&closers);
    list_move(&closers, &h->closers);
    hub_free(h);
    LIST_FOREACH(pos, safe, &closers) {
        struct closer *c = CONTAINER_OF(pos, struct closer, at);

        list_remove(&c->at);
        c->fn(c->ctx);
        free(c);
    }
}

void hub_close(struct hub *h, loop_fn *fn, void *ctx)
{
    struct pb_error why;

    hub_owned(h);
    if (fn) {
        struct closer *c = NEW(struct closer);

        c->fn = fn;
        c->ctx = ctx;
        list_append(&h->closers, &c->at);
    }
    if (h->closing)
        return;
    h->closing = true;
    timer_stop(&h->health);
    timer_stop(&h->idle);
    timer_start(&h->limit, HUB_STOP_MS);
    fault_fail(&why, FAULT_CANCELLED, "the hub is being closed");
    while (!list_empty(&h->members))
        take_out(CONTAINER_OF(h->members.next, struct member, at), CALL_SHUTDOWN, &why);
    if (h->own)
        take_out(TAKE(h->own), CALL_SHUTDOWN, &why);
    hub_touch(h);
}
