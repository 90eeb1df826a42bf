#include "catalog_impl.h"
#include "hub/link/link.h"

enum { PATTERN_MAX = 64 }; /* characters looked at: bits of a word */

/* The edit distance by bit vectors (Myers 1999, in the form of Hyyrö 2003): one step per byte of
 * the other text, so that a miss can look at every name there is. */
struct pattern_bits {
    uint64_t of[256]; /* per byte, where it stands in the pattern */
    size_t n;
    uint64_t last; /* the bit of its last byte */
};

static void bits_init(struct pattern_bits *p, struct span pattern)
{
    memset(p, 0, sizeof *p);
    p->n = pattern.n < PATTERN_MAX ? pattern.n : PATTERN_MAX;
    for (size_t i = 0; i < p->n; i++) {
        p->last = UINT64_C(1) << i;
        p->of[(unsigned char)pattern.p[i]] |= p->last;
    }
}

static size_t distance(const struct pattern_bits *p, struct span text)
{
    uint64_t up = ~UINT64_C(0), down = 0, last = p->last;
    size_t d = p->n;

    text.n = text.n < PATTERN_MAX ? text.n : PATTERN_MAX;
    for (size_t i = 0; i < text.n; i++) {
        uint64_t match = p->of[(unsigned char)text.p[i]];
        uint64_t diagonal = (((match & up) + up) ^ up) | match | down;
        uint64_t right_up = down | ~(diagonal | up), right_down = up & diagonal;

        d += (right_up & last) != 0;
        d -= (right_down & last) != 0;
        right_up = right_up << 1 | 1;
        right_down <<= 1;
        up = right_down | ~(diagonal | right_up);
        down = right_up & diagonal;
    }
    return d;
}

/* At most `limit`; past it SIZE_MAX. */
static size_t near_by(const struct pattern_bits *p, struct span text, size_t limit)
{
    size_t n = text.n < PATTERN_MAX ? text.n : PATTERN_MAX, d;

    if (n > p->n + limit || p->n > n + limit)
        return SIZE_MAX;
    d = distance(p, text);
    return d <= limit ? d : SIZE_MAX;
}

struct likes {
    const struct entry *e[CATALOG_LIKE_MAX];
    size_t d[CATALOG_LIKE_MAX];
    size_t n;
};

/* Keeps the nearest, of equals those that come first. */
static void likes_add(struct likes *l, const struct entry *e, size_t d)
{
    size_t at = l->n;

    while (at > 0 && l->d[at - 1] > d)
        at--;
    if (at == CATALOG_LIKE_MAX)
        return;
    l->n += l->n < CATALOG_LIKE_MAX;
    for (size_t i = l->n - 1; i > at; i--) {
        l->e[i] = l->e[i - 1];
        l->d[i] = l->d[i - 1];
    }
    l->e[at] = e;
    l->d[at] = d;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

void catalog_like(const struct catalog *c, const struct scope *s, enum list_kind kind,
                  struct span name, struct buf *out)
{
    const struct order *o = catalog_order(c, kind);
    struct pattern_bits bits;
    struct likes likes = { 0 };

    if (!name.n)
        return;
    bits_init(&bits, name);
    for (size_t i = 0; i < o->n && i < CATALOG_LIKE_SCAN; i++) {
        const struct entry *e = o->entries[i];
        size_t limit = 1 + bits.n / 5;
        size_t d = least(near_by(&bits, e->wire, limit),
                         least(near_by(&bits, e->id, limit), near_by(&bits, e->name, limit)));

        if (d != SIZE_MAX && (s->server || e->wire.n) && scope_shows(c, s, e))
            likes_add(&likes, e, d);
    }
    for (size_t i = 0; i < likes.n; i++) {
        struct span shown = s->server ? likes.e[i]->name : likes.e[i]->wire;

        buf_str(out, i == 0 ? "; did you mean '" : i + 1 == likes.n ? " or '" : ", '");
        buf_add(out, shown.p, least(shown.n, WIRE_NAME_MAX));
        buf_str(out, i + 1 == likes.n ? "'?" : "'");
    }
}
