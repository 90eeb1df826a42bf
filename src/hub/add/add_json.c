/* add_json.c - the JSON of any client, whole or in part. */
#include "add_parts.h"

static const char expected[] =
    "expected a command such as 'npx -y @scope/name', a URL, or JSON such as "
    "{\"mcpServers\":{\"name\":{\"command\":…}}}";

static char *skip_string(char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p ? p + 1 : p;
}

/* Blanks out a comment that begins at p; where it ends. */
static char *blank_comment(char *p)
{
    bool line = p[1] == '/';

    p[0] = p[1] = ' '; /* both: the star that begins it does not end it */
    for (p += 2; *p && !(line && *p == '\n'); p++) {
        bool end = !line && p[0] == '*' && p[1] == '/';

        if (*p != '\n')
            *p = ' ';
        if (end) {
            p[1] = ' ';
            return p + 2;
        }
    }
    return p;
}

/* Editors allow comments and a comma behind the last member; blanks stand for them from now on, so
 * that places in messages stay right. */
static void loosen(char *p)
{
    char *comma = NULL;

    while (*p) {
        if (*p == '/' && (p[1] == '/' || p[1] == '*')) {
            p = blank_comment(p);
            continue;
        }
        if (comma && (*p == '}' || *p == ']'))
            *comma = ' ';
        if (!strchr(" \t\r\n", *p))
            comma = *p == ',' ? p : NULL;
        p = *p == '"' ? skip_string(p) : p + 1;
    }
    if (comma)
        *comma = ' ';
}

/* "name": {…} without the braces around it, as it is copied out of the middle of a file. */
static bool is_fragment(char *text)
{
    const char *p = *text == '"' ? skip_string(text) : text;

    return p > text && p[strspn(p, " \t\r\n")] == ':';
}

/* ---- what the JSON is ---- */

static const struct config_request as_written = { .env = config_no_env };

/* `said` is what the entry calls itself, or empty. */
static void set_name(struct spec *s, struct span said, const struct add_request *beside)
{
    AUTO_BUF struct buf slug = { 0 };
    bool titled = strcmp(s->display_name, s->name) != 0;

    if (!said.n) {
        add_name_itself(s, beside);
        return;
    }
    spec_slug(&slug, said);
    s->name = arena_dup(&s->arena, buf_span(&slug));
    if (!titled)
        s->display_name = arena_dup(&s->arena, said);
}

/* {"command":…}: the entry alone. */
static int read_bare(struct config *c, struct json entry, const struct add_request *beside,
                     struct pb_error *err)
{
    AUTO_ARENA struct arena a = { 0 };
    struct spec *s;
    int rc = spec_parse(&s, "server", json_text(entry), false, &as_written, err);

    if (rc < 0)
        return rc;
    add_run_here(s, beside);
    set_name(s, json_str(json_get(entry, "name"), &a), beside);
    return add_put(c, s, err);
}

static bool is_bare(struct json v)
{
    static const char *const keys[] = { "command", "httpUrl", "package", "serverUrl", "url" };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct json member = json_get(v, keys[i]);
        bool package = strcmp(keys[i], "package") == 0;

        if (!json_is(member, JSON_NONE) && json_is(member, JSON_OBJECT) == package)
            return true;
    }
    return false;
}

/* As one of the shapes that config files have. */
static int read_as(struct config *c, const char *shape, struct json v, struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };
    struct json_out o = json_out(&text);

    json_begin_object(&o, NULL);
    json_put_raw(&o, shape, json_text(v));
    json_end(&o);
    return config_parse(c, NULL, buf_span(&text), &as_written, err);
}

static bool holds_objects(struct json v)
{
    JSON_FOREACH(m, v)
        if (!json_is(m, JSON_OBJECT))
            return false;
    return json_len(v) > 0;
}

/* Where clients keep their servers; "mcp" holds them itself or has "servers" in it. */
static struct json known_place(struct json root, const char *key)
{
    struct json v = json_get(root, key), inner;

    if (strcmp(key, "mcp") != 0 || !json_is(v, JSON_OBJECT))
        return v;
    inner = json_get(v, "servers");
    return json_is(inner, JSON_OBJECT) ? inner : v;
}

/* *found: there is one. */
static int read_known(struct config *c, struct json root, bool *found, struct pb_error *err)
{
    static const char *const keys[] = {
        "mcpServers", "mcp_servers", "servers", "context_servers", "amp.mcpServers", "mcp", "mcps"
    };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        struct json v = known_place(root, keys[i]);
        const char *shape = strcmp(keys[i], "mcps") == 0 ? "mcps" : "mcpServers";
        int rc = json_is(v, JSON_NONE) ? 0 : read_as(c, shape, v, err);

        if (rc < 0)
            return rc;
        *found |= !json_is(v, JSON_NONE);
    }
    return 0;
}

static int read_root(struct config *c, struct json root, const struct add_request *beside,
                     struct pb_error *err)
{
    bool found = false;
    int rc;

    if (json_is(root, JSON_ARRAY) && json_len(root))
        return read_as(c, "mcps", root, err);
    if (!json_is(root, JSON_OBJECT) && !json_is(root, JSON_ARRAY))
        return fail(err, PB_E_INVALID, "this is %s; %s", json_type_phrase(root), expected);
    if (is_bare(root))
        return read_bare(c, root, beside, err);
    rc = read_known(c, root, &found, err);
    if (rc == 0 && !found && holds_objects(root))
        rc = read_as(c, "mcpServers", root, err);
    if (rc == 0 && !c->specs.n)
        rc = fail(err, PB_E_INVALID, "no server is named here; %s", expected);
    return rc;
}

int add_read_json(struct config *c, const char *given, const struct add_request *beside,
                  struct pb_error *err)
{
    AUTO_FREE char *text = mem_dup(given);
    AUTO(config) struct config *mine = config_new();
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf whole = { 0 };
    int rc;

    loosen(text);
    if (is_fragment(text))
        buf_printf(&whole, "{%s}", text);
    else
        buf_str(&whole, text);
    rc = json_parse(&doc, buf_span(&whole), &(struct json_opts){ .unique_depth = JSON_ALL }, err);
    if (rc < 0)
        return fail_in(err, "the JSON is wrong");
    rc = read_root(mine, json_root(&doc), beside, err);
    if (rc == 0)
        rc = add_take_beside(mine, beside, err);
    return rc < 0 ? rc : add_move(c, mine, err);
}

bool add_is_json(const char *text)
{
    AUTO_FREE char *copy = mem_dup(text);

    return *copy == '{' || *copy == '[' || is_fragment(copy) || strncmp(copy, "//", 2) == 0 ||
           strncmp(copy, "/*", 2) == 0;
}
