#include "catalog_impl.h"

static void render_done(struct render *r)
{
    blob_unref(r->blob);
    free(r->server);
    *r = (struct render){ 0 };
}

void renders_drop(struct shelf *s)
{
    for (size_t i = 0; i < CATALOG_RENDERS_MAX; i++)
        render_done(&s->renders[i]);
}

void renders_drop_filtered(struct shelf *s)
{
    for (size_t i = 0; i < CATALOG_RENDERS_MAX; i++)
        if (s->renders[i].filtered)
            render_done(&s->renders[i]);
}

/* Filters are compared by what they say: one may be freed and another lie where it was. */
static bool is_for(const struct render *r, const struct scope *s)
{
    if (!r->blob || r->no_external != s->no_external || r->builtins != s->builtins ||
        r->filtered != (s->filter != NULL) || !r->server != !s->server)
        return false;
    return (!s->server || strcmp(r->server, s->server) == 0) &&
           (!s->filter || memcmp(r->digest, filter_digest(s->filter), sizeof r->digest) == 0);
}

static struct render *oldest(struct shelf *s)
{
    struct render *r = &s->renders[0];

    for (size_t i = 1; i < CATALOG_RENDERS_MAX; i++)
        if (s->renders[i].used < r->used)
            r = &s->renders[i];
    return r;
}

/* The same bytes but for the name or URI, where that differs. */
static void add_item(struct buf *b, const struct item *i, bool own_names)
{
    const struct entry *e = &i->e;

    if (own_names || e->wire.p == e->name.p) {
        buf_add_span(b, e->text);
        return;
    }
    buf_add(b, e->text.p, i->value_at);
    json_quote(b, e->wire);
    buf_add_span(b, span_from(e->text, i->value_at + i->value_n));
}

static struct blob *render(const struct catalog *c, const struct scope *s, enum list_kind kind)
{
    const struct order *o = catalog_order(c, kind);
    AUTO_FREE const struct item **shown = mem_alloc((o->n + 1) * sizeof(struct item *));
    struct buf b = { 0 };
    size_t n = 0, bytes = 3;

    for (size_t i = 0; i < o->n; i++) {
        const struct entry *e = o->entries[i];

        if ((s->server || e->wire.n) && scope_shows(c, s, e)) {
            shown[n++] = item_of(e);
            bytes += e->text.n + e->wire.n + 3;
        }
    }
    /* not buf_reserve(), which takes half as much again: this block stays */
    b.p = mem_alloc(bytes);
    b.cap = bytes;
    buf_byte(&b, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_byte(&b, ',');
        add_item(&b, shown[i], s->server != NULL);
    }
    buf_byte(&b, ']');
    return blob_take_buf(&b);
}

struct blob *catalog_render(struct catalog *c, const struct scope *s, enum list_kind kind)
{
    struct shelf *shelf = &c->shelves[kind];
    struct render *r = NULL;

    for (size_t i = 0; i < CATALOG_RENDERS_MAX && !r; i++)
        if (is_for(&shelf->renders[i], s))
            r = &shelf->renders[i];
    if (!r) {
        r = oldest(shelf);
        render_done(r);
        *r = (struct render){
            .blob = render(c, s, kind),
            .server = mem_dup_opt(s->server),
            .filtered = s->filter != NULL,
            .no_external = s->no_external,
            .builtins = s->builtins,
        };
        if (s->filter)
            memcpy(r->digest, filter_digest(s->filter), sizeof r->digest);
    }
    r->used = ++c->clock;
    return blob_ref(r->blob);
}
