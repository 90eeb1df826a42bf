#include "add_parts.h"
#include "hub/spec/spec.h"

/* Names that a server gives itself. */
struct add_name {
    struct buf name;
    struct buf scoped; /* longer, for when that is taken; empty: there is none */
};

static bool is_one_of(struct span s, const char *const *list)
{
    for (; *list; list++)
        if (span_is_nocase(s, *list))
            return true;
    return false;
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

/* Without these at its ends: they say of every server that it is one. Of "mcp-server" nothing is
 * left. `slug` is one of spec_slug(). */
static struct span without_dull_words(struct span slug)
{
    static const char *const dull[] = { "mcp", "server", NULL };

    for (;;) {
        size_t first = add_cut_at(slug, "-_", 0).n, last = slug.n;

        while (last > 0 && slug.p[last - 1] != '-' && slug.p[last - 1] != '_')
            last--;
        if (is_one_of(span_make(slug.p, first), dull))
            slug = span_from(slug, first < slug.n ? first + 1 : first);
        else if (is_one_of(span_from(slug, last), dull))
            slug.n = last ? last - 1 : 0;
        else
            return slug;
    }
}

/* S1-84 where nothing would be left. */
static void set_names(struct add_name *out, struct span scope, struct span name)
{
    AUTO_BUF struct buf slug = { 0 }, whole = { 0 };
    struct span rest;

    spec_slug(&slug, name);
    rest = without_dull_words(buf_span(&slug));
    buf_printf(&whole, "%.*s-%.*s", SPAN_ARG(scope), SPAN_ARG(rest.n ? rest : name));
    if (!rest.n) {
        spec_slug(&out->name, buf_span(&whole));
        return;
    }
    buf_add_span(&out->name, rest);
    if (scope.n)
        spec_slug(&out->scoped, buf_span(&whole));
}

/* "ghcr.io/owner/server:1.2@sha256:…" -> "owner/server". */
static void name_image(struct add_name *out, const char *image)
{
    struct span s = add_cut_at(span_of(image), "@", 0);
    struct span last = last_part(s, '/'), host = add_cut_at(s, "/", 0);
    size_t tag = add_cut_at(last, ":", 0).n;

    s.n -= last.n - tag;
    if (host.n < s.n &&
        (memchr(host.p, '.', host.n) || memchr(host.p, ':', host.n) || span_is(host, "localhost")))
        s = span_from(s, host.n + 1);
    set_names(out, but_last_part(s, '/'), last_part(s, '/'));
}

/* "@scope/name@1.2", "npm:@scope/name", "github:owner/name". */
static void name_npm(struct add_name *out, const char *id)
{
    struct span s = span_of(id), colon = add_cut_at(s, ":/", 0);

    if (colon.n < s.n && s.p[colon.n] == ':')
        s = span_from(s, colon.n + 1);
    s = add_cut_at(s, "@#", 1); /* without its version */
    set_names(out, last_part(but_last_part(s, '/'), '/'), last_part(s, '/'));
}

/* "mcp-server-fetch[extra]==1.0", "git+https://host/owner/name.git@main". */
static void name_python(struct add_name *out, const char *id)
{
    struct span s = add_cut_at(span_of(id), "@=<>~![;", 1);

    set_names(out, (struct span){ 0 }, add_cut_at(last_part(s, '/'), ".", 1));
}

/* "build/index.js" says nothing about what it is; the directory above does. Empty: nor does that.
 */
static struct span telling_part(struct span path)
{
    static const char *const dull[] = { "index", "main",  "server", "cli",      "app",
                                        "run",   "start", "build",  "__main__", "src",
                                        "bin",   "dist",  "lib",    "out",      "mod",
                                        ".",     "..",    "",       NULL };

    while (path.n) {
        struct span stem = add_cut_at(last_part(path, '/'), ".", 1);

        if (!is_one_of(stem, dull))
            return stem;
        path = but_last_part(path, '/');
    }
    return path;
}

static void name_script(struct add_name *out, const char *path, const char *dir)
{
    struct span found = telling_part(span_of(path));

    if (!found.n && dir && path[0] != '/')
        found = telling_part(span_of(dir));
    if (!found.n)
        found = add_cut_at(last_part(span_of(path), '/'), ".", 1);
    set_names(out, (struct span){ 0 }, found);
}

static void name_command(struct add_name *out, const char *const *words, const char *dir)
{
    struct add_package p;

    add_find_package(words, &p);
    if (p.dir)
        dir = p.dir;
    if (p.id && p.named_by == ADD_BY_IMAGE)
        name_image(out, p.id);
    else if (p.id && p.named_by == ADD_BY_NPM)
        name_npm(out, p.id);
    else if (p.id && p.named_by == ADD_BY_PYTHON)
        name_python(out, p.id);
    else
        name_script(out, p.id ? p.id : words[0], dir);
}

/* All of it where there is no scheme: a URL of a file may begin with a variable. */
static struct span behind_scheme(const char *url)
{
    const char *colon = strstr(url, "://");

    return span_of(colon ? colon + 3 : url);
}

static struct span host_of(const char *url)
{
    struct span s = behind_scheme(url);
    const char *at;

    s = add_cut_at(s, "/?#", 0);
    at = s.n ? memrchr(s.p, '@', s.n) : NULL;
    if (at)
        s = span_from(s, (size_t)(at + 1 - s.p));
    if (s.n && *s.p == '[')
        return add_cut_at(s, "]", 0);
    return add_cut_at(s, ":", 0);
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

/* Smithery and others put the package into the path: "/@owner/name/mcp". False: there is none. */
static bool package_in_path(const char *url, struct span *owner, struct span *name)
{
    const char *at = strstr(behind_scheme(url).p, "/@");
    struct span s;

    if (!at)
        return false;
    s = add_cut_at(span_of(at + 2), "?#", 0);
    *owner = add_cut_at(s, "/", 0);
    if (owner->n == s.n)
        return false;
    *name = add_cut_at(span_from(s, owner->n + 1), "/", 0);
    return owner->n && name->n;
}

/* Ours, with nothing but the port to tell them apart. */
static bool is_local(struct span host)
{
    return span_is_nocase(host, "localhost") || span_starts(host, "127.") || span_is(host, "[::1");
}

static struct span port_of(const char *url)
{
    struct span host = host_of(url), rest = span_of(host.p + host.n);

    if (rest.n && *rest.p == ']')
        rest = span_from(rest, 1);
    if (!rest.n || *rest.p != ':')
        return (struct span){ 0 };
    return add_cut_at(span_from(rest, 1), "/?#", 0);
}

static void name_host(struct add_name *out, struct span host)
{
    static const char *const dull[] = { "mcp", "api",  "www",    "server",  "sse", "app",
                                        "dev", "prod", "remote", "gateway", NULL };
    struct span rest, name = { 0 };

    for (rest = without_suffix(host); rest.n; rest = but_last_part(rest, '.')) {
        name = last_part(rest, '.');
        if (!is_one_of(name, dull))
            break;
    }
    spec_slug(&out->name, rest.n ? name : host);
    spec_slug(&out->scoped, host);
}

static void name_url(struct add_name *out, const char *url)
{
    struct span host = host_of(url), port = port_of(url);
    struct span owner, package;
    AUTO_BUF struct buf local = { 0 };

    if (package_in_path(url, &owner, &package)) {
        set_names(out, owner, package);
    } else if (is_local(host)) {
        buf_printf(&local, "local-%.*s", SPAN_ARG(port));
        spec_slug(&out->name, buf_span(&local));
    } else if (is_address(host)) {
        spec_slug(&out->name, host);
    } else {
        name_host(out, host);
    }
}

/* ---- which of them ---- */

static bool is_taken(const struct add_around *around, const struct spec *s, struct buf *name)
{
    return around && around->taken && around->taken(around->ctx, s, buf_cstr(name));
}

static void name_done(struct add_name *n)
{
    buf_done(&n->name);
    buf_done(&n->scoped);
}

/* A number behind the longer one, when both are taken. */
static void number(struct buf *out, struct span stem, const struct add_around *around,
                   const struct spec *s)
{
    if (stem.n > CONFIG_STEM_MAX)
        stem.n = CONFIG_STEM_MAX;
    for (unsigned i = 2; i <= HUB_SERVERS_MAX + 1; i++) {
        out->n = 0;
        buf_printf(out, "%.*s-%u", SPAN_ARG(stem), i);
        if (!is_taken(around, s, out))
            return;
    }
}

static void name_choose(struct spec *s, struct add_name *n, const struct add_around *around)
{
    AUTO_BUF struct buf numbered = { 0 };
    struct buf *chosen = &n->name;
    bool titled = strcmp(s->display_name, s->name) != 0;

    if (is_taken(around, s, chosen) && n->scoped.n)
        chosen = &n->scoped;
    if (is_taken(around, s, chosen)) {
        number(&numbered, buf_span(chosen), around, s);
        chosen = &numbered;
    }
    s->name = arena_dup(&s->arena, buf_span(chosen));
    if (!titled)
        s->display_name = s->name;
}

void add_name_itself(struct spec *s, const struct add_request *beside)
{
    const struct add_around *around = beside ? beside->around : NULL;
    AUTO_ARENA struct arena a = { 0 };
    struct add_name name = { 0 };
    const char **words;
    size_t n;

    if (s->url) {
        name_url(&name, s->url);
    } else {
        n = add_count(s->args);
        words = arena_alloc(&a, (n + 2) * sizeof *words);
        words[0] = s->command;
        for (size_t i = 0; i < n; i++)
            words[i + 1] = s->args[i];
        name_command(&name, words, s->cwd ? s->cwd : around ? around->here : NULL);
    }
    name_choose(s, &name, around);
    name_done(&name);
}
