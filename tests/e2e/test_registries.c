/* Looking for servers in registries: two that the test plays itself, asked by the real daemon. */
#include "registry_rig.h"

static struct mock official, smithery;

static void begin(void)
{
    char settings[200];

    rig_begin();
    mock_start(&official, GITHUB);
    mock_start(&smithery, SMITHERY_GITHUB);
    snprintf(settings, sizeof settings,
             "{\"settings\":{\"registry_url\":\"http://127.0.0.1:%d\","
             "\"smithery_url\":\"http://127.0.0.1:%d\"}}",
             official.port, smithery.port);
    write_file(in_home("config.json"), settings);
    start(NULL);
}

static void end(void)
{
    CHECK_INT(daemon_stop(SIGTERM), 0);
    mock_stop(&official);
    mock_stop(&smithery);
    rig_end();
}

#define SEARCH(members) http("POST", "/api/registry/search", "{" members "}")
#define OFFICIAL        ",\"registry\":\"official\""

/* ---- the official one ---- */

/* S1-104 S1-105 */
TEST(the_official_registry_is_searched_by_its_versioned_address)
{
    begin();
    CHECK_INT(SEARCH("\"search\":\"git hub&x\"" OFFICIAL), 200);
    CHECK_HAS(official.line, "GET /v0.1/servers?");
    CHECK_HAS(official.line, "&search=git%20hub%26x HTTP/1.1");
    CHECK_STR(member("results.0.name"), "github/github-mcp-server");
    CHECK_STR(member("results.0.title"), "GitHub");
    CHECK_STR(member("results.0.description"), "GitHub MCP Server");
    CHECK_STR(member("results.0.source"), "official");
    CHECK_STR(member("results.1"), "");
    CHECK_STR(member("failed"), "[]");
    CHECK_INT(atomic_load(&smithery.asked), 0);
    end();
}

/* S1-106 S1-107 */
TEST(nothing_found_is_no_error_and_a_failing_registry_is)
{
    begin();
    official.body = "{\"servers\":[]}";
    CHECK_INT(SEARCH("\"search\":\"nonexistent\"" OFFICIAL), 200);
    CHECK_STR(member("results"), "[]");
    official.status = 500;
    CHECK_INT(SEARCH("\"search\":\"test\"" OFFICIAL), 502);
    CHECK_STR(member("error"), "registry_failed");
    CHECK_STR(member("name"), "official");
    CHECK_STR(member("message"), "HTTP 500");
    official.status = 200;
    official.body = "{\"error\":\"moved\"}"; /* an interface that has changed */
    CHECK_INT(SEARCH("\"search\":\"test\"" OFFICIAL), 502);
    CHECK_STR(member("message"), "the answer lists no servers");
    official.body = "<html>";
    CHECK_INT(SEARCH("\"search\":\"test\"" OFFICIAL), 502);
    CHECK_INT(SEARCH("\"search\":\"test\",\"registry\":\"other\""), 400);
    CHECK_INT(SEARCH("\"registry\":\"official\""), 400);
    end();
}

TEST(how_a_result_would_be_run_is_told_only_if_it_is_plain)
{
#define SERVER(name, rest) "{\"server\":{\"name\":\"" name "\"," rest "}}"
#define PACKAGE(type, id)                                                     \
    "\"packages\":[{\"registryType\":\"" type "\",\"identifier\":\"" id "\"," \
    "\"version\":\"1.2\"}]"
    static const char *const adds[] = {
        "npx -y @x/git@1.2",
        "uvx git@1.2",
        "docker run -i --rm ghcr.io/x/git:1",
        "https://h/mcp",
        "",
        "",
        "",
        "",
    };
    char path[32];

    begin();
    official.body =
        "{\"servers\":[" SERVER("a", PACKAGE("npm", "@x/git")) "," SERVER("b", PACKAGE("pypi", "git")) "," SERVER("c", PACKAGE("oci", "ghcr.io/x/git:1")) "," SERVER("d", "\"remotes\":[{\"type\":\"sse\",\"url\":\"https://h/mcp\"}]") "," SERVER(
            "e",
            PACKAGE(
                "npm",
                "x; rm -rf /")) "," SERVER("f",
                                           PACKAGE(
                                               "npm",
                                               "--eval=x")) "," SERVER("g",
                                                                       "\"remotes\":[{\"url\":\"file:///etc/passwd\"}]") "," SERVER("h",
                                                                                                                                    "\"packages\":\"x\",\"remotes\":{\"a\":1}") ",7,{\"server\":null}]}";
    CHECK_INT(SEARCH("\"search\":\"git\"" OFFICIAL), 200);
    for (size_t i = 0; i < ARRAY_LEN(adds); i++) {
        snprintf(path, sizeof path, "results.%zu.add", i);
        CHECK_STR(member(path), adds[i]);
    }
    CHECK_STR(member("results.7.name"), "h");
    CHECK_STR(member("results.8"), "");
    end();
}

/* ---- Smithery ---- */

/* S1-108 */
TEST(smithery_is_searched_and_asked_about_one_server)
{
    begin();
    CHECK_INT(SEARCH("\"search\":\"git\",\"registry\":\"smithery\""), 200);
    CHECK_HAS(smithery.line, "GET /servers?");
    CHECK_HAS(smithery.line, "&q=git HTTP/1.1");
    CHECK_STR(member("results.1.name"), "brave");
    CHECK_STR(member("results.1.title"), "Brave");
    CHECK_STR(member("results.1.source"), "smithery");
    CHECK_INT(atomic_load(&official.asked), 0);

    smithery.body = "{\"qualifiedName\":\"@x/brave\",\"displayName\":\"Brave\","
                    "\"deploymentUrl\":\"https://server.smithery.ai/@x/brave\",\"connections\":[]}";
    CHECK_INT(http("POST", "/api/registry/server", "{\"name\":\"@x/brave\"}"), 200);
    CHECK_HAS(smithery.line, "GET /servers/@x/brave HTTP/1.1");
    CHECK_STR(member("results.0.name"), "@x/brave");
    CHECK_STR(member("results.0.add"), "https://server.smithery.ai/@x/brave");
    smithery.status = 404;
    CHECK_INT(http("POST", "/api/registry/server", "{\"name\":\"nosuch\"}"), 404);
    end();
}

/* ---- both ---- */

/* S1-109 */
TEST(results_of_both_are_joined_with_each_name_once_and_official_ones_first)
{
    begin();
    CHECK_INT(SEARCH("\"search\":\"git\""), 200);
    CHECK_STR(member("results.0.name"), "github/github-mcp-server");
    CHECK_STR(member("results.0.source"), "official");
    CHECK_STR(member("results.0.title"), "GitHub");
    CHECK_STR(member("results.1.name"), "brave");
    CHECK_STR(member("results.1.source"), "smithery");
    CHECK_STR(member("results.2"), "");
    end();
}

/* S1-110 */
TEST(both_are_asked_at_once_and_one_that_fails_does_not_hide_the_other)
{
    begin();
    official.waits_for = &smithery; /* one after the other, this would never end */
    CHECK_INT(SEARCH("\"search\":\"git\""), 200);
    CHECK_STR(member("results.1.name"), "brave");
    official.waits_for = NULL;

    official.status = 503;
    CHECK_INT(SEARCH("\"search\":\"git\""), 200);
    CHECK_STR(member("results.1.name"), "brave");
    CHECK_STR(member("failed.0.registry"), "official");
    CHECK_STR(member("failed.0.message"), "HTTP 503");
    official.status = 200;
    smithery.status = 401;
    CHECK_INT(SEARCH("\"search\":\"git\""), 200);
    CHECK_STR(member("results.0.source"), "official");
    CHECK_STR(member("results.1"), "");
    CHECK_STR(member("failed.0.registry"), "smithery");
    official.status = 500;
    CHECK_INT(SEARCH("\"search\":\"git\""), 502);
    end();
}

/* ---- what does not go well ---- */

TEST(a_daemon_stops_while_a_registry_keeps_it_waiting)
{
    struct mock never = { 0 };
    uint64_t begun;
    pid_t asker;
    int status;

    begin();
    official.waits_for = &never;
    fflush(stdout);
    asker = fork();
    if (asker == 0)
        _exit(SEARCH("\"search\":\"git\"" OFFICIAL) == 503 ? 0 : 1);
    WAIT_FOR(atomic_load(&official.asked));
    begun = now_ms();
    CHECK_INT(daemon_stop(SIGTERM), 0);
    CHECK(now_ms() - begun < 5000);
    CHECK(waitpid(asker, &status, 0) == asker && status == 0);
    official.waits_for = NULL;
    mock_stop(&official);
    mock_stop(&smithery);
    rig_end();
}

TEST(words_and_answers_have_bounds)
{
    AUTO_BUF struct buf body = { 0 };
    char path[400];

    begin();
    for (int more = 0; more < 2; more++) {
        snprintf(path, sizeof path, "{\"registry\":\"official\",\"search\":\"%0*d\"}",
                 REGISTRY_TEXT_MAX + more, 0);
        CHECK_INT(http("POST", "/api/registry/search", path), more ? 400 : 200);
    }

    buf_str(&body, "{\"servers\":[");
    for (int i = 0; i <= REGISTRY_RESULTS_MAX; i++)
        buf_printf(&body, "%s{\"server\":{\"name\":\"s%d\"}}", i ? "," : "", i);
    buf_str(&body, "]}");
    official.body = buf_cstr(&body);
    CHECK_INT(SEARCH("\"search\":\"s\"" OFFICIAL), 200);
    snprintf(path, sizeof path, "results.%d.name", REGISTRY_RESULTS_MAX - 1);
    CHECK(*member(path));
    snprintf(path, sizeof path, "results.%d", REGISTRY_RESULTS_MAX);
    CHECK_STR(member(path), "");

    body.n = 0;
    buf_str(&body, "{\"servers\":[]");
    while (body.n <= REGISTRY_BYTES_MAX)
        buf_str(&body, "                                                                ");
    buf_byte(&body, '}');
    official.body = buf_cstr(&body);
    CHECK_INT(SEARCH("\"search\":\"s\"" OFFICIAL), 502);
    CHECK_HAS(member("message"), "longer than");
    official.body = GITHUB;
    end();
}

/* S1-7: registries have versions and may fail, restarts have a bound, servers are started when they
 * are needed and stopped when they are not */
TEST(what_may_go_wrong_outside_is_bounded)
{
    char config[700], first[32];

    begin();
    CHECK_INT(SEARCH("\"search\":\"git\"" OFFICIAL), 200);
    CHECK_HAS(official.line, "GET /v0.1/");
    official.status = 500;
    CHECK_INT(SEARCH("\"search\":\"git\""), 200); /* less, but not nothing */
    CHECK_STR(member("failed.0.registry"), "official");

    snprintf(
        config, sizeof config,
        "{\"settings\":{\"restart_max\":1,\"reconnect_base_s\":0.001},\"mcpServers\":{"
        "\"falls\":{\"command\":\"%s/patchbay-example-server\"},"
        "\"lazy\":{\"command\":\"%s/patchbay-example-server\",\"start\":\"lazy\",\"idle_s\":0.05}}}",
        getenv("BUILD_DIR"), getenv("BUILD_DIR"));
    write_file(in_home("config.json"), config);
    CHECK_INT(http("POST", "/api/reload", ""), 200);
    BECOMES("lazy", "idle"); /* after it was asked for its tools */
    CHECK_INT(http("POST", "/api/mcp-tools/call",
                   "{\"tool\":\"lazy/echo\",\"arguments\":{\"text\":\"x\"}}"),
              200);
    BECOMES("lazy", "idle");
    BECOMES("falls", "connected");
    snprintf(first, sizeof first, "%s", server_is("falls", "pid"));
    kill((pid_t)strtol(first, NULL, 10), SIGKILL);
    WAIT_FOR(strcmp(server_is("falls", "state"), "connected") == 0 &&
             strcmp(server_is("falls", "pid"), first) != 0);
    kill((pid_t)strtol(server_is("falls", "pid"), NULL, 10), SIGKILL);
    BECOMES("falls", "failed");
    end();
}
