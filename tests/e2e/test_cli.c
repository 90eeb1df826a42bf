/* The program as a person uses it: what it prints where, and its exit codes. */
#include "patchbay.h"
#include "tap.h"
#include <fcntl.h>
#include <sys/mman.h>

enum { ARGS_MAX = 16, TEXT_MAX = 1 << 16 };

static char out[TEXT_MAX], err[TEXT_MAX];

static void slurp(int fd, char *text)
{
    size_t n = 0;
    ssize_t got;

    lseek(fd, 0, SEEK_SET);
    while (n < TEXT_MAX - 1 && (got = read(fd, text + n, TEXT_MAX - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    close(fd);
}

static const char *built(const char *name)
{
    static char path[4][4096];
    static int at;
    const char *dir = getenv("BUILD_DIR");

    CHECK(dir != NULL);
    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", dir, name);
    return path[at];
}

/* Runs patchbay with these arguments; fills out and err; gives the exit status. */
static int run(const char *const *args)
{
    const char *argv[ARGS_MAX + 2] = { built("patchbay") };
    int o = memfd_create("out", MFD_CLOEXEC), e = memfd_create("err", MFD_CLOEXEC), status;
    pid_t pid;

    for (int i = 0; args[i]; i++)
        argv[i + 1] = args[i];
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        dup2(o, 1);
        dup2(e, 2);
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    slurp(o, out);
    slurp(e, err);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

#define RUN(...) run((const char *const[]){ __VA_ARGS__, NULL })
#define SERVER   "--", built("patchbay-example-server")

TEST(help_lists_every_verb_on_stdout)
{
    static const char *const verbs[] = { "call", "completion", "help", "man", "tools", "version" };

    CHECK_INT(run((const char *const[]){ NULL }), 0);
    CHECK_STR(err, "");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        CHECK_HAS(out, verbs[i]);
    CHECK_INT(RUN("--help"), 0);
    CHECK_HAS(out, "usage: patchbay VERB");
    CHECK_INT(RUN("help", "call"), 0);
    CHECK_HAS(out, "--timeout MS");
    CHECK_INT(RUN("call", "--help"), 0);
    CHECK_HAS(out, "usage: patchbay call TOOL");
}

TEST(man_page_and_completions_come_from_the_same_table)
{
    CHECK_INT(RUN("man"), 0);
    CHECK_HAS(out, ".TH PATCHBAY 1");
    CHECK_HAS(out, "\\-\\-timeout MS");
    CHECK_INT(RUN("completion", "bash"), 0);
    CHECK_HAS(out, "complete -o default -F _patchbay patchbay");
    CHECK_HAS(out, "--timeout");
    CHECK_INT(RUN("completion", "zsh"), 0);
    CHECK_HAS(out, "#compdef patchbay");
    CHECK_INT(RUN("completion", "fish"), 0);
    CHECK_HAS(out, "complete -c patchbay");
    CHECK_INT(RUN("completion", "csh"), 1);
    CHECK_HAS(err, "no completion for 'csh': bash, zsh or fish");
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
        const char *args[ARGS_MAX], *says;
    } cases[] = {
        { { "conect" }, "there is no verb 'conect'; 'patchbay help' lists them" },
        { { "call" }, "'call' needs more" },
        { { "tools" }, "which server? give --url URL or -- COMMAND" },
        { { "tools", "--jsn" }, "unknown option '--jsn'" },
        { { "tools", "--url" }, "--url needs a value: URL" },
        { { "tools", "--json=1" }, "--json takes no value" },
        { { "tools", "--" }, "a command must follow \"--\"" },
        { { "call", "echo", "text", "--url", "http://127.0.0.1:1/" },
          "'text' is not k=text, k:=json or a JSON object" },
        { { "call", "echo", "n:=oops", "--url", "http://127.0.0.1:1/" }, "the value in 'n:='" },
        { { "call", "echo", "--timeout", "soon", "--url", "http://127.0.0.1:1/" },
          "--timeout is a number of milliseconds, not 'soon'" },
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
    CHECK_INT(RUN("call", "nothing", SERVER), 5);
    CHECK_HAS(err, "Unknown tool: nothing");
    CHECK_INT(RUN("tools", "--", "/nowhere/at/all"), 4);
    CHECK_HAS(err, "Failed to spawn /nowhere/at/all: No such file or directory");
    CHECK_INT(RUN("tools", "--", "false"), 4);
    CHECK_HAS(err, "exited with status 1");
    CHECK_INT(RUN("tools", "--url", "http://127.0.0.1:1/mcp"), 4);
    CHECK_HAS(err, "127.0.0.1");
    CHECK_INT(RUN("tools", "--url", "gopher://x/"), 1);
}
