/* Lists without a daemon are what servers said once: that is told, and --refresh asks. */
#include "script_rig.h"
#include <dirent.h>

#define OLD                                                                                  \
    "{\"name\":\"old\",\"inputSchema\":{\"type\":\"object\",\"additionalProperties\":false," \
    "\"properties\":{\"a\":{\"type\":\"string\"}}}}"
#define NEW_ONE                                                                              \
    "{\"name\":\"old\",\"inputSchema\":{\"type\":\"object\",\"additionalProperties\":false," \
    "\"properties\":{\"a\":{\"type\":\"string\"},\"b\":{\"type\":\"integer\"}}}},{\"name\":" \
    "\"added\",\"inputSchema\":{\"type\":\"object\"}}"

/* As if all that is remembered had been written so long ago. */
static void age_cache(time_t seconds)
{
    struct timespec then[2] = { { .tv_sec = time(NULL) - seconds } };
    DIR *dir = opendir(in_home("cache"));

    CHECK(dir != NULL);
    then[1] = then[0];
    for (struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.')
            CHECK(utimensat(dirfd(dir), e->d_name, then, 0) == 0);
    closedir(dir);
}

static bool asked(void)
{
    bool was = strstr(file_text("said/heard"), "\"tools/list\"") != NULL;

    write_file(in_home("said/heard"), "");
    return was;
}

static void change_tools(void)
{
    write_file(in_home("said/tools_list"), "{\"tools\":[" NEW_ONE "]}");
}

TEST(remembered_lists_say_so_and_of_when)
{
    static const struct {
        time_t seconds;
        const char *says;
    } ages[] = {
        { 10801, "patchbay: s: remembered 3 h ago; --refresh asks the server\n" },
        { 59 * 60 + 30, "patchbay: s: remembered 59 min ago; --refresh asks the server\n" },
        { 47 * 3600 + 60, "patchbay: s: remembered 47 h ago; --refresh asks the server\n" },
        { 72 * 3600 + 60, "patchbay: s: remembered 3 days ago; --refresh asks the server\n" },
        { -3600, "patchbay: s: remembered 0 s ago; --refresh asks the server\n" },
    };
    static const char *const verbs[] = { "tools", "prompts", "resources" };

    script_begin(OLD, "{\"name\":\"p\"}");
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(err, "");
    CHECK(asked());
    for (size_t i = 0; i < ARRAY_LEN(ages); i++) {
        age_cache(ages[i].seconds);
        CHECK_INT(RUN("tools"), 0);
        CHECK_STR(err, ages[i].says);
        CHECK_STR(out, "s.old\n");
    }
    age_cache(10801);
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        CHECK_INT(RUN(verbs[i], "s"), 0);
        CHECK_STR(err, ages[0].says);
    }
    CHECK_INT(RUN("tools", "s.old"), 0);
    CHECK_STR(err, ages[0].says);
    CHECK_INT(RUN("prompts", "s.p"), 0);
    CHECK_STR(err, ages[0].says);
    CHECK(!asked());
    rig_end();
}

TEST(refresh_asks_the_servers)
{
    script_begin(OLD, "");
    CHECK_INT(RUN("tools"), 0);
    age_cache(10801);
    change_tools();
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(out, "s.old\n");
    CHECK_HAS(err, "remembered 3 h ago");
    CHECK(asked()); /* the first time */
    CHECK_INT(RUN("tools", "--refresh"), 0);
    CHECK_STR(out, "s.added\ns.old\n");
    CHECK_STR(err, "");
    CHECK(asked());
    /* what was confirmed is not old any more, changed or not */
    age_cache(10801);
    CHECK_INT(RUN("describe", "s.added", "--refresh"), 0);
    CHECK_STR(err, "");
    CHECK_INT(RUN("tools"), 0);
    CHECK(!strstr(err, "3 h"));
    CHECK_HAS(err, " s ago; --refresh asks the server\n");
    /* one that cannot be asked is told, and what it said once is shown */
    age_cache(10801);
    unlink(in_home("said/initialize"));
    CHECK_INT(RUN("tools", "--refresh"), 0);
    CHECK_STR(out, "s.added\ns.old\n");
    CHECK_HAS(err, "Cannot connect to server 's'");
    CHECK_HAS(err, "s: remembered 3 h ago");
    rig_end();
}

TEST(json_says_which_lists_are_remembered)
{
    time_t now = time(NULL);
    double at;

    script_begin(OLD, "");
    CHECK_INT(RUN("tools", "--json"), 0);
    CHECK_STR(member("remembered"), "[]");
    age_cache(10801);
    CHECK_INT(RUN("tools", "--json"), 0);
    CHECK_STR(member("remembered.0.server"), "s");
    at = strtod(member("remembered.0.remembered_at"), NULL);
    CHECK(at >= (double)now - 10801 && at <= (double)now - 10801 + 60);
    CHECK_INT(RUN("resources", "s", "--json"), 0);
    CHECK_STR(member("remembered.0.server"), "s");
    CHECK_INT(RUN("tools", "--json", "--refresh"), 0);
    CHECK_STR(member("remembered"), "[]");
    rig_end();
}

TEST(of_several_servers_the_span_is_told)
{
    script_begin(OLD, "");
    rig_config(SCRIPT ",\"ex\":" EXAMPLE);
    CHECK_INT(RUN("tools"), 0);
    age_cache(10801);
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(err, "patchbay: 2 servers: remembered 3 h ago; --refresh asks the servers\n");
    CHECK_INT(RUN("tools", "ex", "--refresh"), 0);
    CHECK_STR(err, "");
    age_cache(121);
    CHECK_INT(RUN("tools", "s", "--refresh"), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(err, "patchbay: 2 servers: remembered ");
    CHECK_HAS(err, " s to 2 min ago; --refresh asks the servers\n");
    rig_end();
}

/* An old schema does not refuse what the server takes by now. */
TEST(a_call_is_not_refused_by_what_is_only_remembered)
{
    script_begin(OLD, "");
    CHECK_INT(RUN("tools"), 0);
    change_tools();
    CHECK_INT(RUN("call", "s.old", "a=1", "b=2"), 0);
    CHECK_STR(arguments_sent(), "{\"a\":\"1\",\"b\":2}");
    CHECK_STR(err, "");
    CHECK_INT(RUN("call", "s.old", "c=2"), 1);
    CHECK_STR(err, "patchbay: s.old: there is no argument 'c'\n  s.old(a?: string, b?: integer)\n");
    CHECK_STR(arguments_sent(), "");
    rig_end();
}

/* The daemon remembers only what it has not started. */
TEST(a_daemon_remembers_of_servers_that_rest)
{
    script_begin(OLD, "");
    rig_daemon(NULL);
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(err, "");
    CHECK_INT(daemon_stop(SIGTERM), 0);
    rig_config("\"s\":{\"command\":\"$BUILD/tests/e2e/script_server\",\"args\":[\"$HOME/said\"],"
               "\"start\":\"lazy\"}");
    rig_daemon(NULL);
    age_cache(10801);
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(out, "s.old\n");
    WAIT_FOR((RUN("tools"), strstr(err, "s: remembered ")));
    change_tools();
    CHECK_INT(RUN("tools", "--refresh"), 0);
    CHECK_STR(out, "s.added\ns.old\n");
    CHECK_STR(err, "");
    rig_end();
}

/* It has not said that its list changed. */
TEST(refresh_makes_a_daemon_ask_servers_that_run)
{
    script_begin(OLD, "");
    rig_daemon(NULL);
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(out, "s.old\n");
    change_tools();
    asked();
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(out, "s.old\n");
    CHECK(!asked());
    CHECK_INT(RUN("tools", "--refresh"), 0);
    CHECK_STR(out, "s.added\n"); /* the other is not what it was */
    CHECK(asked());
    CHECK_INT(RUN("approve", "s"), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(out, "s.added\ns.old\n");
    CHECK_INT(RUN("describe", "s.old", "--refresh", "--json"), 0);
    CHECK(asked());
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(out, "s.added\ns.old\n");
    rig_end();
}
