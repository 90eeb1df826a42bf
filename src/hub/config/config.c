#include "config.h"
#include "config_entry.h"
#include "hub/spec/spec.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

/* ---- Life ---------------------------------------------------------------------------------- */

struct config *config_new(void)
{
    struct config *c = NEW(struct config);

    c->modes = mode_set_new();
    settings_init(&c->settings);
    return c;
}

void config_free(struct config *c)
{
    struct map_slot *slot;

    if (!c)
        return;
    MAP_FOREACH(slot, &c->specs)
        spec_unref(slot->value);
    map_done(&c->specs);
    MAP_FOREACH(slot, &c->hidden)
        spec_unref(slot->value);
    map_done(&c->hidden);
    mode_set_unref(c->modes);
    settings_done(&c->settings);
    free(c->policy);
    free(c->policy_at);
    for (size_t i = 0; i < c->n_files; i++)
        free(c->files[i].path);
    free(c->files);
    for (size_t i = 0; i < c->n_warnings; i++)
        free(c->warnings[i]);
    free(c->warnings);
    free(c);
}

static bool has_server(const void *ctx, const struct item_name *i)
{
    const struct config *c = ctx;

    return map_get(&c->specs, i->server) != NULL;
}

struct spec *config_spec_of(const struct config *c, const char *item, struct span *own)
{
    struct item_name i;

    if (!item_split(&i, span_of(item), has_server, c))
        return NULL;
    if (own)
        *own = i.own;
    return map_get(&c->specs, i.server);
}

void config_warn(struct config *c, const char *text)
{
    if (c->n_warnings >= CONFIG_WARNINGS_MAX)
        return;
    if (c->n_warnings == CONFIG_WARNINGS_MAX - 1)
        text = "there are more warnings than are shown";
    c->warnings = mem_resize(c->warnings, (c->n_warnings + 1) * sizeof *c->warnings);
    c->warnings[c->n_warnings++] = mem_dup(text);
}

static struct config_file *add_file(struct config *c, const char *path)
{
    struct config_file *f;

    c->files = mem_resize(c->files, (c->n_files + 1) * sizeof *c->files);
    f = &c->files[c->n_files++];
    *f = (struct config_file){ .path = mem_dup(path) };
    return f;
}

int config_put(struct config *c, struct spec *s, struct pb_error *err)
{
    if (c->specs.n >= HUB_SERVERS_MAX && !map_get(&c->specs, span_of(s->name))) {
        spec_unref(s);
        return fail(err, PB_E_LIMIT, "more than %d servers", HUB_SERVERS_MAX);
    }
    spec_unref(map_put(&c->specs, span_of(s->name), s));
    return 0;
}

/* ---- One file's text ----------------------------------------------------------------------- */

struct config_reading {
    struct config_source source;
    struct map names; /* taken by this file: name -> anything */
    struct map tails; /* what slugs begin with -> the number that one of them got last */
    unsigned shapes;
    bool strict; /* "servers" is S4's and not VS Code's */
};

/* A name that this file has not used yet: the slug, or the slug with a number behind it. Slugs that
 * differ only where a number takes the place of their end count together, so that no number is
 * tried twice. */
static void unused_slug(struct config_reading *rd, struct span text, struct buf *out)
{
    AUTO_FREE char *stem = NULL;
    uintptr_t last = 0;
    size_t n;

    spec_slug(out, text);
    n = out->n < CONFIG_STEM_MAX ? out->n : CONFIG_STEM_MAX;
    if (!map_get(&rd->names, buf_span(out)))
        return;
    stem = mem_dupn(out->p, n);
    last = (uintptr_t)map_get(&rd->tails, span_of(stem));
    if (!last)
        last = 1;
    do {
        out->n = n;
        buf_printf(out, "-%u", (unsigned)++last);
    } while (map_get(&rd->names, buf_span(out)));
    map_put(&rd->tails, span_of(stem), (void *)last);
}

static int read_entry(struct config_reading *rd, struct config_entry *e, struct span name,
                      const char *display)
{
    AUTO_FREE char *terminated = mem_dupn(name.p, name.n);
    int rc = entry_read(e, terminated);

    if (rc < 0) {
        spec_unref(e->spec);
        return rc;
    }
    if (display && !e->said_name)
        e->spec->display_name = arena_dup(&e->spec->arena, span_of(display));
    map_put(&rd->names, name, rd);
    rc = config_put(rd->source.config, e->spec, rd->source.err);
    if (rc < 0)
        return source_fail(&rd->source, e->value, e->where, (enum pb_code) - rc,
                           "there are too many servers");
    return 0;
}

/* Members of an object: the key is the name. What other programs allow in names is not an error;
 * the server gets one that fits, and keeps what it was called for people to see. */
static int read_named(struct config_reading *rd, const char *shape, struct json v, bool strict)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf where = { 0 }, slug = { 0 };
    struct config_entry e = { .source = &rd->source, .strict = strict, .value = v };
    struct span name = json_key_str(v, &a);
    char shown[SHOWN_MAX + 1];
    struct pb_error bad;

    show_head(shown, name, HUB_NAME_MAX);
    buf_printf(&where, "%s.%s", shape, shown);
    e.where = buf_cstr(&where);
    if (spec_check_name(name, &bad) == 0) {
        if (map_get(&rd->names, name))
            entry_warn(&e, v, NULL, "takes the place of a server of this name above");
        return read_entry(rd, &e, name, NULL);
    }
    if (strict || !name.n)
        return source_fail(&rd->source, v, shape, PB_E_INVALID, bad.msg);
    unused_slug(rd, name, &slug);
    entry_warn(&e, v, NULL, "is called \"%s\" here: %s", buf_cstr(&slug),
               span_is(name, SPEC_OWN) ? "the name is that of Patchbay's own tools"
                                       : "names have only letters, digits, '_' and '-'");
    return read_entry(rd, &e, buf_span(&slug), arena_dup(&a, name));
}

static int read_object(struct config_reading *rd, const char *shape, struct json v)
{
    bool strict = rd->strict && !strcmp(shape, "servers");

    if (!json_is(v, JSON_OBJECT)) {
        AUTO_BUF struct buf text = { 0 };

        buf_printf(&text, "expected an object of servers by name, got %s", json_type_phrase(v));
        return source_fail(&rd->source, v, shape, PB_E_INVALID, buf_cstr(&text));
    }
    JSON_FOREACH(m, v) {
        int rc = read_named(rd, shape, m, strict);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* S1 has a free name for people; a display_name beside it means that the name is ours. */
static int read_mcps_entry(struct config_reading *rd, struct json v, size_t i)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf slug = { 0 };
    char where[32];
    struct config_entry e = { .source = &rd->source, .where = where, .mcps = true, .value = v };
    const char *name = json_cstr(json_get(v, "name"), &a);

    snprintf(where, sizeof where, "mcps[%zu]", i);
    if (!json_is(v, JSON_OBJECT))
        return entry_fail_type(&e, v, NULL, "an object");
    if (!name || !*name || strlen(name) > CONFIG_VALUE_MAX)
        return entry_fail(&e, v, "name", "expected a string that is not empty");
    if (json_is(json_get(v, "display_name"), JSON_STRING) &&
        spec_check_name(span_of(name), NULL) == 0 && !map_get(&rd->names, span_of(name)))
        return read_entry(rd, &e, span_of(name), name);
    unused_slug(rd, span_of(name), &slug);
    return read_entry(rd, &e, buf_span(&slug), name);
}

static int read_list(struct config_reading *rd, const char *shape, struct json v)
{
    size_t i = 0;

    if (!json_is(v, JSON_ARRAY)) {
        AUTO_BUF struct buf text = { 0 };

        buf_printf(&text, "expected an array of servers, got %s", json_type_phrase(v));
        return source_fail(&rd->source, v, shape, PB_E_INVALID, buf_cstr(&text));
    }
    JSON_FOREACH(m, v) {
        int rc = read_mcps_entry(rd, m, i++);

        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_modes(struct config_reading *rd, const char *shape, struct json v)
{
    AUTO_ARENA struct arena a = { 0 };

    if (!json_is(v, JSON_OBJECT))
        return source_fail(&rd->source, v, shape, PB_E_INVALID,
                           "expected an object of modes by id");
    JSON_FOREACH(m, v) {
        struct span id = json_key_str(m, &a);
        AUTO_BUF struct buf where = { 0 };
        char shown[SHOWN_MAX + 1];
        struct pb_error bad = { 0 };
        int rc = mode_set_add(rd->source.config->modes, id, m, &bad);

        show_head(shown, id, 40);
        buf_printf(&where, "%s.%s", shape, shown);
        if (rc < 0)
            return source_fail(&rd->source, m, buf_cstr(&where), bad.code, bad.msg);
    }
    return 0;
}

/* A setting that an older program does not know is no reason not to start. */
static int read_settings(struct config_reading *rd, const char *shape, struct json v)
{
    AUTO_ARENA struct arena a = { 0 };

    if (!json_is(v, JSON_OBJECT))
        return source_fail(&rd->source, v, shape, PB_E_INVALID, "expected an object");
    JSON_FOREACH(m, v) {
        struct span name = json_key_str(m, &a);
        AUTO_BUF struct buf where = { 0 };
        char shown[SHOWN_MAX + 1];
        struct pb_error bad = { 0 };
        int rc = settings_set(&rd->source.config->settings, name, m, &bad);

        show_head(shown, name, 40);
        buf_printf(&where, "%s.%s", shape, shown);
        if (rc == -(int)PB_E_NOT_FOUND)
            source_warn(&rd->source, m, buf_cstr(&where), "unknown, ignoring");
        else if (rc < 0)
            return source_fail(&rd->source, m, buf_cstr(&where), bad.code, bad.msg);
    }
    return 0;
}

/* What it means is none of our business; of several files the last that has one counts. */
static int read_policy(struct config_reading *rd, const char *shape, struct json v)
{
    struct config *c = rd->source.config;
    AUTO_BUF struct buf at = { 0 };
    struct span text = json_text(v);

    if (!json_is(v, JSON_OBJECT))
        return source_fail(&rd->source, v, shape, PB_E_INVALID, "expected an object");
    if (rd->source.path)
        buf_printf(&at, "%s:%u: ", rd->source.path, source_line(&rd->source, v));
    free(c->policy);
    free(c->policy_at);
    c->policy = mem_dupn(text.p, text.n);
    buf_str(&at, shape);
    c->policy_at = buf_take(&at);
    return 0;
}

static const struct top {
    const char *key;
    int (*read)(struct config_reading *rd, const char *shape, struct json v);
    unsigned shape;
} tops[] = {
    { "mcpServers", read_object, CONFIG_MCP_SERVERS },
    { "mcp_servers", read_object, CONFIG_MCP_SERVERS_SNAKE },
    { "mcps", read_list, CONFIG_MCPS },
    { "modes", read_modes, 0 },
    { "policy", read_policy, 0 },
    { "servers", read_object, CONFIG_SERVERS },
    { "settings", read_settings, 0 },
};

static int read_top(struct config_reading *rd, struct json v)
{
    static const char *const shapes[] = { "mcpServers", "mcp_servers", "mcps", "servers", NULL };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(tops); i++) {
        if (!json_key_is(v, tops[i].key))
            continue;
        if (json_is(v, JSON_NULL))
            return 0;
        if (!tops[i].shape && rd->source.r && rd->source.r->servers_only) {
            source_warn(&rd->source, v, tops[i].key, "a project has only servers, ignoring");
            return 0;
        }
        rd->shapes |= tops[i].shape;
        return tops[i].read(rd, tops[i].key, v);
    }
    /* Settings that we do not know are fine; a list of servers that nobody reads is not. */
    if (!json_is(v, JSON_OBJECT) && !json_is(v, JSON_ARRAY))
        return 0;
    buf_str(&text, "unknown, ignoring");
    if (near_write_of(&text, json_key_str(v, &a), shapes)) {
        char shown[SHOWN_MAX + 1];

        show_head(shown, json_key_str(v, &a), 40);
        source_warn(&rd->source, v, shown, buf_cstr(&text));
    }
    return 0;
}

/* VS Code has the same root key as S4, but "inputs" beside it or "type" inside. */
static bool is_vscode(struct json root)
{
    struct json servers = json_get(root, "servers");

    if (!json_is(json_get(root, "inputs"), JSON_NONE))
        return true;
    if (json_is(servers, JSON_OBJECT))
        JSON_FOREACH(m, servers)
            if (json_is(m, JSON_OBJECT) && !json_is(json_get(m, "type"), JSON_NONE))
                return true;
    return false;
}

/* Where the first comment begins; text.n if there is none. */
static size_t find_comment(struct span text)
{
    bool string = false;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (string && c == '\\')
            i++;
        else if (c == '"')
            string = !string;
        else if (!string && (c == '#' || (c == '/' && i + 1 < text.n &&
                                          (text.p[i + 1] == '/' || text.p[i + 1] == '*'))))
            return i;
    }
    return text.n;
}

/* Says so when what the parser stumbled over is a comment. */
static int fail_syntax(const char *path, struct span text, struct pb_error *err)
{
    char shown[SHOWN_MAX + 1], place[64];
    size_t comment = find_comment(text);
    unsigned line, column;

    if (!err)
        return -PB_E_INVALID;
    if (!path)
        return -(int)err->code;
    show_tail(shown, path);
    json_position(text, comment, &line, &column);
    snprintf(place, sizeof place, "line %u, column %u: ", line, column);
    if (comment < text.n && !strncmp(err->msg, place, strlen(place)))
        return fail(err, PB_E_INVALID, "%s: %scomments are not allowed; this file is strict JSON",
                    shown, place);
    return fail_in(err, "%s", shown);
}

int config_parse(struct config *c, const char *path, struct span text,
                 const struct config_request *r, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_opts opts = { .unique_depth = JSON_ALL };
    struct config_reading rd = { .source = { path, text, r, c, err, 0, 0 } };
    int rc = 0;

    if (text.n > CONFIG_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "%s: larger than %d bytes", path ? path : "the config",
                    CONFIG_BYTES_MAX);
    if (json_parse(&doc, text, &opts, err) < 0)
        return fail_syntax(path, text, err);
    if (!json_is(json_root(&doc), JSON_OBJECT))
        return source_fail(&rd.source, json_root(&doc), NULL, PB_E_INVALID,
                           "expected an object such as {\"mcpServers\":{}}");
    rd.strict = !is_vscode(json_root(&doc));
    JSON_FOREACH(v, json_root(&doc)) {
        rc = read_top(&rd, v);
        if (rc < 0)
            break;
    }
    map_done(&rd.names);
    map_done(&rd.tails);
    if (rc == 0 && path)
        add_file(c, path)->shapes = rd.shapes;
    return rc;
}

/* ---- All of them --------------------------------------------------------------------------- */

/* Whoever can write it has commands run in our name. */
const char *config_writers(const struct stat *st)
{
    if (st->st_uid != geteuid() && st->st_uid != 0)
        return "this file is another user's, who can have any program run here";
    if ((st->st_mode & 002) || ((st->st_mode & 020) && st->st_gid != getegid()))
        return "others can write this file, and so have any program run here: chmod go-w it";
    return NULL;
}

static void check_owner(struct config *c, int fd, const char *path)
{
    AUTO_BUF struct buf text = { 0 };
    char shown[SHOWN_MAX + 1];
    const char *why;
    struct stat st;

    if (fstat(fd, &st) < 0 || !(why = config_writers(&st)))
        return;
    show_tail(shown, path);
    buf_printf(&text, "%s: %s", shown, why);
    config_warn(c, buf_cstr(&text));
}

static int read_file(struct config *c, const char *path, struct buf *out, struct pb_error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    char shown[SHOWN_MAX + 1];
    ssize_t n;

    show_tail(shown, path);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return fail(err, PB_E_NOT_FOUND, "%s: there is no such config file", shown);
    if (fd < 0)
        return fail_sys(err, errno, "%s: cannot open this config file", shown);
    check_owner(c, fd, path);
    do {
        n = read(fd, buf_reserve(out, STREAM_READ_BYTES), STREAM_READ_BYTES);
        if (n < 0 && errno != EINTR)
            return fail_sys(err, errno, "%s: cannot read this config file", shown);
        out->n += n > 0 ? (size_t)n : 0;
        if (out->n > CONFIG_BYTES_MAX)
            return fail(err, PB_E_LIMIT, "%s: larger than %d bytes", shown, CONFIG_BYTES_MAX);
    } while (n != 0);
    return 0;
}

static int load_file(struct config *c, const char *path, bool must_exist,
                     const struct config_request *r, struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };
    struct pb_error why = { 0 };
    int rc = read_file(c, path, &text, &why);

    if (rc == -PB_E_NOT_FOUND && !must_exist) {
        add_file(c, path)->missing = true;
        return 0;
    }
    if (rc < 0)
        return fail_copy(err, &why);
    return config_parse(c, path, buf_span(&text), r, err);
}

static int load_files(struct config *c, const struct config_request *r, struct pb_error *err)
{
    AUTO_FREE char *home = config_home(r), *clients = config_clients_path(r);
    AUTO_BUF struct buf own = { 0 };
    int rc = 0;

    for (const char *const *f = r->files; rc == 0 && f && *f; f++)
        rc = load_file(c, *f, true, r, err);
    if (rc == 0 && !r->no_home && (!r->files || !r->files[0])) {
        buf_printf(&own, "%s/config.json", home);
        rc = load_file(c, buf_cstr(&own), false, r, err);
    }
    if (rc == 0 && r->clients)
        rc = load_file(c, clients, false, r, err);
    if (rc == 0 && r->clients_file)
        rc = load_file(c, r->clients_file, true, r, err);
    return rc;
}

int config_load(struct config **out, const struct config_request *r, struct pb_error *err)
{
    AUTO(config) struct config *c = config_new();
    int rc = load_files(c, r, err);

    if (rc == 0 && r->project)
        rc = config_take_project(c, r->project, err);
    for (const char *const *text = r->inlines; rc == 0 && text && *text; text++) {
        struct spec *s;

        rc = config_inline(&s, *text, err);
        if (rc == 0)
            rc = config_put(c, s, err);
    }
    if (rc == 0)
        *out = TAKE(c);
    return rc;
}
