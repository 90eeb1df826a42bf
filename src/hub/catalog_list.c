#include "catalog_impl.h"

/* clang-format off */
const struct kind catalog_kinds[LIST_KINDS] = {
    [LIST_TOOLS]     = { "tool",              "name",        CATALOG_NAME_MAX,  FAULT_NO_TOOL,     false },
    [LIST_RESOURCES] = { "resource",          "uri",         MCP_URI_BYTES_MAX, FAULT_NO_RESOURCE, true },
    [LIST_TEMPLATES] = { "resource template", "uriTemplate", MCP_URI_BYTES_MAX, FAULT_NO_RESOURCE, true },
    [LIST_PROMPTS]   = { "prompt",            "name",        CATALOG_NAME_MAX,  FAULT_NO_PROMPT,   false },
};
/* clang-format on */

struct reading {
    struct listing list;
    const char *server;
    enum list_kind kind;
    struct buf names;
    struct arena arena;
    struct json_doc doc; /* of one item */
    size_t left_out;
};

static void leave_out(struct reading *r, size_t at, const char *why)
{
    if (r->left_out++ < CATALOG_WARNINGS_MAX)
        log_warn("server '%s': %s %zu is left out: %s", r->server, catalog_kinds[r->kind].noun,
                 at + 1, why);
}

/* Control characters would reach terminals and logs, and what is not seen makes two names look like
 * one; U+FFFD stands for an escaped half of a surrogate pair, which could not be sent back as it
 * was. */
static bool is_text(struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c < 0x20 || c == 0x7f || (c >= 0xd8 && text_hidden(span_from(s, i))))
            return false;
        if (c == 0xc2 && i + 1 < s.n && (unsigned char)s.p[i + 1] < 0xa0)
            return false;
    }
    return !memmem(s.p, s.n, "\xef\xbf\xbd", 3);
}

/* What speaks against this name, or NULL. */
static const char *name_fault(struct json v, struct span name, const struct kind *kind)
{
    if (!json_is(v, JSON_STRING))
        return kind->uri ? "it has no URI" : "it has no name";
    if (!name.n)
        return kind->uri ? "its URI is empty" : "its name is empty";
    if (name.n > kind->name_max)
        return kind->uri ? "its URI is too long" : "its name is too long";
    if (!is_text(name))
        return kind->uri ? "its URI holds control characters" : "its name holds control characters";
    return NULL;
}

/* Its name must be said once: two readers could take a different one of two. Deeper keys are not
 * ours to judge. */
static const struct json_opts item_opts = { .keep_depth = 1, .unique_depth = 1 };

/* Fills what does not depend on where its names will lie; e->name lies in the arena or the text. */
static const char *read_item(struct item *i, struct span text, enum list_kind kind,
                             struct json_doc *doc, struct arena *a, struct pb_error *why)
{
    const struct kind *k = &catalog_kinds[kind];
    const char *fault;
    struct json v;

    if (json_parse(doc, text, &item_opts, why) < 0)
        return why->msg;
    if (!json_is(json_root(doc), JSON_OBJECT))
        return "it is no object";
    v = json_get(json_root(doc), k->key);
    i->e = (struct entry){
        .kind = kind,
        .text = text,
        .name = json_str(v, a),
        .enabled = true,
    };
    fault = name_fault(v, i->e.name, k);
    if (fault)
        return fault;
    i->value_at = (uint32_t)(json_text(v).p - text.p);
    i->value_n = (uint32_t)json_text(v).n;
    return NULL;
}

/* "server/name" and, for tools and prompts, the outward name behind it. */
static void add_names(struct buf *b, struct item *i, struct span server)
{
    size_t start = b->n;

    buf_add_span(b, server);
    buf_byte(b, '/');
    buf_add_span(b, i->e.name);
    i->e.id.n = b->n - start;
    if (catalog_kinds[i->e.kind].uri)
        return;
    wire_name(b, server, i->e.name);
    i->wire_n = (uint8_t)(b->n - start - i->e.id.n);
}

static void read_items(struct reading *r, struct json array)
{
    struct span server = span_of(r->server);
    size_t at = 0;

    JSON_FOREACH(v, array) {
        struct item *i = &r->list.items[r->list.n];
        struct pb_error why;
        const char *fault = read_item(i, json_text(v), r->kind, &r->doc, &r->arena, &why);

        if (fault) {
            leave_out(r, at, fault);
        } else {
            i->e.server = r->server;
            add_names(&r->names, i, server);
            r->list.n++;
        }
        arena_reset(&r->arena);
        at++;
    }
}

/* The block of names has found its place. */
static void place_names(struct listing *l, const char *p)
{
    for (size_t i = 0; i < l->n; i++) {
        struct item *it = &l->items[i];
        struct entry *e = &it->e;

        e->id.p = p;
        e->name.p = p + e->id.n - e->name.n;
        e->wire = it->wire_n ? span_make(p + e->id.n, it->wire_n) : e->name;
        p += e->id.n + it->wire_n;
    }
}

/* By name; of the same name, in the order of the array. */
static int by_name(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int c = span_cmp(x->e.name, y->e.name);

    return c ? c : (x->e.text.p > y->e.text.p) - (x->e.text.p < y->e.text.p);
}

static void sort_items(struct reading *r)
{
    struct listing *l = &r->list;
    size_t kept = 0;

    for (size_t i = 1; i < l->n; i++)
        if (by_name(&l->items[i - 1], &l->items[i]) > 0) {
            qsort(l->items, l->n, sizeof *l->items, by_name);
            break;
        }
    for (size_t i = 0; i < l->n; i++) {
        struct span name = l->items[i].e.name;

        if (!kept || !span_eq(l->items[kept - 1].e.name, name)) {
            l->items[kept++] = l->items[i];
            continue;
        }
        if (r->left_out++ < CATALOG_WARNINGS_MAX)
            log_warn("server '%s': %s '%.*s' is listed more than once: the first one counts",
                     r->server, catalog_kinds[r->kind].noun,
                     (int)(name.n < MCP_NAME_SHOWN_MAX ? name.n : MCP_NAME_SHOWN_MAX), name.p);
    }
    l->n = kept;
}

static void finish(struct reading *r)
{
    struct listing *l = &r->list;

    if (r->names.n)
        l->names = mem_resize(TAKE(r->names.p), r->names.n);
    place_names(l, l->names);
    sort_items(r);
    if (l->n) {
        l->items = mem_resize(l->items, l->n * sizeof *l->items);
    } else {
        free(TAKE(l->items));
    }
    if (r->left_out > CATALOG_WARNINGS_MAX)
        log_warn("server '%s': %zu more of its %ss are left out", r->server,
                 r->left_out - CATALOG_WARNINGS_MAX, catalog_kinds[r->kind].noun);
}

int listing_read(struct listing *out, const char *server, enum list_kind kind, struct span array,
                 size_t room, struct pb_error *err)
{
    static const struct json_opts opts = { .keep_depth = 1 };
    struct reading r = { .server = server, .kind = kind };
    const char *noun = catalog_kinds[kind].noun;
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error why;
    int rc = 0;

    r.list.text = mem_dupn(array.p, array.n);
    r.list.text_n = array.n;
    if (json_parse(&doc, span_make(r.list.text, array.n), &opts, &why) < 0)
        rc = fail(err, why.code, "the %ss of server '%s': %s", noun, server, why.msg);
    else if (!json_is(json_root(&doc), JSON_ARRAY))
        rc = fail(err, PB_E_INVALID, "the %ss of server '%s' are no array", noun, server);
    else if (json_len(json_root(&doc)) > room)
        rc = fail(err, PB_E_LIMIT, "the %ss of server '%s' would be more than %d in all", noun,
                  server, CATALOG_ITEMS_MAX);
    if (rc == 0 && json_len(json_root(&doc))) {
        r.list.items = mem_zero(json_len(json_root(&doc)) * sizeof *r.list.items);
        read_items(&r, json_root(&doc));
        finish(&r);
    }
    json_doc_done(&r.doc);
    arena_done(&r.arena);
    buf_done(&r.names);
    if (rc < 0)
        listing_done(&r.list);
    else
        *out = r.list;
    return rc;
}

void listing_done(struct listing *l)
{
    free(l->text);
    free(l->items);
    free(l->names);
    *l = (struct listing){ 0 };
}

struct item *listing_find(const struct listing *l, struct span name)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int c = span_cmp(name, l->items[mid].e.name);

        if (c == 0)
            return &l->items[mid];
        if (c < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

struct item *item_of_builtin(enum list_kind kind, unsigned group, struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct item read = { 0 }, *i;
    struct pb_error why;
    const char *fault = read_item(&read, text, kind, &doc, &a, &why);
    char *p;

    assert(!fault && "a built-in is well-formed and has a name");
    (void)fault;
    i = mem_alloc(sizeof *i + text.n + read.e.name.n);
    p = (char *)(i + 1);
    *i = read;
    memcpy(p, text.p, text.n);
    memcpy(p + text.n, read.e.name.p, read.e.name.n);
    i->e.text.p = p;
    i->e.name.p = p + text.n;
    i->e.id = i->e.wire = i->e.name;
    i->e.group = group;
    return i;
}
