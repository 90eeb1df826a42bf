#include "mcp/rpc/rpc.h"
#include "peer_impl.h"
#include <assert.h>

static void copy_options(struct pb_server *s, const struct pb_server_options *opts)
{
    struct pb_server_options *mine = &s->opts;
    const char **texts[] = { &mine->name,    &mine->version, &mine->title,       &mine->description,
                             &mine->website, &mine->icons,   &mine->instructions };

    if (opts) /* a program built against an older header has a shorter struct */
        memcpy(mine, opts, opts->size < sizeof *mine ? opts->size : sizeof *mine);
    mine->size = sizeof *mine;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (*texts[i])
            *texts[i] = arena_dup(&s->strings, span_of(*texts[i]));
    if (!mine->name)
        mine->name = "Patchbay";
    if (!mine->version)
        mine->version = PB_VERSION;
    if (!mine->tool_timeout_ms)
        mine->tool_timeout_ms = MCP_TOOL_MS;
    if (!mine->page_items)
        mine->page_items = MCP_PAGE_ITEMS;
    if (!mine->max_request_bytes)
        mine->max_request_bytes = REQUEST_BYTES_MAX;
    if (mine->cache_ttl_ms < 0)
        mine->cache_ttl_ms = 0;
}

/* Icons come from the program as text; what is no JSON array is left out rather than sent. */
static struct span checked_icons(const char *icons)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (!icons || json_parse(&doc, span_of(icons), NULL, NULL) < 0 ||
        !json_is(json_root(&doc), JSON_ARRAY))
        return SPAN("");
    return span_of(icons);
}

static void write_info(struct pb_server *s)
{
    const struct pb_server_options *o = &s->opts;

    for (int level = 0; level < INFO_COUNT; level++) {
        struct json_out out = json_out(&s->info[level]);

        s->info[level].n = 0;
        json_begin_object(&out, NULL);
        json_put_str(&out, "name", o->name);
        json_put_str(&out, "version", o->version);
        if (level >= INFO_TITLED)
            json_put_str_opt(&out, "title", o->title);
        if (level >= INFO_FULL) {
            json_put_str_opt(&out, "description", o->description);
            json_put_str_opt(&out, "websiteUrl", o->website);
            json_put_raw(&out, "icons", checked_icons(o->icons));
        }
        json_end(&out);
    }
    s->result_begin.n = 0;
    buf_str(&s->result_begin, "{\"resultType\":\"complete\",\"_meta\":{\"" META_SERVER_INFO "\":");
    buf_add_span(&s->result_begin, buf_span(&s->info[INFO_FULL]));
    buf_byte(&s->result_begin, '}');
}

void server_set_title(struct pb_server *s, const char *title)
{
    if (title == s->opts.title || (title && s->opts.title && !strcmp(title, s->opts.title)))
        return;
    s->opts.title = title ? arena_dup(&s->strings, span_of(title)) : NULL;
    write_info(s);
}

struct pb_server *server_new(const struct pb_server_options *opts)
{
    struct pb_server *s = NEW(struct pb_server);

    copy_options(s, opts);
    write_info(s);
    s->own_loop = !s->opts.loop;
    s->loop = s->own_loop ? loop_new(NULL) : s->opts.loop;
    list_init(&s->peers);
    list_init(&s->listens);
    inbox_init(&s->inbox);
    server_stop_init(s);
    return s;
}

static void free_rest(void *ctx)
{
    struct pb_server *s = ctx;
    loop_fn *fn = s->ended_fn;
    void *fn_ctx = s->ended_ctx;

    server_stop_done(s);
    inbox_done(&s->inbox);
    for (int i = 0; i < INFO_COUNT; i++)
        buf_done(&s->info[i]);
    buf_done(&s->result_begin);
    buf_done(&s->out);
    json_doc_done(&s->doc);
    map_done(&s->watched);
    map_done(&s->by_serial);
    arena_done(&s->strings);
    free(s);
    if (fn)
        fn(fn_ctx);
}

static void drop_provider(struct pb_server *s)
{
    const struct provider *was = s->provider;

    if (was && was->done)
        was->done(TAKE(s->provider_ctx));
}

/* Nothing uses the server any more but what is freed at the end of this turn, before it. */
static void end(void *ctx)
{
    struct pb_server *s = ctx;

    while (!list_empty(&s->peers)) /* of transports that are not carriers */
        peer_close(CONTAINER_OF(s->peers.next, struct peer, in_server));
    drop_provider(s);
    s->ended = true;
    if (!s->own_loop)
        loop_free_later(s->loop, s, free_rest);
}

void server_check_end(struct pb_server *s)
{
    if (!s->freed || s->ending || !server_is_over(s))
        return;
    s->ending = true;
    loop_defer(s->loop, end, s); /* whoever called may be part of what ends */
}

void server_close(struct pb_server *s, loop_fn *fn, void *ctx)
{
    assert(!s->own_loop && !s->freed && !s->free_when_closed);
    s->ended_fn = fn;
    s->ended_ctx = ctx;
    s->free_when_closed = true;
    server_begin_stop(s);
}

static void on_late(void *ctx) { *(bool *)ctx = true; }

/* What a handler still uses cannot be freed, and a handler cannot be ended from outside. A stop
 * that has waited for it already has used the time up. */
static bool ends_in_time(struct pb_server *s)
{
    struct timer limit;
    bool late = false;

    timer_init(&limit, s->loop, on_late, &late);
    timer_start(&limit, s->stop_was_late ? 0 : MCP_STOP_MS);
    while (!s->ended && !late)
        loop_turn(s->loop, true);
    timer_stop(&limit);
    return s->ended;
}

void pb_server_free(struct pb_server *s)
{
    if (!s)
        return;
    s->freed = true;
    server_abandon(s);
    server_check_end(s);
    if (!s->own_loop)
        return;
    if (!ends_in_time(s)) {
        log_error("a handler never returned: its server is left behind");
        return;
    }
    loop_free(s->loop);
    free_rest(s);
}

struct pb_loop *pb_server_loop(struct pb_server *s) { return s->loop; }

struct pb_loop *server_loop(const struct pb_server *s) { return s->loop; }

void *server_provided_by(const struct pb_server *s, const struct provider *provider)
{
    return s->provider == provider ? s->provider_ctx : NULL;
}

const struct pb_server_options *server_options(const struct pb_server *s) { return &s->opts; }

size_t server_max_request(const struct pb_server *s) { return s->opts.max_request_bytes; }

struct peer *server_peer(const struct pb_server *s, uint64_t serial)
{
    return map_get(&s->by_serial, map_u64(&serial));
}

void server_each_peer(struct pb_server *s, void (*fn)(void *ctx, struct peer *p), void *ctx)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->peers) {
        struct peer *p = CONTAINER_OF(pos, struct peer, in_server);

        if (!p->closed)
            fn(ctx, p);
    }
}

void server_set_port(struct pb_server *s, int port) { s->port = port; }

int server_port(const struct pb_server *s) { return s->port; }

void server_set_provider(struct pb_server *s, const struct provider *provider, void *ctx)
{
    drop_provider(s);
    s->provider = provider;
    s->provider_ctx = ctx;
}

struct span server_info(const struct pb_server *s, const struct revision *rev)
{
    int level = INFO_PLAIN;

    if (rev->era == ERA_MODERN || rev->priming)
        level = INFO_FULL;
    else if (rev->structured)
        level = INFO_TITLED;
    return buf_span(&s->info[level]);
}

void server_capabilities(struct pb_server *s, struct buf *out, const struct envelope *env)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    s->provider->capabilities(s->provider_ctx, &o, env);
    json_end(&o);
}

void server_put_instructions(struct pb_server *s, struct json_out *o)
{
    AUTO_BUF struct buf text = { 0 };

    if (!s->provider->instructions) {
        json_put_str_opt(o, "instructions", s->opts.instructions);
        return;
    }
    s->provider->instructions(s->provider_ctx, &text);
    if (text.n)
        json_put_span(o, "instructions", buf_span(&text));
}

void server_versions(struct json_out *o, const char *key, bool modern_only)
{
    json_begin_array(o, key);
    for (const struct revision *r = mcp_revisions; r->date; r++)
        if (!modern_only || r->era == ERA_MODERN)
            json_put_str(o, NULL, r->date);
    json_end(o);
}
