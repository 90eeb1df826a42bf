/* Many threads on one hub, and calls that run when something ends. */
#include "hub/hub/hub.h"
#include "hub/spec/spec.h"
#include "hub_wait_rig.h"

enum { THREADS = 8, ROUNDS = 25 };

/* ---- many threads ---- */

struct worker {
    struct hub_thread *t;
    const char *server;
    int no, bad;
    pthread_t thread;
};

static void *call_often(void *ctx)
{
    struct worker *w = ctx;

    for (int i = 0; i < ROUNDS; i++) {
        AUTO_FREE char *result = NULL;
        char id[64], arguments[64], want[64];

        snprintf(id, sizeof id, "%s/echo", w->server);
        snprintf(arguments, sizeof arguments, "{\"text\":\"%d-%d\"}", w->no, i);
        snprintf(want, sizeof want, "%d-%d", w->no, i);
        w->bad += hub_wait_call(w->t, id, arguments, &result, NULL) < 0 || !strstr(result, want);
    }
    return NULL;
}

static void start_workers(struct worker *w, struct hub_thread *t, const char *const servers[2],
                          void *(*run)(void *))
{
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){ .t = t, .server = servers[i % 2], .no = i };
        CHECK_INT(pthread_create(&w[i].thread, NULL, run, &w[i]), 0);
    }
}

static int join_workers(struct worker *w)
{
    int bad = 0;

    for (int i = 0; i < THREADS; i++) {
        pthread_join(w[i].thread, NULL);
        bad += w[i].bad;
    }
    return bad;
}

/* S4-117 S4-118 S4-119 S4-4 S4-5 */
TEST(many_threads_call_one_server_and_two_while_a_third_is_connected)
{
    struct hub_thread *t = hub_begin();
    struct worker same[THREADS], both[THREADS];

    join_well(t, example("a"));
    join_well(t, example("b"));
    start_workers(same, t, (const char *const[]){ "a", "a" }, call_often);
    start_workers(both, t, (const char *const[]){ "a", "b" }, call_often);
    join_well(t, example("c"));
    CHECK_CALL(t, "c/echo", "{\"text\":\"c\"}", "\"c\"");
    CHECK_INT(join_workers(same), 0);
    CHECK_INT(join_workers(both), 0);
    hub_thread_free(t);
}

static void *up_and_down(void *ctx)
{
    struct worker *w = ctx;
    struct pb_error err;

    for (int i = 0; i < 5; i++) {
        if (w->no % 2)
            w->bad += hub_wait_disconnect(w->t, "a", &err) < 0;
        else if (hub_wait_reconnect(w->t, "a", &err) < 0) /* another may have ended it */
            w->bad += fault_of(&err) != FAULT_NOT_CONNECTED && fault_of(&err) != FAULT_CONNECT;
    }
    return NULL;
}

/* S4-227 */
TEST(many_threads_connect_and_disconnect_one_server)
{
    struct hub_thread *t = hub_begin();
    struct worker w[THREADS];
    struct pb_error err;

    join_well(t, example("a"));
    start_workers(w, t, (const char *const[]){ "a", "a" }, up_and_down);
    CHECK_INT(join_workers(w), 0);
    CHECK_INT(hub_wait_reconnect(t, "a", &err), 0);
    CHECK_CALL(t, "a/echo", "{\"text\":\"still\"}", "still");
    hub_thread_free(t);
}

static void *reconnect_once(void *ctx)
{
    struct worker *w = ctx;
    struct pb_error err;

    w->bad = hub_wait_reconnect(w->t, w->server, &err) < 0;
    return NULL;
}

/* S0-170 */
TEST(threads_that_reconnect_one_server_at_once_share_the_attempt)
{
    struct hub_thread *t = hub_begin();
    struct worker w[THREADS];
    char count[] = "/tmp/patchbay-count-XXXXXX";
    AUTO_BUF struct buf cases = { 0 };
    struct pb_error err;
    int fd = mkstemp(count);
    char text[256];
    ssize_t n;

    buf_printf(&cases, "*tools/list*) echo x >> %s; ok '{\"tools\":[]}';;", count);
    join_well(t, script("a", buf_cstr(&cases)));
    CHECK_INT(hub_wait_disconnect(t, "a", &err), 0);
    start_workers(w, t, (const char *const[]){ "a", "a" }, reconnect_once);
    CHECK_INT(join_workers(w), 0);
    n = read(fd, text, sizeof text);
    CHECK_INT(n, 2 * 2); /* "x\n" of the first connection and of the one reconnect */
    close(fd);
    unlink(count);
    hub_thread_free(t);
}

/* ---- calls that run when something ends ---- */

static void *call_slow(void *ctx)
{
    struct worker *w = ctx;
    struct pb_error err = { 0 };
    char *result;

    w->bad = hub_wait_call(w->t, "fs/slow", NULL, &result, &err);
    w->no = fault_of(&err);
    return NULL;
}

/* S4-120 */
TEST(disconnecting_in_the_middle_of_a_call_ends_it_with_an_error)
{
    struct hub_thread *t = hub_begin();
    struct worker w = { .t = t };
    struct home h;
    struct pb_error err;

    home_start(&h);
    join_well(t, spec_http("fs", h.mcp));
    CHECK_INT(pthread_create(&w.thread, NULL, call_slow, &w), 0);
    sem_wait(&h.slow_began);
    CHECK_INT(hub_wait_disconnect(t, "fs", &err), 0);
    pthread_join(w.thread, NULL);
    CHECK_INT(w.bad, -PB_E_CLOSED);
    CHECK_INT(w.no, FAULT_NOT_CONNECTED);
    hub_thread_free(t);
    home_stop(&h);
}

/* S4-232 */
TEST(a_shutdown_does_not_wait_for_a_call_that_runs)
{
    struct hub_thread *t = hub_begin();
    struct worker w = { .t = t };
    struct home h;

    home_start(&h);
    join_well(t, spec_http("fs", h.mcp));
    CHECK_INT(pthread_create(&w.thread, NULL, call_slow, &w), 0);
    sem_wait(&h.slow_began);
    hub_thread_shutdown(t);
    pthread_join(w.thread, NULL);
    CHECK_INT(w.bad, -PB_E_CLOSED);
    hub_thread_free(t);
    home_stop(&h);
}
