/* verb_doctor.c - looks at each server step by step, and says what to do about the first step that
 * fails. */
#include "exam.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "hub/warden/warden.h"
#include "hub_flags.h"
#include "show.h"

enum { DOCTOR_CONNECT_MS = 30000, TEXT_COLUMN = 17 };

static void print_finding(const struct exam *e, enum exam_check c)
{
    const struct finding *f = &e->found[c];

    printf("  %s%-4s%s %-9s ", show_on(f->ok ? SHOW_GREEN : SHOW_RED),
           f->ok               ? "ok"
           : !e->spec->enabled ? "off"
                               : "FAIL",
           show_off(), exam_check_name(c));
    show_hanging(f->text, TEXT_COLUMN);
    if (f->detail)
        show_wrapped(f->detail, TEXT_COLUMN);
    if (f->next) {
        printf("       %-9s ", "next:");
        show_hanging(f->next, TEXT_COLUMN);
    }
}

static void print_said(const struct exam *e)
{
    struct span rest = buf_span(&e->said);

    while (rest.n) {
        size_t n = (size_t)((const char *)memchr(rest.p, '\n', rest.n) - rest.p);

        printf("       | %.*s\n", (int)n, rest.p);
        rest = span_from(rest, n + 1);
    }
    if (e->cut)
        puts("       | …");
}

static void print_exam(const struct exam *e)
{
    printf("%s%s%s\n",
           show_on(exam_is_well(e)     ? SHOW_GREEN
                   : !e->spec->enabled ? SHOW_GRAY
                                       : SHOW_RED),
           e->spec->name, show_off());
    for (int c = 0; c < CHECK_COUNT; c++)
        if (e->found[c].done)
            print_finding(e, (enum exam_check)c);
    if (!exam_is_well(e))
        print_said(e);
}

static void write_exam(struct json_out *o, const struct exam *e)
{
    json_begin_object(o, NULL);
    json_put_str(o, "server", e->spec->name);
    json_put_bool(o, "ok", exam_is_well(e));
    json_begin_array(o, "checks");
    for (int c = 0; c < CHECK_COUNT; c++) {
        const struct finding *f = &e->found[c];

        if (!f->done)
            continue;
        json_begin_object(o, NULL);
        json_put_str(o, "check", exam_check_name((enum exam_check)c));
        json_put_bool(o, "ok", f->ok);
        json_put_str(o, "text", f->text);
        json_put_str_opt(o, "detail", f->detail);
        json_put_str_opt(o, "next", f->next);
        json_end(o);
    }
    json_end(o);
    if (e->said.n)
        json_put_span(o, "stderr", buf_span(&e->said));
    json_end(o);
}

static bool wanted(const struct cli *cli, const char *name)
{
    for (int i = 0; i < cli->n_args; i++)
        if (strcmp(cli->args[i], name) == 0)
            return true;
    return cli->n_args == 0;
}

static int check_names_given(const struct cli *cli, const struct config *c)
{
    struct pb_error err;

    for (int i = 0; i < cli->n_args; i++)
        if (!map_get(&c->specs, span_of(cli->args[i])))
            return cli_no_server(c, cli->args[i], &err) < 0 ? cli_fail(&err) : CLI_OK;
    return CLI_OK;
}

static int examine_all(const struct cli *cli, const struct config *c, const struct claims *claims,
                       uint32_t connect_ms)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    bool json = cli_option(cli, "json") != NULL;
    struct map_slot *slot;
    int status = CLI_OK;

    json_begin_object(&o, NULL);
    json_begin_array(&o, "servers");
    MAP_FOREACH(slot, &c->specs) {
        struct exam e = { .spec = slot->value,
                          .inherit_env = c->settings.inherit_env,
                          .claims = claims,
                          .connect_ms = connect_ms };

        if (!wanted(cli, e.spec->name))
            continue;
        exam_run(&e);
        if (!exam_is_well(&e) && e.spec->enabled)
            status = e.auth_wanted ? CLI_AUTH : CLI_UNREACHABLE;
        if (json)
            write_exam(&o, &e);
        else
            print_exam(&e);
        fflush(stdout);
        exam_done(&e);
    }
    json_end(&o);
    json_end(&o);
    if (json)
        show_json(buf_cstr(&b));
    else if (!c->specs.n)
        puts("No servers yet. Add one: patchbay add NAME -- COMMAND, or patchbay add URL");
    return status;
}

static int run_doctor(struct cli *cli)
{
    AUTO(config) struct config *c = NULL;
    struct map_slot *slot;
    struct warden *warden;
    struct claims *claims;
    uint32_t connect_ms = DOCTOR_CONNECT_MS;
    struct pb_error err;
    int status;

    if (cli_seconds(cli, &connect_ms) != CLI_OK)
        return CLI_USAGE;
    if (cli_load_config(cli, &c, &err) < 0)
        return cli_config_fail(&err);
    if (check_names_given(cli, c) != CLI_OK)
        return CLI_USAGE;
    if (warden_start(&warden, &err) < 0)
        return cli_fail(&err);
    claims = claims_new();
    MAP_FOREACH(slot, &c->specs)
        claims_add(claims, slot->value);
    status = examine_all(cli, c, claims, connect_ms);
    claims_free(claims);
    warden_stop(warden);
    return status;
}

const struct verb verb_doctor = {
    .name = "doctor",
    .usage = "[SERVER]... [--timeout SECONDS] [--json]",
    .help = "Find out why a server does not work, and what to do about it",
    .text = "Looks at the config, the command, the start, the protocol and the tools, in this\n"
            "order, and stops at the first that fails. A running daemon is not disturbed.",
    .max = -1,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the findings as JSON" },
            CLI_TIMEOUT_OPTION("how long a server may take to answer (30)"),
            CLI_CONFIG_OPTIONS,
            { 0 },
        },
    .run = run_doctor,
};
