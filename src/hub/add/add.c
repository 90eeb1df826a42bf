#include "add.h"
#include "add_parts.h"
#include "hub/spec/spec.h"
#include <assert.h>
#include <stdio.h>

static const char how[] =
    "NAME -- COMMAND, NAME URL, a URL, or a package as in 'npx -y @scope/name'";

/* What was typed, sorted out. */
struct add_reading {
    struct arena arena;
    const char *name; /* NULL: it names itself */
    const char *const *target;
    const char *const *env; /* that the words set, and those that were given beside them */
    bool one_text;          /* a package or a URL that stands for itself */
};

static bool has_space(const char *s) { return s[strcspn(s, " \t\r\n")] != '\0'; }

/* A command that is a path cannot be taken for a name. */
static bool is_path(const char *word)
{
    return word[0] == '/' || strncmp(word, "./", 2) == 0 || strncmp(word, "../", 3) == 0;
}

static const char *const *join(struct arena *a, const char *const *x, const char *const *y)
{
    size_t n = add_count(x), m = add_count(y);
    const char **out = arena_alloc(a, (n + m + 1) * sizeof *out);

    for (size_t i = 0; i < n; i++)
        out[i] = x[i];
    for (size_t i = 0; i < m; i++)
        out[n + i] = y[i];
    return out;
}

/* ---- What the words are -------------------------------------------------------------------- */

int add_check_name(const char *name, struct pb_error *err)
{
    AUTO_BUF struct buf slug = { 0 };
    int rc = spec_check_name(span_of(name), err);

    if (rc == 0)
        return 0;
    if (strchr(name, '='))
        return fail(err, PB_E_INVALID, "'%.*s=…' is no name: each variable has its own -e",
                    (int)strcspn(name, "="), name);
    if (err) {
        struct pb_error was = *err;

        spec_slug(&slug, span_of(name));
        return fail(err, PB_E_INVALID, "%s; '%s' would be one", was.msg, buf_cstr(&slug));
    }
    return rc;
}

/* A word that says nothing of how it is to be run. */
static int refuse_word(const char *word, struct pb_error *err)
{
    char shown[33];

    /* Behind '=' there may be a secret. */
    snprintf(shown, sizeof shown, "%.*s", (int)strcspn(word, "="), word);
    text_make_printable(shown);
    if (strchr(word, '/') && strchr(word, '.') && word[0] != '.')
        return fail(err, PB_E_INVALID,
                    "'%s' is no command: 'https://%s' would be a URL, 'docker run %s' an image",
                    shown, shown, shown);
    return fail(err, PB_E_INVALID,
                "'%s' alone does not say what to run: 'npx -y %s' for an npm package, 'uvx %s' for "
                "a Python one, or %s",
                shown, shown, shown, how);
}

/* Cannot be taken for a name. */
static bool is_command(const char *word)
{
    return is_path(word) || add_is_npm_id(word) || add_is_runner(word);
}

/* Those that were given beside it go before what the command line says itself. The command is
 * behind them. */
static const char *const *take_assignments(struct add_reading *d, const char *const *words)
{
    size_t n = add_count_assignments(words), given = add_count(d->env);
    struct add_env env = { 0 };

    if (!n)
        return words;
    env.pairs = arena_alloc(&d->arena, (n + given + 1) * sizeof *env.pairs);
    for (size_t i = 0; i < n; i++)
        if (add_is_assignment(words[i]))
            add_env_put(&env, words[i]);
    for (size_t i = 0; i < given; i++)
        add_env_put(&env, d->env[i]);
    d->env = (const char *const *)env.pairs;
    add_env_done(&env);
    return words + n;
}

static int read_one(struct add_reading *d, const char *text, struct pb_error *err)
{
    const char *const *words;
    int rc = add_split(&d->arena, text, &words, err);

    if (rc < 0)
        return rc;
    d->one_text = true;
    if (words[add_count_assignments(words)])
        words = take_assignments(d, words);
    if (!words[0])
        return fail(err, PB_E_INVALID, "what is to be added? %s", how);
    if (words[1]) {
        if (!is_command(words[0]))
            return refuse_word(words[0], err);
    } else if (!add_has_scheme(words[0]) && !is_command(words[0])) {
        return refuse_word(words[0], err);
    }
    if (add_is_npm_id(words[0]))
        words = join(&d->arena, (const char *const[]){ "npx", "-y", NULL }, words);
    d->target = words;
    return 0;
}

/* Several words, of which the first may be the name. */
static int read_words(struct add_reading *d, const char *const *words, struct pb_error *err)
{
    const char *const *command = words + add_count_assignments(words);

    /* Else it is told that they are no name. */
    if (*command && is_command(*command))
        words = take_assignments(d, words);
    if (!words[0])
        return fail(err, PB_E_INVALID, "what is to be added? %s", how);
    if (!words[1])
        return read_one(d, words[0], err);
    d->target = words;
    if (add_is_url(words[0]))
        return 0; /* and too much behind it, as will be said */
    if (is_path(words[0]))
        return 0;
    if (add_is_npm_id(words[0])) {
        d->target = join(&d->arena, (const char *const[]){ "npx", "-y", NULL }, words);
        return 0;
    }
    if (add_is_runner(words[0]) && !add_has_scheme(words[1])) {
        d->one_text = true;
        return 0;
    }
    d->name = words[0];
    d->target = words + 1;
    return 0;
}

static int read_name(struct add_reading *d, const struct add_request *r, struct pb_error *err)
{
    static const char *const none[] = { NULL };
    const char *const *words = r->words ? r->words : none;

    d->name = r->name;
    d->env = r->env;
    if (r->name) {
        d->target = join(&d->arena, words, r->command);
        if (d->target[0] && !d->target[1] &&
            (add_is_npm_id(d->target[0]) || has_space(d->target[0])))
            return read_one(d, d->target[0], err);
        d->one_text = !r->command;
    } else if (!words[0] && r->command) {
        return read_words(d, r->command, err); /* claude takes the name behind "--" too */
    } else if (!r->command) {
        return read_words(d, words, err);
    } else {
        d->name = words[0];
        d->target = join(&d->arena, words + 1, r->command);
    }
    if (!d->target[0])
        return fail(err, PB_E_INVALID, "what is to be added? %s", how);
    return 0;
}

/* NAME "npx -y x": one word that is a whole command, unless there is a program of that name. */
static int unfold(struct add_reading *d, struct pb_error *err)
{
    if (d->target[1] || !has_space(d->target[0]) || add_has_scheme(d->target[0]) ||
        access(d->target[0], F_OK) == 0)
        return 0;
    return add_split(&d->arena, d->target[0], &d->target, err);
}

static int read_request(struct add_reading *d, const struct add_request *r, struct pb_error *err)
{
    int rc = read_name(d, r, err);

    if (rc == 0)
        rc = unfold(d, err);
    if (rc < 0)
        return rc;
    d->target = take_assignments(d, d->target);
    if (!d->target[0] || !*d->target[0])
        return fail(err, PB_E_INVALID, "the command is empty: %s", how);
    return 0;
}

static bool follows(const char *word, const char *const *rest,
                    bool (*begins)(const char *const *words))
{
    AUTO_ARENA struct arena a = { 0 };

    return begins(join(&a, (const char *const[]){ word, NULL }, rest));
}

bool add_begins_command(const char *const *words, size_t n, bool named, const char *const *rest)
{
    const char *word = words[n - 1];

    if ((rest[0] && strcmp(rest[0], "--") == 0) || add_has_scheme(word) || has_space(word))
        return false;
    if (named || n > 1 || is_path(word) || add_is_npm_id(word) || follows(word, rest, add_runs) ||
        follows(word, rest, add_begins_line))
        return true;
    if (!add_is_runner(word) || !rest[0] || add_has_scheme(rest[0]))
        return false;
    for (; *rest; rest++)
        if (strcmp(*rest, "--") == 0)
            return false;
    return true;
}

/* ---- The spec ------------------------------------------------------------------------------ */

static int set_headers(struct spec *s, const char *const *headers, struct pb_error *err)
{
    size_t n = add_count(headers);
    const char **out;

    if (!headers || !n)
        return 0;
    out = arena_alloc(&s->arena, (n + 1) * sizeof *out);
    for (size_t i = 0; i < n; i++) {
        int rc = add_read_header(&s->arena, headers[i], &out[i], err);

        if (rc < 0)
            return rc;
    }
    s->headers = out;
    return 0;
}

static void set_package(struct spec *s, const struct add_package *p)
{
    if (p->kind == SPEC_PACKAGE_NONE)
        return;
    s->package = p->kind;
    s->package_id = arena_dup(&s->arena, span_of(p->id));
    s->runtime_hint = p->hint ? arena_dup(&s->arena, span_of(p->hint)) : NULL;
}

/* Until it names itself. */
static const char *name_of(const struct add_reading *d) { return d->name ? d->name : "server"; }

/* "HTTPS://host" is one URL with "https://host", and config files know it as the latter. */
static const char *lower_scheme(struct arena *a, const char *url)
{
    char *out = arena_dup(a, span_of(url));

    for (char *p = out; *p && *p != ':'; p++)
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
    return out;
}

static int make_remote(struct spec **out, struct add_reading *d, const struct add_request *r,
                       struct pb_error *err)
{
    const char *url = lower_scheme(&d->arena, d->target[0]);
    AUTO(spec) struct spec *s = NULL;
    enum spec_transport transport = SPEC_STDIO;
    int rc;

    if (d->target[1])
        return fail(err, PB_E_INVALID, "nothing may follow a URL but options, and a word does");
    rc = add_check_url(url, err);
    if (rc == 0)
        rc = add_check_transport(r->transport, true, url, &transport, err);
    if (rc < 0)
        return rc;
    if (add_count(d->env))
        return fail(err, PB_E_INVALID,
                    "-e is for commands: a server at a URL takes -H \"Name: "
                    "value\"");
    rc = add_check_cwd(r->cwd, true, err);
    if (rc < 0)
        return rc;
    s = transport == SPEC_SSE ? spec_sse(name_of(d), url) : spec_http(name_of(d), url);
    s->guess_sse = transport == SPEC_HTTP && !r->transport;
    rc = set_headers(s, r->headers, err);
    if (rc < 0)
        return rc;
    set_package(s, &(struct add_package){ .kind = SPEC_PACKAGE_HTTP, .id = url });
    s->auth = add_detect_auth(NULL, NULL, s->headers);
    *out = TAKE(s);
    return 0;
}

static int make_command(struct spec **out, struct add_reading *d, const struct add_request *r,
                        struct pb_error *err)
{
    enum spec_transport transport = SPEC_STDIO;
    struct add_package package;
    struct spec *s;
    int rc = add_check_transport(r->transport, false, d->target[0], &transport, err);

    if (rc == 0)
        rc = add_check_env(d->env, err);
    if (rc == 0)
        rc = add_check_cwd(r->cwd, false, err);
    if (rc == 0 && d->one_text)
        rc = add_complete(&d->arena, &d->target, d->env, err);
    if (rc < 0)
        return rc;
    if (r->headers && r->headers[0])
        return fail(err, PB_E_INVALID, "-H is for URLs: a command takes -e NAME=value");
    if (add_count(d->target) > SPEC_WORDS_MAX)
        return fail(err, PB_E_LIMIT, "a command has at most %d words", SPEC_WORDS_MAX);
    s = spec_stdio(name_of(d), d->target[0], d->target + 1, d->env);
    add_find_package(d->target, &package);
    set_package(s, &package);
    s->cwd = r->cwd ? arena_dup(&s->arena, span_of(r->cwd)) : NULL;
    add_run_here(s, r);
    s->auth = add_detect_auth(d->target, d->env, NULL);
    *out = s;
    return 0;
}

static int set_inherit(struct spec **s, const char *text, struct pb_error *err)
{
    if (inherit_parse(&(*s)->inherit_env, span_of(text), &(*s)->arena, err) == 0)
        return 0;
    spec_unref(*s);
    *s = NULL;
    return fail_in(err, "--inherit-env");
}

int add_parse(struct spec **out, const struct add_request *r, struct pb_error *err)
{
    struct add_reading d = { 0 };
    int rc = read_request(&d, r, err);

    assert(rc < 0 || d.target);
    if (rc == 0 && d.name)
        rc = add_check_name(d.name, err);
    if (rc == 0 && add_has_scheme(d.target[0]))
        rc = make_remote(out, &d, r, err);
    else if (rc == 0)
        rc = make_command(out, &d, r, err);
    if (rc == 0 && !d.name)
        add_name_itself(*out, r);
    if (rc == 0 && r->lazy)
        (*out)->start = SPEC_LAZY;
    if (rc == 0 && r->inherit_env)
        rc = set_inherit(out, r->inherit_env, err);
    arena_done(&d.arena);
    return rc;
}
