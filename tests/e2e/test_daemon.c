/* The daemon: how it starts, what it serves, how it changes and how it ends. */
#include "cli_rig.h"
#include "face/rest/rest.h"

static const char *url(void)
{
    CHECK_INT(RUN("status", "--json"), 0);
    return member("url");
}

/* ---- status ---- */

TEST(status_tells_whether_a_daemon_runs_and_stop_ends_it)
{
    rig_begin();
    CHECK_INT(RUN("status"), 4);
    CHECK_HAS(err, "patchbay: no daemon listens on '");
    CHECK_HAS(err, "/run/patchbay.sock'; 'patchbay serve' starts one\n");
    CHECK_INT(RUN("status", "--json"), 4);
    CHECK_STR(out, "{\"running\":false}\n");
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    CHECK_HAS(file_text("daemon.err"), "patchbay 0.1.0: 1 server\n  MCP      http://127.0.0.1:");
    CHECK_HAS(file_text("daemon.err"), "/token\n"); /* where the token is, and not the token */
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    CHECK_INT(RUN("status"), 0);
    CHECK_HAS(out, "\nservers  1 total 1 connected\ntools    4\n");
    CHECK_INT(RUN("status", "--json"), 0);
    CHECK_INT(strtol(member("pid"), NULL, 10), rig_daemon_program.pid);
    CHECK_STR(member("servers.connected"), "1");
    CHECK_STR(member("files.0"), in_home("config.json"));
    CHECK_INT(RUN("status", "--stop"), 0);
    CHECK_INT(daemon_ended(), 0);
    CHECK_INT(access(in_home("run/patchbay.sock"), F_OK), -1);
    CHECK_INT(RUN("status"), 4);
    rig_end();
}

static int count_of(const char *text, const char *what)
{
    int n = 0;

    for (const char *p = text; (p = strstr(p, what)); p++)
        n++;
    return n;
}

/* Each server makes CATALOG_WARNINGS_MAX of them. */
static void start_warned(int servers)
{
    AUTO_BUF struct buf config = { 0 }, tools = { 0 };

    CHECK_INT(mkdir(in_home("script"), 0700), 0);
    write_file(in_home("script/initialize"),
               "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"
               "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}");
    for (int i = 0; i <= CATALOG_WARNINGS_MAX; i++)
        buf_printf(&tools, "%s{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}",
                   i ? "," : "{\"tools\":[");
    buf_str(&tools, "]}");
    write_file(in_home("script/tools_list"), buf_cstr(&tools));
    for (int i = 0; i < servers; i++)
        buf_printf(&config,
                   "%s\"s%d\":{\"command\":\"$BUILD/tests/e2e/script_server\",\"args\":["
                   "\"$HOME/script\"]}",
                   i ? "," : "", i);
    rig_config(buf_cstr(&config));
    rig_daemon(NULL);
}

TEST(warnings_of_the_daemon_reach_its_stderr_up_to_a_bound)
{
    enum { SERVERS = 10, MADE = SERVERS * CATALOG_WARNINGS_MAX };
    int n;

    rig_begin();
    start_warned(SERVERS);
    WAIT_FOR(strstr(file_text("daemon.err"), "patchbay: warning: server 's0': tool 't' is listed "
                                             "more than once: the first one counts\n"));
    for (int i = 0; i < SERVERS; i++) {
        char name[8];

        snprintf(name, sizeof name, "s%d", i);
        WAIT_FOR(strcmp(server_is(name, "state"), "connected") == 0);
    }
    n = count_of(file_text("daemon.err"), "patchbay: warning: ");
    CHECK(n >= DAEMON_LOG_BURST && n < MADE);
    rig_end();
}

TEST(verbs_that_need_a_daemon_say_so)
{
    static const char *const verbs[] = { "connect", "disconnect", "reconnect",
                                         "ping",    "cancel",     "logs" };

    rig_begin();
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        CHECK_INT(RUN(verbs[i], "x"), 4);
        CHECK_HAS(err, "'patchbay serve' starts one\n");
        CHECK_STR(out, "");
    }
    rig_end();
}

TEST(patchbay_without_a_verb_is_the_daemon)
{
    struct started s;

    rig_begin();
    setenv("PATCHBAY_TOKEN", "t", 1);
    start_with(&s, NULL, WORDS("serve", "--port", "0", "--no-socket"));
    WAIT_FOR(strstr(so_far(s.e), "  MCP "));
    CHECK_HAS(so_far(s.e), "  token    in PATCHBAY_TOKEN\n");
    CHECK(!strstr(so_far(s.e), "  socket "));
    kill(s.pid, SIGTERM);
    CHECK_INT(started_end(&s), 0);
    start_with(&s, NULL, (const char *const[]){ NULL });
    WAIT_FOR(strstr(so_far(s.e), "  socket ") || strstr(so_far(s.e), "7282"));
    kill(s.pid, SIGINT);
    /* another program may have its port: then it says so */
    if (started_end(&s) != 0)
        CHECK_HAS(err, "7282");
    rig_end();
}

TEST(a_second_daemon_says_that_another_one_runs_and_starts_nothing)
{
    rig_begin();
    rig_config("\"wit\":" WITNESS("honest", "heard"));
    rig_daemon(NULL);
    WAIT_FOR(strstr(file_text("heard"), "tools/list"));
    unlink(in_home("heard"));
    CHECK_INT(RUN("serve", "--port", "0"), 4);
    CHECK_HAS(err, "patchbay: another patchbay is running and listens on '");
    CHECK_HAS(err, "'; 'patchbay status' tells more\n");
    CHECK_STR(file_text("heard"), "");
    CHECK_STR(server_is("wit", "state"), "connected"); /* the first one goes on */
    rig_end();
}

TEST(the_socket_of_a_daemon_that_was_killed_is_replaced)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    CHECK_INT(daemon_stop(SIGKILL), -SIGKILL);
    CHECK_INT(access(in_home("run/patchbay.sock"), F_OK), 0);
    no_process_left(rig_mark, RIG_END_MS);
    CHECK_INT(RUN("status"), 4);
    rig_daemon(NULL);
    CHECK_INT(RUN("status"), 0);
    rig_end();
}

TEST(the_token_is_made_once_and_for_its_owner_alone)
{
    AUTO_FREE char *first = NULL;
    struct stat st;

    rig_begin();
    rig_daemon(NULL);
    first = mem_dup(file_text("token"));
    CHECK_INT(strlen(first), ID_CHARS);
    CHECK_INT(stat(in_home("token"), &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK_INT(stat(in_home("run/patchbay.sock"), &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK_INT(stat(in_home("run"), &st), 0);
    CHECK_INT(st.st_mode & 0777, 0700);
    CHECK_INT(daemon_stop(SIGTERM), 0);
    chmod(in_home("token"), 0644);
    rig_daemon(NULL);
    CHECK_STR(file_text("token"), first);
    CHECK_HAS(file_text("daemon.err"), "patchbay: warning: others could read '");
    CHECK_INT(stat(in_home("token"), &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    rig_end();
}

/* ---- one server ---- */

TEST(servers_are_connected_and_disconnected_by_hand)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE ",\"gone\":{\"command\":\"/no/such/program\"}");
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    CHECK_INT(RUN("disconnect", "ex"), 0);
    CHECK_STR(out, "ex  Disconnected\n");
    CHECK_INT(RUN("disconnect", "ex"), 0);
    CHECK_INT(RUN("call", "ex.echo", "text=1"), 4);
    CHECK_HAS(err, "server 'ex' is not connected (disconnected); 'patchbay reconnect ex' tries "
                   "again\n");
    CHECK_INT(RUN("tools", "ex"), 4);
    CHECK_STR(err, "patchbay: ex: Disconnected (try: patchbay reconnect ex)\n");
    CHECK_INT(RUN("connect", "ex"), 0);
    CHECK_STR(out, "ex  Connected, 4 tools\n");
    CHECK_INT(RUN("call", "ex.echo", "text=1"), 0);
    CHECK_INT(RUN("connect", "gone"), 4);
    CHECK_HAS(err, "Failed to spawn /no/such/program");
    CHECK_INT(RUN("connect", "exx"), 1);
    CHECK_HAS(err, "did you mean 'ex'?");
    CHECK_INT(RUN("connect", "ex", "--json"), 0);
    CHECK_STR(member("state"), "connected");
    CHECK_STR(member("spec.command"), built("patchbay-example-server"));
    rig_end();
}

/* S4-129 S4-130 */
TEST(a_server_that_is_connected_answers_a_ping_and_no_other_does)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    CHECK_INT(RUN("ping", "ex"), 0);
    CHECK_HAS(out, "ex  answered in ");
    CHECK_HAS(out, " ms\n");
    CHECK_INT(RUN("ping", "ex", "--json"), 0);
    CHECK_STR(member("status"), "ok");
    CHECK_STR(member("name"), "ex");
    CHECK(strtoul(member("took_ms"), NULL, 10) < 30000);
    CHECK_INT(RUN("disconnect", "ex"), 0);
    CHECK_INT(RUN("ping", "ex"), 4);
    CHECK_STR(out, "");
    CHECK_HAS(err, "Server 'ex' is not connected");
    CHECK_INT(RUN("ping", "exx"), 1);
    CHECK_HAS(err, "did you mean 'ex'?");
    rig_end();
}

TEST(reconnect_leaves_a_connected_server_alone_unless_it_is_forced)
{
    AUTO_FREE char *pid = NULL;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    pid = mem_dup(member_of("servers", "ex", "pid"));
    CHECK_INT(RUN("reconnect", "ex"), 0);
    CHECK_STR(server_is("ex", "pid"), pid);
    CHECK_INT(RUN("reconnect", "ex", "--force"), 0);
    CHECK_STR(out, "ex  Connected, 4 tools\n");
    CHECK(strcmp(server_is("ex", "pid"), pid) != 0);
    rig_end();
}

TEST(a_running_call_and_a_running_attempt_are_cancelled_by_name)
{
    struct started s;
    char id[64];

    rig_begin();
    rig_config("\"wit\":" WITNESS("stuck", "heard") ",\"mute\":" WITNESS("silent", "hears"));
    rig_daemon(NULL);
    start_with(&s, NULL, WORDS("call", "wit.who"));
    WAIT_FOR(strstr(file_text("heard"), "\"tools/call\""));
    CHECK_INT(RUN("status"), 0);
    CHECK_HAS(out, "running calls:\n");
    CHECK_HAS(out, "  wit  who\n");
    CHECK_INT(RUN("status", "--json"), 0);
    snprintf(id, sizeof id, "%s", member("calls.0.id"));
    CHECK_INT(RUN("cancel", id), 0);
    CHECK_STR(out, "cancelled\n");
    CHECK_INT(started_end(&s), 4);
    CHECK_HAS(err, "cancelled");
    CHECK_HAS(file_text("heard"), "\"notifications/cancelled\"");
    CHECK_INT(RUN("cancel", id), 1);
    CHECK_HAS(err, "is running; 'patchbay status' lists those that are");
    CHECK_STR(server_is("mute", "state"), "connecting");
    CHECK_INT(RUN("cancel", "mute", "--json"), 0);
    CHECK_STR(member("state"), "idle");
    CHECK_INT(RUN("cancel", "wit"), 1);
    CHECK_STR(err, "patchbay: server 'wit' is connected: there is no attempt to cancel\n");
    rig_end();
}

/* ---- changes of the config ---- */

static void check_reload(bool by_signal)
{
    AUTO_FREE char *kept = NULL, *changed = NULL;

    rig_begin();
    rig_config("\"kept\":" EXAMPLE ",\"changed\":" MOB("honest") ",\"removed\":" MOB("honest"));
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("removed", "state"), "connected") == 0 &&
             strcmp(server_is("changed", "state"), "connected") == 0 &&
             strcmp(server_is("kept", "state"), "connected") == 0);
    kept = mem_dup(server_is("kept", "pid"));
    changed = mem_dup(server_is("changed", "pid"));
    rig_config("\"kept\":" EXAMPLE ",\"changed\":" MOB("talkative") ",\"added\":" MOB("honest"));
    if (by_signal)
        kill(rig_daemon_program.pid, SIGHUP);
    WAIT_FOR(strcmp(server_is("added", "state"), "connected") == 0 &&
             strcmp(server_is("changed", "state"), "connected") == 0 &&
             strcmp(server_is("changed", "pid"), changed) != 0);
    CHECK_STR(server_is("kept", "pid"), kept);
    CHECK_STR(server_is("removed", "state"), "");
    CHECK_HAS(file_text("daemon.err"),
              "patchbay: config: 1 added, 1 removed, 1 restarted, 0 updated\n");
    write_file(in_home("config.json"), "{ broken");
    if (by_signal)
        kill(rig_daemon_program.pid, SIGHUP);
    WAIT_FOR(strstr(file_text("daemon.err"), "patchbay: the config is not taken: "));
    CHECK_STR(server_is("kept", "pid"), kept); /* nothing has changed */
    CHECK_STR(server_is("added", "state"), "connected");
    rig_end();
}

TEST(only_what_changed_in_the_config_is_restarted) { check_reload(false); }

TEST(sighup_reads_the_config_again) { check_reload(true); }

/* A client that starts the program may never read what it writes to standard error. */
TEST(nobody_reads_the_daemons_stderr_and_the_config_is_taken_all_the_same)
{
    enum { UNKNOWN = 80 };
    AUTO_BUF struct buf config = { 0 };
    AUTO_CLOSE int unread = -1;

    rig_begin();
    CHECK_INT(mkfifo(in_home("daemon.err"), 0600), 0);
    unread = open(in_home("daemon.err"), O_RDWR | O_CLOEXEC);
    CHECK(unread >= 0 && fcntl(unread, F_SETPIPE_SZ, 4096) == 4096);
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    buf_str(&config, "\"added\":{\"command\":\"$BUILD/patchbay-example-server\"");
    for (int i = 0; i < UNKNOWN; i++)
        buf_printf(&config, ",\"a member that only makes the line of a warning long %d\":1", i);
    buf_byte(&config, '}');
    rig_config(buf_cstr(&config));
    WAIT_FOR(strcmp(server_is("added", "state"), "connected") == 0);
    rig_end();
}

/* None of these waits: a verb ends when the daemon has taken what it changed. */
TEST(what_a_verb_changes_is_there_for_the_next_one)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    CHECK_INT(RUN("add", "mob", "--", built("tests/e2e/mob_server"), "honest", "m"), 0);
    CHECK_STR(err, "Next: patchbay tools mob\n");
    CHECK_INT(RUN("call", "mob.who", "n:=1"), 0);
    CHECK_STR(out, "m 1\n");
    CHECK_INT(RUN("disable", "ex"), 0);
    CHECK_STR(server_is("ex", "state"), "disabled");
    CHECK_INT(RUN("enable", "ex"), 0);
    CHECK_INT(RUN("call", "ex.echo", "text=hi"), 0);
    CHECK_INT(RUN("disable", "ex.echo"), 0);
    CHECK_INT(RUN("call", "ex.echo", "text=1"), 1);
    CHECK_INT(RUN("mode", "few", "--filter", "mob"), 0);
    CHECK_INT(RUN("mode", "few"), 0);
    CHECK_HAS(out, "mob.who\n");
    CHECK_INT(RUN("remove", "mob"), 0);
    CHECK_STR(err, "");
    CHECK_STR(server_is("mob", "state"), "");
    CHECK_INT(RUN("call", "mob.who", "n:=1"), 1);
    CHECK_HAS(err, "no server 'mob'");
    rig_end();
}

TEST(a_verb_says_why_the_daemon_did_not_take_what_it_changed)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    write_filled("config.json",
                 "{\n\"settings\":{\"connect_s\":-1},\n\"mcpServers\":{\"ex\":", EXAMPLE, "}}");
    CHECK_INT(RUN("add", "mob", "--", built("tests/e2e/mob_server"), "honest", "m"), 1);
    CHECK_HAS(out, "Added mob to ");
    CHECK_HAS(err, "config.json is changed, but the running daemon goes on with what it had: ");
    CHECK_HAS(err, "config.json:2: settings.connect_s: ");
    CHECK(!strstr(err, "Next:"));
    CHECK_INT(RUN("call", "ex.echo", "text=hi"), 0);
    CHECK_STR(out, "hi\n");
    rig_end();
}

TEST(a_daemon_that_reads_other_files_is_told_of)
{
    rig_begin();
    write_servers("other.json", "\"ex\":" EXAMPLE);
    rig_daemon(WORDS("--config", in_home("other.json")));
    CHECK_INT(RUN("add", "mob", "--", built("tests/e2e/mob_server"), "honest", "m"), 0);
    CHECK_HAS(err, "the running daemon does not read ");
    CHECK_HAS(err, "/config.json: it was started with --config\n");
    CHECK_INT(RUN("add", "-s", "project", "mob", "--", "cat"), 0);
    CHECK_STR(err, "Next: patchbay tools mob\n");
    rig_end();
}

TEST(a_daemon_that_was_killed_is_not_waited_for)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    CHECK_INT(daemon_stop(SIGKILL), -SIGKILL);
    CHECK_INT(RUN("disable", "ex"), 0);
    CHECK_STR(err, "");
    rig_end();
}

TEST(a_config_edited_into_nonsense_is_told_while_the_old_one_goes_on)
{
    char nonsense[512];

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    CHECK_INT(RUN("list"), 0);
    CHECK_STR(err, "");
    CHECK_INT(RUN("status"), 0);
    CHECK(!strstr(out, "refused"));

    write_file(in_home("config.json"), "{\n  \"mcpServers\": {\n    oops\n  }\n}\n");
    WAIT_FOR(RUN("status") == 0 && strstr(out, "refused"));
    snprintf(
        nonsense, sizeof nonsense,
        "%s: line 3, column 5: expected a key in double quotes; what was read before goes on\n",
        in_home("config.json"));
    CHECK_HAS(out, "refused  ");
    CHECK_HAS(out, nonsense);
    CHECK_INT(RUN("list"), 0);
    CHECK_HAS(out, "ex ");
    CHECK_HAS(err, "patchbay: the config is not taken: ");
    CHECK_HAS(err, nonsense);
    CHECK_INT(RUN("list", "--json"), 0);
    CHECK_HAS(member("config_error"), "config.json: line 3, column 5: expected a key");
    CHECK_INT(RUN("status", "--json"), 0);
    CHECK_HAS(member("config_error"), "config.json: line 3, column 5: expected a key");
    CHECK_INT(RUN("call", "ex.echo", "text=hi"), 0);
    CHECK_STR(out, "hi\n");

    /* Other nonsense: the newest is told. */
    write_file(in_home("config.json"), "{\"mcpServers\":{\n\"ex\":{\"command\":7}}}");
    WAIT_FOR(RUN("status") == 0 && strstr(out, "config.json:2: mcpServers.ex.command: "));

    rig_config("\"ex\":" EXAMPLE);
    WAIT_FOR(RUN("status") == 0 && !strstr(out, "refused"));
    CHECK_INT(RUN("list"), 0);
    CHECK_STR(err, "");
    CHECK_HAS(file_text("daemon.err"), "the config is taken again\n");
    rig_end();
}

/* ---- starting and stopping: the plan's tests ---- */

/* S4-158 S4-161 */
TEST(mcp_clients_alone_reads_the_default_file_and_a_missing_one_is_no_error)
{
    rig_begin();
    rig_daemon(WORDS("--mcp-clients"));
    CHECK_INT(RUN("list"), 0);
    CHECK_HAS(out, "No servers yet.");
    CHECK_INT(daemon_stop(SIGTERM), 0);
    write_filled("mcp_clients.json", "{\"servers\":{",
                 "\"ex\":{\"transport\":\"stdio\",\"command\":\"$BUILD/patchbay-example-server\"}",
                 "}}");
    rig_daemon(WORDS("--mcp-clients"));
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    CHECK_INT(RUN("call", "ex.echo", "text=1"), 0);
    rig_end();
}

/* S4-157: nobody asked for them, so they are not ours to start. */
TEST(without_flags_servers_of_the_clients_file_are_left_alone)
{
    rig_begin();
    write_filled("mcp_clients.json", "{\"servers\":{",
                 "\"ex\":{\"transport\":\"stdio\",\"command\":\"$BUILD/patchbay-example-server\"}",
                 "}}");
    rig_daemon(NULL);
    CHECK_INT(RUN("list"), 0);
    CHECK_HAS(out, "No servers yet.");
    CHECK_INT(RUN("call", "ex.echo", "text=1"), 1);
    rig_end();
}

/* S4-162 */
TEST(a_clients_file_that_was_named_and_is_missing_is_an_error)
{
    rig_begin();
    CHECK_INT(RUN("serve", "--port", "0", "--mcp-clients-config", in_home("nowhere.json")), 1);
    CHECK_HAS(err, in_home("nowhere.json"));
    CHECK_HAS(err, "there is no such config file");
    rig_end();
}

/* S4-159 S4-216 S4-235 S4-236 */
TEST(an_inline_server_is_connected_at_start_and_gone_at_the_next)
{
    static const char file[] = "{\"mcpServers\":{}}";
    char inline_server[300];

    rig_begin();
    rig_config("");
    snprintf(inline_server, sizeof inline_server, "ex:%s", built("patchbay-example-server"));
    rig_daemon(WORDS("--mcp-client", inline_server));
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    CHECK_INT(RUN("call", "ex.echo", "text=inline"), 0);
    CHECK_STR(out, "inline\n");
    CHECK_STR(file_text("config.json"), file);
    CHECK_INT(daemon_stop(SIGTERM), 0);
    CHECK_STR(file_text("config.json"), file);
    rig_daemon(NULL);
    CHECK_INT(RUN("list"), 0);
    CHECK_HAS(out, "No servers yet.");
    rig_end();
}

/* S4-205 S4-207 S4-213 */
TEST(servers_of_a_clients_file_are_connected_at_start_and_each_is_called)
{
    rig_begin();
    write_filled("clients.json", "{\"servers\":{",
                 "\"ex\":{\"transport\":\"stdio\",\"command\":\"$BUILD/patchbay-example-server\"},"
                 "\"mob\":{\"transport\":\"stdio\",\"command\":\"$BUILD/tests/e2e/mob_server\","
                 "\"args\":[\"honest\",\"m\"]}",
                 "}}");
    rig_daemon(WORDS("--mcp-clients-config", in_home("clients.json")));
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0 &&
             strcmp(server_is("mob", "state"), "connected") == 0);
    CHECK_INT(RUN("tools", "ex", "--json"), 0);
    CHECK_STR(member_of("tools", "ex/echo", "server"), "ex");
    CHECK_STR(member_of("tools", "mob/who", "server"), "");
    CHECK_INT(RUN("call", "ex/echo", "text=1"), 0);
    CHECK_INT(RUN("call", "mob/who", "n:=2"), 0);
    CHECK_STR(out, "m 2\n");
    rig_end();
}

/* One that speaks HTTP+SSE: another daemon of ours, in a home of its own. */
struct other {
    struct started s;
    char url[200];
};

static void other_begin(struct other *o)
{
    const char *at;

    mkdir(in_home("other"), 0700);
    setenv("PATCHBAY_HOME", in_home("other"), 1);
    write_servers("other/config.json", "\"ex\":" EXAMPLE);
    start_with(&o->s, NULL, WORDS("serve", "--port", "0", "--no-token"));
    setenv("PATCHBAY_HOME", home, 1);
    WAIT_FOR(strstr(so_far(o->s.e), "  config "));
    at = strstr(so_far(o->s.e), "http://");
    snprintf(o->url, sizeof o->url, "%.*s", (int)strcspn(at, "\n") - 4, at);
}

static void other_end(struct other *o)
{
    kill(o->s.pid, SIGTERM);
    CHECK_INT(started_end(&o->s), 0);
}

/* S4-206 S4-217 */
TEST(an_inline_sse_server_is_connected_at_start_and_called)
{
    char inline_server[300];
    struct other o;

    rig_begin();
    other_begin(&o);
    snprintf(inline_server, sizeof inline_server, "sse:%s/sse", o.url);
    rig_daemon(WORDS("--mcp-client", inline_server));
    WAIT_FOR(strcmp(server_is("sse", "state"), "connected") == 0);
    CHECK_STR(member_of("servers", "sse", "transport"), "sse");
    CHECK_INT(RUN("tools", "sse"), 0);
    CHECK_HAS(out, "sse.ex__echo");
    CHECK_INT(RUN("call", "sse.ex__echo", "text=over sse"), 0);
    CHECK_STR(out, "over sse\n");
    CHECK_INT(daemon_stop(SIGTERM), 0);
    other_end(&o);
    rig_end();
}

/* S4-208 */
TEST(a_server_that_is_killed_is_disconnected_and_comes_back_by_reconnect)
{
    rig_begin();
    rig_config("\"ex\":{\"command\":\"$BUILD/patchbay-example-server\",\"auto_reconnect\":false}");
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    kill((pid_t)strtol(server_is("ex", "pid"), NULL, 10), SIGKILL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "disconnected") == 0);
    CHECK_INT(RUN("call", "ex.echo", "text=1"), 4);
    CHECK_INT(RUN("reconnect", "ex"), 0);
    CHECK_INT(RUN("call", "ex.echo", "text=back"), 0);
    CHECK_STR(out, "back\n");
    rig_end();
}

/* S4-210 */
TEST(a_tool_is_called_through_the_external_tools_of_our_own_server)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    CHECK_INT(RUN("call", "external_call_tool", "tool=ex/echo", "arguments:={\"text\":\"far\"}",
                  "--", built("patchbay"), "mcp", "--expose", "external"),
              0);
    CHECK_STR(member("content.0.text"), "far");
    CHECK_INT(RUN("tools", "--json", "--", built("patchbay"), "mcp", "--expose", "external"), 0);
    CHECK_HAS(out, "external_list_servers");
    CHECK(!strstr(out, "ex__echo"));
    rig_end();
}

/* S4-160 S4-214 */
TEST(stopping_the_daemon_ends_every_server_and_every_call)
{
    static const int signals[] = { SIGTERM, SIGINT };

    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        struct started s;

        rig_begin();
        rig_config("\"wit\":" WITNESS("stuck", "heard") ",\"ex\":" EXAMPLE ",\"stays\":" MOB(
            "noterm") ",\"child\":" MOB("setsid"));
        rig_daemon(NULL);
        start_with(&s, NULL, WORDS("call", "wit.who"));
        WAIT_FOR(strstr(file_text("heard"), "\"tools/call\""));
        CHECK_INT(daemon_stop(signals[i]), 0);
        CHECK_INT(started_end(&s), 5);
        CHECK_STR(err, "patchbay: Request cancelled\n");
        no_process_left(rig_mark, 0);
        rig_end();
    }
}

/* ---- "patchbay mcp" ---- */

#define INIT                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":" \
    "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n" \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define LIST "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n"

TEST(mcp_is_a_pipe_to_the_daemon_and_answers_what_it_was_asked)
{
    rig_begin();
    rig_config("\"wit\":" WITNESS("honest", "heard") ",\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("wit", "state"), "connected") == 0);
    unlink(in_home("heard"));
    CHECK_INT(run_with(INIT LIST, WORDS("mcp")), 0);
    CHECK_HAS(out, "\"serverInfo\":{\"name\":\"Patchbay\"");
    CHECK_HAS(out, "\"name\":\"wit__who\"");
    CHECK_STR(file_text("heard"), ""); /* it is the daemon's server that is shown */
    CHECK_INT(run_with(INIT LIST, WORDS("mcp", "--server", "wit")), 0);
    CHECK_HAS(out, "\"name\":\"who\"");
    CHECK_INT(run_with(INIT LIST, WORDS("mcp", "--server", "wat")), 1);
    CHECK_HAS(err, "wat");
    CHECK_STR(out, "");
    CHECK_INT(run_with(INIT LIST, WORDS("mcp", "--mode", "none-such")), 1);
    CHECK_STR(out, "");
    rig_end();
}

TEST(mcp_without_a_daemon_starts_the_servers_itself_and_ends_with_its_client)
{
    struct program p;
    AUTO_FREE char *hello = NULL;
    AUTO_FREE char *tools = NULL;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    program_start(&p, WORDS("patchbay", "mcp"), in_home("mcp.err"));
    program_say(&p, INIT LIST);
    hello = program_hear(&p);
    CHECK_HAS(hello, "\"serverInfo\":{\"name\":\"Patchbay\"");
    tools = program_hear(&p); /* waits for the server, which is still starting */
    CHECK_HAS(tools, "\"name\":\"ex__echo\"");
    program_close_input(&p);
    CHECK_INT(program_end(&p, RIG_END_MS), 0);
    CHECK_STR(file_text("mcp.err"), "");
    CHECK_INT(run_with(INIT LIST, WORDS("mcp", "--server", "exx")), 1);
    CHECK_HAS(err, "exx");
    CHECK_STR(out, "");
    no_process_left(rig_mark, 1000);
    rig_end();
}

/* Line ends between tokens are JSON's, but would end a message to a server on stdio: one request
 * must not become two. */
TEST(a_client_cannot_slip_messages_of_its_own_to_a_server)
{
    static const char arguments[] =
        "{\"a\":\n{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"secret\"}}\r\n}";
    struct other o;
    char to[300];

    rig_begin();
    other_begin(&o);
    other_end(&o);
    write_servers("other/config.json", "\"wit\":" WITNESS("honest", "heard"));
    setenv("PATCHBAY_HOME", in_home("other"), 1);
    start_with(&o.s, NULL, WORDS("serve", "--port", "0", "--no-token"));
    setenv("PATCHBAY_HOME", home, 1);
    WAIT_FOR(strstr(so_far(o.s.e), "  config "));
    snprintf(to, sizeof to, "%.*s", (int)strcspn(strstr(so_far(o.s.e), "http://"), "\n"),
             strstr(so_far(o.s.e), "http://"));
    CHECK_INT(RUN("call", "wit__who", arguments, "--url", to), 0);
    CHECK(!strstr(file_text("heard"), "\n{\"jsonrpc\":\"2.0\",\"id\":77"));
    CHECK_HAS(file_text("heard"), "\"secret\"");
    other_end(&o);
    rig_end();
}

TEST(the_daemon_serves_mcp_over_http_to_those_with_the_token)
{
    char to[300], token[100];

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    snprintf(token, sizeof token, "Authorization: Bearer %s", file_text("token"));
    snprintf(to, sizeof to, "%s/mcp", url());
    CHECK_INT(RUN("call", "ex__echo", "text=1", "--url", to, "-H", token), 0);
    CHECK_STR(out, "1\n");
    CHECK_INT(RUN("call", "ex__echo", "text=1", "--url", to), 3);
    snprintf(to, sizeof to, "%s/mcp/exx", url());
    CHECK_INT(RUN("tools", "--url", to, "-H", token), 5);
    CHECK_HAS(err, "there is no server 'exx'");
    rig_end();
}
