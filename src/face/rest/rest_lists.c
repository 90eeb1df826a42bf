/* rest_lists.c - tools, resources and prompts: in S4's shapes (S4-38, S4-41) for those who know
 * them, and as `patchbay tools --json` prints them, page by page, for a console. */
#include "face/control/control.h"
#include "face/host/host.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "rest_impl.h"
#include <ctype.h>

/* ---- S4's shapes ---- */

typedef void write_fn(struct json_out *o, const char *key, const struct hub *h, const char *server);

static void reply_all(struct rest_call *c, const char *key, write_fn *write)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    write(&o, key, c->hub, rest_text(c, "server"));
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

void rest_mcp_tools(struct rest_call *c) { reply_all(c, "tools", hub_write_tools); }

void rest_mcp_resources(struct rest_call *c) { reply_all(c, "resources", hub_write_resources); }

static void put_string(struct json_out *o, const char *key, struct json v)
{
    json_put_raw(o, key, json_is(v, JSON_STRING) ? json_text(v) : SPAN("null"));
}

static void write_prompts(struct json_out *o, const char *key, const struct hub *h,
                          const char *server)
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    const struct entry *const *all;
    size_t n = catalog_all(hub_catalog(h), LIST_PROMPTS, &all);

    json_begin_array(o, key);
    for (size_t i = 0; i < n; i++) {
        const struct entry *e = all[i];

        if (!e->server || !e->enabled || e->held || (server && strcmp(server, e->server) != 0) ||
            json_parse(&doc, e->text, &shallow, NULL) < 0)
            continue;
        json_begin_object(o, NULL);
        json_put_span(o, "name", e->id);
        json_put_str(o, "server", e->server);
        json_put_span(o, "original_name", e->name);
        put_string(o, "description", json_get(json_root(&doc), "description"));
        json_put_raw(o, "arguments",
                     json_is(json_get(json_root(&doc), "arguments"), JSON_ARRAY)
                         ? json_text(json_get(json_root(&doc), "arguments"))
                         : SPAN("[]"));
        json_end(o);
    }
    json_end(o);
}

void rest_mcp_prompts(struct rest_call *c) { reply_all(c, "prompts", write_prompts); }

/* ---- pages ---- */

struct list_page {
    struct scope scope;
    struct span words; /* in small letters; empty: any */
    uint64_t offset, limit, total;
};

/* ASCII letters may be of either case. */
static struct span lower(struct span text, struct arena *a)
{
    char *copy = arena_dup(a, text);

    for (size_t i = 0; i < text.n; i++)
        copy[i] = (char)tolower((unsigned char)copy[i]);
    return span_make(copy, text.n);
}

static bool holds(struct span text, struct span words, struct arena *a)
{
    text = lower(text, a);
    return memmem(text.p, text.n, words.p, words.n) != NULL;
}

static bool wanted(const struct catalog *c, const struct list_page *p, const struct entry *e)
{
    AUTO_ARENA struct arena a = { 0 };

    if (e->held || !scope_holds(c, &p->scope, e))
        return false;
    return !p->words.n || holds(e->id, p->words, &a) ||
           holds(entry_description(e, &a), p->words, &a);
}

/* False: it takes too long to choose. */
static bool write_page(struct json_out *o, const struct hub *h, enum list_kind kind,
                       struct list_page *p)
{
    const struct entry *const *all;
    size_t n = catalog_all(hub_catalog(h), kind, &all);
    bool chooses = p->scope.filter || p->words.n;

    p->total = 0;
    json_begin_array(o, list_kind_name(kind));
    for (size_t i = 0; i < n; i++) {
        if (chooses && loop_is_slow(hub_loop(h)))
            return false;
        if (!wanted(hub_catalog(h), p, all[i]))
            continue;
        if (p->total >= p->offset && p->total - p->offset < p->limit)
            control_write_entry(o, all[i]);
        p->total++;
    }
    json_end(o);
    return true;
}

/* False: answered. */
static bool read_page(struct rest_call *c, struct list_page *p)
{
    const char *id = rest_text(c, "mode"), *server = rest_text(c, "server");
    const struct mode *mode = id ? mode_find(hub_modes(c->hub), span_of(id)) : NULL;

    *p = (struct list_page){ .scope = control_scope(server, mode),
                             .words = lower(span_of(rest_text(c, "q")), &c->arena),
                             .offset = rest_count(c, "offset", 0),
                             .limit = rest_count(c, "limit", REST_PAGE_ITEMS) };
    if (id && !mode) {
        rest_fail(c->r, &(struct rest_failure){ 404, "mode_not_found", "mode", span_of(id),
                                                .message = "There is no mode of this name" });
        return false;
    }
    if (server && !hub_link(c->hub, server)) {
        rest_fail(c->r, &(struct rest_failure){ 404, "server_not_found", "server", span_of(server),
                                                .message = "There is no server of this name" });
        return false;
    }
    if (p->limit < 1 || p->limit > REST_PAGE_ITEMS) {
        rest_refuse(c->r, "limit: expected 1 to %d", REST_PAGE_ITEMS);
        return false;
    }
    return true;
}

static bool write_pages(struct json_out *o, const struct hub *h, enum list_kind kind,
                        struct list_page *p)
{
    if (!write_page(o, h, kind, p))
        return false;
    json_put_uint(o, "total", p->total);
    if (p->offset < p->total && p->limit < p->total - p->offset)
        json_put_uint(o, "next_offset", p->offset + p->limit);
    if (kind != LIST_RESOURCES)
        return true;
    if (!write_page(o, h, LIST_TEMPLATES, p))
        return false;
    json_put_uint(o, "total_templates", p->total);
    return true;
}

static void reply_page(struct rest_call *c, enum list_kind kind)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);
    struct list_page p;

    if (!read_page(c, &p))
        return;
    json_begin_object(&o, NULL);
    if (!write_pages(&o, c->hub, kind, &p)) {
        rest_refuse(c->r, "%s takes too long; %s", p.scope.filter ? "the mode" : "the search",
                    p.scope.server ? "a simpler one would be quicker"
                                   : "choose among the items of one server");
        return;
    }
    control_write_failed(&o, "failed", c->hub, p.scope.server);
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

void rest_tools(struct rest_call *c) { reply_page(c, LIST_TOOLS); }

void rest_resources(struct rest_call *c) { reply_page(c, LIST_RESOURCES); }

void rest_prompts(struct rest_call *c) { reply_page(c, LIST_PROMPTS); }
