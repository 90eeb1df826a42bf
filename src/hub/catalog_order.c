#include "catalog_impl.h"

/* In the byte order of "server/": a name that begins with another one may come before it. */
static int by_server(const void *a, const void *b)
{
    const char *x = (*(const struct server *const *)a)->name;
    const char *y = (*(const struct server *const *)b)->name;

    while (*x && *x == *y) {
        x++;
        y++;
    }
    return (int)(unsigned char)(*x ? *x : '/') - (int)(unsigned char)(*y ? *y : '/');
}

static uint32_t *find_place(const struct order *o, struct span wire)
{
    size_t i = hash_keyed(wire) & o->mask;

    while (o->index[i] && !span_eq(o->entries[o->index[i] - 1]->wire, wire))
        i = (i + 1) & o->mask;
    return &o->index[i];
}

static bool is_taken(const struct order *o, struct span wire) { return *find_place(o, wire) != 0; }

/* A URI goes out as it is, unless an earlier server has it or it looks like one of ours. */
static void choose_uri(struct order *o, struct entry *e)
{
    AUTO_BUF struct buf b = { 0 };

    e->wire = e->name;
    if (!e->server || (!uri_is_ours(e->name) && !is_taken(o, e->name)))
        return;
    uri_wrap(&b, span_of(e->server), e->name, e->kind);
    e->wire = span_make(arena_dup(&o->wires, buf_span(&b)), b.n);
}

static void add_entry(struct order *o, struct item *i)
{
    struct entry *e = &i->e;
    uint32_t *place;

    if (catalog_kinds[e->kind].uri)
        choose_uri(o, e);
    else if (e->server)
        e->wire = span_make(e->id.p + e->id.n, i->wire_n);
    place = find_place(o, e->wire);
    o->entries[o->n++] = e;
    if (!*place) {
        *place = (uint32_t)o->n;
        return;
    }
    /* A built-in of the same name, or somebody has searched for a digest that begins alike: the
     * earlier one keeps the name, so that nobody can take it over. */
    log_warn("%s '%.*s' is hidden: its outward name belongs to '%.*s'", catalog_kinds[e->kind].noun,
             SPAN_ARG(e->id), SPAN_ARG(o->entries[*place - 1]->id));
    e->wire = (struct span){ 0 };
}

static void make_room(struct order *o, size_t n)
{
    size_t size = 16;

    while (size < n * 2)
        size *= 2;
    order_done(o);
    o->entries = mem_alloc((n ? n : 1) * sizeof(struct entry *));
    o->index = mem_zero(size * sizeof *o->index);
    o->mask = size - 1;
}

static void rebuild(const struct catalog *c, enum list_kind kind, struct order *o)
{
    const struct shelf *shelf = &c->shelves[kind];
    AUTO_FREE const struct server **servers =
        mem_alloc((c->servers.n + 1) * sizeof(struct server *));
    struct map_slot *slot;
    size_t n = 0;

    make_room(o, shelf->items + shelf->n_builtins);
    for (size_t i = 0; i < shelf->n_builtins; i++)
        add_entry(o, shelf->builtins[i]);
    MAP_FOREACH(slot, &c->servers) {
        const struct server *s = slot->value;

        if (s->lists[kind].n)
            servers[n++] = s;
    }
    qsort(servers, n, sizeof(struct server *), by_server);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < servers[k]->lists[kind].n; i++)
            add_entry(o, &servers[k]->lists[kind].items[i]);
    o->valid = true;
}

const struct order *catalog_order(const struct catalog *c, enum list_kind kind)
{
    struct order *o = &c->orders[kind];

    if (!o->valid)
        rebuild(c, kind, o);
    return o;
}

const struct entry *order_find(const struct order *o, struct span wire)
{
    uint32_t place = wire.n ? *find_place(o, wire) : 0;

    return place ? o->entries[place - 1] : NULL;
}

void order_done(struct order *o)
{
    free(o->entries);
    free(o->index);
    arena_done(&o->wires);
    *o = (struct order){ 0 };
}

size_t catalog_all(const struct catalog *c, enum list_kind kind, const struct entry *const **out)
{
    const struct order *o = catalog_order(c, kind);

    *out = o->entries;
    return o->n;
}

const struct entry *catalog_entry(const struct catalog *c, const char *server, enum list_kind kind,
                                  size_t i)
{
    const struct server *s = catalog_server(c, span_of(server));

    return s && i < s->lists[kind].n ? &s->lists[kind].items[i].e : NULL;
}
