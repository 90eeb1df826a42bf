/* rest_policy.c - the rules about calls, kept in config.json, and what they say about one. */
#include "face/control/control.h"
#include "face/relay/relay.h"
#include "gate/gate.h"
#include "hub/catalog/catalog.h"
#include "hub/config/config.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "io/http/http.h"
#include "rest_impl.h"

/* ---- as they are ---- */

static void reply_policy(struct http_request *r, const struct policy *p)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);
    struct json rules = { 0 }, usual = { 0 };

    if (json_parse(&doc, policy_text(p), &(struct json_opts){ .keep_depth = 1 }, NULL) == 0) {
        rules = json_get(json_root(&doc), "rules");
        usual = json_get(json_root(&doc), "default");
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "version", policy_version(p));
    json_put_raw(&o, "rules", json_is(rules, JSON_NONE) ? SPAN("[]") : json_text(rules));
    json_put_raw(&o, "default", json_is(usual, JSON_NONE) ? SPAN("{}") : json_text(usual));
    json_end(&o);
    rest_reply(r, 200, &body);
}

void rest_policy(struct rest_call *c) { reply_policy(c->r, gate_policy(c->rest->gate)); }

/* ---- changing them ---- */

struct policy_saving {
    struct rest_job job;
    struct buf text, seen; /* seen: in whose place */
    struct policy *policy;
    bool bound; /* to what was seen */
};

static void saving_done(struct rest_job *j)
{
    struct policy_saving *s = CONTAINER_OF(j, struct policy_saving, job);

    buf_done(&s->text);
    buf_done(&s->seen);
    policy_unref(s->policy);
}

static int save(struct rest_job *j, struct pb_error *err)
{
    const struct policy_saving *s = CONTAINER_OF(j, struct policy_saving, job);

    return config_save_policy(j->path, buf_span(&s->text),
                              s->bound ? buf_span(&s->seen) : (struct span){ 0 }, err);
}

static void reply_saved(struct rest_job *j)
{
    const struct policy_saving *s = CONTAINER_OF(j, struct policy_saving, job);
    const struct policy *now = gate_policy(j->rest->gate);

    if (strcmp(policy_version(now), policy_version(s->policy)) == 0)
        reply_policy(j->r, now);
    else
        rest_fail(j->r, &(struct rest_failure){
                            409, "config_not_taken",
                            .message = "It was saved, but another file has rules that count more",
                            .next = "GET /api/status names the files, the last one counts" });
}

/* clang-format off */
static const struct rest_errand saving = { ERRAND_CHANGES, sizeof(struct policy_saving), save, reply_saved, saving_done, "policy_changed" };
/* clang-format on */

/* The rules alone: what GET told beside them is not for the config. */
static void write_given(struct buf *out, struct rest_call *c)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_raw(&o, "default", json_text(rest_value(c, "default")->json));
    json_put_raw(&o, "rules", json_text(rest_value(c, "rules")->json));
    json_end(&o);
}

struct policy *rest_policy_read(struct rest_call *c, struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct policy *p = NULL;
    struct pb_error err;

    if (json_parse(&doc, text, NULL, &err) < 0 || policy_parse(&p, json_root(&doc), &err) < 0) {
        rest_fail(c->r, &(struct rest_failure){ 400, "invalid_request", .message = err.msg });
        return NULL;
    }
    return p;
}

void rest_policy_save(struct rest_call *c)
{
    const char *seen = rest_text(c, "version"), *now = policy_version(gate_policy(c->rest->gate));
    AUTO_BUF struct buf text = { 0 };
    AUTO(policy) struct policy *p = NULL;
    struct policy_saving *s;

    if (!rest_value(c, "rules")->given) { /* it would take away those that there are */
        rest_refuse(c->r, "rules: expected a list, empty for none");
        return;
    }
    write_given(&text, c);
    p = rest_policy_read(c, buf_span(&text));
    if (!p)
        return;
    if (seen && strcmp(seen, now) != 0) {
        rest_fail(c->r, &(struct rest_failure){ 409, "policy_changed",
                                                .message = "Somebody else has changed the rules" });
        return;
    }
    s = rest_job_new(c, &saving, NULL);
    if (!s)
        return;
    buf_add_span(&s->text, buf_span(&text));
    s->bound = seen != NULL;
    buf_add_span(&s->seen, policy_text(gate_policy(c->rest->gate)));
    s->policy = TAKE(p);
    rest_job_start(&s->job);
}

/* ---- what they say about a call ---- */

/* False: refused and answered. */
static bool read_face(struct rest_call *c, enum order_face *out)
{
    const char *word = rest_text(c, "face");

    *out = FACE_MCP;
    if (!word)
        return true;
    for (unsigned i = 0; i < FACE_COUNT; i++)
        if (strcmp(word, order_face_name((enum order_face)i)) == 0) {
            *out = (enum order_face)i;
            return true;
        }
    rest_refuse(c->r, "face: expected mcp_server, rest, cli or agent, got '%.*s'",
                MCP_NAME_SHOWN_MAX, word);
    return false;
}

/* False: answered. */
static bool read_tool(struct rest_call *c, struct gate_dry *d)
{
    const char *item = rest_text(c, "tool");
    struct scope all = { .disabled_too = true };
    struct pb_error err;
    const struct entry *e =
        catalog_find(hub_catalog(c->hub), &all, LIST_TOOLS, span_of(item), &err);
    const struct link *l;

    if (e && e->server) {
        d->server = e->server;
        d->tool = e->name;
        return true;
    }
    l = hub_link_of(c->hub, item, &d->tool);
    d->server = l ? link_name(l) : NULL;
    if (!l)
        rest_fail(c->r,
                  &(struct rest_failure){ 404, "server_not_found", "tool", span_of(item),
                                          .message = "There is no server that this could be of" });
    return l != NULL;
}

void rest_explain(struct rest_call *c)
{
    const char *id = rest_text(c, "mode");
    const struct mode *mode = id ? mode_find(hub_modes(c->hub), span_of(id)) : NULL;
    struct scope scope = control_scope(NULL, mode);
    struct gate_dry d = { .client = rest_text(c, "client"),
                          .mode = id,
                          .conversation = rest_text(c, "conversation"),
                          .scope = &scope,
                          .arguments = json_text(rest_value(c, "arguments")->json) };
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);
    char own[REST_RUN_CHARS + 1];

    if (id && !mode) {
        rest_fail(c->r, &(struct rest_failure){ 404, "mode_not_found", "mode", span_of(id),
                                                .message = "There is no mode of this name" });
        return;
    }
    if (!read_face(c, &d.face) || !read_tool(c, &d))
        return;
    rest_conversation(c, own);
    if (!d.conversation && d.face == FACE_REST) /* as a call of whoever asks would have it */
        d.conversation = own;
    else if (!d.conversation && d.face == FACE_CLI)
        d.conversation = RELAY_CLI_CONVERSATION;
    gate_explain(c->rest->gate, &d, &o, NULL);
    rest_reply(c->r, 200, &body);
}
