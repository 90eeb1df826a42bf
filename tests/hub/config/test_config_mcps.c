#include "cpu_time.h"
#include "hub/config/config.h"
#include "hub/config_rig.h"
#include "hub/spec/spec.h"
#include <time.h>

/* S1's list of packages. */

static const char id[] = "8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90";

static const char github[] =
    "{\"version\":\"1.0\",\"profiles\":[],\"mcps\":[{"
    "\"id\":\"8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90\",\"name\":\"GitHub\",\"enabled\":true,"
    "\"source\":{\"type\":\"official\",\"name\":\"github/github-mcp-server\",\"version\":\"0.28.1\"},"
    "\"package\":{\"type\":\"npm\",\"identifier\":\"@github/mcp-server\",\"runtime_hint\":\"npx\"},"
    "\"transport\":\"stdio\",\"auth_type\":\"api_key\","
    "\"env_vars\":[{\"name\":\"GITHUB_TOKEN\",\"required\":true}],\"keyfile_path\":null,"
    "\"config\":{}}]}";

/* The entry that is written for the spec, read as a file again. */
static struct config *again(const struct spec *s, struct buf *entry)
{
    AUTO_BUF struct buf text = { 0 };

    entry->n = 0;
    spec_write(entry, s);
    buf_printf(&text, "{\"mcpServers\":{\"%s\":%s}}", s->name, buf_cstr(entry));
    return config_rig_parse(buf_cstr(&text), NULL);
}

/* S1-18 S1-22 S1-23 S1-28 S1-33 S1-57 */
TEST(a_package_of_the_official_registry_round_trips)
{
    AUTO(config) struct config *c = config_rig_parse(github, NULL);
    AUTO(config) struct config *d = NULL;
    const struct spec *s = config_rig_spec(c, "github");
    AUTO_BUF struct buf entry = { 0 };

    CHECK_INT(c->n_warnings, 0);
    CHECK_INT(c->files[0].shapes, CONFIG_MCPS);
    CHECK_STR(s->display_name, "GitHub");
    CHECK_STR(s->uuid, id);
    CHECK(s->enabled);
    CHECK_INT(s->transport, SPEC_STDIO);
    CHECK_STR(s->command, "npx");
    CHECK_STR(s->args[0], "-y");
    CHECK_STR(s->args[1], "@github/mcp-server");
    CHECK(!s->args[2]);
    CHECK_INT(s->auth, SPEC_AUTH_API_KEY);
    CHECK_INT(s->start, SPEC_LAZY);
    CHECK_INT(s->idle_ms, 1800000);
    CHECK_STR(s->source_name, "github/github-mcp-server");
    CHECK_STR(s->source_version, "0.28.1");
    CHECK(!s->keyfile_path);
    CHECK_STR(s->config, "{}");
    d = again(s, &entry);
    CHECK_INT(d->specs.n, 1);
    CHECK(spec_equal(s, config_rig_spec(d, "github")));
    CHECK_STR(buf_cstr(&entry),
              "{\"command\":\"npx\",\"args\":[\"-y\",\"@github/mcp-server\"],"
              "\"display_name\":\"GitHub\",\"uuid\":\"8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90\","
              "\"start\":\"lazy\",\"auth_type\":\"api_key\",\"env_vars\":[{\"name\":"
              "\"GITHUB_TOKEN\",\"required\":true}],\"source\":{\"type\":\"official\",\"name\":"
              "\"github/github-mcp-server\",\"version\":\"0.28.1\"},\"package\":{\"type\":\"npm\","
              "\"identifier\":\"@github/mcp-server\",\"runtime_hint\":\"npx\"}}");
}

/* S1-26 S1-34 */
TEST(a_config_without_mcps_has_none)
{
    AUTO(config) struct config *c = config_rig_parse("{\"version\":\"1.0\",\"profiles\":[]}", NULL);
    AUTO(config) struct config *d = config_rig_parse("{\"version\":\"1.0\",\"mcps\":[]}", NULL);

    CHECK_INT(c->specs.n, 0);
    CHECK_INT(c->files[0].shapes, 0);
    CHECK_INT(c->n_warnings, 0);
    CHECK_INT(d->specs.n, 0);
    CHECK_INT(d->files[0].shapes, CONFIG_MCPS);
}

static const struct spec *one(struct config **c, const char *members)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text, "{\"mcps\":[{\"name\":\"x\",%s}]}", members);
    *c = config_rig_parse(buf_cstr(&text), NULL);
    return config_rig_spec(*c, "x");
}

/* S1-24 S1-29 */
TEST(each_kind_of_login_is_read_and_written)
{
    static const struct {
        const char *read;
        enum spec_auth auth;
        const char *written;
    } cases[] = {
        { "none", SPEC_AUTH_NONE, "{\"command\":\"c\",\"start\":\"lazy\"}" }, /* as if unsaid */
        { "api_key", SPEC_AUTH_API_KEY, "\"auth_type\":\"api_key\"" },
        { "keyfile", SPEC_AUTH_KEYFILE, "\"auth_type\":\"keyfile\"" },
        { "oauth", SPEC_AUTH_OAUTH, "\"auth_type\":\"oauth\"" },
        { "o_auth", SPEC_AUTH_OAUTH, "\"auth_type\":\"oauth\"" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(config) struct config *c = NULL;
        AUTO_BUF struct buf member = { 0 }, entry = { 0 };
        const struct spec *s;

        buf_printf(&member, "\"command\":\"c\",\"auth_type\":\"%s\"", cases[i].read);
        s = one(&c, buf_cstr(&member));
        CHECK_INT(s->auth, cases[i].auth);
        spec_write(&entry, s);
        CHECK_HAS(buf_cstr(&entry), cases[i].written);
    }
}

/* S1-21 S1-30 */
TEST(each_source_is_tagged_by_its_type)
{
    static const struct {
        const char *source;
        enum spec_source kind;
        const char *name, *version;
    } cases[] = {
        { "{\"type\":\"official\",\"name\":\"test/server\",\"version\":\"1.0.0\"}",
          SPEC_SOURCE_OFFICIAL, "test/server", "1.0.0" },
        { "{\"type\":\"smithery\",\"qualified_name\":\"@owner/server\"}", SPEC_SOURCE_SMITHERY,
          "@owner/server", NULL },
        { "{\"type\":\"manual\",\"url\":\"https://example.com/mcp\"}", SPEC_SOURCE_MANUAL,
          "https://example.com/mcp", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(config) struct config *c = NULL;
        AUTO(config) struct config *d = NULL;
        AUTO_BUF struct buf member = { 0 }, entry = { 0 };
        const struct spec *s;

        buf_printf(&member, "\"command\":\"c\",\"source\":%s", cases[i].source);
        s = one(&c, buf_cstr(&member));
        CHECK_INT(s->source, cases[i].kind);
        CHECK_STR(s->source_name, cases[i].name);
        CHECK(cases[i].version ? !strcmp(s->source_version, cases[i].version) : !s->source_version);
        d = again(s, &entry);
        CHECK_HAS(buf_cstr(&entry), cases[i].source);
        CHECK(spec_equal(s, config_rig_spec(d, "x")));
    }
}

/* S1-22 S1-31 S1-32 S1-57 S1-58 */
TEST(each_package_is_tagged_and_becomes_what_runs_it)
{
    static const struct {
        const char *package, *described;
        enum spec_transport transport;
    } cases[] = {
        { "{\"type\":\"npm\",\"identifier\":\"@github/mcp-server\",\"runtime_hint\":\"npx\"}",
          "npx -y @github/mcp-server", SPEC_STDIO },
        { "{\"type\":\"npm\",\"identifier\":\"x\"}", "npx -y x", SPEC_STDIO },
        { "{\"type\":\"docker\",\"identifier\":\"ghcr.io/owner/server:latest\"}",
          "docker run -i --rm ghcr.io/owner/server:latest", SPEC_STDIO },
        { "{\"type\":\"http\",\"identifier\":\"https://server.smithery.ai/mcp\"}",
          "https://server.smithery.ai/mcp", SPEC_HTTP },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(config) struct config *c = NULL;
        AUTO(config) struct config *d = NULL;
        AUTO_BUF struct buf member = { 0 }, entry = { 0 }, described = { 0 };
        const struct spec *s;

        buf_printf(&member, "\"transport\":\"%s\",\"package\":%s",
                   cases[i].transport == SPEC_STDIO ? "stdio" : "http", cases[i].package);
        s = one(&c, buf_cstr(&member));
        CHECK_INT(s->transport, cases[i].transport);
        spec_describe(&described, s);
        CHECK_STR(buf_cstr(&described), cases[i].described);
        d = again(s, &entry);
        CHECK_HAS(buf_cstr(&entry), cases[i].package);
        CHECK(spec_equal(s, config_rig_spec(d, "x")));
    }
}

/* S1-19 S1-20 S1-35 */
TEST(several_variables_round_trip_and_a_single_one_is_a_list_of_one)
{
    AUTO(config) struct config *c = NULL;
    AUTO(config) struct config *d = NULL;
    AUTO(config) struct config *old = NULL;
    AUTO_BUF struct buf entry = { 0 };
    const struct spec *s = one(&c, "\"command\":\"c\",\"env_vars\":["
                                   "{\"name\":\"AWS_ACCESS_KEY_ID\",\"required\":true},"
                                   "{\"name\":\"AWS_SECRET_ACCESS_KEY\",\"required\":true},"
                                   "{\"name\":\"AWS_REGION\",\"required\":false}]");
    const struct spec *t;

    d = again(s, &entry);
    t = config_rig_spec(d, "x");
    CHECK_STR(t->env_vars[0].name, "AWS_ACCESS_KEY_ID");
    CHECK_STR(t->env_vars[1].name, "AWS_SECRET_ACCESS_KEY");
    CHECK_STR(t->env_vars[2].name, "AWS_REGION");
    CHECK(t->env_vars[0].required && t->env_vars[1].required && !t->env_vars[2].required);
    CHECK(!t->env_vars[3].name);
    t = one(&old, "\"command\":\"c\",\"env_var_name\":\"GITHUB_TOKEN\"");
    CHECK_STR(t->env_vars[0].name, "GITHUB_TOKEN");
    CHECK(t->env_vars[0].required && !t->env_vars[1].name);
}

TEST(a_name_is_for_people_and_a_slug_of_it_for_programs)
{
    AUTO(config)
    struct config *c =
        config_rig_parse("{\"mcps\":[{\"name\":\"GitHub MCP Server\",\"command\":\"a\"},"
                         "{\"name\":\"@github/mcp-server\",\"command\":\"b\"},"
                         "{\"name\":\"Kept_As-Is\",\"display_name\":\"Shown\",\"command\":\"c\"}]}",
                         NULL);
    AUTO(config) struct config *d = NULL;
    AUTO_BUF struct buf entry = { 0 };

    CHECK_STR(config_rig_spec(c, "github-mcp-server")->display_name, "GitHub MCP Server");
    CHECK_STR(config_rig_spec(c, "github-mcp-server-2")->display_name, "@github/mcp-server");
    CHECK_STR(config_rig_spec(c, "Kept_As-Is")->display_name, "Shown");
    d = again(config_rig_spec(c, "Kept_As-Is"), &entry);
    CHECK(spec_equal(config_rig_spec(c, "Kept_As-Is"), config_rig_spec(d, "Kept_As-Is")));
    config_free(TAKE(d));
    d = again(config_rig_spec(c, "github-mcp-server-2"), &entry);
    CHECK_STR(config_rig_spec(d, "github-mcp-server-2")->display_name, "@github/mcp-server");
}

TEST(what_is_wrong_with_a_package_is_said_with_its_place)
{
    static const struct config_rig_refusal cases[] = {
        { "{\"mcps\":{}}", "f.json:1: mcps: expected an array of servers, got an object" },
        { "{\"mcps\":[1]}", "f.json:1: mcps[0]: expected an object, got a number" },
        { "{\"mcps\":[\n{\"command\":\"x\"}]}",
          "f.json:2: mcps[0].name: expected a string that is not empty" },
        { "{\"mcps\":[{\"name\":\"a\"}]}",
          "f.json:1: mcps[0]: expected \"command\" (a program to run) or \"url\" (a server to "
          "reach)" },
        { "{\"mcps\":[{\"name\":\"a\",\"package\":{\"identifier\":\"x\"}}]}",
          "f.json:1: mcps[0].package.type: missing; expected a string" },
        { "{\"mcps\":[{\"name\":\"a\",\"package\":{\"type\":\"rpm\",\"identifier\":\"x\"}}]}",
          "f.json:1: mcps[0].package.type: expected \"npm\", \"docker\" or \"http\", got \"rpm\"" },
        { "{\"mcps\":[{\"name\":\"a\",\"package\":{\"type\":\"npm\"}}]}",
          "f.json:1: mcps[0].package.identifier: missing; expected a string" },
        { "{\"mcps\":[{\"name\":\"a\",\"command\":\"x\",\"source\":{\"type\":\"official\","
          "\"name\":\"n\"}}]}",
          "f.json:1: mcps[0].source.version: missing; expected a string" },
        { "{\"mcps\":[{\"name\":\"a\",\"command\":\"x\",\"id\":\"7\"}]}",
          "f.json:1: mcps[0].id: expected a UUID of 36 characters" },
        { "{\"mcps\":[{\"name\":\"a\",\"command\":\"x\",\"env_vars\":[{\"required\":true}]}]}",
          "f.json:1: mcps[0].env_vars[0]: missing \"name\"; expected "
          "{\"name\":…,\"required\":…}" },
        { "{\"mcps\":[{\"name\":\"a\",\"package\":{\"type\":\"http\",\"identifier\":\"x\"}}]}",
          "f.json:1: mcps[0].url: expected an address such as https://host/mcp" },
    };

    config_rig_refused(cases, ARRAY_LEN(cases));
}

/* Reads a file of so many servers; `name` makes the name of each. */
static double time_to_read(size_t n, void (*name)(struct buf *out, size_t i), struct config **out)
{
    AUTO_BUF struct buf text = { 0 };
    double from;

    buf_str(&text, "{\"mcps\":[");
    for (size_t i = 0; i < n; i++) {
        buf_str(&text, i ? ",{\"name\":\"" : "{\"name\":\"");
        name(&text, i);
        buf_str(&text, "\",\"package\":{\"type\":\"npm\",\"identifier\":\"x\"}}");
    }
    buf_str(&text, "]}");
    from = cpu_ms();
    *out = config_rig_parse(buf_cstr(&text), NULL);
    return cpu_ms() - from;
}

static void one_name(struct buf *out, size_t i)
{
    (void)i;
    buf_str(out, "My Server");
}

/* Pairs that differ only in the end that their numbers take the place of. */
static void long_name(struct buf *out, size_t i)
{
    for (int n = 0; n < HUB_NAME_MAX - 4; n++)
        buf_byte(out, 'x');
    buf_printf(out, "%04zu", i / 2);
}

/* HUB_SERVERS_MAX */
TEST(as_many_servers_of_one_name_as_there_can_be_are_read_in_time)
{
    void (*const names[])(struct buf * out, size_t i) = { one_name, long_name };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct config *few = NULL, *many = NULL;
        double part = time_to_read(HUB_SERVERS_MAX / 20, names[i], &few);
        double all = time_to_read(HUB_SERVERS_MAX, names[i], &many);

        CHECK_INT(many->specs.n, HUB_SERVERS_MAX);
        if (i == 0) {
            CHECK_STR(config_rig_spec(many, "my-server")->display_name, "My Server");
            config_rig_spec(many, "my-server-2");
            config_rig_spec(many, "my-server-10000");
        }
        if (all > 80 * part + 10)
            TAP_FAIL("%.0f ms, and a twentieth takes %.0f ms", all, part);
        config_free(few);
        config_free(many);
    }
}
