#include "catalog_impl.h"
#include "hub/link/link.h"

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static struct span dotted(const struct entry *e, struct arena *a)
{
    return e->server ? span_of(arena_printf(a, "%s.%.*s", e->server, SPAN_ARG(e->name))) : e->wire;
}

void catalog_like(const struct catalog *c, const struct scope *s, enum list_kind kind,
                  struct span name, struct buf *out)
{
    const struct sequence *o = catalog_order(c, kind);
    AUTO_ARENA struct arena a = { 0 };
    struct near near;

    near_init(&near, name);
    for (size_t i = 0; i < o->n && i < CATALOG_LIKE_SCAN; i++) {
        const struct entry *e = o->entries[i];
        size_t d = least(near_unlike(&near, e->wire),
                         least(near_unlike(&near, e->id), near_unlike(&near, e->name)));

        if (d != SIZE_MAX && (s->server || e->wire.n) && scope_shows(c, s, e))
            near_keep(&near, s->server ? e->name : s->dotted ? dotted(e, &a) : e->wire, d);
    }
    near_write(&near, out);
}
