/* relay_result.c - a server's result for a client of ours: the same bytes, but for URIs that other
 * servers have as well, and for what the client's era must have or must not have. */
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "relay_impl.h"

struct edits {
    struct edit *v;
    size_t n, cap;
    size_t uris, steps; /* that may still be looked at, and what that may cost */
    struct arena *arena;
};

static struct edits edits_of(struct arena *arena)
{
    return (struct edits){ .arena = arena, .uris = RELAY_URIS_MAX, .steps = CATALOG_STEPS_MAX };
}

static void add_edit(struct edits *e, struct span where, struct span whole, struct span put)
{
    if (e->n == e->cap) {
        e->cap = e->cap ? 2 * e->cap : 16;
        e->v = mem_resize(e->v, e->cap * sizeof *e->v);
    }
    e->v[e->n++] = (struct edit){ (size_t)(where.p - whole.p), where.n, put };
}

static struct span keep(struct edits *e, const struct buf *b)
{
    return span_make(arena_dup(e->arena, buf_span(b)), b->n);
}

/* ---- URIs --------------------------------------------------------------------------------- */

/* A URI that the server named. The client may ask for it, in whatever way it is written for it. */
static void name_uri(struct relay *c, struct edits *e, struct span whole, struct json uri)
{
    struct catalog *catalog = hub_catalog(c->set->hub);
    AUTO_BUF struct buf quoted = { 0 };
    struct span own, out;

    if (!json_is(uri, JSON_STRING) || !e->uris)
        return;
    e->uris--;
    own = json_str(uri, e->arena);
    if (!own.n || own.n > MCP_URI_BYTES_MAX)
        return;
    if (e->steps) /* else it is written in a form that needs no note */
        catalog_note_uri(catalog, c->server, own);
    out = catalog_out_uri(catalog, c->scope, c->server, own, e->arena, &e->steps);
    if (span_eq(out, own))
        return;
    json_quote(&quoted, out);
    add_edit(e, json_text(uri), whole, keep(e, &quoted));
}

static void name_block(struct relay *c, struct edits *e, struct span whole, struct json block)
{
    struct json type = e->uris ? json_get(block, "type") : (struct json){ 0 };

    if (json_str_is(type, "resource_link"))
        name_uri(c, e, whole, json_get(block, "uri"));
    else if (json_str_is(type, "resource"))
        name_uri(c, e, whole, json_get(json_get(block, "resource"), "uri"));
}

static void name_content(struct relay *c, struct edits *e, struct span whole, struct json content)
{
    if (json_is(content, JSON_OBJECT))
        name_block(c, e, whole, content);
    else if (json_is(content, JSON_ARRAY))
        JSON_FOREACH(block, content)
            name_block(c, e, whole, block);
}

/* MCP Apps: the page that goes with the result. */
static void name_pages(struct relay *c, struct edits *e, struct span whole, struct json meta)
{
    struct json pages[META_PAGES];
    size_t n = meta_pages(meta, pages);

    for (size_t i = 0; i < n; i++)
        name_uri(c, e, whole, pages[i]);
}

static void name_messages(struct relay *c, struct edits *e, struct span whole, struct json messages)
{
    JSON_FOREACH(message, messages)
        name_content(c, e, whole, json_get(message, "content"));
}

static void name_contents(struct relay *c, struct edits *e, struct span whole, struct json contents)
{
    JSON_FOREACH(item, contents)
        name_uri(c, e, whole, json_get(item, "uri"));
}

/* ---- eras --------------------------------------------------------------------------------- */

/* A member with the comma that goes with it. */
static struct span member_range(struct span whole, struct json member)
{
    const char *from = json_key(member).p - 1, *to = span_end(json_text(member));
    const char *p = to;

    while (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')
        p++;
    if (*p == ',')
        return span_make(from, (size_t)(p + 1 - from));
    for (p = from; p > whole.p && *p != ',' && *p != '{'; p--)
        ;
    return *p == ',' ? span_make(p, (size_t)(to - p)) : span_make(from, (size_t)(to - from));
}

/* Its inside has not been read. */
static bool is_empty_array(struct json v)
{
    struct span text = json_text(v);

    return json_is(v, JSON_ARRAY) && !span_trim(span_make(text.p + 1, text.n - 2)).n;
}

/* In the legacy era structuredContent is an object. Anything else is given as text, if the server
 * has not done so itself. */
static void plain_structure(struct edits *e, struct span whole, struct json result)
{
    struct json structured = json_get(result, "structuredContent"), content;
    AUTO_BUF struct buf text = { 0 };

    if (json_is(structured, JSON_NONE) || json_is(structured, JSON_OBJECT))
        return;
    content = json_get(result, "content");
    if (is_empty_array(content)) {
        buf_str(&text, "[{\"type\":\"text\",\"text\":");
        json_quote(&text, json_text(structured));
        buf_str(&text, "}]");
        add_edit(e, json_text(content), whole, keep(e, &text));
    }
    add_edit(e, member_range(whole, structured), whole, SPAN(""));
}

/* A modern answer to resources/read says how long it is good; a legacy server does not know. */
static void cache_hints(struct edits *e, struct span whole, struct json result)
{
    bool ttl = !json_is(json_get(result, "ttlMs"), JSON_NONE);
    bool scope = !json_is(json_get(result, "cacheScope"), JSON_NONE);
    AUTO_BUF struct buf more = { 0 };

    if (!json_len(result))
        return;
    buf_str(&more, ttl ? "" : ",\"ttlMs\":0");
    buf_str(&more, scope ? "" : ",\"cacheScope\":\"private\"");
    if (more.n)
        add_edit(e, span_make(whole.p + whole.n - 1, 0), whole, keep(e, &more));
}

/* ---- all together ------------------------------------------------------------------------- */

/* Members of results in which there may be URIs, and the bytes without which they need not be
 * looked for: a search costs less than a parse. Depths are those at which URIs are found in the
 * member, which is all that is read. */
/* clang-format off */
static const struct uri_place {
    struct span method, member, sign;
    int depth;
    void (*name)(struct relay *c, struct edits *e, struct span whole, struct json member);
} places[] = {
    { SPAN_CONST("prompts/get"),    SPAN_CONST("messages"), SPAN_CONST("\"resource"), 5, name_messages },
    { SPAN_CONST("resources/read"), SPAN_CONST("contents"), SPAN_CONST("\"uri\""),    2, name_contents },
    { SPAN_CONST("tools/call"),     SPAN_CONST("content"),  SPAN_CONST("\"resource"), 3, name_content },
    { SPAN_CONST("tools/call"),     SPAN_CONST("_meta"),    SPAN_CONST("ui:"),        2, name_pages },
};

/* What the eras have and have not. */
static const struct habit {
    struct span method;
    enum era client;
    bool of_modern; /* only servers of the modern era write it */
    void (*write)(struct edits *e, struct span whole, struct json result);
} habits[] = {
    { SPAN_CONST("resources/read"), ERA_MODERN, false, cache_hints },
    { SPAN_CONST("tools/call"),     ERA_LEGACY, true,  plain_structure },
};
/* clang-format on */

/* In a result of this method, which is `whole` or lies in it. */
static void name_uris(struct relay *c, struct span method, struct edits *e, struct span whole,
                      struct json result)
{
    AUTO_JSON struct json_doc doc = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        const struct uri_place *p = &places[i];
        struct json_opts opts = { .keep_depth = p->depth };
        struct span member;

        if (!span_eq(method, p->method))
            continue;
        member = json_text(json_get_span(result, p->member));
        if (member.n && span_has(member, p->sign) && json_parse(&doc, member, &opts, NULL) == 0)
            p->name(c, e, whole, json_root(&doc));
    }
}

/* Whether it is worth reading the members of a result at all. */
static bool may_have_uris(struct span method, struct span result)
{
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (span_eq(method, places[i].method) && span_has(result, places[i].sign))
            return true;
    return false;
}

static int by_place(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

static void in_order(struct edits *e)
{
    if (e->n > 1)
        qsort(e->v, e->n, sizeof *e->v, by_place);
}

static void keep_habits(const struct relay *c, struct edits *e, struct json result)
{
    for (size_t i = 0; i < ARRAY_LEN(habits); i++)
        if (habits[i].client == c->request->env.era && (c->maybe_modern || !habits[i].of_modern) &&
            span_is(habits[i].method, c->method))
            habits[i].write(e, json_text(result), result);
}

void relay_reply_result(struct relay *c, struct json result)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct edits e = edits_of(&arena);

    name_uris(c, span_of(c->method), &e, json_text(result), result);
    keep_habits(c, &e, result);
    in_order(&e);
    request_reply_edited(c->request, result, e.v, e.n);
    free(e.v);
}

static void add_task(struct relay *c, struct edits *e, struct json task, struct span id)
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json done = json_get(task, "result");

    add_edit(e, json_text(json_get(task, "taskId")), json_text(task), id);
    /* What the call would have been answered with. */
    if (json_is(done, JSON_OBJECT) && may_have_uris(SPAN("tools/call"), json_text(done)) &&
        json_parse(&doc, json_text(done), &shallow, NULL) == 0)
        name_uris(c, SPAN("tools/call"), e, json_text(task), json_root(&doc));
    in_order(e);
}

void relay_reply_task(struct relay *c, struct json task, struct span id)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct edits e = edits_of(&arena);

    add_task(c, &e, task, id);
    request_reply_edited(c->request, task, e.v, e.n);
    free(e.v);
}

void relay_write_task(struct relay *c, struct buf *out, struct json task, struct span id)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct edits e = edits_of(&arena);
    struct span text = json_text(task);
    size_t at = 0;

    add_task(c, &e, task, id);
    for (size_t i = 0; i < e.n; i++) {
        buf_add(out, text.p + at, e.v[i].at - at);
        buf_add_span(out, e.v[i].put);
        at = e.v[i].at + e.v[i].cut;
    }
    buf_add_span(out, span_from(text, at));
    free(e.v);
}
