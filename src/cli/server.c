#include "hub_flags.h"
#include "question.h"
#include "talk.h"
#include <string.h>
#include <strings.h>

bool cli_has_server(const struct cli *cli) { return cli->command || cli_option(cli, "url"); }

static bool is_url(const char *word)
{
    return strncasecmp(word, "http://", 7) == 0 || strncasecmp(word, "https://", 8) == 0;
}

void cli_take_url(struct cli *cli)
{
    if (!cli->n_args || cli_has_server(cli) || !is_url(cli->args[0]))
        return;
    cli_set_option(cli, "url", cli->args[0]);
    cli->args++;
    cli->n_args--;
}

static void say_stderr(void *ctx, enum pb_log_level level, const char *line)
{
    (void)ctx;
    (void)level;
    talk_stderr(line);
}

static void say_challenge(void *ctx, int status, const char *challenge)
{
    (void)ctx;
    talk_note("the server answers %d and wants: %s", status,
              challenge ? challenge : "nothing that it names");
}

int cli_connect(const struct cli *cli, struct pb_client **out, struct pb_error *err)
{
    struct pb_client_options opts = PB_CLIENT_OPTIONS_INIT;
    const char *era = cli_option(cli, "era");

    opts.name = "patchbay";
    opts.version = pb_version();
    opts.url = cli_option(cli, "url");
    if (cli_timeout(cli, &opts.connect_ms) != CLI_OK)
        return fail(err, PB_E_INVALID, "--timeout is not understood");
    opts.on_challenge = say_challenge;
    question_options(&opts);
    opts.headers = cli_option_list(cli, "header");
    if (cli->command) {
        opts.command = cli->command[0];
        opts.args = (const char *const *)cli->command + 1;
        opts.on_stderr = say_stderr;
    }
    if (era && strcmp(era, "legacy") == 0)
        opts.era = PB_ERA_LEGACY;
    else if (era && strcmp(era, "modern") == 0)
        opts.era = PB_ERA_MODERN;
    else if (era)
        return fail(err, PB_E_INVALID, "--era is 'legacy' or 'modern', not '%s'", era);
    return pb_client_open(out, &opts, err);
}
