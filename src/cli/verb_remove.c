#include "home.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "project.h"
#include "show.h"
#include "taken.h"
#include "talk.h"

/* Only a person at a terminal is asked; a script has made up its mind. */
static bool confirmed(const struct cli *cli, const char *name)
{
    AUTO(config) struct config *config = NULL;
    AUTO_BUF struct buf question = { 0 };
    const struct spec *s = NULL;
    char answer[16] = "";

    if (cli_option(cli, "yes") || !isatty(STDIN_FILENO))
        return true;
    if (home_find(cli, name, &config, &s, NULL) < 0)
        s = NULL;
    delete_confirmation(&question, s ? s->display_name : name);
    fprintf(stderr, "%s\n[y/N] ", buf_cstr(&question));
    if (!fgets(answer, sizeof answer, stdin))
        return false;
    return answer[0] == 'y' || answer[0] == 'Y';
}

/* Keys are kept for servers of config.json only. */
static int take_out(const struct cli *cli, const char *file, const char *name, struct pb_error *err)
{
    AUTO_FREE char *secrets = config_secrets_dir(NULL);
    const char *scope = cli_option(cli, "scope");

    return scope && strcmp(scope, "project") == 0 ? config_remove_server(file, name, err)
                                                  : config_forget_server(file, secrets, name, err);
}

static int run_remove(struct cli *cli)
{
    AUTO_FREE char *file = home_file(cli);
    const char *name = cli->args[0];
    struct project_edit edit;
    struct pb_error err;
    unsigned line;

    if (!file)
        return CLI_USAGE;
    /* Nobody is asked about what is not there; the removal says why. */
    if (config_find_server(file, name, &line, NULL) == 0 && !confirmed(cli, name))
        return talk_fail(FAILURE_DECLINED, "nothing was removed");
    project_edit_begin(&edit, cli);
    if (take_out(cli, file, name, &err) < 0)
        return home_fail(cli, name, &err);
    project_edit_end(&edit);
    if (cli_option(cli, "json")) {
        AUTO_BUF struct buf out = { 0 };
        struct json_out o = json_out(&out);

        json_begin_object(&o, NULL);
        json_put_str(&o, "name", name);
        json_put_str(&o, "file", file);
        json_put_bool(&o, "removed", true);
        json_end(&o);
        show_json(buf_cstr(&out));
    } else {
        printf("Removed %s from %s\n", name, file);
    }
    return taken_over(cli, file);
}

const struct verb verb_remove = {
    .name = "remove",
    .alias = "rm",
    .usage = "NAME",
    .help = "Remove a server from the configuration",
    .text = "Asks first when there is somebody at a terminal to ask.",
    .min = 1,
    .max = 1,
    .options =
        (const struct option_spec[]){
            CLI_SCOPE_OPTION,
            { 'y', "yes", NULL, "do not ask" },
            { 0, "json", NULL, "print what was done as JSON" },
            { 0 },
        },
    .run = run_remove,
};
