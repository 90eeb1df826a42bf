#include "hub_flags.h"
#include "face/control/control.h"
#include "face/host/host.h"
#include "gate/gate.h"
#include "hub/config/config.h"
#include "hub/hub/hub.h"
#include "hub/spec/spec.h"
#include "talk.h"
#include "token.h"

enum { SECONDS_MAX = 3600 };

int cli_expose(const struct cli *cli, unsigned *out, struct pb_error *err)
{
    const char *expose = cli_option(cli, "expose"), *builtin = cli_option(cli, "builtin");
    unsigned shown = HOST_CATALOG, ours = 0;

    *out = 0;
    if (!expose && !builtin)
        return 0;
    if (expose && host_parse_expose(expose, &shown, err) < 0)
        return -PB_E_INVALID;
    if (builtin && strcmp(builtin, "all") != 0 && host_parse_expose(builtin, &ours, err) < 0)
        return -PB_E_INVALID;
    if (builtin && strcmp(builtin, "all") == 0)
        ours = HOST_BUILTIN;
    *out = shown | ours;
    return 0;
}

struct config_request cli_config_request(const struct cli *cli)
{
    return (struct config_request){
        .files = cli_option_list(cli, "config"),
        .clients = cli_option(cli, "mcp-clients") != NULL,
        .clients_file = cli_option(cli, "mcp-clients-config"),
        .inlines = cli_option_list(cli, "mcp-client"),
        .env = token_env,
    };
}

bool cli_names_config(const struct cli *cli)
{
    struct config_request r = cli_config_request(cli);

    return r.files || r.clients || r.clients_file || r.inlines;
}

int cli_load_config(const struct cli *cli, const struct project *p, struct config **out,
                    struct pb_error *err)
{
    struct config_request r = cli_config_request(cli);
    int rc;

    r.project = p ? &p->source : NULL;
    rc = config_load(out, &r, err);
    for (size_t i = 0; rc == 0 && i < (*out)->n_warnings; i++)
        talk_warn("%s", (*out)->warnings[i]);
    return rc;
}

int cli_policy(const struct config *c, struct policy **out, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    int rc;

    if (!c->policy) {
        *out = policy_new();
        return 0;
    }
    rc = json_parse(&doc, span_of(c->policy), NULL, err);
    if (rc == 0)
        rc = policy_parse(out, json_root(&doc), err);
    return rc < 0 ? fail_in(err, "%s", c->policy_at) : 0;
}

int cli_config_fail(const struct pb_error *err)
{
    enum cli_failure what = err->code == PB_E_NOT_FOUND                          ? FAILURE_NOT_FOUND
                            : err->code == PB_E_SYSTEM || err->code == PB_E_BUSY ? FAILURE_FILE
                                                                                 : FAILURE_INVALID;

    return talk_fail(what, "%s", err->msg);
}

void cli_gate_options(struct gate_options *o, const struct settings *s)
{
    o->detail = strcmp(s->record, "all") == 0    ? RECORD_ALL
                : strcmp(s->record, "meta") == 0 ? RECORD_META
                                                 : RECORD_NONE;
    o->go_on = strcmp(s->record_failure, "go_on") == 0;
    o->ask_ms = s->ask_ms;
}

void cli_lock_read(struct cli_lock *l, const struct cli *cli, const struct settings *s)
{
    struct config_request r = cli_config_request(cli);

    *l = (struct cli_lock){ .path = config_lock_path(&r) };
    l->options = (struct pins_options){
        .path = l->path,
        .lock = &l->lock,
        .changes = definition_changes_of(s->definition_changes),
    };
    if (lock_read(&l->lock, l->path, &l->err) < 0)
        l->options.lock_err = &l->err;
}

void cli_lock_done(struct cli_lock *l)
{
    lock_done(&l->lock);
    free(l->path);
    *l = (struct cli_lock){ 0 };
}

void cli_store_options(struct store_options *o, const struct settings *s)
{
    o->keep_ms = s->record_days * UINT64_C(86400000);
    o->keep_calls = s->record_calls;
    o->keep_bytes = s->record_mb * UINT64_C(1000000);
}

void cli_hub_options(struct hub_options *o, const struct settings *s)
{
    o->connect_ms = s->connect_ms;
    o->call_ms = s->call_ms;
    o->health_ms = s->health_ms;
    o->reconnect = (struct retry_policy){ RETRY_BACKOFF, (unsigned)s->reconnect_max,
                                          s->reconnect_base_ms, s->reconnect_jitter };
    o->restart_max = (unsigned)s->restart_max;
    o->retry_initial = s->retry_initial;
    o->refresh_on_change = strcmp(s->tool_refresh, "on_change") == 0;
    o->max_servers = s->max_servers;
    o->inherit_env = s->inherit_env;
}

int cli_timeout(const struct cli *cli, uint32_t *ms)
{
    const char *text = cli_option(cli, "timeout");
    uint64_t given;

    if (!text)
        return CLI_OK;
    if (!duration_parse(span_of(text), &given) || !given || given > SECONDS_MAX * UINT64_C(1000))
        return cli_usage(cli->verb,
                         "--timeout is a number of seconds up to %d, or as 300ms or 5m, not '%s'",
                         SECONDS_MAX, text);
    *ms = (uint32_t)given;
    return CLI_OK;
}

char *cli_socket_path(const struct cli *cli)
{
    struct config_request r = cli_config_request(cli);
    AUTO_FREE char *dir = config_runtime_dir(&r);
    AUTO_BUF struct buf path = { 0 };

    buf_printf(&path, "%s/patchbay.sock", dir);
    return buf_take(&path);
}

size_t cli_specs(const struct config *c, struct spec ***out)
{
    struct spec **specs = mem_alloc((c->specs.n + 1) * sizeof *specs);
    struct map_slot *slot;
    size_t n = 0;

    MAP_FOREACH(slot, &c->specs)
        specs[n++] = slot->value;
    *out = specs;
    return n;
}

int cli_no_server(const struct config *c, const char *item, struct pb_error *err)
{
    AUTO_FREE const char **names = mem_zero((c->specs.n + 1) * sizeof *names);
    struct map_slot *slot;
    size_t n = 0;

    MAP_FOREACH(slot, &c->specs)
        names[n++] = ((const struct spec *)slot->value)->name;
    return control_no_server(item, names, err);
}
