#include "exam.h"
#include "hub/view/view.h"
#include "program.h"
#include <errno.h>
#include <stdarg.h>

static const char *const check_names[CHECK_COUNT] = { "config", "command", "connect", "protocol",
                                                      "tools" };

const char *exam_check_name(enum exam_check c) { return check_names[c]; }

static char *format(const char *fmt, ...) PRINTF(1, 2);
static char *format(const char *fmt, ...)
{
    AUTO_BUF struct buf text = { 0 };
    va_list ap;

    va_start(ap, fmt);
    buf_vprintf(&text, fmt, ap);
    va_end(ap);
    return buf_take(&text);
}

/* What a server has said, in part at least. */
static char *hide(const struct exam *e, char *take_text)
{
    redact_text(e->hidden, take_text, false);
    return take_text;
}

static bool record(struct exam *e, enum exam_check c, const struct finding *take)
{
    e->found[c] = *take;
    e->found[c].done = true;
    text_make_printable(take->text);
    if (take->detail)
        text_make_printable(take->detail);
    if (take->next)
        text_make_printable(take->next);
    return take->ok;
}

static bool found_well(struct exam *e, enum exam_check c, char *take_text)
{
    return record(e, c, &(struct finding){ .ok = true, .text = take_text });
}

/* ---- what is wrong -------------------------------------------------------------------------- */

/* Without its stderr, whose lines are shown as they are, and without what the step says already. */
static char *own_words(const struct exam *e, const struct pb_error *err)
{
    const char *text = err->msg, *said = strstr(text, "; stderr: ");

    if (strncmp(text, "handshake: ", 11) == 0)
        text += 11;
    return hide(e, said && said > text && e->said.n ? mem_dupn(text, (size_t)(said - text))
                                                    : mem_dup(text));
}

static char *fallback(const struct exam *e)
{
    return mem_dup(e->spec->transport == SPEC_STDIO
                       ? "run it by hand and read its messages; its environment comes from \"env\""
                       : "is the address right, and does the server run there?");
}

static bool found_wrong(struct exam *e, enum exam_check c, const struct pb_error *err)
{
    AUTO_BUF struct buf problem = { 0 }, next = { 0 };
    struct ailment a = { e->spec, err, buf_span(&e->said) };

    if (err->code == PB_E_AUTH)
        e->auth_wanted = true;
    if (!remedy_find(&a, &problem, &next))
        return record(e, c, &(struct finding){ .text = own_words(e, err), .next = fallback(e) });
    if (e->challenge.n)
        buf_printf(&next, "; it says: %s", hide(e, e->challenge.p));
    return record(e, c,
                  &(struct finding){ .text = buf_take(&problem),
                                     .detail = c == CHECK_COMMAND ? NULL : own_words(e, err),
                                     .next = buf_take(&next) });
}

/* ---- the checks ----------------------------------------------------------------------------- */

static bool check_config(struct exam *e)
{
    const struct spec *s = e->spec;

    if (s->enabled)
        return found_well(e, CHECK_CONFIG,
                          s->file ? format("%s:%u", s->file, s->line) : format("the command line"));
    return record(
        e, CHECK_CONFIG,
        &(struct finding){ .text = format("it is disabled"),
                           .next = format("patchbay %s %s",
                                          advice_verb(advice_of_state(LINK_DISABLED)), s->name) });
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

/* As the start would say it. */
static bool check_command(struct exam *e)
{
    const struct spec *s = e->spec;
    struct pb_error err;
    char *path;
    int why;

    if (s->transport != SPEC_STDIO)
        return true;
    if (s->cwd && access(s->cwd, X_OK) < 0) {
        fail_sys(&err, errno, "Failed to spawn %s: enter directory %s", s->command, s->cwd);
        return found_wrong(e, CHECK_COMMAND, &err);
    }
    path = program_find(s, path_of(e), &why);
    if (path)
        return found_well(e, CHECK_COMMAND, path);
    fail_sys(&err, why, "Failed to spawn %s", s->command);
    return found_wrong(e, CHECK_COMMAND, &err);
}

static void on_stderr(void *ctx, enum pb_log_level level, const char *line)
{
    struct exam *e = ctx;
    AUTO_FREE char *shown = mem_dup(line);

    (void)level;
    redact_text(e->hidden, shown, strlen(line) >= CHILD_STDERR_LINE_MAX);
    text_make_printable(shown);
    if (e->said.n + strlen(shown) < DOCTOR_STDERR_MAX)
        buf_printf(&e->said, "%s\n", shown);
    else
        e->cut = true;
}

/* A program that ends when it is asked for its era is started once more, and says the same again.
 */
static void say_once(struct exam *e)
{
    size_t half = e->said.n / 2;

    if (e->said.n % 2 == 0 && half && e->said.p[half - 1] == '\n' &&
        memcmp(e->said.p, e->said.p + half, half) == 0)
        e->said.n = half;
}

static void on_challenge(void *ctx, int status, const char *challenge)
{
    struct exam *e = ctx;

    (void)status;
    e->auth_wanted = true;
    e->challenge.n = 0;
    buf_str(&e->challenge, challenge ? challenge : "");
    buf_cstr(&e->challenge);
}

/* The spec with what its login adds. */
static bool add_keys(struct exam *e, struct keys **keys, struct spec *out, struct arena *a)
{
    AUTO_FREE char *dir = config_secrets_dir(NULL);
    struct pb_error err;

    *out = *e->spec;
    if (keys_load(keys, e->spec, dir, &err) < 0) {
        e->auth_wanted = true;
        return record(
            e, CHECK_CONNECT,
            &(struct finding){
                .text = mem_dup(err.msg),
                .next = mem_dup("correct its login: auth_type, env_vars, keyfile_path") });
    }
    keys_apply(*keys, out, a);
    e->hidden = redact_new();
    redact_add_spec(e->hidden, out);
    return true;
}

static void fill_options(struct exam *e, const struct spec *s, struct arena *a,
                         struct pb_client_options *o)
{
    o->name = "patchbay-doctor";
    o->version = pb_version();
    if (s->transport == SPEC_STDIO) {
        o->command = s->command;
        o->args = s->args;
        o->env = inherit_environment(a, s, e->inherit_env, e->claims);
        o->clean_env = true;
        o->cwd = s->cwd;
    } else {
        o->url = s->url;
        o->headers = s->headers;
        o->transport = s->transport == SPEC_SSE ? PB_TRANSPORT_SSE
                       : s->guess_sse           ? PB_TRANSPORT_AUTO
                                                : PB_TRANSPORT_HTTP;
    }
    o->era = s->era;
    o->connect_ms = e->connect_ms;
    o->on_stderr = on_stderr;
    o->on_challenge = on_challenge;
    o->ctx = e;
}

static struct pb_client *check_connect(struct exam *e)
{
    AUTO(keys) struct keys *keys = NULL;
    AUTO_ARENA struct arena arena = { 0 };
    struct spec with_keys;
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct pb_client *client = NULL;
    uint64_t from = clock_real()->now_ms(clock_real());
    struct pb_error err;

    if (!add_keys(e, &keys, &with_keys, &arena))
        return NULL;
    fill_options(e, &with_keys, &arena, &o);
    if (pb_client_open(&client, &o, &err) < 0) {
        say_once(e);
        redact_error(e->hidden, &err);
        found_wrong(e, CHECK_CONNECT, &err);
        return NULL;
    }
    found_well(e, CHECK_CONNECT,
               format("answered after %llu ms",
                      (unsigned long long)(clock_real()->now_ms(clock_real()) - from)));
    return client;
}

static void check_inside(struct exam *e, struct pb_client *client)
{
    const char *protocol = pb_client_protocol(client);
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *tools = NULL;
    struct pb_error err;

    found_well(
        e, CHECK_PROTOCOL,
        format("%s (%s era)", protocol, strcmp(protocol, "2026") >= 0 ? "modern" : "legacy"));
    if (pb_client_list(client, "tools", &tools, &err) == 0 &&
        json_parse(&doc, span_of(pb_result_json(tools, NULL)),
                   &(struct json_opts){ .keep_depth = 1 }, &err) == 0) {
        found_well(e, CHECK_TOOLS, format("%zu", json_len(json_root(&doc))));
    } else if (err.code == PB_E_UNSUPPORTED) {
        found_well(e, CHECK_TOOLS, format("it has none"));
    } else {
        redact_error(e->hidden, &err);
        record(e, CHECK_TOOLS,
               &(struct finding){ .text = hide(e, mem_dup(err.msg)),
                                  .next = mem_dup("the server is broken: report it there") });
    }
    pb_result_free(tools);
}

void exam_run(struct exam *e)
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

bool exam_is_well(const struct exam *e)
{
    for (int c = 0; c < CHECK_COUNT; c++)
        if (e->found[c].done && !e->found[c].ok)
            return false;
    return true;
}

void exam_done(struct exam *e)
{
    for (int c = 0; c < CHECK_COUNT; c++) {
        free(e->found[c].text);
        free(e->found[c].detail);
        free(e->found[c].next);
    }
    redact_free(e->hidden);
    buf_done(&e->said);
    buf_done(&e->challenge);
}
