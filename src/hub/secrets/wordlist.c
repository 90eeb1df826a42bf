#include "wordlist.h"

void wordlist_done(struct wordlist *w)
{
    for (size_t i = 0; i < w->n; i++) {
        explicit_bzero(w->v[i]->text, w->v[i]->n);
        free(w->v[i]);
    }
    free(w->v);
    free(w->seen);
    *w = (struct wordlist){ 0 };
}

/* Where it is, or would be. */
static uint32_t *find(const struct wordlist *w, struct span text, size_t least)
{
    size_t at = hash_keyed(text) & (w->seen_n - 1);

    for (; w->seen[at]; at = (at + 1) & (w->seen_n - 1)) {
        const struct known_word *k = w->v[w->seen[at] - 1];

        if (k->least <= least && span_eq(span_make(k->text, k->n), text))
            break;
    }
    return &w->seen[at];
}

static void grow(struct wordlist *w)
{
    w->cap = w->cap ? w->cap * 2 : 16;
    w->v = mem_resize(w->v, w->cap * sizeof(struct known_word *));
    free(w->seen);
    w->seen_n = w->cap * 2;
    w->seen = mem_zero(w->seen_n * sizeof *w->seen);
    for (size_t i = 0; i < w->n; i++)
        *find(w, span_make(w->v[i]->text, w->v[i]->n), w->v[i]->least) = (uint32_t)i + 1;
}

void wordlist_add(struct wordlist *w, struct span text, size_t least)
{
    struct known_word *k;
    uint32_t *at;

    if (text.n < REDACT_MIN || w->full)
        return;
    if (w->n == w->cap)
        grow(w);
    at = find(w, text, least);
    if (*at)
        return;
    if (w->n == w->n_max || text.n > w->bytes_max - w->bytes) {
        w->full = true;
        return;
    }
    k = mem_alloc(sizeof *k + text.n);
    k->n = (uint32_t)text.n;
    k->least = (uint32_t)least;
    memcpy(k->text, text.p, text.n);
    w->v[w->n++] = k;
    *at = (uint32_t)w->n;
    w->bytes += text.n;
}
