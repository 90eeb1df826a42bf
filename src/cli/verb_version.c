#include "show.h"

static int run_version(struct cli *cli)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    if (!cli_option(cli, "json")) {
        printf("patchbay %s\n", pb_version());
        return CLI_OK;
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "version", pb_version());
    json_end(&o);
    show_json(buf_cstr(&out));
    return CLI_OK;
}

const struct verb verb_version = {
    .name = "version",
    .usage = "[--json]",
    .help = "Print the version",
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print it as JSON" },
            { 0 },
        },
    .run = run_version,
};
