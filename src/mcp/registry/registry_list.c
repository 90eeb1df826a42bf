#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "registry_impl.h"

/* A cursor is base64url of the list's letter and the number of the last item that was seen. It
 * says nothing secret, and stays good when the list changes: numbers only rise. */
enum { CURSOR_BYTES = 9 };

/* clang-format off */
static const struct {
    const char *member;
    char letter;
} lists[] = {
    [ITEM_TOOL]     = { "tools",             't' },
    [ITEM_RESOURCE] = { "resources",         'r' },
    [ITEM_TEMPLATE] = { "resourceTemplates", 'm' },
    [ITEM_PROMPT]   = { "prompts",           'p' },
};
/* clang-format on */

void shown_free(struct shown *s)
{
    if (!s)
        return;
    buf_done(&s->text);
    free(s->start);
    free(s->seq);
    free(s);
}

static struct shown *shown_new(const struct shelf *shelf, const struct revision *rev)
{
    struct shown *s = NEW(struct shown);

    s->n = shelf->n;
    buf_reserve(&s->text, 1); /* an empty list has a text too, to take ranges of */
    s->start = mem_alloc((shelf->n + 1) * sizeof *s->start);
    s->seq = mem_alloc((shelf->n + 1) * sizeof *s->seq);
    for (size_t i = 0; i < shelf->n; i++) {
        s->start[i] = s->text.n;
        s->seq[i] = shelf->items[i]->seq;
        item_write(shelf->items[i], &s->text, rev);
        buf_byte(&s->text, ',');
    }
    s->start[shelf->n] = s->text.n;
    return s;
}

/* Good until the loop's next turn, whatever other threads register meanwhile. */
static const struct shown *shown_for(struct registry *reg, enum item_kind kind,
                                     const struct revision *rev)
{
    struct shelf *shelf = &reg->shelves[kind];
    size_t at = (size_t)(rev - mcp_revisions);
    struct shown *s;

    pthread_mutex_lock(&reg->lock);
    if (!shelf->shown[at])
        shelf->shown[at] = shown_new(shelf, rev);
    s = shelf->shown[at];
    pthread_mutex_unlock(&reg->lock);
    return s;
}

static void cursor_write(struct buf *out, enum item_kind kind, uint64_t seq)
{
    uint8_t raw[CURSOR_BYTES];

    raw[0] = (uint8_t)lists[kind].letter;
    for (size_t i = 1; i < sizeof raw; i++)
        raw[i] = (uint8_t)(seq >> (8 * (i - 1)));
    base64url_encode(out, span_make((const char *)raw, sizeof raw));
}

static bool cursor_read(struct span text, enum item_kind kind, uint64_t *seq)
{
    AUTO_BUF struct buf raw = { 0 };

    *seq = 0;
    if (!text.n)
        return true; /* a legal cursor, which we never gave: from the start */
    if (!base64url_decode(&raw, text) || raw.n != CURSOR_BYTES || raw.p[0] != lists[kind].letter)
        return false;
    for (size_t i = 1; i < CURSOR_BYTES; i++)
        *seq |= (uint64_t)(uint8_t)raw.p[i] << (8 * (i - 1));
    return true;
}

/* The first item after the one with this number. */
static size_t first_after(const struct shown *s, uint64_t seq)
{
    size_t low = 0, high = s->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (s->seq[mid] <= seq)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void reply_page(struct registry *reg, struct request *r, enum item_kind kind, uint64_t after)
{
    const struct pb_server_options *opts = server_options(reg->server);
    const struct shown *s = shown_for(reg, kind, r->env.revision);
    size_t page = opts->page_items ? opts->page_items : MCP_PAGE_ITEMS;
    size_t first = first_after(s, after), end = first + (s->n - first < page ? s->n - first : page);
    AUTO_BUF struct buf head = { 0 }, tail = { 0 };
    struct span parts[4];

    buf_printf(&head, ",\"%s\":[", lists[kind].member);
    buf_byte(&tail, ']');
    if (end < s->n) {
        buf_str(&tail, ",\"nextCursor\":\"");
        cursor_write(&tail, kind, s->seq[end - 1]);
        buf_byte(&tail, '"');
    }
    if (r->env.era == ERA_MODERN)
        buf_printf(&tail, ",\"ttlMs\":%lld,\"cacheScope\":\"%s\"", (long long)opts->cache_ttl_ms,
                   request_cache_scope(r));
    buf_byte(&tail, '}');
    parts[0] = request_result_begin(r);
    parts[1] = span_from(buf_span(&head), parts[0].n == 1);
    parts[2] = span_make(s->text.p + s->start[first], s->start[end] - s->start[first]);
    if (parts[2].n)
        parts[2].n--; /* the last comma */
    parts[3] = buf_span(&tail);
    request_reply_parts(r, parts, ARRAY_LEN(parts));
}

void list_reply(struct registry *reg, struct request *r, enum item_kind kind)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json cursor = json_get(r->params, "cursor");
    uint64_t after = 0;

    if (!json_is(cursor, JSON_NONE) && !json_is(cursor, JSON_NULL) &&
        (!json_is(cursor, JSON_STRING) || !cursor_read(json_str(cursor, &a), kind, &after))) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Invalid cursor");
        return;
    }
    reply_page(reg, r, kind, after);
}
