/* add_line.c - a whole command line as people paste it: that of a server, or one that adds a server
 * here or in another program. */
#include "add_parts.h"
#include <errno.h>

enum line_takes { LINE_SERVER, LINE_NAME_JSON, LINE_JSON };

struct add_line {
    const char *const *words;
    const struct line_program *program; /* that it is for; NULL: it is the server's own */
    const char **plain, **headers, **with, **without;
    size_t n_plain, n_headers, n_with, n_without;
    struct add_env env;
    const char *url, *client_id, *callback_port, *timeout;
    struct arena *arena;
    struct add_request r;
};

/* clang-format off */
static const struct line_program {
    const char *words[4];
    enum line_takes takes;
} programs[] = {
    { { "patchbay", "add" },                LINE_SERVER },
    { { "patchbay", "add-json" },           LINE_NAME_JSON },
    { { "claude", "mcp", "add" },           LINE_SERVER },
    { { "claude", "mcp", "add-json" },      LINE_NAME_JSON },
    { { "codex", "mcp", "add" },            LINE_SERVER },
    { { "gemini", "mcp", "add" },           LINE_SERVER },
    { { "code", "--add-mcp" },              LINE_JSON },
    { { "code-insiders", "--add-mcp" },     LINE_JSON },
};
/* clang-format on */

/* How many words of it are the program's; 0: it is none of these. */
static size_t find_program(const char *const *words, const struct line_program **out)
{
    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        const char *const *p = programs[i].words;
        size_t n = 0;

        while (p[n] && words[n] && strcmp(p[n], words[n]) == 0)
            n++;
        if (p[n])
            continue;
        *out = &programs[i];
        return n;
    }
    return 0;
}

/* The prompt was copied, too. */
static const char *const *skip_prompt(const char *const *words)
{
    return words[0] && strcmp(words[0], "$") == 0 ? words + 1 : words;
}

bool add_begins_line(const char *const *words)
{
    const struct line_program *ignored;

    return find_program(skip_prompt(words), &ignored) > 0;
}

static const char *skip_word(const char *p, const char *word)
{
    size_t n = strlen(word);

    p += strspn(p, " \t");
    return strncmp(p, word, n) == 0 && (!p[n] || strchr(" \t\r\n", p[n])) ? p + n : NULL;
}

bool add_begins_text(const char *text)
{
    const char *prompt = skip_word(text, "$");

    for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
        const char *p = prompt ? prompt : text;

        for (const char *const *w = programs[i].words; p && *w; w++)
            p = skip_word(p, *w);
        if (p)
            return true;
    }
    return false;
}

/* As a shell takes them: "TOKEN=x npx -y server". */
static void take_assignments(struct add_line *l)
{
    for (size_t n = add_count_assignments(l->words); n; n--, l->words++)
        if (add_is_assignment(*l->words))
            add_env_put(&l->env, *l->words);
}

/* A command that cannot be taken for the name of a server. */
static bool starts_command(const char *const *words)
{
    bool runs = words[0] && add_is_runner(words[0]) && words[1] && strcmp(words[1], "--") != 0 &&
                !add_has_scheme(words[1]);

    return runs || (words[0] && add_begins_command(words, 1, false, words + 1));
}

/* ---- options ---- */

enum line_option {
    OPT_BEARER,
    OPT_CALLBACK,
    OPT_CLIENT_ID,
    OPT_CWD,
    OPT_ENV,
    OPT_HEADER,
    OPT_IGNORED,
    OPT_INHERIT,
    OPT_LAZY,
    OPT_NAME,
    OPT_SCOPE,
    OPT_TIMEOUT,
    OPT_TRANSPORT,
    OPT_URL,
    OPT_WITH,
    OPT_WITHOUT,
};

/* Of all these programs: no two mean different things by one name. */
/* clang-format off */
static const struct option {
    char letter;
    const char *name;
    enum line_option is;
    bool alone; /* without a value */
} options[] = {
    { 0,   "bearer-token-env-var", OPT_BEARER, false },
    { 0,   "callback-port", OPT_CALLBACK, false },
    { 0,   "client-id",   OPT_CLIENT_ID, false },
    { 0,   "client-secret", OPT_IGNORED, true }, /* asks for one */
    { 0,   "cwd",         OPT_CWD,       false },
    { 0,   "description", OPT_IGNORED,   false },
    { 'e', "env",         OPT_ENV,       false },
    { 0,   "exclude-tools", OPT_WITHOUT, false },
    { 'f', "force",       OPT_IGNORED,   true },
    { 'H', "header",      OPT_HEADER,    false },
    { 0,   "include-tools", OPT_WITH,    false },
    { 0,   "inherit-env", OPT_INHERIT,   false },
    { 0,   "lazy",        OPT_LAZY,      true },
    { 'n', "name",        OPT_NAME,      false },
    { 's', "scope",       OPT_SCOPE,     false },
    { 0,   "timeout",     OPT_TIMEOUT,   false },
    { 't', "transport",   OPT_TRANSPORT, false },
    { 0,   "trust",       OPT_IGNORED,   true },
    { 0,   "url",         OPT_URL,       false },
};
/* clang-format on */

/* "--name", "--name=value", "-n", "-nvalue", "-n=value". */
static const struct option *find_option(const char *word, const char **value)
{
    size_t n = strcspn(word, "=");
    bool is_long = word[1] == '-';

    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        const struct option *o = &options[i];

        if (is_long && span_is(span_make(word + 2, n - 2), o->name)) {
            *value = word[n] ? word + n + 1 : NULL;
            return o;
        }
        if (!is_long && o->letter && word[1] == o->letter && (!word[2] || !o->alone)) {
            *value = word[2] ? word + 2 + (word[2] == '=') : NULL;
            return o;
        }
    }
    return NULL;
}

static int set_scope(struct add_line *l, const char *value, struct pb_error *err)
{
    static const char *const scopes[] = { "user", "local", "project" };

    for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
        if (strcmp(scopes[i], value) != 0)
            continue;
        if (l->r.scope && !*l->r.scope)
            *l->r.scope = scopes[i];
        return 0;
    }
    return fail(err, PB_E_INVALID, "--scope is 'user', 'local' or 'project', not '%.*s'",
                MCP_NAME_SHOWN_MAX, value);
}

/* "a,b": each, behind those that are there. */
static int keep_names(struct add_line *l, const char *value, const char ***list, size_t *n,
                      struct pb_error *err)
{
    size_t commas = 0;
    const char **out;

    for (const char *p = value; *p; p++)
        commas += *p == ',';
    if (*n + commas >= SPEC_WORDS_MAX)
        return fail(err, PB_E_LIMIT, "more than %d tools are named", SPEC_WORDS_MAX);
    out = arena_alloc(l->arena, (*n + commas + 2) * sizeof *out);
    for (size_t i = 0; i < *n; i++)
        out[i] = (*list)[i];
    for (struct span rest = span_of(value); rest.n;) {
        struct span one = add_cut_at(rest, ",", 0);

        if (span_trim(one).n)
            out[(*n)++] = arena_dup(l->arena, span_trim(one));
        rest = span_from(rest, one.n < rest.n ? one.n + 1 : one.n);
    }
    *list = out;
    return 0;
}

static int set_option(struct add_line *l, const struct option *o, const char *value,
                      struct pb_error *err)
{
    switch (o->is) {
    case OPT_BEARER:
        l->headers[l->n_headers++] = arena_printf(l->arena, "Authorization: Bearer ${%s}", value);
        break;
    case OPT_CALLBACK:
        l->callback_port = value;
        break;
    case OPT_CLIENT_ID:
        l->client_id = value;
        break;
    case OPT_CWD:
        l->r.cwd = value;
        break;
    case OPT_ENV:
        add_env_put(&l->env, value);
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
        l->r.name = l->r.name ? l->r.name : value;
        break;
    case OPT_SCOPE:
        return set_scope(l, value, err);
    case OPT_TIMEOUT:
        l->timeout = value;
        break;
    case OPT_TRANSPORT:
        l->r.transport = value;
        break;
    case OPT_URL:
        l->url = value;
        break;
    case OPT_WITH:
        return keep_names(l, value, &l->with, &l->n_with, err);
    case OPT_WITHOUT:
        return keep_names(l, value, &l->without, &l->n_without, err);
    case OPT_IGNORED:
        break;
    }
    return 0;
}

static bool is_header(const char *word)
{
    size_t n = strcspn(word, ": \t");

    return n && word[n] == ':' && !add_has_scheme(word);
}

/* `-e A=1 B=2`: some programs take all that follow. */
static void take_more(struct add_line *l, enum line_option is)
{
    while (is == OPT_ENV && *l->words && add_is_assignment(*l->words))
        add_env_put(&l->env, *l->words++);
    while (is == OPT_HEADER && *l->words && is_header(*l->words))
        l->headers[l->n_headers++] = *l->words++;
}

static int take_option(struct add_line *l, struct pb_error *err)
{
    const char *word = *l->words++, *value;
    const struct option *o = find_option(word, &value);
    size_t shown = strcspn(word, "="); /* behind that may be a secret */
    int rc;

    if (!o)
        return fail(err, PB_E_INVALID,
                    "'%.*s' is no option here; options of a command stand behind its first word",
                    shown < MCP_NAME_SHOWN_MAX ? (int)shown : MCP_NAME_SHOWN_MAX, word);
    if (!o->alone && !value && !*l->words)
        return fail(err, PB_E_INVALID, "'%s' wants a value", word);
    rc = set_option(l, o, o->alone || value ? value : *l->words++, err);
    if (rc == 0)
        take_more(l, o->is);
    return rc;
}

/* ---- words ---- */

static bool takes_command(const struct add_line *l)
{
    return !l->program || l->program->takes == LINE_SERVER;
}

static int take_words(struct add_line *l, struct pb_error *err)
{
    bool command = !l->program && starts_command(l->words);

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
        if (!command && takes_command(l))
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

    if (l->program || l->r.name || l->r.command || l->n_plain < 2 || starts_command(words))
        return;
    if (!add_has_scheme(words[0]) && !add_has_scheme(words[1]) && !starts_command(words + 1))
        l->plain[1] = NULL; /* one word that says nothing; it is told what would */
}

/* ---- the server ---- */

static const char *const *words_in(struct spec *s, const char **list)
{
    return spec_words(s, (const char *const *)list);
}

static bool is_port(const char *text)
{
    size_t n = strspn(text, "0123456789");

    return n && n < 6 && !text[n] && *text != '0' && strtoul(text, NULL, 10) <= UINT16_MAX;
}

static int check_oauth(const struct spec *s, const struct add_line *l, struct pb_error *err)
{
    if (l->callback_port && !is_port(l->callback_port))
        return fail(err, PB_E_INVALID, "--callback-port is a number from 1 to %d", UINT16_MAX);
    if ((l->client_id || l->callback_port) && !s->url)
        return fail(err, PB_E_INVALID,
                    "--client-id and --callback-port are for URLs: a command logs in by itself");
    return 0;
}

static int set_timeout(struct spec *s, const char *text, struct pb_error *err)
{
    char *end;
    unsigned long long ms;

    errno = 0;
    ms = strtoull(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || !ms ||
        ms > SPEC_SECONDS_MAX * (unsigned long long)1000)
        return fail(err, PB_E_INVALID, "--timeout is a number of milliseconds");
    s->timeout_ms = ms;
    return 0;
}

static void set_oauth(struct spec *s, const struct add_line *l)
{
    AUTO_BUF struct buf text = { 0 };
    struct json_out o = json_out(&text);

    json_begin_object(&o, NULL);
    json_put_str_opt(&o, "clientId", l->client_id);
    json_put_raw(&o, "callbackPort", span_of(l->callback_port));
    json_end(&o);
    s->oauth = arena_dup(&s->arena, buf_span(&text));
    s->auth = SPEC_AUTH_OAUTH;
}

static int make_server(struct config *c, struct add_line *l, struct pb_error *err)
{
    AUTO(spec) struct spec *s = NULL;
    int rc;

    if (l->url)
        l->plain[l->n_plain++] = l->url;
    refuse_prose(l);
    l->r.words = (const char *const *)l->plain;
    rc = add_parse(&s, &l->r, err);
    if (rc == 0 && l->timeout)
        rc = set_timeout(s, l->timeout, err);
    if (rc == 0)
        rc = check_oauth(s, l, err);
    if (rc < 0)
        return rc;
    if (l->n_with)
        s->enabled_tools = words_in(s, l->with);
    if (l->n_without)
        s->disabled_tools = words_in(s, l->without);
    if (l->client_id || l->callback_port)
        set_oauth(s, l);
    return add_put(c, TAKE(s), err);
}

/* '{\"name\":…}': quoted twice, for a shell that others have. */
static const char *without_escapes(struct arena *a, const char *text)
{
    AUTO_BUF struct buf out = { 0 };

    if (strncmp(text, "{\\\"", 3) != 0)
        return text;
    for (const char *p = text; *p; p++)
        if (p[0] != '\\' || p[1] != '"')
            buf_byte(&out, *p);
    return arena_dup(a, buf_span(&out));
}

static int make_of_json(struct config *c, struct add_line *l, struct pb_error *err)
{
    bool named = l->program->takes == LINE_NAME_JSON;
    size_t at = named ? 1 : 0;

    if (l->n_plain != at + 1 || l->plain[at][0] != '{')
        return fail(err, PB_E_INVALID, "expected %s'{\"command\":…}' or '{\"url\":…}', in quotes",
                    named ? "NAME and " : "");
    if (named && !l->r.name)
        l->r.name = l->plain[0];
    return add_read_json(c, without_escapes(l->arena, l->plain[at]), &l->r, err);
}

static void begin_line(struct add_line *l, const struct add_request *beside)
{
    size_t n = add_count(l->words) + 2;

    if (beside) {
        l->r = *beside;
        n += add_count(beside->env) + add_count(beside->headers);
    }
    l->r.words = l->r.command = NULL;
    l->plain = arena_alloc(l->arena, n * sizeof *l->plain);
    l->env.pairs = arena_alloc(l->arena, n * sizeof *l->env.pairs);
    l->headers = arena_alloc(l->arena, n * sizeof *l->headers);
}

/* What stands beside the line goes before what it says itself. */
static void end_line(struct add_line *l, const struct add_request *beside)
{
    for (size_t i = 0; beside && beside->env && beside->env[i]; i++)
        add_env_put(&l->env, beside->env[i]);
    for (size_t i = 0; beside && beside->headers && beside->headers[i]; i++)
        l->headers[l->n_headers++] = beside->headers[i];
    l->r.env = (const char *const *)l->env.pairs;
    l->r.headers = (const char *const *)l->headers;
}

static int read_line(struct config *c, struct add_line *l, const struct add_request *beside,
                     struct pb_error *err)
{
    int rc;

    begin_line(l, beside);
    take_assignments(l);
    l->words += find_program(l->words, &l->program);
    rc = take_words(l, err);
    if (rc < 0)
        return rc;
    end_line(l, beside);
    return takes_command(l) ? make_server(c, l, err) : make_of_json(c, l, err);
}

int add_read_line(struct config *c, const char *const *words, const struct add_request *beside,
                  struct pb_error *err)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct add_line l = { .words = skip_prompt(words), .arena = &arena };
    int rc = read_line(c, &l, beside, err);

    add_env_done(&l.env);
    return rc;
}
