/* The verbs that change the configuration, as a person or a script uses them. */
#include "cli_rig.h"

/* A home and a working directory of the test's own, beside each other. */
static void begin(void)
{
    static char work[256];

    if (*work)
        return;
    rig_begin();
    setenv("PATCHBAY_HOME", temp_path("home"), 1);
    snprintf(work, sizeof work, "%s", temp_path("work"));
    mkdir(work, 0700);
    home = work; /* where verbs are run */
}

static int run(const char *const *args)
{
    begin();
    return run_with(NULL, args);
}
#undef RUN
#define RUN(...) run(WORDS(__VA_ARGS__))

/* The same with a person at a terminal, who answers when there is a prompt. */
static int run_answered(const char *const *args, const char *answer)
{
    int o = memory_file(NULL), e[2], status;
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
    size_t n = 0;
    ssize_t got;
    pid_t pid;

    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(slave >= 0 && pipe2(e, O_CLOEXEC) == 0);
    err[0] = '\0';
    begin();
    fflush(stdout);
    pid = fork();
    if (pid == 0)
        become(args, slave, o, e[1]);
    close(e[1]);
    while (n < RIG_TEXT_MAX - 1 && (got = read(e[0], err + n, RIG_TEXT_MAX - 1 - n)) > 0) {
        n += (size_t)got;
        err[n] = '\0';
        if (answer && strstr(err, "[y/N] ")) {
            CHECK(write(master, answer, strlen(answer)) == (ssize_t)strlen(answer));
            answer = NULL;
        }
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    close(e[0]);
    close(slave);
    close(master);
    slurp(o, out);
    return WEXITSTATUS(status);
}

#define CONFIG       temp_path("home/config.json")
#define CONFIG_TEXT  temp_read(CONFIG)
#define PROJECT_TEXT temp_read(temp_path("work/.mcp.json"))

static void write_config(const char *text)
{
    mkdir(temp_path("home"), 0700);
    temp_write(CONFIG, text);
}

TEST(add_saves_a_server_and_tells_what_comes_next)
{
    CHECK_INT(RUN("add", "-e", "GITHUB_TOKEN=ghp_secret", "-e", "LOG=1", "github", "--", "npx",
                  "-y", "@github/mcp-server", "--read-only"),
              0);
    CHECK_HAS(out, "Added github to ");
    CHECK_HAS(out, "npx -y @github/mcp-server --read-only\n");
    CHECK_HAS(out, "GITHUB_TOKEN=***, LOG=***");
    CHECK(strstr(out, "ghp_secret") == NULL && strstr(err, "ghp_secret") == NULL);
    CHECK_STR(err, "Next: patchbay tools github\n");
    CHECK_STR(
        CONFIG_TEXT,
        "{\n  \"mcpServers\": {\n    \"github\": {\n      \"command\": \"npx\",\n"
        "      \"args\": [\"-y\", \"@github/mcp-server\", \"--read-only\"],\n"
        "      \"env\": {\n        \"GITHUB_TOKEN\": \"ghp_secret\",\n"
        "        \"LOG\": \"1\"\n      },\n      \"auth_type\": \"api_key\"\n    }\n  }\n}\n");
    CHECK_INT(temp_mode(CONFIG), 0600);
    CHECK_INT(temp_mode(temp_path("home")), 0700);
}

TEST(add_takes_every_form_that_people_type)
{
    static const struct {
        const char *args[RIG_ARGS_MAX], *saved;
    } cases[] = {
        { { "add", "npx -y @x/one" }, "\"one\": {" },
        { { "add", "npx", "-y", "@x/two", "--flag", "-e" },
          "[\"-y\", \"@x/two\", \"--flag\", \"-e\"]" },
        { { "add", "@x/three" }, "\"three\": {" },
        { { "add", "docker run ghcr.io/own/four", "-e", "KEY=v" },
          "[\"run\", \"-i\", \"--rm\", \"-e\", \"KEY\", \"ghcr.io/own/four\"]" },
        { { "add", "https://mcp.linear.app/mcp" }, "\"linear\": {\n      \"url\":" },
        { { "add", "-t", "http", "six", "https://h/mcp", "--header", "Authorization: Bearer t",
            "-H", "X: y" },
          "\"Authorization\": \"Bearer t\",\n        \"X\": \"y\"" },
        { { "add", "--transport", "sse", "seven", "https://h/sse" }, "\"type\": \"sse\"" },
        { { "add", "eight", "my-server", "--port", "80", "-H", "x" },
          "[\"--port\", \"80\", \"-H\", \"x\"]" },
        { { "add", "-e", "A=b", "--", "nine", "cat", "-n" },
          "\"nine\": {\n      \"command\": \"cat\"" },
        { { "add", "--name", "ten", "--lazy", "--cwd", "/srv", "uvx", "thing", "--help" },
          "\"ten\": {" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (run(cases[i].args) != 0)
            TAP_FAIL("case %zu: %s", i, err);
        CHECK_HAS(CONFIG_TEXT, cases[i].saved);
    }
    CHECK_HAS(CONFIG_TEXT, "\"args\": [\"thing\", \"--help\"]");
    CHECK_HAS(CONFIG_TEXT, "\"start\": \"lazy\"");
}

TEST(add_refuses_with_exit_code_1_and_changes_nothing)
{
    static const struct {
        const char *args[RIG_ARGS_MAX], *says;
    } cases[] = {
        { { "add" }, "what is to be added?" },
        { { "add", "invalid" }, "'invalid' alone does not say what to run" },
        { { "add", "a", "cmd" }, "there is a server 'a' already, at " },
        { { "add", "a", "cmd" }, "config.json:3: --force replaces it" },
        { { "add", "b c", "cmd" }, "'b-c' would be one" },
        { { "add", "-t", "http", "b", "cmd" }, "transport 'http' needs a URL" },
        { { "add", "-s", "galaxy", "b", "cmd" }, "--scope is 'user', 'local' or 'project'" },
        { { "add", "--frob", "b", "cmd" }, "unknown option '--frob'" },
        { { "add", "b", "--" }, "a command must follow \"--\"" },
    };
    static const char before[] =
        "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"x\" }\n  }\n}\n";

    write_config(before);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(run(cases[i].args), 1);
        CHECK_HAS(err, cases[i].says);
        CHECK_STR(out, "");
        CHECK_STR(CONFIG_TEXT, before);
    }
    CHECK_INT(RUN("add", "--force", "a", "cmd"), 0);
    CHECK_HAS(CONFIG_TEXT, "\"command\": \"cmd\"");
}

TEST(a_broken_file_is_told_with_its_line_and_left_alone)
{
    static const char broken[] = "{\n  \"mcpServers\": {\n    oops\n  }\n}\n";

    write_config(broken);
    CHECK_INT(RUN("add", "a", "cmd"), 1);
    CHECK_HAS(err, "config.json: line 3, column 5: ");
    CHECK_INT(RUN("remove", "a"), 1);
    CHECK_HAS(err, "config.json: line 3, column 5: ");
    CHECK_INT(RUN("get", "a"), 1);
    CHECK_HAS(err, "config.json");
    CHECK_HAS(err, "expected a key in double quotes");
    CHECK_STR(CONFIG_TEXT, broken);
}

TEST(get_tells_what_is_configured_and_where)
{
    write_config(
        "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"srv\",\n"
        "      \"args\": [\"--token\", \"tok-123\"],\n      \"env\": {\"KEY\": \"sk-9\"},\n"
        "      \"enabled\": false\n    }\n  }\n}\n");
    CHECK_INT(RUN("get", "a"), 0);
    CHECK_HAS(out, "a\n  defined    ");
    CHECK_HAS(out, "/home/config.json:3\n");
    CHECK_HAS(out, "disabled");
    CHECK_HAS(out, "srv --token ***");
    CHECK_HAS(out, "KEY=***");
    CHECK_STR(err, "");
    CHECK_INT(RUN("get", "a", "--json"), 0);
    CHECK_HAS(out, "{\"name\":\"a\",\"file\":\"");
    CHECK_HAS(out, "\"line\":3,\"server\":{\"command\":\"srv\"");
    CHECK_HAS(out, "\"KEY\":\"***\"");
    CHECK(strstr(out, "tok-123") == NULL && strstr(out, "sk-9") == NULL);
    CHECK_INT(RUN("get", "b"), 1);
    CHECK_HAS(err, "there is no server 'b' in ");
    CHECK_STR(out, "");
}

TEST(remove_takes_it_out_and_only_it)
{
    write_config("{ \"servers\": { \"a\": {}, \"b\": {} }, \"n\": 1e2 }\n");
    CHECK_INT(RUN("remove", "a"), 0);
    CHECK_HAS(out, "Removed a from ");
    CHECK_STR(CONFIG_TEXT, "{ \"servers\": { \"b\": {} }, \"n\": 1e2 }\n");
    CHECK_INT(RUN("remove", "a"), 1);
    CHECK_HAS(err, "there is no server 'a' in ");
    CHECK_INT(RUN("remove", "b", "--json"), 0);
    CHECK_HAS(out, "{\"name\":\"b\",\"file\":\"");
    CHECK_HAS(out, "\"removed\":true}");
}

TEST(a_person_at_a_terminal_is_asked_before_something_is_removed)
{
    static const char *const args[] = { "remove", "a", NULL };
    static const char *const sure[] = { "remove", "a", "--yes", NULL };
    static const char text[] =
        "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"display_name\":\"GitHub\"}}}";

    write_config(text);
    CHECK_INT(run_answered(args, "n\n"), 1);
    CHECK_STR(err, "Delete \"GitHub\"?\n\nThis will remove the MCP and its stored credentials.\n"
                   "[y/N] patchbay: nothing was removed\n");
    CHECK_STR(CONFIG_TEXT, text);
    CHECK_INT(run_answered(args, "\n"), 1);
    CHECK_STR(CONFIG_TEXT, text);
    CHECK_INT(run_answered(args, "y\n"), 0);
    CHECK_STR(CONFIG_TEXT, "{\"mcpServers\":{}}");
    CHECK_INT(run_answered(args, NULL), 1);
    CHECK_HAS(err, "there is no server 'a'"); /* and no question */
    write_config(text);
    CHECK_INT(run_answered(sure, NULL), 0);
    CHECK_STR(err, "");
}

TEST(servers_and_tools_are_switched_off_and_on)
{
    write_config("{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\",\n"
                 "      \"disabled\": true\n    }\n  }\n}\n");
    CHECK_INT(RUN("enable", "a"), 0);
    CHECK_STR(out, "Enabled a\n");
    CHECK_STR(CONFIG_TEXT, "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\",\n"
                           "      \"enabled\": true\n    }\n  }\n}\n");
    CHECK_INT(RUN("disable", "a", "--json"), 0);
    CHECK_HAS(out, "{\"name\":\"a\",\"enabled\":false,\"file\":\"");
    CHECK_HAS(CONFIG_TEXT, "\"enabled\": false");

    CHECK_INT(RUN("disable", "a/rm"), 0);
    CHECK_STR(out, "Disabled a.rm\n");
    CHECK_INT(RUN("disable", "a.mv.all"), 0);
    CHECK_INT(RUN("disable", "a:cp/x", "--json"), 0);
    CHECK_HAS(out, "\"tool\":\"cp/x\",\"enabled\":false");
    CHECK_HAS(CONFIG_TEXT, "\"disabledTools\": [\"rm\",\"mv.all\",\"cp/x\"]");
    CHECK_INT(RUN("enable", "a/rm"), 0);
    CHECK_INT(RUN("enable", "a/mv.all"), 0);
    CHECK_HAS(CONFIG_TEXT, "\"disabledTools\": [\"cp/x\"]");
    CHECK_STR(err, "");
    CHECK_INT(RUN("enable", "a/cp/x"), 0);
    CHECK(strstr(CONFIG_TEXT, "disabledTools") == NULL);
    CHECK_INT(RUN("enable", "b"), 1);
    CHECK_HAS(err, "there is no server 'b' in ");
    CHECK_INT(RUN("disable", "a/"), 1);
}

TEST(a_pattern_that_still_hides_a_tool_is_told)
{
    write_config("{\"mcpServers\":{\"a\":{\"command\":\"x\",\"disabledTools\":[\"r*\",\"rm\"]}}}");
    CHECK_INT(RUN("enable", "a/rm"), 0);
    CHECK_HAS(CONFIG_TEXT, "\"disabledTools\":[\"r*\"]");
    CHECK_HAS(err, "a pattern in disabledTools still hides rm");
    write_config("{\"mcpServers\":{\"a\":{\"command\":\"x\",\"enabledTools\":[\"ls\"]}}}");
    CHECK_INT(RUN("enable", "a/rm"), 0);
    CHECK_HAS(err, "enabledTools does not name rm");
}

TEST(a_project_has_a_file_of_its_own)
{
    CHECK_INT(RUN("add", "-s", "project", "a", "cmd", "-x"), 0);
    CHECK_HAS(err, "Next: patchbay tools a\n");
    CHECK_STR(PROJECT_TEXT, "{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"cmd\",\n"
                            "      \"args\": [\"-x\"]\n    }\n  }\n}\n");
    CHECK(access(CONFIG, F_OK) < 0);
    CHECK_INT(RUN("get", "a", "--scope", "project"), 0);
    CHECK_HAS(out, ".mcp.json:3");
    CHECK_INT(RUN("get", "a"), 1);
    CHECK_HAS(err, "it is defined at .mcp.json:3: add --scope project");
    CHECK_INT(RUN("disable", "a"), 1);
    CHECK_HAS(err, "it is defined at .mcp.json:3: add --scope project");
    CHECK_INT(RUN("disable", "a", "-s", "project"), 0);
    CHECK_HAS(PROJECT_TEXT, "\"enabled\": false");
    CHECK_INT(RUN("remove", "a", "-s", "project"), 0);
    CHECK_STR(PROJECT_TEXT, "{\n  \"mcpServers\": {}\n}\n");
    CHECK_INT(RUN("add", "-s", "local", "b", "cmd"), 0);
    CHECK_HAS(CONFIG_TEXT, "\"b\": {");
}

TEST(a_server_of_another_file_is_shown_and_told_where_to_edit)
{
    mkdir(temp_path("home"), 0700);
    temp_write(
        temp_path("home/mcp_clients.json"),
        "{\n  \"servers\": {\n    \"a\": {\"transport\": \"stdio\", \"command\": \"x\"}\n  }\n}\n");
    CHECK_INT(RUN("get", "a"), 0);
    CHECK_HAS(out, "mcp_clients.json:3\n");
    CHECK_INT(RUN("disable", "a"), 1);
    CHECK_HAS(err, "mcp_clients.json:3; edit it there");
    CHECK_INT(RUN("remove", "a"), 1);
    CHECK_HAS(err, "mcp_clients.json:3; edit it there");
}

TEST(help_and_manual_know_the_verbs_and_what_may_be_repeated)
{
    static const char *const verbs[] = { "add", "disable", "enable", "get", "remove" };

    CHECK_INT(RUN("help"), 0);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        CHECK_HAS(out, verbs[i]);
    CHECK_INT(RUN("add", "github", "--help"), 0);
    CHECK_HAS(out, "usage: patchbay add");
    CHECK_HAS(out, "-e, --env NAME=VALUE...");
    CHECK_INT(RUN("man"), 0);
    CHECK_HAS(out, "\\fB\\-e\\fR, \\fB\\-\\-env\\fR \\fINAME=VALUE\\fR...");
}
