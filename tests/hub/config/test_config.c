#include "hub/config/config.h"
#include "hub/config_rig.h"
#include "hub/spec/spec.h"

/* ---- The strict shape ---------------------------------------------------------------------- */

/* S4-22 S4-23 S4-24 S4-25 S4-26 S4-27 S4-28 S4-134 */
TEST(a_valid_file_with_several_servers_is_read)
{
    AUTO(config)
    struct config *c = config_rig_parse(
        "{\"servers\":{\n"
        " \"fs\":{\"command\":\"npx\",\"args\":[\"-y\",\"x\"],\"env\":{\"A\":\"b\"},"
        "\"cwd\":\"/srv\",\"transport\":\"stdio\"},\n"
        " \"remote-db\":{\"url\":\"http://db:8080/mcp/sse\",\"transport\":\"sse\"},\n"
        " \"new\":{\"url\":\"https://h/mcp\",\"transport\":\"http\"}}}",
        NULL);
    const struct spec *fs = config_rig_spec(c, "fs"), *db = config_rig_spec(c, "remote-db");

    CHECK_INT(c->specs.n, 3);
    CHECK_INT(fs->transport, SPEC_STDIO);
    CHECK_STR(fs->command, "npx");
    CHECK_STR(fs->args[0], "-y");
    CHECK_STR(fs->args[1], "x");
    CHECK_STR(fs->env[0], "A=b");
    CHECK_STR(fs->cwd, "/srv");
    CHECK_STR(fs->file, "f.json");
    CHECK_INT(fs->line, 2);
    CHECK_INT(fs->start, SPEC_EAGER);
    CHECK_INT(db->transport, SPEC_SSE);
    CHECK_STR(db->url, "http://db:8080/mcp/sse");
    CHECK_INT(db->line, 3);
    CHECK_INT(config_rig_spec(c, "new")->transport, SPEC_HTTP);
    CHECK(!config_rig_spec(c, "new")->guess_sse);
    CHECK_INT(c->files[0].shapes, CONFIG_SERVERS);
    CHECK_INT(c->n_warnings, 0);
}

/* S4-135 */
TEST(an_empty_file_of_servers_is_no_servers)
{
    AUTO(config) struct config *c = config_rig_parse("{\"servers\": {}}", NULL);

    CHECK_INT(c->specs.n, 0);
    CHECK_INT(c->files[0].shapes, CONFIG_SERVERS);
}

/* S4-29 S4-30 S4-142 */
TEST(optional_members_have_defaults)
{
    AUTO(config)
    struct config *c =
        config_rig_parse("{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"stdio\"}}}", NULL);
    const struct spec *s = config_rig_spec(c, "a");

    CHECK(!s->env[0] && !s->args[0] && !s->cwd && !s->headers[0]);
    CHECK_INT(s->timeout_ms, 0); /* the settings say it */
    CHECK(s->auto_reconnect && s->enabled);
    CHECK_INT(s->idle_ms, 1800000);
    CHECK_INT(s->instance, SPEC_SHARED);
    CHECK_INT(s->max_calls, 0);
    CHECK_INT(s->era, PB_ERA_AUTO);
    CHECK_INT(s->auth, SPEC_AUTH_NONE);
    CHECK_STR(s->config, "{}");
    CHECK_STR(s->display_name, "a");
    CHECK(!s->enabled_tools[0] && !s->disabled_tools[0] && !s->env_vars[0].name);
}

/* S4-28 S4-138 S4-139 S4-140 S4-141 S4-143 S4-144 */
TEST(what_is_wrong_with_an_entry_is_said_with_file_line_and_cure)
{
    static const struct config_rig_refusal cases[] = {
        { "{\"servers\":{\n\n\"a\":{\"command\":\"x\"}}}",
          "f.json:3: servers.a.transport: missing; expected \"stdio\", \"sse\" or \"http\"" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":null}}}",
          "f.json:1: servers.a.transport: missing; expected \"stdio\", \"sse\" or \"http\"" },
        { "{\"servers\":{\"a\":{\"transport\":\"stdio\"}}}",
          "f.json:1: servers.a.command: missing; a stdio server needs the program to run" },
        { "{\"servers\":{\"a\":{\"transport\":\"sse\"}}}",
          "f.json:1: servers.a.url: missing; a server by sse needs an address" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\n\"transport\":\"carrier-pigeon\"}}}",
          "f.json:2: servers.a.transport: expected \"stdio\", \"sse\" or \"http\", got "
          "\"carrier-pigeon\"" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"STDIO\"}}}",
          "f.json:1: servers.a.transport: expected \"stdio\", \"sse\" or \"http\", got \"STDIO\"" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":7}}}",
          "f.json:1: servers.a.transport: expected \"stdio\", \"sse\" or \"http\", got a number" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"stdio\",\"timeout_s\":0}}}",
          "f.json:1: servers.a.timeout_s: expected seconds above 0 up to 31536000, got 0" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"stdio\",\"timeout_s\":-5}}}",
          "f.json:1: servers.a.timeout_s: expected seconds above 0 up to 31536000, got -5" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"stdio\",\"timeout_s\":1e999}}}",
          "f.json:1: servers.a.timeout_s: expected seconds above 0 up to 31536000, got 1e999" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"stdio\",\"timeout_s\":\"5\"}}}",
          "f.json:1: servers.a.timeout_s: expected a number of seconds, got a string" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"stdio\",\"env\":[]}}}",
          "f.json:1: servers.a.env: expected an object, got an array" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"stdio\",\"env\":{\"P\":80}}}}",
          "f.json:1: servers.a.env.P: expected a string, got a number; put it in quotes" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"stdio\",\"env\":{\"=\":\"\"}}}}",
          "f.json:1: servers.a.env.=: this is no name for an environment variable" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"stdio\",\"args\":\"-y x\"}}}",
          "f.json:1: servers.a.args: expected an array of strings, got a string" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"stdio\",\"args\":[\"a\",\n1]}}}",
          "f.json:2: servers.a.args[1]: expected a string, got a number" },
        { "{\"servers\":{\"a\":{\"command\":[\"x\"],\"transport\":\"stdio\"}}}",
          "f.json:1: servers.a.command: expected a string, got an array" },
        { "{\"servers\":{\"a\":{\"command\":\"\",\"transport\":\"stdio\"}}}",
          "f.json:1: servers.a.command: empty; expected the program to run" },
        { "{\"servers\":{\"a\":{\"command\":\"x\\u0000y\",\"transport\":\"stdio\"}}}",
          "f.json:1: servers.a.command: a NUL character is not allowed here" },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"stdio\","
          "\"auto_reconnect\":\"yes\"}}}",
          "f.json:1: servers.a.auto_reconnect: expected true or false, got a string" },
        { "{\"servers\":{\"a\":{\"transport\":\"sse\",\"url\":\"ftp://h\"}}}",
          "f.json:1: servers.a.url: expected an address such as https://host/mcp" },
        { "{\"servers\":{\"a\":{\"transport\":\"sse\",\"url\":\"https://\"}}}",
          "f.json:1: servers.a.url: expected an address such as https://host/mcp" },
        { "{\"servers\":{\"a\":{\"transport\":\"sse\",\"url\":\"https://h/a b\"}}}",
          "f.json:1: servers.a.url: a space or control character is not allowed here" },
        { "{\"servers\":{\"a\":\"npx\"}}",
          "f.json:1: servers.a: expected an object, got a string" },
        { "{\"servers\":[]}",
          "f.json:1: servers: expected an object of servers by name, got an array" },
        { "{\"servers\":{\"a/b\":{\"command\":\"x\",\"transport\":\"stdio\"}}}",
          "f.json:1: servers: 'a/b' is no name for a server: only letters, digits, '_' and '-'" },
        { "[]", "f.json:1: expected an object such as {\"mcpServers\":{}}" },
    };

    config_rig_refused(cases, ARRAY_LEN(cases));
}

/* S4-137 */
TEST(malformed_json_is_refused_with_line_and_column)
{
    static const struct config_rig_refusal cases[] = {
        { "", "f.json: line 1, column 1: expected a value" },
        { "{\"servers\":{\n  \"a\":{},\n}}",
          "f.json: line 3, column 1: expected a key; the last member has no comma after it" },
        { "{\"servers\":{}} x", NULL },
        { "{\"servers\":{},\"servers\":{}}", NULL },
        { "{\"servers\":{\"a\":{\"command\":\"x\",\"command\":\"y\",\"transport\":\"stdio\"}}}",
          NULL },
        { "{\"a\":\"\xff\"}", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct config *c = NULL;
        struct pb_error err = { 0 };

        CHECK_INT(config_rig_try(&c, cases[i].text, NULL, &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, cases[i].why ? cases[i].why : "f.json: line 1, column ");
    }
}

/* S4-231 */
TEST(comments_are_refused_by_name_with_line_and_column)
{
    static const struct config_rig_refusal cases[] = {
        { "// a\n{}",
          "f.json: line 1, column 1: comments are not allowed; this file is strict JSON" },
        { "{\n  // the servers\n  \"servers\":{}}",
          "f.json: line 2, column 3: comments are not allowed; this file is strict JSON" },
        { "{\"servers\":{} /* none */ }",
          "f.json: line 1, column 15: comments are not allowed; this file is strict JSON" },
        { "{\"servers\":{},\n# none\n\"x\":1}",
          "f.json: line 2, column 1: comments are not allowed; this file is strict JSON" },
        { "{\"servers\":{\"a\": /* x */ {}}}",
          "f.json: line 1, column 18: comments are not allowed; this file is strict JSON" },
        /* the first thing that is wrong is not the comment */
        { "{\"a\":\"//\",}\n//",
          "f.json: line 1, column 11: expected a key; the last member has no comma after it" },
    };

    config_rig_refused(cases, ARRAY_LEN(cases));
}

TEST(a_message_has_room_for_what_matters_however_long_the_path)
{
    AUTO(config) struct config *c = config_new();
    AUTO_BUF struct buf path = { 0 };
    struct config_request r = config_rig_request(NULL);
    struct pb_error err = { 0 };

    for (int i = 0; i < 100; i++)
        buf_str(&path, "/\xc3\xa9t\xc3\xa9");
    buf_str(&path, "/mcp.json");
    CHECK_INT(config_parse(c, buf_cstr(&path), SPAN("{\"servers\":{\"a\":{}}}"), &r, &err),
              -PB_E_INVALID);
    CHECK_HAS(err.msg, "/mcp.json:1: servers.a.transport: missing; expected \"stdio\"");
    CHECK(utf8_valid(span_of(err.msg)));
}

TEST(times_and_counts_are_held_to_their_bounds)
{
    static const struct {
        const char *member;
        bool good;
    } cases[] = {
        { "\"timeout_s\":0.001", true },
        { "\"timeout_s\":0.0001", false },
        { "\"timeout_s\":31536000", true },
        { "\"timeout_s\":31536001", false },
        { "\"idle_s\":0", true },
        { "\"idle_s\":-1", false },
        { "\"idle_s\":31536000", true },
        { "\"idle_s\":1e300", false },
        { "\"max_calls\":1.5", false },
        { "\"max_calls\":-1", false },
        { "\"start\":\"soon\"", false },
        { "\"instance\":\"own\"", false },
        { "\"era\":\"future\"", false },
        { "\"auth_type\":\"magic\"", false },
        { "\"uuid\":\"../../etc\"", false },
        { "\"uuid\":\"8C5F0F0A-3f0b-4d5e-9a31-2f4c1d7e6b90\"", true },
        { "\"uuid\":\"8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b9/\"", false },
        { "\"oauth\":[]", false },
        { "\"config\":1", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(spec) struct spec *s = NULL;
        AUTO_BUF struct buf text = { 0 };
        struct config_request r = config_rig_request(NULL);
        int rc;

        buf_printf(&text, "{\"command\":\"x\",\"transport\":\"stdio\",%s}", cases[i].member);
        rc = spec_parse(&s, "a", buf_span(&text), true, &r, NULL);
        if ((rc == 0) != cases[i].good)
            TAP_FAIL("%s gives %d", cases[i].member, rc);
    }
}

TEST(max_calls_goes_up_to_what_a_link_takes)
{
    static const unsigned counts[] = { LINK_CALLS_MAX, LINK_CALLS_MAX + 1, UINT32_MAX };

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        AUTO(spec) struct spec *s = NULL;
        AUTO_BUF struct buf text = { 0 };

        buf_printf(&text, "{\"command\":\"x\",\"max_calls\":%u}", counts[i]);
        CHECK_INT(spec_parse(&s, "a", buf_span(&text), false, NULL, NULL), i ? -PB_E_INVALID : 0);
    }
}

TEST(lists_and_values_are_held_to_their_bounds)
{
    static const int counts[] = { SPEC_WORDS_MAX, SPEC_WORDS_MAX + 1, SPEC_WORDS_MAX * 100 };
    static const int sizes[] = { CONFIG_VALUE_MAX - 2, CONFIG_VALUE_MAX - 1, CONFIG_VALUE_MAX * 9 };

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        AUTO_BUF struct buf text = { 0 }, vars = { 0 };
        AUTO(spec) struct spec *s = NULL;
        AUTO(spec) struct spec *t = NULL;

        buf_str(&text, "{\"command\":\"x\",\"args\":[\"\"");
        buf_str(&vars, "{\"command\":\"x\",\"env\":{\"\x61\":\"\"");
        for (int n = 1; n < counts[i]; n++) {
            buf_str(&text, ",\"\"");
            buf_printf(&vars, ",\"v%d\":\"\"", n);
        }
        buf_str(&text, "]}");
        buf_str(&vars, "}}");
        CHECK_INT(spec_parse(&s, "a", buf_span(&text), false, NULL, NULL), i ? -PB_E_INVALID : 0);
        CHECK_INT(spec_parse(&t, "a", buf_span(&vars), false, NULL, NULL), i ? -PB_E_INVALID : 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        AUTO_BUF struct buf text = { 0 };
        AUTO(spec) struct spec *s = NULL;

        buf_str(&text, "{\"url\":\"http://h/\",\"cwd\":\"");
        memset(buf_reserve(&text, (size_t)sizes[i]), 'x', (size_t)sizes[i]);
        text.n += (size_t)sizes[i];
        buf_str(&text, "\"}");
        CHECK_INT(spec_parse(&s, "a", buf_span(&text), false, NULL, NULL), i ? -PB_E_INVALID : 0);
    }
}

/* ---- On the command line ------------------------------------------------------------------- */

/* S4-33 S4-150 S4-240 */
TEST(an_inline_command_is_stdio_split_at_white_space_with_the_same_defaults)
{
    AUTO(spec) struct spec *s = NULL;

    CHECK_INT(config_inline(&s, "fs:npx  -y @x/server:1 ${HOME} /tmp ", NULL), 0);
    CHECK_STR(s->name, "fs");
    CHECK_INT(s->transport, SPEC_STDIO);
    CHECK_STR(s->command, "npx");
    CHECK_STR(s->args[0], "-y");
    CHECK_STR(s->args[1], "@x/server:1");
    CHECK_STR(s->args[2], "${HOME}");
    CHECK_STR(s->args[3], "/tmp");
    CHECK(!s->args[4] && !s->env[0] && !s->cwd);
    CHECK_INT(s->timeout_ms, 0); /* the settings say it */
    CHECK(s->auto_reconnect);
    CHECK(!s->file);
}

/* S4-33 S4-151 S4-152 */
TEST(an_inline_url_is_sse)
{
    static const char *const urls[] = { "http://host/path", "https://host:8/path?a=b" };

    for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
        AUTO(spec) struct spec *s = NULL;
        AUTO_BUF struct buf text = { 0 };

        buf_printf(&text, "db:%s", urls[i]);
        CHECK_INT(config_inline(&s, buf_cstr(&text), NULL), 0);
        CHECK_STR(s->name, "db");
        CHECK_INT(s->transport, SPEC_SSE);
        CHECK_STR(s->url, urls[i]);
        CHECK_INT(s->timeout_ms, 0); /* the settings say it */
        CHECK(s->auto_reconnect && !s->env[0] && !s->args[0] && !s->cwd);
    }
}

/* S4-154 S4-155 S4-156 */
TEST(an_inline_server_needs_a_colon_a_name_and_a_value)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        { "no-colon",
          "--mcp-client \"no-colon\": expected NAME:COMMAND or NAME:URL, got no colon" },
        { "", "--mcp-client \"\": expected NAME:COMMAND" },
        { ":command", "--mcp-client: a server needs a name" },
        { "name:", "--mcp-client \"name:\": expected a command or a URL behind the colon" },
        { "name: \t ", "--mcp-client \"name:\": expected a command" },
        { "a b:cmd", "--mcp-client: 'a b' is no name for a server" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct spec *s = NULL;
        struct pb_error err = { 0 };

        CHECK_INT(config_inline(&s, cases[i].text, &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, cases[i].why);
    }
}

/* ---- Where files are ----------------------------------------------------------------------- */

struct path_case {
    const char *env[5];
    const char *home; /* of the request */
    const char *want;
};

static void check_paths(char *(*fn)(const struct config_request *), const struct path_case *cases,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct config_request r = config_rig_request(cases[i].env);
        AUTO_FREE char *path = NULL;

        r.home = cases[i].home;
        path = fn(&r);
        CHECK_STR(path, cases[i].want);
    }
}

TEST(the_home_directory_is_chosen_by_variables)
{
    static const struct path_case cases[] = {
        { { "HOME=/h" }, NULL, "/h/.config/patchbay" },
        { { "HOME=/h", "XDG_CONFIG_HOME=/x/" }, NULL, "/x/patchbay" },
        { { "HOME=/h", "XDG_CONFIG_HOME=relative" }, NULL, "/h/.config/patchbay" },
        { { "HOME=/h", "XDG_CONFIG_HOME=/x", "PATCHBAY_HOME=/p" }, NULL, "/p" },
        { { "HOME=/h", "PATCHBAY_HOME=" }, NULL, "/h/.config/patchbay" },
        { { "HOME=/h", "PATCHBAY_HOME=/p" }, "/flag", "/flag" },
        { { "HOME=/h", "CIDELDILL_HOME=/old" }, NULL, "/h/.config/patchbay" },
    };

    check_paths(config_home, cases, ARRAY_LEN(cases));
}

/* S4-21 S4-145 S4-146 S4-147 S4-242 */
TEST(the_clients_file_is_found_by_new_and_old_variables)
{
    static const struct path_case cases[] = {
        { { "HOME=/h" }, NULL, "/h/.config/patchbay/mcp_clients.json" },
        { { "HOME=/h", "PATCHBAY_HOME=/p" }, NULL, "/p/mcp_clients.json" },
        { { "HOME=/h", "CIDELDILL_HOME=/old/" }, NULL, "/old/mcp_clients.json" },
        { { "HOME=/h", "CIDELDILL_HOME=/old", "XDG_CONFIG_HOME=/x" },
          NULL,
          "/old/mcp_clients.json" },
        { { "HOME=/h", "CIDELDILL_HOME=/old", "PATCHBAY_HOME=/p" }, NULL, "/p/mcp_clients.json" },
        { { "HOME=/h", "CIDELDILL_MCP_CLIENTS_CONFIG=/f.json" }, NULL, "/f.json" },
        { { "HOME=/h", "CIDELDILL_MCP_CLIENTS_CONFIG=/f.json", "CIDELDILL_HOME=/old" },
          NULL,
          "/f.json" },
        { { "HOME=/h", "PATCHBAY_MCP_CLIENTS_CONFIG=/n.json", "PATCHBAY_HOME=/p" },
          NULL,
          "/n.json" },
        { { "PATCHBAY_MCP_CLIENTS_CONFIG=/n.json", "CIDELDILL_MCP_CLIENTS_CONFIG=/f.json" },
          NULL,
          "/n.json" },
        { { "HOME=/h", "CIDELDILL_HOME=/old" }, "/flag", "/flag/mcp_clients.json" },
    };

    check_paths(config_clients_path, cases, ARRAY_LEN(cases));
}

TEST(sockets_and_caches_stay_with_a_home_that_was_chosen)
{
    static const struct path_case run[] = {
        { { "HOME=/h" }, NULL, "/h/.config/patchbay/run" },
        { { "HOME=/h", "XDG_RUNTIME_DIR=/run/user/1" }, NULL, "/run/user/1/patchbay" },
        { { "HOME=/h", "XDG_RUNTIME_DIR=/run/user/1", "PATCHBAY_HOME=/p" }, NULL, "/p/run" },
        { { "HOME=/h", "XDG_RUNTIME_DIR=/run/user/1" }, "/flag", "/flag/run" },
    };
    static const struct path_case cache[] = {
        { { "HOME=/h" }, NULL, "/h/.config/patchbay/cache" },
        { { "HOME=/h", "XDG_CACHE_HOME=/c" }, NULL, "/c/patchbay" },
        { { "HOME=/h", "XDG_CACHE_HOME=/c", "PATCHBAY_HOME=/p" }, NULL, "/p/cache" },
    };

    check_paths(config_runtime_dir, run, ARRAY_LEN(run));
    check_paths(config_cache_dir, cache, ARRAY_LEN(cache));
}

TEST(the_home_of_the_user_database_is_used_when_there_is_no_variable)
{
    struct config_request r = config_rig_request(NULL);
    AUTO_FREE char *home = config_home(&r);

    CHECK(home[0] == '/');
    CHECK_HAS(home, "/.config/patchbay");
}
