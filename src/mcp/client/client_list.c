/* client_list.c - all pages of a list as one array, or an error; and the ping of both eras. */
#include "client_impl.h"
#include "mcp/rpc/rpc.h"

/* clang-format off */
static const struct {
    const char *what, *method;
} lists[] = {
    { "prompts",           "prompts/list" },
    { "resourceTemplates", "resources/templates/list" },
    { "resources",         "resources/list" },
    { "tools",             "tools/list" },
};
/* clang-format on */

struct client_listing {
    struct client *c;
    const char *what, *method;
    uint64_t timeout_ms;
    client_reply_fn *fn;
    void *ctx;
    struct buf items;
    struct map cursors; /* seen so far */
    size_t n;
};

static void listing_free(struct client_listing *l)
{
    buf_done(&l->items);
    map_done(&l->cursors);
    free(l);
}

static void finish(struct client_listing *l, const struct pb_error *err,
                   const struct client_reply *why)
{
    struct client_reply reply = { .err = err };

    if (why) {
        reply.error = why->error;
        reply.message = why->message;
        reply.http_status = why->http_status;
    }
    if (!err) {
        buf_byte(&l->items, ']');
        reply.result = buf_span(&l->items);
    }
    l->fn(l->ctx, &reply);
    listing_free(l);
}

/* Takes the items of one page; *cursor is where the next one begins, JSON_NONE at the end. */
static int take_page(struct client_listing *l, struct json root, struct json *cursor,
                     struct pb_error *err)
{
    struct json items = json_get(root, l->what);

    if (!json_is(items, JSON_ARRAY))
        return fail(err, PB_E_INVALID, "%s: the answer holds no array '%s'", l->method, l->what);
    JSON_FOREACH(item, items) {
        if (l->n++ == MCP_LIST_ITEMS_MAX)
            return fail(err, PB_E_LIMIT, "%s: the server lists more than %d items", l->method,
                        MCP_LIST_ITEMS_MAX);
        if (l->items.n > 1)
            buf_byte(&l->items, ',');
        buf_add_span(&l->items, json_text(item));
    }
    if (l->items.n > l->c->opts.max_message_bytes)
        return fail(err, PB_E_LIMIT, "%s: the whole list is larger than %zu bytes", l->method,
                    l->c->opts.max_message_bytes);
    *cursor = json_get(root, "nextCursor");
    if (json_is(*cursor, JSON_NULL))
        *cursor = (struct json){ 0 };
    return 0;
}

/* The text of the cursor, which is opaque; an empty string is a cursor like any other. */
static int check_cursor(struct client_listing *l, struct json cursor, struct pb_error *err)
{
    struct span text = json_text(cursor);

    if (!json_is(cursor, JSON_STRING))
        return fail(err, PB_E_INVALID, "%s: nextCursor is no string", l->method);
    if (text.n > MCP_CURSOR_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "%s: a cursor of more than %d bytes", l->method,
                    MCP_CURSOR_BYTES_MAX);
    if (map_put(&l->cursors, text, l))
        return fail(err, PB_E_INVALID, "%s: the server's pages go in a circle", l->method);
    if (l->cursors.n >= MCP_PAGES_MAX)
        return fail(err, PB_E_LIMIT, "%s: the server has more than %d pages", l->method,
                    MCP_PAGES_MAX);
    return 0;
}

static void on_page(void *ctx, const struct client_reply *reply);

static int ask_page(struct client_listing *l, struct span cursor, struct pb_error *err)
{
    AUTO_BUF struct buf params = { 0 };
    struct client_request_spec spec = {
        .method = l->method,
        .timeout_ms = l->timeout_ms,
        .reply = on_page,
        .ctx = l,
    };

    if (cursor.n) {
        buf_str(&params, "{\"cursor\":");
        buf_add_span(&params, cursor);
        buf_byte(&params, '}');
        spec.params = buf_span(&params);
    }
    return client_request(l->c, &spec, NULL, err);
}

static void on_page(void *ctx, const struct client_reply *reply)
{
    static const struct json_opts opts = { .keep_depth = 2, .unique_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct client_listing *l = ctx;
    struct json cursor = { 0 };
    struct pb_error err;

    if (reply->err) {
        finish(l, reply->err, reply);
        return;
    }
    if (json_parse(&doc, reply->result, &opts, &err) < 0 ||
        take_page(l, json_root(&doc), &cursor, &err) < 0) {
        finish(l, &err, NULL);
        return;
    }
    if (json_is(cursor, JSON_NONE)) {
        finish(l, NULL, NULL);
        return;
    }
    if (check_cursor(l, cursor, &err) < 0 || ask_page(l, json_text(cursor), &err) < 0)
        finish(l, &err, NULL);
}

int client_list(struct client *c, const char *what, uint64_t timeout_ms, client_reply_fn *fn,
                void *ctx, struct pb_error *err)
{
    struct client_listing *l;
    int rc;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        if (strcmp(what, lists[i].what) != 0)
            continue;
        l = NEW(struct client_listing);
        l->c = c;
        l->what = lists[i].what;
        l->method = lists[i].method;
        l->timeout_ms = timeout_ms;
        l->fn = fn;
        l->ctx = ctx;
        buf_byte(&l->items, '[');
        rc = ask_page(l, SPAN(""), err);
        if (rc < 0)
            listing_free(l);
        return rc;
    }
    return fail(err, PB_E_INVALID, "there are no lists of '%s'", what);
}

/* ---- ping ---- */

struct ping {
    client_reply_fn *fn;
    void *ctx;
};

static void on_pong(void *ctx, const struct client_reply *reply)
{
    AUTO_FREE struct ping *p = ctx;
    struct client_reply alive = { .result = SPAN("{}") };
    bool answered =
        reply->err && reply->err->code == PB_E_REMOTE && reply->err->sys == RPC_METHOD_NOT_FOUND;

    p->fn(p->ctx, answered ? &alive : reply);
}

int client_ping(struct client *c, uint64_t timeout_ms, client_reply_fn *fn, void *ctx,
                struct pb_error *err)
{
    struct ping *p = NEW(struct ping);
    struct client_request_spec spec = {
        .method = client_modern(c) ? "server/discover" : "ping",
        .timeout_ms = timeout_ms,
        .reply = on_pong,
        .ctx = p,
    };
    int rc;

    *p = (struct ping){ fn, ctx };
    rc = client_request(c, &spec, NULL, err);
    if (rc < 0)
        free(p);
    return rc;
}
