/* What shells are told when somebody presses Tab. */
#include "cli_rig.h"

/* "a b c": what the last word could become. */
static const char *found(const char *const *words)
{
    static char text[RIG_TEXT_MAX];
    const char *args[RIG_ARGS_MAX] = { "completion", "--" };
    size_t n = 0;

    for (int i = 0; words[i]; i++)
        args[2 + i] = words[i];
    CHECK_INT(run_with(NULL, args), 0);
    CHECK_STR(err, "");
    text[0] = '\0';
    for (const char *line = out; *line; line = strchr(line, '\n') + 1)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s", n ? " " : "",
                              (int)strcspn(line, "\t"), line);
    return text;
}
#define FOUND(...) found(WORDS(__VA_ARGS__))

static void begin(void)
{
    rig_begin();
    write_filled("config.json", "{\"mcpServers\":{",
                 "\"ex\":" EXAMPLE ",\"conf\":" CONFORMANCE ",\"off\":{\"command\":\"cat\","
                 "\"enabled\":false}},\"modes\":{\"few\":{\"filter\":{\"servers\":[\"ex\"]}}}",
                 "}");
}

TEST(verbs_and_options_are_completed)
{
    begin();
    CHECK_STR(FOUND("ca"), "call calls cancel");
    CHECK_STR(FOUND("nothing"), "");
    CHECK_STR(FOUND("help", "rec"), "reconnect");
    CHECK_STR(FOUND("tools", "--m"), "--mode --mcp-clients --mcp-clients-config --mcp-client");
    CHECK_STR(FOUND("mode", "--f"), "--filter");
    CHECK_STR(FOUND("version", "--"), "--json --quiet --help");
    CHECK_STR(FOUND("completion", ""), "bash zsh fish");
    CHECK_STR(FOUND("calls", ""), "show export rm");
    CHECK_STR(FOUND("answer", "c35050a4", ""), "approve grant deny");
    CHECK_STR(FOUND("policy", "c"), "check");
    CHECK_STR(FOUND("policy", "add", "a"), "ask allow");
    CHECK_STR(FOUND("grants", "a"), "add auto");
    CHECK_STR(FOUND("grants", "auto", "cli", "o"), "on off");
    CHECK_INT(RUN("completion", "--", "ca"), 0);
    CHECK_HAS(out, "call\tCall one tool and print its result\n");
    rig_end();
}

TEST(values_of_options_are_completed)
{
    begin();
    CHECK_STR(FOUND("add", "--transport", ""), "stdio sse http");
    CHECK_STR(FOUND("add", "-t", "s"), "stdio sse");
    CHECK_STR(FOUND("add", "--scope", "p"), "project");
    CHECK_STR(FOUND("tools", "--era", ""), "legacy modern");
    CHECK_STR(FOUND("mcp", "--server", ""), "ex conf off");
    CHECK_STR(FOUND("mcp", "--mode", ""), "full few");
    CHECK_STR(FOUND("calls", "--server", ""), "ex conf off");
    CHECK_STR(FOUND("calls", "--status", "e"), "error expired");
    CHECK_STR(FOUND("calls", "--format", ""), "jsonl har otlp");
    CHECK_STR(FOUND("explain", "--face", "c"), "cli");
    CHECK_STR(FOUND("explain", "--mode", ""), "full few");
    CHECK_STR(FOUND("add", "--name", ""), "");
    CHECK_STR(FOUND("serve", "--config", ""), ""); /* files: the shell's own work */
    rig_end();
}

TEST(servers_and_modes_are_completed_from_the_config)
{
    static const char *const verbs[] = { "tools",  "get",     "remove",     "connect",   "logs",
                                         "doctor", "prompts", "disconnect", "resources", "cancel" };

    begin();
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        CHECK_STR(FOUND(verbs[i], ""), "ex conf off");
    CHECK_STR(FOUND("doctor", "ex", "c"), "conf");
    CHECK_STR(FOUND("tools", "ex", ""), "");
    CHECK_STR(FOUND("tools", "--json", "o"), "off");
    CHECK_STR(FOUND("mode", ""), "rm full few");
    CHECK_STR(FOUND("mode", "rm", "f"), "full few");
    CHECK_STR(FOUND("add", ""), "");
    CHECK_STR(FOUND("tools", "--", ""), "");
    write_servers("other.json", "\"mob\":" MOB("honest"));
    CHECK_STR(FOUND("tools", "--config", "other.json", ""), "mob");
    write_file(in_home("config.json"), "broken");
    CHECK_STR(FOUND("tools", ""), "");
    rig_end();
}

/* Nothing is started for it: before a server has run once, nothing is known. */
TEST(tools_prompts_uris_and_arguments_are_completed_from_what_servers_last_had)
{
    begin();
    CHECK_STR(FOUND("call", ""), "");
    CHECK_INT(RUN("list"), 0);
    CHECK_STR(FOUND("call", "ex"), "ex.calculator ex.datetime ex.echo ex.string");
    CHECK_STR(FOUND("call", "ex.e"), "ex.echo");
    CHECK_STR(FOUND("call", "ex/e"), "ex/echo");
    CHECK_STR(FOUND("call", "ex:e"), "ex:echo");
    CHECK_STR(FOUND("tools", "ex.e"), "ex.echo");
    CHECK_STR(FOUND("describe", "ex.e"), "ex.echo");
    CHECK_STR(FOUND("prompts", "conf.test_simple"), "conf.test_simple_prompt");
    CHECK_STR(FOUND("call", "ex.echo", ""), "text=");
    CHECK_STR(FOUND("call", "ex/echo", "t"), "text=");
    CHECK_STR(FOUND("call", "ex__echo", ""), "text=");
    CHECK_STR(FOUND("call", "ex.string", "s"), "start=");
    CHECK_STR(FOUND("call", "ex.string", "input=x", "s"), "start=");
    CHECK_STR(FOUND("call", "--url", "http://x/", "ex"), "");
    CHECK_STR(FOUND("prompt", "conf.test_simple"), "conf.test_simple_prompt");
    CHECK_STR(FOUND("prompt", "conf.test_prompt_with_arguments", ""), "arg1= arg2=");
    CHECK_STR(FOUND("read", "test://static"), "test://static-binary test://static-text");
    CHECK_STR(FOUND("read", "conf", "test://static-t"), "test://static-text");
    CHECK_STR(FOUND("read", "ex", ""), "");
    CHECK_STR(FOUND("disable", "ex/e"), "ex/echo");
    rig_end();
}

/* ---- the shells themselves ---- */

static bool there_is(const char *shell)
{
    char path[64];

    snprintf(path, sizeof path, "/usr/bin/%s", shell);
    return access(path, X_OK) == 0;
}

/* Runs a script with our program in front of the PATH. Fills out. */
static void run_shell(const char *shell, const char *script)
{
    int o = memory_file(NULL), status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        char path[4200];

        snprintf(path, sizeof path, "%s:%s", getenv("BUILD_DIR"), getenv("PATH"));
        setenv("PATH", path, 1);
        setenv("HOME", home, 1);
        dup2(o, 1);
        dup2(o, 2);
        execlp(shell, shell, "-c", script, (char *)NULL);
        _exit(127);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    slurp(o, out);
    if (status != 0)
        TAP_FAIL("%s", out);
}

TEST(bash_completes)
{
    if (!there_is("bash"))
        TAP_SKIP("there is no bash");
    begin();
    CHECK_INT(RUN("list"), 0);
    run_shell(
        "bash",
        "source <(patchbay completion bash); compopt() { echo \"nospace\"; };"
        "t() { COMP_LINE=$1 COMP_POINT=${#1}; _patchbay patchbay; echo \"${COMPREPLY[*]}\"; };"
        "t 'patchbay ca'; t 'patchbay call ex.e'; t 'patchbay read conf test://static-t';"
        "t 'patchbay call ex.echo t'; t 'patchbay call ex.echo text=x'; complete -p patchbay");
    CHECK_STR(out, "call calls cancel\nex.echo\n//static-text\nnospace\ntext=\n\n"
                   "complete -o default -F _patchbay patchbay\n");
    rig_end();
}

TEST(fish_completes)
{
    if (!there_is("fish"))
        TAP_SKIP("there is no fish");
    begin();
    CHECK_INT(RUN("list"), 0);
    run_shell("fish",
              "patchbay completion fish | source; complete -C 'patchbay call ex.e';"
              "complete -C 'patchbay tools --js'; complete -C 'patchbay read conf test://s'");
    CHECK_STR(out, "ex.echo\tReturns the text that it is given\n"
                   "--json\tprint the definitions as JSON\n"
                   "test://static-binary\tStatic binary\ntest://static-text\tStatic text\n");
    rig_end();
}

/* zsh completes at a terminal only: one is made for it, and what it types there is looked at. */
TEST(zsh_completes)
{
    if (!there_is("zsh"))
        TAP_SKIP("there is no zsh");
    begin();
    CHECK_INT(RUN("list"), 0);
    run_shell("zsh",
              "zmodload zsh/zpty; zpty z zsh -f -i; w() { zpty -w $@; };"
              "until_() { local all= part=; repeat 2000; do"
              "  zpty -r -t z part && all+=$part; [[ $all == *$1* ]] && { print yes; return };"
              "  zselect -t 1; done; print -r -- \"no: $all\" };"
              "zmodload zsh/zselect;"
              "w z 'PS1=; autoload -Uz compinit; compinit -u -D; source <(patchbay completion zsh);"
              " bindkey \"^I\" complete-word; print REA''DY'; until_ READY;"
              "w -n z $'patchbay call ex.e\\t'; until_ 'ex.echo'; w -n z $'\\x15';"
              "w -n z $'patchbay read conf test://static-t\\t'; until_ 'static-text'; zpty -d z");
    CHECK_STR(out, "yes\nyes\nyes\n");
    rig_end();
}
