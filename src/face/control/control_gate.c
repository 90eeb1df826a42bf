/* control_gate.c - rules, answers and grants; and where a call would stop. */
#include "control_impl.h"
#include "face/relay/relay.h"
#include "gate/gate.h"
#include "hub/catalog/catalog.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "mcp/rpc/rpc.h"

struct gate_params {
    char *id, *choice, *reason, *who, *conversation, *operation;
    uint64_t ms;
    bool once, all, on;
};

static bool read_params(struct request *r, struct gate_params *out, struct arena *a)
{
    static const struct json_field fields[] = {
        { "id", JSON_FIELD_CSTR, offsetof(struct gate_params, id), 0 },
        { "choice", JSON_FIELD_CSTR, offsetof(struct gate_params, choice), 0 },
        { "reason", JSON_FIELD_CSTR, offsetof(struct gate_params, reason), 0 },
        { "who", JSON_FIELD_CSTR, offsetof(struct gate_params, who), 0 },
        { "conversation", JSON_FIELD_CSTR, offsetof(struct gate_params, conversation), 0 },
        { "operation", JSON_FIELD_CSTR, offsetof(struct gate_params, operation), 0 },
        { "ms", JSON_FIELD_UINT, offsetof(struct gate_params, ms), 0 },
        { "once", JSON_FIELD_BOOL, offsetof(struct gate_params, once), 0 },
        { "all", JSON_FIELD_BOOL, offsetof(struct gate_params, all), 0 },
        { "on", JSON_FIELD_BOOL, offsetof(struct gate_params, on), 0 },
        { 0 },
    };
    struct pb_error err;

    *out = (struct gate_params){ 0 };
    if (json_fields(r->params, fields, out, a, &err) == 0)
        return true;
    request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "%s", err.msg);
    return false;
}

/* ---- rules --------------------------------------------------------------------------------- */

void control_policy(struct hosts *s, struct request *r)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    const struct policy *p = gate_policy(hosts_gate(s));

    json_begin_object(&o, NULL);
    json_put_str(&o, "version", policy_version(p));
    json_put_uint(&o, "rules", policy_rules(p));
    json_put_raw(&o, "policy", policy_text(p));
    json_end(&o);
    request_reply(r, buf_span(&b));
}

/* ---- questions ----------------------------------------------------------------------------- */

void control_question(struct hosts *s, struct request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    const struct question *q;
    struct gate_params p;
    struct pb_error err;

    if (!read_params(r, &p, &a))
        return;
    q = gate_question(hosts_gate(s), p.id ? p.id : "");
    if (!q) {
        fail(&err, PB_E_NOT_FOUND, "there is no question '%s'", p.id ? p.id : "");
        control_refuse(r, &err);
        return;
    }
    question_write(&o, NULL, q);
    request_reply(r, buf_span(&b));
}

static bool choice_parse(const char *word, enum question_choice *out)
{
    for (unsigned i = 0; word && i < CHOICE_COUNT; i++)
        if (strcmp(word, question_choice_name((enum question_choice)i)) == 0) {
            *out = (enum question_choice)i;
            return true;
        }
    return false;
}

void control_answer(struct hosts *s, struct request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct question_answer answer = { .by = ASK_CLI };
    struct gate_params p;
    struct pb_error err;

    if (!read_params(r, &p, &a))
        return;
    if (!choice_parse(p.choice, &answer.choice)) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "choice: expected approve, grant or deny");
        return;
    }
    answer.grant_ms = p.ms;
    answer.grant_once = p.once;
    answer.who = p.who;
    answer.reason = p.reason;
    json_begin_object(&o, NULL);
    json_put_str(&o, "id", p.id ? p.id : "");
    json_put_str(&o, "choice", p.choice);
    json_end(&o);
    if (gate_answer(hosts_gate(s), p.id ? p.id : "", &answer, &err) < 0)
        control_refuse(r, &err);
    else
        request_reply(r, buf_span(&b));
}

/* ---- grants -------------------------------------------------------------------------------- */

void control_grants(struct hosts *s, struct request *r)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    grants_members(&o, gate_grants(hosts_gate(s)));
    json_end(&o);
    request_reply(r, buf_span(&b));
}

static bool has_words(struct request *r, const char *const *words, const char *const *names)
{
    for (; *names; words++, names++)
        if (!*words || !**words) {
            request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "%s: expected a text", *names);
            return false;
        }
    return true;
}

void control_grants_add(struct hosts *s, struct request *r)
{
    static const char *const names[] = { "conversation", "operation", NULL };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    const struct grant *one;
    struct gate_params p;
    struct pb_error err;

    if (!read_params(r, &p, &a) ||
        !has_words(r, (const char *const[]){ p.conversation, p.operation }, names))
        return;
    if (grants_add(gate_grants(hosts_gate(s)), p.conversation, p.operation, p.ms, p.once, ASK_CLI,
                   &one, &err) < 0) {
        control_refuse(r, &err);
        return;
    }
    grant_write(&o, one);
    request_reply(r, buf_span(&b));
}

void control_grants_rm(struct hosts *s, struct request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct grants *g = gate_grants(hosts_gate(s));
    struct gate_params p;
    struct pb_error err;
    size_t n;

    if (!read_params(r, &p, &a))
        return;
    n = p.all ? grants_revoke_all(g, NULL) : p.id ? grants_revoke(g, p.id) : 0;
    if (!n && !p.all) {
        fail(&err, PB_E_NOT_FOUND,
             "there is no grant '%s' (any more); 'patchbay grants' shows them", p.id ? p.id : "");
        control_refuse(r, &err);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_uint(&o, "removed", n);
    json_end(&o);
    request_reply(r, buf_span(&b));
}

void control_grants_auto(struct hosts *s, struct request *r)
{
    static const char *const names[] = { "conversation", NULL };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct grants *g = gate_grants(hosts_gate(s));
    struct gate_params p;
    struct pb_error err;

    if (!read_params(r, &p, &a) || !has_words(r, (const char *const[]){ p.conversation }, names))
        return;
    if (grants_set_auto(g, p.conversation, p.on, ASK_CLI, &err) < 0) {
        control_refuse(r, &err);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "conversation", p.conversation);
    json_put_bool(&o, "auto_approve", grants_auto(g, p.conversation, ASK_CLI));
    json_end(&o);
    request_reply(r, buf_span(&b));
}

/* ---- where a call would stop --------------------------------------------------------------- */

struct explain_params {
    char *as, *face, *mode, *conversation;
    struct json arguments;
};

static bool read_explain(struct request *r, struct explain_params *out, struct arena *a)
{
    static const struct json_field fields[] = {
        { "as", JSON_FIELD_CSTR, offsetof(struct explain_params, as), 0 },
        { "face", JSON_FIELD_CSTR, offsetof(struct explain_params, face), 0 },
        { "mode", JSON_FIELD_CSTR, offsetof(struct explain_params, mode), 0 },
        { "conversation", JSON_FIELD_CSTR, offsetof(struct explain_params, conversation), 0 },
        { "arguments", JSON_FIELD_OBJECT, offsetof(struct explain_params, arguments), 0 },
        { 0 },
    };
    struct pb_error err;

    *out = (struct explain_params){ 0 };
    if (json_fields(r->params, fields, out, a, &err) == 0)
        return true;
    request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "%s", err.msg);
    return false;
}

/* False: refused and answered. */
static bool take_mode(struct hosts *s, struct request *r, const char *mode, struct gate_dry *d,
                      struct scope *scope)
{
    const struct mode *m = mode ? mode_find(hub_modes(hosts_hub(s)), span_of(mode)) : NULL;
    struct pb_error err;

    d->mode = mode;
    if (!mode)
        return true;
    if (!m) {
        fail(&err, PB_E_NOT_FOUND, "there is no mode '%s'; 'patchbay mode' shows them", mode);
        control_refuse(r, &err);
        return false;
    }
    *scope = control_scope(NULL, m);
    d->scope = scope;
    return true;
}

static bool take_face(struct request *r, const char *word, struct gate_dry *d)
{
    d->face = FACE_MCP;
    for (unsigned i = 0; word && i < FACE_COUNT; i++)
        if (strcmp(word, order_face_name((enum order_face)i)) == 0) {
            d->face = (enum order_face)i;
            return true;
        }
    if (word)
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""),
                     "face: expected mcp_server, rest, cli or agent, not '%s'", word);
    return !word;
}

/* There is no such tool to be called: that is the only step. */
static void write_missing(struct json_out *o, const struct pb_error *err)
{
    json_begin_object(o, "explained");
    json_begin_array(o, "steps");
    json_begin_object(o, NULL);
    json_put_str(o, "step", "find");
    json_put_str(o, "says", "stop");
    json_put_str(o, "reason", err->msg);
    json_end(o);
    json_end(o);
    json_put_str(o, "outcome",
                 fault_of(err) == FAULT_NO_SERVER || fault_of(err) == FAULT_NO_TOOL
                     ? "not_found"
                     : "unreachable");
    json_put_str(o, "reason", err->msg);
    json_put_bool(o, "recorded", false);
    json_end(o);
}

static void reply_explained(struct hosts *s, struct request *r, const char *tool,
                            const struct gate_dry *d, const struct pb_error *missing)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    json_put_str(&o, "tool", tool);
    json_put_str_opt(&o, "as", d->client);
    json_put_str(&o, "face", order_face_name(d->face));
    json_put_str_opt(&o, "mode", d->mode);
    if (missing)
        write_missing(&o, missing);
    else
        gate_explain(hosts_gate(s), d, &o, "explained");
    json_end(&o);
    request_reply(r, buf_span(&b));
}

/* What is listed may be what its server said once. */
static bool is_reachable(const struct link *l, struct pb_error *err)
{
    struct link_status status;

    link_status(l, &status);
    if (!link_is_failed(status.state) && status.state != LINK_DISCONNECTED &&
        status.state != LINK_DISABLED)
        return true;
    fault_fail(err, status.state == LINK_DISABLED ? FAULT_DISABLED : FAULT_NOT_CONNECTED,
               "server '%s' is %s%s%s", link_name(l), link_state_name(status.state),
               status.message ? ": " : "", status.message ? status.message : "");
    control_add_advice(err, link_name(l));
    return false;
}

static void explain(struct hosts *s, struct request *r, const struct control_params *p)
{
    AUTO_ARENA struct arena a = { 0 };
    struct explain_params x;
    struct gate_dry d = { 0 };
    struct scope scope;
    struct pb_error err = { 0 };
    const struct entry *e = control_look_up(s, p, &err);

    if (!read_explain(r, &x, &a) || !take_face(r, x.face, &d) ||
        !take_mode(s, r, x.mode, &d, &scope))
        return;
    d.client = x.as;
    d.conversation = x.conversation       ? x.conversation
                     : d.face == FACE_CLI ? RELAY_CLI_CONVERSATION
                                          : NULL;
    d.arguments = json_text(x.arguments);
    if (e) {
        d.server = e->server;
        d.tool = e->name;
        if (e->server && !is_reachable(hub_link(hosts_hub(s), e->server), &err))
            e = NULL;
    }
    reply_explained(s, r, p->tool, &d, e ? NULL : &err);
}

void control_explain(struct hosts *s, struct request *r) { control_when_found(s, r, explain); }
