/* cli_rig.h - the program as a person uses it: a home directory of the test's own, verbs whose
 * output and exit code are looked at, and a daemon when one is wanted.
 *
 *     rig_begin();
 *     rig_config("\"ex\":" EXAMPLE);
 *     rig_daemon(NULL);
 *     CHECK_INT(RUN("call", "ex.echo", "text=hi"), 0);
 *     CHECK_STR(out, "hi\n");
 *     rig_end(); */
#pragma once
#include "json_member.h"
#include "loopback.h"
#include "program.h"
#include "temp_dir.h"
#include "json/json.h"
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <termios.h>

enum { RIG_TEXT_MAX = 1 << 20, RIG_ARGS_MAX = 24, RIG_END_MS = 20000 };

static char out[RIG_TEXT_MAX], err[RIG_TEXT_MAX];
static const char *home; /* PATCHBAY_HOME, and where the test's files are */
static char rig_mark[64];
static struct program rig_daemon_program;

/* ---- files ---- */

/* Good until the eighth call after it. */
static inline const char *in_home(const char *name) { return temp_path(name); }

/* "" when it is not there. Good until the next call. */
static inline const char *file_text(const char *name)
{
    static char text[RIG_TEXT_MAX];
    AUTO_CLOSE int fd = open(in_home(name), O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* Until the condition holds; other processes are what is waited for. */
#define WAIT_FOR(cond)                                        \
    do {                                                      \
        uint64_t until_ = now_ms() + RIG_END_MS;              \
        while (!(cond)) {                                     \
            if (now_ms() > until_)                            \
                TAP_FAIL("it never came to this: %s", #cond); \
            poll(NULL, 0, 5);                                 \
        }                                                     \
    } while (0)

#define EXAMPLE     "{\"command\":\"$BUILD/patchbay-example-server\"}"
#define CONFORMANCE "{\"command\":\"$BUILD/conformance-server\",\"args\":[\"--stdio\"]}"
#define MOB(kind)   "{\"command\":\"$BUILD/tests/e2e/mob_server\",\"args\":[\"" kind "\",\"mob\"]}"
/* Writes all that it hears into a file of the home directory. */
#define WITNESS(kind, file) \
    "{\"command\":\"$BUILD/tests/e2e/mob_server\",\"args\":[\"" kind "\",\"$HOME/" file "\"]}"

/* $BUILD and $HOME filled in. */
static inline void write_filled(const char *name, const char *before, const char *text,
                                const char *after)
{
    AUTO_BUF struct buf b = { 0 };

    buf_str(&b, before);
    for (const char *p = text; *p; p++) {
        if (strncmp(p, "$BUILD", 6) == 0) {
            buf_str(&b, getenv("BUILD_DIR"));
            p += 5;
        } else if (strncmp(p, "$HOME", 5) == 0) {
            buf_str(&b, home);
            p += 4;
        } else {
            buf_byte(&b, *p);
        }
    }
    buf_str(&b, after);
    write_file(in_home(name), buf_cstr(&b));
}

static inline void write_servers(const char *file, const char *members)
{
    write_filled(file, "{\"mcpServers\":{", members, "}}");
}

static inline void rig_config(const char *members) { write_servers("config.json", members); }

/* ---- running ---- */

static inline void become(const char *const *args, int in, int o, int e)
{
    const char *argv[RIG_ARGS_MAX + 2] = { built("patchbay") };

    for (int i = 0; args[i]; i++)
        argv[i + 1] = args[i];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nobody behind */
    dup2(in, 0);
    dup2(o, 1);
    dup2(e, 2);
    if (chdir(home) == 0)
        execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

static inline void slurp(int fd, char *text)
{
    ssize_t n = pread(fd, text, RIG_TEXT_MAX - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    close(fd);
}

static inline int memory_file(const char *text)
{
    int fd = memfd_create("text", MFD_CLOEXEC);

    CHECK(fd >= 0 && (!text || write(fd, text, strlen(text)) == (ssize_t)strlen(text)));
    lseek(fd, 0, SEEK_SET);
    return fd;
}

/* A program that goes on; its output comes with started_end(). */
struct started {
    pid_t pid;
    int o, e;
};

static inline void start_with(struct started *s, const char *input, const char *const *args)
{
    int in = memory_file(input);

    s->o = memory_file(NULL);
    s->e = memory_file(NULL);
    fflush(stdout);
    s->pid = fork();
    if (s->pid == 0)
        become(args, in, s->o, s->e);
    close(in);
}

static inline const char *so_far(int fd)
{
    static char text[RIG_TEXT_MAX];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    return text;
}

/* Fills out and err. The exit status, or -signal. */
static inline int started_end(struct started *s)
{
    uint64_t until = now_ms() + PROGRAM_WAIT_MS;
    int status;

    while (waitpid(s->pid, &status, WNOHANG) != s->pid) {
        if (now_ms() > until)
            TAP_FAIL("it does not end; so far \"%s\", \"%s\"", so_far(s->o), so_far(s->e));
        poll(NULL, 0, 2);
    }
    slurp(s->o, out);
    slurp(s->e, err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline int run_with(const char *input, const char *const *args)
{
    struct started s;

    start_with(&s, input, args);
    return started_end(&s);
}

/* Another program than ours, found as a shell finds it. */
static inline int run_other(const char *const *argv, const char *input)
{
    struct started s = { .o = memory_file(NULL), .e = memory_file(NULL) };
    int in = memory_file(input);

    fflush(stdout);
    s.pid = fork();
    if (s.pid == 0) {
        dup2(in, 0);
        dup2(s.o, 1);
        dup2(s.e, 2);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(in);
    return started_end(&s);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define RUN(...)   run_with(NULL, WORDS(__VA_ARGS__))

static unsigned short rig_columns; /* of that terminal; 0: it does not say */

static inline pid_t terminal_start(int *out_master, const char *const *args)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
    pid_t pid;

    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(slave >= 0);
    if (rig_columns)
        CHECK(ioctl(slave, TIOCSWINSZ, &(struct winsize){ .ws_row = 24, .ws_col = rig_columns }) ==
              0);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        setsid();
        ioctl(slave, TIOCSCTTY, 0);
        become(args, slave, slave, slave);
    }
    close(slave);
    *out_master = master;
    return pid;
}

/* At a terminal of its own, into which this is typed. `out` is what stands on it in the end. */
static inline int type_on_terminal(const char *typed, const char *const *args)
{
    int master, status;
    size_t n = 0;
    ssize_t got;
    pid_t pid = terminal_start(&master, args);

    CHECK_INT(write(master, typed, strlen(typed)), strlen(typed));
    while (n < sizeof out - 1 && (got = read(master, out + n, sizeof out - 1 - n)) > 0)
        n += (size_t)got;
    out[n] = '\0';
    close(master);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* What a person does at a terminal: waits until this stands on it, then types that. */
struct talk {
    const char *until, *type; /* ended by NULL */
};

static struct termios *rig_left_as; /* how it is when the program has ended; NULL: nobody asks */

/* The same in turns; `out` is what stands on the terminal in the end. Gives the exit status, or
 * -signal. */
static inline int talk_on_terminal(const struct talk *turns, const char *const *args)
{
    int master, status;
    size_t n = 0, seen = 0;
    uint64_t until = now_ms() + PROGRAM_WAIT_MS;
    pid_t pid = terminal_start(&master, args);

    out[0] = '\0';
    for (;;) {
        struct pollfd fd = { .fd = master, .events = POLLIN };
        const char *at = turns->until ? strstr(out + seen, turns->until) : NULL;
        ssize_t got;

        if (at) {
            seen = n;
            CHECK_INT(write(master, turns->type, strlen(turns->type)), strlen(turns->type));
            turns++;
            continue;
        }
        if (now_ms() > until && turns->until)
            TAP_FAIL("\"%s\" never stood on the terminal: %s", turns->until, out);
        if (now_ms() > until)
            TAP_FAIL("patchbay %s (pid %d) %s the terminal: %s", args[0], (int)pid,
                     waitpid(pid, &status, WNOHANG) == pid ? "has ended, and others have"
                                                           : "does not end, and has",
                     out);
        if (poll(&fd, 1, 100) <= 0)
            continue;
        got = read(master, out + n, sizeof out - 1 - n);
        if (got <= 0)
            break;
        n += (size_t)got;
        out[n] = '\0';
    }
    if (rig_left_as)
        CHECK(tcgetattr(master, rig_left_as) == 0);
    close(master);
    CHECK(waitpid(pid, &status, 0) == pid);
    if (turns->until)
        TAP_FAIL("\"%s\" never stood on the terminal: %s", turns->until, out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline int run_on_terminal(const char *const *args) { return type_on_terminal("", args); }

/* ---- the daemon ---- */

/* "serve --port 0" with more arguments (may be NULL), until its socket is there. Its words are in
 * "daemon.err". */
static inline void rig_daemon(const char *const *more)
{
    const char *argv[RIG_ARGS_MAX] = { "serve", "--port", "0" };
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int e = open(in_home("daemon.err"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    for (int i = 0; more && more[i]; i++)
        argv[3 + i] = more[i];
    fflush(stdout);
    rig_daemon_program.pid = fork();
    if (rig_daemon_program.pid == 0) {
        setsid(); /* as a service manager does: no terminal ends it */
        become(argv, null, null, e);
    }
    close(null);
    close(e);
    WAIT_FOR(strstr(file_text("daemon.err"), "  socket"));
}

static inline int daemon_port(void)
{
    const char *at = strstr(file_text("daemon.err"), "http://127.0.0.1:");

    CHECK(at != NULL);
    return (int)strtol(at + strlen("http://127.0.0.1:"), NULL, 10);
}

static inline int daemon_dial(void) { return loopback_dial(daemon_port()); }

static inline int daemon_ended(void)
{
    int status;

    WAIT_FOR(waitpid(rig_daemon_program.pid, &status, WNOHANG) == rig_daemon_program.pid);
    rig_daemon_program.pid = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static inline int daemon_stop(int signo)
{
    kill(rig_daemon_program.pid, signo);
    return daemon_ended();
}

static inline void rig_begin(void)
{
    static const char *const cleared[] = { "PATCHBAY_TOKEN", "PATCHBAY_MCP_CLIENTS_CONFIG",
                                           "CIDELDILL_HOME", "CIDELDILL_MCP_CLIENTS_CONFIG",
                                           "NO_COLOR" };
    char id[ID_CHARS + 1];

    for (size_t i = 0; i < ARRAY_LEN(cleared); i++)
        unsetenv(cleared[i]);
    home = temp_root();
    setenv("PATCHBAY_HOME", home, 1);
    id_new(id);
    snprintf(rig_mark, sizeof rig_mark, "CLI_MARK=%s", id);
    setenv("CLI_MARK", id, 1);
    out[0] = err[0] = '\0';
}

/* Stops the daemon, if there is one. Nobody may be left. */
static inline void rig_end(void)
{
    if (rig_daemon_program.pid)
        CHECK_INT(daemon_stop(SIGTERM), 0);
    no_process_left(rig_mark, RIG_END_MS);
    temp_clean();
}

/* ---- JSON ---- */

/* A member of what was printed: see json_member(). */
static inline const char *member(const char *path) { return json_member(out, path); }

static inline const char *member_of(const char *list, const char *server, const char *key)
{
    char path[64];

    for (int i = 0;; i++) {
        snprintf(path, sizeof path, "%s.%d.%s", list, i, "name");
        if (!*member(path))
            return "";
        if (strcmp(member(path), server) == 0) {
            snprintf(path, sizeof path, "%s.%d.%s", list, i, key);
            return member(path);
        }
    }
}

/* A member of one server in "list --json". */
static inline const char *server_is(const char *server, const char *key)
{
    CHECK_INT(RUN("list", "--json"), 0);
    return member_of("servers", server, key);
}
