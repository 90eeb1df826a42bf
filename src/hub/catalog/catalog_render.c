#include "catalog_impl.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

static void render_done(struct render *r)
{
    blob_unref(r->blob);
    free(r->server);
    *r = (struct render){ 0 };
}

void renders_drop(struct catalog_shelf *s)
{
    for (size_t i = 0; i < CATALOG_RENDERS_MAX; i++)
        render_done(&s->renders[i]);
}

void renders_drop_filtered(struct catalog_shelf *s)
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

static struct render *oldest(struct catalog_shelf *s)
{
    struct render *r = &s->renders[0];

    for (size_t i = 1; i < CATALOG_RENDERS_MAX; i++)
        if (s->renders[i].used < r->used)
            r = &s->renders[i];
    return r;
}

struct rendering {
    const struct catalog *c;
    const struct scope *s;
    struct buf out;
    size_t steps; /* of all pages together */
};

/* One item: the same bytes but for some values. */
struct item_writing {
    struct rendering *r;
    struct span text;
    size_t done; /* of it */
};

static void put_value(struct item_writing *w, size_t at, size_t n, struct span value)
{
    buf_add(&w->r->out, w->text.p + w->done, at - w->done);
    json_quote(&w->r->out, value);
    w->done = at + n;
}

static void put_page(struct item_writing *w, const struct catalog_item *i, const struct page *p)
{
    AUTO_ARENA struct arena a = { 0 };
    struct rendering *r = w->r;
    struct span uri = catalog_out_uri(r->c, r->s, i->e.server, p->uri, &a, &r->steps);

    if (!span_eq(uri, p->uri))
        put_value(w, p->at, p->n, uri);
}

static void add_item(struct rendering *r, const struct catalog_item *i)
{
    const struct entry *e = &i->e;
    struct item_writing w = { r, e->text, 0 };
    size_t n = i->pages && e->server ? i->pages->n : 0, k = 0;

    if (!r->s->server) {
        for (; k < n && i->pages->v[k].at < i->value_at; k++)
            put_page(&w, i, &i->pages->v[k]);
        if (e->wire.p != e->name.p)
            put_value(&w, i->value_at, i->value_n, e->wire);
        for (; k < n; k++)
            put_page(&w, i, &i->pages->v[k]);
    }
    buf_add_span(&r->out, span_from(e->text, w.done));
}

static struct blob *render(const struct catalog *c, const struct scope *s, enum list_kind kind)
{
    const struct sequence *o = catalog_order(c, kind);
    AUTO_FREE const struct catalog_item **shown =
        mem_alloc((o->n + 1) * sizeof(struct catalog_item *));
    struct rendering r = { .c = c, .s = s, .steps = CATALOG_STEPS_MAX };
    size_t n = 0, bytes = 3;

    for (size_t i = 0; i < o->n; i++) {
        const struct entry *e = o->entries[i];

        if ((s->server || e->wire.n) && scope_shows(c, s, e)) {
            shown[n++] = item_of(e);
            bytes += e->text.n + e->wire.n + 3;
        }
    }
    /* not buf_reserve(), which takes half as much again: this block stays */
    r.out.p = mem_alloc(bytes);
    r.out.cap = bytes;
    buf_byte(&r.out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_byte(&r.out, ',');
        add_item(&r, shown[i]);
    }
    buf_byte(&r.out, ']');
    return blob_take_buf(&r.out);
}

struct blob *catalog_render(struct catalog *c, const struct scope *s, enum list_kind kind)
{
    struct catalog_shelf *shelf = &c->shelves[kind];
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
