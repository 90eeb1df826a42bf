/* host_lists.c - the four lists, each whole in one page: many clients never ask for a second. The
 * text is the catalog's, made once for all clients of a scope, and goes out without being copied.
 */
#include "host_impl.h"

/* clang-format off */
static const char *const members[] = {
    [LIST_TOOLS]     = "tools",
    [LIST_RESOURCES] = "resources",
    [LIST_TEMPLATES] = "resourceTemplates",
    [LIST_PROMPTS]   = "prompts",
};
/* clang-format on */
_Static_assert(ARRAY_LEN(members) == LIST_KINDS, "every list has a member");

struct waiting {
    struct list link;
    struct host *h;
    struct request *r;
    enum list_kind kind;
};

static void answer(struct host *h, struct request *r, enum list_kind kind)
{
    const struct scope *scope = host_view(h, r);
    AUTO(blob) struct blob *items = NULL;
    AUTO_BUF struct buf head = { 0 }, tail = { 0 };
    struct span parts[4];

    if (!scope)
        return;
    items = catalog_render(h->set->catalog, scope, kind);
    buf_printf(&head, ",\"%s\":", members[kind]);
    if (r->env.era == ERA_MODERN)
        buf_printf(&tail, ",\"ttlMs\":%lld,\"cacheScope\":\"%s\"",
                   (long long)server_options(h->server)->cache_ttl_ms, request_cache_scope(r));
    buf_byte(&tail, '}');
    parts[0] = request_result_begin(r);
    parts[1] = span_from(buf_span(&head), parts[0].n == 1);
    parts[2] = blob_span(items);
    parts[3] = buf_span(&tail);
    request_reply_parts(r, parts, ARRAY_LEN(parts));
}

/* ---- waiting for servers that are about to be there --------------------------------------- */

struct starting {
    const struct host *h;
    bool any;
};

static void look(void *ctx, struct link *l)
{
    struct starting *s = ctx;
    const char *only = s->h->server_name;

    if (link_state(l) == LINK_CONNECTING && (!only || !strcmp(only, link_name(l))))
        s->any = true;
}

static bool starting(const struct host *h)
{
    struct starting s = { .h = h };

    if (h->set->hub && !h->scope.no_external)
        hub_each(h->set->hub, look, &s);
    return s.any;
}

static void forget(struct waiting *w)
{
    list_remove(&w->link);
    w->r->cancel = NULL;
    w->r->work = NULL;
    free(w);
}

static void on_cancel(struct request *r, enum cancel_reason why)
{
    (void)why;
    forget(r->work);
}

static void wait_for_servers(struct host *h, struct request *r, enum list_kind kind)
{
    struct waiting *w = NEW(struct waiting);

    *w = (struct waiting){ .h = h, .r = r, .kind = kind };
    if (list_empty(&h->waiting))
        timer_start_weak(&h->wait, h->set->list_wait_ms);
    list_append(&h->waiting, &w->link);
    r->work = w;
    r->cancel = on_cancel;
}

void host_lists_check(struct host *h)
{
    if (list_empty(&h->waiting) || (timer_running(&h->wait) && starting(h)))
        return;
    timer_stop(&h->wait);
    while (!list_empty(&h->waiting)) {
        struct waiting *w = CONTAINER_OF(h->waiting.next, struct waiting, link);
        struct request *r = w->r;
        enum list_kind kind = w->kind;

        forget(w);
        answer(h, r, kind);
    }
}

void host_lists_drop(struct host *h)
{
    timer_stop(&h->wait);
    while (!list_empty(&h->waiting))
        forget(CONTAINER_OF(h->waiting.next, struct waiting, link));
}

void host_list(struct host *h, struct request *r, enum list_kind kind)
{
    struct json cursor = json_get(r->params, "cursor");
    bool none = json_is(cursor, JSON_NONE) || json_is(cursor, JSON_NULL) || json_str_is(cursor, "");

    if (!none) /* we never gave one */
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Invalid cursor");
    else if (h->set->list_wait_ms && starting(h))
        wait_for_servers(h, r, kind);
    else
        answer(h, r, kind);
}
