/* rest_settings.c - settings: what they are, and changing them. Some are looked at when the program
 * starts; which is said in every answer. */
#include "face/control/control.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "io/http/http.h"
#include "rest_impl.h"

/* ---- as JSON ---- */

static void put_value(struct json_out *o, const char *key, const struct setting *row,
                      const struct settings *s)
{
    const void *at = (const char *)s + row->offset;

    switch (row->kind) {
    case SETTING_BOOL:
        json_put_bool(o, key, *(const bool *)at);
        break;
    case SETTING_COUNT:
        json_put_uint(o, key, *(const uint64_t *)at);
        break;
    case SETTING_SECONDS:
        json_put_seconds(o, key, (int64_t) * (const uint64_t *)at);
        break;
    case SETTING_WORD:
    case SETTING_TEXT:
    case SETTING_INHERIT:
        if (*(const char *const *)at)
            json_put_str(o, key, *(const char *const *)at);
        else
            json_put_null(o, key);
        break;
    }
}

static void put_setting(struct json_out *o, const struct setting *row, const struct settings *s,
                        bool pending)
{
    static const char *const kinds[] = { "boolean", "count", "seconds", "word", "text", "text" };

    json_begin_object(o, NULL);
    json_put_str(o, "name", row->name);
    put_value(o, "value", row, s);
    json_put_str(o, "kind", kinds[row->kind]);
    json_put_str(o, "default", row->fallback);
    if (row->kind == SETTING_COUNT || row->kind == SETTING_SECONDS) {
        json_put_double(o, "min", row->min);
        json_put_double(o, "max", row->max);
    }
    if (row->words) {
        json_begin_array(o, "words");
        for (const char *const *w = row->words; *w; w++)
            json_put_str(o, NULL, *w);
        json_end(o);
    }
    json_put_str(o, "applies", row->restart ? "restart" : "at_once");
    json_put_bool(o, "pending", pending);
    json_put_str(o, "help", row->help);
    json_end(o);
}

static void write_settings(struct buf *out, const struct settings *s,
                           const struct settings *started_with)
{
    struct json_out o = json_out(out);
    bool any = false;

    json_begin_object(&o, NULL);
    json_begin_array(&o, "settings");
    for (const struct setting *row = settings_table; row->name; row++) {
        bool pending = control_wants_restart(row, started_with, s);

        put_setting(&o, row, s, pending);
        any |= pending;
    }
    json_end(&o);
    json_put_str(&o, "takes_effect", any ? "at the next start" : "at once");
    json_end(&o);
}

/* ---- on a worker ---- */

struct settings_errand {
    struct rest_job job;
    const char *const *files; /* of the daemon; they outlive the work, and so does: */
    const struct settings *started_with;
    struct buf changes;
    struct buf answer;
};

static void errand_done(struct rest_job *j)
{
    struct settings_errand *e = CONTAINER_OF(j, struct settings_errand, job);

    buf_done(&e->changes);
    buf_done(&e->answer);
}

/* What the files say together, later ones over earlier ones. */
static int read_settings(struct rest_job *j, struct pb_error *err)
{
    struct settings_errand *e = CONTAINER_OF(j, struct settings_errand, job);
    struct config_request request = { .no_home = true };
    AUTO(config) struct config *config = NULL;
    AUTO_FREE const char **files = NULL;
    size_t n = 0;
    int rc;

    for (const char *const *p = e->files; p && *p; p++)
        n++;
    files = mem_zero((n + 1) * sizeof *files);
    n = 0;
    for (const char *const *p = e->files; p && *p; p++)
        if (access(*p, F_OK) == 0)
            files[n++] = *p;
    request.files = files;
    rc = config_load(&config, &request, err);
    if (rc < 0)
        return rc;
    write_settings(&e->answer, &config->settings, e->started_with);
    return 0;
}

static int change_settings(struct rest_job *j, struct pb_error *err)
{
    const struct settings_errand *e = CONTAINER_OF(j, struct settings_errand, job);
    AUTO_JSON struct json_doc changes = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    int rc = json_parse(&changes, buf_span(&e->changes), NULL, err);

    JSON_FOREACH(change, json_root(&changes)) {
        char *name = arena_dup(&a, json_key_str(change, &a));

        if (rc == 0)
            rc = config_set_setting(j->path, name,
                                    json_is(change, JSON_NULL) ? SPAN("") : json_text(change), err);
    }
    return rc < 0 ? rc : read_settings(j, err);
}

/* ---- routes ---- */

static void reply_settings(struct rest_job *j)
{
    rest_reply(j->r, 200, &CONTAINER_OF(j, struct settings_errand, job)->answer);
}

/* clang-format off */
static const struct rest_errand
    reading  = { ERRAND_READS,   sizeof(struct settings_errand), read_settings,   reply_settings, errand_done },
    changing = { ERRAND_CHANGES, sizeof(struct settings_errand), change_settings, reply_settings, errand_done };
/* clang-format on */

static void start(struct rest_call *c, const struct rest_errand *errand, struct span changes)
{
    const struct control_facts *f = control_facts_of(c->rest->hosts);
    struct settings_errand *e = rest_job_new(c, errand, NULL);

    if (!e)
        return;
    e->files = f->files;
    e->started_with = f->started_with;
    buf_add_span(&e->changes, changes);
    rest_job_start(&e->job);
}

void rest_settings(struct rest_call *c) { start(c, &reading, (struct span){ 0 }); }

static bool is_setting(struct span name)
{
    for (const struct setting *row = settings_table; row->name; row++)
        if (span_is(name, row->name))
            return true;
    return false;
}

/* Each must be one, of the right kind; null is for the default. */
static int check(struct json changes, struct pb_error *err)
{
    AUTO_ARENA struct arena a = { 0 };
    struct settings s;
    int rc = 0;

    settings_init(&s);
    JSON_FOREACH(change, changes) {
        struct span name = json_key_str(change, &a);

        if (json_is(change, JSON_NULL) && is_setting(name))
            continue;
        rc = settings_set(&s, name, change, err);
        if (rc < 0) {
            rc = fail_in(err, "%.*s",
                         name.n < MCP_NAME_SHOWN_MAX ? (int)name.n : MCP_NAME_SHOWN_MAX, name.p);
            break;
        }
    }
    settings_done(&s);
    return rc;
}

void rest_settings_change(struct rest_call *c)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err;

    if (!http_body(c->r).n || json_parse(&doc, http_body(c->r), NULL, NULL) < 0) {
        rest_refuse(c->r, "the body: expected the settings to be changed");
        return;
    }
    if (check(json_root(&doc), &err) < 0) {
        rest_refuse(c->r, "%s", err.msg);
        return;
    }
    start(c, &changing, http_body(c->r));
}
