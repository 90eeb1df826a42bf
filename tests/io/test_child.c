#include "child_rig.h"
#include "temp_dir.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static void send(struct story *s, const char *text)
{
    struct span part = span_of(text);
    struct pb_error err;

    CHECK_INT(stream_write(child_in(s->child), &part, 1, &err), 0);
}

/* Is it gone, or at least dead and waiting for init to reap it? */
static bool is_dead(pid_t pid)
{
    char path[64], text[256] = "";
    const char *state;
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    if (n <= 0)
        return true; /* reaped since it was opened */
    state = strrchr(text, ')');
    return !state || state[2] == 'Z' || state[2] == 'X';
}

static void await_death(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    if (fd >= 0) {
        struct pollfd p = { .fd = fd, .events = POLLIN };

        CHECK_INT(poll(&p, 1, 20000), 1);
        close(fd);
    }
    CHECK(is_dead(pid));
}

static size_t count_fds(const char *folder)
{
    DIR *d = opendir(folder);
    size_t n = 0;

    CHECK(d != NULL);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2; /* . and .. */
}

/* S1-8 S1-14 */
TEST(given_variables_are_visible_in_the_child)
{
    const char *const env[] = { "TEST_VAR=test_value", "API_KEY=key_123", NULL };
    struct story s;

    run_script(&s, "echo \"$TEST_VAR $API_KEY\"; echo said >&2; exit 3", env, false);
    CHECK_SPAN(buf_span(&s.out), "test_value key_123\n");
    CHECK_SPAN(buf_span(&s.err), "said|");
    CHECK_INT(s.status, 3);
    CHECK_INT(s.signal, 0);
    CHECK(s.eof_first);
    end(&s);
}

/* S1-9 S1-15 */
TEST(given_variables_are_merged_over_those_of_the_parent)
{
    const char *const env[] = { "CHILD_VAR=child", NULL };
    struct story s;

    setenv("PARENT_VAR", "parent", 1);
    run_script(&s, "echo \"$PARENT_VAR $CHILD_VAR\"", env, false);
    CHECK_SPAN(buf_span(&s.out), "parent child\n");
    end(&s);
}

/* S1-10 S1-17 */
TEST(a_given_path_wins_over_that_of_the_parent)
{
    const char *const env[] = { "PATH=/first", "PATH=/custom", NULL };
    struct story s;

    setenv("PATH", "/original", 1);
    run_script(&s, "echo \"$PATH\"; /usr/bin/env", env, false);
    CHECK(s.out.n > 8 && !memcmp(s.out.p, "/custom\n", 8));
    CHECK(!strstr(buf_cstr(&s.out), "PATH=/original"));
    CHECK(!strstr(buf_cstr(&s.out), "PATH=/first"));
    end(&s);
}

/* S1-11 S1-12 S1-16 */
TEST(without_variables_a_spawn_is_a_plain_spawn)
{
    const char *const none[] = { NULL };
    const char *const *const envs[] = { NULL, none };

    for (size_t i = 0; i < ARRAY_LEN(envs); i++) {
        struct story s;

        run(&s, &(struct child_spec){ .command = "echo",
                                      .args = (const char *const[]){ "hello", NULL },
                                      .env = envs[i] });
        CHECK_SPAN(buf_span(&s.out), "hello\n");
        CHECK_INT(s.status, 0);
        end(&s);
    }
}

TEST(a_clean_environment_holds_only_what_was_given)
{
    const char *const env[] = { "ONLY=this", NULL };
    struct story s;

    run(&s, &(struct child_spec){ .command = "/usr/bin/env", .env = env, .clean_env = true });
    CHECK_SPAN(buf_span(&s.out), "ONLY=this\n");
    end(&s);
    run(&s, &(struct child_spec){ .command = "env", .clean_env = true });
    CHECK_SPAN(buf_span(&s.out), "");
    CHECK_INT(s.status, 0);
    end(&s);
}

/* S1-13 */
TEST(a_failed_spawn_names_the_command_and_the_cause)
{
    static const struct {
        const char *command, *cwd, *want;
    } cases[] = {
        { "no-such-command-here", NULL,
          "Failed to spawn no-such-command-here: No such file or directory" },
        { "/no/such/file", NULL, "Failed to spawn /no/such/file: No such file or directory" },
        { "/etc/passwd", NULL, "Failed to spawn /etc/passwd: Permission denied" },
        { "/etc", NULL, "Failed to spawn /etc: Permission denied" },
        { "true", "/no/such/folder",
          "Failed to spawn true: enter directory /no/such/folder: No such file or directory" },
    };
    struct pb_loop *l = loop_new(NULL);
    size_t before = count_fds("/proc/self/fd");

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct child_spec spec = { .command = cases[i].command, .cwd = cases[i].cwd };
        struct child *c = NULL;
        struct pb_error err;

        CHECK_INT(child_spawn(&c, l, &spec, &events, NULL, &err), -PB_E_SYSTEM);
        CHECK_STR(err.msg, cases[i].want);
        CHECK(!c);
    }
    CHECK_INT(count_fds("/proc/self/fd"), before);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
    loop_free(l);
}

TEST(a_malformed_variable_is_refused_without_showing_its_value)
{
    const char *const env[] = { "GOOD=1", "=secret", NULL };
    struct child_spec spec = { .command = "true", .env = env };
    struct pb_loop *l = loop_new(NULL);
    struct child *c;
    struct pb_error err;

    CHECK_INT(child_spawn(&c, l, &spec, &events, NULL, &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "Failed to spawn true: entry 2 of its environment is not NAME=value");
    spec = (struct child_spec){ .command = "" };
    CHECK_INT(child_spawn(&c, l, &spec, &events, NULL, &err), -PB_E_INVALID);
    loop_free(l);
}

static void write_program(const char *path, const char *text)
{
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0700);

    CHECK(fd >= 0);
    CHECK_INT(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

TEST(the_command_is_looked_up_in_the_path_of_the_child)
{
    char path[128];
    const char *env[] = { path, NULL };
    struct story s;

    snprintf(path, sizeof path, "PATH=/nowhere:/etc/passwd:%s", temp_root());
    write_program(temp_path("my-server"), "#!/bin/sh\npwd\n");
    run(&s, &(struct child_spec){ .command = "my-server", .env = env, .cwd = "/" });
    CHECK_SPAN(buf_span(&s.out), "/\n");
    end(&s);
}

TEST(what_is_no_program_is_not_given_to_a_shell)
{
    char path[] = "/tmp/patchbay-noexec-XXXXXX";
    int fd = mkstemp(path);
    struct pb_loop *l = loop_new(NULL);
    struct child_spec spec = { .command = path };
    struct child *c;
    struct pb_error err;

    CHECK(fd >= 0);
    close(fd);
    write_program(path, "echo a shell ran me\n");
    chmod(path, 0700);
    CHECK_INT(child_spawn(&c, l, &spec, &events, NULL, &err), -PB_E_SYSTEM);
    CHECK_INT(err.sys, ENOEXEC);
    unlink(path);
    loop_free(l);
}

TEST(the_child_has_three_descriptors_and_a_group_of_its_own)
{
    int leak = fcntl(1, F_DUPFD, 50), leak2 = fcntl(1, F_DUPFD, 900); /* not close-on-exec */
    char folder[64];
    struct story s;

    CHECK(leak >= 50 && leak2 >= 900);
    begin(&s, &(struct child_spec){ .command = "cat" });
    send(&s, "x");
    TURN_UNTIL(&s, s.out.n); /* the dynamic linker has closed its files */
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)child_pid(s.child));
    CHECK_INT(count_fds(folder), 3);
    CHECK_INT(getpgid(child_pid(s.child)), child_pid(s.child));
    CHECK(getpgid(0) != child_pid(s.child));
    end(&s);
}

TEST(the_child_starts_with_default_signals)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    sigset_t set;
    struct story s;

    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGUSR2, &ignore, NULL);
    /* one that libc keeps for itself, as posix_spawn() leaves it to its children */
    syscall(SYS_rt_sigaction, 32, &(unsigned long[4]){ (unsigned long)SIG_IGN }, NULL, 8);
    sigfillset(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
    run(&s, &(struct child_spec){ .command = "cat",
                                  .args = (const char *const[]){ "/proc/self/status", NULL } });
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    CHECK_HAS(buf_cstr(&s.out), "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
    end(&s);
}

TEST(a_spawn_leaves_the_signal_mask_of_the_parent_alone)
{
    sigset_t before, after;
    struct story s;

    memset(&before, 0, sizeof before);
    memset(&after, 0, sizeof after);
    sigprocmask(SIG_SETMASK, NULL, &before);
    run_script(&s, "true", NULL, false);
    sigprocmask(SIG_SETMASK, NULL, &after);
    CHECK(!memcmp(&before, &after, sizeof before));
    end(&s);
}

TEST(bytes_go_through_a_child_both_ways_unchanged)
{
    enum { TOTAL = 8 << 20 };
    char *text = malloc(TOTAL);
    struct span part = { text, TOTAL };
    struct pb_error err;
    struct story s;

    for (size_t i = 0; i < TOTAL; i++)
        text[i] = (char)(i * 31 + i / 4096);
    begin(&s, &(struct child_spec){ .command = "cat" });
    CHECK_INT(stream_write(child_in(s.child), &part, 1, &err), 0);
    CHECK(stream_full(child_in(s.child)));
    stream_shutdown(child_in(s.child), 0, NULL, NULL);
    TURN_UNTIL(&s, s.exits);
    CHECK_INT(s.out.n, TOTAL);
    CHECK(!memcmp(s.out.p, text, TOTAL));
    CHECK_INT(s.status, 0);
    end(&s);
    free(text);
}

TEST(what_was_said_before_a_sudden_end_is_not_lost)
{
    struct story s;

    run_script(&s, "printf 'one\\nhalf a li'; printf 'oops' >&2; kill -KILL $$", NULL, false);
    CHECK_SPAN(buf_span(&s.out), "one\nhalf a li");
    CHECK_SPAN(buf_span(&s.err), "oops|");
    CHECK_INT(s.signal, SIGKILL);
    CHECK(s.eof_first);
    end(&s);
}

TEST(a_child_that_closes_its_stdout_lives_on)
{
    char text[64];
    struct story s;

    begin_script(&s, "exec >&-; read line; exit 7");
    TURN_UNTIL(&s, s.eofs);
    loop_turn(s.loop, false);
    CHECK_INT(s.exits, 0);
    child_describe(s.child, text, sizeof text);
    CHECK_STR(text, "runs");
    send(&s, "go\n");
    TURN_UNTIL(&s, s.exits);
    CHECK_INT(s.status, 7);
    CHECK_INT(s.eofs, 1);
    child_describe(s.child, text, sizeof text);
    CHECK_STR(text, "exited with status 7");
    end(&s);
}

TEST(stopping_closes_stdin_and_asks_the_group_to_end)
{
    char text[64];
    struct story s;

    begin_script(
        &s,
        "trap 'cat; echo bye; exit 0' TERM; echo ready; while :; do sleep 60 </dev/null >/dev/null 2>&1 & wait; done");
    TURN_UNTIL(&s, s.out.n);
    child_stop(s.child, CHILD_STOP_MS);
    child_stop(s.child, CHILD_STOP_MS);
    TURN_UNTIL(&s, s.exits);
    CHECK_SPAN(buf_span(&s.out), "ready\nbye\n");
    CHECK_INT(s.status, 0);
    child_describe(s.child, text, sizeof text);
    CHECK_STR(text, "exited with status 0");
    child_stop(s.child, CHILD_STOP_MS);
    end(&s);
}

TEST(a_child_that_ignores_everything_is_killed_after_the_grace_time)
{
    struct span part = SPAN("x");
    struct pb_error err;
    char text[64];
    struct story s;

    begin_script(&s, "trap '' TERM; echo ready; while :; do sleep 60; done");
    TURN_UNTIL(&s, s.out.n);
    child_stop(s.child, CHILD_STOP_MS);
    CHECK_INT(stream_write(child_in(s.child), &part, 1, &err), -PB_E_CLOSED);
    loop_advance(s.loop, CHILD_STOP_MS - 1);
    CHECK(!is_dead(child_pid(s.child)));
    CHECK_INT(s.exits, 0);
    loop_advance(s.loop, 1);
    TURN_UNTIL(&s, s.exits);
    CHECK_INT(s.signal, SIGKILL);
    child_describe(s.child, text, sizeof text);
    CHECK_STR(text, "was killed by signal 9 (Killed)");
    end(&s);
}

TEST(a_second_stop_can_only_hurry)
{
    struct story s;

    begin_script(&s, "trap '' TERM; echo ready; while :; do sleep 60; done");
    TURN_UNTIL(&s, s.out.n);
    child_stop(s.child, 1000);
    child_stop(s.child, 9000);
    child_stop(s.child, 10);
    loop_advance(s.loop, 10);
    TURN_UNTIL(&s, s.exits);
    CHECK_INT(s.signal, SIGKILL);
    end(&s);
}

TEST(a_stopped_process_still_hears_that_it_shall_end)
{
    struct story s;

    begin_script(
        &s,
        "trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 60 </dev/null >/dev/null 2>&1 & wait; done");
    TURN_UNTIL(&s, s.out.n);
    kill(child_pid(s.child), SIGSTOP);
    child_stop(s.child, CHILD_STOP_MS);
    TURN_UNTIL(&s, s.exits);
    CHECK_SPAN(buf_span(&s.out), "ready\nbye\n");
    end(&s);
}

static pid_t pid_in(const struct buf *b)
{
    char text[32];

    snprintf(text, sizeof text, "%.*s", (int)(b->n < 31 ? b->n : 31), b->p);
    return (pid_t)strtol(text, NULL, 10);
}

TEST(what_a_child_leaves_behind_in_its_group_is_killed)
{
    pid_t left;
    struct story s;

    /* holds no pipe, ignores SIGTERM */
    begin_script(&s, "trap '' TERM; sleep 1000 </dev/null >/dev/null 2>&1 & echo $!; exit 0");
    TURN_UNTIL(&s, s.exits);
    left = pid_in(&s.out);
    CHECK(left > 1);
    await_death(left);
    end(&s);
}

TEST(one_of_the_group_that_holds_stdout_delays_the_end_by_a_moment_only)
{
    pid_t left;
    struct story s;

    begin_script(&s, "sleep 1000 & echo $!; exit 5");
    TURN_UNTIL(&s, s.out.n);
    left = pid_in(&s.out);
    CHECK(left > 1);
    while (!is_dead(child_pid(s.child)))
        loop_turn(s.loop, false);
    for (int i = 0; i < 3; i++)
        loop_turn(s.loop, false);
    loop_advance(s.loop, CHILD_LINGER_MS - 1);
    CHECK_INT(s.exits, 0);
    CHECK(!is_dead(left));
    loop_advance(s.loop, 1);
    TURN_UNTIL(&s, s.exits);
    CHECK_INT(s.status, 5);
    CHECK(s.eof_first);
    await_death(left);
    end(&s);
}

TEST(one_that_left_the_group_cannot_hold_up_the_end)
{
    pid_t left;
    struct story s;

    begin_script(&s, "setsid sh -c 'echo $$; exec sleep 1000' & read gone; exit 0");
    TURN_UNTIL(&s, s.out.n);
    left = pid_in(&s.out);
    CHECK_INT(getsid(left), left);
    send(&s, "\n");
    while (!is_dead(child_pid(s.child)))
        loop_turn(s.loop, false);
    for (int i = 0; i < 3; i++)
        loop_turn(s.loop, false);
    loop_advance(s.loop, CHILD_LINGER_MS);
    CHECK_INT(s.exits, 0);
    loop_advance(s.loop, CHILD_LINGER_MS);
    TURN_UNTIL(&s, s.exits);
    CHECK(s.eof_first);
    CHECK(!is_dead(left));
    kill(left, SIGKILL);
    end(&s);
}

TEST(a_paused_reader_gets_all_output_after_the_child_has_ended)
{
    enum { TOTAL = 50000 };
    struct story s;

    begin_script(&s, "sleep 1000 & head -c 50000 /dev/zero; exit 0");
    stream_read(child_out(s.child), false);
    while (!is_dead(child_pid(s.child)))
        loop_turn(s.loop, false);
    for (int i = 0; i < 3; i++)
        loop_turn(s.loop, false);
    loop_advance(s.loop, 10 * CHILD_LINGER_MS);
    CHECK_INT(s.out.n, 0);
    CHECK_INT(s.exits, 0);
    stream_read(child_out(s.child), true);
    TURN_UNTIL(&s, s.exits);
    CHECK_INT(s.out.n, TOTAL);
    end(&s);
}

TEST(two_hundred_children_leave_no_descriptor_and_no_zombie)
{
    struct pb_loop *l = loop_new(NULL);
    size_t before;

    loop_turn(l, false);
    before = count_fds("/proc/self/fd");
    for (int i = 0; i < 200; i++) {
        struct child_spec spec = { .command = "/bin/true" };
        struct story s = { .loop = l };
        struct pb_error err;

        CHECK_INT(child_spawn(&s.child, l, &spec, &events, &s, &err), 0);
        if (i % 2)
            TURN_UNTIL(&s, s.exits);
        child_close(s.child, on_closed, &s);
        TURN_UNTIL(&s, s.closed);
    }
    CHECK_INT(count_fds("/proc/self/fd"), before);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_INT(errno, ECHILD);
    loop_free(l);
}

TEST(closing_a_running_child_ends_it_without_events)
{
    struct story s;

    begin_script(
        &s,
        "trap 'head -c 200000 /dev/zero; exit 0' TERM; echo ready; while :; do sleep 60 </dev/null >/dev/null 2>&1 & wait; done");
    TURN_UNTIL(&s, s.out.n);
    child_close(s.child, on_closed, &s);
    TURN_UNTIL(&s, s.closed);
    CHECK_INT(s.exits, 0);
    CHECK_INT(s.eofs, 0);
    CHECK_INT(s.out.n, 6);
    loop_free(s.loop);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
    buf_done(&s.out);
}

TEST(freeing_the_loop_waits_for_a_child_that_was_closed_and_ignores_sigterm)
{
    struct story s;
    pid_t pid;

    begin_script(&s, "trap '' TERM; echo ready; while :; do sleep 60; done");
    TURN_UNTIL(&s, s.out.n);
    pid = child_pid(s.child);
    child_close(s.child, on_closed, &s);
    loop_free(s.loop);
    CHECK(s.closed);
    CHECK(is_dead(pid));
    buf_done(&s.out);
}

static void close_in_exit(void *ctx, int status, int signal)
{
    struct story *s = ctx;

    on_exited(s, status, signal);
    child_close(s->child, on_closed, s);
}

TEST(a_child_may_be_closed_in_its_last_event)
{
    struct child_events own = events;
    struct child_spec spec = { .command = "echo" };
    struct story s = { .loop = loop_new(NULL) };
    struct pb_error err;

    own.exited = close_in_exit;
    CHECK_INT(child_spawn(&s.child, s.loop, &spec, &own, &s, &err), 0);
    TURN_UNTIL(&s, s.closed);
    CHECK_INT(s.exits, 1);
    loop_free(s.loop);
    buf_done(&s.out);
}

TEST(the_kernel_kills_the_child_when_the_parent_is_killed)
{
    int fds[2];
    pid_t parent, child = 0;

    TAP_SKIP_UNDER_VALGRIND("has no descriptors of processes");
    CHECK_INT(pipe(fds), 0);
    parent = fork();
    if (parent == 0) {
        struct story s;
        pid_t pid;

        begin_script(&s, "trap '' TERM HUP INT PIPE; while :; do read x; sleep 60; done");
        pid = child_pid(s.child);
        if (write(fds[1], &pid, sizeof pid) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    CHECK_INT(read(fds[0], &child, sizeof child), sizeof child);
    CHECK(!is_dead(child));
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    await_death(child);
}

TEST(a_child_can_be_started_when_the_parent_has_no_stdio)
{
    int keep[3];
    struct story s;

    fflush(stdout);
    for (int i = 0; i < 3; i++)
        keep[i] = fcntl(i, F_DUPFD_CLOEXEC, 100);
    for (int i = 0; i < 3; i++)
        close(i);
    run_script(&s, "echo out; echo err >&2", NULL, false);
    for (int i = 0; i < 3; i++)
        dup2(keep[i], i);
    CHECK_SPAN(buf_span(&s.out), "out\n");
    CHECK_SPAN(buf_span(&s.err), "err|");
    end(&s);
}

TEST(a_host_that_reaps_all_children_does_not_confuse_us)
{
    char text[64];
    struct story s;

    begin_script(&s, "exit 4");
    CHECK_INT(waitpid(child_pid(s.child), NULL, 0), child_pid(s.child));
    TURN_UNTIL(&s, s.exits);
    child_describe(s.child, text, sizeof text);
    CHECK_STR(text, "has ended");
    end(&s);
}
