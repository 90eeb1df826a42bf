/* add_line.c - a whole command line as people paste it: that of a server, or one that adds a server
 * here or in another program. */
#include "add.h"
#include "add_parts.h"
#include "hub/spec/spec.h"

struct add_line {
    const char *const *words;
    bool prefixed; /* it began with "patchbay add" or the like */
    const char **plain, **env, **headers;
    size_t n_plain, n_env, n_headers;
    struct add_request r;
};

/* clang-format off */
static const char *const prefixes[][4] = {
    { "patchbay", "add" },
    { "claude", "mcp", "add" },
    { "codex", "mcp", "add" },
    { "gemini", "mcp", "add" },
};
/* clang-format on */

static void skip_prefix(struct add_line *l)
{
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
        const char *const *p = prefixes[i];
        size_t n = 0;

        while (p[n] && l->words[n] && strcmp(p[n], l->words[n]) == 0)
            n++;
        if (!p[n]) {
            l->words += n;
            l->prefixed = true;
            return;
        }
    }
}

/* As a shell takes them: "TOKEN=x npx -y server". */
static void take_assignments(struct add_line *l)
{
    for (; *l->words; l->words++) {
        size_t n = strcspn(*l->words, "=");

        if (!(*l->words)[n] || !add_is_env_name(span_make(*l->words, n)))
            return;
        l->env[l->n_env++] = *l->words;
    }
}

/* A command that cannot be taken for the name of a server. */
static bool starts_command(const char *const *words)
{
    bool runs = words[0] && add_is_runner(words[0]) && words[1] && strcmp(words[1], "--") != 0 &&
                !add_has_scheme(words[1]);

    return runs || (words[0] && add_begins_command(words, 1, false, words + 1));
}

/* ---- options ---- */

enum {
    OPT_CWD,
    OPT_ENV,
    OPT_HEADER,
    OPT_IGNORED,
    OPT_INHERIT,
    OPT_LAZY,
    OPT_NAME,
    OPT_TRANSPORT,
};

/* clang-format off */
static const struct option {
    char letter;
    const char *name;
    int is;
    bool alone; /* without a value */
} options[] = {
    { 0,   "cwd",       OPT_CWD,       false },
    { 'e', "env",       OPT_ENV,       false },
    { 'f', "force",     OPT_IGNORED,   true },
    { 'H', "header",    OPT_HEADER,    false },
    { 0,   "lazy",      OPT_LAZY,      true },
    { 0,   "inherit-env", OPT_INHERIT, false },
    { 'n', "name",      OPT_NAME,      false },
    { 's', "scope",     OPT_IGNORED,   false },
    { 't', "transport", OPT_TRANSPORT, false },
};
/* clang-format on */

static const struct option *find_option(const char *word, const char **value)
{
    size_t n = strcspn(word, "=");

    *value = word[n] ? word + n + 1 : NULL;
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        const struct option *o = &options[i];

        if (word[1] == '-' ? span_is(span_make(word + 2, n - 2), o->name)
                           : o->letter && word[1] == o->letter && n == 2)
            return o;
    }
    return NULL;
}

static void set_option(struct add_line *l, const struct option *o, const char *value)
{
    switch (o->is) {
    case OPT_CWD:
        l->r.cwd = value;
        break;
    case OPT_ENV:
        l->env[l->n_env++] = value;
        break;
    case OPT_HEADER:
        l->headers[l->n_headers++] = value;
        break;
    case OPT_INHERIT:
        l->r.inherit_env = value;
        break;
    case OPT_LAZY:
        l->r.lazy = true;
        break;
    case OPT_NAME:
        l->r.name = value;
        break;
    case OPT_TRANSPORT:
        l->r.transport = value;
        break;
    default:
        break; /* which file it goes to is said elsewhere */
    }
}

static int take_option(struct add_line *l, struct pb_error *err)
{
    const char *word = *l->words++, *value;
    const struct option *o = find_option(word, &value);

    if (!o)
        return fail(err, PB_E_INVALID,
                    "'%.*s' is no option here; options of a command stand behind its first word",
                    MCP_NAME_SHOWN_MAX, word);
    if (!o->alone && !value && !*l->words)
        return fail(err, PB_E_INVALID, "'%s' wants a value", word);
    set_option(l, o, o->alone || value ? value : *l->words++);
    return 0;
}

/* ---- words ---- */

static int take_words(struct add_line *l, struct pb_error *err)
{
    bool command = !l->prefixed && starts_command(l->words);

    while (*l->words) {
        const char *word = *l->words;

        if (!command && strcmp(word, "--") == 0) {
            l->r.command = l->words + 1;
            return 0;
        }
        if (!command && word[0] == '-' && word[1]) {
            int rc = take_option(l, err);

            if (rc < 0)
                return rc;
            continue;
        }
        l->plain[l->n_plain++] = word;
        l->words++;
        if (!command)
            command = add_begins_command((const char *const *)l->plain, l->n_plain,
                                         l->r.name != NULL, l->words);
    }
    return 0;
}

/* "hello world" is not a server called "hello" unless somebody says that servers are being named.
 */
static void refuse_prose(struct add_line *l)
{
    const char *const *words = (const char *const *)l->plain;

    if (l->prefixed || l->r.name || l->r.command || l->n_plain < 2 || starts_command(words))
        return;
    if (!add_has_scheme(words[0]) && !add_has_scheme(words[1]) && !starts_command(words + 1))
        l->plain[1] = NULL; /* one word that says nothing; it is told what would */
}

int add_parse_line(struct spec **out, const char *text, const char *name, struct pb_error *err)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct add_line l = { 0 };
    size_t n = 1;
    int rc = add_split(&arena, text, &l.words, err);

    if (rc < 0)
        return rc;
    while (l.words[n - 1])
        n++;
    l.plain = arena_alloc(&arena, n * sizeof *l.plain);
    l.env = arena_alloc(&arena, n * sizeof *l.env);
    l.headers = arena_alloc(&arena, n * sizeof *l.headers);
    if (l.words[0] && strcmp(l.words[0], "$") == 0)
        l.words++; /* the prompt was copied, too */
    take_assignments(&l);
    skip_prefix(&l);
    l.r.name = name;
    rc = take_words(&l, err);
    if (rc < 0)
        return rc;
    refuse_prose(&l);
    l.r.words = (const char *const *)l.plain;
    l.r.env = (const char *const *)l.env;
    l.r.headers = (const char *const *)l.headers;
    return add_parse(out, &l.r, err);
}
