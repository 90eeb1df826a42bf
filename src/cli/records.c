#include "records.h"
#include "hub/config/config.h"

static const char how[] = "'patchbay serve' starts a daemon that records calls";

char *records_dir(const struct cli *cli)
{
    struct config_request r = cli_config_request(cli);

    return config_records_dir(&r);
}

int records_open(struct store **out, const struct cli *cli, struct store_options *o,
                 struct pb_error *err)
{
    AUTO_FREE char *dir = records_dir(cli);

    o->dir = dir; /* which is copied */
    return store_open(out, o, err);
}

static bool are_there(const char *dir)
{
    AUTO_BUF struct buf path = { 0 };

    buf_printf(&path, "%s/records.db", dir);
    return access(buf_cstr(&path), F_OK) == 0;
}

static bool records(struct reach *s, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *result = NULL;
    bool yes = reach_ask(s, "patchbay/record-stats", NULL, &result, &doc, err) == 0 &&
               json_bool(json_get(json_root(&doc), "recording"), false);

    pb_result_free(result);
    return yes;
}

/* CLI_OK and no *out: there is none, or it does not record. */
static int try_daemon(struct reach **out, const struct cli *cli, const struct reach_wants *w)
{
    AUTO(reach) struct reach *s = NULL;
    struct pb_error err = { 0 };
    int rc = reach_daemon(&s, cli, w, &err);

    if (rc == 0 && records(s, &err)) {
        *out = TAKE(s);
        return CLI_OK;
    }
    if (rc == 0 && err.code)
        return reach_fail(&err);
    return rc == 0 || rc == -(int)PB_E_CLOSED ? CLI_OK : cli_fail(&err);
}

int records_reach(struct reach **out, const struct cli *cli)
{
    AUTO_FREE char *dir = records_dir(cli);
    int status = CLI_OK;

    if (!cli_names_config(cli) && !cli_option(cli, "standalone"))
        status = try_daemon(out, cli, NULL);
    if (status != CLI_OK || *out)
        return status;
    if (are_there(dir))
        return reach_open(out, cli, &(struct reach_wants){ .records = true });
    talk_note("nothing was recorded yet; %s", how);
    return CLI_OK;
}

int records_follow(struct reach **out, const struct cli *cli,
                   void (*notified)(const char *method, const char *params))
{
    int status = try_daemon(out, cli, &(struct reach_wants){ .notified = notified });

    if (status != CLI_OK || *out)
        return status;
    return talk_trouble(&(struct trouble){ .what = FAILURE_UNREACHABLE,
                                           .message = "no daemon that records calls is running",
                                           .hint = how });
}
