#include "face/caller/caller.h"
#include "show.h"
#include "talk.h"
#include "token.h"
#include <time.h>

/* ---- add ---- */

struct made {
    const char *name;
    enum token_may may;
    uint8_t digest[SHA256_BYTES];
};

static int add_made(void *ctx, struct tokens *t, struct pb_error *err)
{
    const struct made *m = ctx;

    return tokens_add(t, span_of(m->name), m->may, m->digest, (int64_t)time(NULL), err);
}

static void print_made(const struct cli *cli, const struct made *m, const char *token)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    if (!cli_option(cli, "json")) {
        puts(token);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "name", m->name);
    json_put_str(&o, "may", token_may_name(m->may));
    json_put_str(&o, "token", token);
    json_end(&o);
    show_json(buf_cstr(&out));
}

static int run_token_add(const struct cli *cli, const char *path)
{
    const char *may = cli_option(cli, "may");
    struct made m = { .name = cli->args[1] };
    char token[ID_CHARS + 1];
    struct pb_error err;

    if (!may || !token_may_parse(may, &m.may))
        return cli_usage(cli->verb, "--may says what it may do: mcp, read or all");
    id_new(token);
    sha256(span_of(token), m.digest);
    if (token_list_change(path, add_made, &m, &err) < 0)
        return cli_config_fail(&err);
    print_made(cli, &m, token);
    talk_note("made token '%s', which may %s; it is not shown again", m.name,
              m.may == TOKEN_MCP    ? "use /mcp"
              : m.may == TOKEN_READ ? "read REST"
                                    : "do everything");
    return CLI_OK;
}

/* ---- list ---- */

static void print_tokens(const struct tokens *t)
{
    struct show_table *table = show_table_new(3);

    for (size_t i = 0; i < t->n; i++) {
        time_t at = (time_t)t->v[i].created;
        char when[32] = "";
        const char *cells[] = { t->v[i].name, token_may_name(t->v[i].may), when };
        struct tm tm;

        if (at && localtime_r(&at, &tm))
            strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
        show_row(table, SHOW_BOLD, cells);
    }
    show_table_print(table);
}

/* Without their digests: nobody needs them. */
static void print_json(const struct tokens *t)
{
    AUTO_BUF struct buf text = { 0 };
    struct json_out o = json_out(&text);

    json_begin_object(&o, NULL);
    json_begin_array(&o, "tokens");
    for (size_t i = 0; i < t->n; i++) {
        json_begin_object(&o, NULL);
        json_put_str(&o, "name", t->v[i].name);
        json_put_str(&o, "may", token_may_name(t->v[i].may));
        json_put_int(&o, "created", t->v[i].created);
        json_end(&o);
    }
    json_end(&o);
    json_end(&o);
    show_json(buf_cstr(&text));
}

static int run_token_list(const struct cli *cli, const char *path)
{
    AUTO(tokens) struct tokens *t = NULL;
    struct pb_error err;

    if (token_list_read(path, &t, &err) < 0)
        return cli_config_fail(&err);
    if (cli_option(cli, "json"))
        print_json(t);
    else if (t->n)
        print_tokens(t);
    else
        puts("No tokens but the daemon's own. Make one: patchbay token add NAME --may mcp");
    return CLI_OK;
}

/* ---- rm ---- */

static int remove_one(void *ctx, struct tokens *t, struct pb_error *err)
{
    const char *name = ctx;

    return tokens_remove(t, name)
               ? 0
               : fail(err, PB_E_NOT_FOUND,
                      "there is no token '%s': 'patchbay token list' shows those there are", name);
}

static int run_token_rm(const struct cli *cli, const char *path)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);
    struct pb_error err;

    if (token_list_change(path, remove_one, cli->args[1], &err) < 0)
        return cli_config_fail(&err);
    if (cli_option(cli, "json")) {
        json_begin_object(&o, NULL);
        json_put_str(&o, "name", cli->args[1]);
        json_put_bool(&o, "removed", true);
        json_end(&o);
        show_json(buf_cstr(&out));
    } else {
        talk_note("token '%s' opens nothing any more", cli->args[1]);
    }
    return CLI_OK;
}

/* ---- the verb ---- */

static int run_token(struct cli *cli)
{
    static const struct {
        const char *name;
        int args;
        int (*run)(const struct cli *cli, const char *path);
    } deeds[] = { { "add", 2, run_token_add },
                  { "list", 1, run_token_list },
                  { "rm", 2, run_token_rm } };
    AUTO_FREE char *path = token_list_path(cli);

    for (size_t i = 0; i < ARRAY_LEN(deeds); i++) {
        if (strcmp(cli->args[0], deeds[i].name) != 0)
            continue;
        if (cli->n_args != deeds[i].args)
            return cli_usage(cli->verb,
                             deeds[i].args == 2 ? "give the token's name" : "'%s' takes no name",
                             cli->args[0]);
        return deeds[i].run(cli, path);
    }
    return cli_usage(cli->verb, "'%s' is none of add, list and rm", cli->args[0]);
}

const struct verb verb_token = {
    .name = "token",
    .usage = "add|list|rm [TOKEN] [--may WHAT]",
    .help = "Make, show and remove tokens that may do less than the daemon's own",
    .text =
        "    patchbay token add NAME --may mcp|read|all\n"
        "    patchbay token list\n"
        "    patchbay token rm NAME\n"
        "A token that may \"mcp\" is for MCP clients: it cannot add or change servers, and so\n"
        "starts no programs but those that are configured. One that may \"read\" sees what REST\n"
        "and its events tell. \"all\" is what the daemon's own token may. A token is shown once,\n"
        "when it is made. A running daemon takes changes over at once.",
    .min = 1,
    .max = 2,
    .options =
        (const struct option_spec[]){
            { 0, "may", "WHAT", "mcp, read or all" },
            { 0, "json", NULL, "print the list, or what was done, as JSON" },
            { 0 },
        },
    .run = run_token,
};
