#include "home.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "hub_flags.h"
#include "show.h"
#include "talk.h"
#include "token.h"

static const char project_file[] = ".mcp.json";

bool home_is_project(const struct cli *cli)
{
    const char *scope = cli_option(cli, "scope");

    return scope && strcmp(scope, "project") == 0;
}

char *home_file(const struct cli *cli)
{
    const char *scope = cli_option(cli, "scope");
    AUTO_FREE char *home = NULL;
    struct buf path = { 0 };

    if (scope && strcmp(scope, "user") != 0 && strcmp(scope, "local") != 0 &&
        !home_is_project(cli)) {
        cli_usage(cli->verb, "--scope is 'user', 'local' or 'project', not '%s'", scope);
        return NULL;
    }
    if (home_is_project(cli))
        return mem_dup(project_file);
    home = config_home(NULL);
    buf_printf(&path, "%s/config.json", home);
    return buf_take(&path);
}

static int load(struct config **out, const char *file, bool clients, struct pb_error *err)
{
    const char *files[] = { file, NULL };
    struct config_request r = { .clients = clients,
                                .files = file ? files : NULL,
                                .env = token_env };

    return config_load(out, &r, err);
}

static const struct spec *spec_in(const struct config *c, const char *name)
{
    return map_get(&c->specs, span_of(name));
}

int home_find(const struct cli *cli, const char *name, struct config **config,
              const struct spec **spec, struct pb_error *err)
{
    AUTO(config) struct config *c = NULL;
    AUTO_FREE char *file = home_file(cli);
    int rc = load(&c, home_is_project(cli) ? file : NULL, false, err);

    /* A broken mcp_clients.json must not be in the way of servers that are not in it. */
    if (rc == 0 && !spec_in(c, name) && !home_is_project(cli)) {
        config_free(TAKE(c));
        rc = load(&c, NULL, true, err);
    }
    if (rc < 0)
        return rc;
    *spec = spec_in(c, name);
    if (!*spec)
        return fail(err, PB_E_NOT_FOUND, "there is no server '%s' in %s", name, file);
    *config = TAKE(c);
    return 0;
}

int home_fail(const struct cli *cli, const char *name, const struct pb_error *err)
{
    AUTO_BUF struct buf hint = { 0 };
    unsigned line;

    if (err->code != PB_E_NOT_FOUND || !name || home_is_project(cli) ||
        config_find_server(project_file, name, &line, NULL) < 0)
        return cli_config_fail(err);
    buf_printf(&hint, "it is defined at %s:%u: add --scope project", project_file, line);
    return talk_trouble(&(struct trouble){
        .what = FAILURE_NOT_FOUND, .message = err->msg, .hint = buf_cstr(&hint) });
}

void home_write_json(struct json_out *o, const struct spec *s, const char *file, unsigned line)
{
    AUTO_BUF struct buf entry = { 0 };

    spec_write_masked(&entry, s);
    json_begin_object(o, NULL);
    json_put_str(o, "name", s->name);
    json_put_str_opt(o, "file", file);
    if (line)
        json_put_uint(o, "line", line);
    json_put_raw(o, "server", buf_span(&entry));
    json_end(o);
}

void home_print_json(const struct spec *s, const char *file, unsigned line)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    home_write_json(&o, s, file, line);
    show_json(buf_cstr(&out));
}

void home_print_word(FILE *to, const char *before, const char *text)
{
    AUTO_FREE char *shown = mem_dup(text);

    text_make_printable(shown);
    fprintf(to, "%s%s", before, shown);
}

void home_print_line(FILE *to, const char *label, const char *text)
{
    fprintf(to, "  %-10s", label);
    home_print_word(to, " ", text);
    fputc('\n', to);
}

void home_print_pairs(FILE *to, const char *label, const char *const *pairs, char separator)
{
    if (!*pairs)
        return;
    fprintf(to, "  %-10s", label);
    for (const char *const *p = pairs; *p; p++) {
        AUTO_FREE char *name = mem_dup(*p);
        char *end = strchr(name, separator);

        if (end)
            *end = '\0';
        text_make_printable(name);
        fprintf(to, "%s%s=***", p == pairs ? " " : ", ", name);
    }
    fputc('\n', to);
}
