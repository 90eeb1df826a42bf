/* finder.c - how it works. A window is a few bytes in a row. Windows of the words are in a table;
 * those of the text are looked up in it, every `stride`th only, and where one is found the words
 * that have it are held against the text to the left and to the right. With a shortest run `least`
 * that must be found somewhere, window + stride - 1 <= least: each such run holds a window that is
 * looked at. Nor need all windows of a long word be in the table: of its places, every `step`th and
 * those after it, as many as the stride is, so that one of them is met wherever the strides fall.
 * Before the table lies a filter of single bits: most texts never get past it. */
#include "finder.h"

enum {
    WINDOW_SHORT = 4, /* bytes: while something is known that is shorter than ... */
    WINDOW_LONG = 6,
    LONG_LEAST = 8, /* ... this */
    STRIDE_MAX = 8,
    LOAD = 8,       /* bytes are loaded at once */
    OVERLAP = 64,   /* before the end of a hit, where the next one may begin */
    TALLY_BITS = 5, /* so many bits, as a power of two, has the filter for a place */
    FILTER_BITS_MIN = 12,
    BREAK_MIN = 3, /* bytes that must follow a line break within a word */
};

_Static_assert(WINDOW_SHORT == (int)REDACT_MIN, "the shortest word is one window");

/* A window of a word. Keys often begin alike, so that many words share one. */
struct foothold {
    uint64_t key;
    uint32_t word, at;
    uint32_t next; /* with the same key, counted from 1; 0: none */
};

struct finder {
    struct known_word **words;
    size_t n;
    unsigned window, stride;
    uint64_t mask; /* of a load, what belongs to the window */
    unsigned filter_shift, table_shift;
    uint64_t *filter;
    uint32_t *table; /* the newest foothold of a key, counted from 1; open addressing */
    size_t slots;
    struct foothold *footholds;
    size_t n_footholds;
    bool escaped;
};

/* ---- making one ---- */

static inline uint64_t mix(uint64_t key) { return key * UINT64_C(0x9E3779B97F4A7C15); }

static inline uint64_t load(const char *p)
{
    uint64_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

/* The window at the end of a text, where less than a load is left. */
static uint64_t load_end(const struct finder *f, const char *p)
{
    char bytes[LOAD] = { 0 };

    memcpy(bytes, p, f->window);
    return load(bytes);
}

static void choose_windows(struct finder *f)
{
    size_t least = SIZE_MAX, most;

    for (size_t i = 0; i < f->n; i++)
        if (f->words[i]->least < least)
            least = f->words[i]->least;
    f->window = least < LONG_LEAST ? WINDOW_SHORT : WINDOW_LONG;
    most = least - f->window + 1;
    f->stride = most < STRIDE_MAX ? (unsigned)most : STRIDE_MAX;
    memset(&f->mask, 0, sizeof f->mask);
    memset(&f->mask, 0xFF, f->window);
}

/* The next place of the word that belongs into the table, from `at` on. */
static size_t next_place(const struct finder *f, const struct known_word *w, size_t at)
{
    size_t step = w->least - f->window - f->stride + 2;

    return at % step < f->stride ? at : at + step - at % step;
}

static size_t count_places(const struct finder *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++) {
        const struct known_word *w = f->words[i];

        for (size_t at = 0; at + f->window <= w->n; at = next_place(f, w, at + 1))
            n++;
    }
    return n;
}

/* The place of a key in the table, or where it would be. */
static inline uint32_t *slot_of(const struct finder *f, uint64_t key)
{
    size_t slot = mix(key) >> f->table_shift;

    while (f->table[slot] && f->footholds[f->table[slot] - 1].key != key)
        slot = (slot + 1) & (f->slots - 1);
    return &f->table[slot];
}

static void put(struct finder *f, uint64_t key, uint32_t word, uint32_t at)
{
    uint64_t bit = mix(key) >> f->filter_shift;
    uint32_t *slot = slot_of(f, key);

    f->filter[bit / 64] |= UINT64_C(1) << bit % 64;
    f->footholds[f->n_footholds++] = (struct foothold){ key, word, at, *slot };
    *slot = (uint32_t)f->n_footholds;
}

static void fill(struct finder *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const struct known_word *w = f->words[i];

        for (size_t at = 0; at + f->window <= w->n; at = next_place(f, w, at + 1))
            put(f, load_end(f, w->text + at) & f->mask, (uint32_t)i, (uint32_t)at);
    }
}

struct finder *finder_new(const struct wordlist *w)
{
    struct finder *f = NEW(struct finder);
    unsigned bits = 1;
    size_t places;

    f->n = w->n;
    f->escaped = w->escaped;
    if (!f->n)
        return f;
    f->words = mem_alloc(f->n * sizeof(struct known_word *));
    memcpy(f->words, w->v, f->n * sizeof(struct known_word *));
    choose_windows(f);
    places = count_places(f);
    while ((size_t)1 << bits < places * 2)
        bits++;
    f->table_shift = 64 - bits;
    f->slots = (size_t)1 << bits;
    bits = bits - 1 + TALLY_BITS < FILTER_BITS_MIN ? FILTER_BITS_MIN : bits - 1 + TALLY_BITS;
    f->filter_shift = 64 - bits;
    f->filter = mem_zero(((size_t)1 << bits) / 8);
    f->table = mem_zero(f->slots * sizeof *f->table);
    f->footholds = mem_alloc(places * sizeof *f->footholds);
    fill(f);
    return f;
}

void finder_free(struct finder *f)
{
    if (!f)
        return;
    if (f->footholds)
        explicit_bzero(f->footholds, f->n_footholds * sizeof *f->footholds);
    free(f->footholds);
    free(f->table);
    free(f->filter);
    free(f->words);
    free(f);
}

/* ---- looking ---- */

bool finder_wants_decoded(const struct finder *f) { return f->escaped; }

static inline bool may_have(const struct finder *f, uint64_t key)
{
    uint64_t bit = mix(key) >> f->filter_shift;

    return f->filter[bit / 64] >> bit % 64 & 1;
}

/* The next place whose window passes the filter; the text's length: none. */
static size_t next_window(const struct finder *f, struct span text, size_t i)
{
    const uint64_t mask = f->mask;
    const unsigned stride = f->stride;

    for (; i + LOAD <= text.n; i += stride)
        if (may_have(f, load(text.p + i) & mask))
            return i;
    for (; i + f->window <= text.n; i += stride)
        if (may_have(f, load_end(f, text.p + i)))
            return i;
    return text.n;
}

static size_t same_before(const char *a, const char *b, size_t most)
{
    size_t n = 0;

    while (n < most && a[-1 - (ptrdiff_t)n] == b[-1 - (ptrdiff_t)n])
        n++;
    return n;
}

static size_t same_after(const char *a, const char *b, size_t most)
{
    size_t n = 0;

    while (n < most && a[n] == b[n])
        n++;
    return n;
}

static size_t less(size_t a, size_t b) { return a < b ? a : b; }

/* Encoders break long lines; the breaks may have been escaped, too. */
static const char *const breaks[] = { "\n", "\r\n", "\\n", "\\r\\n", "\\\\n", "\r", " " };

/* What follows is the same word after a line break: how far. */
static size_t go_on(struct span text, size_t end, const struct known_word *w, size_t *at)
{
    for (size_t i = 0; i < ARRAY_LEN(breaks) && *at < w->n; i++) {
        size_t n = strlen(breaks[i]), left = w->n - *at, same;

        if (!span_starts(span_from(text, end), breaks[i]))
            continue;
        same = same_after(text.p + end + n, w->text + *at, less(left, text.n - end - n));
        if (same < less(BREAK_MIN, left))
            continue;
        *at += same;
        end += n + same;
        i = (size_t)-1;
    }
    return end;
}

static size_t go_back(struct span text, size_t from, const struct known_word *w, size_t *at)
{
    for (size_t i = 0; i < ARRAY_LEN(breaks) && *at; i++) {
        size_t n = strlen(breaks[i]), same;

        if (from < n || memcmp(text.p + from - n, breaks[i], n) != 0)
            continue;
        same = same_before(text.p + from - n, w->text + *at, less(*at, from - n));
        if (same < less(BREAK_MIN, *at))
            continue;
        *at -= same;
        from -= n + same;
        i = (size_t)-1;
    }
    return from;
}

/* Would all of the word lie in what was found last? */
static bool is_found(const struct finder *f, size_t i, const struct foothold *h,
                     const struct hits *out, size_t first)
{
    const struct hit *last = out->n > first ? &out->v[out->n - 1] : NULL;

    return last && i >= last->from + h->at && i - h->at + f->words[h->word]->n <= last->end;
}

/* The run of the word around one of its windows in the text; empty: it is too short. */
static struct hit run_around(const struct finder *f, struct span text, size_t i,
                             const struct foothold *h, struct hits *out)
{
    const struct known_word *w = f->words[h->word];
    size_t before = same_before(text.p + i, w->text + h->at, less(i, h->at));
    size_t after = same_after(text.p + i, w->text + h->at, less(text.n - i, w->n - h->at));
    size_t begins = h->at - before, ends = h->at + after;
    struct hit hit = { .from = i - before, .end = i + after, .why = HIT_VALUE };

    hits_spend(out, before + after);
    if (before + after < w->least)
        return (struct hit){ 0 };
    if (w->least < w->n) {
        hit.end = go_on(text, hit.end, w, &ends);
        hit.from = go_back(text, hit.from, w, &begins);
    }
    return hit;
}

/* As one with those before it that it overlaps; two that touch stay two. */
static void note(struct hits *out, size_t first, struct hit hit)
{
    while (out->n > first && out->v[out->n - 1].end > hit.from) {
        const struct hit *last = &out->v[--out->n];

        hit.from = less(hit.from, last->from);
        hit.end = last->end > hit.end ? last->end : hit.end;
    }
    hits_add(out, hit.from, hit.end, hit.why);
}

/* Where to go on. */
static size_t look_at(const struct finder *f, struct span text, size_t i, struct hits *out,
                      size_t first)
{
    uint64_t key = (i + LOAD <= text.n ? load(text.p + i) : load_end(f, text.p + i)) & f->mask;
    size_t end = 0;

    for (uint32_t at = *slot_of(f, key); at && !out->full; at = f->footholds[at - 1].next) {
        const struct foothold *h = &f->footholds[at - 1];
        struct hit hit = { 0 };

        hits_spend(out, 1);
        if (!is_found(f, i, h, out, first))
            hit = run_around(f, text, i, h, out);
        if (hit.end) {
            note(out, first, hit);
            end = hit.end > end ? hit.end : end;
        }
    }
    return end > i + f->stride + OVERLAP ? end - OVERLAP : i + f->stride;
}

void finder_find(const struct finder *f, struct span text, struct hits *out)
{
    size_t first = out->n, i = 0;

    if (!f->n)
        return;
    while (!hits_enough(out) && (i = next_window(f, text, i)) < text.n)
        i = look_at(f, text, i, out, first);
}

size_t finder_find_cut(const struct finder *f, struct span text)
{
    size_t found = text.n;

    for (size_t i = 0; i < f->n; i++) {
        const struct known_word *w = f->words[i];
        size_t at = text.n < w->n ? 0 : text.n - w->n + 1;
        const char *p;

        while (at < found && (p = memmem(text.p + at, text.n - at, w->text, REDACT_MIN)) != NULL) {
            at = (size_t)(p - text.p);
            if (at < found && memcmp(p, w->text, text.n - at) == 0)
                found = at;
            at++;
        }
    }
    return found;
}
