/* What the command line does not do, and the words with which it says so. */
#include "cli_rig.h"

#define BOTH_WAYS(config)                                                                      \
    for (int way_ = 0; way_ < 2 && (rig_begin(), rig_config(config), true); way_++, rig_end()) \
        if (way_ == 0 ? (rig_daemon(NULL), true) : true)

static bool same_config(const char *before)
{
    return strcmp(file_text("config.json"), before) == 0;
}

TEST(a_tool_that_there_is_not_is_not_disabled)
{
    static const struct {
        const char *item, *says;
    } cases[] = {
        { "ex.ecko", "patchbay: there is no tool 'ex.ecko'; did you mean 'ex.echo'?\n" },
        { "ex/ecko", "patchbay: there is no tool 'ex.ecko'; did you mean 'ex.echo'?\n" },
        { "ex.nothing_like_it", "patchbay: there is no tool 'ex.nothing_like_it'; 'patchbay tools "
                                "ex' lists those there are\n" },
        { "ex.rm_*", "patchbay: there is no tool 'ex.rm_*'; 'patchbay tools ex' lists those there "
                     "are\n" },
    };
    static const char *const verbs[] = { "disable", "enable" };

    BOTH_WAYS("\"ex\":" EXAMPLE)
    {
        AUTO_FREE char *before = mem_dup(file_text("config.json"));

        for (size_t i = 0; i < ARRAY_LEN(cases); i++)
            for (size_t v = 0; v < ARRAY_LEN(verbs); v++) {
                CHECK_INT(RUN(verbs[v], cases[i].item), 1);
                CHECK_STR(err, cases[i].says);
                CHECK_STR(out, "");
                CHECK(same_config(before));
            }
        CHECK_INT(RUN("disable", "ex.e*"), 0); /* a pattern that means some */
        CHECK_STR(out, "Disabled ex.e*\n");
        CHECK_STR(err, "");
    }
}

TEST(a_tool_of_a_server_that_is_down_is_disabled_and_that_it_was_not_looked_for_is_told)
{
    BOTH_WAYS("\"gone\":{\"command\":\"/no/such/program\"},\"ex\":" EXAMPLE)
    {
        CHECK_INT(RUN("disable", "gone.x"), 0);
        CHECK_STR(out, "Disabled gone.x\n");
        CHECK_HAS(err, "patchbay: not checked whether gone has a tool 'x': Cannot connect to "
                       "server 'gone': Failed to spawn /no/such/program");
        CHECK_INT(RUN("enable", "gone.x"), 0); /* it is listed: nobody needs to be asked */
        CHECK_STR(err, "");
        CHECK_INT(RUN("disable", "gine.x"), 1);
        CHECK_HAS(err, "gine");
    }
}

TEST(a_disabled_tool_that_is_called_says_so_and_how_it_is_enabled)
{
    BOTH_WAYS("\"ex\":" EXAMPLE)
    {
        CHECK_INT(RUN("disable", "ex.echo"), 0);
        for (int i = 0; i < 2; i++) { /* before and after it is known by heart */
            CHECK_INT(RUN("call", "ex.echo", "text=hi"), 1);
            CHECK_STR(err, "patchbay: the tool 'ex.echo' is disabled; 'patchbay enable ex.echo' "
                           "switches it on\n");
            CHECK_STR(out, "");
        }
        CHECK_INT(RUN("call", "ex__echo", "text=hi"), 1);
        CHECK_HAS(err, "'patchbay enable ex.echo' switches it on\n");
        CHECK_INT(RUN("enable", "ex.echo"), 0);
        CHECK_INT(RUN("call", "ex.echo", "text=hi"), 0);
        CHECK_STR(out, "hi\n");
    }
}

TEST(a_tool_that_a_pattern_disables_tells_where_the_pattern_stands)
{
    BOTH_WAYS("\"ex\":{\"command\":\"$BUILD/patchbay-example-server\",\"disabledTools\":[\"ec*\"]}")
    {
        char says[512];

        snprintf(says, sizeof says,
                 "patchbay: the tool 'ex.echo' is disabled; see enabledTools and disabledTools at "
                 "%s:1\n",
                 in_home("config.json"));
        CHECK_INT(RUN("call", "ex.echo", "text=hi"), 1);
        CHECK_STR(err, says);
    }
}

TEST(a_time_limit_says_whether_the_start_or_the_tool_was_waited_for)
{
    BOTH_WAYS("\"mute\":" MOB("silent") ",\"stuck\":" MOB("stuck"))
    {
        CHECK_INT(RUN("call", "mute.who", "--timeout", "300ms"), 4);
        CHECK_STR(err, "patchbay: mute.who: its server is still starting after 300 ms; nothing was "
                       "called\n");
        CHECK_STR(out, "");
        CHECK_INT(RUN("tools", "stuck"), 0);
        CHECK_INT(RUN("call", "stuck.who", "--timeout", "0.9"), 4);
        CHECK_STR(err, "patchbay: stuck.who: the tool has not answered within 900 ms; the call is "
                       "cancelled\n");
        CHECK_STR(out, "");
    }
    rig_begin();
    CHECK_INT(RUN("call", "who", "--timeout", "300ms", "--", built("tests/e2e/mob_server"),
                  "silent", "mob"),
              4);
    CHECK_HAS(err, "patchbay: handshake: the server did not answer within 300 ms\n");
    rig_end();
}

TEST(a_mode_names_servers_that_there_are)
{
    static const struct {
        const char *filter, *says;
    } cases[] = {
        { "exx", "patchbay: there is no server 'exx'; did you mean 'ex'?\n" },
        { "ex, mov", "patchbay: there is no server 'mov'; did you mean 'mob'?\n" },
        { "nothing", "patchbay: there is no server 'nothing'; 'patchbay list' shows those there "
                     "are\n" },
        { "{\"or\":[{\"servers\":[\"ex\"]},{\"not\":{\"servers\":[\"mob\",\"moob\"]}}]}",
          "patchbay: there is no server 'moob'; did you mean 'mob'?\n" },
        { "{\"toolIDs\":[\"ex.echo\",\"mobb/who\"]}",
          "patchbay: there is no server 'mobb'; did you mean 'mob'?\n" },
        { "{\"servers\":{\"_0\":[\"exs\"]}}", "patchbay: there is no server 'exs'; did you mean "
                                              "'ex'?\n" },
    };

    BOTH_WAYS("\"ex\":" EXAMPLE ",\"mob\":" MOB("honest"))
    {
        AUTO_FREE char *before = mem_dup(file_text("config.json"));

        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            CHECK_INT(RUN("mode", "few", "--filter", cases[i].filter), 1);
            CHECK_STR(err, cases[i].says);
            CHECK(same_config(before));
        }
        write_servers("mcp_clients.json", "\"other\":" MOB("honest"));
        CHECK_INT(RUN("mode", "few", "--filter", "ex,other"), 0);
        CHECK_INT(RUN("mode", "words", "--filter",
                      "{\"or\":[{\"tools\":[\"any\"]},{\"pattern\":\"^x\"},\"none\"]}"),
                  0);
    }
}

TEST(a_mode_is_removed_by_its_name)
{
    BOTH_WAYS("\"ex\":" EXAMPLE)
    {
        char says[512];

        CHECK_INT(RUN("mode", "few", "--filter", "ex"), 0);
        CHECK_INT(RUN("mode", "more", "--filter", "ex"), 0);
        CHECK_INT(RUN("mode", "rm", "fow"), 1);
        snprintf(says, sizeof says, "patchbay: there is no mode 'fow' in %s; did you mean 'few'?\n",
                 in_home("config.json"));
        CHECK_STR(err, says);
        CHECK_INT(RUN("mode", "rm", "full"), 1);
        CHECK_STR(err, "patchbay: the mode 'full' is always there\n");
        CHECK_INT(RUN("mode", "rm"), 1);
        CHECK_HAS(err, "patchbay: which mode? give its name\n");
        CHECK_INT(RUN("mode", "rm", "few", "--filter", "ex"), 1);
        CHECK_HAS(err, "patchbay: 'rm' removes a mode and takes no --filter\n");
        CHECK_INT(RUN("mode", "few", "more"), 1);
        CHECK_HAS(err, "patchbay: 'mode' takes one mode; what is 'more'?\n");

        snprintf(says, sizeof says, "Removed mode few from %s\n", in_home("config.json"));
        CHECK_INT(RUN("mode", "rm", "few"), 0);
        CHECK_STR(out, says);
        CHECK_STR(err, "");
        CHECK_INT(RUN("mode"), 0);
        CHECK(!strstr(out, "few") && strstr(out, "more"));
        CHECK_INT(RUN("mode", "rm", "more", "--json"), 0);
        CHECK_STR(member("mode"), "more");
        CHECK_STR(member("removed"), "true");
        CHECK_STR(member("file"), in_home("config.json"));
        CHECK_INT(RUN("mode", "more"), 1);
        CHECK_HAS(file_text("config.json"), "patchbay-example-server"); /* the rest is there */
    }
}
