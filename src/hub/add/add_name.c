#include "add_parts.h"
#include "hub/spec/spec.h"

static bool is_one_of(struct span s, const char *const *list)
{
    for (; *list; list++)
        if (span_is_nocase(s, *list))
            return true;
    return false;
}

static struct span cut_at(struct span s, const char *chars, size_t from)
{
    for (size_t i = from; i < s.n; i++)
        if (strchr(chars, s.p[i]))
            return span_make(s.p, i);
    return s;
}

static struct span last_part(struct span s, char separator)
{
    for (size_t i = s.n; i-- > 0;)
        if (s.p[i] == separator)
            return span_from(s, i + 1);
    return s;
}

static struct span but_last_part(struct span s, char separator)
{
    for (size_t i = s.n; i-- > 0;)
        if (s.p[i] == separator)
            return span_make(s.p, i);
    return (struct span){ 0 };
}

/* "ghcr.io/owner/server:1.2@sha256:…" -> "owner/server". */
static struct span image_name(const char *image)
{
    struct span s = cut_at(span_of(image), "@", 0);
    struct span last = last_part(s, '/'), host = cut_at(s, "/", 0);
    size_t tag = cut_at(last, ":", 0).n;

    s.n -= last.n - tag;
    if (host.n < s.n &&
        (memchr(host.p, '.', host.n) || memchr(host.p, ':', host.n) || span_is(host, "localhost")))
        s = span_from(s, host.n + 1);
    return s;
}

/* "build/index.js" says nothing about what it is; the directory above does. */
static struct span script_name(const char *path)
{
    static const char *const dull[] = { "index", "main",  "server", "cli",      "app", "run",
                                        "start", "build", "dist",   "__main__", "src", "bin",
                                        "lib",   "out",   ".",      "..",       "",    NULL };
    struct span rest = span_of(path), first = { 0 };

    while (rest.n) {
        struct span part = last_part(rest, '/');
        struct span stem = cut_at(part, ".", 1);

        if (!first.n)
            first = stem;
        if (!is_one_of(stem, dull))
            return stem;
        rest = but_last_part(rest, '/');
    }
    return first;
}

void add_name_command(struct buf *out, const char *const *words)
{
    struct add_package p;

    add_find_package(words, &p);
    if (p.kind == SPEC_PACKAGE_DOCKER)
        spec_slug(out, image_name(p.id));
    else if (p.kind == SPEC_PACKAGE_NPM)
        spec_slug(out, cut_at(span_of(p.id), "@", 1)); /* without its version */
    else if (p.id && strcmp(add_base_name(words[0]), "uvx") == 0)
        spec_slug(out, cut_at(span_of(p.id), "@=<>~![", 1));
    else
        spec_slug(out, script_name(p.id ? p.id : words[0]));
}

static struct span host_of(const char *url)
{
    struct span s = span_of(strstr(url, "://") + 3);
    const char *at;

    s = cut_at(s, "/?#", 0);
    at = s.n ? memrchr(s.p, '@', s.n) : NULL;
    if (at)
        s = span_from(s, (size_t)(at + 1 - s.p));
    if (s.n && *s.p == '[')
        return cut_at(s, "]", 0);
    return cut_at(s, ":", 0);
}

static bool is_address(struct span host)
{
    if (!host.n || *host.p == '[')
        return true;
    for (size_t i = 0; i < host.n; i++)
        if ((host.p[i] < '0' || host.p[i] > '9') && host.p[i] != '.')
            return false;
    return true;
}

/* Under these everybody has a name; the name is what counts. */
static bool is_hosting(struct span domain)
{
    static const char *const list[] = { "workers.dev",       "vercel.app",
                                        "fly.dev",           "netlify.app",
                                        "ngrok.io",          "ngrok.app",
                                        "ngrok-free.app",    "herokuapp.com",
                                        "azurewebsites.net", "onrender.com",
                                        "pages.dev",         "github.io",
                                        "railway.app",       NULL };

    return is_one_of(domain, list);
}

static struct span without_suffix(struct span host)
{
    static const char *const second[] = { "co", "com", "org", "net", "ac", "gov", "edu", NULL };
    struct span rest = but_last_part(host, '.');
    struct span two = last_part(rest, '.'), tail;

    if (!rest.n)
        return host;
    tail = span_make(two.p, (size_t)(span_end(host) - two.p));
    if (two.n < rest.n && (is_hosting(tail) || (host.n - rest.n == 3 && is_one_of(two, second))))
        return but_last_part(rest, '.');
    return rest;
}

/* Smithery and others put the package into the path: "/@owner/name/mcp". */
static struct span package_in_path(const char *url)
{
    const char *at = strstr(strstr(url, "://") + 3, "/@");
    struct span s;

    if (!at)
        return (struct span){ 0 };
    s = cut_at(span_of(at + 1), "?#", 0);
    return cut_at(s, "/", cut_at(s, "/", 0).n + 1);
}

void add_name_url(struct buf *out, const char *url)
{
    static const char *const dull[] = { "mcp", "api",  "www",    "server",  "sse", "app",
                                        "dev", "prod", "remote", "gateway", NULL };
    struct span host = host_of(url), rest, name = { 0 };
    struct span package = package_in_path(url);

    if (package.n) {
        spec_slug(out, package);
        return;
    }
    if (is_address(host)) {
        spec_slug(out, host);
        return;
    }
    for (rest = without_suffix(host); rest.n; rest = but_last_part(rest, '.')) {
        name = last_part(rest, '.');
        if (!is_one_of(name, dull))
            break;
    }
    spec_slug(out, rest.n ? name : host);
}

/* ---- Login --------------------------------------------------------------------------------- */

static bool ends_with(struct span s, const char *end)
{
    size_t n = strlen(end);

    return s.n >= n && span_is_nocase(span_from(s, s.n - n), end);
}

/* Judged by its words: GITHUB_TOKEN, OPENAI_API_KEY, X-ApiKey; KEYBOARD is none. */
static bool names_secret(struct span name)
{
    static const char *const ends[] = { "KEY",    "TOKEN",      "SECRET",      "PASSWORD",
                                        "PASSWD", "CREDENTIAL", "CREDENTIALS", "AUTHORIZATION" };

    while (name.n) {
        struct span word = cut_at(name, "_-", 0);

        for (size_t i = 0; i < ARRAY_LEN(ends); i++)
            if (ends_with(word, ends[i]))
                return true;
        if (span_is_nocase(word, "PAT"))
            return true;
        name = span_from(name, word.n < name.n ? word.n + 1 : word.n);
    }
    return false;
}

struct variables {
    struct arena *arena;
    struct registry_env_var *list;
    size_t n;
};

static void note(struct variables *v, struct span name)
{
    v->list[v->n++] = (struct registry_env_var){
        .name = arena_dup(v->arena, name),
        .is_secret = names_secret(name),
        .is_required = true,
    };
}

static size_t count(const char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    return n;
}

/* Of the command's own, and those that docker is told to hand on. */
static void note_all(struct variables *v, const char *const *words, const char *const *env)
{
    v->list = arena_alloc(v->arena, (count(words) + count(env) + 1) * sizeof *v->list);
    for (size_t i = 0; env && env[i]; i++)
        note(v, cut_at(span_of(env[i]), "=", 0));
    for (size_t i = 0; words && words[i] && words[i + 1]; i++)
        if (strcmp(words[i], "-e") == 0 || strcmp(words[i], "--env") == 0)
            note(v, cut_at(span_of(words[i + 1]), "=", 0));
}

enum spec_auth add_detect_auth(const char *const *words, const char *const *env,
                               const char *const *headers)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct variables v = { .arena = &arena };

    note_all(&v, words, env);
    for (; headers && *headers; headers++)
        if (names_secret(cut_at(span_of(*headers), ":", 0)))
            return SPEC_AUTH_API_KEY;
    return spec_detect_auth(v.list, v.n);
}

static bool has_name(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

const char *const *add_secret_names(struct arena *a, const char *const *words,
                                    const char *const *env, const char *const *headers)
{
    struct variables v = { .arena = a };
    const char **names;
    size_t n = 0;

    note_all(&v, words, env);
    names = arena_alloc(a, (v.n + count(headers) + 1) * sizeof *names);
    for (size_t i = 0; i < v.n; i++)
        if (v.list[i].is_secret && !has_name(names, v.list[i].name))
            names[n++] = v.list[i].name;
    for (; headers && *headers; headers++) {
        struct span name = cut_at(span_of(*headers), ":", 0);

        if (names_secret(name))
            names[n++] = arena_dup(a, name);
    }
    return names;
}
