#include "home.h"
#include "hub_flags.h"
#include "project.h"
#include "question.h"
#include "show.h"
#include "talk.h"
#include <time.h>

/* ---- one project ---- */

static void print_project_json(const struct project *p)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);
    struct map_slot *slot;

    json_begin_object(&o, NULL);
    json_put_str(&o, "file", p->path);
    json_put_str(&o, "sha256", p->sha256);
    json_put_bool(&o, "trusted", p->said == TRUST_YES);
    json_begin_array(&o, "servers");
    MAP_FOREACH(slot, &p->servers->specs) {
        const struct spec *s = slot->value;

        home_write_json(&o, s, s->file, s->line);
    }
    json_end(&o);
    json_end(&o);
    show_json(buf_cstr(&out));
}

/* Asks, unless it is known. An exit code; what is not CLI_OK has been told. */
static int find_answer(const struct cli *cli, struct project *p)
{
    AUTO_CLOSE int tty = -1;
    struct pb_error err;

    if (p->said == TRUST_YES || cli_option(cli, "yes")) {
        if (!cli_option(cli, "json"))
            project_show(stdout, p);
        if (p->said != TRUST_YES && trust_keep(p->path, p->sha256, true, &err) < 0)
            return cli_config_fail(&err);
        p->said = TRUST_YES;
        return CLI_OK;
    }
    tty = question_terminal();
    if (tty < 0)
        return talk_trouble(&(struct trouble){ .what = FAILURE_USAGE,
                                               .message = "there is no terminal to ask at",
                                               .hint = "--yes trusts it without asking" });
    project_ask(p, tty);
    return p->said == TRUST_YES ? CLI_OK : talk_fail(FAILURE_DECLINED, "%s is not used", p->path);
}

static int trust_project(const struct cli *cli, const char *dir)
{
    AUTO(project) struct project *p = NULL;
    struct pb_error err;
    int status;

    if (project_find(&p, dir, &err) < 0)
        return cli_config_fail(&err);
    if (!p->servers->specs.n)
        return talk_fail(FAILURE_NOT_FOUND, "%s has no servers", p->path);
    status = find_answer(cli, p);
    if (status != CLI_OK)
        return status;
    if (cli_option(cli, "json")) {
        print_project_json(p);
    } else {
        home_print_word(stdout, "You trust ", p->path);
        putchar('\n');
    }
    return CLI_OK;
}

/* ---- all that was said ---- */

/* Is it about what is in the file now? */
static bool is_current(const struct trust_entry *e)
{
    char now[2 * SHA256_BYTES + 1];

    return project_digest(e->path, now, NULL) == 0 && strcmp(now, e->sha256) == 0;
}

static void print_list(const struct trust *t)
{
    AUTO_ARENA struct arena a = { 0 };
    struct show_table *table = show_table_new(3);

    for (size_t i = 0; i < t->n; i++) {
        const struct trust_entry *e = &t->v[i];
        const char *cells[] = { show_printable(span_of(e->path), &a), e->yes ? "yes" : "no", "" };
        time_t at = (time_t)e->at;
        char when[32] = "";
        struct tm tm;

        if (localtime_r(&at, &tm))
            strftime(when, sizeof when, "%Y-%m-%d %H:%M", &tm);
        cells[2] = arena_printf(&a, "%s%s", when,
                                is_current(e) ? "" : "  (the file is another now, or gone)");
        show_row(table, e->yes ? SHOW_BOLD : SHOW_GRAY, cells);
    }
    show_table_print(table);
}

static void print_list_json(const struct trust *t)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    json_begin_object(&o, NULL);
    json_begin_array(&o, "projects");
    for (size_t i = 0; i < t->n; i++) {
        json_begin_object(&o, NULL);
        json_put_str(&o, "file", t->v[i].path);
        json_put_str(&o, "sha256", t->v[i].sha256);
        json_put_bool(&o, "trusted", t->v[i].yes);
        json_put_bool(&o, "current", is_current(&t->v[i]));
        json_put_int(&o, "at", t->v[i].at);
        json_end(&o);
    }
    json_end(&o);
    json_end(&o);
    show_json(buf_cstr(&out));
}

static int list_answers(const struct cli *cli)
{
    AUTO(trust) struct trust *t = NULL;
    struct pb_error err;

    if (trust_read(&t, &err) < 0)
        return cli_config_fail(&err);
    if (cli_option(cli, "json"))
        print_list_json(t);
    else if (t->n)
        print_list(t);
    else
        puts("You were not asked about any project yet.");
    return CLI_OK;
}

/* ---- taking it back ---- */

static int forget_project(const struct cli *cli, const char *dir)
{
    AUTO_FREE char *path = project_path(dir);
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);
    struct pb_error err;

    if (trust_forget(path, &err) < 0)
        return cli_config_fail(&err);
    if (cli_option(cli, "json")) {
        json_begin_object(&o, NULL);
        json_put_str(&o, "file", path);
        json_put_bool(&o, "removed", true);
        json_end(&o);
        show_json(buf_cstr(&out));
    } else {
        talk_note("what you said about %s is forgotten", path);
    }
    return CLI_OK;
}

/* ---- the verb ---- */

static int run_trust(struct cli *cli)
{
    bool rm = cli->n_args && strcmp(cli->args[0], "rm") == 0;

    if (cli_option(cli, "list"))
        return cli->n_args ? cli_usage(cli->verb, "--list takes no directory") : list_answers(cli);
    if (rm)
        return cli->n_args == 2 ? forget_project(cli, cli->args[1])
                                : cli_usage(cli->verb, "which directory? give its name");
    if (cli->n_args > 1)
        return cli_usage(cli->verb, "'trust' takes one directory; what is '%s'?", cli->args[1]);
    return trust_project(cli, cli->n_args ? cli->args[0] : ".");
}

const struct verb verb_trust = {
    .name = "trust",
    .usage = "[rm] [DIR] [--yes] [--list]",
    .help = "Say whether the servers of a project are used when you work there",
    .text =
        "A project has servers in .mcp.json, in the current directory or above it, up to the\n"
        "one that holds .git. They are used there, and go before yours of the same name, once\n"
        "you have seen and trusted them; when the file changes you are asked again. Verbs that\n"
        "need them ask by themselves on a terminal, and read nothing without one.\n"
        "    patchbay trust [DIR]       shows them and asks\n"
        "    patchbay trust --list      tells what you said of which file\n"
        "    patchbay trust rm DIR      forgets what you said",
    .max = 2,
    .options =
        (const struct option_spec[]){
            { 'y', "yes", NULL, "do not ask" },
            { 0, "list", NULL, "tell what was said about which files" },
            { 0, "json", NULL, "print the servers, or the list, as JSON" },
            { 0 },
        },
    .run = run_trust,
};
