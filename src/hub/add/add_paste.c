/* add_paste.c - what people paste where a server is to be added, told apart: command lines, links,
 * JSON, TOML. */
#include "add_parts.h"
#include "toml.h"

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

/* ---- TOML ---- */

static bool is_key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("_-.\"'", c);
}

/* Behind blank lines and those with a comment, which shells know, too. */
static const char *first_line(const char *p)
{
    for (;;) {
        p += strspn(p, " \t\r\n");
        if (*p != '#')
            return p;
        p += strcspn(p, "\n");
    }
}

/* "[mcp_servers.x]"; or "mcp_servers.x.command = …", where a shell would see a command. JSON has no
 * letter behind '['. */
static bool is_toml(const char *text)
{
    const char *p = first_line(text), *end = p;

    if (*p == '[')
        return (p[1] >= 'a' && p[1] <= 'z') || p[1] == '_' || p[1] == '[';
    while (*end && is_key_char(*end))
        end++;
    return end > p && end[strspn(end, " \t")] == '=' && strstr(text, "mcp_servers");
}

static int read_toml(struct config *c, const char *text, const struct add_request *beside,
                     struct pb_error *err)
{
    AUTO_BUF struct buf json = { 0 };
    int rc = toml_to_json(&json, span_of(text), err);

    if (rc == 0)
        rc = add_read_codex(c, buf_span(&json), beside, err);
    return rc < 0 ? fail_in(err, "this is TOML") : 0;
}

/* ---- lines ---- */

static int read_line(struct config *c, struct span text, const struct add_request *beside,
                     struct pb_error *err)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *const *words;
    int rc = add_split(&a, arena_dup(&a, text), &words, err);

    return rc < 0 ? rc : add_read_line(c, words, beside, err);
}

/* A line that adds a server ends where the next one begins: several may be pasted at once. All else
 * is one line, wherever it was broken. */
static int read_lines(struct config *c, const char *text, const struct add_request *beside,
                      struct pb_error *err)
{
    const char *from = first_line(text);
    int rc = 0;

    for (const char *p = from; rc == 0 && *p;) {
        p += strcspn(p, "\n");
        p += strspn(p, "\n");
        if (*p && !add_begins_text(p))
            continue;
        rc = read_line(c, span_make(from, (size_t)(p - from)), beside, err);
        from = p;
    }
    return rc == 0 && !*first_line(text) ? read_line(c, SPAN(""), beside, err) : rc;
}

/* ---- logins ---- */

/* Which login it wants, and by which variables, unless it says so itself. */
static void resolve_login(struct spec *s)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *const *names;
    struct spec_env_var *vars;
    size_t n;

    if (s->auth == SPEC_AUTH_NONE)
        s->auth = add_detect_auth(s->args, s->env, s->headers);
    if (s->auth != SPEC_AUTH_API_KEY || s->env_vars[0].name)
        return;
    names = add_secret_names(&a, s->args, s->env, s->headers);
    n = add_count(names);
    vars = arena_alloc(&s->arena, (n + 1) * sizeof *vars);
    for (size_t i = 0; i < n; i++)
        vars[i] = (struct spec_env_var){ arena_dup(&s->arena, span_of(names[i])), true };
    s->env_vars = vars;
}

/* ---- anything ---- */

/* *foreign: somebody else wrote it, for whoever pastes it; a command line is what people type, too.
 */
static int read_any(struct config *c, const char *text, const struct add_request *beside,
                    bool *foreign, struct pb_error *err)
{
    struct span inside = without_fence(span_trim(span_of(text)));
    AUTO_FREE char *copy = mem_dupn(inside.p ? inside.p : "", inside.n);
    bool link = false;
    int rc;

    *foreign = true;
    if (strlen(text) > ADD_TEXT_MAX)
        return fail(err, PB_E_LIMIT, "a text may have at most %d bytes", ADD_TEXT_MAX);
    rc = add_read_link(c, span_of(copy), beside, &link, err);
    if (rc < 0 || link)
        return rc;
    if (is_toml(copy))
        return read_toml(c, copy, beside, err);
    if (add_is_json(copy))
        return add_read_json(c, copy, beside, err);
    *foreign = false;
    return read_lines(c, copy, beside, err);
}

/* What was typed or pasted may be anything, and is quoted in what is said about it. */
static int printable(int rc, struct pb_error *err)
{
    if (err)
        text_make_printable(err->msg);
    return rc;
}

int add_paste(struct config **out, const char *text, const struct add_request *beside,
              struct pb_error *err)
{
    AUTO(config) struct config *c = config_new();
    struct map_slot *slot;
    bool foreign;
    int rc = read_any(c, text, beside, &foreign, err);

    if (rc < 0)
        return printable(rc, err);
    MAP_FOREACH(slot, &c->specs)
        resolve_login(slot->value);
    rc = add_check_saved(c, err);
    if (rc < 0)
        return printable(rc, err);
    *out = TAKE(c);
    return 0;
}

static bool is_text(const char *word)
{
    bool link = strncmp(word, "cursor:", 7) == 0 || strncmp(word, "vscode", 6) == 0 ||
                strstr(word, "/install-mcp?") || strstr(word, "vscode.dev/redirect");

    return word[strcspn(word, " \t\r\n")] || link || add_is_json(word) || is_toml(word);
}

static int read_typed(struct config *c, const struct add_request *r, struct pb_error *err)
{
    struct spec *s;
    int rc = add_parse(&s, r, err);

    return rc < 0 ? rc : add_put(c, s, err);
}

int add_read(struct config **out, const struct add_request *r, struct pb_error *err)
{
    AUTO(config) struct config *c = config_new();
    const char *const *w = r->words;
    struct add_request named = *r;
    struct map_slot *slot;
    bool foreign = false;
    int rc;

    if (!w || !w[0] || r->command) {
        rc = read_typed(c, r, err);
    } else if (add_begins_line(w)) {
        rc = add_read_line(c, w, r, err);
    } else if (!w[1] && is_text(w[0])) {
        rc = read_any(c, w[0], r, &foreign, err);
    } else if (w[1] && !w[2] && !r->name && w[1][0] == '{') {
        named.name = w[0];
        rc = add_read_json(c, w[1], &named, err);
    } else {
        rc = read_typed(c, r, err);
    }
    if (rc == 0)
        rc = add_check_saved(c, err);
    if (rc < 0)
        return printable(rc, err);
    MAP_FOREACH(slot, &c->specs)
        if (foreign)
            ((struct spec *)slot->value)->origin = SPEC_ORIGIN_IMPORT;
    *out = TAKE(c);
    return 0;
}
