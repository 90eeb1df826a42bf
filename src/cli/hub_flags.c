#include "hub_flags.h"
#include "face/control/control.h"
#include "hub/config/config.h"
#include "hub/hub/hub.h"
#include "hub/spec/spec.h"
#include "token.h"

enum { SECONDS_MAX = 3600 };

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

int cli_load_config(const struct cli *cli, struct config **out, struct pb_error *err)
{
    struct config_request r = cli_config_request(cli);
    int rc = config_load(out, &r, err);

    for (size_t i = 0; rc == 0 && i < (*out)->n_warnings; i++)
        fprintf(stderr, "patchbay: warning: %s\n", (*out)->warnings[i]);
    return rc;
}

int cli_config_fail(const struct pb_error *err)
{
    cli_fail(err);
    return CLI_USAGE;
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
    static const struct {
        const char *name;
        double seconds;
    } units[] = { { "", 1 }, { "ms", 0.001 }, { "s", 1 }, { "m", 60 } };
    const char *text = cli_option(cli, "timeout");
    char *end;
    double n;

    if (!text)
        return CLI_OK;
    n = strtod(text, &end);
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        double seconds = n * units[i].seconds;

        if (end == text || strcmp(end, units[i].name) != 0 ||
            !(seconds >= 0.001 && seconds <= SECONDS_MAX))
            continue;
        *ms = (uint32_t)(seconds * 1000 + 0.5);
        return CLI_OK;
    }
    return cli_usage(cli->verb,
                     "--timeout is a number of seconds up to %d, or as 300ms or 5m, not '%s'",
                     SECONDS_MAX, text);
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
