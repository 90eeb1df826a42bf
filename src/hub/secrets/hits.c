#include "hits.h"

enum { UTF8_REST = 3 /* bytes of a character behind its first */ };

void hits_done(struct hits *h)
{
    free(h->v);
    *h = (struct hits){ 0 };
}

void hits_add(struct hits *h, size_t from, size_t end, enum hit_why why)
{
    if (h->n == REDACT_HITS_MAX) {
        h->full = true;
        return;
    }
    if (h->n == h->cap) {
        h->cap = h->cap ? h->cap * 2 : 8;
        h->v = mem_resize(h->v, h->cap * sizeof *h->v);
    }
    h->v[h->n++] = (struct hit){ from, end, why };
}

static int by_place(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->why > y->why) - (x->why < y->why);
}

static bool is_inside(struct span text, size_t at)
{
    return at > 0 && at < text.n && ((unsigned char)text.p[at] & 0xC0) == 0x80;
}

void hits_settle(struct hits *h, struct span text)
{
    size_t n = 0;

    if (h->full) {
        enum hit_why why = h->n ? h->v[0].why : HIT_VALUE;

        h->n = 0;
        hits_add(h, 0, text.n, why);
        return;
    }
    if (!h->n)
        return;
    for (size_t i = 0; i < h->n; i++) {
        for (int k = 0; k < UTF8_REST && is_inside(text, h->v[i].from); k++)
            h->v[i].from--;
        for (int k = 0; k < UTF8_REST && is_inside(text, h->v[i].end); k++)
            h->v[i].end++;
    }
    qsort(h->v, h->n, sizeof *h->v, by_place);
    for (size_t i = 1; i < h->n; i++) {
        if (h->v[i].from >= h->v[n].end)
            h->v[++n] = h->v[i];
        else if (h->v[i].end > h->v[n].end)
            h->v[n].end = h->v[i].end;
    }
    h->n = n + 1;
}
