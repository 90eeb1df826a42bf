/* link_lists.c - what a server offers: all lists before it counts as connected, and those that
 * changed after that; and the resources of it that are watched. */
#include "link_impl.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"

/* clang-format off */
static const struct {
    const char *name, *capability, *method, *changed;
} kinds[LIST_KINDS] = {
    [LIST_TOOLS]     = { "tools",             "tools",     "tools/list",               "notifications/tools/list_changed" },
    [LIST_RESOURCES] = { "resources",         "resources", "resources/list",           "notifications/resources/list_changed" },
    [LIST_TEMPLATES] = { "resourceTemplates", "resources", "resources/templates/list", "notifications/resources/list_changed" },
    [LIST_PROMPTS]   = { "prompts",           "prompts",   "prompts/list",             "notifications/prompts/list_changed" },
};
/* clang-format on */

const char *list_kind_name(enum list_kind k) { return kinds[k].name; }

static void on_pause_over(void *ctx)
{
    struct link_listing *s = ctx;

    if (s->again)
        link_refresh(s->l, s->kind);
}

/* Somebody who waits until what was asked for has been said. */
struct relist_wait {
    struct list at; /* in link.relisted */
    loop_fn *fn;
    void *ctx;
};

static void tell_relisted(struct link *l)
{
    struct list now = LIST_INIT(now);

    list_move(&now, &l->relisted);
    while (!list_empty(&now)) {
        struct relist_wait *w = CONTAINER_OF(now.next, struct relist_wait, at);

        list_remove(&w->at);
        w->fn(w->ctx);
        free(w);
    }
}

void lists_init(struct link *l)
{
    list_init(&l->relisted);
    for (int i = 0; i < LIST_KINDS; i++) {
        l->lists[i].l = l;
        l->lists[i].kind = (enum list_kind)i;
        timer_init(&l->lists[i].pause, l->loop, on_pause_over, &l->lists[i]);
    }
}

void lists_done(struct link *l)
{
    for (int i = 0; i < LIST_KINDS; i++) {
        timer_stop(&l->lists[i].pause);
        buf_done(&l->lists[i].text);
    }
    tell_relisted(l);
    map_done(&l->subscriptions);
    tasks_done(l);
}

static size_t count_items(struct span array)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (!array.n || json_parse(&doc, array, &(struct json_opts){ .keep_depth = 1 }, NULL) < 0)
        return 0;
    return json_len(json_root(&doc));
}

static void on_list(void *ctx, const struct client_reply *reply);
static void subscriptions_restore(struct link *l);

static int ask(struct link_listing *s, struct pb_error *err)
{
    struct link *l = s->l;
    int rc =
        client_list(l->shared.client, kinds[s->kind].name, l->opts.connect_ms, on_list, s, err);

    s->again = false;
    s->busy = rc == 0;
    return rc;
}

static void warn(const struct link_listing *s, const struct pb_error *err)
{
    /* Few servers that have resources have templates, and many do not know the question. */
    if (s->kind == LIST_TEMPLATES && err->code == PB_E_REMOTE && err->sys == RPC_METHOD_NOT_FOUND)
        return;
    link_log(s->l, PB_LOG_WARNING, "%s failed: %s", kinds[s->kind].method, err->msg);
}

static void hand_on(struct link_listing *s, struct span array, struct digests *d)
{
    struct link *l = s->l;

    s->known = true;
    s->hash = hash_keyed(array);
    s->digests = d;
    if (l->opts.listed)
        l->opts.listed(l->opts.ctx, l, s->kind, array);
    s->digests = NULL;
}

struct digests *link_digests(const struct link *l, enum list_kind kind)
{
    return l->lists[kind].digests;
}

/* ---- weighing: what the items of lists are, before anybody sees them ---- */

/* All lists of an attempt, or one that was said later. */
struct weighing {
    struct link *l; /* referenced */
    unsigned attempt;
    int only; /* enum list_kind; -1: all */
    size_t tools;
    struct buf text[LIST_KINDS];
    struct digests digests[LIST_KINDS];
};

static void weighed_first(struct weighing *w);
static void weighed_next(struct weighing *w);

static bool is_weighed(const struct link *l, int kind)
{
    return l->opts.weigh && (kind == LIST_TOOLS || kind == LIST_PROMPTS);
}

/* On a worker, or on the loop when there is little to do. */
static void weigh(void *ctx)
{
    struct weighing *w = ctx;

    for (int i = 0; i < LIST_KINDS; i++)
        if (w->text[i].n && is_weighed(w->l, i))
            digests_of(&w->digests[i], buf_span(&w->text[i]));
}

/* The link may have gone on meanwhile, or ended. */
static void on_weighed(void *ctx)
{
    struct weighing *w = ctx;
    struct link *l = w->l;
    bool first = w->only < 0;

    if (!l->closed && l->attempt == w->attempt && l->shared.client &&
        (!first || link_is_coming(l->status.state))) {
        if (first)
            weighed_first(w);
        else
            weighed_next(w);
    } else if (!l->closed && !first) {
        tell_relisted(l);
    }
    for (int i = 0; i < LIST_KINDS; i++) {
        buf_done(&w->text[i]);
        digests_done(&w->digests[i]);
    }
    free(w);
    link_unref(l);
}

static struct weighing *weighing_new(struct link *l, int only)
{
    struct weighing *w = NEW(struct weighing);

    link_ref(l);
    w->l = l;
    w->attempt = l->attempt;
    w->only = only;
    return w;
}

static void begin_weighing(struct weighing *w)
{
    size_t bytes = 0;

    for (int i = 0; i < LIST_KINDS; i++)
        bytes += is_weighed(w->l, i) ? w->text[i].n : 0;
    if (bytes > DIGESTS_NOW_BYTES && loop_work(w->l->loop, weigh, on_weighed, w, NULL) == 0)
        return;
    weigh(w);
    on_weighed(w);
}

/* ---- before it is connected ---- */

/* Each `listed` may end the attempt, or the link. */
static void weighed_first(struct weighing *w)
{
    struct link *l = w->l;
    unsigned attempt = l->attempt;

    for (int i = 0; i < LIST_KINDS; i++) {
        hand_on(&l->lists[i], buf_span(&w->text[i]), is_weighed(l, i) ? &w->digests[i] : NULL);
        if (l->closed || l->attempt != attempt)
            return;
    }
    link_connect_done(l, w->tools);
    if (l->closed || l->attempt != attempt || !link_in(l, LINK_CONNECTED))
        return;
    subscriptions_restore(l);
    for (int i = 0; i < LIST_KINDS; i++)
        if (l->lists[i].again)
            link_refresh(l, (enum list_kind)i);
}

static void finish(struct link *l)
{
    struct weighing *w = weighing_new(l, -1);

    w->tools = count_items(buf_span(&l->lists[LIST_TOOLS].text));
    for (int i = 0; i < LIST_KINDS; i++) {
        w->text[i] = l->lists[i].text;
        l->lists[i].text = (struct buf){ 0 };
    }
    begin_weighing(w);
}

static bool all_there(const struct link *l)
{
    for (int i = 0; i < LIST_KINDS; i++)
        if (l->lists[i].busy)
            return false;
    return true;
}

void lists_begin(struct link *l)
{
    struct pb_error err;

    tell_relisted(l); /* what they were promised will not come */
    for (int i = 0; i < LIST_KINDS; i++) {
        l->lists[i].text.n = 0;
        l->lists[i].busy = l->lists[i].again = false;
    }
    for (int i = 0; i < LIST_KINDS; i++) {
        if (!link_has(l, kinds[i].capability) || ask(&l->lists[i], &err) == 0)
            continue;
        if (i == LIST_TOOLS) {
            link_connect_failed(l, kinds[i].method, &err);
            return;
        }
        warn(&l->lists[i], &err);
    }
    if (all_there(l))
        finish(l);
}

static void first_answer(struct link_listing *s, const struct client_reply *reply)
{
    struct link *l = s->l;

    if (reply->err && s->kind == LIST_TOOLS) {
        link_connect_failed(l, kinds[s->kind].method, reply->err);
        return;
    }
    if (reply->err)
        warn(s, reply->err);
    else
        buf_add_span(&s->text, reply->result);
    if (all_there(l))
        finish(l);
}

/* ---- after that ---- */

static void next_answer(struct link_listing *s, const struct client_reply *reply)
{
    struct link *l = s->l;

    if (reply->err) {
        warn(s, reply->err);
    } else if (!s->known || s->hash != hash_keyed(reply->result)) {
        struct weighing *w = weighing_new(l, (int)s->kind);

        if (s->kind == LIST_TOOLS)
            w->tools = count_items(reply->result);
        buf_add_span(&w->text[s->kind], reply->result);
        s->busy = true; /* until it was handed on */
        begin_weighing(w);
        return;
    }
    if (s->again)
        link_refresh(l, s->kind);
}

static void weighed_next(struct weighing *w)
{
    struct link *l = w->l;
    struct link_listing *s = &l->lists[w->only];

    s->busy = false;
    if (!link_in(l, LINK_CONNECTED)) {
        tell_relisted(l);
        return;
    }
    if (s->kind == LIST_TOOLS)
        l->status.tools = w->tools;
    hand_on(s, buf_span(&w->text[w->only]), is_weighed(l, w->only) ? &w->digests[w->only] : NULL);
    if (l->closed || l->attempt != w->attempt)
        return;
    if (s->again)
        link_refresh(l, s->kind);
    if (all_there(l))
        tell_relisted(l);
}

static void on_list(void *ctx, const struct client_reply *reply)
{
    struct link_listing *s = ctx;

    s->busy = false;
    if (!s->l->shared.client || s->l->closed) {
        tell_relisted(s->l);
        return;
    }
    if (!link_in(s->l, LINK_CONNECTED)) {
        first_answer(s, reply);
        return;
    }
    next_answer(s, reply);
    if (all_there(s->l))
        tell_relisted(s->l);
}

/* A server that changes without end, or is a hub that has us among its servers, must not keep us
 * busy. False: later. */
static bool may_ask(struct link_listing *s)
{
    uint64_t now = loop_now(s->l->loop), most = (uint64_t)LINK_REFRESH_BURST * LINK_REFRESH_MS;

    if (s->paid_until < now)
        s->paid_until = now;
    if (s->paid_until - now + LINK_REFRESH_MS > most) {
        if (!timer_running(&s->pause))
            timer_start_weak(&s->pause, s->paid_until - now + LINK_REFRESH_MS - most);
        return false;
    }
    s->paid_until += LINK_REFRESH_MS;
    return true;
}

void link_refresh(struct link *l, enum list_kind kind)
{
    struct link_listing *s = &l->lists[kind];
    struct pb_error err;

    if (!l->shared.client || l->shared.leaving || !link_has(l, kinds[kind].capability))
        return;
    if (s->busy || !link_in(l, LINK_CONNECTED) || !may_ask(s))
        s->again = true; /* however often it was said: once more */
    else if (ask(s, &err) < 0)
        warn(s, &err);
}

bool link_refresh_all(struct link *l, loop_fn *fn, void *ctx)
{
    struct relist_wait *w;

    if (!link_in(l, LINK_CONNECTED))
        return false;
    for (int i = 0; i < LIST_KINDS; i++)
        link_refresh(l, (enum list_kind)i);
    if (all_there(l)) /* it has nothing, or was asked too often */
        return false;
    w = NEW(struct relist_wait);
    *w = (struct relist_wait){ .fn = fn, .ctx = ctx };
    list_append(&l->relisted, &w->at);
    return true;
}

bool lists_notified(struct link *l, struct span method)
{
    bool known = false;

    for (int i = 0; i < LIST_KINDS; i++) {
        if (!span_is(method, kinds[i].changed))
            continue;
        known = true;
        if (l->opts.refresh_on_change)
            link_refresh(l, (enum list_kind)i);
    }
    return known;
}

/* ---- resources that are watched ---- */

void lists_updated(struct link *l, struct span params)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    struct json uri;

    if (!l->opts.resource_updated ||
        json_parse(&doc, params, &(struct json_opts){ .keep_depth = 1 }, NULL) < 0 ||
        !json_is(json_root(&doc), JSON_OBJECT))
        return;
    uri = json_get(json_root(&doc), "uri");
    if (json_is(uri, JSON_STRING))
        l->opts.resource_updated(l->opts.ctx, l, json_str(uri, &arena));
}

static void on_watch(void *ctx, const struct client_reply *reply)
{
    struct link *l = ctx;

    if (reply->err && l->shared.client && !l->closed)
        link_log(l, PB_LOG_WARNING, "Watching a resource failed: %s", reply->err->msg);
}

static void watch(struct link *l, struct span uri, bool on)
{
    struct pb_error err;
    int rc;

    if (!link_in(l, LINK_CONNECTED) || !l->shared.client || !l->can_subscribe)
        return;
    rc = on ? client_subscribe(l->shared.client, uri, on_watch, l, &err)
            : client_unsubscribe(l->shared.client, uri, on_watch, l, &err);
    if (rc < 0)
        link_log(l, PB_LOG_WARNING, "Watching a resource failed: %s", err.msg);
}

static void subscriptions_restore(struct link *l)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &l->subscriptions)
        watch(l, span_make(slot->key, slot->key_n), true);
    tasks_restore(&l->shared);
}

void link_move_subscriptions(struct link *to, struct link *from)
{
    map_done(&to->subscriptions);
    to->subscriptions = from->subscriptions;
    from->subscriptions = (struct map){ 0 };
    tasks_done(to);
    to->tasks = from->tasks;
    from->tasks = (struct watched_tasks){ 0 };
}

void link_subscribe(struct link *l, struct span uri, bool on)
{
    uintptr_t n = (uintptr_t)map_get(&l->subscriptions, uri);

    if (!on && !n)
        return;
    if (on && !n && l->subscriptions.n >= MCP_SUBSCRIPTIONS_MAX) {
        link_log(l, PB_LOG_WARNING, "%d resources are watched already; one more is not",
                 MCP_SUBSCRIPTIONS_MAX);
        return;
    }
    n = on ? n + 1 : n - 1;
    if (n)
        map_put(&l->subscriptions, uri, (void *)n);
    else
        map_del(&l->subscriptions, uri);
    if (n == (on ? 1 : 0))
        watch(l, uri, on);
}
