/* What a console needs to add, try and choose: texts that are understood, servers that are tried
 * before they are kept, filters that are counted. */
#include "face/listen/listen.h"
#include "face/rest_rig.h"
#include "hub/hub/hub.h"
#include "temp_dir.h"
#include <signal.h>

/* ---- what a text describes ---- */

static int parse(struct rest_rig *rig, const char *text)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    json_put_str(&o, "text", text);
    json_end(&o);
    return rest_send(rig, "POST /api/servers/parse", buf_cstr(&body));
}

struct text_case {
    const char *text, *name, *entry;
};

static void check_texts(const struct text_case *cases, size_t n)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    rest_start(&rig);
    for (size_t i = 0; i < n; i++) {
        if (parse(&rig, cases[i].text) != 200)
            TAP_FAIL("%s: %s", cases[i].text, rest_body);
        if (strcmp(got("servers.0.name"), cases[i].name) != 0 ||
            strcmp(got("servers.0.entry"), cases[i].entry) != 0)
            TAP_FAIL("%s: %s", cases[i].text, rest_body);
    }
    rest_done(&rig);
}

#define NPX_GITHUB "{\"command\":\"npx\",\"args\":[\"-y\",\"@github/mcp-server\"]}"
#define X_ENTRY    "{\"command\":\"x\",\"args\":[\"-a\"]}"

/* S1-73 S1-74 S1-75 S1-84 */
TEST(a_line_is_understood_as_a_shell_would)
{
    static const struct text_case cases[] = {
        { "npx -y @github/mcp-server", "github-mcp-server", NPX_GITHUB },
        { "  npx @github/mcp-server\n", "github-mcp-server", NPX_GITHUB },
        { "@github/mcp-server", "github-mcp-server", NPX_GITHUB },
        { "$ npx -y @github/mcp-server", "github-mcp-server", NPX_GITHUB },
        { "```sh\nnpx -y @github/mcp-server\n```", "github-mcp-server", NPX_GITHUB },
        { "npx -y pkg --flag 'a b' -- -x", "pkg",
          "{\"command\":\"npx\",\"args\":[\"-y\",\"pkg\",\"--flag\",\"a b\",\"--\",\"-x\"]}" },
        { "docker run ghcr.io/owner/server", "owner-server",
          "{\"command\":\"docker\",\"args\":[\"run\",\"-i\",\"--rm\",\"ghcr.io/owner/server\"]}" },
        { "docker run \\\n  -i --rm \\\n  mcp/time", "time",
          "{\"command\":\"docker\",\"args\":[\"run\",\"-i\",\"--rm\",\"mcp/time\"]}" },
        { "uvx mcp-server-git --repo .", "git",
          "{\"command\":\"uvx\",\"args\":[\"mcp-server-git\",\"--repo\",\".\"]}" },
        { "https://server.smithery.ai/mcp", "smithery",
          "{\"url\":\"https://server.smithery.ai/mcp\"}" },
        { "/opt/x -a", "x", "{\"command\":\"/opt/x\",\"args\":[\"-a\"]}" },
        { "LEVEL=3 npx -y pkg", "pkg",
          "{\"command\":\"npx\",\"args\":[\"-y\",\"pkg\"],\"env\":{\"LEVEL\":\"3\"}}" },
        { "claude mcp add mine -- x -a", "mine", X_ENTRY },
        { "claude mcp add mine x -a", "mine", X_ENTRY },
        { "patchbay add mine -- x -a", "mine", X_ENTRY },
        { "mine -- x -a", "mine", X_ENTRY },
        { "claude mcp add -s user -e LEVEL=3 mine -- x -a", "mine",
          "{\"command\":\"x\",\"args\":[\"-a\"],\"env\":{\"LEVEL\":\"3\"}}" },
        { "claude mcp add --transport sse linear https://mcp.linear.app/sse", "linear",
          "{\"type\":\"sse\",\"url\":\"https://mcp.linear.app/sse\"}" },
        { "claude mcp add notion https://h/mcp --header=\"X-Team: a\" -t http", "notion",
          "{\"type\":\"http\",\"url\":\"https://h/mcp\",\"headers\":{\"X-Team\":\"a\"}}" },
        { "notion https://h/mcp", "notion", "{\"url\":\"https://h/mcp\"}" },
        { "claude mcp add-json mine '{\"command\":\"x\",\"args\":[\"-a\"]}'", "mine", X_ENTRY },
        { "code --add-mcp '{\"name\":\"mine\",\"command\":\"x\",\"args\":[\"-a\"]}'", "mine",
          X_ENTRY },
        { "codex mcp add mine --url https://h/mcp", "mine", "{\"url\":\"https://h/mcp\"}" },
        { "vscode:mcp/install?%7B%22name%22%3A%22mine%22%2C%22command%22%3A%22x%22%2C%22args%22%3A"
          "%5B%22-a%22%5D%7D",
          "mine", X_ENTRY },
        { "cursor://anysphere.cursor-deeplink/mcp/install?name=mine&config="
          "eyJjb21tYW5kIjoieCIsImFyZ3MiOlsiLWEiXX0=",
          "mine", X_ENTRY },
        { "[mcp_servers.mine]\ncommand = \"x\"\nargs = ['-a']", "mine", X_ENTRY },
        { "```toml\n[mcp_servers.mine]\ncommand = \"x\"\nargs = ['-a']\n```", "mine", X_ENTRY },
        { "https://host/@owner", "host", "{\"url\":\"https://host/@owner\"}" },
        { "https://x.com/@", "x", "{\"url\":\"https://x.com/@\"}" },
        { "uv run notes.py", "notes", "{\"command\":\"uv\",\"args\":[\"run\",\"notes.py\"]}" },
        { "--lazy mine -- x -a", "mine",
          "{\"command\":\"x\",\"args\":[\"-a\"],\"start\":\"lazy\"}" },
    };

    check_texts(cases, ARRAY_LEN(cases));
}

TEST(json_of_every_client_is_understood)
{
    static const struct text_case cases[] = {
        { "{\"mcpServers\":{\"x\":" X_ENTRY "}}", "x", X_ENTRY },
        { "{\"servers\":{\"x\":{\"command\":\"x\",\"args\":[\"-a\"]}}}", "x", X_ENTRY },
        { "{\"servers\":{\"x\":{\"type\":\"stdio\",\"command\":\"x\",\"args\":[\"-a\"]}},"
          "\"inputs\":[]}",
          "x", X_ENTRY },
        { "{\"mcp\":{\"servers\":{\"x\":" X_ENTRY "}}}", "x", X_ENTRY },
        { "{\"mcp\":{\"x\":{\"type\":\"local\",\"command\":[\"x\",\"-a\"],\"environment\":{\"A\":"
          "\"1\"}}}}",
          "x", "{\"command\":\"x\",\"args\":[\"-a\"],\"env\":{\"A\":\"1\"}}" },
        { "{\"context_servers\":{\"x\":{\"source\":\"custom\",\"command\":\"x\",\"args\":[\"-a\"]}"
          "}}",
          "x", X_ENTRY },
        { "{\"context_servers\":{\"x\":{\"command\":{\"path\":\"x\",\"args\":[\"-a\"]}}}}", "x",
          X_ENTRY },
        { "{\"mcps\":[{\"name\":\"My X\",\"command\":\"x\",\"args\":[\"-a\"],\"start\":\"eager\"}]"
          "}",
          "my-x", "{\"command\":\"x\",\"args\":[\"-a\"],\"display_name\":\"My X\"}" },
        { X_ENTRY, "x", X_ENTRY },
        { "{\"name\":\"Mine\",\"command\":\"x\",\"args\":[\"-a\"]}", "mine",
          "{\"command\":\"x\",\"args\":[\"-a\"],\"display_name\":\"Mine\"}" },
        { "{\"httpUrl\":\"https://api.acme.com/mcp\"}", "acme",
          "{\"type\":\"http\",\"url\":\"https://api.acme.com/mcp\"}" },
        { "{\"x\":" X_ENTRY "}", "x", X_ENTRY },
        { "\"x\": " X_ENTRY ",\n", "x", X_ENTRY },
        { "\"mcpServers\": {\"x\":" X_ENTRY "}", "x", X_ENTRY },
        { "{\n // mine\n \"mcpServers\": { /* all, \"of\" them */ \"x\": {\"command\": \"x\", "
          "\"args\": [\"-a\",], }, },\n}",
          "x", X_ENTRY },
        { "```json\n{\"x\":" X_ENTRY "}\n```", "x", X_ENTRY },
        { "{\"u\":{\"url\":\"https://h/a//b\"}}", "u", "{\"url\":\"https://h/a//b\"}" },
        { "{\"url\":\"${BASE}/mcp\"}", "base", "{\"url\":\"${BASE}/mcp\"}" },
        { "{\"url\":\"https://x.com/@owner\"}", "x", "{\"url\":\"https://x.com/@owner\"}" },
        { "{\"u\":{\"url\":\"https://${HOST}/mcp\"}}", "u", "{\"url\":\"https://${HOST}/mcp\"}" },
    };

    check_texts(cases, ARRAY_LEN(cases));
}

TEST(several_servers_come_in_their_order_and_say_whether_they_are_there)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    rig_server(&rig.hub, "alpha");
    rest_start(&rig);
    CHECK_INT(parse(&rig, "{\"mcpServers\":{\"beta\":{\"command\":\"b\"},\"alpha\":{\"url\":"
                          "\"https://u:hush@h/mcp\"}}}"),
              200);
    CHECK_STR(got("servers.0.name"), "beta");
    CHECK_STR(got("servers.0.transport"), "stdio");
    CHECK_STR(got("servers.0.exists"), "false");
    CHECK_STR(got("servers.1.name"), "alpha");
    CHECK_STR(got("servers.1.transport"), "http");
    CHECK_STR(got("servers.1.exists"), "true");
    CHECK(!strstr(got("servers.1.target"), "hush"));
    CHECK_STR(got("servers.2"), "");
    CHECK_INT(hub_count(rig.hub.hub), 1);
    rest_done(&rig);
}

TEST(a_server_that_names_itself_gives_way_to_one_that_is_there)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    rig_server(&rig.hub, "files");
    rest_start(&rig);
    CHECK_INT(parse(&rig, "npx -y @acme/server-files"), 200);
    CHECK_STR(got("servers.0.name"), "acme-files");
    CHECK_STR(got("servers.0.exists"), "false");
    CHECK_INT(parse(&rig, "uvx mcp-server-files"), 200);
    CHECK_STR(got("servers.0.name"), "files-2");
    /* What somebody called it stays, and is told to be there. */
    CHECK_INT(parse(&rig, "claude mcp add files -- x"), 200);
    CHECK_STR(got("servers.0.name"), "files");
    CHECK_STR(got("servers.0.exists"), "true");
    rest_done(&rig);
}

TEST(people_read_a_name_made_for_them)
{
    static const struct {
        const char *text, *shown;
    } cases[] = {
        { "npx -y @github/mcp-server", "GitHub MCP Server" },
        { "npx -y mcp_server-sqlite", "SQLite" },
        { "{\"name\":\"The one\",\"command\":\"x\"}", "The one" },
        { "{\"x\":{\"command\":\"x\",\"display_name\":\"X!\"}}", "X!" },
    };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(parse(&rig, cases[i].text), 200);
        CHECK_STR(got("servers.0.display_name"), cases[i].shown);
    }
    rest_done(&rig);
}

/* S1-36 S1-37 S1-38 S1-39 */
TEST(the_login_is_found_in_the_variables)
{
    static const struct {
        const char *text, *auth, *vars;
    } cases[] = {
        { "{\"command\":\"x\",\"env\":{\"GITHUB_TOKEN\":\"<token>\",\"LOG\":\"1\"}}", "api_key",
          "[{\"name\":\"GITHUB_TOKEN\",\"required\":true}]" },
        { "OPENAI_API_KEY=1 npx -y pkg", "api_key",
          "[{\"name\":\"OPENAI_API_KEY\",\"required\":true}]" },
        { "docker run -i -e GITHUB_TOKEN ghcr.io/github/server", "api_key",
          "[{\"name\":\"GITHUB_TOKEN\",\"required\":true}]" },
        { "{\"url\":\"https://h/mcp\",\"headers\":{\"Authorization\":\"Bearer x\"}}", "api_key",
          "[{\"name\":\"Authorization\",\"required\":true}]" },
        { "CLIENT_ID=a CLIENT_SECRET=b npx -y pkg", "oauth", "" },
        { "LOG_LEVEL=1 npx -y pkg", "none", "" },
    };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(parse(&rig, cases[i].text), 200);
        CHECK_STR(got("servers.0.auth"), cases[i].auth);
        CHECK_STR(got("servers.0.entry.env_vars"), cases[i].vars);
    }
    rest_done(&rig);
}

/* S1-76 */
TEST(what_is_not_understood_is_told)
{
    static const struct {
        const char *text, *told;
    } cases[] = {
        { "", "what is to be added" },
        { "   \n", "what is to be added" },
        { "invalid", "'invalid' alone does not say what to run" },
        { "hello there my friend", "'hello' alone does not say what to run" },
        { "npx", "told to run nothing" },
        { "npx 'x", "a quote is not closed" },
        { "-x mine -- y", "'-x' is no option here" },
        { "-e", "'-e' wants a value" },
        { "ftp://host/x", "http:// or https://" },
        { "{", "the JSON is wrong: line 1, column 2" },
        { "{\"mcpServers\":{\"x\":{\"args\":[]}}}", "mcpServers.x: expected \"command\"" },
        { "{\"mcpServers\":{\"x\":{\"command\":\"x\",\"args\":3}}}",
          "mcpServers.x.args: expected an array of strings, got a number" },
        { "{\"mcpServers\":{}}", "no server is named here" },
        { "{}", "no server is named here" },
        { "[]", "no server is named here" },
        { "{\"a\":1}", "no server is named here" },
        { "[1]", "mcps[0]: expected an object" },
        { "[x]\ny = 1_0", "this is TOML: line 2: expected a value" },
        { "cursor://x", "this is a link for an editor, but none that installs a server" },
        { "vscode:mcp/install?%7", "this is a link for VS Code: a '%' in it is not followed" },
        { "npx -y x | tee y", "'|' is for a shell, and none is run" },
        { "{\"x\":{\"command\":\"a\"},\"x\":{\"command\":\"b\"}}",
          "a key that this object already has" },
    };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (parse(&rig, cases[i].text) != 400)
            TAP_FAIL("%s: %s", cases[i].text, rest_body);
        CHECK_STR(got("error"), "invalid_request");
        CHECK_HAS(got("message"), cases[i].told);
    }
    rest_done(&rig);
}

/* ---- trying a server ---- */

static int try_entry(struct rest_rig *rig, const char *entry)
{
    AUTO_BUF struct buf body = { 0 };

    buf_printf(&body, "{\"name\":\"new\",\"entry\":%s}", entry);
    return rest_send(rig, "POST /api/servers/test", buf_cstr(&body));
}

static const char *example(void)
{
    static char entry[4096];

    snprintf(entry, sizeof entry, "{\"command\":\"%s\"}", getenv("EXAMPLE_SERVER"));
    return entry;
}

TEST(a_server_is_tried_and_not_kept)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    CHECK_INT(try_entry(&rig, example()), 200);
    CHECK_STR(got("ok"), "true");
    CHECK(*got("protocol") && *got("server_info.name") && *got("took_ms"));
    CHECK_HAS(got("tools"), "\"echo\"");
    CHECK_STR(got("error"), "");
    CHECK_INT(hub_count(rig.hub.hub), 0);
    rest_done(&rig);
}

TEST(why_a_server_does_not_work_is_told)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    CHECK_INT(try_entry(&rig, "{\"command\":\"/no/such/program\",\"enabled\":false}"), 200);
    CHECK_STR(got("ok"), "false");
    CHECK_STR(got("error"), "connect_failed");
    CHECK_HAS(got("message"), "/no/such/program");
    CHECK(*got("next"));
    CHECK_INT(try_entry(&rig, "{\"command\":\"sh\",\"args\":[\"-c\",\"echo first >&2; echo the key "
                              "is missing >&2; exit 3\"]}"),
              200);
    CHECK_STR(got("ok"), "false");
    CHECK_STR(got("stderr"), "[\"first\",\"the key is missing\"]");
    CHECK_INT(try_entry(&rig, "{\"url\":\"http://127.0.0.1:1/mcp\"}"), 200);
    CHECK_STR(got("ok"), "false");
    CHECK_HAS(got("next"), "address");
    CHECK_INT(try_entry(&rig, "{\"args\":[]}"), 400);
    CHECK_INT(try_entry(&rig, "{\"command\":\"x\",\"env\":{\"A\":\"***\"}}"), 400);
    rest_done(&rig);
}

/* A server that says nothing and does not heed SIGTERM, and leaves its id in a file. */
static const char *stubborn(void)
{
    static char entry[1024];
    const char *path = temp_path("stubborn");

    temp_write(path, "#!/bin/sh\ntrap '' TERM\necho $$ >$1.new\nmv $1.new $1\n"
                     "while :; do read x || sleep 1; done\n");
    CHECK_INT(chmod(path, 0700), 0);
    snprintf(entry, sizeof entry, "{\"command\":\"%s\",\"args\":[\"%s\"]}", path, temp_path("pid"));
    return entry;
}

static void ask_to_try(struct rest_rig *rig, struct line *s, const char *entry)
{
    AUTO_BUF struct buf body = { 0 };

    buf_printf(&body, "{\"entry\":%s}", entry);
    line_open(rig, s);
    line_ask(s, "POST /api/servers/test", NULL, REST_TOKEN REST_JSON, buf_cstr(&body));
}

static pid_t until_started(struct line *s)
{
    while (access(temp_path("pid"), F_OK) < 0)
        line_turn(s);
    return (pid_t)strtol(temp_read(temp_path("pid")), NULL, 10);
}

/* Turns the loop, and its clock with it, until the process is no more. */
static void until_gone(struct rest_rig *rig, pid_t pid)
{
    for (int i = 0; i < 5000 && kill(pid, 0) == 0; i++) {
        loop_advance(rig->hub.fakes.loop, 10);
        poll(NULL, 0, 1);
    }
    CHECK(kill(pid, 0) < 0 && errno == ESRCH);
}

TEST(a_server_that_does_not_answer_or_stop_leaves_nothing_behind)
{
    struct rest_rig rig;
    struct line s;
    pid_t pid;

    rest_init(&rig, NULL);
    ask_to_try(&rig, &s, stubborn());
    pid = until_started(&s);
    loop_advance(rig.hub.fakes.loop, 10000);
    CHECK_INT(line_answer(&s), 200);
    CHECK_STR(got("ok"), "false");
    CHECK_HAS(got("message"), "no answer within 10s");
    CHECK_HAS(got("next"), "is it an MCP server?");
    line_close(&s);
    until_gone(&rig, pid);
    rest_done(&rig);
}

TEST(who_goes_away_ends_the_trial)
{
    struct rest_rig rig;
    struct line s;
    pid_t pid;

    rest_init(&rig, NULL);
    ask_to_try(&rig, &s, stubborn());
    pid = until_started(&s);
    line_close(&s);
    until_gone(&rig, pid);
    rest_done(&rig);
}

TEST(a_stop_ends_the_trial)
{
    struct rest_rig rig;
    struct line s;
    pid_t pid;

    rest_init(&rig, NULL);
    ask_to_try(&rig, &s, stubborn());
    pid = until_started(&s);
    serve_close(rig.serve, rest_on_closed, &rig);
    CHECK_INT(line_answer(&s), 503);
    CHECK_STR(got("error"), "stopping");
    line_close(&s);
    until_gone(&rig, pid);
    while (!rig.closed)
        loop_advance(rig.hub.fakes.loop, 10);
    rig_done(&rig.hub);
}

TEST(only_so_many_servers_are_tried_at_once)
{
    static const char silent[] = "{\"command\":\"sleep\",\"args\":[\"60\"]}";
    struct line s[REST_TRIALS_MAX];
    struct rest_rig rig;

    rest_init(&rig, NULL);
    for (size_t i = 0; i < ARRAY_LEN(s); i++)
        ask_to_try(&rig, &s[i], silent);
    fakes_settle(&rig.hub.fakes);
    for (int i = 0; i < 50; i++)
        line_turn(&s[0]);
    CHECK_INT(try_entry(&rig, silent), 503);
    CHECK_STR(got("error"), "busy");
    CHECK(*got("next"));
    for (size_t i = 0; i < ARRAY_LEN(s); i++)
        line_close(&s[i]);
    for (int i = 0; i < 1000 && try_entry(&rig, example()) != 200; i++)
        loop_advance(rig.hub.fakes.loop, 10);
    CHECK_STR(got("ok"), "true");
    rest_done(&rig);
}

/* ---- what a filter lets through ---- */

TEST(a_filter_is_counted_before_it_is_kept)
{
    static const struct {
        const char *filter, *tools, *names;
    } cases[] = {
        { "\"all\"", "3", "[\"alpha/read_a\",\"alpha/write\",\"beta/read_b\"]" },
        { "\"none\"", "0", "[]" },
        { "{\"servers\":[\"beta\"]}", "1", "[\"beta/read_b\"]" },
        { "{\"pattern\":\"^read_\"}", "2", "[\"alpha/read_a\",\"beta/read_b\"]" },
        { "{\"and\":[{\"pattern\":\"^read_\"},{\"not\":{\"servers\":[\"beta\"]}}]}", "1",
          "[\"alpha/read_a\"]" },
    };
    static const char *const off[] = { "hidden", NULL };
    struct rest_rig rig;
    struct fake_server *f;

    rest_init(&rig, NULL);
    f = rig_server(&rig.hub, "alpha");
    fake_tool(f, "read_a", FAKE_ECHO);
    fake_tool(f, "write", FAKE_ECHO);
    fake_tool(f, "hidden", FAKE_ECHO);
    rig_spec_of(&rig.hub, "alpha")->disabled_tools = off;
    fake_tool(rig_server(&rig.hub, "beta"), "read_b", FAKE_ECHO);
    rest_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char body[256];

        snprintf(body, sizeof body, "{\"filter\":%s}", cases[i].filter);
        CHECK_INT(POST(&rig, "/api/modes/match", body), 200);
        CHECK_STR(got("tools"), cases[i].tools);
        CHECK_STR(got("total"), "3");
        CHECK_STR(got("names"), cases[i].names);
    }
    CHECK_INT(POST(&rig, "/api/modes/match", "{\"filter\":{\"pattern\":\"(\"}}"), 400);
    CHECK_HAS(got("message"), "pattern");
    CHECK_INT(POST(&rig, "/api/modes/match", "{\"filter\":{\"nosuch\":1}}"), 400);
    CHECK_INT(POST(&rig, "/api/modes/match", "{}"), 400);
    rest_done(&rig);
}

TEST(only_the_first_names_are_told)
{
    struct rest_rig rig;
    struct fake_server *f;
    static char names[REST_MATCHES_MAX + 10][16];

    rest_init(&rig, NULL);
    f = rig_server(&rig.hub, "alpha");
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(names[i], sizeof names[i], "t%03zu", i);
        fake_tool(f, names[i], FAKE_ECHO);
    }
    rest_start(&rig);
    CHECK_INT(POST(&rig, "/api/modes/match", "{\"filter\":\"all\"}"), 200);
    CHECK_STR(got("tools"), "60");
    CHECK_STR(got("names.49"), "alpha/t049");
    CHECK_STR(got("names.50"), "");
    rest_done(&rig);
}
