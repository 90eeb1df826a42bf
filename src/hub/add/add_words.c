/* add_words.c - a line split into words as a shell would, without its variables. No shell is ever
 * run, so that what only a shell can do is refused where it stands without quotes. */
#include "add_parts.h"

struct line_reader {
    const char *p;
    struct buf word;
    bool url;         /* a scheme was in the word so far: '&' and ';' are its own */
    const char *mark; /* for a shell; NULL: none yet */
    size_t mark_n;
};

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/* "\\" at the end of a line: the line goes on. How many bytes that takes; 0: it is none. */
static size_t continuation(const char *p)
{
    if (p[0] != '\\')
        return 0;
    return p[1] == '\n' ? 2 : p[1] == '\r' && p[2] == '\n' ? 3 : 0;
}

/* Between words: a comment, too. */
static const char *skip_space(const char *p)
{
    for (;;) {
        if (is_space(*p))
            p++;
        else if (continuation(p))
            p += continuation(p);
        else if (*p == '#')
            p += strcspn(p, "\n");
        else
            return p;
    }
}

/* "2>&1", ">file". Elsewhere these belong to a version ("pkg>=1.0") or stand for what is to be
 * filled in ("KEY=<key>"). */
static bool redirects(const struct line_reader *r)
{
    for (size_t i = 0; i < r->word.n; i++)
        if (r->word.p[i] < '0' || r->word.p[i] > '9')
            return false;
    return true;
}

/* r->p is not in quotes. */
static void look_for_mark(struct line_reader *r)
{
    bool angle = *r->p == '<' || *r->p == '>';

    if (r->mark || r->url || !strchr("&|;<>", *r->p) || (angle && !redirects(r)))
        return;
    r->mark = r->p;
    r->mark_n = r->p[1] == *r->p ? 2 : 1;
}

/* False: a quote is open. */
static bool next_word(struct line_reader *r)
{
    char quote = '\0';

    r->word.n = 0;
    r->url = false;
    for (; *r->p && (quote || !is_space(*r->p)); r->p++) {
        char c = *r->p;

        r->url |= strncmp(r->p, "://", 3) == 0;
        if (quote ? c == quote : (c == '"' || c == '\'')) {
            quote = (char)(quote ? 0 : c);
        } else if (quote != '\'' && continuation(r->p)) {
            r->p += continuation(r->p) - 1;
        } else if (c == '\\' && quote != '\'' && r->p[1]) {
            buf_byte(&r->word, *++r->p);
        } else {
            if (!quote)
                look_for_mark(r);
            buf_byte(&r->word, c);
        }
    }
    return !quote;
}

static int split(struct arena *a, struct line_reader *r, const char **words, struct pb_error *err)
{
    for (size_t n = 0;; n++) {
        r->p = skip_space(r->p);
        if (!*r->p)
            break;
        if (n == SPEC_WORDS_MAX)
            return fail(err, PB_E_LIMIT, "a command has at most %d words", SPEC_WORDS_MAX);
        if (!next_word(r))
            return fail(err, PB_E_INVALID, "a quote is not closed in the command");
        words[n] = arena_dup(a, buf_span(&r->word));
    }
    if (r->mark)
        return fail(err, PB_E_INVALID,
                    "'%.*s' is for a shell, and none is run: one command at a time, or "
                    "'sh -c \"…\"' behind NAME --",
                    (int)r->mark_n, r->mark);
    return 0;
}

int add_split(struct arena *a, const char *text, const char *const **out, struct pb_error *err)
{
    const char **words = arena_alloc(a, (SPEC_WORDS_MAX + 1) * sizeof *words);
    struct line_reader r = { .p = text };
    int rc = split(a, &r, words, err);

    buf_done(&r.word);
    *out = words;
    return rc;
}

size_t add_count(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* ---- variables in front of a command ---- */

bool add_is_assignment(const char *word)
{
    size_t n = strcspn(word, "=");

    return word[n] && add_is_env_name(span_make(word, n));
}

static bool is_env(const char *word)
{
    return strcmp(word, "env") == 0 || strcmp(word, "/usr/bin/env") == 0;
}

size_t add_count_assignments(const char *const *words)
{
    size_t n = 0;

    while (words[n] && (add_is_assignment(words[n]) ||
                        (is_env(words[n]) && words[n + 1] && add_is_assignment(words[n + 1]))))
        n++;
    return n;
}

void add_env_put(struct add_env *e, const char *pair)
{
    struct span name = span_make(pair, strcspn(pair, "="));
    const char **place = map_get(&e->places, name);

    if (!place) {
        place = &e->pairs[e->n++];
        map_put(&e->places, name, place);
    }
    *place = pair;
}

void add_env_done(struct add_env *e) { map_done(&e->places); }
