#include "home.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "project.h"
#include "reach.h"
#include "show.h"
#include "taken.h"
#include "talk.h"

/* The names under which a file may list them; the first is what we write. */
static const char *const disabled_tools[] = { "disabledTools", "disabled_tools", NULL };

static bool is_in_file(const void *ctx, const struct item_name *i)
{
    AUTO_FREE char *name = mem_dupn(i->server.p, i->server.n);
    unsigned line;

    return config_find_server(ctx, name, &line, NULL) == 0;
}

/* What is meant, in any spelling. *tool is NULL when it is a server; both are the caller's. */
static void read_item(const char *text, const char *file, char **name, char **tool)
{
    struct item_name item = { span_of(text), { 0 } };

    *tool = NULL;
    if (!is_in_file(file, &item) && !item_split(&item, item.server, is_in_file, file) &&
        item_names_server(item.server)) {
        /* None that is there: the change says so. */
        item.server = item_server_part(span_of(text));
        item.own = span_from(span_of(text), item.server.n + 1);
    }
    *name = mem_dupn(item.server.p, item.server.n);
    if (item.own.p)
        *tool = mem_dupn(item.own.p, item.own.n);
}

static int set_server(const char *file, const char *name, bool on, struct pb_error *err)
{
    int rc = config_set_member(file, name, "enabled", on ? SPAN("true") : SPAN("false"), err);

    /* "disabled" is how other programs write it; it must not say the opposite. */
    if (rc == 0)
        rc = config_set_member(file, name, "disabled", (struct span){ 0 }, err);
    return rc;
}

static bool matches(const char *const *globs, const char *tool)
{
    for (; *globs; globs++)
        if (glob_match(*globs, span_of(tool)))
            return true;
    return false;
}

/* A pattern may still hide a tool that was enabled by name, or the other way round. */
static void warn_of_patterns(const struct cli *cli, const char *name, const char *tool)
{
    AUTO(config) struct config *config = NULL;
    const struct spec *s;

    if (home_find(cli, name, &config, &s, NULL) < 0)
        return;
    if (matches(s->disabled_tools, tool))
        talk_note("a pattern in disabledTools still hides %s; see %s:%u", tool, s->file, s->line);
    else if (s->enabled_tools[0] && !matches(s->enabled_tools, tool))
        talk_note("enabledTools does not name %s; see %s:%u", tool, s->file, s->line);
}

/* ---- is there such a tool? ------------------------------------------------------------------ */

/* `tool` may be a pattern. */
static bool any_matches(struct json tools, const char *tool, struct arena *a)
{
    JSON_FOREACH(e, tools)
        if (glob_match(tool, json_str(json_get(json_get(e, "definition"), "name"), a)))
            return true;
    return false;
}

static int tell_no_tool(struct json tools, const char *name, const char *tool)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct near near;
    struct pb_error err;

    near_init(&near, span_of(tool));
    JSON_FOREACH(e, tools) {
        size_t unlike =
            near_unlike(&near, json_str(json_get(json_get(e, "definition"), "name"), &a));

        if (unlike != SIZE_MAX)
            near_keep(&near, span_of(show_item(e, &a)), unlike);
    }
    if (!near_write(&near, &text))
        buf_printf(&text, "; 'patchbay tools %s' lists those there are", name);
    fail(&err, PB_E_NOT_FOUND, "there is no tool '%s.%s'%s", name, tool, buf_cstr(&text));
    return cli_fail(&err);
}

/* A server that is down must not keep anybody from switching a tool of it off. */
static int tell_unchecked(struct json failed, const char *name, const char *tool)
{
    AUTO_ARENA struct arena a = { 0 };

    talk_note("not checked whether %s has a tool '%s': %s", name, tool,
              show_member(json_first(failed), "message", &a));
    return CLI_OK;
}

static int ask_tools(struct reach *s, const char *name, bool refresh, struct pb_result **result,
                     struct json_doc *doc)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct pb_error err;

    json_begin_object(&o, NULL);
    json_put_str(&o, "server", name);
    json_put_bool(&o, "refresh", refresh);
    json_end(&o);
    return reach_ask(s, "patchbay/tools", buf_cstr(&params), result, doc, &err) < 0
               ? reach_fail(&err)
               : CLI_OK;
}

/* What is remembered may be old: it says that there is a tool, but never that there is none. */
static int look_for_tool(struct reach *s, const char *name, const char *tool, bool refresh)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct pb_result *result = NULL;
    int status = ask_tools(s, name, refresh, &result, &doc);
    struct json tools = json_get(json_root(&doc), "tools");
    struct json failed = json_get(json_root(&doc), "failed");

    if (status == CLI_OK && !any_matches(tools, tool, &a))
        status = !refresh           ? look_for_tool(s, name, tool, true)
                 : json_len(failed) ? tell_unchecked(failed, name, tool)
                                    : tell_no_tool(tools, name, tool);
    pb_result_free(result);
    return status;
}

static bool is_listed(const struct cli *cli, const char *name, const char *tool)
{
    AUTO(config) struct config *config = NULL;
    const struct spec *s;

    if (home_find(cli, name, &config, &s, NULL) < 0)
        return false;
    for (const char *const *word = s->disabled_tools; *word; word++)
        if (strcmp(*word, tool) == 0)
            return true;
    return false;
}

/* Nothing is written about a tool that there is not. One that is listed already may be gone from
 * its server, and can be taken off the list; servers of a project are not started for this. */
static int check_tool(const struct cli *cli, const char *file, const char *name, const char *tool)
{
    AUTO(reach) struct reach *s = NULL;
    unsigned line;
    int status;

    if (home_is_project(cli) || config_find_server(file, name, &line, NULL) < 0 ||
        is_listed(cli, name, tool))
        return CLI_OK;
    status = reach_open(&s, cli, &(struct reach_wants){ .server = name });
    return status == CLI_OK ? look_for_tool(s, name, tool, false) : status;
}

/* ---- the change ----------------------------------------------------------------------------- */

static void print_done(const struct cli *cli, const char *file, const char *name, const char *tool,
                       bool on)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    if (!cli_option(cli, "json")) {
        printf("%s %s%s%s\n", on ? "Enabled" : "Disabled", name, tool ? "." : "", tool ? tool : "");
        return;
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "name", name);
    json_put_str_opt(&o, "tool", tool);
    json_put_bool(&o, "enabled", on);
    json_put_str(&o, "file", file);
    json_end(&o);
    show_json(buf_cstr(&out));
}

static int set_enabled(struct cli *cli, bool on)
{
    AUTO_FREE char *file = home_file(cli);
    AUTO_FREE char *name = NULL, *tool = NULL;
    struct project_edit edit;
    struct pb_error err;
    int status, rc;

    if (!file)
        return CLI_USAGE;
    read_item(cli->args[0], file, &name, &tool);
    if (tool && !*tool)
        return cli_usage(cli->verb, "a tool's name must follow '%s'", cli->args[0]);
    status = tool ? check_tool(cli, file, name, tool) : CLI_OK;
    if (status != CLI_OK)
        return status;
    project_edit_begin(&edit, cli);
    rc = tool ? config_list_member(file, name, disabled_tools, tool, !on, &err)
              : set_server(file, name, on, &err);
    if (rc < 0)
        return home_fail(cli, name, &err);
    project_edit_end(&edit);
    print_done(cli, file, name, tool, on);
    if (tool && on)
        warn_of_patterns(cli, name, tool);
    return taken_over(cli, file);
}

static int run_enable(struct cli *cli) { return set_enabled(cli, true); }

static int run_disable(struct cli *cli) { return set_enabled(cli, false); }

#define OPTIONS                                                                     \
    (const struct option_spec[])                                                    \
    {                                                                               \
        CLI_SCOPE_OPTION, { 0, "json", NULL, "print what was done as JSON" }, { 0 } \
    }

const struct verb verb_disable = {
    .name = "disable",
    .usage = "SERVER | SERVER.TOOL",
    .help = "Switch a server or one of its tools off",
    .min = 1,
    .max = 1,
    .options = OPTIONS,
    .run = run_disable,
};

const struct verb verb_enable = {
    .name = "enable",
    .usage = "SERVER | SERVER.TOOL",
    .help = "Switch a server or one of its tools on again",
    .min = 1,
    .max = 1,
    .options = OPTIONS,
    .run = run_enable,
};
