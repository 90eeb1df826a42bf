#include "hub/config/config.h"
#include "hub/config_rig.h"
#include "hub/spec/spec.h"
#include "temp_dir.h"

/* Files on the disk, flags, and who wins. */

static const char stdio_a[] = "{\"servers\":{\"a\":{\"command\":\"one\",\"transport\":\"stdio\"},"
                              "\"b\":{\"command\":\"one\",\"transport\":\"stdio\"}}}";

/* S4-32 S4-136 S4-162 */
TEST(a_file_that_was_asked_for_must_exist)
{
    const char *missing = temp_path("none.json");
    const char *files[] = { missing, NULL };
    struct config_request both[] = {
        { .home = temp_root(), .files = files },
        { .home = temp_root(), .clients_file = missing },
    };

    for (size_t i = 0; i < ARRAY_LEN(both); i++) {
        struct config *c = NULL;
        struct pb_error err = { 0 };

        CHECK_INT(config_load(&c, &both[i], &err), -PB_E_NOT_FOUND);
        CHECK_HAS(err.msg, "/none.json: there is no such config file");
        CHECK(!c);
    }
}

/* S4-31 S4-161 */
TEST(files_that_are_only_looked_for_may_be_missing)
{
    struct config_request r = config_rig_request(NULL);
    AUTO(config) struct config *c = NULL;

    r.home = temp_root();
    r.clients = true;
    CHECK_INT(config_load(&c, &r, NULL), 0);
    CHECK_INT(c->specs.n, 0);
    CHECK_INT(c->n_warnings, 0);
    CHECK_INT(c->n_files, 2);
    CHECK_HAS(c->files[0].path, "/config.json");
    CHECK(c->files[0].missing);
    CHECK_HAS(c->files[1].path, "/mcp_clients.json");
    CHECK(c->files[1].missing);
}

/* S4-31 S4-146 */
TEST(the_default_clients_file_is_read_when_it_is_there)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *other = temp_file(
        "other.json", "{\"servers\":{\"o\":{\"url\":\"http://h/\",\"transport\":\"sse\"}}}");
    const char *env[] = { arena_printf(&a, "CIDELDILL_MCP_CLIENTS_CONFIG=%s", other), NULL };
    struct config_request r = config_rig_request(NULL), by_variable = config_rig_request(env);
    AUTO(config) struct config *c = NULL;
    AUTO(config) struct config *d = NULL;

    temp_file("mcp_clients.json", stdio_a);
    r.home = by_variable.home = temp_root();
    r.clients = by_variable.clients = true;
    CHECK_INT(config_load(&c, &r, NULL), 0);
    CHECK_INT(c->specs.n, 2);
    CHECK_INT(config_load(&d, &by_variable, NULL), 0);
    CHECK_INT(d->specs.n, 1);
    config_rig_spec(d, "o");
}

/* S4-35 S4-153 */
TEST(all_flags_combine_later_files_win_and_inline_servers_win_over_all)
{
    const char *files[] = {
        temp_file("1.json",
                  "{\"mcpServers\":{\"a\":{\"command\":\"first\"},\"b\":{\"command\":\"first\"},"
                  "\"c\":{\"command\":\"first\"},\"d\":{\"command\":\"first\"}}}"),
        temp_file("2.json",
                  "{\"mcp_servers\":{\"e\":{\"command\":\"second\"},\"b\":{\"command\":\"second\"},"
                  "\"c\":{\"command\":\"second\"},\"d\":{\"command\":\"second\"}}}"),
        NULL,
    };
    const char *inlines[] = { "d:inline x", "new:http://h/sse", NULL };
    struct config_request r = { .home = temp_root(),
                                .files = files,
                                .clients = true,
                                .inlines = inlines,
                                .env = config_rig_env };
    static const char *const want[][2] = {
        { "a", "first" },  { "b", "second" }, { "c", "explicit" },
        { "d", "inline" }, { "e", "second" }, { "f", "default" },
    };
    AUTO(config) struct config *c = NULL;
    struct map_slot *slot;
    AUTO_BUF struct buf order = { 0 };

    /* not read: --config takes its place */
    temp_file("config.json", "{\"mcpServers\":{\"own\":{\"command\":\"x\"}}}");
    temp_file("mcp_clients.json",
              "{\"servers\":{\"f\":{\"command\":\"default\",\"transport\":\"stdio\"},"
              "\"c\":{\"command\":\"default\",\"transport\":\"stdio\"}}}");
    r.clients_file =
        temp_file("clients.json", "{\"servers\":{\"c\":{\"command\":\"explicit\",\"transport\":"
                                  "\"stdio\"},\"d\":{\"command\":\"explicit\","
                                  "\"transport\":\"stdio\"}}}");
    CHECK_INT(config_load(&c, &r, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        CHECK_STR(config_rig_spec(c, want[i][0])->command, want[i][1]);
    CHECK_INT(config_rig_spec(c, "new")->transport, SPEC_SSE);
    MAP_FOREACH(slot, &c->specs)
        buf_printf(&order, "%s ", slot->key);
    CHECK_STR(buf_cstr(&order), "a b c d e f new ");
    CHECK_INT(c->n_files, 4);
    CHECK_INT(c->files[0].shapes, CONFIG_MCP_SERVERS);
    CHECK_INT(c->files[1].shapes, CONFIG_MCP_SERVERS_SNAKE);
    CHECK_INT(c->files[2].shapes, CONFIG_SERVERS);
}

/* S4-153 */
TEST(inline_servers_alone_are_enough)
{
    const char *inlines[] = { "a:x", "b:y z", "a:w", NULL };
    struct config_request r = { .home = temp_root(), .inlines = inlines };
    AUTO(config) struct config *c = NULL;

    CHECK_INT(config_load(&c, &r, NULL), 0);
    CHECK_INT(c->specs.n, 2);
    CHECK_STR(config_rig_spec(c, "a")->command, "w");
    CHECK_STR(config_rig_spec(c, "b")->args[0], "z");
}

TEST(without_flags_the_config_of_the_home_directory_is_read)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *env[] = { arena_printf(&a, "PATCHBAY_HOME=%s", temp_root()), NULL };
    struct config_request r = config_rig_request(env);
    AUTO(config) struct config *c = NULL;
    AUTO(config) struct config *d = NULL;

    temp_file("config.json", "{\"mcpServers\":{\"own\":{\"command\":\"x\"}}}");
    CHECK_INT(config_load(&c, &r, NULL), 0);
    CHECK_STR(config_rig_spec(c, "own")->command, "x");
    CHECK_STR(config_rig_spec(c, "own")->file, temp_path("config.json"));
    r.no_home = true;
    CHECK_INT(config_load(&d, &r, NULL), 0);
    CHECK_INT(d->specs.n, 0);
    CHECK_INT(d->n_files, 0);
}

TEST(the_first_wrong_file_or_flag_stops_the_load)
{
    const char *files[] = { temp_file("bad.json", "{\"servers\":{\"a\":{}}}"), NULL };
    const char *inlines[] = { "oops", NULL };
    struct config_request bad_file = { .home = temp_root(), .files = files };
    struct config_request bad_flag = { .home = temp_root(), .inlines = inlines };
    struct config_request not_a_file = { .home = temp_root(), .clients_file = temp_root() };
    struct config *c = NULL;
    struct pb_error err = { 0 };

    CHECK_INT(config_load(&c, &bad_file, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "bad.json:1: servers.a.transport: missing");
    CHECK_INT(config_load(&c, &bad_flag, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "--mcp-client \"oops\"");
    CHECK_INT(config_load(&c, &not_a_file, &err), -PB_E_SYSTEM);
    CHECK_HAS(err.msg, "cannot read this config file: Is a directory");
}

TEST(a_file_of_the_largest_size_is_read_and_one_byte_more_is_not)
{
    static const size_t sizes[] = { CONFIG_BYTES_MAX, CONFIG_BYTES_MAX + 1, 3 * CONFIG_BYTES_MAX };

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        AUTO(config) struct config *c = NULL;
        AUTO_FREE char *text = mem_zero(sizes[i] + 1);
        struct config_request r = { .home = temp_root() };
        struct pb_error err = { 0 };

        memset(text, ' ', sizes[i]);
        memcpy(text, "{}", 2);
        r.clients_file = temp_file("large.json", text);
        CHECK_INT(config_load(&c, &r, &err), i ? -PB_E_LIMIT : 0);
        if (i)
            CHECK_HAS(err.msg, "large.json: larger than 16777216 bytes");
    }
}

TEST(ten_thousand_servers_are_read_in_order_and_one_more_is_not)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO(config) struct config *c = NULL;
    struct config *more = NULL;
    struct pb_error err = { 0 };

    buf_str(&text, "{\"mcpServers\":{");
    for (int i = 0; i < HUB_SERVERS_MAX; i++)
        buf_printf(&text, "%s\n\"s%d\":{\"command\":\"x\"}", i ? "," : "", i);
    buf_str(&text, "}}");
    c = config_rig_parse(buf_cstr(&text), NULL);
    CHECK_INT(c->specs.n, HUB_SERVERS_MAX);
    CHECK_INT(config_rig_spec(c, "s9999")->line, 10001);
    text.n -= 2;
    buf_str(&text, ",\"more\":{\"command\":\"x\"}}}");
    CHECK_INT(config_rig_try(&more, buf_cstr(&text), NULL, &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "f.json:10001: mcpServers.more: there are too many servers");
}

/* It names programs that are run: whoever can write it can have anything run. */
TEST(a_file_that_others_can_write_is_warned_about)
{
    static const struct {
        mode_t mode;
        bool warned;
    } cases[] = {
        { 0600, false }, { 0644, false }, { 0660, false }, { 0602, true }, { 0666, true }
    };
    const char *files[] = { temp_file("c.json", stdio_a), NULL };
    struct config_request r = { .home = temp_root(), .files = files };

    CHECK_INT(chown(files[0], geteuid(), getegid()), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(config) struct config *c = NULL;

        CHECK_INT(chmod(files[0], cases[i].mode), 0);
        CHECK_INT(config_load(&c, &r, NULL), 0);
        CHECK_INT(c->n_warnings, cases[i].warned);
        if (cases[i].warned)
            CHECK_HAS(c->warnings[0], "/c.json: others can write this file");
    }
    if (geteuid() == 0) { /* only root can give a file away */
        AUTO(config) struct config *c = NULL;

        CHECK_INT(chmod(files[0], 0600), 0);
        CHECK_INT(chown(files[0], 65534, 65534), 0);
        CHECK_INT(config_load(&c, &r, NULL), 0);
        CHECK_INT(c->n_warnings, 1);
        CHECK_HAS(c->warnings[0], "/c.json: this file is another user's");
    }
}

TEST(servers_of_a_project_go_before_those_of_files_and_start_in_its_directory)
{
    static const char text[] =
        "{\"mcpServers\":{\"b\":{\"command\":\"./x\"},\"c\":{\"command\":\"x\",\"cwd\":\"sub\"},"
        "\"d\":{\"command\":\"x\",\"cwd\":\"/else\"},\"e\":{\"url\":\"http://h/${OURS}\"}},"
        "\"settings\":{\"reconnect_max\":1},\"policy\":{},\"modes\":{\"m\":{\"filter\":\"all\"}}}";
    const struct config_project project = { "/p/.mcp.json", span_of(text) };
    const char *files[] = { temp_file("c.json", stdio_a), NULL };
    struct config_request r = {
        .home = temp_root(), .files = files, .project = &project, .env = config_no_env
    };
    const struct {
        const char *name, *cwd;
    } rows[] = { { "a", NULL }, { "b", "/p" }, { "c", "/p/sub" }, { "d", "/else" }, { "e", NULL } };
    AUTO(config) struct config *c = NULL;
    const struct spec *was;

    setenv("OURS", "path", 1);
    CHECK_INT(config_load(&c, &r, NULL), 0);
    CHECK_INT(c->specs.n, ARRAY_LEN(rows));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct spec *s = map_get(&c->specs, span_of(rows[i].name));

        CHECK(s && (s->cwd != NULL) == (rows[i].cwd != NULL));
        if (rows[i].cwd)
            CHECK_STR(s->cwd, rows[i].cwd);
    }
    CHECK_STR(((const struct spec *)map_get(&c->specs, SPAN("e")))->url, "http://h/path");
    was = map_get(&c->hidden, SPAN("b"));
    CHECK(was && c->hidden.n == 1);
    CHECK_HAS(was->file, "/c.json");
    CHECK_INT(c->settings.reconnect_max, 5);
    CHECK(!c->policy && !mode_find(c->modes, SPAN("m")));
    CHECK_INT(c->n_warnings, 3);
    CHECK_HAS(c->warnings[0], "/p/.mcp.json:1: settings: a project has only servers, ignoring");
    CHECK_INT(c->n_files, 1); /* it is not watched: others may not be asked */
}

TEST(a_project_with_more_servers_than_there_may_be_stops_the_load)
{
    AUTO_BUF struct buf text = { 0 };
    const char *files[] = { temp_file("c.json", stdio_a), NULL };
    struct config_project project = { .path = "/p/.mcp.json" };
    struct config_request r = { .home = temp_root(), .files = files, .project = &project };
    struct config *c = NULL;
    struct pb_error err;

    buf_str(&text, "{\"mcpServers\":{");
    for (int i = 0; i < HUB_SERVERS_MAX; i++)
        buf_printf(&text, "%s\"s%d\":{\"command\":\"x\"}", i ? "," : "", i);
    buf_str(&text, "}}");
    project.text = buf_span(&text);
    CHECK_INT(config_load(&c, &r, &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "servers");
    CHECK(!c);
}
