#include "hub/warden/warden.h"
#include "warden_rig.h"

static size_t sweep(const char *mark, uint64_t grace_ms)
{
    return sweep_marked(&(struct marks){ &mark, 1 }, grace_ms);
}

/* ---- the mark ---- */

static bool search(const char *mark, const char *bytes, size_t n, size_t step)
{
    struct marks marks = { &mark, 1 };
    struct mark_search s = { .marks = &marks };

    for (size_t i = 0; i < n; i += step)
        mark_search_feed(&s, bytes + i, n - i < step ? n - i : step);
    return mark_search_end(&s);
}

TEST(a_mark_is_found_as_a_whole_entry_wherever_it_stands)
{
    static const struct {
        struct span environ;
        bool want;
    } cases[] = {
        { SPAN_CONST("PATCHBAY_M=abc\0"), true },
        { SPAN_CONST("PATCHBAY_M=abc"), true },
        { SPAN_CONST("A=1\0PATCHBAY_M=abc\0B=2\0"), true },
        { SPAN_CONST("A=1\0PATCHBAY_M=abc.def\0"), true }, /* a program inside ours */
        { SPAN_CONST(""), false },
        { SPAN_CONST("\0\0"), false },
        { SPAN_CONST("A=1\0"), false },
        { SPAN_CONST("PATCHBAY_M=abcd\0"), false },
        { SPAN_CONST("PATCHBAY_M=ab\0c"), false },
        { SPAN_CONST("XPATCHBAY_M=abc\0"), false },
        { SPAN_CONST("A=PATCHBAY_M=abc\0"), false },
        { SPAN_CONST("PATCHBAY_M=xyz.abc\0"), false },
        { SPAN_CONST("PATCHBAY_M=ab\0PATCHBAY_M=abc\0"), true },
        { SPAN_CONST("PATCHBAY_M=abd\0PATCHBAY_M=abPATCHBAY_M=abc\0"), false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        for (size_t step = 1; step <= 8; step++) {
            if (search("PATCHBAY_M=abc", cases[i].environ.p, cases[i].environ.n, step) !=
                cases[i].want)
                TAP_FAIL("case %zu in pieces of %zu", i, step);
        }
    }
}

TEST(marks_of_servers_are_never_the_same)
{
    char a[WARDEN_SERVER_MARK_CHARS + 1], b[WARDEN_SERVER_MARK_CHARS + 1];

    new_mark(a);
    new_mark(b);
    CHECK(strcmp(a, b) != 0);
    CHECK(strncmp(a, "PATCHBAY_SERVER=", 16) == 0);
}

/* ---- sweeping one server ---- */

TEST(what_one_server_left_behind_is_ended_and_nothing_else)
{
    char mark[WARDEN_SERVER_MARK_CHARS + 1], other[WARDEN_SERVER_MARK_CHARS + 1];
    struct rig a, b;

    new_mark(mark);
    new_mark(other);
    begin(&a, "double", mark);
    begin(&b, "setsid", other);
    await_lines(&a, 2);
    await_lines(&b, 2);
    CHECK(getsid(pid_of(&a, "double")) != getsid(0));
    CHECK_INT(sweep(mark, PATIENCE_MS), 2);
    await_all_gone(&a);
    await_dead(pid_of(&a, "double"));
    CHECK(alive(pid_of(&b, "setsid")));
    CHECK(alive(pid_of(&b, "server")));
    CHECK(sweep(other, PATIENCE_MS) > 0);
    await_all_gone(&b);
    reap(a.pid);
    reap(b.pid);
    end(&a);
    end(&b);
}

TEST(a_mark_that_nobody_has_ends_nobody)
{
    char mark[WARDEN_SERVER_MARK_CHARS + 1], other[WARDEN_SERVER_MARK_CHARS + 1];
    struct rig r;

    new_mark(mark);
    new_mark(other);
    begin(&r, "plain", other);
    await_lines(&r, 1);
    CHECK_INT(sweep(mark, GRACE_MS), 0);
    CHECK(alive(r.pid));
    CHECK_INT(sweep(other, PATIENCE_MS), 1);
    await_all_gone(&r);
    reap(r.pid);
    end(&r);
}

TEST(one_that_ignores_SIGTERM_is_asked_first_and_killed_then)
{
    char mark[WARDEN_SERVER_MARK_CHARS + 1];
    struct rig r;
    int status;

    new_mark(mark);
    begin(&r, "stubborn", mark);
    await_lines(&r, 1);
    CHECK_INT(sweep(mark, GRACE_MS), 2);
    await_lines(&r, 2);
    CHECK_STR(r.seen[1].name, "term");
    await_all_gone(&r);
    CHECK_INT(waitpid(r.pid, &status, 0), r.pid);
    CHECK_INT(WTERMSIG(status), SIGKILL);
    end(&r);
}

TEST(one_that_is_stopped_is_woken_to_end)
{
    char mark[WARDEN_SERVER_MARK_CHARS + 1];
    struct rig r;
    int status;

    new_mark(mark);
    begin(&r, "stopped", mark);
    await_lines(&r, 1);
    CHECK_INT(waitpid(r.pid, &status, WUNTRACED), r.pid);
    CHECK(WIFSTOPPED(status));
    CHECK_INT(sweep(mark, PATIENCE_MS), 1);
    CHECK_INT(waitpid(r.pid, &status, 0), r.pid);
    CHECK_INT(WTERMSIG(status), SIGTERM);
    end(&r);
}

/* A mark deep in a large environment is found, too. */
TEST(a_large_environment_is_searched_to_its_end)
{
    char mark[WARDEN_SERVER_MARK_CHARS + 1];
    AUTO_BUF struct buf big = { 0 };
    struct rig r;

    new_mark(mark);
    memset(buf_reserve(&big, 100000), 'x', 100000);
    big.n = 100000;
    setenv("AAA_BIG", buf_cstr(&big), 1);
    begin(&r, "plain", mark);
    await_lines(&r, 1);
    CHECK_INT(sweep(mark, PATIENCE_MS), 1);
    await_all_gone(&r);
    reap(r.pid);
    end(&r);
}

/* ---- the program ends ---- */

TEST(a_clean_stop_ends_what_is_left_and_the_warden)
{
    struct warden *w;
    struct pb_error err;
    struct rig r;
    pid_t warden;

    CHECK_INT(warden_start_with(&w, GRACE_MS, &err), 0);
    CHECK(strncmp(w->mark, "PATCHBAY_MARK=", 14) == 0);
    CHECK_STR(getenv("PATCHBAY_MARK"), w->mark + 14);
    warden = w->pid;
    CHECK(alive(warden));
    begin(&r, "double", NULL);
    await_lines(&r, 2);
    warden_stop(w);
    await_all_gone(&r);
    CHECK(!alive(warden));
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1); /* no zombie: neither the warden nor adopted ones */
    CHECK_INT(errno, ECHILD);
    CHECK(!getenv("PATCHBAY_MARK"));
    end(&r);
    warden_stop(NULL);
}

TEST(a_stop_works_when_the_warden_was_killed)
{
    struct warden *w;
    struct pb_error err;
    struct rig r;

    CHECK_INT(warden_start_with(&w, GRACE_MS, &err), 0);
    CHECK_INT(kill(w->pid, SIGKILL), 0);
    begin(&r, "setsid", NULL);
    await_lines(&r, 2);
    warden_stop(w);
    await_all_gone(&r);
    end(&r);
}

static void kill_program(const char *helper, size_t lines, int signo)
{
    struct rig r;

    begin(&r, helper, NULL);
    await_lines(&r, lines);
    CHECK_INT(kill(r.pid, signo), 0);
    await_all_gone(&r);
    for (size_t i = 0; i < r.n; i++)
        await_dead(r.seen[i].pid);
    reap(r.pid);
    end(&r);
}

/* program, warden, plain, server, setsid, server, double, server, stubborn */
enum { PROGRAM_LINES = 9 };

TEST(nothing_outlives_a_program_that_was_killed)
{
    static const int signals[] = { SIGKILL, SIGTERM, SIGABRT };

    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        kill_program("program", PROGRAM_LINES, signals[i]);
}

TEST(nothing_outlives_a_program_inside_a_program_that_was_killed)
{
    kill_program("nest", PROGRAM_LINES + 2, SIGKILL);
}

TEST(a_program_inside_itself_inside_itself_is_refused)
{
    AUTO_BUF struct buf path = { 0 };
    struct warden *w;
    struct pb_error err;

    for (int i = 0; i < WARDEN_DEPTH_MAX - 1; i++)
        buf_printf(&path, "%s%032d", i ? "." : "", i);
    setenv("PATCHBAY_MARK", buf_cstr(&path), 1);
    CHECK_INT(warden_start(&w, &err), 0); /* the last that is allowed */
    CHECK(span_starts(span_of(w->mark + 14), buf_cstr(&path)));
    warden_stop(w);
    buf_printf(&path, ".%032d", 99);
    setenv("PATCHBAY_MARK", buf_cstr(&path), 1);
    CHECK_INT(warden_start(&w, &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "inside each other");
}

TEST(a_mark_that_is_not_ours_is_not_carried_on)
{
    static const char *const marks[] = { "",
                                         "x",
                                         "../..",
                                         "0123456789abcdef0123456789abcdef0",
                                         "0123456789abcdef0123456789abcdef.",
                                         "ABCDEF" };

    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        struct warden *w;
        struct pb_error err;

        setenv("PATCHBAY_MARK", marks[i], 1);
        CHECK_INT(warden_start(&w, &err), 0);
        CHECK_INT(strlen(w->mark), 14 + ID_CHARS);
        warden_stop(w);
    }
}

/* ---- the warden itself ---- */

static void read_proc(pid_t pid, const char *what, char *out, size_t n)
{
    char path[64];
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, what);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    got = read(fd, out, n - 1);
    close(fd);
    out[got > 0 ? got : 0] = '\0';
}

/* It has set itself up when it waits for the pipe. */
static void await_warden(pid_t pid)
{
    char text[256] = "";

    for (int i = 0; strcmp(text, "patchbay-warden\n") != 0; i++) {
        CHECK(i < PATIENCE_MS);
        read_proc(pid, "comm", text, sizeof text);
        poll(NULL, 0, 1);
    }
}

static int count_fds(pid_t pid, bool *holds_ours, ino_t ours)
{
    char path[64];
    int n = 0;

    *holds_ours = false;
    for (int fd = 0; fd < 256; fd++) {
        struct stat st;

        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)pid, fd);
        if (stat(path, &st) < 0)
            continue;
        n++;
        *holds_ours |= st.st_ino == ours;
    }
    return n;
}

TEST(the_warden_holds_nothing_that_others_wait_for)
{
    struct warden *w;
    struct pb_error err;
    struct stat st;
    char text[512];
    bool holds;
    int fd[2];

    setenv("CANARY_SECRET", "s3cr3t", 1);
    CHECK_INT(pipe(fd), 0);
    CHECK_INT(fstat(fd[1], &st), 0);
    CHECK_INT(dup2(fd[1], STDIN_FILENO), STDIN_FILENO);
    CHECK_INT(warden_start(&w, &err), 0);
    await_warden(w->pid);
    read_proc(w->pid, "cmdline", text, sizeof text);
    CHECK_STR(text, "patchbay-warden");
    read_proc(w->pid, "environ", text, sizeof text);
    CHECK_STR(text, "");
    CHECK_INT(count_fds(w->pid, &holds, st.st_ino), 4);
    CHECK(!holds);
    CHECK(getsid(w->pid) == w->pid);
    warden_stop(w);
    close(fd[0]);
    close(fd[1]);
}

TEST(the_warden_cannot_be_ended_by_the_signals_of_a_terminal_or_a_service_manager)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1 };
    struct warden *w;
    struct pb_error err;

    CHECK_INT(warden_start(&w, &err), 0);
    await_warden(w->pid);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        CHECK_INT(kill(w->pid, signals[i]), 0);
    CHECK(alive(w->pid));
    warden_stop(w);
}

TEST(a_program_without_standard_descriptors_has_a_warden_all_the_same)
{
    struct warden *w;
    struct pb_error err;
    struct stat st;
    bool holds;

    CHECK_INT(close(STDIN_FILENO), 0);
    CHECK_INT(warden_start(&w, &err), 0);
    CHECK_INT(fstat(STDIN_FILENO, &st), -1); /* it did not take the place */
    await_warden(w->pid);
    CHECK_INT(count_fds(w->pid, &holds, 0), 4);
    warden_stop(w);
}
