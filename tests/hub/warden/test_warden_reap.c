#include "hub/warden/warden.h"
#include "warden_rig.h"
#include <pthread.h>

struct ending {
    int exits, status;
};

static void on_exited(void *ctx, int status, int signal)
{
    struct ending *e = ctx;

    (void)signal;
    e->exits++;
    e->status = status;
}

static struct child *spawn(struct pb_loop *l, const char *command, const char *const *args,
                           const struct child_events *events, struct ending *e)
{
    struct child_spec spec = { .command = command, .args = args };
    struct pb_error err;
    struct child *c;

    if (child_spawn(&c, l, &spec, events, e, &err) < 0)
        TAP_FAIL("%s", err.msg);
    return c;
}

static void let_pass(void *ctx) { (void)ctx; }

/* The loop, until the process is gone altogether. */
static void turn_until_reaped(struct pb_loop *l, pid_t pid)
{
    while (kill(pid, 0) == 0) {
        loop_after(l, 1, let_pass, NULL);
        loop_turn(l, true);
    }
    CHECK_INT(errno, ESRCH);
}

TEST(an_adopted_child_is_reaped_and_the_status_of_our_own_is_not_taken)
{
    static const struct child_events events = { .exited = on_exited };
    const char *const leave[] = { "helper:leave", NULL };
    struct pb_loop *l = loop_new(NULL);
    struct ending left = { 0 }, own = { 0 };
    struct child *a, *b;
    struct warden *w;
    struct pb_error err;
    struct rig r;

    CHECK_INT(warden_start_with(&w, GRACE_MS, &err), 0);
    CHECK_INT(warden_reap_on(l, &err), 0);
    begin(&r, "leave", NULL);
    await_lines(&r, 1);
    a = spawn(l, "/proc/self/exe", leave, &events, &left);
    b = spawn(l, "/bin/sh", (const char *const[]){ "-c", "exit 7", NULL }, &events, &own);
    CHECK_INT(kill(pid_of(&r, "left"), SIGKILL), 0);
    turn_until_reaped(l, pid_of(&r, "left"));
    turn_until_reaped(l, r.pid);
    while (!own.exits || !left.exits)
        loop_turn(l, true);
    CHECK_INT(own.status, 7);
    CHECK_INT(left.status, 0);
    child_close(a, NULL, NULL);
    child_close(b, NULL, NULL);
    loop_free(l);
    warden_stop(w);
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1);
    CHECK_INT(errno, ECHILD);
    end(&r);
}

/* Many ends at once, of both kinds, on two loops: every status arrives. */
static void *spawn_many(void *ctx)
{
    static const struct child_events events = { .exited = on_exited };
    struct pb_loop *l = loop_new(NULL);
    int *good = ctx;

    for (int i = 0; i < 40; i++) {
        struct ending e = { 0 };
        char script[32];
        struct child *c;

        snprintf(script, sizeof script, "exit %d", i + 1);
        c = spawn(l, "/bin/sh", (const char *const[]){ "-c", script, NULL }, &events, &e);
        while (!e.exits)
            loop_turn(l, true);
        *good += e.status == i + 1;
        child_close(c, NULL, NULL);
    }
    loop_free(l);
    return NULL;
}

TEST(no_exit_status_is_stolen_however_many_end_at_once)
{
    struct pb_loop *l = loop_new(NULL);
    int good[2] = { 0 };
    pthread_t threads[2];
    struct pb_error err;

    CHECK_INT(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    CHECK_INT(warden_reap_on(l, &err), 0);
    for (size_t i = 0; i < 2; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, spawn_many, &good[i]), 0);
    for (int i = 0; i < 200; i++) {
        pid_t orphan = fork();

        if (orphan == 0)
            syscall(SYS_exit_group, 9); /* past the sanitizers, which do not like threads here */
        while (child_reap_adopted() > 0)
            continue;
    }
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(good[0], 40);
    CHECK_INT(good[1], 40);
    for (int i = 0; waitpid(-1, NULL, WNOHANG) != -1; i++) {
        loop_after(l, 1, let_pass, NULL);
        loop_turn(l, true);
        CHECK(i < PATIENCE_MS);
    }
    loop_free(l);
}
