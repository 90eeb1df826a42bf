/* host_lists.c - the four lists, each whole in one page: many clients never ask for a second. The
 * text is the catalog's, made once for all clients of a scope, and goes out without being copied.
 */
#include "host_impl.h"
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

/* clang-format off */
static const char *const members[] = {
    [LIST_TOOLS]     = "tools",
    [LIST_RESOURCES] = "resources",
    [LIST_TEMPLATES] = "resourceTemplates",
    [LIST_PROMPTS]   = "prompts",
};
/* clang-format on */
_Static_assert(ARRAY_LEN(members) == LIST_KINDS, "every list has a member");

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

void host_list(struct host *h, struct request *r, enum list_kind kind)
{
    struct json cursor = json_get(r->params, "cursor");
    bool none = json_is(cursor, JSON_NONE) || json_is(cursor, JSON_NULL) || json_str_is(cursor, "");

    if (!none) /* we never gave one */
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Invalid cursor");
    else if (!host_wait(h, r, NULL))
        answer(h, r, kind);
}
