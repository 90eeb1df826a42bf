#include "hub/config/config.h"
#include "hub/config_rig.h"
#include "hub/spec/spec.h"
#include "temp_dir.h"

/* The shapes that are not strict, variables, and what is said about odd members. */

/* People put the key itself where its variable should be. */
TEST(a_warning_does_not_show_what_looks_like_a_key)
{
    AUTO(config)
    struct config *c =
        config_rig_parse("{\"mcpServers\":{\"a\":{\"url\":\"http://h/\",\"headers\":{"
                         "\"Authorization\":\"Bearer ${sk-live-12345678}\",\"X\":"
                         "\"${ghp_abcdefgh12345678}\"}}}}",
                         NULL);
    AUTO_BUF struct buf text = { 0 };

    config_rig_warnings(&text, c);
    CHECK_HAS(buf_cstr(&text), "headers.Authorization: the variable ${***} is not set");
    CHECK_HAS(buf_cstr(&text), "headers.X: the variable ${***} is not set");
    CHECK(!strstr(buf_cstr(&text), "1234"));
}

TEST(the_transport_is_inferred_from_command_or_url)
{
    AUTO(config)
    struct config *c = config_rig_parse(
        "{\"mcpServers\":{\"a\":{\"command\":\"x\"},\"b\":{\"url\":\"https://h/mcp\"},"
        "\"c\":{\"serverUrl\":\"https://h/c\"},\"d\":{\"httpUrl\":\"https://h/d\"}},"
        "\"mcp_servers\":{\"e\":{\"command\":\"y\"}}}",
        NULL);

    CHECK_INT(config_rig_spec(c, "a")->transport, SPEC_STDIO);
    CHECK_INT(config_rig_spec(c, "b")->transport, SPEC_HTTP);
    CHECK(config_rig_spec(c, "b")->guess_sse);
    CHECK_STR(config_rig_spec(c, "c")->url, "https://h/c");
    CHECK(config_rig_spec(c, "c")->guess_sse);
    CHECK_STR(config_rig_spec(c, "d")->url, "https://h/d");
    CHECK(!config_rig_spec(c, "d")->guess_sse);
    CHECK_STR(config_rig_spec(c, "e")->command, "y");
    CHECK_INT(config_rig_spec(c, "e")->start, SPEC_EAGER);
    CHECK_INT(c->files[0].shapes, CONFIG_MCP_SERVERS | CONFIG_MCP_SERVERS_SNAKE);
    CHECK_INT(c->n_warnings, 0);
}

TEST(words_for_transports_are_understood_however_programs_write_them)
{
    static const struct {
        const char *word;
        enum spec_transport transport;
    } cases[] = {
        { "stdio", SPEC_STDIO },
        { "local", SPEC_STDIO },
        { "STDIO", SPEC_STDIO },
        { "http", SPEC_HTTP },
        { "streamable-http", SPEC_HTTP },
        { "streamableHttp", SPEC_HTTP },
        { "streamable_http", SPEC_HTTP },
        { "Streamable HTTP", SPEC_HTTP },
        { "remote", SPEC_HTTP },
        { "sse", SPEC_SSE },
        { "SSE", SPEC_SSE },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (int type = 0; type < 2; type++) {
            AUTO_BUF struct buf text = { 0 };
            AUTO(config) struct config *c = NULL;

            buf_printf(&text, "{\"mcpServers\":{\"a\":{%s,\"%s\":\"%s\"}}}",
                       cases[i].transport == SPEC_STDIO ? "\"command\":\"x\""
                                                        : "\"url\":\"http://h/\"",
                       type ? "type" : "transport", cases[i].word);
            c = config_rig_parse(buf_cstr(&text), NULL);
            CHECK_INT(config_rig_spec(c, "a")->transport, cases[i].transport);
            CHECK(!config_rig_spec(c, "a")->guess_sse);
        }
}

TEST(entries_that_say_too_little_or_too_much_are_refused)
{
    static const struct config_rig_refusal cases[] = {
        { "{\"mcpServers\":{\"a\":{}}}",
          "f.json:1: mcpServers.a: expected \"command\" (a program to run) or \"url\" (a server to "
          "reach)" },
        { "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"url\":\"http://h/\"}}}",
          "f.json:1: mcpServers.a: has both \"command\" and \"url\"; say which with \"type\"" },
        { "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"type\":\"stdio\",\"transport\":\"sse\"}}}",
          "f.json:1: mcpServers.a.transport: \"type\" and \"transport\" say different things" },
        { "{\"mcpServers\":{\"a\":{\"command\":[]}}}",
          "f.json:1: mcpServers.a.command: empty; expected the program to run" },
        { "{\"mcpServers\":{\"a\":{\"command\":[1]}}}",
          "f.json:1: mcpServers.a.command[0]: expected a string, got a number" },
        { "{\"mcpServers\":{\"a\":{\"url\":\"h/mcp\"}}}",
          "f.json:1: mcpServers.a.url: expected an address such as https://host/mcp" },
        { "{\"mcpServers\":{\"a\":{\"url\":\"http://h/\",\"headers\":{\"A B\":\"x\"}}}}",
          "f.json:1: mcpServers.a.headers.A B: this is no name for a header" },
        { "{\"mcpServers\":{\"a\":{\"url\":\"http://h/\",\"headers\":{\"A\":\"x\\ny\"}}}}",
          "f.json:1: mcpServers.a.headers.A: a line break or control character cannot be sent" },
        { "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"type\":\"ws\"}}}",
          "f.json:1: mcpServers.a.transport: expected \"stdio\", \"sse\" or \"http\", got \"ws\"" },
        { "{\"mcpServers\":{\"\":{\"command\":\"x\"}}}",
          "f.json:1: mcpServers: a server needs a name: letters, digits, '_' and '-', at most 64" },
        { "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"disabled\":\"no\"}}}",
          "f.json:1: mcpServers.a.disabled: expected true or false, got a string" },
        { "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"start\":\"later\"}}}",
          "f.json:1: mcpServers.a.start: expected \"eager\" or \"lazy\", got \"later\"" },
    };

    config_rig_refused(cases, ARRAY_LEN(cases));
}

TEST(a_command_may_be_an_array_or_a_whole_line)
{
    AUTO(config)
    struct config *c =
        config_rig_parse("{\"mcpServers\":{\"a\":{\"command\":[\"npx\",\"-y\"],\"args\":[\"x\"]},"
                         "\"b\":{\"command\":\"npx -y  x\"},"
                         "\"d\":{\"command\":\"my program\",\"args\":[\"x\"]}}}",
                         NULL);
    const struct spec *a = config_rig_spec(c, "a"), *b = config_rig_spec(c, "b");

    CHECK_STR(a->command, "npx");
    CHECK_STR(a->args[0], "-y");
    CHECK_STR(a->args[1], "x");
    CHECK(!a->args[2]);
    CHECK_STR(b->command, "npx");
    CHECK_STR(b->args[0], "-y");
    CHECK_STR(b->args[1], "x");
    CHECK(!b->args[2]);
    CHECK_STR(config_rig_spec(c, "d")->command, "my program");
}

TEST(a_program_whose_path_has_spaces_is_not_split)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *path = temp_file("my server", "");
    AUTO(config)
    struct config *c = config_rig_parse(
        arena_printf(&a, "{\"mcpServers\":{\"a\":{\"command\":\"%s\"}}}", path), NULL);

    CHECK_STR(config_rig_spec(c, "a")->command, path);
    CHECK(!config_rig_spec(c, "a")->args[0]);
}

TEST(switched_off_is_said_in_two_ways)
{
    AUTO(config)
    struct config *c = config_rig_parse(
        "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"disabled\":true},"
        "\"b\":{\"command\":\"x\",\"enabled\":false},\"c\":{\"command\":\"x\",\"disabled\":false},"
        "\"d\":{\"command\":\"x\",\"disabled\":true,\"enabled\":true}}}",
        NULL);

    CHECK(!config_rig_spec(c, "a")->enabled);
    CHECK(!config_rig_spec(c, "b")->enabled);
    CHECK(config_rig_spec(c, "c")->enabled);
    CHECK(!config_rig_spec(c, "d")->enabled);
}

TEST(a_timeout_is_in_seconds_unless_only_milliseconds_make_sense)
{
    static const struct {
        const char *member;
        uint64_t ms;
    } cases[] = {
        { "\"timeout_s\":45", 45000 },    { "\"timeout_s\":7200", 7200000 },
        { "\"timeout_s\":0.25", 250 },    { "\"timeout\":60", 60000 },
        { "\"timeout\":3600", 3600000 },  { "\"timeout\":3601", 3601 },
        { "\"timeout\":600000", 600000 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(spec) struct spec *s = NULL;
        AUTO_BUF struct buf text = { 0 };

        buf_printf(&text, "{\"command\":\"x\",%s}", cases[i].member);
        CHECK_INT(spec_parse(&s, "a", buf_span(&text), false, NULL, NULL), 0);
        CHECK_INT(s->timeout_ms, cases[i].ms);
    }
}

TEST(our_own_members_are_read_in_every_shape)
{
    static const char own[] =
        "\"command\":\"x\",\"transport\":\"stdio\",\"display_name\":\"My server\","
        "\"uuid\":\"8C5F0F0A-3f0b-4d5e-9a31-2f4c1d7e6b90\",\"start\":\"lazy\",\"idle_s\":60,"
        "\"instance\":\"per_client\",\"max_calls\":3,\"era\":\"modern\",\"auto_reconnect\":false,"
        "\"enabled_tools\":[\"read_*\"],\"disabledTools\":[\"read_x\"],\"timeout_s\":5,"
        "\"auth_type\":\"api_key\",\"env_vars\":[\"A\",{\"name\":\"B\",\"required\":false}],"
        "\"keyfile_path\":\"/k\",\"oauth\":{\"clientId\":\"c\"},\"config\":{\"a\": 1}";
    static const char *const shapes[] = {
        "{\"servers\":{\"a\":{%s}}}",
        "{\"mcpServers\":{\"a\":{%s}}}",
        "{\"mcp_servers\":{\"a\":{%s}}}",
        "{\"mcps\":[{\"name\":\"a\",%s}]}",
    };

    for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
        AUTO_BUF struct buf text = { 0 }, said = { 0 };
        AUTO(config) struct config *c = NULL;
        const struct spec *s;

        buf_add(&text, shapes[i], (size_t)(strstr(shapes[i], "%s") - shapes[i]));
        buf_str(&text, own);
        buf_str(&text, strstr(shapes[i], "%s") + 2);
        c = config_rig_parse(buf_cstr(&text), NULL);
        s = config_rig_spec(c, "a");
        CHECK_STR(config_rig_warnings(&said, c), "");
        CHECK_STR(s->display_name, "My server");
        CHECK_STR(s->uuid, "8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90");
        CHECK_INT(s->start, SPEC_LAZY);
        CHECK_INT(s->idle_ms, 60000);
        CHECK_INT(s->instance, SPEC_PER_CLIENT);
        CHECK_INT(s->max_calls, 3);
        CHECK_INT(s->era, PB_ERA_MODERN);
        CHECK(!s->auto_reconnect);
        CHECK_STR(s->enabled_tools[0], "read_*");
        CHECK_STR(s->disabled_tools[0], "read_x");
        CHECK_INT(s->timeout_ms, 5000);
        CHECK_INT(s->auth, SPEC_AUTH_API_KEY);
        CHECK_STR(s->env_vars[0].name, "A");
        CHECK(s->env_vars[0].required);
        CHECK_STR(s->env_vars[1].name, "B");
        CHECK(!s->env_vars[1].required);
        CHECK(!s->env_vars[2].name);
        CHECK_STR(s->keyfile_path, "/k");
        CHECK_STR(s->oauth, "{\"clientId\":\"c\"}");
        CHECK_STR(s->config, "{\"a\": 1}");
    }
}

TEST(a_vscode_file_has_servers_too_but_is_not_strict)
{
    static const char *const texts[] = {
        "{\"inputs\":[],\"servers\":{\"a\":{\"command\":\"x\"}}}",
        "{\"servers\":{\"a\":{\"command\":\"x\"},\"b\":{\"type\":\"http\",\"url\":\"http://h/\"}},"
        "\"x\":1}",
        "{\"servers\":{\"a\":{\"type\":\"stdio\",\"command\":\"x\",\"dev\":{\"watch\":\"**\"},"
        "\"gallery\":true,\"version\":\"1\"}}}",
    };
    struct pb_error err;
    struct config *strict = NULL;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO(config) struct config *c = config_rig_parse(texts[i], NULL);

        CHECK_INT(config_rig_spec(c, "a")->transport, SPEC_STDIO);
        CHECK_INT(c->files[0].shapes, CONFIG_SERVERS);
        CHECK_INT(c->n_warnings, 0);
    }
    CHECK_INT(config_rig_try(&strict, "{\"servers\":{\"a\":{\"command\":\"x\"}}}", NULL, &err),
              -PB_E_INVALID);
}

TEST(names_of_other_programs_become_names_here)
{
    AUTO(config)
    struct config *c = config_rig_parse(
        "{\"mcpServers\":{\n\"GitHub MCP\":{\"command\":\"x\"},\n\"io.github/mcp\":{\"command\":"
        "\"y\"},\n\"git hub mcp\":{\"command\":\"z\",\"display_name\":\"Z\"},"
        "\"git-hub.mcp\":{\"command\":\"w\"}}}",
        NULL);
    AUTO_BUF struct buf said = { 0 };

    CHECK_INT(c->specs.n, 4);
    CHECK_STR(config_rig_spec(c, "github-mcp")->display_name, "GitHub MCP");
    CHECK_STR(config_rig_spec(c, "io-github-mcp")->display_name, "io.github/mcp");
    CHECK_STR(config_rig_spec(c, "git-hub-mcp")->display_name, "Z");
    CHECK_STR(config_rig_spec(c, "git-hub-mcp-2")->command, "w");
    CHECK_HAS(config_rig_warnings(&said, c),
              "f.json:2: mcpServers.GitHub MCP: is called \"github-mcp\" here: names have only "
              "letters, digits, '_' and '-'");
}

/* ---- Variables ----------------------------------------------------------------------------- */

TEST(variables_are_filled_in_where_values_are)
{
    static const char *const env[] = { "CMD=npx",  "ARG=a b", "TOKEN=t0k3n", "HOST=h.example",
                                       "DIR=/srv", "EMPTY=",  "NEST=${CMD}", NULL };
    AUTO(config)
    struct config *c = config_rig_parse(
        "{\"mcpServers\":{\"a\":{\"command\":\"${CMD}\",\"args\":[\"${ARG}\",\"x${env:ARG}y\","
        "\"${MISSING:-d e}\",\"${EMPTY:-d}\",\"${EMPTY}\",\"${env:MISSING:-z}\",\"${NEST}\","
        "\"$CMD $$ ${ $\",\"${CMD:-x}\"],\"env\":{\"A\":\"${TOKEN}\"},\"cwd\":\"${DIR}/x\"},"
        "\"b\":{\"url\":\"https://${HOST}/${MISSING:-mcp}\",\"headers\":{\"Authorization\":"
        "\"Bearer ${TOKEN}\"}}}}",
        env);
    static const char *const args[] = { "a b", "xa by",  "d e",          "d",  "",
                                        "z",   "${CMD}", "$CMD $$ ${ $", "npx" };
    const struct spec *a = config_rig_spec(c, "a"), *b = config_rig_spec(c, "b");

    CHECK_STR(a->command, "npx");
    for (size_t i = 0; i < ARRAY_LEN(args); i++)
        CHECK_STR(a->args[i], args[i]);
    CHECK_STR(a->env[0], "A=t0k3n");
    CHECK_STR(a->cwd, "/srv/x");
    CHECK_STR(b->url, "https://h.example/mcp");
    CHECK_STR(b->headers[0], "Authorization: Bearer t0k3n");
    CHECK_INT(c->n_warnings, 0);
}

TEST(a_variable_that_is_not_set_stays_and_is_a_warning)
{
    AUTO(config)
    struct config *c = config_rig_parse(
        "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"args\":[\"--k\",\n\"${NOPE}\"],"
        "\"env\":{\"T\":\"${env:NOPE} ${input:key}\"}},\n\"b\":{\"url\":\"${BASE}/mcp\"}}}",
        NULL);
    AUTO_BUF struct buf said = { 0 };

    CHECK_STR(config_rig_spec(c, "a")->args[1], "${NOPE}");
    CHECK_STR(config_rig_spec(c, "a")->env[0], "T=${env:NOPE} ${input:key}");
    CHECK_STR(config_rig_spec(c, "b")->url, "${BASE}/mcp");
    CHECK_STR(
        config_rig_warnings(&said, c),
        "f.json:2: mcpServers.a.args[1]: the variable ${NOPE} is not set; it stays as it is "
        "written\n"
        "f.json:2: mcpServers.a.env.T: the variable ${env:NOPE} is not set; it stays as it is "
        "written\n"
        "f.json:2: mcpServers.a.env.T: the variable ${input:key} is not set; it stays as it "
        "is written\n"
        "f.json:3: mcpServers.b.url: the variable ${BASE} is not set; it stays as it is "
        "written");
}

TEST(names_and_other_members_hold_no_variables)
{
    static const char *const env[] = { "X=y", NULL };
    AUTO(config)
    struct config *c = config_rig_parse(
        "{\"mcpServers\":{\"${X}\":{\"command\":\"c\",\"env\":{\"${X}\":\"${X}\"},"
        "\"display_name\":\"${X}\",\"enabledTools\":[\"${X}\"],\"keyfile_path\":\"${X}\"}}}",
        env);
    const struct spec *s = config_rig_spec(c, "x");

    CHECK_STR(s->env[0], "${X}=y");
    CHECK_STR(s->display_name, "${X}");
    CHECK_STR(s->enabled_tools[0], "${X}");
    CHECK_STR(s->keyfile_path, "${X}");
}

TEST(a_variable_cannot_smuggle_a_line_into_a_header)
{
    static const char *const env[] = { "T=a\r\nX: y", NULL };
    struct config *c = NULL;
    struct pb_error err = { 0 };

    CHECK_INT(config_rig_try(
                  &c,
                  "{\"mcpServers\":{\"a\":{\"url\":\"http://h/\",\"headers\":{\"A\":\"${T}\"}}}}",
                  env, &err),
              -PB_E_INVALID);
    CHECK_STR(err.msg,
              "f.json:1: mcpServers.a.headers.A: a line break or control character cannot be sent");
}

TEST(filling_in_variables_has_a_bound)
{
    AUTO_BUF struct buf value = { 0 };
    const char *env[] = { NULL, NULL };
    struct config_request r;
    AUTO(spec) struct spec *s = NULL;
    AUTO(spec) struct spec *t = NULL;
    struct pb_error err = { 0 };

    buf_str(&value, "V=");
    for (int i = 0; i < CONFIG_VALUE_MAX / 2; i++)
        buf_byte(&value, 'v');
    env[0] = buf_cstr(&value);
    r = config_rig_request(env);
    CHECK_INT(
        spec_parse(&s, "a", SPAN("{\"command\":\"x\",\"cwd\":\"${V}${V}\"}"), false, &r, &err), 0);
    CHECK_INT(strlen(s->cwd), CONFIG_VALUE_MAX);
    CHECK_INT(
        spec_parse(&t, "a", SPAN("{\"command\":\"x\",\"cwd\":\"${V}${V}.\"}"), false, &r, &err),
        -PB_E_INVALID);
    CHECK_STR(err.msg, "cwd: longer than 65536 bytes with its variables filled in");
}

TEST(without_a_request_the_environment_of_the_process_is_used)
{
    AUTO(spec) struct spec *s = NULL;
    const struct span entry = SPAN("{\"command\":\"x\",\"cwd\":\"${PATCHBAY_TEST_VARIABLE}!\"}");

    setenv("PATCHBAY_TEST_VARIABLE", "here", 1);
    CHECK_INT(spec_parse(&s, "a", entry, false, NULL, NULL), 0);
    CHECK_STR(s->cwd, "here!");
}

/* ---- Odd members --------------------------------------------------------------------------- */

TEST(unknown_members_are_warnings_with_what_was_meant)
{
    AUTO(config)
    struct config *c = config_rig_parse(
        "{\"servers\":{\"a\":{\"command\":\"x\",\"transport\":\"stdio\",\n\"timeouts\":3,"
        "\"Env\":{},\"idel_s\":1,\"frobnicate\":1,\"_comment\":\"x\",\"$schema\":\"y\"}},\n"
        "\"mcpServer\":{},\"version\":\"1.0\",\"profiles\":[],\"whatever\":{}}",
        NULL);
    AUTO_BUF struct buf said = { 0 };

    CHECK_STR(
        config_rig_warnings(&said, c),
        "f.json:2: servers.a.timeouts: unknown, ignoring; did you mean 'timeout' or 'timeout_s'?\n"
        "f.json:2: servers.a.Env: unknown, ignoring; did you mean 'env'?\n"
        "f.json:2: servers.a.idel_s: unknown, ignoring; did you mean 'idle_s'?\n"
        "f.json:2: servers.a.frobnicate: unknown, ignoring\n"
        "f.json:3: mcpServer: unknown, ignoring; did you mean 'mcpServers' or 'mcp_servers'?");
}

TEST(members_of_the_other_transport_are_not_used)
{
    AUTO(config)
    struct config *c = config_rig_parse(
        "{\"mcpServers\":{\"a\":{\"type\":\"stdio\",\"command\":\"x\",\"url\":\"http://h/\"},"
        "\"b\":{\"type\":\"sse\",\"command\":\"x\",\"args\":[\"y\"],\"url\":\"http://h/\"}}}",
        NULL);
    AUTO_BUF struct buf said = { 0 };

    CHECK(!config_rig_spec(c, "a")->url);
    CHECK(!config_rig_spec(c, "b")->command && !config_rig_spec(c, "b")->args[0]);
    CHECK_STR(config_rig_warnings(&said, c),
              "f.json:1: mcpServers.a.url: means nothing to a stdio server, ignoring\n"
              "f.json:1: mcpServers.b.command: means nothing to a server by sse, ignoring");
}

TEST(warnings_have_a_bound)
{
    static const int counts[] = { CONFIG_WARNINGS_MAX - 1, CONFIG_WARNINGS_MAX,
                                  CONFIG_WARNINGS_MAX * 20 };

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        AUTO_BUF struct buf text = { 0 };
        AUTO(config) struct config *c = NULL;

        buf_str(&text, "{\"mcpServers\":{\"a\":{\"command\":\"x\"");
        for (int n = 0; n < counts[i]; n++)
            buf_printf(&text, ",\"unknown%d\":1", n);
        buf_str(&text, "}}}");
        c = config_rig_parse(buf_cstr(&text), NULL);
        CHECK_INT(c->n_warnings, i ? CONFIG_WARNINGS_MAX : counts[i]);
        CHECK_HAS(c->warnings[c->n_warnings - 1], i ? "more warnings than are shown" : "unknown");
    }
}

TEST(modes_are_read_and_their_errors_placed)
{
    AUTO(config)
    struct config *c = config_rig_parse(
        "{\"modes\":{\"ro\":{\"name\":\"Read only\",\"filter\":{\"pattern\":\"^read_\"}}}}", NULL);
    const struct mode *ro = mode_find(c->modes, SPAN("ro"));
    struct config *bad = NULL;
    struct pb_error err = { 0 };

    CHECK(mode_find(c->modes, SPAN("full")) != NULL);
    CHECK_STR(ro ? ro->name : NULL, "Read only");
    CHECK_INT(config_rig_try(&bad, "{\"modes\":{\n\"x\":{\"filter\":7}}}", NULL, &err),
              -PB_E_INVALID);
    CHECK_HAS(err.msg, "f.json:2: modes.x: ");
    CHECK_INT(config_rig_try(&bad, "{\"modes\":[]}", NULL, &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "f.json:1: modes: expected an object of modes by id");
}
