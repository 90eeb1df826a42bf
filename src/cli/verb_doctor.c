/* verb_doctor.c - looks at each server step by step, and says what to do about the first step that
 * fails. Nothing of a running daemon is touched: every server is started anew and stopped again. */
#include "hub/config/config.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "hub/warden/warden.h"
#include "hub_flags.h"
#include "program.h"
#include "show.h"
#include <stdarg.h>

enum doctor_check {
    CHECK_CONFIG,
    CHECK_COMMAND,
    CHECK_CONNECT,
    CHECK_PROTOCOL,
    CHECK_TOOLS,
    CHECK_COUNT
};

static const char *const check_names[CHECK_COUNT] = { "config", "command", "connect", "protocol",
                                                      "tools" };

struct finding {
    bool done, ok;
    char *text, *next; /* next: what to do; NULL when all is well */
};

struct exam {
    const struct spec *spec;
    const char *inherit_env;     /* of the settings */
    const struct claims *claims; /* of all servers */
    struct finding found[CHECK_COUNT];
    struct buf stderr_lines;
    struct buf challenge;
    struct redact *hidden; /* what it is started with and may say */
    bool auth_wanted;
};

static char *format(const char *fmt, ...) PRINTF(1, 2);
static char *format(const char *fmt, ...)
{
    char text[1024];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    text_make_printable(text);
    return mem_dup(text);
}

static bool record(struct exam *e, enum doctor_check c, bool ok, char *take_text, char *take_next)
{
    redact_text(e->hidden, take_text, false);
    if (take_next)
        redact_text(e->hidden, take_next, false);
    e->found[c] = (struct finding){ .done = true, .ok = ok, .text = take_text, .next = take_next };
    return ok;
}

/* ---- the checks ----------------------------------------------------------------------------- */

static bool check_config(struct exam *e)
{
    const struct spec *s = e->spec;
    char *where = s->file ? format("%s:%u", s->file, s->line) : format("the command line");

    if (s->enabled)
        return record(e, CHECK_CONFIG, true, where, NULL);
    free(where);
    return record(e, CHECK_CONFIG, false, format("it is disabled"),
                  format("patchbay %s %s", advice_verb(advice_of_state(LINK_DISABLED)), s->name));
}

/* The PATH that the server will get: its own if the spec sets one. The values are not the arena's.
 */
static const char *path_of(const struct exam *e)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *const *env = inherit_environment(&a, e->spec, e->inherit_env, e->claims);
    const char *path = NULL;

    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            path = *env + 5;
    return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

static bool check_command(struct exam *e)
{
    char *path;

    if (e->spec->transport != SPEC_STDIO)
        return true;
    if (e->spec->cwd && access(e->spec->cwd, X_OK) < 0)
        return record(e, CHECK_COMMAND, false,
                      format("its directory '%s' cannot be entered", e->spec->cwd),
                      format("make the directory, or change \"cwd\""));
    path = program_find(e->spec, path_of(e));
    if (path)
        return record(e, CHECK_COMMAND, true, path, NULL);
    if (strchr(e->spec->command, '/'))
        return record(e, CHECK_COMMAND, false,
                      format("there is no program '%s' that we may run", e->spec->command),
                      e->spec->file
                          ? format("correct \"command\" at %s:%u", e->spec->file, e->spec->line)
                          : format("correct the command"));
    return record(e, CHECK_COMMAND, false,
                  format("there is no program '%s' in PATH", e->spec->command),
                  program_hint(e->spec->command));
}

static void on_stderr(void *ctx, enum pb_log_level level, const char *line)
{
    struct exam *e = ctx;
    AUTO_FREE char *shown = mem_dup(line);

    (void)level;
    redact_text(e->hidden, shown, strlen(line) >= CHILD_STDERR_LINE_MAX);
    if (e->stderr_lines.n < 4096)
        buf_printf(&e->stderr_lines, "%s\n", shown);
}

static void on_challenge(void *ctx, int status, const char *challenge)
{
    struct exam *e = ctx;

    (void)status;
    e->auth_wanted = true;
    e->challenge.n = 0;
    buf_str(&e->challenge, challenge ? challenge : "");
}

static char *advice(const struct exam *e, const struct pb_error *err)
{
    if (err->code == PB_E_AUTH || e->auth_wanted)
        return format("it wants a login: put an \"Authorization\" header into \"headers\"%s%s",
                      e->challenge.n ? "; it says: " : "",
                      e->challenge.n ? buf_cstr((struct buf *)(uintptr_t)&e->challenge) : "");
    if (err->code == PB_E_TIMEOUT && e->spec->transport == SPEC_STDIO)
        return format("is it an MCP server? run it by hand: it must answer JSON lines on stdin");
    if (e->spec->transport == SPEC_STDIO)
        return format("run it by hand and read its messages; its environment comes from \"env\"");
    return format("is the address right, and does the server run there?");
}

/* The spec with what its login adds. */
static bool add_keys(struct exam *e, struct keys **keys, struct spec *out, struct arena *a)
{
    AUTO_FREE char *dir = config_secrets_dir(NULL);
    struct pb_error err;

    *out = *e->spec;
    if (keys_load(keys, e->spec, dir, &err) < 0) {
        e->auth_wanted = true;
        return record(e, CHECK_CONNECT, false, format("%s", err.msg),
                      format("correct its login: auth_type, env_vars, keyfile_path"));
    }
    keys_apply(*keys, out, a);
    e->hidden = redact_new();
    redact_add_spec(e->hidden, out);
    return true;
}

static struct pb_client *check_connect(struct exam *e)
{
    AUTO(keys) struct keys *keys = NULL;
    AUTO_ARENA struct arena arena = { 0 };
    struct spec with_keys;
    const struct spec *s = &with_keys;
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct pb_client *client = NULL;
    uint64_t from = clock_real()->now_ms(clock_real());
    struct pb_error err;

    if (!add_keys(e, &keys, &with_keys, &arena))
        return NULL;
    o.name = "patchbay-doctor";
    o.version = pb_version();
    if (s->transport == SPEC_STDIO) {
        o.command = s->command;
        o.args = s->args;
        o.env = inherit_environment(&arena, s, e->inherit_env, e->claims);
        o.clean_env = true;
        o.cwd = s->cwd;
    } else {
        o.url = s->url;
        o.headers = s->headers;
        o.transport = s->transport == SPEC_SSE ? PB_TRANSPORT_SSE
                      : s->guess_sse           ? PB_TRANSPORT_AUTO
                                               : PB_TRANSPORT_HTTP;
    }
    o.era = s->era;
    o.connect_ms = 30000;
    o.on_stderr = on_stderr;
    o.on_challenge = on_challenge;
    o.ctx = e;
    if (pb_client_open(&client, &o, &err) < 0) {
        redact_error(e->hidden, &err);
        record(e, CHECK_CONNECT, false, format("%s", err.msg), advice(e, &err));
        return NULL;
    }
    record(e, CHECK_CONNECT, true,
           format("answered after %llu ms",
                  (unsigned long long)(clock_real()->now_ms(clock_real()) - from)),
           NULL);
    return client;
}

static void check_inside(struct exam *e, struct pb_client *client)
{
    const char *protocol = pb_client_protocol(client);
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *tools = NULL;
    struct pb_error err;

    record(e, CHECK_PROTOCOL, true,
           format("%s (%s era)", protocol, strcmp(protocol, "2026") >= 0 ? "modern" : "legacy"),
           NULL);
    if (pb_client_list(client, "tools", &tools, &err) < 0 ||
        json_parse(&doc, span_of(pb_result_json(tools, NULL)),
                   &(struct json_opts){ .keep_depth = 1 }, &err) < 0) {
        redact_error(e->hidden, &err);
        record(e, CHECK_TOOLS, err.code == PB_E_UNSUPPORTED,
               err.code == PB_E_UNSUPPORTED ? format("it has none") : format("%s", err.msg),
               err.code == PB_E_UNSUPPORTED ? NULL
                                            : format("the server is broken: report it there"));
    } else {
        record(e, CHECK_TOOLS, true, format("%zu", json_len(json_root(&doc))), NULL);
    }
    pb_result_free(tools);
}

static void examine(struct exam *e)
{
    struct pb_client *client;

    if (!check_config(e) || !check_command(e))
        return;
    client = check_connect(e);
    if (!client)
        return;
    check_inside(e, client);
    pb_client_free(client);
}

static bool is_well(const struct exam *e)
{
    for (int c = 0; c < CHECK_COUNT; c++)
        if (e->found[c].done && !e->found[c].ok)
            return false;
    return true;
}

/* ---- telling -------------------------------------------------------------------------------- */

static void print_exam(const struct exam *e)
{
    bool disabled = !e->spec->enabled;

    printf("%s%s%s\n",
           show_on(is_well(e) ? SHOW_GREEN
                   : disabled ? SHOW_GRAY
                              : SHOW_RED),
           e->spec->name, show_off());
    for (int c = 0; c < CHECK_COUNT; c++) {
        const struct finding *f = &e->found[c];

        if (!f->done)
            continue;
        printf("  %s%-4s%s %-9s %s\n", show_on(f->ok ? SHOW_GREEN : SHOW_RED),
               f->ok      ? "ok"
               : disabled ? "off"
                          : "FAIL",
               show_off(), check_names[c], f->text);
        if (f->next)
            printf("       %-9s %s\n", "next:", f->next);
    }
    if (!is_well(e) && e->stderr_lines.n) {
        AUTO_FREE char *words = mem_dupn(e->stderr_lines.p, e->stderr_lines.n);

        for (char *line = words, *end; *line; line = end) {
            end = line + strcspn(line, "\n");
            if (*end)
                *end++ = '\0';
            text_make_printable(line);
            printf("       | %s\n", line);
        }
    }
}

static void write_exam(struct json_out *o, const struct exam *e)
{
    json_begin_object(o, NULL);
    json_put_str(o, "server", e->spec->name);
    json_put_bool(o, "ok", is_well(e));
    json_begin_array(o, "checks");
    for (int c = 0; c < CHECK_COUNT; c++) {
        const struct finding *f = &e->found[c];

        if (!f->done)
            continue;
        json_begin_object(o, NULL);
        json_put_str(o, "check", check_names[c]);
        json_put_bool(o, "ok", f->ok);
        json_put_str(o, "text", f->text);
        json_put_str_opt(o, "next", f->next);
        json_end(o);
    }
    json_end(o);
    if (e->stderr_lines.n)
        json_put_span(o, "stderr", buf_span(&e->stderr_lines));
    json_end(o);
}

static void exam_done(struct exam *e)
{
    for (int c = 0; c < CHECK_COUNT; c++) {
        free(e->found[c].text);
        free(e->found[c].next);
    }
    redact_free(e->hidden);
    buf_done(&e->stderr_lines);
    buf_done(&e->challenge);
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

static int examine_all(const struct cli *cli, const struct config *c, const struct claims *claims)
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
                          .claims = claims };

        if (!wanted(cli, e.spec->name))
            continue;
        examine(&e);
        if (!is_well(&e) && e.spec->enabled)
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
    struct pb_error err;
    int status;

    if (cli_load_config(cli, &c, &err) < 0)
        return cli_config_fail(&err);
    if (check_names_given(cli, c) != CLI_OK)
        return CLI_USAGE;
    if (warden_start(&warden, &err) < 0)
        return cli_fail(&err);
    claims = claims_new();
    MAP_FOREACH(slot, &c->specs)
        claims_add(claims, slot->value);
    status = examine_all(cli, c, claims);
    claims_free(claims);
    warden_stop(warden);
    return status;
}

const struct verb verb_doctor = {
    .name = "doctor",
    .usage = "[SERVER]... [--json]",
    .help = "Find out why a server does not work, and what to do about it",
    .text = "Looks at the config, the command, the start, the protocol and the tools, in this\n"
            "order, and stops at the first that fails. A running daemon is not disturbed.",
    .max = -1,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the findings as JSON" },
            CLI_CONFIG_OPTIONS,
            { 0 },
        },
    .run = run_doctor,
};
