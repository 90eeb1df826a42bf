#include "catalog_impl.h"
#include "hub/link/link.h"

/* In the byte order of "server/": a name that begins with another one may come before it. */
static int by_server(const void *a, const void *b)
{
    const char *x = (*(const struct catalog_server *const *)a)->name;
    const char *y = (*(const struct catalog_server *const *)b)->name;

    while (*x && *x == *y) {
        x++;
        y++;
    }
    return (int)(unsigned char)(*x ? *x : '/') - (int)(unsigned char)(*y ? *y : '/');
}

static uint32_t *find_place(const struct sequence *o, struct span wire)
{
    size_t i = hash_keyed(wire) & o->mask;

    while (o->index[i] && !span_eq(o->entries[o->index[i] - 1]->wire, wire))
        i = (i + 1) & o->mask;
    return &o->index[i];
}

/* The outward name that it would have if nobody else had it. */
static void choose_wire(struct sequence *o, struct catalog_item *i)
{
    struct entry *e = &i->e;
    AUTO_BUF struct buf b = { 0 };

    if (e->group)
        return;
    if (!catalog_kinds[e->kind].uri) {
        e->wire = span_make(e->id.p + e->id.n, i->wire_n);
        return;
    }
    e->wire = e->name;
    if (!uri_is_ours(e->name))
        return;
    uri_wrap(&b, span_of(e->server), e->name, e->kind);
    e->wire = span_make(arena_dup(&o->wires, buf_span(&b)), b.n);
}

/* Somebody else has its outward name, and has had it for longer. */
static void give_way(struct sequence *o, size_t at, const struct entry *to)
{
    struct entry *e = (struct entry *)o->entries[at];
    AUTO_BUF struct buf b = { 0 };
    uint32_t *place;

    if (catalog_kinds[e->kind].uri && e->wire.p == e->name.p) {
        uri_wrap(&b, span_of(e->server), e->name, e->kind);
        e->wire = span_make(arena_dup(&o->wires, buf_span(&b)), b.n);
        place = find_place(o, e->wire);
        if (!*place) {
            *place = (uint32_t)at + 1;
            return;
        }
    }
    /* A built-in of the same name, or somebody has searched for a digest that begins alike. */
    log_warn("%s '%.*s' is hidden: its outward name belongs to '%.*s'", catalog_kinds[e->kind].noun,
             SPAN_ARG(e->id), SPAN_ARG(to->id));
    e->wire = (struct span){ 0 };
}

/* Of two that want the same outward name the older one has it, so that nobody can take it over. */
static void add_entry(struct sequence *o, struct catalog_item *i)
{
    size_t at = o->n_all++, holder;
    uint32_t *place;

    o->entries[at] = &i->e;
    choose_wire(o, i);
    place = find_place(o, i->e.wire);
    if (!*place) {
        *place = (uint32_t)at + 1;
        return;
    }
    holder = *place - 1;
    if (item_of(o->entries[holder])->since <= i->since) {
        give_way(o, at, o->entries[holder]);
        return;
    }
    *place = (uint32_t)at + 1;
    give_way(o, holder, &i->e);
}

static void make_room(struct sequence *o, size_t n)
{
    size_t size = 16;

    while (size < n * 2)
        size *= 2;
    sequence_done(o);
    o->entries = mem_alloc((n ? n : 1) * sizeof(struct entry *));
    o->index = mem_zero(size * sizeof *o->index);
    o->mask = size - 1;
}

static int by_age(const void *a, const void *b)
{
    const struct catalog_item *x = *(const struct catalog_item *const *)a,
                              *y = *(const struct catalog_item *const *)b;

    if (x->since != y->since)
        return x->since < y->since ? -1 : 1;
    return span_cmp(x->e.name, y->e.name); /* of one list */
}

static void sort_by_age(struct sequence *o)
{
    o->aged = mem_alloc((o->n_all + 1) * sizeof(struct catalog_item *));
    for (size_t i = 0; i < o->n_all; i++)
        if (item_of(o->entries[i])->match)
            o->aged[o->n_aged++] = item_of(o->entries[i]);
    qsort(o->aged, o->n_aged, sizeof(struct catalog_item *), by_age);
}

/* Whose page is a URI? Found as quickly as what is listed. */
static void note_pages(struct sequence *o)
{
    for (size_t i = 0; i < o->n_all; i++) {
        const struct catalog_item *one = item_of(o->entries[i]), *other;

        for (size_t k = 0; one->pages && k < one->pages->n; k++) {
            other = map_get(&o->pages, one->pages->v[k].uri);
            if (!other || other->since > one->since)
                map_put(&o->pages, one->pages->v[k].uri, (void *)one);
        }
    }
}

static void add_listing(struct sequence *o, const struct listing *l)
{
    for (size_t i = 0; i < l->n; i++)
        add_entry(o, &l->items[i]);
}

static void rebuild(const struct catalog *c, enum list_kind kind, struct sequence *o)
{
    const struct catalog_shelf *shelf = &c->shelves[kind];
    AUTO_FREE const struct catalog_server **servers =
        mem_alloc((c->servers.n + 1) * sizeof(struct catalog_server *));
    struct map_slot *slot;
    size_t n = 0;

    make_room(o, shelf->items + shelf->n_builtins + shelf->away);
    for (size_t i = 0; i < shelf->n_builtins; i++)
        add_entry(o, shelf->builtins[i]);
    MAP_FOREACH(slot, &c->servers)
        servers[n++] = slot->value;
    qsort(servers, n, sizeof(struct catalog_server *), by_server);
    for (size_t k = 0; k < n; k++)
        add_listing(o, &servers[k]->lists[kind]);
    o->n = o->n_all;
    for (size_t k = 0; k < n; k++)
        add_listing(o, &servers[k]->had[kind]);
    if (kind == LIST_TEMPLATES)
        sort_by_age(o);
    else if (kind == LIST_TOOLS)
        note_pages(o);
    o->valid = true;
}

const struct sequence *catalog_order(const struct catalog *c, enum list_kind kind)
{
    struct sequence *o = &c->orders[kind];

    if (!o->valid)
        rebuild(c, kind, o);
    return o;
}

const struct entry *sequence_find(const struct sequence *o, struct span wire)
{
    uint32_t place = wire.n ? *find_place(o, wire) : 0;

    return place ? o->entries[place - 1] : NULL;
}

void sequence_done(struct sequence *o)
{
    free(o->entries);
    free(o->index);
    free(o->aged);
    map_done(&o->pages);
    arena_done(&o->wires);
    *o = (struct sequence){ 0 };
}

size_t catalog_all(const struct catalog *c, enum list_kind kind, const struct entry *const **out)
{
    const struct sequence *o = catalog_order(c, kind);

    *out = o->entries;
    return o->n;
}

const struct entry *catalog_entry(const struct catalog *c, const char *server, enum list_kind kind,
                                  size_t i)
{
    const struct catalog_server *s = catalog_server(c, span_of(server));

    return s && i < s->lists[kind].n ? &s->lists[kind].items[i].e : NULL;
}
