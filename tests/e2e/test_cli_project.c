/* The servers of a project: where they are looked for, who is asked about them, and where they are
 * used. */
#include "project_rig.h"

static void run_in(const char *dir)
{
    static char path[256];

    snprintf(path, sizeof path, "%s", temp_path(dir));
    home = path;
}

/* ---- the question ---- */

TEST(a_person_sees_what_there_is_and_is_asked_once)
{
    begin();
    user("");
    project(
        "\"mob\":{\"command\":\"$BUILD/tests/e2e/mob_server\",\"args\":[\"honest\",\"two words\",\"a'b\"],"
        "\"env\":{\"API_KEY\":\"sekrit-1\",\"B\":\"${MINE}\"}},\"wiki\":{\"url\":"
        "\"https://wiki.example.com/mcp?x=1\",\"headers\":{\"X-Key\":\"sekrit-2\"},"
        "\"enabled\":false}");
    setenv("MINE", "sekrit-3", 1);
    CHECK_INT(talk_on_terminal(YES, WORDS("tools")), 0);
    CHECK_HAS(out, "/proj/.mcp.json has 2 servers:\r\nmob\r\n  stdio      ");
    CHECK_HAS(out, "/tests/e2e/mob_server honest 'two words' 'a'\\''b'\r\n");
    /* What is hidden cannot be judged: a variable can make a program load another. */
    CHECK_HAS(out, "  env        API_KEY=sekrit-1\r\n  env        B=${MINE}\r\n");
    CHECK_HAS(out, "wiki (disabled)\r\n  http       https://wiki.example.com/mcp?x=1\r\n");
    CHECK_HAS(out, "  headers    X-Key: sekrit-2\r\n");
    CHECK_HAS(out, "Variables of yours that are filled in: MINE\r\n" QUESTION);
    HAS_NOT(out, "sekrit-3");
    CHECK_HAS(out, "mob.who");
    CHECK_INT(temp_mode(temp_path("home/trusted.json")), 0600);
    HAS_NOT(temp_read(temp_path("home/trusted.json")), "sekrit");

    CHECK_INT(talk_on_terminal(NOBODY, WORDS("tools", "mob")), 0);
    HAS_NOT(out, QUESTION);
    CHECK_INT(RUN("call", "mob.who"), 0);
    CHECK_STR(err, "");
    rig_end();
}

TEST(no_is_remembered_and_no_answer_is_none)
{
    begin();
    user("\"mine\":" EXAMPLE);
    project("\"ex\":" EXAMPLE);
    CHECK_INT(
        talk_on_terminal(((const struct talk[]){ { QUESTION, "\004" }, { 0 } }), WORDS("tools")),
        0);
    CHECK_HAS(out, "mine.echo");
    HAS_NOT(out, "ex.echo");
    CHECK_INT(
        talk_on_terminal(((const struct talk[]){ { QUESTION, "\003" }, { 0 } }), WORDS("tools")),
        130);
    CHECK_INT(talk_on_terminal(NO, WORDS("tools")), 0);
    HAS_NOT(out, "ex.echo");
    CHECK_INT(talk_on_terminal(NOBODY, WORDS("tools")), 0);
    HAS_NOT(out, ".mcp.json");
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "mine.echo");
    HAS_NOT(err, ".mcp.json");
    CHECK_INT(RUN("call", "ex.echo", "text=hi"), 1);
    CHECK_HAS(err, "'ex' is a server of ");
    CHECK_HAS(err, "/proj/.mcp.json, which you said no to; 'patchbay trust' asks again\n");
    CHECK_HAS(err, "there is no server 'ex'");
    /* What is not about it goes on as if it were not there. */
    CHECK_INT(RUN("call", "mine.echo", "text=hi"), 0);
    CHECK_STR(err, "");
    rig_end();
}

TEST(another_content_is_asked_about_again_and_an_old_answer_stays)
{
    begin();
    project("\"ex\":" EXAMPLE);
    CHECK_INT(talk_on_terminal(YES, WORDS("tools")), 0);
    HAS_NOT(out, "has changed");
    project("\"ex\":" EXAMPLE ",\"other\":" MOB("honest"));
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(out, "");
    CHECK_HAS(err, "/proj/.mcp.json (2 servers) is not read: it has changed since you were asked ");
    CHECK_INT(talk_on_terminal(NO, WORDS("tools")), 0);
    CHECK_HAS(out, "/proj/.mcp.json has changed since you were asked about it, and has 2 servers:");
    HAS_NOT(out, "ex.echo");
    project("\"ex\":" EXAMPLE); /* as when a branch is changed and changed back */
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "ex.echo");
    HAS_NOT(err, ".mcp.json");
    rig_end();
}

TEST(without_a_terminal_nobody_is_asked_and_nothing_is_read)
{
    begin();
    project("\"ex\":{\"command\":\"touch\",\"args\":[\"$HOME/pwned\"]}");
    CHECK_INT(RUN("list"), 0);
    CHECK_HAS(out, "No servers yet");
    CHECK_HAS(err, "/proj/.mcp.json (1 server) " UNTRUSTED);
    CHECK_INT(strchr(err, '\n') - err + 1, strlen(err)); /* one line */
    CHECK_INT(RUN("list", "--json"), 0);
    CHECK_HAS(json_member(err, "note.message"), UNTRUSTED);
    CHECK_STR(out, "{\"servers\":[]}\n");
    CHECK_INT(RUN("list", "-q"), 0);
    CHECK_STR(err, "");
    CHECK_INT(RUN("list", "--no-project"), 0);
    CHECK_STR(err, "");
    CHECK_INT(RUN("doctor"), 0);
    CHECK_HAS(err, UNTRUSTED);
    CHECK_INT(RUN("doctor", "ex"), 1);
    CHECK_HAS(err, UNTRUSTED);
    CHECK_INT(RUN("call", "ex.x", "--json"), 1);
    CHECK_HAS(err, "\"code\":\"not_found\"");
    /* A verb that names another server has nothing to do with it. */
    CHECK_INT(RUN("call", "mine.x"), 1);
    HAS_NOT(err, ".mcp.json");
    CHECK_INT(RUN("completion", "--", "call", "e"), 0);
    CHECK_STR(out, "");
    CHECK_STR(err, "");
    CHECK_INT(access(temp_path("proj/pwned"), F_OK), -1);
    CHECK_INT(access(temp_path("home/trusted.json"), F_OK), -1);
    rig_end();
}

TEST(nothing_in_the_file_moves_the_terminal)
{
#define ESCAPES "\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202e\\b"
    begin();
    project("\"x\":{\"command\":\"/no/" ESCAPES "\",\"args\":[\"" ESCAPES "\"],\"env\":{\"A" ESCAPES
            "\":\"1\"},\"cwd\":\"/" ESCAPES "\",\"inherit_env\":[\"B\"]},\"y\":{\"url\":\"http://h/"
            "\\u202e\",\"auth_type\":\"keyfile\",\"keyfile_path\":\"/k" ESCAPES
            "\",\"env_vars\":[{\"name\":\"K" ESCAPES "\"}]}");
    CHECK_INT(talk_on_terminal(NO, WORDS("trust")), 1);
    CHECK_HAS(out, "  key file   /k?]0;owned?");
    CHECK_HAS(out, "  directory  /?]0;owned?");
    HAS_NOT(out, "\033");
    HAS_NOT(out, "\302\233");
    HAS_NOT(out, "\342\200\256");
    rig_end();
#undef ESCAPES
}

/* ---- where ---- */

TEST(the_file_is_found_above_up_to_the_repository)
{
    begin();
    project("\"ex\":" EXAMPLE);
    run_in("proj/sub/deep");
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(err, UNTRUSTED);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "ex.echo");
    /* The directory that holds .git is the last. */
    CHECK_INT(mkdir(temp_path("proj/.git"), 0700), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "ex.echo");
    write_file(temp_path("proj/sub/.git"), "gitdir: elsewhere\n");
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(out, "");
    CHECK_STR(err, "");
    CHECK_INT(RUN("trust", "--yes"), 1);
    CHECK_HAS(err, "there is no .mcp.json in '.' or above it, up to the directory that holds .git");
    /* The nearest counts. */
    write_servers("proj/sub/.mcp.json", "\"near\":" EXAMPLE);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "near.echo");
    HAS_NOT(out, "ex.echo");
    rig_end();
}

TEST(the_home_directory_is_no_project_nor_what_lies_above_it)
{
    begin();
    project("\"ex\":" EXAMPLE);
    setenv("HOME", temp_path("proj"), 1);
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(err, "");
    CHECK_INT(RUN("trust", "--yes"), 1);
    run_in("proj/sub/deep"); /* in it, and no project of its own */
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(err, "");
    run_in("proj");
    setenv("HOME", temp_path("proj/sub/deep"), 1);
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(err, "");
    CHECK_INT(RUN("trust", "--yes"), 1);
    CHECK_HAS(err, "'.' is your home directory or above it, and so no project; --config names a ");
    /* It says how what is written there is used. */
    CHECK_INT(RUN("add", "-s", "project", "b", "--", "cat"), 0);
    CHECK_STR(err, "Next: patchbay tools b --config .mcp.json\n");
    CHECK_INT(answers(), 0);
    rig_end();
}

TEST(what_is_relative_is_meant_from_the_directory_of_the_file)
{
    begin();
    CHECK_INT(symlink(built("patchbay-example-server"), temp_path("proj/server")), 0);
    CHECK_INT(symlink(built("patchbay-example-server"), temp_path("proj/sub/other")), 0);
    project("\"a\":{\"command\":\"./server\"},\"b\":{\"command\":\"./other\",\"cwd\":\"sub\"}");
    run_in("proj/sub/deep");
    CHECK_INT(RUN("trust", "--yes"), 0);
    CHECK_HAS(out, "/proj/sub\n");
    CHECK_INT(RUN("call", "a.echo", "text=1"), 0);
    CHECK_STR(out, "1\n");
    CHECK_INT(RUN("call", "b.echo", "text=2"), 0);
    CHECK_STR(out, "2\n");
    CHECK_INT(RUN("doctor", "a", "b"), 0);
    rig_end();
}

/* ---- whose ---- */

TEST(a_file_that_others_can_write_is_not_read)
{
    begin();
    project("\"ex\":" EXAMPLE);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(chmod(temp_path("proj/.mcp.json"), 0602), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(out, "");
    CHECK_HAS(err, "warning: ");
    CHECK_HAS(err, "/proj/.mcp.json is not read: others can write this file, and so have any ");
    CHECK_INT(talk_on_terminal(NOBODY, WORDS("tools")), 0);
    CHECK_HAS(out, "others can write this file");
    CHECK_INT(RUN("trust", "--yes"), 1);
    CHECK_HAS(err, "others can write this file");
    CHECK_INT(chmod(temp_path("proj/.mcp.json"), 0644), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "ex.echo");
    rig_end();
}

TEST(a_link_is_followed_to_what_is_ours_and_no_pipe_is_waited_for)
{
    begin();
    write_servers("elsewhere.json", "\"ex\":" EXAMPLE);
    CHECK_INT(symlink(temp_path("elsewhere.json"), temp_path("proj/.mcp.json")), 0);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "ex.echo");
    CHECK_INT(chmod(temp_path("elsewhere.json"), 0606), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(err, "others can write this file");
    unlink(temp_path("proj/.mcp.json"));
    CHECK_INT(mkfifo(temp_path("proj/.mcp.json"), 0600), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(err, "/proj/.mcp.json is not read: it is no file");
    unlink(temp_path("proj/.mcp.json"));
    CHECK_INT(symlink("nowhere", temp_path("proj/.mcp.json")), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(err, "/proj/.mcp.json is not read");
    rig_end();
}

TEST(a_file_or_link_of_another_user_is_not_read)
{
    enum { SOMEBODY = 54321 };

    if (geteuid() != 0)
        TAP_SKIP("only root can give files away");
    begin();
    project("\"ex\":" EXAMPLE);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(chown(temp_path("proj/.mcp.json"), SOMEBODY, 0), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(out, "");
    CHECK_HAS(err, "/proj/.mcp.json is not read: this file is another user's, who can have any ");
    /* A link does not make it ours, and another's link does not make ours his. */
    CHECK_INT(rename(temp_path("proj/.mcp.json"), temp_path("his.json")), 0);
    CHECK_INT(symlink(temp_path("his.json"), temp_path("proj/.mcp.json")), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(err, "this file is another user's");
    CHECK_INT(chown(temp_path("his.json"), 0, 0), 0);
    CHECK_INT(lchown(temp_path("proj/.mcp.json"), SOMEBODY, 0), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(err, "it is a link that another user has made");
    CHECK_STR(out, "");
    rig_end();
}

/* ---- what counts of it ---- */

TEST(only_servers_are_taken)
{
    begin();
    write_filled("proj/.mcp.json", "{\"mcpServers\":{",
                 "\"ex\":" EXAMPLE "},\"policy\":{\"rules\":[]},\"settings\":{\"timeout_s\":1},"
                 "\"modes\":{\"m\":{\"filter\":\"all\"}}",
                 "}");
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "ex.echo");
    CHECK_HAS(err, ": policy: a project has only servers, ignoring\n");
    CHECK_HAS(err, ": settings: a project has only servers, ignoring\n");
    CHECK_HAS(err, ": modes: a project has only servers, ignoring\n");
    CHECK_INT(RUN("tools", "--mode", "m", "-q"), 1);
    /* Nor is what opens the daemon. */
    project("\"ex\":{\"command\":\"$BUILD/patchbay-example-server\",\"env\":{\"T\":"
            "\"${PATCHBAY_TOKEN}\"}}");
    setenv("PATCHBAY_TOKEN", "sekrit", 1);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(RUN("tools", "--refresh"), 0);
    CHECK_HAS(err, "PATCHBAY_TOKEN");
    CHECK_HAS(err, "not set");
    rig_end();
}

/* Keys lie under ids: a project that names one would be given what is kept there. */
TEST(a_project_does_not_say_whose_keys_its_servers_get)
{
    static const char key[] = "home/secrets/mcp_8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90_API_KEY.key";

    begin();
    CHECK(mkdir(temp_path("home/secrets"), 0700) == 0);
    temp_write(temp_path(key), "correct-horse-battery");
    CHECK_INT(chmod(temp_path(key), 0600), 0);
    write_filled("proj/.mcp.json", "{\"mcpServers\":{",
                 "\"ex\":{\"command\":\"sh\",\"args\":[\"-c\",\"echo key=$API_KEY "
                 ">$HOME/seen; exec $BUILD/patchbay-example-server\"],\"uuid\":"
                 "\"8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90\",\"auth_type\":\"api_key\",\"env_vars\":"
                 "[{\"name\":\"API_KEY\"}]}",
                 "}}");
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    RUN("tools");
    CHECK_INT(access(temp_path("proj/seen"), F_OK), -1); /* it has no key, and is not started */
    CHECK_HAS(err, "its id is not taken from a project's file");
    rig_end();
}

TEST(one_that_is_not_understood_is_told_and_in_nobodys_way)
{
    begin();
    user("\"mine\":" EXAMPLE);
    temp_write(temp_path("proj/.mcp.json"), "{\"mcpServers\":{\"a\":{}}}");
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "mine.echo");
    CHECK_HAS(err, "the servers of this project are not read: ");
    CHECK_HAS(err, "/proj/.mcp.json:1: mcpServers.a: expected \"command\"");
    CHECK_INT(RUN("trust", "--yes"), 1);
    CHECK_HAS(err, "mcpServers.a: expected \"command\"");
    temp_write(temp_path("proj/.mcp.json"), "{\"mcpServers\":{}}");
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(err, "patchbay: mine: remembered 0 s ago; --refresh asks the server\n");
    CHECK_INT(RUN("trust", "--yes"), 1);
    CHECK_HAS(err, "/proj/.mcp.json has no servers");
    rig_end();
}

TEST(a_server_of_the_project_goes_before_one_of_the_same_name)
{
    begin();
    user("\"ex\":" MOB("honest") ",\"mine\":" MOB("honest"));
    project("\"ex\":" EXAMPLE);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(RUN("tools", "ex"), 0);
    CHECK_HAS(out, "ex.echo");
    CHECK_HAS(err, "patchbay: 'ex' is the server of ");
    CHECK_HAS(err, "/proj/.mcp.json:1 here; that of ");
    CHECK_HAS(err, "/home/config.json:1 is not used\n");
    CHECK_INT(RUN("tools", "--json"), 0);
    CHECK_HAS(out, "\"name\":\"ex/echo\"");
    CHECK_HAS(out, "\"name\":\"mine/who\"");
    HAS_NOT(out, "\"name\":\"ex/who\"");
    CHECK_HAS(err, "{\"note\":{\"message\":\"'ex' is the server of ");
    CHECK_INT(RUN("doctor", "ex"), 0);
    CHECK_HAS(err, "'ex' is the server of ");
    /* Not told where it does not matter. */
    CHECK_INT(RUN("call", "mine.who"), 0);
    CHECK_STR(err, "");
    CHECK_INT(RUN("call", "ex.who", "--no-project"), 0);
    CHECK_STR(err, "");
    CHECK_INT(RUN("tools", "ex", "--config", in_home("home/config.json")), 0);
    CHECK_HAS(out, "ex.who");
    /* What is written for the person's own servers is not about the project's. */
    CHECK_INT(RUN("disable", "ex.who"), 0);
    CHECK_HAS(temp_read(temp_path("home/config.json")), "\"disabledTools\"");
    rig_end();
}

TEST(shells_are_told_of_servers_that_are_trusted)
{
    begin();
    project("\"ex\":" EXAMPLE);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(RUN("completion", "--", "tools", "e"), 0);
    CHECK_HAS(out, "ex\t");
    CHECK_INT(RUN("completion", "--", "tools", "--no-project", "e"), 0);
    CHECK_STR(out, "");
    rig_end();
}

/* ---- with a daemon ---- */

TEST(a_running_daemon_is_asked_for_all_but_the_projects_servers)
{
    begin();
    user("\"mine\":" WITNESS("honest", "heard"));
    project("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    WAIT_FOR(RUN("list", "--json", "--no-project") == 0 &&
             strcmp(member_of("servers", "mine", "state"), "connected") == 0);
    /* Not trusted: the daemon answers, and it is told. */
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "mine.who");
    CHECK_HAS(err, UNTRUSTED);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    /* One of the daemon's: no process is started for it. */
    unlink(temp_path("proj/heard"));
    CHECK_INT(RUN("call", "mine.who"), 0);
    CHECK_STR(err, "");
    HAS_NOT(file_text("proj/heard"), "initialize");
    CHECK_INT(RUN("list", "--json", "--no-project"), 0);
    CHECK_STR(member_of("servers", "mine", "calls"), "1");
    CHECK_INT(RUN("call", "mine__who"), 0);
    HAS_NOT(file_text("proj/heard"), "initialize");
    /* One of the project's, which the daemon does not know. */
    CHECK_INT(RUN("call", "ex.echo", "text=hi"), 0);
    CHECK_STR(out, "hi\n");
    CHECK_INT(RUN("call", "ex__echo", "text=ho"), 0);
    CHECK_STR(out, "ho\n");
    CHECK_INT(RUN("call", "ex.echo", "text=hi", "--no-project"), 1);
    /* All of them. */
    CHECK_INT(RUN("list", "--json"), 0);
    CHECK_STR(member_of("servers", "ex", "state"), "connected");
    CHECK_STR(member_of("servers", "mine", "state"), "connected");
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "ex.echo");
    CHECK_HAS(out, "mine.who");
    /* What it is about itself. */
    CHECK_INT(RUN("status", "--json"), 0);
    HAS_NOT(out, ".mcp.json");
    CHECK_INT(RUN("serve", "--no-project"), 1);
    rig_end();
}

/* ---- mcp ---- */

#define INIT                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":" \
    "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n" \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define LIST "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n"

/* What a client of it is listed, in `out`; what it says beside that in `err`. */
static void list_by_mcp(const char *const *words)
{
    struct program p;
    AUTO_FREE char *hello = NULL;
    AUTO_FREE char *tools = NULL;

    unlink(temp_path("mcp.err"));
    program_start(&p, words, temp_path("mcp.err"));
    program_say(&p, INIT LIST);
    hello = program_hear(&p);
    CHECK_HAS(hello, "\"serverInfo\":{\"name\":\"Patchbay\"");
    do {
        free(tools);
        tools = program_hear(&p);
    } while (!strstr(tools, "\"id\":2")); /* not what has changed meanwhile */
    program_close_input(&p);
    CHECK_INT(program_end(&p, RIG_END_MS), 0);
    snprintf(out, sizeof out, "%s", tools);
    snprintf(err, sizeof err, "%s", file_text("mcp.err"));
}

TEST(mcp_serves_the_project_in_which_it_is_started_and_asks_nobody)
{
    begin();
    user("\"mine\":" MOB("honest"));
    project("\"ex\":" EXAMPLE);
    for (int daemon = 0; daemon < 2; daemon++) {
        if (daemon)
            rig_daemon(NULL);
        list_by_mcp(WORDS("patchbay", "mcp"));
        CHECK_HAS(out, "\"mine__who\"");
        HAS_NOT(out, "\"ex__echo\"");
        CHECK_HAS(err, UNTRUSTED);
        CHECK_INT(RUN("trust", "--yes", "-q"), 0);
        list_by_mcp(WORDS("patchbay", "mcp"));
        CHECK_HAS(out, "\"mine__who\"");
        CHECK_HAS(out, "\"ex__echo\"");
        if (daemon)
            CHECK_HAS(err, "is neither in its records nor in its console; --no-project");
        else
            CHECK_STR(err, "");
        list_by_mcp(WORDS("patchbay", "mcp", "--server", "ex"));
        CHECK_HAS(out, "\"echo\"");
        list_by_mcp(WORDS("patchbay", "mcp", "--server", "mine"));
        CHECK_HAS(out, "\"who\"");
        list_by_mcp(WORDS("patchbay", "mcp", "--no-project"));
        HAS_NOT(out, "\"ex__echo\"");
        CHECK_INT(RUN("trust", "rm", ".", "-q"), 0);
    }
    rig_end();
}

TEST(mcp_at_a_terminal_does_not_ask_either)
{
    begin();
    project("\"ex\":" EXAMPLE);
    CHECK_INT(
        talk_on_terminal(((const struct talk[]){ { UNTRUSTED, "\004" }, { 0 } }), WORDS("mcp")), 0);
    HAS_NOT(out, QUESTION);
    rig_end();
}

/* As clients are given it. Each would start the next. */
TEST(a_project_that_has_patchbay_among_its_servers_does_not_start_itself)
{
    begin();
    unsetenv("PATCHBAY_HOME"); /* what its servers do not get */
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("XDG_RUNTIME_DIR");
    unsetenv("XDG_CACHE_HOME");
    project("\"self\":{\"command\":\"$BUILD/patchbay\",\"args\":[\"mcp\"]},\"ex\":" EXAMPLE);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(RUN("list", "--json"), 0);
    CHECK_STR(member_of("servers", "self", "state"), "connected");
    CHECK_STR(member_of("servers", "self", "tools"), "0");
    CHECK_STR(member_of("servers", "ex", "tools"), "4");
    rig_end();
}
