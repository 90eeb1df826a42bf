/* rest_secrets.c - keys that come with an entry: {"VAR":"value"}, null to forget one, "" for the
 * only key of a server that needs no name for it. They go into files of their own (secrets.h), and
 * neither into config.json nor into any answer. */
#include "hub/config/config.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "io/http/http.h"
#include "rest_impl.h"

/* ---- what came ---- */

/* Decoded keys lie in it. */
struct wiped {
    struct arena arena;
    char *text;
};

static void wiped_done(struct wiped *w)
{
    if (w->text)
        explicit_bzero(w->text, strlen(w->text));
    arena_done(&w->arena);
}

#define AUTO_WIPED __attribute__((cleanup(wiped_done)))

/* Without white space around it; empty for null, and for what is no string. */
static struct span value_of(struct wiped *w, struct json member)
{
    w->text = json_cstr(member, &w->arena);
    return w->text ? span_trim(span_of(w->text)) : (struct span){ 0 };
}

static int check_one(struct json member, struct pb_error *err)
{
    AUTO_WIPED struct wiped w = { 0 };
    struct span name = json_key_str(member, &w.arena), value;
    int rc = name.n ? secrets_check_name(name, err) : 0;

    if (rc < 0)
        return fail_in(err, "secrets");
    if (json_is(member, JSON_NULL))
        return 0;
    value = value_of(&w, member);
    if (!w.text || !value.n)
        return fail(err, PB_E_INVALID,
                    "secrets.%.*s: expected a string that is not empty, or null to forget the key",
                    SPAN_ARG(name));
    if (value.n > SECRET_BYTES_MAX)
        return fail(err, PB_E_INVALID, "secrets.%.*s: longer than %d bytes", SPAN_ARG(name),
                    SECRET_BYTES_MAX);
    return 0;
}

/* It is known before anybody can say it, and before anything of this is recorded. */
static void note_one(const struct rest_call *c, struct json member)
{
    AUTO_WIPED struct wiped w = { 0 };

    if (c->hub)
        vault_add(hub_vault(c->hub), value_of(&w, member));
}

int rest_secrets_take(struct rest_call *c, struct buf *out, struct pb_error *err)
{
    struct span given = json_text(rest_value(c, "secrets")->json);
    AUTO_JSON struct json_doc doc = { 0 };
    int rc = 0;

    if (!given.n)
        return 0;
    buf_add_span(out, given);
    http_wipe_body(c->r);
    rc = json_parse(&doc, buf_span(out), NULL, err);
    if (rc == 0 && json_len(json_root(&doc)) > SPEC_WORDS_MAX)
        rc = fail(err, PB_E_INVALID, "secrets: at most %d", SPEC_WORDS_MAX);
    if (rc == 0)
        JSON_FOREACH(member, json_root(&doc)) {
            rc = check_one(member, err);
            if (rc < 0)
                break;
            note_one(c, member);
        }
    return rc;
}

int rest_secrets_keys(struct span text, const struct spec *s, struct keys *out,
                      struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    int rc = text.n ? json_parse(&doc, text, NULL, err) : 0;

    if (rc < 0 || !text.n)
        return rc;
    JSON_FOREACH(member, json_root(&doc)) {
        AUTO_WIPED struct wiped w = { 0 };
        struct span value = value_of(&w, member);

        if (value.n)
            rc = keys_add(out, s, arena_dup(&a, json_key_str(member, &a)), value, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- the entry without them ---- */

static bool is_given(struct json secrets, struct span name)
{
    struct json v = json_get_span(secrets, name);

    return json_is(v, JSON_STRING);
}

/* "env" or "headers" without those whose value is kept elsewhere now. */
static void put_others(struct json_out *o, struct span key, struct json pairs, struct json secrets)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct json_out inner = json_out(&text);
    size_t n = 0;

    json_begin_object(&inner, NULL);
    JSON_FOREACH(pair, pairs) {
        struct span name = json_key_str(pair, &a);

        if (is_given(secrets, name))
            continue;
        json_put_raw_key(&inner, name, json_text(pair));
        n++;
    }
    json_end(&inner);
    if (n)
        json_put_raw_key(o, key, buf_span(&text));
}

static bool is_listed(struct json vars, struct span name)
{
    JSON_FOREACH(v, vars)
        if (json_str_is_span(json_is(v, JSON_OBJECT) ? json_get(v, "name") : v, name))
            return true;
    return false;
}

static void put_vars(struct json_out *o, struct json vars, struct json secrets)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct json_out list = json_out(&text);
    size_t n = 0;

    json_begin_array(&list, NULL);
    JSON_FOREACH(v, vars) {
        json_put_raw(&list, NULL, json_text(v));
        n++;
    }
    JSON_FOREACH(m, secrets) {
        struct span name = json_key_str(m, &a);

        if (!name.n || !json_is(m, JSON_STRING) || is_listed(vars, name))
            continue;
        json_begin_object(&list, NULL);
        json_put_span(&list, "name", name);
        json_put_bool(&list, "required", true);
        json_end(&list);
        n++;
    }
    json_end(&list);
    if (n)
        json_put_raw(o, "env_vars", buf_span(&text));
}

static bool sets_any(struct json secrets)
{
    JSON_FOREACH(m, secrets)
        if (json_is(m, JSON_STRING))
            return true;
    return false;
}

static void put_member(struct json_out *o, struct json member, struct json secrets)
{
    AUTO_ARENA struct arena a = { 0 };
    struct span key = json_key_str(member, &a);
    bool pairs = span_is(key, "env") || span_is(key, "headers");

    if (span_is(key, "uuid") || span_is(key, "env_vars"))
        return;
    if (sets_any(secrets) && (span_is(key, "auth") || span_is(key, "auth_type")))
        return;
    if (pairs && json_is(member, JSON_OBJECT))
        put_others(o, key, member, secrets);
    else
        json_put_raw_key(o, key, json_text(member));
}

static void compose(struct buf *out, struct json entry, struct json secrets, const char *uuid)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    JSON_FOREACH(member, entry)
        put_member(&o, member, secrets);
    if (sets_any(secrets))
        json_put_str(&o, "auth_type", spec_auth_name(SPEC_AUTH_API_KEY));
    put_vars(&o, json_get(entry, "env_vars"), secrets);
    json_put_str(&o, "uuid", uuid);
    json_end(&o);
}

/* ---- keeping them ---- */

static int store_all(const char *dir, const struct spec *s, struct json secrets,
                     struct pb_error *err)
{
    AUTO_ARENA struct arena a = { 0 };

    JSON_FOREACH(member, secrets) {
        AUTO_WIPED struct wiped w = { 0 };
        const char *name = arena_dup(&a, json_key_str(member, &a));
        int rc = keys_store(dir, s, name, value_of(&w, member), err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* First the keys, then the entry that needs them. */
static int save_both(const struct rest_job *j, struct span entry, struct json secrets,
                     const struct spec *old, struct pb_error *err)
{
    struct config_request request = { .env = config_no_env };
    AUTO(spec) struct spec *s = NULL;
    int rc = spec_parse(&s, j->name, entry, false, &request, err);

    if (rc == 0)
        rc = store_all(j->secrets_dir, s, secrets, err);
    if (rc == 0)
        rc = config_save_server(j->path, j->name, entry, err);
    if (rc < 0 && s && (!old || !old->uuid) && secrets_forget(j->secrets_dir, s->uuid, NULL) < 0)
        log_warn("keys of server '%s' that was not saved are left in %s", j->name, j->secrets_dir);
    if (rc == 0 && old && old->uuid && s->auth != SPEC_AUTH_API_KEY)
        rc = secrets_forget(j->secrets_dir, old->uuid, err);
    return rc;
}

int rest_secrets_save(const struct rest_job *j, struct json entry, struct span taken,
                      const struct spec *old, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf text = { 0 };
    char uuid[UUID_CHARS + 1];
    struct json secrets = { 0 };
    int rc = 0;

    if (taken.n) {
        rc = json_parse(&doc, taken, NULL, err);
        if (rc < 0)
            return rc;
        secrets = json_root(&doc);
    }
    if (!sets_any(secrets) && (!old || !old->uuid))
        return config_save_server(j->path, j->name, json_text(entry), err);
    id_uuid(uuid);
    compose(&text, entry, secrets, old && old->uuid ? old->uuid : uuid);
    return save_both(j, buf_span(&text), secrets, old, err);
}
