#include "control_impl.h"
#include "face/host/host.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

/* ---- parameters --------------------------------------------------------------------------- */

bool control_read_params(struct request *r, struct control_params *out, struct arena *a)
{
    static const struct json_field fields[] = {
        { "server", JSON_FIELD_CSTR, offsetof(struct control_params, server), 0 },
        { "id", JSON_FIELD_CSTR, offsetof(struct control_params, id), 0 },
        { "mode", JSON_FIELD_CSTR, offsetof(struct control_params, mode), 0 },
        { "tool", JSON_FIELD_CSTR, offsetof(struct control_params, tool), 0 },
        { "prompt", JSON_FIELD_CSTR, offsetof(struct control_params, prompt), 0 },
        { "lines", JSON_FIELD_UINT, offsetof(struct control_params, lines), 0 },
        { "follow", JSON_FIELD_BOOL, offsetof(struct control_params, follow), 0 },
        { "refresh", JSON_FIELD_BOOL, offsetof(struct control_params, refresh), 0 },
        { "again", JSON_FIELD_BOOL, offsetof(struct control_params, again), 0 },
        { "item", JSON_FIELD_CSTR, offsetof(struct control_params, item), 0 },
        { "prune", JSON_FIELD_BOOL, offsetof(struct control_params, prune), 0 },
        { 0 },
    };
    struct pb_error err;

    *out = (struct control_params){ .lines = LINK_LOG_MAX };
    if (json_fields(r->params, fields, out, a, &err) == 0)
        return true;
    request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "%s", err.msg);
    return false;
}

static int code_of(const struct pb_error *err)
{
    switch (err->code) {
    case PB_E_NOT_FOUND:
        return CONTROL_NOT_FOUND;
    case PB_E_INVALID:
        return fault_of(err) == FAULT_HELD ? CONTROL_HELD : RPC_INVALID_PARAMS;
    case PB_E_AUTH:
        return CONTROL_AUTH;
    case PB_E_TIMEOUT:
        return CONTROL_TIMEOUT;
    default:
        return fault_of(err) == FAULT_DISABLED ? CONTROL_DISABLED : RPC_SERVER_ERROR;
    }
}

void control_refuse(struct request *r, const struct pb_error *err)
{
    AUTO_BUF struct buf data = { 0 };
    struct json_out o = json_out(&data);

    json_begin_object(&o, NULL);
    json_put_str(&o, "error", fault_name(err));
    json_end(&o);
    request_fail(r, code_of(err), buf_span(&data), "%s", err->msg);
}

struct link *control_need_server(struct hosts *s, struct request *r, const char *name)
{
    struct link *l = name ? hub_link(hosts_hub(s), name) : NULL;
    struct pb_error err;

    if (!name)
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "server: expected a name");
    else if (!l && control_no_server_of(hosts_hub(s), name, &err) < 0)
        control_refuse(r, &err);
    return l;
}

static void reply_written(struct request *r, struct buf *b) { request_reply(r, buf_span(b)); }

/* ---- what there is ------------------------------------------------------------------------- */

static int write_list(struct json_out *o, const struct hub *h, const struct control_params *p,
                      enum list_kind kind, struct pb_error *err)
{
    const struct mode *mode = p->mode ? mode_find(hub_modes(h), span_of(p->mode)) : NULL;
    struct scope scope = control_scope(p->server, mode);

    if (p->mode && !mode)
        return fail(err, PB_E_NOT_FOUND, "there is no mode '%s'; 'patchbay mode' shows them",
                    p->mode);
    json_begin_object(o, NULL);
    if (!control_write_entries(o, h, kind, &scope) ||
        (kind == LIST_RESOURCES && !control_write_entries(o, h, LIST_TEMPLATES, &scope)))
        return fail(err, PB_E_LIMIT, "the mode '%s' takes too long; a simpler pattern helps",
                    p->mode);
    control_write_failed(o, "failed", h, p->server);
    control_write_remembered(o, "remembered", h, p->server);
    json_end(o);
    return 0;
}

static void send_list(struct hosts *s, struct request *r, const struct control_params *p,
                      enum list_kind kind)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct pb_error err;

    if (write_list(&o, hosts_hub(s), p, kind, &err) < 0)
        control_refuse(r, &err);
    else
        reply_written(r, &b);
}

static void send_tools(struct hosts *s, struct request *r, const struct control_params *p)
{
    send_list(s, r, p, LIST_TOOLS);
}

static void send_resources(struct hosts *s, struct request *r, const struct control_params *p)
{
    send_list(s, r, p, LIST_RESOURCES);
}

static void send_prompts(struct hosts *s, struct request *r, const struct control_params *p)
{
    send_list(s, r, p, LIST_PROMPTS);
}

static void send_servers(struct hosts *s, struct request *r, const struct control_params *p)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    (void)p;
    json_begin_object(&o, NULL);
    control_write_servers(&o, "servers", hosts_hub(s));
    json_put_str_opt(&o, "config_error", control_facts_of(s)->config_error);
    json_end(&o);
    reply_written(r, &b);
}

static void run_tools(struct hosts *s, struct request *r) { control_when_known(s, r, send_tools); }
static void run_resources(struct hosts *s, struct request *r)
{
    control_when_known(s, r, send_resources);
}
static void run_prompts(struct hosts *s, struct request *r)
{
    control_when_known(s, r, send_prompts);
}
static void run_servers(struct hosts *s, struct request *r) { send_servers(s, r, NULL); }

/* Waits until all are up or have failed: for a hub that was just started. */
static void run_settled(struct hosts *s, struct request *r)
{
    struct control_wait *w = control_wait_new(s, r, send_servers);

    if (w)
        control_wait_settled(w);
}

static void reply_server(struct request *r, const struct hub *h, struct link *l)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    control_write_server(&o, NULL, h, l, true);
    reply_written(r, &b);
}

static void run_server(struct hosts *s, struct request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    struct control_params p;
    struct link *l = control_read_params(r, &p, &a) ? control_need_server(s, r, p.server) : NULL;

    if (l)
        reply_server(r, hosts_hub(s), l);
}

static void run_modes(struct hosts *s, struct request *r)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    control_write_modes(&o, "modes", hosts_hub(s));
    json_end(&o);
    reply_written(r, &b);
}

static void run_calls(struct hosts *s, struct request *r)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    control_write_calls(&o, "calls", hosts_hub(s));
    json_end(&o);
    reply_written(r, &b);
}

static void run_status(struct hosts *s, struct request *r)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    control_write_status(&o, s);
    reply_written(r, &b);
}

/* ---- actions on one server ----------------------------------------------------------------- */

static void on_asker_gone(struct request *r, enum cancel_reason why)
{
    struct control_act *a = r->work;

    (void)why;
    a->asker = NULL;
}

static void on_acted(struct control_act *a, struct link *l, const struct pb_error *err)
{
    struct request *r = a->asker;

    r->work = NULL;
    r->cancel = NULL;
    if (err)
        control_refuse(r, err);
    else
        reply_server(r, a->hub, l);
}

/* On the server that the request names. NULL: answered. */
static struct control_act *new_act(struct hosts *s, struct request *r, control_acted_fn *done)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct control_params p;
    struct control_act *a;

    if (!control_read_params(r, &p, &arena) || !control_need_server(s, r, p.server))
        return NULL;
    a = control_act_new(hosts_hub(s), p.server, r, done);
    r->work = a;
    r->cancel = on_asker_gone;
    return a;
}

static void act(struct hosts *s, struct request *r, control_act_fn *fn, bool wait)
{
    struct control_act *a = new_act(s, r, on_acted);

    if (a)
        control_act_start(a, fn, wait);
}

static void on_pong(struct control_act *a, struct link *l, const struct pb_error *err)
{
    struct request *r = a->asker;
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    (void)l;
    r->work = NULL;
    r->cancel = NULL;
    if (err) {
        control_refuse(r, err);
        return;
    }
    control_write_pong(&o, a);
    reply_written(r, &b);
}

static void run_ping(struct hosts *s, struct request *r)
{
    struct control_act *a = new_act(s, r, on_pong);

    if (a)
        control_act_ping(a);
}

static void run_connect(struct hosts *s, struct request *r) { act(s, r, hub_connect, true); }
static void run_reconnect(struct hosts *s, struct request *r) { act(s, r, hub_reconnect, true); }
static void run_restart(struct hosts *s, struct request *r) { act(s, r, hub_restart, true); }
static void run_disconnect(struct hosts *s, struct request *r) { act(s, r, hub_disconnect, false); }

static int cancel_connect(struct hub *h, const char *name, struct pb_error *err)
{
    enum link_state s = link_state(hub_link(h, name));

    if (!link_is_coming(s))
        return fail(err, PB_E_INVALID, "server '%s' is %s: there is no attempt to cancel", name,
                    link_state_name(s));
    return hub_cancel_connect(h, name, err);
}

static void run_cancel_connect(struct hosts *s, struct request *r)
{
    act(s, r, cancel_connect, false);
}

static void run_cancel(struct hosts *s, struct request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    struct pb_error err;
    struct control_params p;

    if (!control_read_params(r, &p, &a))
        return;
    if (p.id && gate_cancel_uuid(hosts_gate(s), p.id, CALL_BY_USER)) {
        request_reply(r, SPAN("{\"cancelled\":true}"));
        return;
    }
    fail(&err, PB_E_NOT_FOUND, "no call '%s' is running; 'patchbay status' lists those that are",
         p.id ? p.id : "");
    control_refuse(r, &err);
}

/* ---- logs ---------------------------------------------------------------------------------- */

/* Somebody who reads a server's log as it is written. */
struct follower {
    struct request *r;
    char *server;
    struct hub_subscription *listening;
};

static void unfollow(struct request *r, enum cancel_reason why)
{
    struct follower *f = r->work;

    (void)why;
    hub_unlisten(f->listening);
    free(f->server);
    free(f);
}

static void on_log(void *ctx, const struct hub_event *e)
{
    struct follower *f = ctx;
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    if (e->kind != EVENT_LOG || (f->server && strcmp(f->server, e->server) != 0))
        return;
    log_entry_put(&o, NULL, e->server, e->log);
    request_mention(f->r, "notifications/patchbay/log", buf_span(&b));
}

static void follow(struct hosts *s, struct request *r, const char *server)
{
    struct follower *f = NEW(struct follower);
    struct hub_listener listener = { .event = on_log, .no_calls = true, .ctx = f };

    f->r = r;
    f->server = mem_dup_opt(server);
    f->listening = hub_listen(hosts_hub(s), &listener);
    r->work = f;
    r->cancel = unfollow;
}

static void run_logs(struct hosts *s, struct request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct control_params p;

    if (!control_read_params(r, &p, &a) || (p.server && !control_need_server(s, r, p.server)))
        return;
    json_begin_object(&o, NULL);
    control_write_logs(&o, "entries", hosts_hub(s), p.server, (size_t)p.lines);
    json_end(&o);
    if (!p.follow) {
        reply_written(r, &b);
        return;
    }
    request_notify(r, "notifications/patchbay/logs", buf_span(&b));
    follow(s, r, p.server);
}

/* ---- the daemon itself --------------------------------------------------------------------- */

/* Somebody who waits until the config was read again. */
struct reload_asker {
    struct request *r; /* NULL: gone */
    struct hosts *hosts;
};

static void on_reload_asker_gone(struct request *r, enum cancel_reason why)
{
    struct reload_asker *w = r->work;

    (void)why;
    w->r = NULL;
}

static void reply_reloaded(struct request *r, const struct control_facts *f)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    json_put_bool(&o, "reloaded", true);
    control_write_files(&o, "files", f);
    json_end(&o);
    reply_written(r, &b);
}

static void on_reloaded(void *ctx, const struct pb_error *err)
{
    struct reload_asker *w = ctx;
    struct request *r = w->r;

    if (r) {
        r->work = NULL;
        r->cancel = NULL;
    }
    if (r && err)
        control_refuse(r, err);
    else if (r)
        reply_reloaded(r, control_facts_of(w->hosts));
    free(w);
}

static void run_reload(struct hosts *s, struct request *r)
{
    struct reload_asker *w = NEW(struct reload_asker);

    *w = (struct reload_asker){ r, s };
    r->work = w;
    r->cancel = on_reload_asker_gone;
    if (control_reload(s, on_reloaded, w))
        return;
    r->work = NULL;
    r->cancel = NULL;
    free(w);
    request_fail(r, RPC_SERVER_ERROR, SPAN(""), "nothing was read from a file here");
}

static void run_stop(struct hosts *s, struct request *r)
{
    const struct control_facts *f = control_facts_of(s);
    AUTO_ARENA struct arena a = { 0 };
    struct control_params p;

    if (!control_read_params(r, &p, &a))
        return;
    request_reply(r, SPAN("{\"stopping\":true}"));
    if (f->daemon)
        (p.again ? f->daemon->restart : f->daemon->stop)(f->daemon_ctx);
}

/* clang-format off */
const struct control_method control_methods[] = {
    { "patchbay/answer",         "id choice ms? once? reason? who?", "answers a question",      control_answer },
    { "patchbay/approve",        "items prune?",  "lets in definitions that have changed",      control_approve },
    { "patchbay/calls",          "",              "calls under way",                            run_calls },
    { "patchbay/cancel",         "id",            "cancels one of them",                        run_cancel },
    { "patchbay/cancel-connect", "server",        "ends a running attempt to connect",          run_cancel_connect },
    { "patchbay/connect",        "server",        "connects, and waits for the outcome",        run_connect },
    { "patchbay/disconnect",     "server",        "stops a server; its config is kept",         run_disconnect },
    { "patchbay/explain",        "tool as? face? mode? conversation? arguments?", "where a call would stop, and why", control_explain },
    { "patchbay/export",         "format before? filters?", "recorded calls for other programs, some at a time", control_export },
    { "patchbay/find",           "tool | prompt refresh?", "one of them as it is listed; if there is none, why", control_find },
    { "patchbay/forget",         "until?",        "deletes what was recorded, or what is older", control_forget },
    { "patchbay/grants",         "",              "permissions that hold now",                  control_grants },
    { "patchbay/grants-add",     "conversation operation ms? once?", "permits an operation for a while", control_grants_add },
    { "patchbay/grants-auto",    "conversation on", "permits everything, or not any more",      control_grants_auto },
    { "patchbay/grants-rm",      "id | all",      "takes permissions back",                     control_grants_rm },
    { "patchbay/logs",           "server? lines? follow?", "what was logged about servers",     run_logs },
    { "patchbay/modes",          "",              "the modes there are",                        run_modes },
    { "patchbay/object",         "id",            "bytes by their cid, or its beginning",       control_object },
    { "patchbay/ping",           "server",        "asks a server whether it lives",             run_ping },
    { "patchbay/pins",           "item? refresh?", "what was approved, and what has changed",   control_pins },
    { "patchbay/policy",         "",              "the rules in force",                         control_policy },
    { "patchbay/prompts",        "server? mode? refresh?", "prompts of all servers or one",              run_prompts },
    { "patchbay/question",       "id",            "one that waits for an answer",               control_question },
    { "patchbay/questions",      "follow?",       "those that wait for an answer",              control_questions },
    { "patchbay/reconnect",      "server",        "connects again unless it is connected",      run_reconnect },
    { "patchbay/record",         "id",            "one recorded call, by its id, the beginning of that, or its number", control_record },
    { "patchbay/record-stats",   "",              "how much was recorded, and where",           control_record_stats },
    { "patchbay/records",        "filters? since? until? before? limit? follow?", "recorded calls, the newest first", control_records },
    { "patchbay/reload",         "",              "reads the config files, and tells when that is taken", run_reload },
    { "patchbay/resources",      "server? mode? refresh?", "resources and templates of servers",         run_resources },
    { "patchbay/restart",        "server",        "stops a server and starts it again",         run_restart },
    { "patchbay/server",         "server",        "one server, with its spec",                  run_server },
    { "patchbay/servers",        "",              "all servers and how they are",               run_servers },
    { "patchbay/settled",        "",              "the same, when none is connecting any more", run_settled },
    { "patchbay/status",         "",              "the daemon itself",                          run_status },
    { "patchbay/stop",           "again?",        "ends the daemon; again: and starts it anew", run_stop },
    { "patchbay/tools",          "server? mode? refresh?", "tools of all servers or one",                run_tools },
    { 0 },
};
/* clang-format on */

static void keep_nothing(void *p) { (void)p; }

bool control_wants_restart(const struct setting *row, const struct settings *started_with,
                           const struct settings *now)
{
    return row->restart && started_with && now && !setting_same(row, started_with, now);
}

void control_set_facts(struct hosts *s, const struct control_facts *f)
{
    hosts_keep(s, (void *)(uintptr_t)f, keep_nothing);
}

const struct control_facts *control_facts_of(const struct hosts *s)
{
    static const struct control_facts none;
    const struct control_facts *f = hosts_kept(s);

    return f ? f : &none;
}

bool control_reload(const struct hosts *s, control_reloaded_fn *fn, void *fn_ctx)
{
    const struct control_facts *f = control_facts_of(s);

    if (f->daemon)
        f->daemon->reload(f->daemon_ctx, fn, fn_ctx);
    return f->daemon != NULL;
}

static bool handle(struct hosts *s, struct request *r)
{
    for (const struct control_method *m = control_methods; m->name; m++) {
        if (!span_is(r->method, m->name))
            continue;
        if (hosts_hub(s))
            m->run(s, r);
        else
            request_fail(r, RPC_SERVER_ERROR, SPAN(""), "there is no hub here");
        return true;
    }
    return false;
}

void control_start(struct hosts *s) { hosts_set_control(s, handle); }
