/* Keys of servers, through the real program: they reach the server and nobody else. */
#include "rest_http.h"
#include <dirent.h>
#include <sys/stat.h>

#define KEY  "canary-1f0c"
#define KEY2 "canary-2e7d"
#define EX   "\"command\":\"$BUILD/patchbay-example-server\""

/* One variable of the running server; "" when it has none. */
static const char *variable(const char *server, const char *name)
{
    static char text[65536];
    AUTO_CLOSE int fd = -1;
    char path[128];
    ssize_t n;

    snprintf(path, sizeof path, "/api/servers/%s", server);
    CHECK_INT(http("GET", path, ""), 200);
    snprintf(path, sizeof path, "/proc/%s/environ", member("pid"));
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    for (const char *p = text; p < text + n; p += strlen(p) + 1)
        if (strncmp(p, name, strlen(name)) == 0 && p[strlen(name)] == '=')
            return p + strlen(name) + 1;
    return "";
}

static size_t count_keys(void)
{
    DIR *d = opendir(in_home("secrets"));
    const struct dirent *e;
    size_t n = 0;

    while (d && (e = readdir(d)))
        n += e->d_name[0] != '.' || strncmp(e->d_name, ".new", 4) == 0;
    if (d)
        closedir(d);
    return n;
}

static const char *key_file(const char *tail)
{
    static char name[256];
    const char *uuid = strstr(file_text("config.json"), "\"uuid\"");

    CHECK(uuid != NULL);
    uuid = strchr(uuid + strlen("\"uuid\""), '"') + 1;
    snprintf(name, sizeof name, "secrets/mcp_%.36s%s.key", uuid, tail);
    return name;
}

/* Where it has no business to be. */
static void check_told_nobody(void)
{
    static const char *const paths[] = { "/api/servers",          "/api/servers/two", "/api/logs",
                                         "/api/servers/two/logs", "/api/alerts",      "/api/status",
                                         "/api/settings",         "/metrics" };

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        http("GET", paths[i], "");
        CHECK(!strstr(out, "canary-"));
    }
    CHECK(!strstr(file_text("config.json"), "canary-"));
    CHECK(!strstr(file_text("daemon.err"), "canary-"));
}

/* S1-41 S1-42 S1-63 S1-70 */
TEST(a_key_that_is_saved_reaches_its_server_only)
{
    struct stat st;
    pid_t pid;

    rig_begin();
    start(NULL);
    CHECK_INT(http("POST", "/api/servers",
                   "{\"name\":\"two\",\"entry\":{" EX ",\"env\":{\"GITHUB_TOKEN\":\"<token>\","
                   "\"A\":\"1\"}},\"secrets\":{\"GITHUB_TOKEN\":\" " KEY "\\n\"}}"),
              201);
    CHECK(!strstr(out, KEY));
    CHECK_STR(member("spec.auth_type"), "api_key");
    CHECK_STR(member("spec.env_vars.0.name"), "GITHUB_TOKEN");
    CHECK_STR(member("spec.env"), "{\"A\":\"***\"}");
    BECOMES("two", "connected");
    CHECK_STR(variable("two", "GITHUB_TOKEN"), KEY);
    CHECK_STR(variable("two", "A"), "1");
    CHECK_STR(file_text(key_file("")), KEY);
    CHECK_INT(stat(in_home(key_file("")), &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK_INT(stat(in_home("secrets"), &st), 0);
    CHECK_INT(st.st_mode & 0777, 0700);
    CHECK_INT(count_keys(), 1);
    check_told_nobody();

    CHECK_INT(http("GET", "/api/servers/two", ""), 200);
    pid = (pid_t)strtol(member("pid"), NULL, 10);
    CHECK_INT(http("DELETE", "/api/servers/two", ""), 200);
    CHECK_STR(state_of("two"), "");
    CHECK_INT(count_keys(), 0);
    WAIT_FOR(kill(pid, 0) < 0);
    rig_end();
}

TEST(a_new_key_is_used_at_once_and_what_is_not_said_stays)
{
    rig_begin();
    start(NULL);
    CHECK_INT(http("POST", "/api/servers",
                   "{\"name\":\"two\",\"entry\":{" EX "},\"secrets\":{\"A_KEY\":\"" KEY
                   "\",\"B_KEY\":\"b\"}}"),
              201);
    BECOMES("two", "connected");
    CHECK_STR(variable("two", "A_KEY"), KEY);
    CHECK_STR(variable("two", "B_KEY"), "b");
    CHECK_STR(file_text(key_file("_B_KEY")), "b");

    /* The same entry, another key. */
    CHECK_INT(http("PUT", "/api/servers/two",
                   "{" EX ",\"auth_type\":\"api_key\",\"env_vars\":[\"A_KEY\",\"B_KEY\"],"
                   "\"secrets\":{\"A_KEY\":\"" KEY2 "\"}}"),
              200);
    CHECK(!strstr(out, KEY2));
    WAIT_FOR(strcmp(variable("two", "A_KEY"), KEY2) == 0);
    CHECK_STR(variable("two", "B_KEY"), "b");
    BECOMES("two", "connected");
    check_told_nobody();

    /* Another entry, the same keys; whoever gives no id has the one that is there. */
    CHECK_INT(http("PUT", "/api/servers/two",
                   "{" EX ",\"timeout_s\":7,\"auth_type\":\"api_key\",\"env_vars\":[\"A_KEY\","
                   "\"B_KEY\"],\"uuid\":\"00000000-0000-4000-8000-000000000000\"}"),
              200);
    BECOMES("two", "connected");
    CHECK_STR(variable("two", "A_KEY"), KEY2);
    CHECK(!strstr(file_text("config.json"), "00000000-0000"));

    /* Forgotten. */
    CHECK_INT(http("PUT", "/api/servers/two",
                   "{" EX ",\"auth_type\":\"api_key\",\"env_vars\":[\"A_KEY\",\"B_KEY\"],"
                   "\"secrets\":{\"B_KEY\":null}}"),
              200);
    BECOMES("two", "error");
    CHECK_INT(http("GET", "/api/servers/two", ""), 200);
    CHECK_HAS(member("message"), "there is no key for B_KEY");
    CHECK_INT(count_keys(), 1);
    CHECK_INT(http("PUT", "/api/servers/two", "{" EX "}"), 200);
    BECOMES("two", "connected");
    CHECK_STR(variable("two", "A_KEY"), "");
    CHECK_INT(count_keys(), 0);
    rig_end();
}

TEST(whoever_takes_the_place_of_a_server_does_not_get_its_keys)
{
    rig_begin();
    start(NULL);
    CHECK_INT(http("POST", "/api/servers",
                   "{\"name\":\"two\",\"entry\":{" EX "},\"secrets\":{\"A_KEY\":\"" KEY "\"}}"),
              201);
    CHECK_INT(http("POST", "/api/servers",
                   "{\"name\":\"two\",\"force\":true,\"entry\":{" EX
                   "},\"secrets\":{\"A_KEY\":\"" KEY2 "\"}}"),
              201);
    WAIT_FOR(strcmp(variable("two", "A_KEY"), KEY2) == 0);
    CHECK_INT(count_keys(), 1);
    CHECK_INT(http("POST", "/api/servers", "{\"name\":\"two\",\"force\":true,\"entry\":{" EX "}}"),
              201);
    CHECK_INT(count_keys(), 0);
    rig_end();
}

/* S1-63 */
TEST(the_command_line_forgets_keys_too)
{
    rig_begin();
    start(NULL);
    CHECK_INT(http("POST", "/api/servers",
                   "{\"name\":\"two\",\"entry\":{" EX "},\"secrets\":{\"A_KEY\":\"" KEY "\"}}"),
              201);
    CHECK_INT(RUN("get", "two"), 0);
    CHECK(!strstr(out, KEY));
    CHECK_INT(daemon_stop(SIGTERM), 0);
    CHECK_INT(RUN("tools", "two"), 0); /* without a daemon the keys are there, too */
    CHECK_HAS(out, "echo");
    CHECK_INT(RUN("doctor", "two"), 0);
    CHECK(!strstr(out, KEY));
    CHECK_INT(RUN("remove", "two"), 0);
    CHECK_INT(count_keys(), 0);
    rig_end();
}

/* It says its key on stderr, twice, and dies. */
#define LOUD                                                                                       \
    "\"command\":\"sh\",\"args\":[\"-c\",\"echo env $PLAIN >&2; echo \\\"{k:'Bearer $PLAIN'}\\\" " \
    ">&2; exit 3\"],\"auto_reconnect\":false"

TEST(a_server_that_prints_its_key_tells_nobody)
{
    rig_begin();
    start(NULL);
    CHECK_INT(http("POST", "/api/servers",
                   "{\"name\":\"two\",\"entry\":{" LOUD "},\"secrets\":{\"PLAIN\":\"" KEY "\"}}"),
              201);
    BECOMES("two", "error");
    CHECK_INT(http("GET", "/api/servers/two", ""), 200);
    CHECK_HAS(member("message"), "env ***");
    CHECK_INT(http("GET", "/api/servers/two/logs", ""), 200);
    CHECK_HAS(out, "env ***");
    CHECK_HAS(out, "{k:'Bearer ***'}");
    CHECK_INT(http("GET", "/api/alerts", ""), 200);
    CHECK_HAS(out, "env ***");
    check_told_nobody();
    CHECK(RUN("logs", "two") == 0 && !strstr(out, "canary-"));
    CHECK(RUN("call", "two.x") != 0 && !strstr(err, "canary-"));
    CHECK(RUN("doctor", "two") != 0);
    CHECK_HAS(out, "env ***");
    CHECK(!strstr(out, "canary-"));
    CHECK(RUN("doctor", "two", "--json") != 0 && !strstr(out, "canary-"));
    CHECK_INT(http("POST", "/api/servers/test",
                   "{\"entry\":{" LOUD ",\"auth_type\":\"api_key\",\"env_vars\":[\"PLAIN\"]},"
                   "\"secrets\":{\"PLAIN\":\"" KEY "\"}}"),
              200);
    CHECK_STR(member("stderr.0"), "env ***");
    CHECK(!strstr(out, "canary-"));
    /* The entry need not say what the key is for. */
    CHECK_INT(http("POST", "/api/servers/test",
                   "{\"entry\":{" LOUD "},\"secrets\":{\"PLAIN\":\"open-sesame\"}}"),
              200);
    CHECK_STR(member("stderr.0"), "env ***");
    CHECK(!strstr(out, "open-sesame"));
    rig_end();
}

TEST(a_variable_with_the_key_of_one_server_is_not_seen_by_the_others)
{
    rig_begin();
    setenv("WIKI_TOKEN", "canary-wiki", 1);
    setenv("GIT_TOKEN", "canary-git", 1);
    setenv("NOTIFY_SOCKET", "@nobody", 1);
    setenv("PLAIN_WORD", "plain", 1);
    write_filled("config.json", "{\"mcpServers\":{",
                 "\"first\":{" EX "},\"wiki\":{" EX ",\"env\":{\"KEY\":\"${WIKI_TOKEN}\"}},"
                 "\"git\":{" EX ",\"auth_type\":\"api_key\",\"env_vars\":[\"GIT_TOKEN\"]},"
                 "\"few\":{" EX ",\"inherit_env\":\"safe\"}",
                 "}}");
    start(NULL);
    unsetenv("NOTIFY_SOCKET");
    BECOMES("first", "connected");
    BECOMES("wiki", "connected");
    BECOMES("git", "connected");
    BECOMES("few", "connected");
    CHECK_STR(variable("wiki", "KEY"), "canary-wiki");
    CHECK_STR(variable("wiki", "GIT_TOKEN"), "");
    CHECK_STR(variable("git", "GIT_TOKEN"), "canary-git");
    CHECK_STR(variable("git", "WIKI_TOKEN"), "");
    CHECK_STR(variable("first", "WIKI_TOKEN"), "");
    CHECK_STR(variable("first", "GIT_TOKEN"), "");
    CHECK_STR(variable("first", "PLAIN_WORD"), "plain");
    CHECK_STR(variable("first", "PATCHBAY_HOME"), "");
    CHECK_STR(variable("first", "NOTIFY_SOCKET"), "");
    CHECK(*variable("first", "PATCHBAY_MARK"));
    CHECK_STR(variable("few", "PLAIN_WORD"), "");
    CHECK(*variable("few", "PATH") && *variable("few", "HOME"));

    /* A setting for all that say nothing themselves, from their next start on. */
    CHECK_INT(http("PATCH", "/api/settings", "{\"inherit_env\":[\"PATH\"]}"), 200);
    CHECK_STR(member_of("settings", "inherit_env", "value"), "PATH");
    CHECK_STR(member("takes_effect"), "at once");
    CHECK_INT(RUN("disconnect", "first"), 0);
    CHECK_INT(RUN("connect", "first"), 0);
    WAIT_FOR(!*variable("first", "PLAIN_WORD") && *variable("first", "PATH"));
    CHECK_STR(variable("first", "HOME"), "");

    CHECK_INT(http("GET", "/api/servers/few", ""), 200);
    CHECK_STR(member("spec.inherit_env"), "safe");
    CHECK_INT(RUN("get", "few"), 0);
    CHECK_HAS(out, "inherits   safe\n");
    CHECK_INT(RUN("add", "--inherit-env", "HOME,PATH", "more", "--", "true"), 0);
    CHECK_HAS(file_text("config.json"), "\"inherit_env\":[\"HOME\",\"PATH\"]");
    CHECK_INT(RUN("add", "--inherit-env", "a b", "bad", "--", "true"), 1);
    CHECK_HAS(err, "--inherit-env: expected \"all\"");
    CHECK_INT(RUN("disable", "few"), 0); /* an edit keeps it */
    CHECK_HAS(file_text("config.json"), "\"inherit_env\":\"safe\"");
    CHECK_INT(RUN("doctor", "first"), 0);
    rig_end();
}

TEST(keys_must_be_well_formed)
{
    static const struct {
        const char *secrets, *told;
    } cases[] = {
        { "{\"a b\":\"" KEY "\"}", "secrets: the name of a key has only" },
        { "{\"../x\":\"" KEY "\"}", "secrets: the name of a key has only" },
        { "{\"A\":\"\"}", "secrets.A: expected a string" },
        { "{\"A\":\" \\n\"}", "secrets.A: expected a string" },
        { "{\"A\":1}", "secrets.A: expected a string" },
        { "{\"A\":\"" KEY "\\u0000\"}", "secrets.A: expected a string" },
        { "[\"" KEY "\"]", "secrets: expected an object" },
    };
    AUTO_FREE char *before = NULL;

    rig_begin();
    rig_config("\"two\":{" EX "}");
    before = mem_dup(file_text("config.json"));
    start(NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char body[512];

        snprintf(body, sizeof body, "{\"name\":\"x\",\"entry\":{\"command\":\"x\"},\"secrets\":%s}",
                 cases[i].secrets);
        CHECK_INT(http("POST", "/api/servers", body), 400);
        CHECK_HAS(member("message"), cases[i].told);
        CHECK(!strstr(out, "canary-"));
        CHECK_INT(http("POST", "/api/servers/test", body), 400);
        snprintf(body, sizeof body, "{\"command\":\"x\",\"secrets\":%s}", cases[i].secrets);
        CHECK_INT(http("PUT", "/api/servers/two", body), 400);
        CHECK(!strstr(out, "canary-"));
    }
    CHECK_INT(http("POST", "/api/servers",
                   "{\"name\":\"x\",\"entry\":{\"command\":\"x\",\"secrets\":{\"A\":\"b\"}}}"),
              400);
    CHECK_HAS(member("message"), "secrets stand beside entry");
    CHECK_STR(file_text("config.json"), before);
    CHECK_INT(count_keys(), 0);
    rig_end();
}

TEST(a_server_is_tried_with_keys_that_are_not_kept)
{
    rig_begin();
    start(NULL);
    CHECK_INT(
        http("POST", "/api/servers/test",
             "{\"entry\":{\"command\":\"sh\",\"args\":[\"-c\",\"echo $A_KEY | tr a-z A-Z >&2; "
             "exit 1\"],\"auth_type\":\"api_key\",\"env_vars\":[\"A_KEY\"]},\"secrets\":{"
             "\"A_KEY\":\"" KEY "\"}}"),
        200);
    CHECK_STR(member("ok"), "false");
    CHECK_STR(member("stderr.0"), "CANARY-1F0C");
    CHECK_INT(http("POST", "/api/servers/test",
                   "{\"entry\":{" EX ",\"auth_type\":\"api_key\",\"env_vars\":[\"A_KEY\"]}}"),
              200);
    CHECK_STR(member("ok"), "false");
    CHECK_STR(member("error"), "auth_required");
    CHECK_HAS(member("message"), "there is no key for A_KEY");
    CHECK_INT(count_keys(), 0);
    CHECK_STR(file_text("config.json"), "");

    /* One that is there is tried with the keys that it has. */
    CHECK_INT(http("POST", "/api/servers",
                   "{\"name\":\"two\",\"entry\":{" EX "},\"secrets\":{\"A_KEY\":\"" KEY "\"}}"),
              201);
    {
        char body[1024];

        snprintf(body, sizeof body, "{\"name\":\"two\",\"entry\":%s}", member("spec"));
        CHECK_INT(http("POST", "/api/servers/test", body), 200);
        CHECK_STR(member("ok"), "true");
    }
    rig_end();
}

/* The daemon's own door is one that wants a key. */
TEST(a_server_at_a_url_gets_its_key_as_a_header)
{
    static const struct {
        const char *secrets, *told;
    } cases[] = {
        { "{\"\":\"secret\"}", "it is this program itself" },
        { "{\"API_KEY\":\"secret\"}", "it is this program itself" },
        { "{\"Authorization\":\"Bearer secret\"}", "it is this program itself" },
        { "{\"\":\"wrong\"}", "" },
        { "{\"X-Key\":\"secret\"}", "" },
    };

    rig_begin();
    start(NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *url = strstr(file_text("daemon.err"), "http://127.0.0.1:");
        char body[512];

        snprintf(body, sizeof body,
                 "{\"entry\":{\"url\":\"%.*s/mcp\",\"auth_type\":\"api_key\"},\"secrets\":%s}",
                 (int)strcspn(url + 7, "/\n ") + 7, url, cases[i].secrets);
        CHECK_INT(http("POST", "/api/servers/test", body), 200);
        CHECK_STR(member("error"), *cases[i].told ? "connect_failed" : "auth_required");
        CHECK_HAS(member("message"), cases[i].told);
    }
    rig_end();
}
