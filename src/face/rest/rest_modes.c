/* rest_modes.c - modes: named choices of tools, kept in config.json. */
#include "face/control/control.h"
#include "hub/catalog/catalog.h"
#include "hub/config/config.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "io/http/http.h"
#include "rest_impl.h"

void rest_modes(struct rest_call *c)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    control_write_modes(&o, "modes", c->hub);
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

/* False: it takes too long. Some patterns do, on some names, and nobody else is served meanwhile.
 */
static bool put_match(struct json_out *o, const struct hub *h, const struct filter *f)
{
    const struct catalog *c = hub_catalog(h);
    struct scope scope = { .filter = f };
    const struct entry *const *all;
    size_t n = catalog_all(c, LIST_TOOLS, &all), total = 0, matching = 0;

    json_begin_object(o, NULL);
    json_begin_array(o, "names");
    for (size_t i = 0; i < n; i++) {
        if (loop_is_slow(hub_loop(h)))
            return false;
        if (all[i]->group || !all[i]->enabled || all[i]->held)
            continue;
        total++;
        if (scope_shows(c, &scope, all[i]) && matching++ < REST_MATCHES_MAX)
            json_put_span(o, NULL, all[i]->id);
    }
    json_end(o);
    json_put_uint(o, "tools", matching);
    json_put_uint(o, "total", total);
    json_end(o);
    return true;
}

void rest_modes_match(struct rest_call *c)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO(filter) struct filter *f = NULL;
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);
    struct pb_error err;

    if (json_parse(&doc, json_text(rest_value(c, "filter")->json), NULL, &err) < 0 ||
        filter_parse(&f, json_root(&doc), &err) < 0) {
        rest_fail(c->r, &(struct rest_failure){ 400, "invalid_request", .message = err.msg });
        return;
    }
    if (put_match(&o, c->hub, f))
        rest_reply(c->r, 200, &body);
    else
        rest_refuse(c->r, "the filter takes too long; a simpler pattern would be quicker");
}

struct mode_saving {
    struct rest_job job;
    struct buf mode; /* empty: it goes */
};

static void saving_done(struct rest_job *j)
{
    buf_done(&CONTAINER_OF(j, struct mode_saving, job)->mode);
}

static int save_mode(struct rest_job *j, struct pb_error *err)
{
    const struct mode_saving *s = CONTAINER_OF(j, struct mode_saving, job);

    return config_save_mode(j->path, j->name, buf_span(&s->mode), err);
}

static void reply_saved(struct rest_job *j)
{
    const struct mode *mode = mode_find(hub_modes(j->rest->hub), span_of(j->name));
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    if (mode) {
        mode_write(&o, NULL, mode);
        rest_reply(j->r, 200, &body);
    } else {
        rest_fail(j->r, &(struct rest_failure){ 409, "config_not_taken", "id", span_of(j->name),
                                                .message = "It was saved, but is not in effect" });
    }
}

static void reply_removed(struct rest_job *j)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    json_put_str(&o, "status", "ok");
    json_put_str(&o, "id", j->name);
    json_end(&o);
    rest_reply(j->r, 200, &body);
}

/* clang-format off */
static const struct rest_errand
    saving   = { ERRAND_CHANGES, sizeof(struct mode_saving), save_mode, reply_saved,   saving_done },
    removing = { ERRAND_CHANGES, sizeof(struct mode_saving), save_mode, reply_removed, saving_done };
/* clang-format on */

static void start(struct rest_call *c, const struct rest_errand *errand, struct span mode)
{
    struct mode_saving *s = rest_job_new(c, errand, rest_text(c, "id"));

    if (!s)
        return;
    buf_add_span(&s->mode, mode);
    rest_job_start(&s->job);
}

void rest_mode_save(struct rest_call *c)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct mode_set *check = mode_set_new();
    struct span text = http_body(c->r);
    struct pb_error err;
    int rc = json_parse(&doc, text, NULL, &err);

    if (rc == 0)
        rc = mode_set_add(check, span_of(rest_text(c, "id")), json_root(&doc), &err);
    mode_set_unref(check);
    if (rc < 0)
        rest_fail_hub(c->r, &err, "id", rest_text(c, "id"));
    else
        start(c, &saving, text);
}

void rest_mode_remove(struct rest_call *c)
{
    const char *id = rest_text(c, "id");

    if (!mode_find(hub_modes(c->hub), span_of(id)))
        rest_fail(c->r, &(struct rest_failure){ 404, "mode_not_found", "id", span_of(id),
                                                .message = "There is no mode of this name" });
    else if (strcmp(id, "full") == 0)
        rest_fail(c->r, &(struct rest_failure){ 409, "mode_predefined", "id", span_of(id),
                                                .message = "This mode is always there" });
    else
        start(c, &removing, (struct span){ 0 });
}
