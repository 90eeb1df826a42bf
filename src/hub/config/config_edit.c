#include "config_edit.h"
#include "config_edit_file.h"
#include "config_edit_text.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"

/* The shapes in which a file names servers; the first is the one we write. */
static const char *const shapes[] = { "mcpServers", "servers", "mcp_servers", "mcps" };

/* A server's entry and what it lies in; `entry` is JSON_NONE when there is none. */
struct entry_place {
    struct json container, entry;
};

/* "mcps" names its servers as people do; they are known by the slug of that. */
static bool is_named(struct json entry, const char *name)
{
    AUTO_ARENA struct arena arena = { 0 };
    AUTO_BUF struct buf slug = { 0 };
    struct span given = json_str(json_get(entry, "name"), &arena);

    if (!given.n)
        return false;
    if (span_is(given, name))
        return true;
    spec_slug(&slug, given);
    return span_is(buf_span(&slug), name);
}

static struct json entry_in(struct json container, const char *name)
{
    if (json_is(container, JSON_OBJECT))
        return json_get(container, name);
    if (json_is(container, JSON_ARRAY))
        JSON_FOREACH(entry, container)
            if (json_is(entry, JSON_OBJECT) && is_named(entry, name))
                return entry;
    return (struct json){ 0 };
}

/* The first entry at or after shape *from, which moves past it. */
static struct entry_place next_place(const struct edit_text *e, const char *name, size_t *from)
{
    while (*from < ARRAY_LEN(shapes)) {
        struct entry_place p = { .container = json_get(edit_text_root(e), shapes[(*from)++]) };

        p.entry = entry_in(p.container, name);
        if (!json_is(p.entry, JSON_NONE))
            return p;
    }
    return (struct entry_place){ 0 };
}

static struct entry_place find_place(const struct edit_text *e, const char *name)
{
    size_t from = 0;

    return next_place(e, name, &from);
}

static int wrong_type(const struct edit_text *e, struct json v, const char *key, const char *want,
                      struct pb_error *err)
{
    return fail(err, PB_E_INVALID, "%s:%u: %s: expected %s, got %s", e->path, edit_text_line(e, v),
                key, want, json_type_phrase(v));
}

/* The object under `key` of the root gets a member, and is made when it is missing. */
static int put_below(struct edit_text *e, const char *key, const char *name, struct span value,
                     struct pb_error *err)
{
    struct json object = json_get(edit_text_root(e), key);
    AUTO_BUF struct buf whole = { 0 };
    struct json_out o = json_out(&whole);

    if (json_is(object, JSON_OBJECT))
        return edit_text_put(e, object, name, value, err);
    if (!json_is(object, JSON_NONE))
        return wrong_type(e, object, key, "an object", err);
    json_begin_object(&o, NULL);
    json_put_raw(&o, name, value);
    json_end(&o);
    return edit_text_put(e, edit_text_root(e), key, buf_span(&whole), err);
}

/* What one change is told. */
struct change {
    const char *path, *name, *member, *text;
    const char *const *members;
    struct span value;
    struct span seen; /* what must be there; p NULL: anything */
    size_t number;
    bool on;
};
typedef int change_fn(struct edit_text *e, const struct change *c, struct pb_error *err);

/* Of the one thread that asked for it; in a daemon, where workers edit, nobody does. */
static struct config_edits edits;
static bool edits_noted;

void config_edits_begin(void)
{
    edits = (struct config_edits){ 0 };
    edits_noted = true;
}

const struct config_edits *config_edits(void) { return &edits; }

static void note_edit(const char *found, struct span written)
{
    if (!edits.n++)
        memcpy(edits.before, found, sizeof edits.before);
    else if (strcmp(edits.after, found) != 0)
        edits.mixed = true;
    sha256_hex(written, edits.after);
}

static int run_change(const struct change *c, bool make, change_fn *fn, struct pb_error *err)
{
    AUTO_EDIT_FILE struct edit_file file = EDIT_FILE_INIT;
    AUTO_EDIT struct edit_text e = { .path = c->path };
    char found[2 * SHA256_BYTES + 1] = "";
    int rc;

    rc = edit_file_open(&file, c->path, make, &e.text, err);
    if (rc == 0 && file.existed)
        sha256_hex(buf_span(&e.text), found);
    if (rc == 0)
        rc = edit_text_parse(&e, err);
    if (rc == 0)
        rc = fn(&e, c, err);
    if (rc == 0 && e.changed)
        rc = edit_file_replace(&file, buf_span(&e.text), err);
    if (rc == 0 && e.changed && edits_noted)
        note_edit(found, buf_span(&e.text));
    return rc;
}

int config_find_server(const char *path, const char *name, unsigned *line, struct pb_error *err)
{
    AUTO_EDIT struct edit_text e = { .path = path };
    struct entry_place p;
    int rc;

    rc = edit_file_read(path, &e.text, err);
    if (rc == 0)
        rc = edit_text_parse(&e, err);
    if (rc < 0)
        return rc;
    p = find_place(&e, name);
    if (json_is(p.entry, JSON_NONE))
        return fail(err, PB_E_NOT_FOUND, "there is no server '%s' in %s", name, path);
    *line = edit_text_line(&e, p.entry);
    return 0;
}

/* mcp_clients.json is the other file we know of, and it is never written. */
static int not_found(const struct change *c, struct pb_error *err)
{
    AUTO_FREE char *other = config_clients_path(NULL);
    unsigned line = 0;

    if (other && strcmp(other, c->path) != 0 &&
        config_find_server(other, c->name, &line, NULL) == 0)
        return fail(err, PB_E_NOT_FOUND,
                    "there is no server '%s' in %s: it is defined at %s:%u; edit it there", c->name,
                    c->path, other, line);
    return fail(err, PB_E_NOT_FOUND, "there is no server '%s' in %s", c->name, c->path);
}

static int save_server(struct edit_text *e, const struct change *c, struct pb_error *err)
{
    size_t from = 1;
    int rc = put_below(e, shapes[0], c->name, c->value, err);

    while (rc == 0) {
        struct entry_place p = next_place(e, c->name, &from);

        if (json_is(p.entry, JSON_NONE))
            break;
        rc = edit_text_drop(e, p.container, p.entry, err);
        from--; /* a list may name it again */
    }
    return rc;
}

int config_save_server(const char *path, const char *name, struct span entry, struct pb_error *err)
{
    struct change c = { .path = path, .name = name, .value = entry };

    return run_change(&c, true, save_server, err);
}

static int remove_server(struct edit_text *e, const struct change *c, struct pb_error *err)
{
    struct entry_place p = find_place(e, c->name);
    int rc = 0;

    if (json_is(p.entry, JSON_NONE))
        return not_found(c, err);
    while (rc == 0 && !json_is(p.entry, JSON_NONE)) {
        rc = edit_text_drop(e, p.container, p.entry, err);
        if (rc == 0)
            p = find_place(e, c->name);
    }
    return rc;
}

int config_remove_server(const char *path, const char *name, struct pb_error *err)
{
    struct change c = { .path = path, .name = name };

    return run_change(&c, false, remove_server, err);
}

static int set_in(struct edit_text *e, struct json object, const char *member, struct span value,
                  struct pb_error *err)
{
    struct json old = json_get(object, member);

    if (value.n)
        return edit_text_put(e, object, member, value, err);
    return json_is(old, JSON_NONE) ? 0 : edit_text_drop(e, object, old, err);
}

/* Runs `fn` on the entry in each shape that has one. */
static int each_entry(struct edit_text *e, const struct change *c,
                      int (*fn)(struct edit_text *, struct json, const struct change *,
                                struct pb_error *),
                      struct pb_error *err)
{
    struct entry_place p = find_place(e, c->name);
    size_t from = 0;

    if (json_is(p.entry, JSON_NONE))
        return not_found(c, err);
    for (;;) {
        int rc;

        p = next_place(e, c->name, &from);
        if (json_is(p.entry, JSON_NONE))
            return 0;
        if (!json_is(p.entry, JSON_OBJECT))
            return wrong_type(e, p.entry, c->name, "an object", err);
        rc = fn(e, p.entry, c, err);
        if (rc < 0)
            return rc;
    }
}

static int set_member_of(struct edit_text *e, struct json entry, const struct change *c,
                         struct pb_error *err)
{
    return set_in(e, entry, c->member, c->value, err);
}

static int set_member(struct edit_text *e, const struct change *c, struct pb_error *err)
{
    return each_entry(e, c, set_member_of, err);
}

int config_set_member(const char *path, const char *name, const char *member, struct span value,
                      struct pb_error *err)
{
    struct change c = { .path = path, .name = name, .member = member, .value = value };

    return run_change(&c, false, set_member, err);
}

static struct json item_of(struct json list, const char *text)
{
    JSON_FOREACH(item, list)
        if (json_str_is(item, text))
            return item;
    return (struct json){ 0 };
}

static int list_member_of(struct edit_text *e, struct json entry, const struct change *c,
                          struct pb_error *err)
{
    AUTO_BUF struct buf quoted = { 0 };
    const char *key = c->members[0];
    struct json list, item;

    for (const char *const *m = c->members; *m; m++)
        if (!json_is(json_get(entry, *m), JSON_NONE)) {
            key = *m;
            break;
        }
    list = json_get(entry, key);
    if (!json_is(list, JSON_NONE) && !json_is(list, JSON_ARRAY))
        return wrong_type(e, list, key, "an array", err);
    item = item_of(list, c->text);
    if (c->on == !json_is(item, JSON_NONE))
        return 0;
    if (!c->on)
        return json_len(list) == 1 ? edit_text_drop(e, entry, list, err)
                                   : edit_text_drop(e, list, item, err);
    json_quote(&quoted, span_of(c->text));
    if (json_is(list, JSON_ARRAY))
        return edit_text_put_item(e, list, item, buf_span(&quoted), err);
    {
        AUTO_BUF struct buf array = { 0 };

        buf_printf(&array, "[%s]", buf_cstr(&quoted));
        return edit_text_put(e, entry, key, buf_span(&array), err);
    }
}

static int list_member(struct edit_text *e, const struct change *c, struct pb_error *err)
{
    return each_entry(e, c, list_member_of, err);
}

int config_list_member(const char *path, const char *name, const char *const *members,
                       const char *text, bool on, struct pb_error *err)
{
    struct change c = { .path = path, .name = name, .members = members, .text = text, .on = on };

    return run_change(&c, false, list_member, err);
}

static struct json mode_in(struct json list, const char *id)
{
    JSON_FOREACH(mode, list)
        if (json_is(mode, JSON_OBJECT) && json_str_is(json_get(mode, "id"), id))
            return mode;
    return (struct json){ 0 };
}

/* As an element of a list a mode says its own id. */
static int put_mode_item(struct edit_text *e, struct json list, const struct change *c,
                         struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf whole = { 0 };
    struct json_out o = json_out(&whole);

    if (json_parse(&doc, c->value, NULL, err) < 0)
        return fail_in(err, "the mode '%s'", c->name);
    json_begin_object(&o, NULL);
    json_put_str(&o, "id", c->name);
    JSON_FOREACH(member, json_root(&doc))
        if (!json_key_is(member, "id")) {
            AUTO_ARENA struct arena arena = { 0 };

            json_put_raw_key(&o, json_key_str(member, &arena), json_text(member));
        }
    json_end(&o);
    return edit_text_put_item(e, list, mode_in(list, c->name), buf_span(&whole), err);
}

static int save_mode(struct edit_text *e, const struct change *c, struct pb_error *err)
{
    struct json modes = json_get(edit_text_root(e), "modes");
    bool list = json_is(modes, JSON_ARRAY);
    struct json old = list ? mode_in(modes, c->name) : json_get(modes, c->name);

    if (!c->value.n)
        return json_is(old, JSON_NONE) ? 0 : edit_text_drop(e, modes, old, err);
    if (list)
        return put_mode_item(e, modes, c, err);
    return put_below(e, "modes", c->name, c->value, err);
}

int config_save_mode(const char *path, const char *id, struct span mode, struct pb_error *err)
{
    struct change c = { .path = path, .name = id, .value = mode };

    return run_change(&c, mode.n > 0, save_mode, err);
}

static int set_setting(struct edit_text *e, const struct change *c, struct pb_error *err)
{
    struct json settings = json_get(edit_text_root(e), "settings");
    struct json old = json_get(settings, c->name);

    if (c->value.n)
        return put_below(e, "settings", c->name, c->value, err);
    return json_is(old, JSON_NONE) ? 0 : edit_text_drop(e, settings, old, err);
}

int config_set_setting(const char *path, const char *name, struct span value, struct pb_error *err)
{
    struct change c = { .path = path, .name = name, .value = value };

    return run_change(&c, value.n > 0, set_setting, err);
}

/* ---- rules ---- */

static int add_rule(struct edit_text *e, const struct change *c, struct pb_error *err)
{
    struct json policy = json_get(edit_text_root(e), "policy");
    struct json rules = json_is(policy, JSON_OBJECT) ? json_get(policy, "rules") : policy;
    AUTO_BUF struct buf list = { 0 };

    if (json_is(rules, JSON_ARRAY) && json_is(policy, JSON_OBJECT))
        return c->on ? edit_text_put_first(e, rules, c->value, err)
                     : edit_text_put_item(e, rules, (struct json){ 0 }, c->value, err);
    if (!json_is(rules, JSON_NONE))
        return json_is(policy, JSON_OBJECT) ? wrong_type(e, rules, "policy.rules", "an array", err)
                                            : wrong_type(e, policy, "policy", "an object", err);
    buf_byte(&list, '[');
    buf_add_span(&list, c->value);
    buf_byte(&list, ']');
    return put_below(e, "policy", "rules", buf_span(&list), err);
}

int config_add_rule(const char *path, struct span rule, bool first, struct pb_error *err)
{
    struct change c = { .path = path, .value = rule, .on = first };

    return run_change(&c, true, add_rule, err);
}

/* What is not there is as good as an empty object. */
static bool is_seen(const struct change *c, struct json v)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (!c->seen.p)
        return true;
    if (json_parse(&doc, c->seen, NULL, NULL) < 0)
        return false;
    return json_is(v, JSON_NONE) ? !json_len(json_root(&doc)) : json_equal(v, json_root(&doc));
}

static int remove_rule(struct edit_text *e, const struct change *c, struct pb_error *err)
{
    struct json policy = json_get(edit_text_root(e), "policy");
    struct json rules =
        json_is(policy, JSON_OBJECT) ? json_get(policy, "rules") : (struct json){ 0 };

    if (!json_is(rules, JSON_ARRAY) || !c->number || c->number > json_len(rules))
        return fail(err, PB_E_NOT_FOUND, "there is no rule %zu in %s", c->number, c->path);
    if (!is_seen(c, json_item(rules, c->number - 1)))
        return fail(err, PB_E_BUSY, "rule %zu in %s is another now: somebody has changed them",
                    c->number, c->path);
    return edit_text_drop(e, rules, json_item(rules, c->number - 1), err);
}

int config_remove_rule(const char *path, size_t number, struct span seen, struct pb_error *err)
{
    struct change c = { .path = path, .number = number, .seen = seen };

    return run_change(&c, false, remove_rule, err);
}

static int save_policy(struct edit_text *e, const struct change *c, struct pb_error *err)
{
    if (!is_seen(c, json_get(edit_text_root(e), "policy")))
        return fail(err, PB_E_BUSY,
                    "the rules in %s are not those that were looked at: somebody else has changed "
                    "them meanwhile, and nothing was saved",
                    c->path);
    return edit_text_put(e, edit_text_root(e), "policy", c->value, err);
}

int config_save_policy(const char *path, struct span policy, struct span seen, struct pb_error *err)
{
    struct change c = { .path = path, .value = policy, .seen = seen };

    return run_change(&c, true, save_policy, err);
}

/* Under which its keys lie; NULL: it has none. A file that cannot be read is somebody else's
 * complaint. */
static char *uuid_of(const char *path, const char *name)
{
    const char *files[] = { path, NULL };
    struct config_request r = { .files = files, .env = config_no_env };
    AUTO(config) struct config *c = NULL;
    const struct spec *s;

    if (config_load(&c, &r, NULL) < 0)
        return NULL;
    s = map_get(&c->specs, span_of(name));
    return s ? mem_dup_opt(s->uuid) : NULL;
}

int config_forget_server(const char *path, const char *secrets, const char *name,
                         struct pb_error *err)
{
    AUTO_FREE char *uuid = uuid_of(path, name);
    int rc = config_remove_server(path, name, err);

    return rc == 0 && uuid ? secrets_forget(secrets, uuid, err) : rc;
}
