/* fuzz_catalog - any JSON as the lists of three servers, one of which is named so that its names
 * could be taken for another's, and as a filter. Each line of the input is one list; the kind goes
 * round. What is rendered is JSON, in order, and says what can be found; every outward name leads
 * back to one entry; every URI that goes out comes back to its server exactly, however little it
 * may cost to find out how. */
#include "hub/catalog/catalog.h"
#include "hub/catalog/catalog_impl.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

static const char *const servers[] = { "a", "a__b", "z" };

static void check_wire(const struct entry *e)
{
    if (e->kind == LIST_RESOURCES || e->kind == LIST_TEMPLATES)
        return;
    MUST(e->wire.n <= WIRE_NAME_MAX);
    for (size_t i = 0; i < e->wire.n; i++)
        MUST(strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-",
                    e->wire.p[i]));
}

/* The whole, without a scope: names lead back. */
static void check_entries(const struct catalog *c, enum list_kind kind)
{
    static const struct scope all;
    const struct entry *const *list;
    size_t n = catalog_all(c, kind, &list);

    for (size_t i = 0; i < n; i++) {
        const struct entry *e = list[i];
        struct scope one = { .server = e->server };
        AUTO_ARENA struct arena a = { 0 };

        MUST(e->server && e->name.n && utf8_valid(e->name));
        MUST(!i || span_cmp(list[i - 1]->id, e->id) < 0);
        check_wire(e);
        if (e->enabled) {
            MUST(!e->wire.n || catalog_find(c, &all, kind, e->wire, NULL) == e);
            MUST(catalog_find(c, &one, kind, e->name, NULL) == e);
        }
        entry_schema(e);
        MUST(utf8_valid(entry_description(e, &a)));
    }
}

static void check_render(struct catalog *c, const struct scope *s, enum list_kind kind)
{
    static const char *const keys[] = { "name", "uri", "uriTemplate", "name" };
    struct json_opts opts = { .keep_depth = 2, .unique_depth = 2 };
    AUTO(blob) struct blob *b = catalog_render(c, s, kind), *again = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    const struct entry *const *list;
    size_t n = catalog_all(c, kind, &list), shown = 0;

    MUST(json_parse(&doc, blob_span(b), &opts, NULL) == 0);
    JSON_FOREACH(item, json_root(&doc)) {
        AUTO_ARENA struct arena a = { 0 };
        struct span name = json_str(json_get(item, keys[kind]), &a);
        const struct entry *e = catalog_find(c, s, kind, name, NULL);

        MUST(e && scope_shows(c, s, e));
        MUST(span_eq(s->server ? e->name : e->wire, name));
        shown++;
    }
    for (size_t i = 0; i < n; i++)
        shown -= scope_shows(c, s, list[i]) && (s->server || list[i]->wire.n);
    MUST(shown == 0);
    again = catalog_render(c, s, kind);
    MUST(again == b);
}

static void check_uris(struct catalog *c, const char *server, struct span uri, size_t steps)
{
    static const struct scope all;
    AUTO_ARENA struct arena a = { 0 };
    struct span out;
    struct uri_route r;

    if (!uri.n || !utf8_valid(uri))
        return;
    catalog_note_uri(c, server, uri);
    out = catalog_out_uri(c, &all, server, uri, &a, &steps);
    r = catalog_route(c, &all, out, &a);
    MUST(r.server && !strcmp(r.server, server) && span_eq(r.uri, uri));
    r = catalog_route(c, &(struct scope){ .server = server }, out, &a);
    MUST(!strcmp(r.server, server));
}

static void check_filter(struct catalog *c, struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 }, again_doc = { 0 };
    AUTO(filter) struct filter *f = NULL, *again = NULL;
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);
    struct scope s = { 0 };
    struct pb_error err = { 0 };

    if (json_parse(&doc, text, NULL, NULL) < 0)
        return;
    if (filter_parse(&f, json_root(&doc), &err) < 0) {
        MUST(err.msg[0]);
        return;
    }
    filter_write(&o, NULL, f);
    MUST(json_parse(&again_doc, buf_span(&out), NULL, NULL) == 0);
    MUST(filter_parse(&again, json_root(&again_doc), NULL) == 0);
    MUST(memcmp(filter_digest(f), filter_digest(again), SHA256_BYTES) == 0);
    s.filter = f;
    check_render(c, &s, LIST_TOOLS);
}

static void feed(struct catalog *c, struct span line, unsigned turn)
{
    static const char *const none[] = { NULL }, *const globs[] = { "*a", "?", NULL };
    struct spec spec = { .name = servers[turn % ARRAY_LEN(servers)],
                         .enabled_tools = none,
                         .disabled_tools = turn % 5 ? none : globs };
    enum list_kind kind = (enum list_kind)(turn % LIST_KINDS);
    uint64_t before = c->shelves[kind].version;
    struct pb_error err = { 0 };
    bool changed = false;

    if (catalog_set(c, &spec, kind, line, &changed, &err) < 0)
        MUST(err.msg[0] && c->shelves[kind].version == before);
    else
        MUST((c->shelves[kind].version > before) == changed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct span rest = { (const char *)data, size }, line = { 0 };
    static const struct scope all;
    struct scope one = { .server = "a__b" };
    unsigned turn = 0;
    struct pb_error err = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(servers); i++)
        feed(c, SPAN("[]"), (unsigned)i * (LIST_KINDS + 1));
    while (rest.n && turn < 64) {
        const char *end = memchr(rest.p, '\n', rest.n);

        line = span_make(rest.p, end ? (size_t)(end - rest.p) : rest.n);
        rest = span_from(rest, line.n + (end != NULL));
        feed(c, line, turn++);
        check_filter(c, line);
    }
    for (unsigned k = 0; k < LIST_KINDS; k++) {
        check_entries(c, (enum list_kind)k);
        check_render(c, &all, (enum list_kind)k);
        check_render(c, &one, (enum list_kind)k);
        if (!catalog_find(c, &all, (enum list_kind)k, line, &err))
            MUST(err.msg[0] && fault_of(&err) != FAULT_NONE);
    }
    for (size_t i = 0; i < ARRAY_LEN(servers); i++)
        for (size_t steps = 1; steps <= CATALOG_STEPS_MAX; steps *= 8)
            check_uris(c, servers[i], line, steps);
    catalog_drop(c, "a");
    check_render(c, &all, LIST_TOOLS);
    return 0;
}
