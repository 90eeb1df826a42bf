/* add_paste.c - what people paste where a server is to be added: a command line, a URL, a package,
 * or the JSON of any client, whole or in part. */
#include "add.h"
#include "add_parts.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"

static const char expected[] =
    "expected a command such as 'npx -y @scope/name', a URL, or JSON such as "
    "{\"mcpServers\":{\"name\":{\"command\":…}}}";

/* ---- the text ---- */

/* Between the fences of Markdown, if there are any. */
static struct span without_fence(struct span text)
{
    const char *end;

    if (!span_starts(text, "```"))
        return text;
    end = memchr(text.p, '\n', text.n);
    if (!end)
        return text;
    text = span_from(text, (size_t)(end + 1 - text.p));
    end = memmem(text.p, text.n, "```", 3);
    return span_trim(span_make(text.p, end ? (size_t)(end - text.p) : text.n));
}

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

    for (*p++ = ' '; *p && !(line && *p == '\n'); p++) {
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

static void name_itself(struct buf *out, const struct spec *s)
{
    AUTO_ARENA struct arena a = { 0 };
    const char **words;
    size_t n = 0;

    if (s->url) {
        add_name_url(out, s->url);
        return;
    }
    while (s->args[n])
        n++;
    words = arena_alloc(&a, (n + 2) * sizeof *words);
    words[0] = s->command;
    memcpy(words + 1, s->args, n * sizeof *words);
    add_name_command(out, words);
}

/* `said` is what the entry calls itself, or empty. */
static void set_name(struct spec *s, struct span said)
{
    AUTO_BUF struct buf slug = { 0 };
    bool titled = strcmp(s->display_name, s->name) != 0;

    if (said.n)
        spec_slug(&slug, said);
    else
        name_itself(&slug, s);
    s->name = arena_dup(&s->arena, buf_span(&slug));
    if (!titled)
        s->display_name = said.n ? arena_dup(&s->arena, said) : s->name;
}

/* {"command":…}: the entry alone. */
static int read_bare(struct config *c, struct json entry, struct pb_error *err)
{
    AUTO_ARENA struct arena a = { 0 };
    struct spec *s;
    int rc = spec_parse(&s, "server", json_text(entry), false, &as_written, err);

    if (rc < 0)
        return rc;
    set_name(s, json_str(json_get(entry, "name"), &a));
    map_put(&c->specs, span_of(s->name), s);
    return 0;
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

static int read_root(struct config *c, struct json root, struct pb_error *err)
{
    bool found = false;
    int rc;

    if (json_is(root, JSON_ARRAY))
        return read_as(c, "mcps", root, err);
    if (!json_is(root, JSON_OBJECT))
        return fail(err, PB_E_INVALID, "this is %s; %s", json_type_phrase(root), expected);
    if (is_bare(root))
        return read_bare(c, root, err);
    rc = read_known(c, root, &found, err);
    if (rc == 0 && !found && holds_objects(root))
        rc = read_as(c, "mcpServers", root, err);
    if (rc == 0 && !c->specs.n)
        rc = fail(err, PB_E_INVALID, "no server is named here; %s", expected);
    return rc;
}

static int read_json(struct config *c, char *text, struct pb_error *err)
{
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
    return read_root(c, json_root(&doc), err);
}

/* ---- logins ---- */

/* Which login it wants, and by which variables, unless it says so itself. */
static void resolve_login(struct spec *s)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *const *names;
    struct spec_env_var *vars;
    size_t n = 0;

    if (s->auth == SPEC_AUTH_NONE)
        s->auth = add_detect_auth(s->args, s->env, s->headers);
    if (s->auth != SPEC_AUTH_API_KEY || s->env_vars[0].name)
        return;
    names = add_secret_names(&a, s->args, s->env, s->headers);
    while (names[n])
        n++;
    vars = arena_alloc(&s->arena, (n + 1) * sizeof *vars);
    for (size_t i = 0; i < n; i++)
        vars[i] = (struct spec_env_var){ arena_dup(&s->arena, span_of(names[i])), true };
    s->env_vars = vars;
}

static int read_line(struct config *c, const char *text, struct pb_error *err)
{
    struct spec *s;
    int rc = add_parse_line(&s, text, NULL, err);

    if (rc < 0)
        return rc;
    s->package = SPEC_PACKAGE_NONE; /* what it needs is in the command */
    map_put(&c->specs, span_of(s->name), s);
    return 0;
}

int add_paste(struct config **out, const char *text, struct pb_error *err)
{
    AUTO(config) struct config *c = config_new();
    struct span inside = without_fence(span_trim(span_of(text)));
    AUTO_FREE char *copy = mem_dupn(inside.p ? inside.p : "", inside.n);
    struct map_slot *slot;
    bool json = *copy == '{' || *copy == '[' || is_fragment(copy) || strncmp(copy, "//", 2) == 0 ||
                strncmp(copy, "/*", 2) == 0;
    int rc = json ? read_json(c, copy, err) : read_line(c, copy, err);

    if (rc < 0)
        return rc;
    MAP_FOREACH(slot, &c->specs)
        resolve_login(slot->value);
    *out = TAKE(c);
    return 0;
}
