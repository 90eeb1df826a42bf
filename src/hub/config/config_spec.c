#include "config_entry.h"
#include "hub/spec/spec.h"

/* The member names of an entry, of all shapes and of the programs whose files people bring. */
typedef int read_fn(struct config_entry *e, struct json v, const char *key);

struct key {
    const char *name;
    read_fn *read;
};

/* ---- How to reach it ----------------------------------------------------------------------- */

static int read_args(struct config_entry *e, struct json v, const char *key)
{
    return value_words(e, v, key, true, &e->spec->args);
}

static int read_env(struct config_entry *e, struct json v, const char *key)
{
    return value_pairs(e, v, key, "=", &e->spec->env);
}

/* Zed has {"path":…,"args":…,"env":…} there. */
static int read_command_object(struct config_entry *e, struct json v)
{
    struct json path = json_get(v, "path"), args = json_get(v, "args"), env = json_get(v, "env");
    int rc = value_expanded(e, path, "command.path", &e->spec->command);

    if (rc == 0 && !json_is(args, JSON_NONE))
        rc = read_args(e, args, "command.args");
    if (rc == 0 && json_is(env, JSON_OBJECT))
        rc = read_env(e, env, "command.env");
    return rc;
}

static int read_command(struct config_entry *e, struct json v, const char *key)
{
    e->command = v;
    if (json_is(v, JSON_OBJECT) && !e->strict)
        return read_command_object(e, v);
    if (!json_is(v, JSON_ARRAY) || e->strict) {
        int rc = value_expanded(e, v, key, &e->spec->command);

        if (rc == 0 && !*e->spec->command)
            rc = entry_fail(e, v, key, "empty; expected the program to run");
        return rc;
    }
    return 0; /* with args, by join_command() */
}

static int read_inherit(struct config_entry *e, struct json v, const char *key)
{
    struct pb_error why;

    if (inherit_read(&e->spec->inherit_env, v, &e->spec->arena, &why) < 0)
        return entry_fail(e, v, key, "%s", why.msg);
    return 0;
}

static int read_headers(struct config_entry *e, struct json v, const char *key)
{
    return value_pairs(e, v, key, ": ", &e->spec->headers);
}

static int read_cwd(struct config_entry *e, struct json v, const char *key)
{
    return value_expanded(e, v, key, &e->spec->cwd);
}

static int read_url(struct config_entry *e, struct json v, const char *key)
{
    e->url = v;
    return value_expanded(e, v, key, &e->spec->url);
}

static int read_http_url(struct config_entry *e, struct json v, const char *key)
{
    e->http_only = true;
    return read_url(e, v, key);
}

/* S1 may have written {"type":"stdio"}. */
static int read_transport(struct config_entry *e, struct json v, const char *key)
{
    if (e->mcps && json_is(v, JSON_OBJECT))
        v = json_get(v, "type");
    if (!json_is(v, JSON_STRING))
        return entry_fail_type(e, v, key, "\"stdio\", \"sse\" or \"http\"");
    if (!json_is(e->transport, JSON_NONE) && !json_equal(e->transport, v))
        return entry_fail(e, v, key, "\"type\" and \"transport\" say different things");
    e->transport = v;
    return 0;
}

/* ---- How it is treated --------------------------------------------------------------------- */

static int read_enabled(struct config_entry *e, struct json v, const char *key)
{
    bool on = true;
    int rc = value_bool(e, v, key, &on);

    e->spec->enabled &= on;
    return rc;
}

static int read_disabled(struct config_entry *e, struct json v, const char *key)
{
    bool off = false;
    int rc = value_bool(e, v, key, &off);

    e->spec->enabled &= !off;
    return rc;
}

static int read_display_name(struct config_entry *e, struct json v, const char *key)
{
    const char *name;
    int rc = value_string(e, v, key, &name);

    if (rc == 0 && *name) {
        e->spec->display_name = name;
        e->said_name = true;
    }
    return rc;
}

static int read_uuid(struct config_entry *e, struct json v, const char *key)
{
    return value_uuid(e, v, key, &e->spec->uuid);
}

static int read_timeout_s(struct config_entry *e, struct json v, const char *key)
{
    return value_seconds(e, v, key, false, &e->spec->timeout_ms);
}

/* Half of the programs that write "timeout" mean seconds, the others milliseconds. Those that mean
 * seconds offer an hour at most, and nobody waits for less than 3.6 seconds on purpose. */
static int read_timeout(struct config_entry *e, struct json v, const char *key)
{
    struct pb_error ignored;
    double n = 0;

    if (!json_is(v, JSON_NUMBER) || json_double(v, &n, &ignored) < 0 || n <= 3600 ||
        n > 1000.0 * SPEC_SECONDS_MAX)
        return value_seconds(e, v, key, false, &e->spec->timeout_ms);
    e->spec->timeout_ms = (uint64_t)(n + 0.5);
    return 0;
}

static int read_idle(struct config_entry *e, struct json v, const char *key)
{
    return value_seconds(e, v, key, true, &e->spec->idle_ms);
}

static int read_max_calls(struct config_entry *e, struct json v, const char *key)
{
    return value_count(e, v, key, LINK_CALLS_MAX, &e->spec->max_calls);
}

static int read_auto_reconnect(struct config_entry *e, struct json v, const char *key)
{
    return value_bool(e, v, key, &e->spec->auto_reconnect);
}

static int read_start(struct config_entry *e, struct json v, const char *key)
{
    static const struct choice words[] = { { "eager", SPEC_EAGER }, { "lazy", SPEC_LAZY }, { 0 } };
    unsigned value = SPEC_EAGER;
    int rc = value_choice(e, v, key, words, &value);

    e->start = v;
    e->spec->start = (enum spec_start)value;
    return rc;
}

static int read_instance(struct config_entry *e, struct json v, const char *key)
{
    static const struct choice words[] = {
        { "shared", SPEC_ALWAYS_SHARED },
        { "per_client", SPEC_PER_CLIENT },
        { 0 },
    };
    unsigned value = SPEC_SHARED;
    int rc = value_choice(e, v, key, words, &value);

    e->spec->instance = (enum spec_instance)value;
    return rc;
}

static int read_era(struct config_entry *e, struct json v, const char *key)
{
    static const struct choice words[] = {
        { "auto", PB_ERA_AUTO },
        { "legacy", PB_ERA_LEGACY },
        { "modern", PB_ERA_MODERN },
        { 0 },
    };
    unsigned value = PB_ERA_AUTO;
    int rc = value_choice(e, v, key, words, &value);

    e->spec->era = (enum pb_era)value;
    return rc;
}

static int read_enabled_tools(struct config_entry *e, struct json v, const char *key)
{
    return value_words(e, v, key, false, &e->spec->enabled_tools);
}

/* "all", or by globs of tools: {"read_*":"all","*":"meta"}. */
static int read_record_word(struct config_entry *e, struct json v, const char *key,
                            struct span glob, const char **out)
{
    static const struct choice words[] = { { "all", 0 }, { "meta", 1 }, { "none", 2 }, { 0 } };
    AUTO_BUF struct buf text = { 0 };
    unsigned value = 0;
    int rc = value_choice(e, v, key, words, &value);

    if (rc < 0)
        return rc;
    buf_printf(&text, "%.*s=%s", SPAN_ARG(glob), words[value].word);
    *out = arena_dup(&e->spec->arena, buf_span(&text));
    return 0;
}

static int read_record(struct config_entry *e, struct json v, const char *key)
{
    AUTO_ARENA struct arena a = { 0 };
    size_t n = json_is(v, JSON_OBJECT) ? json_len(v) : 1, i = 0;
    const char **words;
    int rc = 0;

    if (n > SPEC_WORDS_MAX)
        return entry_fail(e, v, key, "%zu members; at most %d are allowed", n, SPEC_WORDS_MAX);
    words = arena_alloc(&e->spec->arena, (n + 1) * sizeof *words);
    if (!json_is(v, JSON_OBJECT))
        rc = read_record_word(e, v, key, SPAN("*"), &words[i++]);
    else
        JSON_FOREACH(m, v)
            if (rc == 0)
                rc = read_record_word(e, m, key, json_key_str(m, &a), &words[i++]);
    words[i] = NULL;
    if (rc == 0)
        e->spec->record = words;
    return rc;
}

static int read_disabled_tools(struct config_entry *e, struct json v, const char *key)
{
    return value_words(e, v, key, false, &e->spec->disabled_tools);
}

/* ---- Logins -------------------------------------------------------------------------------- */

static int read_auth_type(struct config_entry *e, struct json v, const char *key)
{
    static const struct choice words[] = {
        { "none", SPEC_AUTH_NONE },
        { "api_key", SPEC_AUTH_API_KEY },
        { "keyfile", SPEC_AUTH_KEYFILE },
        { "oauth", SPEC_AUTH_OAUTH },
        /* what naive snake_case makes of OAuth */
        { "o_auth", SPEC_AUTH_OAUTH, .hidden = true },
        { 0 },
    };
    unsigned value = SPEC_AUTH_NONE;
    int rc = value_choice(e, v, key, words, &value);

    e->auth = v;
    e->spec->auth = (enum spec_auth)value;
    return rc;
}

/* Elsewhere it is an object about OAuth, or a word that we do not know. */
static int read_auth(struct config_entry *e, struct json v, const char *key)
{
    for (int a = SPEC_AUTH_NONE; a <= SPEC_AUTH_OAUTH; a++)
        if (json_str_is(v, spec_auth_name((enum spec_auth)a)))
            return read_auth_type(e, v, key);
    return 0;
}

static int read_keyfile(struct config_entry *e, struct json v, const char *key)
{
    return value_string(e, v, key, &e->spec->keyfile_path);
}

static int read_oauth(struct config_entry *e, struct json v, const char *key)
{
    return value_object_text(e, v, key, &e->spec->oauth);
}

static int read_config(struct config_entry *e, struct json v, const char *key)
{
    return value_object_text(e, v, key, &e->spec->config);
}

static int read_origin(struct config_entry *e, struct json v, const char *key)
{
    static const struct choice words[] = {
        { "registry", SPEC_ORIGIN_REGISTRY },
        { "import", SPEC_ORIGIN_IMPORT },
        { "rest", SPEC_ORIGIN_REST },
        { 0 },
    };
    unsigned value = SPEC_ORIGIN_PERSON;
    int rc = value_choice(e, v, key, words, &value);

    e->spec->origin = (enum spec_origin)value;
    return rc;
}

/* Known to mean nothing to us. */
static int read_nothing(struct config_entry *e, struct json v, const char *key)
{
    (void)e, (void)v, (void)key;
    return 0;
}

/* Sorted: near names are looked for in this order. */
static const struct key keys[] = {
    { "alwaysAllow", read_nothing },
    { "args", read_args },
    { "auth", read_auth },
    { "auth_type", read_auth_type },
    { "autoApprove", read_nothing },
    { "auto_reconnect", read_auto_reconnect },
    { "command", read_command },
    { "config", read_config },
    { "cwd", read_cwd },
    { "description", read_nothing },
    { "dev", read_nothing },
    { "disabled", read_disabled },
    { "disabledTools", read_disabled_tools },
    { "disabled_tools", read_disabled_tools },
    { "display_name", read_display_name },
    { "enabled", read_enabled },
    { "enabledTools", read_enabled_tools },
    { "enabled_tools", read_enabled_tools },
    { "env", read_env },
    { "env_var_name", read_env_var_name },
    { "env_vars", read_env_vars },
    { "environment", read_env },
    { "era", read_era },
    { "gallery", read_nothing },
    { "headers", read_headers },
    { "httpUrl", read_http_url },
    { "id", read_uuid },
    { "idle_s", read_idle },
    { "inherit_env", read_inherit },
    { "instance", read_instance },
    { "keyfile_path", read_keyfile },
    { "max_calls", read_max_calls },
    { "name", read_nothing },
    { "o_auth", read_oauth },
    { "oauth", read_oauth },
    { "origin", read_origin },
    { "package", read_package },
    { "record", read_record },
    { "serverUrl", read_url },
    { "source", read_source },
    { "start", read_start },
    { "timeout", read_timeout },
    { "timeout_s", read_timeout_s },
    { "transport", read_transport },
    { "trust", read_nothing },
    { "type", read_transport },
    { "url", read_url },
    { "uuid", read_uuid },
    { "version", read_nothing },
};

/* "id" and "name" are S1's; elsewhere they are somebody else's. */
static bool belongs(const struct config_entry *e, const struct key *k)
{
    return e->mcps || strcmp(k->name, "id") != 0;
}

static void warn_unknown(struct config_entry *e, struct json v, struct span name)
{
    const char *words[ARRAY_LEN(keys) + 1];
    char shown[SHOWN_MAX + 1];
    AUTO_BUF struct buf meant = { 0 };
    size_t n = 0;

    /* Where JSON has no comments, members with such names are used for them. */
    if (!name.n || strchr("_$/#", name.p[0]))
        return;
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (keys[i].read != read_nothing && belongs(e, &keys[i]))
            words[n++] = keys[i].name;
    words[n] = NULL;
    show_head(shown, name, 40);
    near_write_of(&meant, name, words);
    entry_warn(e, v, shown, "unknown, ignoring%s", buf_cstr(&meant));
}

static int read_member(struct config_entry *e, struct json v)
{
    AUTO_ARENA struct arena a = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        if (!json_key_is(v, keys[i].name) || !belongs(e, &keys[i]))
            continue;
        return json_is(v, JSON_NULL) ? 0 : keys[i].read(e, v, keys[i].name);
    }
    warn_unknown(e, v, json_key_str(v, &a));
    return 0;
}

static void keep_filled_from(struct config_entry *e)
{
    struct arena *a = &e->spec->arena;
    const char **names = arena_alloc(a, (e->filled_from.n + 1) * sizeof *names);
    struct map_slot *slot;
    size_t n = 0;

    MAP_FOREACH(slot, &e->filled_from)
        names[n++] = arena_dup(a, span_make(slot->key, slot->key_n));
    e->spec->filled_from = names;
}

static int read_members(struct config_entry *e, const char *name)
{
    int rc;

    e->spec = spec_blank(name);
    if (!json_is(e->value, JSON_OBJECT))
        return entry_fail_type(e, e->value, NULL, "an object");
    JSON_FOREACH(m, e->value) {
        rc = read_member(e, m);
        if (rc < 0)
            return rc;
    }
    keep_filled_from(e);
    rc = entry_resolve(e);
    if (rc < 0)
        return rc;
    if (e->source->path)
        e->spec->file = arena_dup(&e->spec->arena, span_of(e->source->path));
    e->spec->line = source_line(e->source, e->value);
    return 0;
}

int entry_read(struct config_entry *e, const char *name)
{
    int rc = read_members(e, name);

    map_done(&e->filled_from);
    return rc;
}

int spec_parse(struct spec **out, const char *name, struct span entry, bool strict,
               const struct config_request *r, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_opts opts = { .unique_depth = JSON_ALL };
    struct config_source source = { .text = entry, .r = r, .err = err };
    struct config_entry e = { .source = &source, .strict = strict };
    int rc = spec_check_name(span_of(name), err);

    if (rc < 0)
        return rc;
    if (entry.n > CONFIG_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "an entry of %zu bytes; the limit is %d", entry.n,
                    CONFIG_BYTES_MAX);
    rc = json_parse(&doc, entry, &opts, err);
    if (rc < 0)
        return rc;
    e.value = json_root(&doc);
    rc = entry_read(&e, name);
    if (rc < 0) {
        spec_unref(e.spec);
        return rc;
    }
    e.spec->line = 0;
    *out = e.spec;
    return 0;
}
