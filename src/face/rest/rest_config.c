/* rest_config.c - adding, configuring and removing servers, and switching them and their tools on
 * and off: what a console does, saved in config.json (C18). */
#include "face/control/control.h"
#include "hub/add/add.h"
#include "hub/config/config.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "io/http/http.h"
#include "rest_impl.h"
#include <stdio.h>

/* What may be written about a server that another file defines, or none. */
static bool in_config(const struct rest *s, const struct spec *spec)
{
    const struct control_facts *f = control_facts_of(s->hosts);
    AUTO_BUF struct buf path = { 0 };

    buf_printf(&path, "%s/config.json", f->home ? f->home : "");
    return f->home && spec->file && strcmp(spec->file, buf_cstr(&path)) == 0;
}

static bool refuse_elsewhere(struct rest_call *c, const struct spec *spec)
{
    char text[MCP_ERROR_TEXT_MAX];

    if (in_config(c->rest, spec))
        return false;
    if (spec->file)
        snprintf(text, sizeof text, "It is defined at %s:%u, which is not ours to change",
                 spec->file, spec->line);
    else
        snprintf(text, sizeof text, "It is not in config.json: it came %s",
                 spec->runtime_only ? "by POST /api/mcp-clients/connect" : "by the command line");
    rest_fail(c->r, &(struct rest_failure){ 409, "defined_elsewhere", "name", span_of(spec->name),
                                            .message = text });
    return true;
}

/* ---- what is to be added ---- */

/* Good enough to be saved? Variables stay as they are. */
static int parse_entry(struct spec **out, const char *name, struct span entry, struct pb_error *err)
{
    struct config_request request = { .env = config_no_env };
    int rc = spec_check_name(span_of(name), err);

    return rc < 0 ? rc : spec_parse(out, name, entry, false, &request, err);
}

/* They stand beside the entry: in it they would get into the file. */
static int refuse_secrets(struct span entry, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    int rc = json_parse(&doc, entry, &(struct json_opts){ .keep_depth = 1 }, err);

    if (rc == 0 && !json_is(json_get(json_root(&doc), "secrets"), JSON_NONE))
        return fail(err, PB_E_INVALID, "secrets stand beside entry, not in it");
    return rc;
}

static int parse_text(const struct rest_call *c, struct spec **out, struct buf *entry,
                      struct pb_error *err)
{
    const char *words[] = { rest_text(c, "text"), NULL };
    const struct add_around around = { .taken = c->hub ? rest_name_taken : NULL, .ctx = c->hub };
    struct add_request r = { .words = words, .name = rest_text(c, "name"), .around = &around };
    AUTO(config) struct config *found = NULL;
    struct map_slot *slot;
    int rc = add_read(&found, &r, err);

    if (rc == 0 && found->specs.n > 1)
        rc = fail(err, PB_E_INVALID,
                  "%zu servers are described; POST /api/servers/parse tells them apart",
                  found->specs.n);
    if (rc < 0)
        return rc;
    MAP_FOREACH(slot, &found->specs)
        *out = spec_ref(slot->value);
    spec_write(entry, *out);
    return 0;
}

/* False: answered. */
static bool read_new(struct rest_call *c, struct spec **out, struct buf *entry)
{
    const char *text = rest_text(c, "text"), *name = rest_text(c, "name");
    const struct rest_value *given = rest_value(c, "entry");
    struct pb_error err;
    int rc;

    if (!text == !given->given) {
        rest_refuse(c->r, "expected either text, as 'patchbay add' takes it, or name and entry");
        return false;
    }
    if (given->given && !name) {
        rest_refuse(c->r, "name: expected a string beside entry");
        return false;
    }
    if (given->given) {
        buf_add_span(entry, json_text(given->json));
        rc = parse_entry(out, name, buf_span(entry), &err);
        if (rc == 0)
            rc = refuse_secrets(buf_span(entry), &err);
    } else {
        rc = parse_text(c, out, entry, &err);
    }
    if (rc < 0)
        rest_fail_hub(c->r, &err, NULL, NULL);
    return rc == 0;
}

/* An entry says where it came from, whatever it said itself. */
static void set_origin(struct buf *entry, enum spec_origin origin)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct json_out o = json_out(&text);

    if (json_parse(&doc, buf_span(entry), &(struct json_opts){ .keep_depth = 1 }, NULL) < 0)
        return;
    json_begin_object(&o, NULL);
    JSON_FOREACH(member, json_root(&doc))
        if (!json_key_is(member, "origin"))
            json_put_raw_key(&o, json_key_str(member, &a), json_text(member));
    json_put_str_opt(&o, "origin", spec_origin_name(origin));
    json_end(&o);
    entry->n = 0;
    buf_add_span(entry, buf_span(&text));
}

static void reply_dry(struct rest_call *c, const struct spec *spec)
{
    AUTO_BUF struct buf body = { 0 }, entry = { 0 }, what = { 0 };
    struct json_out o = json_out(&body);

    spec_write_masked(&entry, spec);
    spec_describe(&what, spec);
    json_begin_object(&o, NULL);
    json_put_bool(&o, "dry_run", true);
    json_put_str(&o, "name", spec->name);
    json_put_str(&o, "transport", spec_transport_name(spec->transport));
    json_put_span(&o, "target", buf_span(&what));
    json_put_str(&o, "auth", spec_auth_name(spec->auth));
    json_put_bool(&o, "exists", c->hub && hub_link(c->hub, spec->name));
    json_put_raw(&o, "entry", buf_span(&entry));
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

/* ---- work on the file ---- */

/* As the file has it; NULL: it does not. */
static const struct spec *find_spec(const struct rest_job *j, struct config **config,
                                    struct pb_error *err)
{
    const char *files[] = { j->path, NULL };
    struct config_request request = { .files = files, .env = config_no_env };

    if (config_load(config, &request, err) < 0)
        return NULL;
    return map_get(&(*config)->specs, span_of(j->name));
}

/* An entry that is to be saved, with its keys. */
struct server_saving {
    struct rest_job job;
    struct buf entry;
    struct buf secrets; /* as they came; wiped */
    bool force;
    /* Of a server that is there: */
    struct spec *was;
    struct buf shown; /* what was seen of it */
};

static void saving_done(struct rest_job *j)
{
    struct server_saving *s = CONTAINER_OF(j, struct server_saving, job);

    buf_done(&s->entry);
    secret_done(&s->secrets);
    spec_unref(s->was);
    buf_done(&s->shown);
}

static int add_server(struct rest_job *j, struct pb_error *err)
{
    const struct server_saving *s = CONTAINER_OF(j, struct server_saving, job);
    AUTO(config) struct config *config = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    const struct spec *old;
    unsigned line;
    int rc = config_find_server(j->path, j->name, &line, err);

    if (rc == 0 && !s->force)
        return fault_fail(err, FAULT_DUPLICATE, "%s:%u defines a server of this name", j->path,
                          line);
    if (rc < 0 && rc != -(int)PB_E_NOT_FOUND)
        return rc;
    old = rc == 0 ? find_spec(j, &config, NULL) : NULL;
    rc = json_parse(&doc, buf_span(&s->entry), NULL, err);
    if (rc == 0)
        rc = rest_secrets_save(j, json_root(&doc), buf_span(&s->secrets), NULL, err);
    if (rc == 0 && old && old->uuid)
        rc = secrets_forget(j->secrets_dir, old->uuid, err);
    return rc;
}

static int remove_server(struct rest_job *j, struct pb_error *err)
{
    return config_forget_server(j->path, j->secrets_dir, j->name, err);
}

/* A server, or one of its tools, is to be used or not. */
struct switching {
    struct rest_job job;
    char *tool; /* NULL: the server */
    bool on;
};

static void switching_done(struct rest_job *j)
{
    free(CONTAINER_OF(j, struct switching, job)->tool);
}

static int switch_server(struct rest_job *j, struct pb_error *err)
{
    const struct switching *s = CONTAINER_OF(j, struct switching, job);
    int rc =
        config_set_member(j->path, j->name, "enabled", s->on ? SPAN("true") : SPAN("false"), err);

    /* "disabled" is how other programs write it; it must not say the opposite. */
    return rc < 0 ? rc : config_set_member(j->path, j->name, "disabled", (struct span){ 0 }, err);
}

static int switch_tool(struct rest_job *j, struct pb_error *err)
{
    const struct switching *s = CONTAINER_OF(j, struct switching, job);
    static const char *const members[] = { "disabledTools", "disabled_tools", NULL };

    return config_list_member(j->path, j->name, members, s->tool, !s->on, err);
}

/* ---- changing an entry ---- */

/* Another program in place of what a person wrote is not what a person wrote. */
static enum spec_origin origin_of(const struct spec *kept, struct span entry)
{
    AUTO(spec) struct spec *fresh = NULL;

    if (kept->origin != SPEC_ORIGIN_PERSON)
        return kept->origin;
    if (parse_entry(&fresh, kept->name, entry, NULL) < 0 || !spec_same_link(kept, fresh))
        return SPEC_ORIGIN_REST;
    return SPEC_ORIGIN_PERSON;
}

/* Whoever edits what GET showed sends the rest back as it was shown, without secrets and with
 * variables filled in: that stays as it is. */
static int configure_server(struct rest_job *j, struct pb_error *err)
{
    const struct server_saving *s = CONTAINER_OF(j, struct server_saving, job);
    AUTO(config) struct config *config = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf entry = { 0 };
    struct pb_error why = { 0 };
    struct rest_masked m = { buf_span(&s->shown), find_spec(j, &config, &why) };
    int rc;

    if (!m.kept && why.code)
        return fail_copy(err, &why);
    if (!m.kept)
        return fault_fail(err, FAULT_NO_SERVER, "%s defines no server of this name", j->path);
    rc = json_parse(&doc, buf_span(&s->entry), NULL, err);
    if (rc == 0)
        rc = rest_unmask(&entry, json_root(&doc), &m, err);
    if (rc == 0)
        set_origin(&entry, origin_of(m.kept, buf_span(&entry)));
    if (rc == 0)
        rc = json_parse(&doc, buf_span(&entry), NULL, err);
    return rc < 0 ? rc : rest_secrets_save(j, json_root(&doc), buf_span(&s->secrets), m.kept, err);
}

/* ---- answers ---- */

static void reply_server(struct rest_job *j, int status)
{
    struct link *l = hub_link(j->rest->hub, j->name);

    if (l)
        rest_reply_server(j->r, status, j->rest->hub, l);
    else
        rest_fail(j->r,
                  &(struct rest_failure){
                      409, "config_not_taken", "name", span_of(j->name),
                      .message = "It was saved, but another file hides it or the hub is full" });
}

static void reply_added(struct rest_job *j) { reply_server(j, 201); }

static void reply_changed(struct rest_job *j) { reply_server(j, 200); }

/* A server whose entry is the same as before runs on, with the key that it was started with. */
static void reply_configured(struct rest_job *j)
{
    const struct server_saving *s = CONTAINER_OF(j, struct server_saving, job);
    struct hub *h = j->rest->hub;
    const struct link *l = hub_link(h, j->name);
    struct pb_error err;

    if (l && s->secrets.n && spec_same_link(s->was, link_spec(l)) &&
        link_state(l) != LINK_DISABLED && hub_restart(h, j->name, &err) < 0)
        log_warn("server '%s': %s", j->name, err.msg);
    reply_server(j, 200);
}

static void write_removed(struct http_request *r, const char *name)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    json_put_str(&o, "status", "ok");
    json_put_str(&o, "name", name);
    json_end(&o);
    rest_reply(r, 200, &body);
}

static void reply_removed(struct rest_job *j) { write_removed(j->r, j->name); }

static void reply_reloaded(struct rest_job *j)
{
    AUTO_BUF struct buf body = { 0 };

    buf_str(&body, "{\"status\":\"ok\"}");
    rest_reply(j->r, 200, &body);
}

/* ---- errands ---- */

/* clang-format off */
static const struct rest_errand
    adding          = { ERRAND_CHANGES, sizeof(struct server_saving), add_server,       reply_added,      saving_done },
    configuring     = { ERRAND_CHANGES, sizeof(struct server_saving), configure_server, reply_configured, saving_done },
    removing        = { ERRAND_CHANGES, sizeof(struct rest_job),      remove_server,    reply_removed,    NULL },
    switching       = { ERRAND_CHANGES, sizeof(struct switching),     switch_server,    reply_changed,    switching_done },
    switching_tool  = { ERRAND_CHANGES, sizeof(struct switching),     switch_tool,      reply_changed,    switching_done },
    reloading       = { ERRAND_RELOADS, sizeof(struct rest_job),      NULL,             reply_reloaded,   NULL };
/* clang-format on */

/* ---- routes ---- */

void rest_servers_add(struct rest_call *c)
{
    AUTO(spec) struct spec *spec = NULL;
    AUTO_BUF struct buf entry = { 0 };
    AUTO_SECRET struct buf secrets = { 0 };
    struct pb_error err;
    struct server_saving *s;

    if (!read_new(c, &spec, &entry))
        return;
    if (rest_secrets_take(c, &secrets, &err) < 0) {
        rest_fail_hub(c->r, &err, NULL, NULL);
        return;
    }
    if (rest_yes(c, "dry_run")) {
        reply_dry(c, spec);
        return;
    }
    if (hub_link(c->hub, spec->name) && !rest_yes(c, "force")) {
        rest_fail(c->r, &(struct rest_failure){ 409, "duplicate_name", "name", span_of(spec->name),
                                                .message = "There is a server of this name",
                                                .next = "give another name, or force" });
        return;
    }
    s = rest_job_new(c, &adding, spec->name);
    if (!s)
        return;
    s->force = rest_yes(c, "force");
    set_origin(&entry, spec->origin != SPEC_ORIGIN_PERSON ? spec->origin : SPEC_ORIGIN_REST);
    s->entry = buf_move(&entry);
    s->secrets = buf_move(&secrets);
    rest_job_start(&s->job);
}

/* All of the body but the keys. */
static void copy_entry(struct rest_call *c, struct buf *out)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    JSON_FOREACH(member, json_root(&c->doc))
        if (!json_key_is(member, "secrets"))
            json_put_raw_key(&o, json_key_str(member, &a), json_text(member));
    json_end(&o);
}

void rest_server_configure(struct rest_call *c)
{
    struct link *l = rest_link(c);
    AUTO(spec) struct spec *check = NULL;
    AUTO_BUF struct buf entry = { 0 };
    AUTO_SECRET struct buf secrets = { 0 };
    struct pb_error err;
    struct server_saving *s;

    if (!l || refuse_elsewhere(c, link_spec(l)))
        return;
    copy_entry(c, &entry);
    if (parse_entry(&check, link_name(l), buf_span(&entry), &err) < 0 ||
        rest_secrets_take(c, &secrets, &err) < 0) {
        rest_fail_hub(c->r, &err, "name", link_name(l));
        return;
    }
    s = rest_job_new(c, &configuring, link_name(l));
    if (!s)
        return;
    s->entry = buf_move(&entry);
    s->secrets = buf_move(&secrets);
    s->was = spec_ref(link_spec(l));
    spec_write_masked(&s->shown, s->was);
    rest_job_start(&s->job);
}

void rest_server_remove(struct rest_call *c)
{
    struct link *l = rest_link(c);
    AUTO_FREE char *name = mem_dup_opt(rest_text(c, "name"));
    struct pb_error err;
    struct rest_job *j;

    if (!l)
        return;
    if (link_spec(l)->runtime_only) {
        if (hub_remove(c->hub, name, &err) < 0)
            rest_fail_hub(c->r, &err, "name", name);
        else
            write_removed(c->r, name);
        return;
    }
    if (refuse_elsewhere(c, link_spec(l)))
        return;
    j = rest_job_new(c, &removing, name);
    if (j)
        rest_job_start(j);
}

/* A server that is not ours to write about is switched for as long as the hub runs. */
static void enable(struct rest_call *c, bool on)
{
    struct link *l = rest_link(c);
    const char *name = rest_text(c, "name");
    struct pb_error err;
    struct switching *s;

    if (!l)
        return;
    if (!in_config(c->rest, link_spec(l))) {
        if (hub_enable(c->hub, name, on, &err) < 0)
            rest_fail_hub(c->r, &err, "name", name);
        else
            rest_reply_server(c->r, 200, c->hub, hub_link(c->hub, name));
        return;
    }
    s = rest_job_new(c, &switching, name);
    if (!s)
        return;
    s->on = on;
    rest_job_start(&s->job);
}

void rest_server_enable(struct rest_call *c) { enable(c, true); }

void rest_server_disable(struct rest_call *c) { enable(c, false); }

void rest_server_tool(struct rest_call *c)
{
    struct link *l = rest_link(c);
    struct switching *s;

    if (!l || refuse_elsewhere(c, link_spec(l)))
        return;
    s = rest_job_new(c, &switching_tool, link_name(l));
    if (!s)
        return;
    s->on = rest_yes(c, "enabled");
    s->tool = mem_dup(rest_text(c, "tool"));
    rest_job_start(&s->job);
}

void rest_reload(struct rest_call *c)
{
    struct rest_job *j = rest_job_new(c, &reloading, NULL);

    if (j)
        rest_job_start(j);
}
