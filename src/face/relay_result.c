/* relay_result.c - a server's result for a client of ours: the same bytes, but for URIs that other
 * servers have as well, and for what the client's era must have or must not have. */
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

static void tool_uris(struct relay *c, struct edits *e, struct span whole, struct json root)
{
    name_content(c, e, whole, json_get(root, "content"));
}

/* MCP Apps: the page that goes with the result. */
static void page_uris(struct relay *c, struct edits *e, struct span whole, struct json root)
{
    struct json pages[META_PAGES];
    size_t n = meta_pages(json_get(root, "_meta"), pages);

    for (size_t i = 0; i < n; i++)
        name_uri(c, e, whole, pages[i]);
}

static void prompt_uris(struct relay *c, struct edits *e, struct span whole, struct json root)
{
    JSON_FOREACH(message, json_get(root, "messages"))
        name_content(c, e, whole, json_get(message, "content"));
}

static void read_uris(struct relay *c, struct edits *e, struct span whole, struct json root)
{
    JSON_FOREACH(item, json_get(root, "contents"))
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

/* In the legacy era structuredContent is an object. Anything else is given as text, if the server
 * has not done so itself. */
static void plain_structure(struct relay *c, struct edits *e, struct span whole, struct json root)
{
    struct json structured = json_get(root, "structuredContent"), content;
    AUTO_BUF struct buf text = { 0 };

    (void)c;
    if (json_is(structured, JSON_NONE) || json_is(structured, JSON_OBJECT))
        return;
    content = json_get(root, "content");
    if (json_is(content, JSON_ARRAY) && json_len(content) == 0) {
        buf_str(&text, "[{\"type\":\"text\",\"text\":");
        json_quote(&text, json_text(structured));
        buf_str(&text, "}]");
        add_edit(e, json_text(content), whole, keep(e, &text));
    }
    add_edit(e, member_range(whole, structured), whole, SPAN(""));
}

/* A modern answer to resources/read says how long it is good; a legacy server does not know. */
static void cache_hints(struct relay *c, struct edits *e, struct span whole, struct json root)
{
    bool ttl = !json_is(json_get(root, "ttlMs"), JSON_NONE);
    bool scope = !json_is(json_get(root, "cacheScope"), JSON_NONE);
    AUTO_BUF struct buf more = { 0 };

    (void)c;
    if (!json_len(root))
        return;
    buf_str(&more, ttl ? "" : ",\"ttlMs\":0");
    buf_str(&more, scope ? "" : ",\"cacheScope\":\"private\"");
    if (more.n)
        add_edit(e, span_make(whole.p + whole.n - 1, 0), whole, keep(e, &more));
}

/* ---- all together ------------------------------------------------------------------------- */

typedef void rewrite_fn(struct relay *c, struct edits *e, struct span whole, struct json root);

/* What may have to be written anew, and the bytes without which it need not be looked for: a search
 * costs less than a parse. Depths are those at which the members that matter are found. */
/* clang-format off */
static const struct rewrite {
    const char *method;
    enum era client; /* ERA_UNKNOWN: both */
    bool of_modern;  /* only servers of the modern era write it */
    const char *sign;
    int depth;
    rewrite_fn *run;
} rewrites[] = {
    { "prompts/get",    ERA_UNKNOWN, false, "\"resource",            6, prompt_uris },
    { "resources/read", ERA_UNKNOWN, false, "\"uri\"",               3, read_uris },
    { "resources/read", ERA_MODERN,  false, "",                      1, cache_hints },
    { "tools/call",     ERA_UNKNOWN, false, "\"resource",            4, tool_uris },
    { "tools/call",     ERA_UNKNOWN, false, "ui:",                   3, page_uris },
    { "tools/call",     ERA_LEGACY,  true,  "\"structuredContent\"", 2, plain_structure },
};
/* clang-format on */

static bool applies(const struct relay *c, const char *method, enum era client,
                    const struct rewrite *w, struct span result)
{
    return strcmp(method, w->method) == 0 && (w->client == ERA_UNKNOWN || w->client == client) &&
           (c->maybe_modern || !w->of_modern) && span_has(result, span_of(w->sign));
}

static int by_place(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* Of a result of this method, which is `whole` or lies in it. */
static void add_rewrites(struct relay *c, const char *method, enum era client, struct edits *e,
                         struct span whole, struct span result)
{
    AUTO_JSON struct json_doc doc = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(rewrites); i++) {
        struct json_opts opts = { .keep_depth = rewrites[i].depth };

        if (applies(c, method, client, &rewrites[i], result) &&
            json_parse(&doc, result, &opts, NULL) == 0)
            rewrites[i].run(c, e, whole, json_root(&doc));
    }
}

static void in_order(struct edits *e)
{
    if (e->n > 1)
        qsort(e->v, e->n, sizeof *e->v, by_place);
}

static void reply(struct relay *c, struct span result, struct edits *e)
{
    in_order(e);
    request_reply_edited(c->request, result, e->v, e->n);
    free(e->v);
}

void relay_reply_result(struct relay *c, struct span result)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct edits e = edits_of(&arena);

    add_rewrites(c, c->method, c->request->env.era, &e, result, result);
    reply(c, result, &e);
}

static void add_task(struct relay *c, struct edits *e, struct span whole, struct json root,
                     struct span id)
{
    struct json done = json_get(root, "result");

    add_edit(e, json_text(json_get(root, "taskId")), whole, id);
    if (json_is(done, JSON_OBJECT)) /* what the call would have been answered with */
        add_rewrites(c, "tools/call", ERA_MODERN, e, whole, json_text(done));
    in_order(e);
}

void relay_reply_task(struct relay *c, struct span result, struct json root, struct span id)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct edits e = edits_of(&arena);

    add_task(c, &e, result, root, id);
    reply(c, result, &e);
}

void relay_write_task(struct relay *c, struct buf *out, struct span task, struct json root,
                      struct span id)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct edits e = edits_of(&arena);
    size_t at = 0;

    add_task(c, &e, task, root, id);
    for (size_t i = 0; i < e.n; i++) {
        buf_add(out, task.p + at, e.v[i].at - at);
        buf_add_span(out, e.v[i].put);
        at = e.v[i].at + e.v[i].cut;
    }
    buf_add_span(out, span_from(task, at));
    free(e.v);
}
