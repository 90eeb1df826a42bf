/* The program as a person uses it: what it prints where, and its exit codes. */
#include "cli_rig.h"
#include "patchbay.h"

#define SERVER "--", built("patchbay-example-server")

/* No verb of these tests may find servers or a daemon of the person who runs them. */
static int run(const char *const *args)
{
    static bool begun;

    if (!begun) {
        rig_begin();
        atexit(rig_end);
    }
    begun = true;
    return run_with(NULL, args);
}
#undef RUN
#define RUN(...) run(WORDS(__VA_ARGS__))

/* Where a line of the help begins with this verb; -1: nowhere, -2: more than once. */
static long place_of(const char *verb)
{
    char line[64];
    const char *at;

    snprintf(line, sizeof line, "\n  %-12s ", verb);
    at = strstr(out, line);
    if (!at)
        return -1;
    return strstr(at + 1, line) ? -2 : at - out;
}

static const char *const verbs[] = {
    "add",     "call",       "cancel",    "completion", "connect",   "describe",
    "disable", "disconnect", "doctor",    "enable",     "get",       "help",
    "list",    "logs",       "man",       "mcp",        "mode",      "prompt",
    "prompts", "read",       "reconnect", "remove",     "resources", "restart",
    "serve",   "service",    "status",    "stop",       "tools",     "version",
};

TEST(help_lists_every_verb_once_and_what_a_newcomer_needs_first)
{
    static const char *const first[] = {
        "add", "list", "tools", "describe", "call", "serve", "mcp"
    };
    static const char *const ways[] = { "help", "--help", "-h" };
    long last = 0;

    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        CHECK_INT(RUN(ways[i]), 0);
        CHECK_STR(err, "");
        CHECK_HAS(out, "usage: patchbay VERB");
        CHECK_HAS(out, "  130  Ctrl-C\n");
    }
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (place_of(verbs[i]) < 0)
            TAP_FAIL("%s: %ld", verbs[i], place_of(verbs[i]));
    for (size_t i = 0; i < ARRAY_LEN(first); i++) {
        CHECK(place_of(first[i]) > last);
        last = place_of(first[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        bool begins = false;

        for (size_t k = 0; k < ARRAY_LEN(first); k++)
            begins |= strcmp(first[k], verbs[i]) == 0;
        CHECK(begins || place_of(verbs[i]) > last);
    }
}

TEST(what_people_know_from_elsewhere_is_understood_and_told_once)
{
    static const struct {
        const char *alias, *verb, *told;
    } cases[] = { { "ls", "list", "(or: ls)\n" }, { "rm", "remove", "(or: rm)\n" } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_FREE char *by_name = NULL;

        CHECK_INT(RUN("help"), 0);
        CHECK_HAS(out, cases[i].told);
        CHECK(strstr(strstr(out, cases[i].told) + 1, cases[i].told) == NULL);
        CHECK_INT(place_of(cases[i].alias), -1);
        CHECK_INT(RUN("help", cases[i].verb), 0);
        by_name = mem_dup(out);
        CHECK_HAS(out, "' is the same.\n");
        CHECK_INT(RUN(cases[i].alias, "--help"), 0);
        CHECK_STR(out, by_name);
        CHECK_INT(RUN("help", cases[i].alias), 0);
        CHECK_STR(out, by_name);
    }
    CHECK_INT(RUN("rm"), 1);
    CHECK_HAS(err, "patchbay: 'remove' needs more\nusage: patchbay remove NAME\n");
}

TEST(every_verb_has_help_of_its_own)
{
    char usage[64];

    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        snprintf(usage, sizeof usage, "usage: patchbay %s", verbs[i]);
        CHECK_INT(RUN("help", verbs[i]), 0);
        CHECK_HAS(out, usage);
        CHECK_INT(RUN(verbs[i], "--help"), 0);
        CHECK_HAS(out, usage);
        CHECK_STR(err, "");
    }
    CHECK_INT(RUN("help", "call"), 0);
    CHECK_HAS(out, "  -t, --timeout SECONDS           give up when the server's start takes so "
                   "long, or then the tool\n");
    CHECK_INT(RUN("help", "nothing"), 1);
}

TEST(the_manual_tells_the_same_and_is_well_formed)
{
    CHECK_INT(RUN("man"), 0);
    CHECK_HAS(out, ".TH PATCHBAY 1");
    CHECK_HAS(out, "\\fB\\-t\\fR, \\fB\\-\\-timeout\\fR \\fISECONDS\\fR\n");
    CHECK_HAS(out, ".SS Begin here\n.TP\n\\fBadd\\fR");
    CHECK_HAS(out, ".SH SETTINGS\n");
    CHECK_HAS(out, ".SH EXIT STATUS\n.TP\n.B 0\n");
    for (const char *line = out; (line = strchr(line, '\n')); line++) {
        static const char *const known[] = { "TH", "SH", "SS", "TP", "B", "I",
                                             "BR", "RS", "RE", "IP", "br" };
        bool fine = line[1] != '.' && line[1] != '\'';

        for (size_t i = 0; i < ARRAY_LEN(known) && !fine; i++)
            fine = strncmp(line + 2, known[i], strlen(known[i])) == 0 &&
                   strchr(" \n", line[2 + strlen(known[i])]);
        if (!fine)
            TAP_FAIL("troff would not understand: %.40s", line + 1);
    }
}

TEST(version_is_that_of_the_library)
{
    CHECK_INT(RUN("version"), 0);
    CHECK_STR(out, "patchbay " PB_VERSION "\n");
    CHECK_INT(RUN("--version"), 0);
    CHECK_STR(out, "patchbay " PB_VERSION "\n");
}

TEST(misuse_is_told_on_stderr_with_exit_code_1)
{
    static const struct {
        const char *args[RIG_ARGS_MAX], *says;
    } cases[] = {
        { { "conect" }, "there is no verb 'conect'; did you mean 'connect'?" },
        { { "xyzzy" }, "there is no verb 'xyzzy'; 'patchbay help' lists them" },
        { { "call" }, "'call' needs more\nusage: patchbay call SERVER.TOOL" },
        { { "list", "ex" }, "'list' takes no arguments; what is 'ex'?" },
        { { "tools", "a", "b" }, "'tools' takes no more than 1 argument; what is 'b'?" },
        { { "tools", "--jsn" }, "unknown option '--jsn'; did you mean 'json'?" },
        { { "tools", "--qqqqq" }, "unknown option '--qqqqq'\n" },
        { { "serve", "--port", "99999" }, "--port is a number up to 65535, not '99999'" },
        { { "serve", "-pnine" }, "--port is a number up to 65535, not 'nine'" },
        { { "serve", "--expose", "everything" }, "everything" },
        { { "serve", "--token", "", "--port", "0" }, "an empty token protects nothing" },
        { { "serve", "--host", "0.0.0.0", "--no-token", "--port", "0" },
          "listening on 0.0.0.0 without a token would let everybody" },
        { { "mcp", "--server", "a", "--mode", "b" },
          "--server and --mode are two different things" },
        { { "logs", "-n", "many" }, "--lines is a number, not 'many'" },
        { { "completion" }, "for which shell? bash, zsh or fish" },
        { { "completion", "csh" }, "no completion for 'csh': bash, zsh or fish" },
        { { "tools", "--url" }, "--url needs a value: URL" },
        { { "tools", "--json=1" }, "--json takes no value" },
        { { "tools", "--" }, "a command must follow \"--\"" },
        { { "call", "echo", "text", "--url", "http://127.0.0.1:1/" },
          "'text' is not k=value, k:=json, k=@file, @file or a JSON object" },
        { { "call", "echo", "n:=oops", "--url", "http://127.0.0.1:1/" }, "the value of 'n': " },
        { { "call", "echo", "=x", "--url", "http://127.0.0.1:1/" }, "'=x' is not k=value" },
        { { "call", "echo", "[1]", "--url", "http://127.0.0.1:1/" }, "'[1]' is not k=value" },
        { { "call", "echo", "{\"a\"}", "--url", "http://127.0.0.1:1/" }, "the arguments: " },
        { { "call", "echo", "--timeout", "soon", "--url", "http://127.0.0.1:1/" },
          "--timeout is a number of seconds up to 3600, or as 300ms or 5m, not 'soon'" },
        { { "tools", "--era", "golden", "--url", "http://127.0.0.1:1/" },
          "--era is 'legacy' or 'modern', not 'golden'" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(run(cases[i].args), 1);
        CHECK_HAS(err, cases[i].says);
        CHECK_STR(out, "");
    }
}

TEST(tools_and_calls_work_in_both_eras)
{
    CHECK_INT(RUN("tools", SERVER), 0);
    CHECK_HAS(out, "calculator");
    CHECK_INT(RUN("tools", "--json", "--era", "legacy", SERVER), 0);
    CHECK_HAS(out, "\"inputSchema\"");
    CHECK_INT(RUN("call", "echo", "text=hello", "--era", "modern", SERVER), 0);
    CHECK_STR(out, "hello\n");
    CHECK_INT(RUN("call", "calculator", "{\"expression\":\"6*7\"}", SERVER), 0);
    CHECK_STR(out, "42\n");
    CHECK_INT(RUN("call", "string", "operation=substring", "input=abcdef", "start:=2", SERVER), 0);
    CHECK_STR(out, "cdef\n");
}

TEST(what_went_wrong_is_in_the_exit_code)
{
    CHECK_INT(RUN("call", "calculator", "expression=1/0", SERVER), 5);
    CHECK_HAS(err, "division by zero");
    CHECK_INT(RUN("call", "nothing", SERVER), 1);
    CHECK_HAS(err, "Unknown tool: nothing");
    CHECK_INT(RUN("tools", "--", "/nowhere/at/all"), 4);
    CHECK_HAS(err, "Failed to spawn /nowhere/at/all: No such file or directory");
    CHECK_INT(RUN("tools", "--", "false"), 4);
    CHECK_HAS(err, "exited with status 1");
    CHECK_INT(RUN("tools", "--url", "http://127.0.0.1:1/mcp"), 4);
    CHECK_HAS(err, "127.0.0.1");
    CHECK_INT(RUN("tools", "--url", "gopher://x/"), 1);
    CHECK_INT(RUN("call", "x", "a=@/nowhere/at/all", SERVER), 1);
    CHECK_HAS(err, "the value of 'a': open '/nowhere/at/all': ");
}

TEST(letters_take_their_value_with_or_without_a_space)
{
    CHECK_INT(RUN("call", "echo", "text=1", "-t", "5", SERVER), 0);
    CHECK_INT(RUN("call", "echo", "text=1", "-t5", SERVER), 0);
    CHECK_INT(RUN("call", "echo", "text=1", "--timeout=5000ms", SERVER), 0);
    CHECK_STR(out, "1\n");
}

/* A file that an editor has ended with a newline, as they do. */
TEST(arguments_from_a_file_may_have_any_layout)
{
    RUN("version"); /* makes the home */
    write_file(in_home("args"), "{\n  \"text\":\r\n \"x\"\n}\n\n");
    CHECK_INT(RUN("call", "echo", "@args", SERVER), 0);
    CHECK_STR(out, "x\n");
}

/* ---- servers that are named here and now ---- */

#define CONF "--", built("conformance-server"), "--stdio"

TEST(prompts_and_resources_of_a_server_that_is_not_configured)
{
    CHECK_INT(RUN("prompts", CONF), 0);
    CHECK_HAS(out, "test_prompt_with_arguments");
    CHECK_HAS(out, "(arg1, arg2)");
    CHECK_INT(RUN("prompts", "test_prompt_with_arguments", CONF), 0);
    CHECK_HAS(out, "Arguments:");
    CHECK_INT(RUN("prompts", "nothing", CONF), 1);
    CHECK_HAS(err, "patchbay: the server lists no prompt 'nothing'\n");
    CHECK_INT(RUN("tools", "nothing", CONF), 1);
    CHECK_HAS(err, "patchbay: the server lists no tool 'nothing'\n");
    CHECK_INT(RUN("prompt", "test_prompt_with_arguments", "arg1=1", "arg2=two", CONF), 0);
    CHECK_HAS(out, "arg1='1', arg2='two'");
    CHECK_INT(RUN("resources", CONF), 0);
    CHECK_HAS(out, "test://static-text         text/plain        Static text\n");
    CHECK_HAS(out, "test://template/{id}/data  application/json  Data by id\n");
    CHECK_INT(RUN("resources", "--json", CONF), 0);
    CHECK_STR(json_member(out, "resourceTemplates.0.uriTemplate"), "test://template/{id}/data");
    CHECK_INT(RUN("read", "test://static-text", CONF), 0);
    CHECK_STR(out, "This is the content of the static text resource.\n");
    CHECK_INT(RUN("read", "test://nothing", CONF), 1);
    CHECK_HAS(err, "patchbay: test://nothing: Resource not found");
    CHECK_INT(RUN("read", "conf", "test://static-text", CONF), 1);
    CHECK_HAS(err, "patchbay: a server is named by 'conf' or by --url, not by both\n");
    CHECK_INT(RUN("resources", "conf", CONF), 1);
    CHECK_HAS(err, "patchbay: a server is named by 'conf' or by --url, not by both\n");
}
