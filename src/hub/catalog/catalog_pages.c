/* catalog_pages.c - MCP Apps: the _meta of a tool names a page, a resource that a host shows when
 * it is called. It must be the one of this server, whoever else has a page of that URI. */
#include "catalog_impl.h"

size_t meta_pages(struct json meta, struct json out[static META_PAGES])
{
    struct json found[META_PAGES] = {
        json_get(json_get(meta, "ui"), "resourceUri"),
        json_get(meta, "ui/resourceUri"),
        json_get(meta, "openai/outputTemplate"),
    };
    size_t n = 0;

    for (size_t i = 0; i < META_PAGES; i++)
        if (json_is(found[i], JSON_STRING))
            out[n++] = found[i];
    return n;
}

/* In the order of the text. */
static void add_page(struct pages *p, struct json value, struct span text)
{
    size_t at = (size_t)(json_text(value).p - text.p), k = p->n++;
    struct span uri = json_str(value, &p->arena);

    for (; k > 0 && p->v[k - 1].at > at; k--)
        p->v[k] = p->v[k - 1];
    uri.p = arena_dup(&p->arena, uri); /* it may lie in the text, which may go */
    p->v[k] = (struct page){ at, json_text(value).n, uri };
}

static struct pages *read_pages(struct span text)
{
    static const struct json_opts opts = { .keep_depth = 3 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json found[META_PAGES];
    struct pages *p = NULL;
    size_t n;

    if (!span_has(text, SPAN("\"_meta\"")) || json_parse(&doc, text, &opts, NULL) < 0)
        return NULL;
    n = meta_pages(json_get(json_root(&doc), "_meta"), found);
    for (size_t i = 0; i < n; i++) {
        size_t bytes = json_text(found[i]).n;

        if (bytes <= 2 || bytes > CATALOG_NAME_MAX)
            continue;
        if (!p)
            p = NEW(struct pages);
        add_page(p, found[i], text);
    }
    return p;
}

void pages_read(struct listing *l)
{
    for (size_t i = 0; i < l->n; i++)
        l->items[i].pages = read_pages(l->items[i].e.text);
}

void pages_free(struct pages *p)
{
    if (!p)
        return;
    arena_done(&p->arena);
    free(p);
}
