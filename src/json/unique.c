#include "unique.h"
#include "chars.h"

/* Below this, comparing each with each is faster than hashing: most objects are small. */
enum { PAIRWISE_MAX = 12 };

static uint32_t key_after(const struct json_doc *doc, uint32_t key, enum unique_layout layout)
{
    return layout == UNIQUE_KEYS ? key + 1 : doc->nodes[key + 1].next;
}

static bool same_key(const struct json_doc *doc, uint32_t a, uint32_t b)
{
    const struct json_node *x = &doc->nodes[a], *y = &doc->nodes[b];

    if ((x->info | y->info) & NODE_ESCAPED)
        return chars_same(node_inside(doc, x), node_inside(doc, y));
    return span_eq(node_inside(doc, x), node_inside(doc, y));
}

/* A key whose bit no other key has is new: most are not compared at all. */
static uint32_t check_pairs(const struct json_doc *doc, uint32_t first, uint32_t n,
                            enum unique_layout layout)
{
    uint32_t seen[PAIRWISE_MAX];
    uint64_t bits = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct json_node *key = &doc->nodes[first];
        uint64_t bit = unique_bit(node_inside(doc, key), key->info & NODE_ESCAPED);

        for (uint32_t k = 0; (bits & bit) && k < i; k++)
            if (same_key(doc, seen[k], first))
                return first;
        bits |= bit;
        seen[i] = first;
        first = key_after(doc, first, layout);
    }
    return 0;
}

struct slot {
    uint32_t hash, key; /* key 0: free */
};

static uint32_t key_hash(const struct json_doc *doc, uint32_t key, struct buf *scratch)
{
    const struct json_node *n = &doc->nodes[key];
    struct span s = node_inside(doc, n);

    if (n->info & NODE_ESCAPED) {
        scratch->n = 0;
        chars_decode(scratch, s);
        s = buf_span(scratch);
    }
    return (uint32_t)hash_keyed(s);
}

static uint32_t check_hashed(const struct json_doc *doc, uint32_t first, uint32_t n,
                             enum unique_layout layout)
{
    size_t size = (size_t)1 << (65 - __builtin_clzll(n)); /* at least twice n */
    AUTO_FREE struct slot *slots = mem_zero(size * sizeof *slots);
    AUTO_BUF struct buf scratch = { 0 };

    for (uint32_t i = 0; i < n; i++) {
        uint32_t hash = key_hash(doc, first, &scratch);
        size_t at = hash & (size - 1);

        for (; slots[at].key; at = (at + 1) & (size - 1))
            if (slots[at].hash == hash && same_key(doc, slots[at].key, first))
                return first;
        slots[at] = (struct slot){ hash, first };
        first = key_after(doc, first, layout);
    }
    return 0;
}

uint32_t unique_check(const struct json_doc *doc, uint32_t first, uint32_t n,
                      enum unique_layout layout)
{
    if (n < 2)
        return 0;
    if (n <= PAIRWISE_MAX)
        return check_pairs(doc, first, n, layout);
    return check_hashed(doc, first, n, layout);
}
