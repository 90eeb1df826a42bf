#include "registries_impl.h"
#include <ctype.h>

/* A word that a shell and a URL take as it is: it becomes part of a command line that is shown. */
static bool is_plain(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!memchr("@/._-:", s.p[i], 6) &&
            !((unsigned char)s.p[i] < 128 && isalnum((unsigned char)s.p[i])))
            return false;
    return s.n > 0 && s.p[0] != '-';
}

/* ---- how it would be run ---- */

/* clang-format off */
static const struct {
    const char *type, *run;
    bool versioned; /* identifier@version; an image has it in its name */
} packages[] = {
    { "npm",  "npx -y",             true },
    { "pypi", "uvx",                true },
    { "oci",  "docker run -i --rm", false },
};
/* clang-format on */

static bool put_package(struct json_out *o, struct json package, struct arena *a)
{
    struct span id = json_str(json_get(package, "identifier"), a);
    struct span version = json_str(json_get(package, "version"), a);

    for (size_t i = 0; i < ARRAY_LEN(packages); i++) {
        if (!json_str_is(json_get(package, "registryType"), packages[i].type) || !is_plain(id))
            continue;
        if (packages[i].versioned && is_plain(version))
            json_put_fmt(o, "add", "%s %.*s@%.*s", packages[i].run, SPAN_ARG(id),
                         SPAN_ARG(version));
        else
            json_put_fmt(o, "add", "%s %.*s", packages[i].run, SPAN_ARG(id));
        return true;
    }
    return false;
}

/* Nothing in it may end the URL where it is typed or pasted, or be left to be filled in. */
static bool is_whole_url(struct span s)
{
    static const char ends[] = "\"'`\\{}<>";

    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f || memchr(ends, s.p[i], sizeof ends))
            return false;
    return span_starts(s, "https://");
}

static bool put_url(struct json_out *o, struct json url, struct arena *a)
{
    struct span s = json_str(url, a);

    if (!is_whole_url(s))
        return false;
    json_put_span(o, "add", s);
    return true;
}

static void put_add(struct json_out *o, struct json server, struct arena *a)
{
    JSON_FOREACH(package, json_get(server, "packages"))
        if (put_package(o, package, a))
            return;
    JSON_FOREACH(remote, json_get(server, "remotes"))
        if (put_url(o, json_get(remote, "url"), a))
            return;
    put_url(o, json_get(server, "deploymentUrl"), a);
}

/* ---- answers ---- */

static void put_text(struct json_out *o, const char *key, struct json text)
{
    if (json_is(text, JSON_STRING))
        json_put_raw(o, key, json_text(text));
}

/* clang-format off */
/* What the members of a server are called. */
static const struct {
    const char *name, *title;
    const char *inside; /* of each item of "servers"; NULL: it is the item itself */
} words[REGISTRY_COUNT] = {
    [REGISTRY_OFFICIAL] = { "name",          "title",       "server" },
    [REGISTRY_SMITHERY] = { "qualifiedName", "displayName", NULL },
};
/* clang-format on */

static void put_server(struct registry_found *f, enum registry_source which, struct json server)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json name = json_get(server, words[which].name);
    struct span text = json_str(name, &a);

    if (text.n == 0 || f->n >= REGISTRY_RESULTS_MAX || map_put(f->names, text, f))
        return;
    f->n++;
    json_begin_object(f->out, NULL);
    json_put_raw(f->out, "name", json_text(name));
    json_put_str(f->out, "source", registry_name(which));
    put_text(f->out, "title", json_get(server, words[which].title));
    put_text(f->out, "description", json_get(server, "description"));
    put_add(f->out, server, &a);
    json_end(f->out);
}

int registry_read(struct registry_found *f, enum registry_source which, struct span answer,
                  bool one, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json servers;
    int rc = json_parse(&doc, answer, NULL, err);

    if (rc < 0)
        return fail_in(err, "the answer is not JSON");
    if (one) {
        put_server(f, which, json_root(&doc));
        return 0;
    }
    servers = json_is(json_root(&doc), JSON_OBJECT) ? json_get(json_root(&doc), "servers")
                                                    : (struct json){ 0 };
    if (!json_is(servers, JSON_ARRAY))
        return fail(err, PB_E_INVALID, "the answer lists no servers");
    JSON_FOREACH(item, servers) {
        struct json server = item;

        if (words[which].inside && json_is(item, JSON_OBJECT))
            server = json_get(item, words[which].inside);
        if (json_is(server, JSON_OBJECT))
            put_server(f, which, server);
    }
    return 0;
}
