/* add_codex.c - the entries of Codex's config.toml in the words of everybody else. What takes its
 * value from the environment becomes a variable, which is filled in when the server is started. */
#include "add_parts.h"

/* A member of an entry, all that is written of one. */
struct codex_writer {
    struct json_out *o;
    struct json entry;
    struct arena *arena;
    struct map names; /* written in the object that is being written */
};

static void put_as(struct codex_writer *w, const char *key, const char *as)
{
    json_put_raw(w->o, as, json_text(json_get(w->entry, key)));
}

/* What several members name is written once, as the first of them says it. */
static bool is_new(struct codex_writer *w, struct span name)
{
    return name.n && !map_put(&w->names, name, w);
}

static void put_variable(struct codex_writer *w, struct span key, const char *before,
                         struct span variable)
{
    if (is_new(w, key))
        json_put_fmt(w->o, arena_dup(w->arena, key), "%s${%.*s}", before, SPAN_ARG(variable));
}

/* {"NAME":"value"} as it is. */
static void put_pairs(struct codex_writer *w, const char *key)
{
    JSON_FOREACH(m, json_get(w->entry, key)) {
        struct span name = json_key_str(m, w->arena);

        map_put(&w->names, name, w);
        json_put_raw_key(w->o, name, json_text(m));
    }
}

static void end_pairs(struct codex_writer *w)
{
    json_end(w->o);
    map_done(&w->names);
    w->names = (struct map){ 0 };
}

/* env_vars = ["NAME", …]: handed on from where it is started. */
static void put_env(struct codex_writer *w)
{
    json_begin_object(w->o, "env");
    put_pairs(w, "env");
    JSON_FOREACH(v, json_get(w->entry, "env_vars")) {
        struct span name = json_str(json_is(v, JSON_OBJECT) ? json_get(v, "name") : v, w->arena);

        put_variable(w, name, "", name);
    }
    end_pairs(w);
}

static void put_headers(struct codex_writer *w)
{
    struct span bearer = json_str(json_get(w->entry, "bearer_token_env_var"), w->arena);

    json_begin_object(w->o, "headers");
    put_pairs(w, "http_headers");
    JSON_FOREACH(m, json_get(w->entry, "env_http_headers"))
        put_variable(w, json_key_str(m, w->arena), "", json_str(m, w->arena));
    if (bearer.n)
        put_variable(w, SPAN("Authorization"), "Bearer ", bearer);
    end_pairs(w);
}

static bool has_any(struct json entry, const char *const *keys)
{
    for (; *keys; keys++)
        if (!json_is(json_get(entry, *keys), JSON_NONE))
            return true;
    return false;
}

static void put_entry(struct codex_writer *w, const char *name)
{
    static const char *const env[] = { "env", "env_vars", NULL };
    static const char *const headers[] = { "http_headers", "env_http_headers",
                                           "bearer_token_env_var", NULL };
    static const char *const same[] = { "command",       "args",    "cwd",           "url",
                                        "enabled_tools", "enabled", "disabled_tools" };

    json_begin_object(w->o, name);
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        put_as(w, same[i], same[i]);
    put_as(w, "tool_timeout_sec", "timeout_s");
    if (has_any(w->entry, env))
        put_env(w);
    if (has_any(w->entry, headers))
        put_headers(w);
    json_end(w->o);
}

/* Before anything is made of them. */
static int check_lengths(struct json entry, struct pb_error *err)
{
    static const char *const lists[] = { "env", "env_vars", "http_headers", "env_http_headers" };

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        size_t n = json_len(json_get(entry, lists[i]));

        if (n > SPEC_WORDS_MAX)
            return fail(err, PB_E_LIMIT, "%s: %zu items; at most %d are allowed", lists[i], n,
                        SPEC_WORDS_MAX);
    }
    return 0;
}

int add_read_codex(struct config *c, struct span json, const struct add_request *beside,
                   struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct json_out o = json_out(&text);
    struct json servers;
    int rc = json_parse(&doc, json, NULL, err);

    if (rc < 0)
        return rc;
    servers = json_get(json_root(&doc), "mcp_servers");
    json_begin_object(&o, NULL);
    json_begin_object(&o, "mcpServers");
    JSON_FOREACH(m, servers) {
        struct codex_writer w = { .o = &o, .entry = m, .arena = &a };
        const char *name = arena_dup(&a, json_key_str(m, &a));

        if (!json_is(m, JSON_OBJECT))
            return fail(err, PB_E_INVALID, "mcp_servers.%s: expected a table", name);
        if (check_lengths(m, err) < 0)
            return fail_in(err, "mcp_servers.%s", name);
        put_entry(&w, name);
    }
    json_end(&o);
    json_end(&o);
    if (!json_len(servers))
        return fail(err, PB_E_INVALID,
                    "it names no server; [mcp_servers.NAME] with command or url does");
    return add_read_json(c, buf_cstr(&text), beside, err);
}
