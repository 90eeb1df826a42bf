#include "catalog_impl.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/rpc/rpc.h"

/* clang-format off */
const struct kind catalog_kinds[LIST_KINDS] = {
    [LIST_TOOLS]     = { "tool",              "name",        CATALOG_NAME_MAX,  CATALOG_SERVER_ITEMS_MAX, FAULT_NO_TOOL,     false },
    [LIST_RESOURCES] = { "resource",          "uri",         MCP_URI_BYTES_MAX, CATALOG_SERVER_ITEMS_MAX, FAULT_NO_RESOURCE, true },
    [LIST_TEMPLATES] = { "resource template", "uriTemplate", MCP_URI_BYTES_MAX, CATALOG_TEMPLATES_MAX,    FAULT_NO_RESOURCE, true },
    [LIST_PROMPTS]   = { "prompt",            "name",        CATALOG_NAME_MAX,  CATALOG_SERVER_ITEMS_MAX, FAULT_NO_PROMPT,   false },
};
/* clang-format on */

struct list_reading {
    struct listing list;
    const char *server;
    enum list_kind kind;
    struct buf names;
    struct arena arena;
    struct json_doc doc; /* of one item */
    size_t left_out;
};

static void leave_out(struct list_reading *r, size_t at, const char *why)
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
static const char *read_item(struct catalog_item *i, struct span text, enum list_kind kind,
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
static void add_names(struct buf *b, struct catalog_item *i, struct span server)
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

/* How many of them, from the first one on, one server may have; *bytes: up to the last one's end.
 */
static size_t count_taken(struct json array, enum list_kind kind, size_t *bytes)
{
    const char *start = json_text(array).p;
    size_t n = 0;

    *bytes = 1;
    JSON_FOREACH(v, array) {
        size_t end = (size_t)(span_end(json_text(v)) - start);

        if (n == catalog_kinds[kind].most || end >= CATALOG_SERVER_BYTES_MAX)
            break;
        *bytes = end;
        n++;
    }
    return n;
}

/* The text is kept as it came; of a list that is too long, what is taken of it. */
static void keep_text(struct listing *l, struct json array, size_t taken, size_t bytes)
{
    struct span text = json_text(array);

    l->left_out = json_len(array) - taken;
    if (!l->left_out && text.n <= CATALOG_SERVER_BYTES_MAX) {
        l->text = mem_dupn(text.p, text.n);
        l->text_n = text.n;
        return;
    }
    l->cut_of = hash_keyed(text);
    l->cut = true;
    l->text = mem_alloc(bytes + 2);
    memcpy(l->text, text.p, bytes);
    memcpy(l->text + bytes, "]", 2);
    l->text_n = bytes + 1;
}

static void read_items(struct list_reading *r, struct json array, size_t taken)
{
    struct span server = span_of(r->server);
    size_t at = 0;

    JSON_FOREACH(v, array) {
        struct catalog_item *i = &r->list.items[r->list.n];
        struct span text =
            span_make(r->list.text + (json_text(v).p - json_text(array).p), json_text(v).n);
        struct pb_error why;
        const char *fault;

        if (at == taken)
            break;
        fault = read_item(i, text, r->kind, &r->doc, &r->arena, &why);
        if (fault) {
            leave_out(r, at, fault);
        } else {
            i->e.server = r->server;
            i->at = (uint32_t)at;
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
        struct catalog_item *it = &l->items[i];
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
    const struct catalog_item *x = a, *y = b;
    int c = span_cmp(x->e.name, y->e.name);

    return c ? c : (x->e.text.p > y->e.text.p) - (x->e.text.p < y->e.text.p);
}

static void sort_items(struct list_reading *r)
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

/* One that is not understood is listed all the same: clients may understand it. */
static void compile(struct listing *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (uri_template_new(&l->items[i].match, l->items[i].e.name, NULL) < 0)
            l->items[i].match = NULL;
}

static void finish(struct list_reading *r)
{
    struct listing *l = &r->list;

    if (r->names.n)
        l->names = mem_resize(TAKE(r->names.p), r->names.n);
    place_names(l, l->names);
    sort_items(r);
    if (r->kind == LIST_TEMPLATES)
        compile(l);
    else if (r->kind == LIST_TOOLS)
        pages_read(l);
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
                 struct pb_error *err)
{
    static const struct json_opts opts = { .keep_depth = 1 };
    struct list_reading r = { .server = server, .kind = kind };
    const char *noun = catalog_kinds[kind].noun;
    AUTO_JSON struct json_doc doc = { 0 };
    size_t taken, bytes;
    struct pb_error why;

    if (json_parse(&doc, array, &opts, &why) < 0)
        return fail(err, why.code, "the %ss of server '%s': %s", noun, server, why.msg);
    if (!json_is(json_root(&doc), JSON_ARRAY))
        return fail(err, PB_E_INVALID, "the %ss of server '%s' are no array", noun, server);
    taken = count_taken(json_root(&doc), kind, &bytes);
    keep_text(&r.list, json_root(&doc), taken, bytes);
    if (taken) {
        r.list.items = mem_zero(taken * sizeof *r.list.items);
        read_items(&r, json_root(&doc), taken);
        finish(&r);
    }
    json_doc_done(&r.doc);
    arena_done(&r.arena);
    buf_done(&r.names);
    *out = r.list;
    return 0;
}

bool listing_is(const struct listing *l, struct span array)
{
    if (!l->text)
        return false;
    return l->cut ? l->cut_of == hash_keyed(array) : span_eq(span_make(l->text, l->text_n), array);
}

void listing_done(struct listing *l)
{
    for (size_t i = 0; i < l->n; i++) {
        uri_template_free(l->items[i].match);
        pages_free(l->items[i].pages);
    }
    free(l->text);
    free(l->items);
    free(l->names);
    *l = (struct listing){ 0 };
}

void listing_put_away(struct listing *l)
{
    for (size_t i = 0; i < l->n; i++) {
        l->items[i].e.text = (struct span){ 0 };
        l->items[i].e.enabled = false;
    }
    free(TAKE(l->text));
    l->text_n = l->left_out = 0;
}

/* Both are sorted by name. */
void listing_inherit(struct listing *fresh, const struct listing *old, uint64_t now)
{
    size_t k = 0;

    for (size_t i = 0; i < fresh->n; i++) {
        struct span name = fresh->items[i].e.name;

        while (k < old->n && span_cmp(old->items[k].e.name, name) < 0)
            k++;
        fresh->items[i].since =
            k < old->n && span_eq(old->items[k].e.name, name) ? old->items[k].since : now;
    }
}

struct catalog_item *listing_find(const struct listing *l, struct span name)
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

struct catalog_item *item_of_builtin(enum list_kind kind, const char *server, unsigned group,
                                     struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct catalog_item read = { 0 }, *i;
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
    i->e.server = server;
    i->e.group = group;
    return i;
}
