#include "inherit.h"
#include "spec.h"
#include "spec_mask.h"

static void put_words(struct json_out *o, const char *key, const char *const *words)
{
    if (!words[0])
        return;
    json_begin_array(o, key);
    for (; *words; words++)
        json_put_str(o, NULL, *words);
    json_end(o);
}

static void put_args(struct json_out *o, const char *const *args, bool masked)
{
    const char *before = NULL;

    if (!masked || !args[0]) {
        put_words(o, "args", args);
        return;
    }
    json_begin_array(o, "args");
    for (; *args; before = *args++) {
        AUTO_BUF struct buf shown = { 0 };

        mask_word(&shown, *args, before);
        json_put_span(o, NULL, buf_span(&shown));
    }
    json_end(o);
}

/* "NAME=value" or "Name: value" as a member of an object. */
static void put_pairs(struct json_out *o, const char *key, const char *const *pairs,
                      const char *separator, bool masked)
{
    if (!pairs[0])
        return;
    json_begin_object(o, key);
    for (; *pairs; pairs++) {
        const char *at = strstr(*pairs, separator);
        size_t n = at ? (size_t)(at - *pairs) : strlen(*pairs);
        AUTO_FREE char *name = mem_dupn(*pairs, n);

        json_put_str(o, name, masked ? SPEC_MASKED : at ? at + strlen(separator) : "");
    }
    json_end(o);
}

static void put_url(struct json_out *o, const char *key, const char *url, bool masked)
{
    AUTO_BUF struct buf shown = { 0 };

    if (!url)
        return;
    if (masked)
        mask_url(&shown, span_of(url));
    else
        buf_str(&shown, url);
    json_put_span(o, key, buf_span(&shown));
}

static void put_json(struct json_out *o, const char *key, const char *text, bool masked)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (!text)
        return;
    if (!masked)
        json_put_raw(o, key, span_of(text));
    else if (json_parse(&doc, span_of(text), NULL, NULL) == 0)
        mask_json(o, key, json_root(&doc));
}

static void put_env_vars(struct json_out *o, const struct spec_env_var *vars)
{
    json_begin_array(o, "env_vars");
    for (; vars->name; vars++) {
        json_begin_object(o, NULL);
        json_put_str(o, "name", vars->name);
        json_put_bool(o, "required", vars->required);
        json_end(o);
    }
    json_end(o);
}

static void put_source(struct json_out *o, const struct spec *s, bool masked)
{
    switch (s->source) {
    case SPEC_SOURCE_NONE:
        return;
    case SPEC_SOURCE_OFFICIAL:
        json_begin_object(o, "source");
        json_put_str(o, "type", "official");
        json_put_str_opt(o, "name", s->source_name);
        json_put_str_opt(o, "version", s->source_version);
        break;
    case SPEC_SOURCE_SMITHERY:
        json_begin_object(o, "source");
        json_put_str(o, "type", "smithery");
        json_put_str_opt(o, "qualified_name", s->source_name);
        break;
    case SPEC_SOURCE_MANUAL:
        json_begin_object(o, "source");
        json_put_str(o, "type", "manual");
        put_url(o, "url", s->source_name, masked);
        break;
    }
    json_end(o);
}

static void put_package(struct json_out *o, const struct spec *s, bool masked)
{
    static const char *const types[] = {
        [SPEC_PACKAGE_NPM] = "npm",
        [SPEC_PACKAGE_DOCKER] = "docker",
        [SPEC_PACKAGE_HTTP] = "http",
    };

    if (s->package == SPEC_PACKAGE_NONE)
        return;
    json_begin_object(o, "package");
    json_put_str(o, "type", types[s->package]);
    put_url(o, "identifier", s->package_id, masked);
    json_put_str_opt(o, "runtime_hint", s->runtime_hint);
    json_end(o);
}

static void put_reach(struct json_out *o, const struct spec *s, bool masked)
{
    if (s->transport == SPEC_STDIO) {
        json_put_str_opt(o, "command", s->command);
        put_args(o, s->args, masked);
    } else {
        /* Without a type it is http by inference, with the way back to SSE. */
        if (s->transport == SPEC_SSE || !s->guess_sse)
            json_put_str(o, "type", spec_transport_name(s->transport));
        put_url(o, "url", s->url, masked);
    }
    put_pairs(o, "headers", s->headers, ": ", masked);
    put_pairs(o, "env", s->env, "=", masked);
    if (s->inherit_env)
        inherit_write(o, "inherit_env", s->inherit_env);
    json_put_str_opt(o, "cwd", s->cwd);
}

/* Which start is not written is up to the shape: the default differs. */
/* "GLOB=WORD" as a member; all tools alike as the word alone. */
static void put_record(struct json_out *o, const char *const *record)
{
    AUTO_BUF struct buf word = { 0 };

    if (!record[0])
        return;
    if (!record[1] && strncmp(record[0], "*=", 2) == 0) {
        json_put_str(o, "record", record[0] + 2);
        return;
    }
    json_begin_object(o, "record");
    for (; *record; record++) {
        const char *at = strrchr(*record, '=');

        word.n = 0;
        json_quote(&word, span_of(at + 1));
        json_put_raw_key(o, span_make(*record, (size_t)(at - *record)), buf_span(&word));
    }
    json_end(o);
}

static void put_treatment(struct json_out *o, const struct spec *s, enum spec_start start)
{
    if (s->timeout_ms)
        json_put_seconds(o, "timeout_s", (int64_t)s->timeout_ms);
    if (!s->auto_reconnect)
        json_put_bool(o, "auto_reconnect", false);
    if (s->start != start)
        json_put_str(o, "start", s->start == SPEC_LAZY ? "lazy" : "eager");
    if (s->idle_ms != SPEC_IDLE_MS)
        json_put_seconds(o, "idle_s", (int64_t)s->idle_ms);
    if (s->instance != SPEC_SHARED)
        json_put_str(o, "instance", s->instance == SPEC_PER_CLIENT ? "per_client" : "shared");
    if (s->max_calls)
        json_put_uint(o, "max_calls", s->max_calls);
    if (s->era != PB_ERA_AUTO)
        json_put_str(o, "era", s->era == PB_ERA_MODERN ? "modern" : "legacy");
    put_words(o, "enabledTools", s->enabled_tools);
    put_words(o, "disabledTools", s->disabled_tools);
    put_record(o, s->record);
}

static void write_entry(struct buf *out, const struct spec *s, bool masked)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    put_reach(&o, s, masked);
    if (strcmp(s->display_name, s->name) != 0)
        json_put_str(&o, "display_name", s->display_name);
    json_put_str_opt(&o, "uuid", s->uuid);
    if (!s->enabled)
        json_put_bool(&o, "enabled", false);
    put_treatment(&o, s, SPEC_EAGER);
    /* These two would make a reader think of a login. */
    if (s->auth != SPEC_AUTH_NONE || s->oauth || s->keyfile_path)
        json_put_str(&o, "auth_type", spec_auth_name(s->auth));
    if (s->env_vars[0].name)
        put_env_vars(&o, s->env_vars);
    json_put_str_opt(&o, "keyfile_path", s->keyfile_path);
    put_json(&o, "oauth", s->oauth, masked);
    if (strcmp(s->config, "{}") != 0)
        put_json(&o, "config", s->config, masked);
    put_source(&o, s, masked);
    json_put_str_opt(&o, "origin", spec_origin_name(s->origin));
    put_package(&o, s, masked);
    json_end(&o);
}

void spec_write(struct buf *out, const struct spec *s) { write_entry(out, s, false); }

void spec_write_masked(struct buf *out, const struct spec *s) { write_entry(out, s, true); }
