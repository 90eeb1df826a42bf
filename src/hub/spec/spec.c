#include "spec.h"

static const char *const no_words[] = { NULL };
static const struct spec_env_var no_vars[] = { { NULL, false } };

static const char *const transport_names[] = {
    [SPEC_STDIO] = "stdio",
    [SPEC_HTTP] = "http",
    [SPEC_SSE] = "sse",
};
_Static_assert(ARRAY_LEN(transport_names) == SPEC_TRANSPORTS, "every transport has a name");

static const char *const auth_names[] = {
    [SPEC_AUTH_NONE] = "none",
    [SPEC_AUTH_API_KEY] = "api_key",
    [SPEC_AUTH_KEYFILE] = "keyfile",
    [SPEC_AUTH_OAUTH] = "oauth",
};

static bool name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static char lower(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c + 32);
    return c;
}

/* ---- Life ---------------------------------------------------------------------------------- */

struct spec *spec_blank(const char *name)
{
    struct spec *s = NEW(struct spec);

    s->refs = 1;
    s->name = s->display_name = arena_dup(&s->arena, span_of(name));
    s->enabled = true;
    s->args = s->env = s->headers = s->enabled_tools = s->disabled_tools = s->record = no_words;
    s->filled_from = s->keys = no_words;
    s->auto_reconnect = true;
    s->start = SPEC_EAGER;
    s->idle_ms = SPEC_IDLE_MS;
    s->env_vars = no_vars;
    s->config = "{}";
    return s;
}

struct spec *spec_ref(const struct spec *s)
{
    struct spec *shared = (struct spec *)(uintptr_t)s;

    shared->refs++;
    return shared;
}

void spec_unref(struct spec *s)
{
    if (!s || --s->refs)
        return;
    arena_done(&s->arena);
    free(s);
}

const char *const *spec_words(struct spec *s, const char *const *words)
{
    const char **copy;
    size_t n = 0;

    if (!words || !words[0])
        return no_words;
    while (words[n])
        n++;
    copy = arena_alloc(&s->arena, (n + 1) * sizeof *copy);
    for (size_t i = 0; i < n; i++)
        copy[i] = arena_dup(&s->arena, span_of(words[i]));
    return copy;
}

struct spec *spec_stdio(const char *name, const char *command, const char *const *args,
                        const char *const *env)
{
    struct spec *s = spec_blank(name);

    s->transport = SPEC_STDIO;
    s->command = arena_dup(&s->arena, span_of(command));
    s->args = spec_words(s, args);
    s->env = spec_words(s, env);
    return s;
}

static struct spec *remote(const char *name, enum spec_transport transport, const char *url)
{
    struct spec *s = spec_blank(name);

    s->transport = transport;
    s->url = arena_dup(&s->arena, span_of(url));
    return s;
}

struct spec *spec_http(const char *name, const char *url) { return remote(name, SPEC_HTTP, url); }

struct spec *spec_sse(const char *name, const char *url) { return remote(name, SPEC_SSE, url); }

/* ---- Names --------------------------------------------------------------------------------- */

int spec_check_name(struct span name, struct pb_error *err)
{
    char shown[HUB_NAME_MAX + 1];
    size_t n = name.n < HUB_NAME_MAX ? name.n : HUB_NAME_MAX;

    if (!name.n)
        return fail(err, PB_E_INVALID,
                    "a server needs a name: letters, digits, '_' and '-', at most %d",
                    HUB_NAME_MAX);
    memcpy(shown, name.p, n);
    shown[n] = '\0';
    text_make_printable(shown);
    for (size_t i = 0; i < name.n; i++)
        if (!name_char(name.p[i]))
            return fail(err, PB_E_INVALID,
                        "'%s' is no name for a server: only letters, digits, '_' and '-'", shown);
    if (name.n > HUB_NAME_MAX)
        return fail(err, PB_E_INVALID,
                    "'%s…' has %zu characters; the name of a server has at most %d", shown, name.n,
                    HUB_NAME_MAX);
    if (span_is(name, SPEC_OWN))
        return fail(
            err, PB_E_INVALID,
            "'%s' is what Patchbay's own tools are called; choose another name for the server",
            shown);
    return 0;
}

void spec_slug(struct buf *out, struct span text)
{
    size_t start = out->n;

    for (size_t i = 0; i < text.n && out->n - start < HUB_NAME_MAX; i++) {
        char c = text.p[i];

        if (!name_char(c) || c == '-') {
            if (out->n > start && out->p[out->n - 1] != '-')
                buf_byte(out, '-');
        } else {
            buf_byte(out, lower(c));
        }
    }
    while (out->n > start && out->p[out->n - 1] == '-')
        out->n--;
    if (out->n == start)
        buf_str(out, "server");
    if (span_is(span_from(buf_span(out), start), SPEC_OWN)) /* it would be no name */
        buf_str(out, "-server");
}

/* Words that are not written with one capital in front. */
static const char *const spellings[] = {
    "AI",     "API",     "AWS",   "CLI",    "CSV",     "DB",      "DuckDB", "GCP", "GitHub",
    "GitLab", "GraphQL", "HTTP",  "ID",     "IDE",     "IO",      "JSON",   "K8s", "LLM",
    "MCP",    "MongoDB", "MySQL", "OpenAI", "OpenAPI", "PDF",     "SDK",    "SQL", "SQLite",
    "SSH",    "UI",      "URL",   "XML",    "YAML",    "YouTube",
};

static void add_title_word(struct buf *out, struct span word)
{
    for (size_t i = 0; i < ARRAY_LEN(spellings); i++)
        if (span_is_nocase(word, spellings[i])) {
            buf_str(out, spellings[i]);
            return;
        }
    buf_byte(out, (char)(word.p[0] >= 'a' && word.p[0] <= 'z' ? word.p[0] - 32 : word.p[0]));
    buf_add_span(out, span_from(word, 1));
}

void spec_title(struct buf *out, const char *name)
{
    size_t start = out->n;

    while (*name) {
        size_t n = strcspn(name, "-_");

        if (n && out->n > start)
            buf_byte(out, ' ');
        if (n)
            add_title_word(out, span_make(name, n));
        name += n + (name[n] != '\0');
    }
    if (out->n == start)
        buf_str(out, "Server");
}

const char *spec_transport_name(enum spec_transport t) { return transport_names[t]; }

const char *spec_auth_name(enum spec_auth a) { return auth_names[a]; }

const char *spec_origin_name(enum spec_origin o)
{
    static const char *const names[] = {
        [SPEC_ORIGIN_PERSON] = NULL,
        [SPEC_ORIGIN_REGISTRY] = "registry",
        [SPEC_ORIGIN_IMPORT] = "import",
        [SPEC_ORIGIN_REST] = "rest",
    };

    return names[o];
}

bool spec_is_foreign(const struct spec *s)
{
    return s->origin != SPEC_ORIGIN_PERSON || s->source == SPEC_SOURCE_OFFICIAL ||
           s->source == SPEC_SOURCE_SMITHERY;
}

/* ---- What registries say ------------------------------------------------------------------- */

static bool ends_nocase(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && span_is_nocase(span_make(s + n - m, m), end);
}

enum spec_auth spec_detect_auth(const struct registry_env_var *vars, size_t n)
{
    bool secret = false, id = false, client_secret = false;

    for (size_t i = 0; i < n; i++) {
        secret |= vars[i].is_secret;
        id |= ends_nocase(vars[i].name, "CLIENT_ID");
        client_secret |= vars[i].is_secret && ends_nocase(vars[i].name, "CLIENT_SECRET");
    }
    if (id && client_secret)
        return SPEC_AUTH_OAUTH;
    return secret ? SPEC_AUTH_API_KEY : SPEC_AUTH_NONE;
}

void spec_build_command(struct arena *a, enum spec_package kind, const char *id, const char *hint,
                        const char **command, const char *const **args)
{
    static const struct {
        const char *command;
        const char *before[4];
    } runners[] = {
        [SPEC_PACKAGE_NPM] = { "npx", { "-y" } },
        [SPEC_PACKAGE_DOCKER] = { "docker", { "run", "-i", "--rm" } },
    };
    const char **words = arena_alloc(a, (ARRAY_LEN(runners->before) + 2) * sizeof *words);
    size_t n = 0;

    *args = words;
    *command = NULL;
    if (kind != SPEC_PACKAGE_NPM && kind != SPEC_PACKAGE_DOCKER)
        return;
    /* The hint names another program with npx's way of being called, such as bunx. */
    *command = arena_dup(
        a, span_of(kind == SPEC_PACKAGE_NPM && hint && *hint ? hint : runners[kind].command));
    for (; runners[kind].before[n]; n++)
        words[n] = runners[kind].before[n];
    words[n] = arena_dup(a, span_of(id));
}
