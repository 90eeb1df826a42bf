#include "reach.h"
#include "face/control/control.h"
#include "face/host/host.h"
#include "face/listen/listen.h"
#include "gate/gate.h"
#include "hub/config/config.h"
#include "hub/hub/hub.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "hub/warden/warden.h"
#include "mcp/rpc/rpc.h"
#include "question.h"
#include "records.h"
#include "show.h"

enum {
    REACH_TIMEOUT_MS = 120000, /* servers may take their time to start; each has its own limit */
};

struct reach {
    struct pb_client *client;
    bool daemon;
    struct reach_wants wants;
    /* Of our own. */
    struct warden *warden;
    struct hub_thread *thread;
    struct project *project; /* NULL: its servers are not taken */
    struct config *config;
    struct spec **specs; /* of the config: those that are started */
    size_t n_specs;
    struct store *store; /* NULL: what was recorded is of no interest */
    struct gate *gate;
    struct vault *vault; /* the secrets of its servers */
    struct policy *policy;
    const struct cli *cli; /* while it is opened */
    struct hosts *hosts;
    struct host *host;
    struct waiter *closing; /* who waits for its end */
    char *home, *cache, *secrets;
    struct cli_lock lock;
};

static void on_notification(void *ctx, const char *method, const char *params)
{
    const struct reach *s = ctx;

    if (s->wants.notified)
        s->wants.notified(method, params);
}

static void take_options(struct pb_client_options *o, struct reach *s)
{
    const struct reach_wants *w = &s->wants;

    *o = (struct pb_client_options)PB_CLIENT_OPTIONS_INIT;
    o->name = "patchbay-cli";
    o->version = pb_version();
    o->era = PB_ERA_LEGACY; /* one round trip to open, and both ends are ours */
    o->timeout_ms = w->start_ms ? w->start_ms : REACH_TIMEOUT_MS;
    o->on_notification = on_notification;
    o->ctx = s;
    question_options(o);
}

static int open_client(struct reach *s, const struct pb_client_options *o, struct pb_error *err)
{
    int rc = pb_client_open(&s->client, o, err);

    if (rc == 0)
        question_hub(s->client, s->daemon);
    return rc;
}

/* ---- the daemon ---------------------------------------------------------------------------- */

static int open_daemon(struct reach *s, const struct cli *cli, struct pb_error *err)
{
    const struct host_scope scope = { .control = true };
    AUTO_FREE char *path = cli_socket_path(cli);
    struct pb_client_options o;
    int rc;

    take_options(&o, s);
    rc = attach_connect(&o.fd, path, &scope, err);
    if (rc < 0)
        return rc;
    s->daemon = true;
    return open_client(s, &o, err);
}

/* ---- our own hub --------------------------------------------------------------------------- */

/* Who only reads has nothing to record. */
static int open_records(struct reach *s, struct pb_loop *loop, struct pb_error *err)
{
    struct store_options o = { .loop = loop };
    int rc = records_open(&s->store, s->cli, &o, err);
    AUTO_FREE char *text = rc == -(int)PB_E_BUSY ? mem_dup(err->msg) : NULL;

    if (!text)
        return rc;
    return fail(err, PB_E_BUSY, "%.*s; it must end before they can be read without it",
                (int)strcspn(text, ";"), text);
}

static void start_hub(struct waiter *w, void *ctx)
{
    struct reach *s = ctx;
    struct hub *hub = hub_thread_hub(s->thread);
    struct host_options opts = { 0 };
    struct gate_options gate = { 0 };
    const struct host_scope scope = { .control = true };
    struct pb_error err;
    int rc = s->wants.records ? open_records(s, hub_loop(hub), &err) : 0;

    gate.hub = hub;
    gate.store = s->store;
    gate.pins = &s->lock.options;
    gate.redact = vault_redact;
    gate.redact_ctx = s->vault;
    cli_gate_options(&gate, &s->config->settings);
    opts.gate = s->gate = gate_new(&gate); /* before any server says what it has */
    if (!s->wants.no_servers)
        tools_new(&(struct tools_options){
            .gate = s->gate, .home = s->home, .settings = &s->config->settings });
    hub_set_modes(hub, s->config->modes);
    hub_start_all(hub, s->specs, s->n_specs);
    gate_set_policy(s->gate, s->policy);
    s->hosts = hosts_new(hub_loop(hub), &opts);
    control_start(s->hosts);
    if (rc == 0)
        rc = hosts_get(s->hosts, &scope, &s->host, &err);
    if (rc == 0)
        rc = warden_reap_on(hub_loop(hub), &err);
    waiter_done(w, rc < 0 ? &err : NULL, NULL, NULL);
}

/* Starting a server takes time: only those that the verb is about. */
static int choose_specs(struct reach *s, const struct reach_wants *w, struct pb_error *err)
{
    struct spec *one = NULL;

    if (w->no_servers || w->records || (w->server && strcmp(w->server, SPEC_OWN) == 0) ||
        (w->item && tools_named(span_of(w->item))))
        return 0;
    if (w->server) {
        one = map_get(&s->config->specs, span_of(w->server));
        if (!one)
            return cli_no_server(s->config, w->server, err);
    } else if (w->item) {
        one = config_spec_of(s->config, w->item, NULL);
        if (!one && item_names_server(span_of(w->item)))
            return cli_no_server(s->config, w->item, err);
    }
    if (!one) {
        s->n_specs = cli_specs(s->config, &s->specs);
        return 0;
    }
    s->specs = mem_alloc(sizeof *s->specs);
    s->specs[0] = one;
    s->n_specs = 1;
    return 0;
}

static int run_own(struct reach *s, const struct cli *cli, const struct reach_wants *w,
                   struct pb_error *err)
{
    struct config_request r = cli_config_request(cli);
    struct hub_options hub = HUB_OPTIONS_INIT;
    struct pb_client_options o;
    struct pb_result *ignored = NULL;
    int rc;

    cli_hub_options(&hub, &s->config->settings);
    s->home = config_home(&r);
    s->cache = config_cache_dir(&r);
    s->secrets = config_secrets_dir(&r);
    s->vault = vault_new();
    hub.vault = s->vault;
    hub.cache_dir = s->cache;
    hub.secrets_dir = s->secrets;
    hub.on_demand = !w->start_all;
    hub.retry_initial = false;
    hub.health_ms = 0;
    cli_lock_read(&s->lock, cli, &s->config->settings);
    rc = hub_thread_start(&s->thread, &hub, err);
    if (rc == 0)
        rc = loop_wait(hub_thread_loop(s->thread), start_hub, s, 0, NULL, err);
    if (rc < 0)
        return rc;
    take_options(&o, s);
    o.server = host_server(s->host);
    rc = open_client(s, &o, err);
    if (rc == 0 && !w->start_all)
        rc = reach_request(s, "patchbay/settled", NULL, &ignored, err);
    pb_result_free(ignored);
    return rc;
}

static int open_own(struct reach *s, const struct cli *cli, const struct reach_wants *w)
{
    struct pb_error err;

    if (cli_load_config(cli, s->project, &s->config, &err) < 0 ||
        cli_policy(s->config, &s->policy, &err) < 0)
        return cli_config_fail(&err);
    if (choose_specs(s, w, &err) < 0)
        return cli_fail(&err);
    if (s->n_specs)
        project_tell_hidden(s->config, s->n_specs == 1 ? s->specs[0]->name : NULL);
    if (warden_start(&s->warden, &err) < 0 || run_own(s, cli, w, &err) < 0)
        return cli_fail(&err);
    return CLI_OK;
}

static int find_hub(struct reach *s, const struct cli *cli, const struct reach_wants *w)
{
    struct pb_error err;
    bool needed = false;
    int rc;

    if (!w->daemon_only && !w->no_servers && !w->records)
        s->project =
            project_for(cli,
                        &(struct project_about){
                            .servers = w->server ? (const char *const[]){ w->server, NULL } : NULL,
                            .item = w->item },
                        &needed);
    if (w->records ||
        (!w->daemon_only && (needed || cli_names_config(cli) || cli_option(cli, "standalone"))))
        return open_own(s, cli, w);
    rc = open_daemon(s, cli, &err);
    if (rc == 0)
        return CLI_OK;
    if (rc != -(int)PB_E_CLOSED || s->daemon)
        return cli_fail(&err);
    if (!w->daemon_only)
        return open_own(s, cli, w);
    return talk_trouble(&(struct trouble){
        .what = FAILURE_UNREACHABLE, .message = err.msg, .hint = "'patchbay serve' starts one" });
}

int reach_open(struct reach **out, const struct cli *cli, const struct reach_wants *w)
{
    struct reach *s = NEW(struct reach);
    int status;

    s->wants = *w;
    s->cli = cli;
    status = find_hub(s, cli, w);
    if (status != CLI_OK)
        reach_close(s);
    else
        *out = s;
    return status;
}

int reach_daemon(struct reach **out, const struct cli *cli, const struct reach_wants *w,
                 struct pb_error *err)
{
    struct reach *s = NEW(struct reach);
    int rc;

    if (w)
        s->wants.notified = w->notified;
    rc = open_daemon(s, cli, err);

    /* That it went away while it was asked is none of the ways in which there is none. */
    if (rc == -(int)PB_E_CLOSED && s->daemon)
        rc = fail(err, PB_E_SYSTEM, "it has just ended");
    if (rc < 0)
        reach_close(s);
    else
        *out = s;
    return rc;
}

static void on_store_closed(void *ctx)
{
    struct reach *s = ctx;

    waiter_done(s->closing, NULL, NULL, NULL);
}

/* No call was made here that is still to be recorded. */
static void on_hosts_closed(void *ctx)
{
    struct reach *s = ctx;

    gate_close(s->gate);
    if (s->store)
        store_close(TAKE(s->store), on_store_closed, s);
    else
        on_store_closed(s);
}

static void close_hosts(struct waiter *w, void *ctx)
{
    struct reach *s = ctx;

    s->closing = w;
    hosts_close(TAKE(s->hosts), on_hosts_closed, s);
}

void reach_close(struct reach *s)
{
    struct pb_error err;

    if (!s)
        return;
    question_hub(NULL, false);
    pb_client_free(s->client);
    question_hub_gone();
    if (s->hosts && loop_wait(hub_thread_loop(s->thread), close_hosts, s, 0, NULL, &err) < 0)
        talk_warn("%s", err.msg);
    if (s->thread) {
        hub_thread_shutdown(s->thread);
        gate_free(s->gate);
        hub_thread_free(s->thread);
    }
    if (s->warden)
        warden_stop(s->warden);
    free(s->specs);
    policy_unref(s->policy);
    config_free(s->config);
    project_free(s->project);
    free(s->home);
    free(s->cache);
    free(s->secrets);
    cli_lock_done(&s->lock);
    vault_free(s->vault);
    free(s);
}

void reach_listen(struct reach *s, void (*notified)(const char *method, const char *params))
{
    s->wants.notified = notified;
}

bool reach_is_daemon(const struct reach *s) { return s->daemon; }

struct pb_client *reach_client(struct reach *s) { return s->client; }

int reach_request(struct reach *s, const char *method, const char *params, struct pb_result **out,
                  struct pb_error *err)
{
    int rc =
        pb_client_request(s->client, method, params && *params ? params : "{}", NULL, out, err);

    /* Of all that a hub is asked, only a server's start can take so long. */
    if (rc == -(int)PB_E_TIMEOUT && s->wants.start_ms)
        return fail(err, PB_E_TIMEOUT,
                    "%s: its server is still starting after %u ms; nothing was "
                    "called",
                    s->wants.item, s->wants.start_ms);
    return rc;
}

int reach_ask(struct reach *s, const char *method, const char *params, struct pb_result **out,
              struct json_doc *doc, struct pb_error *err)
{
    /* {"tools":[{"definition":{ and what is in there: no verb looks at a schema. */
    static const struct json_opts opts = { .keep_depth = 4 };
    int rc = reach_request(s, method, params, out, err);
    const char *text;
    size_t n;

    if (rc < 0)
        return rc;
    text = pb_result_json(*out, &n);
    return json_parse(doc, span_make(text, n), &opts, err);
}

char *reach_params(const char *key, const char *value)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    json_put_str_opt(&o, key, value);
    json_end(&o);
    return buf_take(&b);
}

/* ---- what went wrong ----------------------------------------------------------------------- */

int reach_fail(const struct pb_error *err)
{
    static const struct {
        int code;
        enum cli_failure what;
    } rows[] = {
        { RPC_INVALID_PARAMS, FAILURE_INVALID },  { CONTROL_AUTH, FAILURE_AUTH },
        { CONTROL_NOT_FOUND, FAILURE_NOT_FOUND }, { CONTROL_TIMEOUT, FAILURE_TIMEOUT },
        { CONTROL_DISABLED, FAILURE_DISABLED },   { CONTROL_HELD, FAILURE_HELD },
    };

    if (err->code != PB_E_REMOTE)
        return cli_fail(err);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].code == err->sys)
            return talk_fail(rows[i].what, "%s", err->msg);
    return talk_fail(FAILURE_UNREACHABLE, "%s", err->msg);
}

enum cli_failure reach_failure(struct span fault)
{
    /* clang-format off */
    static const struct {
        const char *fault;
        enum cli_failure what;
    } rows[] = {
        { "auth_required",        FAILURE_AUTH },
        { "call_cancelled",       FAILURE_UNREACHABLE }, /* by somebody else */
        { "call_denied",          FAILURE_DENIED },
        { "call_failed",          FAILURE_TOOL },
        { "call_timeout",         FAILURE_TIMEOUT },
        { "call_unrecorded",      FAILURE_UNREACHABLE },
        { "connect_failed",       FAILURE_UNREACHABLE },
        { "definition_held",      FAILURE_HELD },
        { "server_disabled",      FAILURE_DISABLED },
        { "server_not_connected", FAILURE_UNREACHABLE },
        { "server_not_found",     FAILURE_NOT_FOUND },
        { "tool_not_found",       FAILURE_NOT_FOUND },
        { "too_many_calls",       FAILURE_UNREACHABLE },
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (span_is(fault, rows[i].fault))
            return rows[i].what;
    return FAILURE_COUNT;
}

int reach_tell_failed(struct json failed)
{
    AUTO_ARENA struct arena a = { 0 };
    int status = CLI_OK;

    JSON_FOREACH(f, failed) {
        const char *step = show_member(f, "next_step", &a);
        const char *server = show_member(f, "server", &a);
        const char *message = show_member(f, "message", &a);
        enum cli_failure what = reach_failure(json_str(json_get(f, "error"), &a));

        if (!strstr(message, server))
            message = arena_printf(&a, "%s: %s", server, message);
        status = talk_trouble(
            &(struct trouble){ .what = what < FAILURE_COUNT ? what : FAILURE_UNREACHABLE,
                               .message = message,
                               .hint = *step ? step : NULL,
                               .before = " (try: ",
                               .after = ")" });
    }
    return status;
}
