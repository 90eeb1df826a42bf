/* pathglob.c - patterns for paths, as sets of places in the pattern that the path has come to. */
#include "search_impl.h"

enum token_kind {
    TOKEN_CHAR,
    TOKEN_ANY,  /* one character but a slash */
    TOKEN_SET,  /* one of some, never a slash */
    TOKEN_STAR, /* any number of characters but slashes */
    TOKEN_ALL,  /* any number of any */
    TOKEN_SKIP, /* what follows, or not: the three of TOKEN_SKIP TOKEN_ALL '/' are a "**" and its
                   slash */
};

struct glob_token {
    enum token_kind kind;
    uint32_t c;       /* TOKEN_CHAR */
    uint32_t from, n; /* TOKEN_SET: its ranges */
    bool negated;
};

struct range {
    uint32_t low, high;
};

/* One of the alternatives. */
struct branch {
    struct glob_token *tokens;
    size_t n;
    bool name_only; /* it is held against the last part of the path */
    bool never;     /* malformed */
};

struct pathglob {
    enum pathglob_kind kind;
    struct branch *branches;
    size_t n;
    struct range *ranges;
    size_t n_ranges, cap_ranges;
};

enum { WORDS = (SEARCH_GLOB_MAX * 2 + 64) / 64 };

/* The character at the start of s, and its bytes. What is no UTF-8 is no character of people, but
 * itself. */
static uint32_t char_at(enum pathglob_kind kind, struct span s, size_t *n)
{
    const uint8_t *p = (const uint8_t *)s.p;
    static const uint8_t first[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
    uint32_t c;

    *n = 1;
    if (p[0] < 0x80 || kind == PATHGLOB_GIT)
        return p[0];
    *n = utf8_length(p, p + s.n);
    if (!*n) {
        *n = 1;
        return 0x110000u + p[0];
    }
    c = p[0] & first[*n];
    for (size_t i = 1; i < *n; i++)
        c = c << 6 | (p[i] & 0x3f);
    return c;
}

/* ---- reading a pattern ---- */

struct glob_reading {
    struct pathglob *g;
    struct branch *b;
    struct span in;
};

static uint32_t take_char(struct glob_reading *r)
{
    size_t n;
    uint32_t c = char_at(r->g->kind, r->in, &n);

    r->in = span_from(r->in, n);
    return c;
}

static void add_token(struct glob_reading *r, struct glob_token t) { r->b->tokens[r->b->n++] = t; }

static void add_range(struct pathglob *g, uint32_t low, uint32_t high)
{
    if (g->n_ranges == g->cap_ranges) {
        g->cap_ranges = g->cap_ranges ? g->cap_ranges * 2 : 8;
        g->ranges = mem_resize(g->ranges, g->cap_ranges * sizeof *g->ranges);
    }
    g->ranges[g->n_ranges++] = (struct range){ low, high };
}

/* clang-format off */
static const struct {
    const char *name;
    struct range ranges[5];
} classes[] = {
    { "alnum",  { { '0', '9' }, { 'A', 'Z' }, { 'a', 'z' } } },
    { "alpha",  { { 'A', 'Z' }, { 'a', 'z' } } },
    { "blank",  { { ' ', ' ' }, { '\t', '\t' } } },
    { "cntrl",  { { 1, 31 }, { 127, 127 } } },
    { "digit",  { { '0', '9' } } },
    { "graph",  { { 33, 126 } } },
    { "lower",  { { 'a', 'z' } } },
    { "print",  { { 32, 126 } } },
    { "punct",  { { 33, 47 }, { 58, 64 }, { 91, 96 }, { 123, 126 } } },
    { "space",  { { ' ', ' ' }, { 9, 13 } } },
    { "upper",  { { 'A', 'Z' } } },
    { "xdigit", { { '0', '9' }, { 'A', 'F' }, { 'a', 'f' } } },
};
/* clang-format on */

/* Is there a "[:name:]" at the start of what is left? A ] that comes sooner makes it none. */
static bool is_class(struct span s)
{
    const char *end = span_starts(s, "[:") ? memchr(s.p + 2, ']', s.n - 2) : NULL;

    return end && end > s.p + 2 && end[-1] == ':';
}

/* false: there is no such class. */
static bool take_class(struct glob_reading *r)
{
    r->in = span_from(r->in, 2);
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        size_t n = strlen(classes[i].name);

        if (!span_starts(r->in, classes[i].name) || !span_starts(span_from(r->in, n), ":]"))
            continue;
        for (const struct range *x = classes[i].ranges; x->high; x++)
            add_range(r->g, x->low, x->high);
        r->in = span_from(r->in, n + 2);
        return true;
    }
    return false;
}

/* A member of a set, or the end of a range; -1: the pattern ends. */
static int64_t take_member(struct glob_reading *r)
{
    if (r->in.n && r->in.p[0] == '\\')
        r->in = span_from(r->in, 1);
    return r->in.n ? (int64_t)take_char(r) : -1;
}

/* Behind the [. As wildmatch reads it: a ] at the beginning is itself. */
static bool take_set(struct glob_reading *r)
{
    struct glob_token t = { .kind = TOKEN_SET, .from = (uint32_t)r->g->n_ranges };
    bool first = true;

    if (r->in.n && (r->in.p[0] == '!' || r->in.p[0] == '^')) {
        t.negated = true;
        r->in = span_from(r->in, 1);
    }
    for (; r->in.n && (first || r->in.p[0] != ']'); first = false) {
        int64_t low, high;

        if (is_class(r->in)) {
            if (!take_class(r))
                return false;
            continue;
        }
        low = high = take_member(r);
        if (r->in.n > 1 && r->in.p[0] == '-' && r->in.p[1] != ']') {
            r->in = span_from(r->in, 1);
            high = take_member(r);
        }
        if (low < 0 || high < 0)
            return false;
        if (low <= high)
            add_range(r->g, (uint32_t)low, (uint32_t)high);
    }
    if (!r->in.n)
        return false;
    r->in = span_from(r->in, 1);
    t.n = (uint32_t)r->g->n_ranges - t.from;
    add_token(r, t);
    return true;
}

/* One star or several. Two with nothing but slashes beside them, or the ends, are more. */
static void take_stars(struct glob_reading *r, bool at_start)
{
    bool many = r->in.n > 1 && r->in.p[1] == '*';
    bool whole;

    while (r->in.n && r->in.p[0] == '*')
        r->in = span_from(r->in, 1);
    whole = many && at_start &&
            (!r->in.n || r->in.p[0] == '/' || (r->in.n > 1 && !memcmp(r->in.p, "\\/", 2)));
    if (!whole) {
        add_token(r, (struct glob_token){ .kind = TOKEN_STAR });
        return;
    }
    if (r->in.n && r->in.p[0] == '/')
        add_token(r, (struct glob_token){ .kind = TOKEN_SKIP });
    add_token(r, (struct glob_token){ .kind = TOKEN_ALL });
}

/* false: it is malformed. */
static bool read_branch(struct glob_reading *r)
{
    bool at_start = true;

    while (r->in.n) {
        char c = r->in.p[0];

        if (c == '*') {
            take_stars(r, at_start);
            at_start = false;
            continue;
        }
        if (c == '[') {
            r->in = span_from(r->in, 1);
            if (!take_set(r))
                return false;
            at_start = false;
            continue;
        }
        if (c == '?') {
            r->in = span_from(r->in, 1);
            add_token(r, (struct glob_token){ .kind = TOKEN_ANY });
            at_start = false;
            continue;
        }
        if (c == '\\') {
            r->in = span_from(r->in, 1);
            if (!r->in.n)
                return false;
        }
        at_start = r->in.p[0] == '/';
        add_token(r, (struct glob_token){ .kind = TOKEN_CHAR, .c = take_char(r) });
    }
    return true;
}

static bool add_branch(struct pathglob *g, struct span text)
{
    struct glob_reading r = { .g = g, .in = text };

    g->branches = mem_resize(g->branches, (g->n + 1) * sizeof *g->branches);
    r.b = &g->branches[g->n++];
    *r.b = (struct branch){ .tokens = mem_zero((text.n * 2 + 1) * sizeof(struct glob_token)) };
    r.b->never = !read_branch(&r);
    return !r.b->never;
}

/* ---- what only people write ---- */

/* "src/" means all that is in it, "/x" and "./x" are x, and "**" before a name alone is nothing. */
static void add_people(struct pathglob *g, struct span text, struct pb_error *err, int *rc)
{
    AUTO_BUF struct buf whole = { 0 };
    bool name_only;

    if (span_starts(text, "./"))
        text = span_from(text, 2);
    name_only = !text.n || !memchr(text.p, '/', text.n);
    if (text.n && text.p[0] == '/')
        text = span_from(text, 1);
    buf_add_span(&whole, text);
    if (text.n && text.p[text.n - 1] == '/')
        buf_str(&whole, "**");
    text = buf_span(&whole);
    if (span_starts(text, "**/") && !memchr(text.p + 3, '/', text.n - 3)) {
        text = span_from(text, 3);
        name_only = true;
    }
    if (!add_branch(g, text) && *rc == 0)
        *rc = fail(err, PB_E_INVALID, "the pattern '%.*s' has a [ without its ], or ends with \\",
                   (int)(text.n < 100 ? text.n : 100), text.p);
    g->branches[g->n - 1].name_only = name_only;
}

/* Where the brace that opens at text.p[at] closes; text.n: nowhere. Commas on its own level are
 * told to fn. */
static size_t brace_end(struct span text, size_t at, size_t *commas, size_t max, size_t *n)
{
    size_t depth = 0;
    bool set = false;

    *n = 0;
    for (size_t i = at; i < text.n; i++) {
        char c = text.p[i];

        if (c == '\\') {
            i++;
        } else if (set || c == '[') {
            set = c != ']';
        } else if (c == '{') {
            depth++;
        } else if (c == '}' && --depth == 0) {
            return i;
        } else if (c == ',' && depth == 1 && *n < max) {
            commas[(*n)++] = i;
        }
    }
    return text.n;
}

/* The first { that closes; text.n: none. */
static size_t brace_begin(struct span text)
{
    bool set = false;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (c == '\\')
            i++;
        else if (set || c == '[')
            set = c != ']';
        else if (c == '{')
            return i;
    }
    return text.n;
}

/* One brace after the other, from a list of what is left to be done: what is nested comes up again
 * as part of an alternative. */
static int expand(struct pathglob *g, struct span text, struct pb_error *err)
{
    struct buf todo[SEARCH_ALTERNATIVES_MAX + 1] = { 0 };
    size_t n = 1, made = 0;
    int rc = 0;

    buf_add_span(&todo[0], text);
    while (n && rc == 0) {
        AUTO_BUF struct buf one = buf_move(&todo[--n]);
        struct span s = buf_span(&one);
        size_t commas[SEARCH_ALTERNATIVES_MAX + 1], n_commas = 0, from = brace_begin(s);
        size_t end =
            from < s.n ? brace_end(s, from, commas, SEARCH_ALTERNATIVES_MAX, &n_commas) : s.n;

        if (from == s.n) {
            add_people(g, s, err, &rc);
            made++;
            continue;
        }
        if (end == s.n) {
            rc = fail(err, PB_E_INVALID, "the pattern has a { without its }");
            break;
        }
        if (made + n + n_commas + 1 > SEARCH_ALTERNATIVES_MAX) {
            rc = fail(err, PB_E_LIMIT, "the braces of the pattern make more than %d alternatives",
                      SEARCH_ALTERNATIVES_MAX);
            break;
        }
        commas[n_commas] = end;
        for (size_t i = n_commas + 1; i-- > 0;) {
            size_t begin = i ? commas[i - 1] + 1 : from + 1;

            buf_add(&todo[n], s.p, from);
            buf_add(&todo[n], s.p + begin, commas[i] - begin);
            buf_add(&todo[n], s.p + end + 1, s.n - end - 1);
            n++;
        }
    }
    while (n)
        buf_done(&todo[--n]);
    return rc;
}

int pathglob_new(struct pathglob **out, struct span text, enum pathglob_kind kind,
                 struct pb_error *err)
{
    AUTO(pathglob) struct pathglob *g = NEW(struct pathglob);
    int rc = 0;

    g->kind = kind;
    if (kind == PATHGLOB_PEOPLE && text.n > SEARCH_GLOB_MAX)
        return fail(err, PB_E_LIMIT, "the pattern has more than %d bytes", SEARCH_GLOB_MAX);
    if (kind == PATHGLOB_PEOPLE && !text.n)
        return fail(err, PB_E_INVALID, "the pattern is empty");
    if (kind == PATHGLOB_PEOPLE)
        rc = expand(g, text, err);
    else if (text.n <= SEARCH_GLOB_MAX)
        add_branch(g, text);
    if (rc < 0)
        return rc;
    *out = TAKE(g);
    return 0;
}

void pathglob_free(struct pathglob *g)
{
    if (!g)
        return;
    for (size_t i = 0; i < g->n; i++)
        free(g->branches[i].tokens);
    free(g->branches);
    free(g->ranges);
    free(g);
}

/* ---- matching ---- */

struct places {
    uint64_t bits[WORDS];
};

static void reach(const struct branch *b, struct places *at, size_t i)
{
    for (;;) {
        if (at->bits[i / 64] >> i % 64 & 1)
            return;
        at->bits[i / 64] |= 1ull << i % 64;
        if (i == b->n)
            return;
        if (b->tokens[i].kind == TOKEN_SKIP)
            reach(b, at, i + 3);
        else if (b->tokens[i].kind != TOKEN_STAR && b->tokens[i].kind != TOKEN_ALL)
            return;
        i++;
    }
}

static bool takes(const struct pathglob *g, const struct glob_token *t, uint32_t c)
{
    bool in = false;

    switch (t->kind) {
    case TOKEN_CHAR:
        return c == t->c;
    case TOKEN_ANY:
    case TOKEN_STAR:
        return c != '/';
    case TOKEN_ALL:
        return true;
    case TOKEN_SKIP:
        return false;
    case TOKEN_SET:
        break;
    }
    for (uint32_t i = 0; i < t->n && !in; i++)
        in = c >= g->ranges[t->from + i].low && c <= g->ranges[t->from + i].high;
    return in != t->negated && c != '/';
}

static bool branch_match(const struct pathglob *g, const struct branch *b, struct span path,
                         uint64_t *steps)
{
    size_t words = b->n / 64 + 1;
    struct places now, next;

    memset(&now, 0, words * sizeof now.bits[0]);
    reach(b, &now, 0);
    while (path.n) {
        size_t n;
        uint32_t c = char_at(g->kind, path, &n);
        bool any = false;

        path = span_from(path, n);
        memset(&next, 0, words * sizeof next.bits[0]);
        for (size_t w = 0; w < words; w++)
            for (uint64_t bits = now.bits[w]; bits; bits &= bits - 1) {
                size_t i = w * 64 + (size_t)__builtin_ctzll(bits);

                ++*steps;
                if (i == b->n || !takes(g, &b->tokens[i], c))
                    continue;
                any = true;
                if (b->tokens[i].kind == TOKEN_STAR || b->tokens[i].kind == TOKEN_ALL)
                    reach(b, &next, i);
                else
                    reach(b, &next, i + 1);
            }
        if (!any)
            return false;
        memcpy(&now, &next, words * sizeof now.bits[0]);
    }
    return now.bits[b->n / 64] >> b->n % 64 & 1;
}

bool pathglob_match(const struct pathglob *g, struct span path, uint64_t *steps)
{
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    struct span name = slash ? span_from(path, (size_t)(slash + 1 - path.p)) : path;
    uint64_t alone = 0;

    steps = steps ? steps : &alone;
    for (size_t i = 0; i < g->n; i++)
        if (!g->branches[i].never &&
            branch_match(g, &g->branches[i], g->branches[i].name_only ? name : path, steps))
            return true;
    return false;
}
