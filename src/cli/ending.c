#include "ending.h"
#include "reach.h"
#include "show.h"
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>

enum { AGAIN_STEP_MS = 20 };

/* The process itself, so that another one that gets its number later is not taken for it; -1 when
 * it has just ended. */
static int watch_process(int64_t pid, int *fd, struct pb_error *err)
{
    *fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    if (*fd < 0 && errno != ESRCH)
        return fail_sys(err, errno, "watch the daemon, process %lld", (long long)pid);
    return 0;
}

/* The daemon that is to end. */
struct daemon_ending {
    int64_t pid;
    int process;
    char *started; /* when, as it says itself: by this it is told from the one that follows */
};

static int read_status(struct reach *s, struct daemon_ending *e, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *status = NULL;
    struct span started;
    int rc = reach_ask(s, "patchbay/status", NULL, &status, &doc, err);

    if (rc == 0)
        rc = json_int(json_get(json_root(&doc), "pid"), &e->pid, err);
    if (rc == 0) {
        started = json_text(json_get(json_root(&doc), "started_at"));
        e->started = mem_dupn(started.p, started.n);
    }
    pb_result_free(status);
    return rc;
}

/* It answers that it will end. Before that we hold on to its process. */
static int tell_to_end(struct reach *s, bool again, struct daemon_ending *e, struct pb_error *err)
{
    struct pb_result *reply = NULL;
    int rc = read_status(s, e, err);

    if (rc == 0)
        rc = watch_process(e->pid, &e->process, err);
    if (rc == 0)
        rc = reach_request(s, "patchbay/stop", again ? "{\"again\":true}" : NULL, &reply, err);
    pb_result_free(reply);
    return rc;
}

static uint64_t now_ms(void) { return clock_real()->now_ms(clock_real()); }

/* Has the process ended within this time? */
static bool has_ended(const struct daemon_ending *e, uint64_t ms)
{
    struct pollfd p = { .fd = e->process, .events = POLLIN };

    return e->process < 0 || poll(&p, 1, (int)ms) == 1;
}

static int wait_for_end(const struct daemon_ending *e, struct pb_error *err)
{
    uint64_t until = now_ms() + DAEMON_ENDS_MS;

    for (uint64_t now = now_ms(); now < until; now = now_ms())
        if (has_ended(e, until - now))
            return 0;
    return fail(
        err, PB_E_TIMEOUT,
        "the daemon (pid %lld) was told to end and has not within %d s; its servers may take "
        "their time",
        (long long)e->pid, DAEMON_ENDS_MS / 1000);
}

/* ---- and beginning again --------------------------------------------------------------------- */

/* Does one answer that is not the one that was told to end? */
static bool serves_again(const struct cli *cli, const struct daemon_ending *e)
{
    AUTO(reach) struct reach *s = NULL;
    struct daemon_ending now = { .process = -1 };
    bool other = false;

    if (reach_daemon(&s, cli, NULL, NULL) == 0 && read_status(s, &now, NULL) == 0)
        other = strcmp(now.started, e->started) != 0;
    free(now.started);
    return other;
}

static int wait_for_next(const struct cli *cli, const struct daemon_ending *e, struct pb_error *err)
{
    uint64_t until = now_ms() + DAEMON_ENDS_MS;

    while (!serves_again(cli, e)) {
        if (has_ended(e, AGAIN_STEP_MS))
            return fail(err, PB_E_CLOSED,
                        "the daemon (pid %lld) has ended and does not start again; what it said "
                        "about that is where it was started, or in daemon.log",
                        (long long)e->pid);
        if (now_ms() >= until)
            return fail(err, PB_E_TIMEOUT,
                        "the daemon (pid %lld) was told to start again and has not within %d s",
                        (long long)e->pid, DAEMON_ENDS_MS / 1000);
    }
    return 0;
}

/* ---- both ------------------------------------------------------------------------------------ */

static void tell(const struct cli *cli, bool again, int64_t pid)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    if (!cli_option(cli, "json")) {
        printf("The daemon has %s (pid %lld)\n", again ? "started again" : "ended", (long long)pid);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_bool(&o, again ? "restarted" : "stopped", true);
    json_put_int(&o, "pid", pid);
    json_end(&o);
    show_json(buf_cstr(&out));
}

static int end(const struct cli *cli, bool again)
{
    struct reach *s = NULL;
    struct daemon_ending e = { .process = -1 };
    struct pb_error err;
    int rc, status = reach_open(&s, cli, &(struct reach_wants){ .daemon_only = true });

    if (status != CLI_OK)
        return status;
    rc = tell_to_end(s, again, &e, &err);
    reach_close(s); /* it need not wait for us */
    if (rc == 0)
        rc = again ? wait_for_next(cli, &e, &err) : wait_for_end(&e, &err);
    if (rc < 0)
        status = cli_fail(&err);
    else
        tell(cli, again, e.pid);
    if (e.process >= 0)
        close(e.process);
    free(e.started);
    return status;
}

int ending_run(const struct cli *cli) { return end(cli, false); }

int ending_run_again(const struct cli *cli) { return end(cli, true); }
