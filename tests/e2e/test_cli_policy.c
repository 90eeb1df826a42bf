/* Rules on the command line: looked at, changed, checked; and what they would do to a call. */
#include "gate_rig.h"

#define NO_RULES "No rules: every call is allowed, and those of agents are asked about."

/* ---- the rules ---- */

static void rules_change(bool daemon)
{
    rig_begin();
    write_filled("config.json", "{\n  \"mcpServers\": {", "\"ex\": " EXAMPLE, "}\n}\n");
    if (daemon) {
        rig_daemon(NULL);
        WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    }
    CHECK_INT(RUN("policy"), 0);
    CHECK_HAS(out, NO_RULES);
    CHECK_INT(RUN("policy", "--json"), 0);
    CHECK_STR(out, "{}\n");

    CHECK_INT(RUN("policy", "add", "deny", "--tool", "calc*", "--name", "no maths", "--reason",
                  "it is late"),
              0);
    CHECK_HAS(out, "Added rule 1 to ");
    CHECK_STR(err, "");
    /* At once, also where a daemon runs. */
    CHECK_INT(RUN("call", "ex.calculator", "expression=1"), 5);
    CHECK_HAS(err, "the rule 'no maths' does not allow 'calculator' of server 'ex': it is late");
    CHECK_INT(RUN("policy", "add", "allow", "--first", "--server", "ex", "--server", "e*", "--face",
                  "cli", "--caller", "comm*", "--annotation", "read_only", "--annotation",
                  "!open_world", "--mode", "full", "--arg", "/expression=9*", "--arg",
                  "/expression", "--json"),
              0);
    CHECK_STR(member("number"), "1");
    CHECK_STR(member("rule"),
              "{\"action\":\"allow\",\"server\":[\"ex\",\"e*\"],\"caller\":\"comm*\",\"face\":"
              "\"cli\",\"mode\":\"full\",\"annotation\":[\"read_only\",\"!open_world\"],"
              "\"arguments\":[{\"at\":\"/expression\",\"glob\":\"9*\"},{\"at\":\"/expression\","
              "\"present\":true}]}");
    CHECK_HAS(member("file"), "/config.json");

    CHECK_INT(RUN("policy"), 0);
    CHECK_STR(out,
              "allow  1            server ex or e*, caller comm*, face cli, mode full, annotation "
              "read_only and !open_world, argument /expression glob 9*, argument /expression "
              "present true\n"
              "deny   2  no maths  tool calc*  (it is late)\n");
    CHECK_INT(RUN("policy", "--json"), 0);
    CHECK_STR(member("rules.1.name"), "no maths");

    CHECK_INT(RUN("policy", "rm", "no maths", "--json"), 0);
    CHECK_STR(member("number"), "2");
    CHECK_STR(member("removed"), "true");
    CHECK_STR(member("rule.action"), "deny");
    CHECK_INT(RUN("call", "ex.calculator", "expression=1"), 0);
    CHECK_INT(RUN("policy", "rm", "1"), 0);
    CHECK_HAS(out, "Removed rule 1 from ");
    CHECK_INT(RUN("policy"), 0);
    CHECK_HAS(out, NO_RULES);
    CHECK_HAS(file_text("config.json"), "patchbay-example-server\"}}");
    rig_end();
}

TEST(rules_are_shown_added_and_removed_with_a_daemon) { rules_change(true); }
TEST(rules_are_shown_added_and_removed_without_a_daemon) { rules_change(false); }

TEST(what_a_person_wrote_in_the_file_stays)
{
    static const char before[] =
        "{\n    \"policy\": {\n        \"default\": {\"rest\":   \"ask\"},\n"
        "        \"rules\": [\n            {\"action\":\"deny\", \"tool\": "
        "\"a\"}\n        ]\n    },\n    \"mcpServers\": {}\n}\n";

    rig_begin();
    write_file(in_home("config.json"), before);
    CHECK_INT(RUN("policy"), 0);
    CHECK_HAS(out, "deny  1    tool a\n");
    CHECK_HAS(out, "ask  every other call through rest\n");
    CHECK_INT(RUN("policy", "add", "ask"), 0);
    CHECK_INT(RUN("policy", "add", "ask", "--first", "--name", "x"), 0);
    CHECK_INT(RUN("policy", "rm", "x"), 0);
    CHECK_INT(RUN("policy", "rm", "2"), 0);
    CHECK_STR(file_text("config.json"), before);
    rig_end();
}

TEST(wrong_rules_are_told_and_nothing_is_written)
{
    static const struct {
        const char *words[6], *says;
    } rows[] = {
        { { "policy", "show" }, "'show' is none of add, check and rm" },
        { { "policy", "add" }, "give what the rule does: ask, deny or allow" },
        { { "policy", "add", "forbid" }, "'forbid' is none of ask, deny and allow" },
        { { "policy", "add", "ask", "--annotation", "evil" }, "annotation: " },
        { { "policy", "add", "ask", "--face", "phone" },
          "face: expected \"mcp_server\", \"rest\", \"cli\" or \"agent\"" },
        { { "policy", "add", "ask", "--arg", "path=x" }, "arguments: [0]" },
        { { "policy", "add", "ask", "--name", "taken" }, "there is a rule 'taken' in " },
        { { "policy", "rm" }, "give the rule's name or number" },
        { { "policy", "rm", "0" }, "there is no rule '0' in " },
        { { "policy", "rm", "2" }, "there is no rule '2' in " },
        { { "policy", "rm", "nope" }, "'patchbay policy' shows them" },
    };

    rig_begin();
    gate_config("{\"action\":\"ask\",\"name\":\"taken\"}");
    {
        AUTO_FREE char *before = mem_dup(file_text("config.json"));

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const char *words[8] = { 0 };

            for (size_t w = 0; w < ARRAY_LEN(rows[i].words) && rows[i].words[w]; w++)
                words[w] = rows[i].words[w];
            if (run_with(NULL, words) != 1 || !strstr(err, rows[i].says))
                TAP_FAIL("%s: %s", rows[i].says, err);
            CHECK_STR(file_text("config.json"), before);
        }
    }
    gate_config("{\"action\":\"ask\",\"name\":\"a\"},{\"action\":\"ask\",\"name\":\"a\"}");
    CHECK_INT(RUN("policy", "rm", "a"), 1);
    CHECK_HAS(err, "are called 'a': give the number");
    gate_config("{\"action\":\"aks\"}");
    CHECK_INT(RUN("policy", "add", "ask"), 1);
    CHECK_HAS(err,
              "config.json:1: policy: rules[0].action: expected \"allow\", \"ask\" or \"deny\"");
    CHECK_INT(RUN("policy"), 1);
    CHECK_HAS(err, "rules[0].action: ");
    rig_end();
}

/* ---- check ---- */

TEST(a_file_is_checked_before_it_is_used)
{
    static const struct {
        const char *text;
        int code;
        const char *says;
    } rows[] = {
        { "{\"rules\":[{\"action\":\"ask\"}]}", 0, "p.json is valid: 1 rule\n" },
        { "{\"mcpServers\":{},\"policy\":{\"rules\":[]}}", 0, "p.json is valid: 0 rules\n" },
        { "{\"rules\":[\n{\"action\":\"ask\"},\n{\"action\":\"aks\"}]}", 1,
          "patchbay: p.json:3: rules[1].action: expected \"allow\", \"ask\" or \"deny\", got "
          "\"aks\"\n" },
        { "{\n\"policy\":\n{\"rule\":[]}}", 1, "patchbay: p.json:3: rule: there are only" },
        { "{\"rules\":[{\"action\":\"ask\",\"tol\":\"x\"}]}", 1,
          "p.json:1: rules[0].tol: there is no such condition" },
        { "{\"rules\":", 1, "patchbay: p.json: line 1, column " },
        { "{\"rules\":[],\"rules\":[]}", 1, "patchbay: p.json: " },
        { "[]", 1, "patchbay: p.json:1: expected an object, got an array\n" },
    };

    rig_begin();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        write_file(in_home("p.json"), rows[i].text);
        CHECK_INT(RUN("policy", "check", "p.json"), rows[i].code);
        CHECK_HAS(rows[i].code ? err : out, rows[i].says);
    }
    CHECK_INT(RUN("policy", "check", "nope.json"), 1);
    CHECK_HAS(err, "open 'nope.json': No such file or directory");
    CHECK_INT(run_with("{\"rules\":[]}", WORDS("policy", "check", "-", "--json")), 0);
    CHECK_STR(out, "{\"file\":\"-\",\"valid\":true,\"rules\":0}\n");
    CHECK_INT(access(in_home("config.json"), F_OK), -1);
    rig_end();
}

/* ---- explain ---- */

#define RULES                                                                                    \
    "{\"action\":\"ask\",\"tool\":\"echo\",\"name\":\"careful\",\"reason\":\"not without me\"}," \
    "{\"action\":\"deny\",\"tool\":\"calculator\",\"caller\":\"Cursor*\",\"arguments\":[{"       \
    "\"at\":\"/expression\",\"glob\":\"*9*\"}]},"                                                \
    "{\"action\":\"deny\",\"tool\":\"datetime\",\"face\":\"rest\"}"

static void begin_explain(bool daemon)
{
    rig_begin();
    write_filled("config.json",
                 "{\"policy\":{\"rules\":[" RULES "]},\"modes\":{\"few\":{\"filter\":"
                 "{\"tools\":[\"echo\"]}}},\"mcpServers\":{",
                 "\"ex\":" EXAMPLE ",\"hid\":{\"command\":\"$BUILD/patchbay-example-server\","
                 "\"disabledTools\":[\"echo\"]},\"off\":{\"command\":\"cat\",\"enabled\":false},"
                 "\"gone\":{\"command\":\"/no/such/program\"}",
                 "}}");
    if (!daemon)
        return;
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    WAIT_FOR(strcmp(server_is("hid", "state"), "connected") == 0);
}

TEST(what_would_happen_to_a_call_is_told_with_the_reason)
{
    static const struct {
        const char *words[7], *outcome, *reason;
    } rows[] = {
        { { "ex.echo", "text=hi" }, "ask", "not without me" },
        { { "ex/datetime" }, "allow", "" },
        { { "ex.datetime", "--face", "rest" }, "deny", "the rule '3' does not allow 'datetime'" },
        { { "ex.calculator", "expression=9", "--as", "Cursor 1.0" }, "deny", "the rule '2'" },
        { { "ex.calculator", "expression=8", "--as", "Cursor 1.0" }, "allow", "" },
        { { "ex.calculator", "expression=9", "--as", "Zed" }, "allow", "" },
        { { "ex.calculator(expression: \"9\")", "--as", "Cursor" }, "deny", "the rule '2'" },
        { { "ex.datetime", "--mode", "few" }, "deny", "the mode 'few' does not show the tool" },
        { { "ex.echo", "--mode", "few", "--face", "agent" }, "ask", "not without me" },
        { { "ex.datetime", "--face", "agent" }, "ask", "" }, /* what is usual for agents */
        { { "ex.ecko" }, "not_found", "there is no tool 'ex.ecko'; did you mean 'ex.echo'?" },
        { { "exx.echo" }, "not_found", "there is no server 'exx'; did you mean 'ex'?" },
        { { "hid.echo" }, "not_found", "'patchbay enable hid.echo' switches it on" },
        { { "off.x" }, "unreachable", "'patchbay enable off' switches it on" },
        { { "gone.x" }, "unreachable", "Failed to spawn /no/such/program" },
    };

    for (int daemon = 0; daemon < 2; daemon++) {
        begin_explain(daemon);
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            const char *words[10] = { "explain", "--json" };

            for (size_t w = 0; w < ARRAY_LEN(rows[i].words) && rows[i].words[w]; w++)
                words[w + 2] = rows[i].words[w];
            if (run_with(NULL, words) != 0)
                TAP_FAIL("%s: %s", words[2], err);
            if (strcmp(member("explained.outcome"), rows[i].outcome) != 0 ||
                !strstr(member("explained.reason"), rows[i].reason))
                TAP_FAIL("%s %s: %s", words[2], words[3] ? words[3] : "", out);
        }
        rig_end();
    }
}

TEST(each_step_is_told_and_what_to_do_next)
{
    begin_explain(true);
    CHECK_INT(RUN("explain", "ex.echo", "--as", "Cursor 1.0", "--mode", "few"), 0);
    CHECK_STR(out, "ex.echo, asked by Cursor 1.0 through mcp_server in mode few\n"
                   "  is it there now         pass\n"
                   "  does the mode show it   pass\n"
                   "  is it what was approved pass\n"
                   "  what do the rules say   ask  rule 'careful'  not without me\n"
                   "  was it allowed before   ask\n"
                   "A call would wait until somebody allows it.\n");
    CHECK_STR(err, "Next: patchbay policy\n");
    CHECK_INT(RUN("explain", "ex.datetime"), 0);
    CHECK_HAS(out, "A call would be made. It would be recorded.\n");
    CHECK_INT(RUN("explain", "ex.ecko"), 0);
    CHECK_HAS(out, "  is there such a tool    stop  there is no tool 'ex.ecko'");
    CHECK_HAS(out, "There is nothing to call.\n");
    CHECK_STR(err, "");
    /* What was granted counts. */
    CHECK_INT(RUN("grants", "add", "cli", "ex/echo"), 0);
    CHECK_INT(RUN("explain", "ex.echo", "--face", "cli"), 0);
    CHECK_HAS(out, "  was it allowed before   pass\nA call would be made.");
    /* And nothing was called, nor asked. */
    CHECK_INT(waiting_now(), 0);

    /* what was allowed to others, a REST client say, is told of when they are named */
    CHECK_INT(RUN("explain", "ex.echo", "--face", "cli", "--conversation", "rest-0123abcd"), 0);
    CHECK_HAS(out, "A call would wait until somebody allows it.");
    CHECK_INT(RUN("grants", "add", "rest-0123abcd", "ex/echo"), 0);
    CHECK_INT(RUN("explain", "ex.echo", "--face", "cli", "--conversation", "rest-0123abcd"), 0);
    CHECK_HAS(out, "A call would be made.");
    CHECK_INT(RUN("explain", "ex.echo", "--face", "phone"), 1);
    CHECK_HAS(err, "face: expected mcp_server, rest, cli or agent, not 'phone'");
    CHECK_INT(RUN("explain", "ex.echo", "--mode", "nope"), 1);
    CHECK_HAS(err, "there is no mode 'nope'");
    CHECK_INT(RUN("explain", "ex.echo", "tixt=1"), 1);
    CHECK_HAS(err, "ex.echo: ");
    rig_end();
}
