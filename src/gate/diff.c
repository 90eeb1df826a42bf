#include "diff.h"

static const char *const op_names[] = {
    [DIFF_SAME] = "same", [DIFF_DEL] = "del", [DIFF_ADD] = "add"
};

/* ---- words ---- */

struct diff_text {
    struct span *v;
    size_t n;
};

enum diff_char { CHAR_WORD, CHAR_SPACE, CHAR_OTHER };

/* Letters beyond ASCII are parts of words; no character is ever split. */
static enum diff_char kind_of(char ch)
{
    unsigned char c = (unsigned char)ch;

    if (c >= 0x80 || c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'))
        return CHAR_WORD;
    return c == ' ' || c == '\t' ? CHAR_SPACE : CHAR_OTHER;
}

static size_t word_length(struct span s)
{
    enum diff_char kind = kind_of(s.p[0]);
    size_t n = 1;

    while (kind != CHAR_OTHER && n < s.n && kind_of(s.p[n]) == kind)
        n++;
    return n;
}

/* False: there are too many. */
static bool split(struct diff_text *out, struct span text)
{
    out->v = mem_alloc((PIN_DIFF_WORDS_MAX + 1) * sizeof *out->v);
    while (text.n) {
        size_t n = word_length(text);

        if (out->n == PIN_DIFF_WORDS_MAX)
            return false;
        out->v[out->n++] = span_make(text.p, n);
        text = span_from(text, n);
    }
    return true;
}

/* ---- the segments ---- */

static void add(struct diff *d, enum diff_op op, struct span text)
{
    struct diff_segment *last = d->n ? &d->v[d->n - 1] : NULL;

    if (!text.n)
        return;
    if (last && last->op == op && span_end(last->text) == text.p) {
        last->text.n += text.n;
        return;
    }
    if (!(d->n & (d->n - 1))) /* full at each power of two */
        d->v = mem_resize(d->v, (d->n ? 2 * d->n : 1) * sizeof *d->v);
    d->v[d->n++] = (struct diff_segment){ op, text };
}

static struct span between(const struct diff_text *w, size_t from, size_t to)
{
    return from == to ? SPAN("")
                      : span_make(w->v[from].p, (size_t)(span_end(w->v[to - 1]) - w->v[from].p));
}

/* ---- Myers: the shortest script of words out and words in ---- */

/* What is compared: the words between the first difference and the last. */
struct ground {
    const struct diff_text *a, *b;
    size_t at, n, m; /* where they begin, in both; how many of each */
    size_t *steps;
    int32_t **rows; /* of each number of edits, how far each diagonal got: rows[d][k + d] */
    int edits;      /* of the script; -1: not found */
};

static bool same(const struct ground *g, size_t x, size_t y)
{
    return span_eq(g->a->v[g->at + x], g->b->v[g->at + y]);
}

/* Where diagonal k begins with d edits, d > 0: one word further than d - 1 got to on a diagonal
 * beside it. -1: nowhere. *gone: it is a word of a that goes, and not one of b that comes. */
static int32_t enter(const struct ground *g, int d, int k, bool *gone)
{
    const int32_t *before = g->rows[d - 1]; /* of diagonals -(d - 1) … d - 1 */
    int32_t down = k + 1 <= d - 1 ? before[k + 1 + d - 1] : -1;
    int32_t right = k - 1 >= -(d - 1) ? before[k - 1 + d - 1] : -1;

    if (down >= 0 && down - k > (int32_t)g->m)
        down = -1;
    right = right >= 0 && right < (int32_t)g->n ? right + 1 : -1;
    *gone = right > down;
    return *gone ? right : down;
}

static int32_t reach(struct ground *g, int d, int k)
{
    bool gone;
    int32_t x = d ? enter(g, d, k, &gone) : 0;

    while (x >= 0 && (size_t)x < g->n && (size_t)(x - k) < g->m && *g->steps &&
           same(g, (size_t)x, (size_t)(x - k))) {
        x++;
        --*g->steps;
    }
    return x;
}

static void search(struct ground *g)
{
    int goal = (int)g->n - (int)g->m;

    g->edits = -1;
    g->rows = mem_zero((PIN_DIFF_EDITS_MAX + 1) * sizeof *g->rows);
    for (int d = 0; d <= PIN_DIFF_EDITS_MAX; d++) {
        g->rows[d] = mem_alloc((size_t)(2 * d + 1) * sizeof **g->rows);
        for (int k = -d; k <= d; k++)
            g->rows[d][k + d] = -1;
        for (int k = -d; k <= d; k += 2) {
            if (!*g->steps)
                return;
            --*g->steps;
            g->rows[d][k + d] = reach(g, d, k);
            if (k == goal && g->rows[d][k + d] == (int32_t)g->n && *g->steps) {
                g->edits = d;
                return;
            }
        }
    }
}

/* Back along the way that was found: which words went and which came. */
static void mark(const struct ground *g, bool *gone, bool *come)
{
    int k = (int)g->n - (int)g->m;

    for (int d = g->edits; d > 0; d--) {
        bool right;
        int32_t x = enter(g, d, k, &right);

        if (right)
            gone[x - 1] = true;
        else
            come[x - k - 1] = true;
        k += right ? -1 : 1;
    }
}

static void ground_done(struct ground *g)
{
    for (int d = 0; g->rows && d <= PIN_DIFF_EDITS_MAX; d++)
        free(g->rows[d]);
    free(g->rows);
}

/* Of what stands together the old goes before the new. */
static void add_script(struct diff *out, const struct ground *g)
{
    AUTO_FREE bool *gone = mem_zero(g->n + 1);
    AUTO_FREE bool *come = mem_zero(g->m + 1);
    size_t x = 0, y = 0;

    mark(g, gone, come);
    while (x < g->n || y < g->m) {
        while (x < g->n && gone[x])
            add(out, DIFF_DEL, g->a->v[g->at + x++]);
        while (y < g->m && come[y])
            add(out, DIFF_ADD, g->b->v[g->at + y++]);
        while (x < g->n && y < g->m && !gone[x] && !come[y]) {
            add(out, DIFF_SAME, g->a->v[g->at + x++]);
            y++;
        }
    }
}

static void compare(struct diff *out, const struct diff_text *a, const struct diff_text *b,
                    size_t *steps)
{
    size_t least = a->n < b->n ? a->n : b->n, head = 0, tail = 0;
    struct ground g;

    while (head < least && span_eq(a->v[head], b->v[head]))
        head++;
    while (tail < least - head && span_eq(a->v[a->n - 1 - tail], b->v[b->n - 1 - tail]))
        tail++;
    *steps -= *steps < head + tail ? *steps : head + tail;
    g = (struct ground){ a, b, head, a->n - head - tail, b->n - head - tail, steps, NULL, -1 };
    add(out, DIFF_SAME, between(a, 0, head));
    if (g.n && g.m)
        search(&g);
    if (g.edits >= 0) {
        add_script(out, &g);
    } else {
        add(out, DIFF_DEL, between(a, head, a->n - tail));
        add(out, DIFF_ADD, between(b, head, b->n - tail));
    }
    add(out, DIFF_SAME, between(a, a->n - tail, a->n));
    ground_done(&g);
}

void diff_words(struct diff *out, struct span old, struct span fresh, size_t *steps)
{
    struct diff_text a = { 0 }, b = { 0 };

    *out = (struct diff){ 0 };
    if (split(&a, old) && split(&b, fresh)) {
        compare(out, &a, &b, steps);
    } else {
        add(out, DIFF_DEL, old);
        add(out, DIFF_ADD, fresh);
    }
    free(a.v);
    free(b.v);
}

void diff_done(struct diff *d)
{
    free(d->v);
    *d = (struct diff){ 0 };
}

bool diff_write(struct json_out *o, const char *key, const struct diff *d)
{
    size_t room = PIN_DIFF_BYTES_MAX;
    bool whole = true;

    json_begin_array(o, key);
    for (size_t i = 0; i < d->n && whole; i++) {
        struct span text = utf8_cut(d->v[i].text, room);

        whole = text.n == d->v[i].text.n;
        room -= text.n;
        json_begin_object(o, NULL);
        json_put_str(o, "op", op_names[d->v[i].op]);
        json_put_span(o, "text", text);
        json_end(o);
    }
    json_end(o);
    return whole;
}

/* ---- JSON for people ---- */

static void put_line(struct buf *out, int depth)
{
    buf_byte(out, '\n');
    for (int i = 0; i < depth; i++)
        buf_str(out, "  ");
}

/* The depth of v, and with it the recursion, is at most JSON_DEPTH_MAX. */
static void put_pretty(struct buf *out, struct json v, int depth)
{
    bool object = json_is(v, JSON_OBJECT), first = true;

    if ((!object && !json_is(v, JSON_ARRAY)) || !json_len(v)) {
        buf_add_span(out, json_text(v));
        return;
    }
    buf_byte(out, object ? '{' : '[');
    JSON_FOREACH(m, v) {
        buf_str(out, first ? "" : ",");
        put_line(out, depth + 1);
        if (object) {
            buf_byte(out, '"');
            buf_add_span(out, json_key(m));
            buf_str(out, "\": ");
        }
        put_pretty(out, m, depth + 1);
        first = false;
    }
    put_line(out, depth);
    buf_byte(out, object ? '}' : ']');
}

void diff_pretty(struct buf *out, struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (json_parse(&doc, text, NULL, NULL) == 0)
        put_pretty(out, json_root(&doc), 0);
    else
        buf_add_span(out, text);
}
