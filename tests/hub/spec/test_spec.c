#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "tap.h"

static const char *unset(void *ctx, const char *name)
{
    (void)ctx, (void)name;
    return NULL;
}
static const struct config_request no_env = { .env = unset };

static const char *text_of(struct buf *b, void (*write)(struct buf *, const struct spec *),
                           const struct spec *s)
{
    b->n = 0;
    write(b, s);
    return buf_cstr(b);
}

/* What is written is read back as the same. */
static void check_round_trip(const struct spec *s)
{
    AUTO_BUF struct buf b = { 0 };
    AUTO(spec) struct spec *again = NULL;
    struct pb_error err = { 0 };

    spec_write(&b, s);
    if (spec_parse(&again, s->name, buf_span(&b), false, &no_env, &err) < 0)
        TAP_FAIL("%s: %s", buf_cstr(&b), err.msg);
    if (!spec_equal(s, again))
        TAP_FAIL("not the same again: %s", buf_cstr(&b));
}

/* S0-121 S0-122 S0-125 */
TEST(a_stdio_spec_has_command_arguments_and_environment)
{
    const char *args[] = { "-y", "@x/y", NULL }, *env[] = { "A=1", "B=x=y", NULL };
    AUTO(spec) struct spec *full = spec_stdio("fs", "npx", args, env);
    AUTO(spec) struct spec *bare = spec_stdio("fs", "npx", NULL, NULL);
    AUTO_BUF struct buf b = { 0 };

    CHECK_STR(full->name, "fs");
    CHECK_STR(full->display_name, "fs");
    CHECK_INT(full->transport, SPEC_STDIO);
    CHECK_STR(full->args[1], "@x/y");
    CHECK(!full->args[2]);
    CHECK_STR(
        text_of(&b, spec_write, full),
        "{\"command\":\"npx\",\"args\":[\"-y\",\"@x/y\"],\"env\":{\"A\":\"1\",\"B\":\"x=y\"}}");
    CHECK(!bare->args[0] && !bare->env[0]);
    CHECK_STR(text_of(&b, spec_write, bare), "{\"command\":\"npx\"}");
    check_round_trip(full);
    check_round_trip(bare);
}

/* S0-123 S0-124 S0-125 */
TEST(http_and_oauth_specs_have_a_url_and_oauth_a_redirect_scheme)
{
    AUTO(spec) struct spec *http = spec_http("h", "https://x.example/mcp");
    AUTO(spec) struct spec *sse = spec_sse("s", "https://x.example/sse");
    AUTO(spec) struct spec *oauth = NULL;
    static const struct span entry =
        SPAN_CONST("{\"type\":\"http\",\"url\":\"https://x.example/mcp\",\"auth_type\":\"oauth\","
                   "\"oauth\":{\"redirect_scheme\":\"yrden\"}}");
    AUTO_BUF struct buf b = { 0 };

    CHECK_INT(spec_parse(&oauth, "o", entry, false, NULL, NULL), 0);
    CHECK_STR(text_of(&b, spec_write, http),
              "{\"type\":\"http\",\"url\":\"https://x.example/mcp\"}");
    CHECK_STR(text_of(&b, spec_write, sse), "{\"type\":\"sse\",\"url\":\"https://x.example/sse\"}");
    CHECK_INT(oauth->auth, SPEC_AUTH_OAUTH);
    CHECK_STR(text_of(&b, spec_write, oauth),
              "{\"type\":\"http\",\"url\":\"https://x.example/mcp\",\"auth_type\":\"oauth\","
              "\"oauth\":{\"redirect_scheme\":\"yrden\"}}");
    check_round_trip(http);
    check_round_trip(sse);
    check_round_trip(oauth);
}

TEST(every_member_survives_being_written_and_read)
{
    static const char *const entries[] = {
        "{\"command\":\"a\",\"args\":[\"b c\",\"\"],\"env\":{\"E\":\"\",\"\\u00e9\":\"\\n\"},"
        "\"cwd\":\"/x\",\"display_name\":\"A \\\"b\\\"\","
        "\"uuid\":\"8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90\",\"enabled\":false,\"timeout_s\":1.5,"
        "\"auto_reconnect\":false,\"start\":\"lazy\",\"idle_s\":0,\"instance\":\"per_client\","
        "\"max_calls\":4,\"era\":\"legacy\",\"enabledTools\":[\"read_*\"],"
        "\"disabledTools\":[\"x\",\"y\"]}",
        "{\"url\":\"http://h/mcp\",\"headers\":{\"Authorization\":\"Bearer a: b\"},"
        "\"era\":\"modern\",\"instance\":\"shared\"}",
        "{\"url\":\"http://h/mcp\",\"type\":\"http\",\"auth_type\":\"none\",\"oauth\":{\"a\":1}}",
        "{\"url\":\"http://h/mcp\",\"auth_type\":\"keyfile\",\"keyfile_path\":\"~/.k\","
        "\"config\":{\"a\":[1.0]},\"env_vars\":[{\"name\":\"A\",\"required\":false}]}",
        "{\"package\":{\"type\":\"docker\",\"identifier\":\"i:1\"},"
        "\"source\":{\"type\":\"official\",\"name\":\"n\",\"version\":\"v\"}}",
        "{\"package\":{\"type\":\"http\",\"identifier\":\"https://h/\"},"
        "\"source\":{\"type\":\"smithery\",\"qualified_name\":\"@o/s\"}}",
    };

    for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
        AUTO(spec) struct spec *s = NULL;
        struct pb_error err = { 0 };

        if (spec_parse(&s, "x", span_of(entries[i]), false, &no_env, &err) < 0)
            TAP_FAIL("%s: %s", entries[i], err.msg);
        check_round_trip(s);
    }
}

/* S4-14 S4-72 S4-73 S4-74 S4-75 */
TEST(names_are_letters_digits_underscores_and_dashes)
{
    static const char *const good[] = { "filesystem", "my-server", "db_1", "A", "9", "-", "_" };
    static const struct {
        const char *name, *why;
    } bad[] = {
        { "", "a server needs a name" },
        { "a/b", "'a/b' is no name for a server: only letters, digits, '_' and '-'" },
        { "my server", "'my server' is no name" },
        { "a.b", "no name" },
        { "a:b", "no name" },
        { "caf\xc3\xa9", "no name" },
        { "a\n", "'a?' is no name" },
        { "a\x1b[31m", "'a?[31m' is no name" },
    };
    struct pb_error err;

    for (size_t i = 0; i < ARRAY_LEN(good); i++)
        CHECK_INT(spec_check_name(span_of(good[i]), &err), 0);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK_INT(spec_check_name(span_of(bad[i].name), &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, bad[i].why);
    }
    CHECK_INT(spec_check_name(span_make("a\0b", 3), &err), -PB_E_INVALID);
}

TEST(a_name_has_at_most_64_characters)
{
    AUTO_FREE char *name = mem_zero(100001);
    struct pb_error err;

    memset(name, 'a', 100000);
    CHECK_INT(spec_check_name(span_make(name, HUB_NAME_MAX), &err), 0);
    CHECK_INT(spec_check_name(span_make(name, HUB_NAME_MAX + 1), &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "has 65 characters; the name of a server has at most 64");
    CHECK_INT(spec_check_name(span_make(name, 100000), &err), -PB_E_INVALID);
}

/* S1-84 */
TEST(a_slug_is_a_name_made_of_what_people_call_it)
{
    static const struct {
        const char *text, *slug;
    } cases[] = {
        { "@github/mcp-server", "github-mcp-server" },
        { "GitHub MCP Server", "github-mcp-server" },
        { "ghcr.io/owner/server:latest", "ghcr-io-owner-server-latest" },
        { "already_good-1", "already_good-1" },
        { "a -- b", "a-b" },
        { "", "server" },
        { "///", "server" },
        { "\xe6\x97\xa5", "server" },
        { "--x--", "x" },
    };
    AUTO_FREE char *far = mem_zero(5001);

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf b = { 0 };

        spec_slug(&b, span_of(cases[i].text));
        CHECK_SPAN(buf_span(&b), cases[i].slug);
        CHECK_INT(spec_check_name(buf_span(&b), NULL), 0);
    }
    memset(far, '-', 5000);
    for (size_t i = 0; i < 5000; i += 2)
        far[i] = 'X';
    for (size_t n = HUB_NAME_MAX - 1; n < 5000; n = n * 2 + 1) {
        AUTO_BUF struct buf b = { 0 };

        buf_str(&b, "kept/");
        spec_slug(&b, span_make(far, n));
        CHECK(b.n <= 5 + HUB_NAME_MAX && b.p[b.n - 1] == 'x');
        CHECK(span_starts(buf_span(&b), "kept/x-x"));
    }
}

/* S1-25 S1-36 S1-37 S1-38 S1-39 */
TEST(the_kind_of_login_is_found_from_the_variables_of_a_registry)
{
    static const struct {
        struct registry_env_var vars[3];
        size_t n;
        enum spec_auth want;
    } cases[] = {
        { { { "GITHUB_TOKEN", true, true } }, 1, SPEC_AUTH_API_KEY },
        { { { "OPENAI_API_KEY", true, true } }, 1, SPEC_AUTH_API_KEY },
        { { { "CLIENT_ID", false, true }, { "CLIENT_SECRET", true, true } }, 2, SPEC_AUTH_OAUTH },
        { { { "X_KEY", true, true },
            { "GOOGLE_CLIENT_SECRET", true, true },
            { "GOOGLE_CLIENT_ID", false, true } },
          3,
          SPEC_AUTH_OAUTH },
        { { { "CLIENT_ID", false, true } }, 1, SPEC_AUTH_NONE },
        { { { "CLIENT_ID", false, true }, { "CLIENT_SECRET", false, true } }, 2, SPEC_AUTH_NONE },
        { { { "LOG_LEVEL", false, false } }, 1, SPEC_AUTH_NONE },
        { { { NULL, false, false } }, 0, SPEC_AUTH_NONE },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_INT(spec_detect_auth(cases[i].vars, cases[i].n), cases[i].want);
}

/* S1-57 S1-58 */
TEST(a_package_is_run_by_npx_or_docker)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *command, *const *args;

    spec_build_command(&a, SPEC_PACKAGE_NPM, "@github/mcp-server", "npx", &command, &args);
    CHECK_STR(command, "npx");
    CHECK_STR(args[0], "-y");
    CHECK_STR(args[1], "@github/mcp-server");
    CHECK(!args[2]);
    spec_build_command(&a, SPEC_PACKAGE_NPM, "x", NULL, &command, &args);
    CHECK_STR(command, "npx");
    spec_build_command(&a, SPEC_PACKAGE_NPM, "x", "bunx", &command, &args);
    CHECK_STR(command, "bunx");
    spec_build_command(&a, SPEC_PACKAGE_DOCKER, "ghcr.io/owner/server:latest", NULL, &command,
                       &args);
    CHECK_STR(command, "docker");
    CHECK_STR(args[0], "run");
    CHECK_STR(args[1], "-i");
    CHECK_STR(args[2], "--rm");
    CHECK_STR(args[3], "ghcr.io/owner/server:latest");
    CHECK(!args[4]);
    spec_build_command(&a, SPEC_PACKAGE_HTTP, "https://h", NULL, &command, &args);
    CHECK(!command && !args[0]);
}

/* S1-24 S1-29 */
TEST(kinds_of_login_and_transports_have_their_spelling)
{
    CHECK_STR(spec_auth_name(SPEC_AUTH_NONE), "none");
    CHECK_STR(spec_auth_name(SPEC_AUTH_API_KEY), "api_key");
    CHECK_STR(spec_auth_name(SPEC_AUTH_KEYFILE), "keyfile");
    CHECK_STR(spec_auth_name(SPEC_AUTH_OAUTH), "oauth");
    CHECK_STR(spec_transport_name(SPEC_STDIO), "stdio");
    CHECK_STR(spec_transport_name(SPEC_HTTP), "http");
    CHECK_STR(spec_transport_name(SPEC_SSE), "sse");
}

TEST(only_what_reaches_the_server_needs_a_new_connection)
{
    static const char base[] = "{\"command\":\"a\",\"args\":[\"b\"]}";
    static const struct {
        const char *entry;
        bool same_link, equal;
    } cases[] = {
        { base, true, true },
        { "{\"command\":\"a\",\"args\":[\"b\"],\"display_name\":\"B\"}", true, false },
        { "{\"command\":\"a\",\"args\":[\"b\"],\"disabledTools\":[\"x\"]}", true, false },
        { "{\"command\":\"a\",\"args\":[\"b\"],\"timeout_s\":1}", true, false },
        { "{\"command\":\"a\",\"args\":[\"b\"],\"enabled\":false}", true, false },
        { "{\"command\":\"a\",\"args\":[\"b\"],\"start\":\"lazy\"}", true, false },
        { "{\"command\":\"a\",\"args\":[\"b\"],\"max_calls\":1}", true, false },
        { "{\"command\":\"a\",\"args\":[\"c\"]}", false, false },
        { "{\"command\":\"a\",\"args\":[\"b\",\"\"]}", false, false },
        { "{\"command\":\"a b\",\"args\":[\"b\"]}", false, false },
        { "{\"command\":\"a\",\"args\":[\"b\"],\"env\":{\"A\":\"1\"}}", false, false },
        { "{\"command\":\"a\",\"args\":[\"b\"],\"cwd\":\"/\"}", false, false },
        { "{\"command\":\"a\",\"args\":[\"b\"],\"era\":\"legacy\"}", false, false },
        { "{\"command\":\"a\",\"args\":[\"b\"],\"instance\":\"per_client\"}", false, false },
        { "{\"url\":\"http://h/\"}", false, false },
    };
    AUTO(spec) struct spec *a = NULL;

    CHECK_INT(spec_parse(&a, "x", span_of(base), false, &no_env, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(spec) struct spec *b = NULL;

        CHECK_INT(spec_parse(&b, "x", span_of(cases[i].entry), false, &no_env, NULL), 0);
        if (spec_same_link(a, b) != cases[i].same_link || spec_equal(a, b) != cases[i].equal)
            TAP_FAIL("%s: same link %d, equal %d", cases[i].entry, spec_same_link(a, b),
                     spec_equal(a, b));
    }
}

TEST(a_fingerprint_tells_programs_apart_and_nothing_else)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        { "{\"command\":\"a\"}", "{\"command\":\"a\",\"timeout_s\":3,\"era\":\"legacy\"}", true },
        { "{\"command\":\"a\",\"args\":[\"b\",\"c\"]}", "{\"command\":\"a\",\"args\":[\"b,1:c\"]}",
          false },
        { "{\"command\":\"a\",\"args\":[\"b\"]}", "{\"command\":\"a\",\"env\":{\"b\":\"\"}}",
          false },
        { "{\"url\":\"http://h/\",\"headers\":{\"X\":\"1\"}}",
          "{\"url\":\"http://h/\",\"headers\":{\"X\":\"2\"}}", false },
        { "{\"url\":\"http://h/\",\"type\":\"sse\"}", "{\"url\":\"http://h/\",\"type\":\"http\"}",
          false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(spec) struct spec *a = NULL;
        AUTO(spec) struct spec *b = NULL;
        char fa[SHA256_BYTES * 2 + 1], fb[SHA256_BYTES * 2 + 1];

        CHECK_INT(spec_parse(&a, "x", span_of(cases[i].a), false, &no_env, NULL), 0);
        CHECK_INT(spec_parse(&b, "other", span_of(cases[i].b), false, &no_env, NULL), 0);
        spec_fingerprint(a, fa);
        spec_fingerprint(b, fb);
        CHECK_INT(strspn(fa, "0123456789abcdef"), SHA256_BYTES * 2);
        CHECK_INT(!strcmp(fa, fb), cases[i].same);
    }
}

TEST(people_see_no_secrets)
{
    static const struct {
        const char *entry, *shown;
    } cases[] = {
        { "{\"command\":\"npx\",\"args\":[\"-y\",\"@x/y\"]}", "npx -y @x/y" },
        { "{\"command\":\"s\",\"args\":[\"--api-key\",\"CANARY\",\"--port\",\"8080\"]}",
          "s --api-key *** --port 8080" },
        { "{\"command\":\"s\",\"args\":[\"--token=CANARY\",\"API_KEY=CANARY\"]}",
          "s --token=*** API_KEY=***" },
        { "{\"command\":\"s\",\"args\":[\"--header\",\"Authorization: Bearer CANARY\"]}",
          "s --header Authorization:***" },
        { "{\"command\":\"s\",\"args\":[\"-H\",\"X-Custom: Bearer CANARY\"]}",
          "s -H X-Custom:***" },
        { "{\"command\":\"s\",\"args\":[\"sk-CANARY12345\"]}", "s ***" },
        { "{\"command\":\"s\",\"args\":[\"--x=ghp_CANARY12345\"]}", "s --x=***" },
        { "{\"command\":\"s\",\"args\":[\"postgres://u:CANARY@h/db\",\"--db=pg://u:CANARY@h/d\"]}",
          "s postgres://***@h/db --db=pg://***@h/d" },
        { "{\"url\":\"https://u:CANARY@h:8/p\"}", "https://***@h:8/p" },
        { "{\"url\":\"https://CANARY@evil@h/\"}", "https://***@h/" },
        { "{\"url\":\"https://h/mcp?api_key=CANARY&region=eu&x=CANARY0123456789ab#CANARY\"}",
          "https://h/mcp?api_key=***&region=eu&x=***#***" },
        { "{\"url\":\"https://h/mcp?CANARY0123456789ab\"}", "https://h/mcp?***" },
        { "{\"url\":\"https://h/s/CANARYabcdef0123456789xyz/mcp\"}", "https://h/s/***/mcp" },
        { "{\"url\":\"https://h/v1/some-long-path-of-words/mcp?verbose=true\"}",
          "https://h/v1/some-long-path-of-words/mcp?verbose=true" },
        { "{\"command\":\"c\",\"env\":{\"A\":\"CANARY\"}}", "c" },
        { "{\"url\":\"http://h/\",\"headers\":{\"X\":\"CANARY\"},\"oauth\":{\"client_secret\":"
          "\"CANARY\",\"deep\":[{\"token\":{\"v\":[\"CANARY\",1]}}]},\"config\":{\"apiKey\":"
          "\"CANARY\",\"pin_token\":12345}}",
          "http://h/" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(spec) struct spec *s = NULL;
        AUTO_BUF struct buf shown = { 0 }, written = { 0 };
        struct pb_error err;

        if (spec_parse(&s, "x", span_of(cases[i].entry), false, &no_env, &err) < 0)
            TAP_FAIL("%s: %s", cases[i].entry, err.msg);
        spec_describe(&shown, s);
        CHECK_STR(buf_cstr(&shown), cases[i].shown);
        spec_write_masked(&written, s);
        if (strstr(buf_cstr(&written), "CANARY") || strstr(buf_cstr(&written), "12345"))
            TAP_FAIL("a secret is shown: %s", buf_cstr(&written));
    }
}

TEST(a_masked_entry_names_what_it_hides)
{
    AUTO(spec) struct spec *s = NULL;
    AUTO_BUF struct buf b = { 0 };

    CHECK_INT(spec_parse(&s, "x",
                         SPAN("{\"url\":\"https://h/?key=a\",\"headers\":{\"X-Key\":\"b\"},"
                              "\"env\":{\"E\":\"c\"},\"config\":{\"n\":1,\"password\":\"d\"}}"),
                         false, &no_env, NULL),
              0);
    CHECK_STR(text_of(&b, spec_write_masked, s),
              "{\"url\":\"https://h/?key=***\",\"headers\":{\"X-Key\":\"***\"},"
              "\"env\":{\"E\":\"***\"},\"config\":{\"n\":1,\"password\":\"***\"}}");
}

TEST(a_spec_lives_as_long_as_somebody_refers_to_it)
{
    struct spec *s = spec_http("h", "http://h/");
    struct spec *t = spec_ref(s);

    spec_unref(s);
    CHECK_STR(t->url, "http://h/");
    spec_unref(t);
    spec_unref(NULL);
}
