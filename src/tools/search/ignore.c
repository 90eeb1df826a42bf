/* ignore.c - the rules of a .gitignore, as git reads and applies them: the last that matches
 * decides. Most are a name or *.ending: those are compared without the pattern's machinery. */
#include "search_impl.h"

struct ignore_rule {
    bool negated, only_directories;
    bool name_only;        /* no slash in it: for the last part of a path */
    bool ends_with;        /* "*" and then `plain` */
    struct span plain;     /* what comes before the first wildcard */
    struct pathglob *glob; /* the rest; NULL: nothing */
};

struct ignore {
    char *text;
    size_t base; /* bytes of the directory, its slash included */
    struct ignore_rule *rules;
    size_t n;
};

static bool is_wild(char c) { return c == '*' || c == '?' || c == '[' || c == '\\'; }

static size_t plain_length(struct span s)
{
    size_t n = 0;

    while (n < s.n && !is_wild(s.p[n]))
        n++;
    return n;
}

/* Spaces at the end do not count, unless there is a backslash before them. */
static struct span without_spaces(struct span s)
{
    size_t end = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == ' ')
            continue;
        if (s.p[i] == '\\') {
            i++;
            if (i == s.n)
                return s;
        }
        end = i + 1;
    }
    return span_make(s.p, end);
}

static void rule_read(struct ignore_rule *r, struct span s)
{
    size_t plain;

    if (span_starts(s, "!")) {
        r->negated = true;
        s = span_from(s, 1);
    }
    if (s.n && s.p[s.n - 1] == '/') {
        r->only_directories = true;
        s.n--;
    }
    r->name_only = !s.n || !memchr(s.p, '/', s.n);
    if (!r->name_only && s.p[0] == '/')
        s = span_from(s, 1);
    plain = plain_length(s);
    if (r->name_only && s.n && s.p[0] == '*' && plain_length(span_from(s, 1)) == s.n - 1) {
        r->ends_with = true;
        r->plain = span_from(s, 1);
        return;
    }
    /* Of a name the pattern is all of it; of a path, as in git, what comes behind the plain part:
     * a ** that follows it at once is then at the beginning. */
    r->plain = span_make(s.p, r->name_only && plain < s.n ? 0 : plain);
    if (plain < s.n && pathglob_new(&r->glob, span_from(s, r->plain.n), PATHGLOB_GIT, NULL) < 0)
        r->glob = NULL;
}

static struct span next_line(struct span *text)
{
    const char *lf = memchr(text->p, '\n', text->n);
    size_t n = lf ? (size_t)(lf - text->p) : text->n;
    struct span line = span_make(text->p, n);
    const char *nul;

    *text = span_from(*text, lf ? n + 1 : n);
    if (lf && line.n && line.p[line.n - 1] == '\r')
        line.n--;
    nul = line.n ? memchr(line.p, '\0', line.n) : NULL;
    return nul ? span_make(line.p, (size_t)(nul - line.p)) : line;
}

struct ignore *ignore_new(struct span text, const char *base)
{
    AUTO(ignore) struct ignore *i = NEW(struct ignore);
    size_t cap = 0;

    i->base = strlen(base);
    i->text = mem_dupn(text.p ? text.p : "", text.n);
    text = span_make(i->text, text.n);
    if (span_starts(text, "\xef\xbb\xbf"))
        text = span_from(text, 3);
    while (text.n && i->n < SEARCH_IGNORE_RULES_MAX) {
        struct span line = next_line(&text);

        if (!line.n || line.p[0] == '#')
            continue;
        if (i->n == cap) {
            cap = cap ? cap * 2 : 16;
            i->rules = mem_resize(i->rules, cap * sizeof *i->rules);
        }
        i->rules[i->n] = (struct ignore_rule){ 0 };
        rule_read(&i->rules[i->n++], without_spaces(line));
    }
    return i->n ? TAKE(i) : NULL;
}

void ignore_free(struct ignore *i)
{
    if (!i)
        return;
    for (size_t k = 0; k < i->n; k++)
        pathglob_free(i->rules[k].glob);
    free(i->rules);
    free(i->text);
    free(i);
}

static bool ends_with(struct span s, struct span end)
{
    return s.n >= end.n && (!end.n || memcmp(s.p + s.n - end.n, end.p, end.n) == 0);
}

static bool rule_matches(const struct ignore_rule *r, struct span path, struct span name)
{
    struct span subject = r->name_only ? name : path;

    if (r->ends_with)
        return ends_with(subject, r->plain);
    if (!r->glob)
        return r->plain.n && span_eq(subject, r->plain);
    return subject.n >= r->plain.n && (!r->plain.n || !memcmp(subject.p, r->plain.p, r->plain.n)) &&
           pathglob_match(r->glob, span_from(subject, r->plain.n), NULL);
}

int ignore_decides(const struct ignore *i, struct span path, size_t name, bool directory)
{
    struct span last = span_from(path, name);

    path = span_from(path, i->base);
    for (size_t k = i->n; k-- > 0;) {
        const struct ignore_rule *r = &i->rules[k];

        if ((!r->only_directories || directory) && rule_matches(r, path, last))
            return !r->negated;
    }
    return -1;
}
