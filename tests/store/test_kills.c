/* A program that is killed at any moment: what was acknowledged is there, and the file is whole.
 * KILLS=10000 for a long run. */
#include "store_rig.h"
#include <signal.h>
#include <sqlite3.h>
#include <time.h>

/* Puts records for ever; says the number of the last one that was shown. */
static void put_until_killed(int out)
{
    struct rig rig;
    uint64_t last;
    unsigned i;

    rig_new(&rig);
    i = (unsigned)rig_find(&rig, (struct call_query){ .limit = 1 })->total;
    for (;;) {
        for (unsigned k = 0; k < 1 + i % 97; k++) {
            struct record r = rig_call(++i);
            char text[2000];

            snprintf(text, sizeof text, "{\"n\":%u,\"text\":\"%0*d\"}", i, (int)(i % 1900), 7);
            r.result = rig_bytes(text);
            store_put(rig.s, &r);
        }
        last = rig_find(&rig, (struct call_query){ .limit = 1 })->v[0].no;
        if (write(out, &last, sizeof last) != sizeof last)
            _exit(1);
        if (i % 5 == 0)
            rig_find(&rig, (struct call_query){ .text = "n" });
    }
}

static uint64_t run_and_kill(unsigned us)
{
    uint64_t last = 0, heard;
    struct timespec pause = { .tv_nsec = (long)us * 1000 };
    int to[2], status;
    pid_t pid;

    CHECK_INT(pipe(to), 0);
    pid = fork();
    if (pid == 0) {
        close(to[0]);
        put_until_killed(to[1]);
    }
    close(to[1]);
    if (read(to[0], &heard, sizeof heard) == sizeof heard)
        last = heard;
    nanosleep(&pause, NULL);
    CHECK_INT(kill(pid, SIGKILL), 0);
    while (read(to[0], &heard, sizeof heard) == sizeof heard)
        last = heard;
    close(to[0]);
    waitpid(pid, &status, 0);
    CHECK(WIFSIGNALED(status));
    return last;
}

static int on_row(void *ctx, int n, char **values, char **names)
{
    (void)names;
    if (n == 1 && values[0] && strcmp(values[0], "ok") == 0)
        ++*(int *)ctx;
    else
        printf("# integrity_check: %s\n", n ? values[0] : "");
    return 0;
}

/* With the library itself: it is what is being doubted. */
static void check_whole(const char *path)
{
    sqlite3 *db;
    int ok = 0;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "PRAGMA integrity_check", on_row, &ok, NULL), SQLITE_OK);
    sqlite3_close(db);
    CHECK_INT(ok, 1);
}

TEST(what_was_acknowledged_survives_a_kill_at_any_moment)
{
    const char *kills = getenv("KILLS");
    unsigned n = kills ? (unsigned)strtoul(kills, NULL, 10) : 20, seed = (unsigned)getpid();

    temp_root();
    for (unsigned i = 0; i < n; i++) {
        uint64_t last = run_and_kill((seed = seed * 1103515245u + 12345u) / 65536 % 30000);
        struct rig_page *p;
        struct rig rig;
        char uuid[UUID_CHARS + 1];

        if (i % 10 == 0)
            check_whole(temp_path("records/records.db"));
        rig_new(&rig);
        p = rig_find(&rig, (struct call_query){ .limit = 1 });
        CHECK_INT(p->err.code, 0);
        CHECK(p->v[0].no >= last);
        CHECK_INT(p->total, p->v[0].no);
        snprintf(uuid, sizeof uuid, "00000000-0000-4000-8000-%012x", (unsigned)last);
        CHECK_INT(rig_get(&rig, uuid)->v[0].no, last);
        CHECK_INT(rig_object(&rig, rig_get(&rig, uuid)->v[0].result_cid)->err.code, 0);
        rig_done(&rig);
    }
    check_whole(temp_path("records/records.db"));
}
