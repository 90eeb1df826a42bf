/* matcher.c - what is looked for. A literal is a needle. Of an expression those bytes that each
 * match must have are looked for first, and the lines around them then; or it is run on some lines
 * at once; or, if what is around a line would change what it means, line by line. */
#include "search_impl.h"
#include <time.h>

static bool has_upper(struct span s, bool regex)
{
    for (size_t i = 0; i < s.n; i++) {
        if (regex && s.p[i] == '\\')
            i++; /* \S is no letter */
        else if ((s.p[i] >= 'A' && s.p[i] <= 'Z') || (signed char)s.p[i] < 0)
            return true;
    }
    return false;
}

static bool is_ascii(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((signed char)s.p[i] < 0)
            return false;
    return true;
}

static void lower(char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (s[i] >= 'A' && s[i] <= 'Z')
            s[i] = (char)(s[i] | 0x20);
}

/* Is there an escape for a line feed, or one? */
static bool wants_line_feed(struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\n')
            return true;
        if (s.p[i] == '\\' && i + 1 < s.n && s.p[++i] == 'n')
            return true;
    }
    return false;
}

static void add_needle(struct matcher *m, struct span text, bool nocase)
{
    char *copy = mem_dupn(text.p, text.n);

    if (nocase)
        lower(copy, text.n);
    m->needles[m->n++] = needle_of(span_make(copy, text.n), nocase);
}

int matcher_init(struct matcher *m, const struct matcher_wants *w, struct pb_error *err)
{
    bool nocase = w->insensitive || (!w->sensitive && !has_upper(w->query, w->regex));
    bool literal = !w->regex && (!nocase || is_ascii(w->query));
    struct span required[REGEX_REQUIRED_MAX];
    size_t n;
    int rc;

    *m = (struct matcher){ 0 };
    if (!w->query.n)
        return fail(err, PB_E_INVALID, "The query is empty");
    if (w->query.n > SEARCH_QUERY_MAX)
        return fail(err, PB_E_LIMIT, "The query has more than %d bytes", SEARCH_QUERY_MAX);
    if (literal) {
        add_needle(m, w->query, nocase);
        m->line_feeds = count_lines(w->query);
        return 0;
    }
    if (wants_line_feed(w->query))
        return fail(err, PB_E_INVALID,
                    "The search goes line by line, so that a line feed is never found by %s. Look "
                    "for a part that is in one line",
                    w->regex ? "an expression" : "a text whose case does not matter");
    rc = regex_new(&m->regex, w->query,
                   (nocase ? REGEX_NOCASE : 0) | (w->regex ? 0 : REGEX_LITERAL), err);
    if (rc < 0)
        return fail_in(err, "'%.100s' is no usable regular expression", w->query.p);
    n = regex_required(m->regex, required, &nocase);
    for (size_t i = 0; i < n; i++)
        add_needle(m, required[i], nocase);
    return 0;
}

void matcher_done(struct matcher *m)
{
    regex_free(m->regex);
    for (size_t i = 0; i < m->n; i++)
        free((char *)m->needles[i].text.p);
    *m = (struct matcher){ 0 };
}

/* ---- finding ---- */

static struct span line_around(struct span lines, const char *at)
{
    const char *before = memrchr(lines.p, '\n', (size_t)(at - lines.p));
    const char *begin = before ? before + 1 : lines.p;
    const char *end = memchr(at, '\n', (size_t)(span_end(lines) - at));

    return span_make(begin, (size_t)((end ? end : span_end(lines)) - begin));
}

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct span without_cr(struct span line)
{
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

/* A look at the clock costs as much as a short line: of those one in sixteen is timed, for all. */
static int run_on(const struct matcher *m, struct matcher_run *run, struct span subject,
                  struct span *hit)
{
    uint64_t weight = subject.n > 1024 ? 1 : 16, began;
    int rc;

    run->bytes += subject.n;
    if (++run->runs % weight)
        return regex_find(m->regex, subject, &run->regex, hit);
    if (run->spent_ns > SEARCH_FILE_MS * 1000000ull + run->bytes * SEARCH_BYTE_NS)
        return -PB_E_LIMIT;
    began = now_ns();
    rc = regex_find(m->regex, subject, &run->regex, hit);
    run->spent_ns += (now_ns() - began) * weight;
    return rc;
}

/* Whole lines, as many as fit into a piece; a longer one alone. */
static struct span piece_of(struct span lines)
{
    const char *end;

    if (lines.n <= SEARCH_PIECE_BYTES)
        return lines;
    end = memrchr(lines.p, '\n', SEARCH_PIECE_BYTES);
    if (!end)
        end = memchr(lines.p + SEARCH_PIECE_BYTES, '\n', lines.n - SEARCH_PIECE_BYTES);
    return end ? span_make(lines.p, (size_t)(end + 1 - lines.p)) : lines;
}

static struct span after_line(struct span lines, struct span line)
{
    const char *end = span_end(line) + (span_end(line) < span_end(lines));

    return span_make(end, (size_t)(span_end(lines) - end));
}

/* Many lines at once. What is found over the end of a line is looked at again, in its line. */
static int next_in_pieces(const struct matcher *m, struct matcher_run *run, struct span lines,
                          struct span *line, struct span *hit)
{
    while (lines.n) {
        struct span piece = piece_of(lines);
        size_t taken = piece.n;

        while (piece.n) {
            int rc = run_on(m, run, piece, hit);

            if (rc < 0)
                return rc;
            if (rc == 0 || hit->p == span_end(piece))
                break;
            *line = line_around(piece, hit->p);
            if (hit->p + hit->n <= line->p + line->n)
                return 1;
            rc = run_on(m, run, without_cr(*line), hit);
            if (rc != 0)
                return rc;
            piece = after_line(piece, *line);
        }
        lines = span_from(lines, taken);
    }
    return 0;
}

static int next_by_line(const struct matcher *m, struct matcher_run *run, struct span lines,
                        struct span *line, struct span *hit)
{
    while (lines.n) {
        int rc;

        *line = line_around(lines, lines.p);
        rc = run_on(m, run, without_cr(*line), hit);
        if (rc != 0)
            return rc;
        lines = after_line(lines, *line);
    }
    return 0;
}

void matcher_begin(struct matcher_run *run) { memset(run->next, 0, sizeof run->next); }

/* The first of all needles. Each is looked for once only, however often others are found. */
static const char *next_needle(const struct matcher *m, struct matcher_run *run, struct span lines,
                               size_t *which)
{
    const char *first = NULL;

    for (size_t i = 0; i < m->n; i++) {
        if (!run->next[i] || run->next[i] < lines.p)
            run->next[i] = needle_find(&m->needles[i], lines);
        if (!run->next[i])
            run->next[i] = span_end(lines);
        if (run->next[i] < span_end(lines) && (!first || run->next[i] < first)) {
            first = run->next[i];
            *which = i;
        }
    }
    return first;
}

static int next_by_needle(const struct matcher *m, struct matcher_run *run, struct span lines,
                          struct span *line, struct span *hit)
{
    const char *at;
    size_t i = 0;

    while (lines.n && (at = next_needle(m, run, lines, &i))) {
        int rc = 1;

        *line = line_around(lines, at);
        *hit = span_make(at, m->needles[i].text.n);
        if (m->regex)
            rc = run_on(m, run, without_cr(*line), hit);
        if (rc != 0)
            return rc;
        lines = after_line(lines, *line);
    }
    return 0;
}

int matcher_next(const struct matcher *m, struct matcher_run *run, struct span lines,
                 struct span *line, struct span *hit)
{
    if (m->n)
        return next_by_needle(m, run, lines, line, hit);
    if (regex_takes_lines(m->regex))
        return next_in_pieces(m, run, lines, line, hit);
    return next_by_line(m, run, lines, line, hit);
}
