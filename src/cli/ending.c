#include "ending.h"
#include "reach.h"
#include "show.h"
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>

/* The process itself, so that another one that gets its number later is not taken for it; -1 when
 * it has just ended. */
static int watch_process(int64_t pid, int *fd, struct pb_error *err)
{
    *fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
    if (*fd < 0 && errno != ESRCH)
        return fail_sys(err, errno, "watch the daemon, process %lld", (long long)pid);
    return 0;
}

/* It answers that it will end. Before that we hold on to its process. */
static int tell_to_end(struct reach *s, int64_t *pid, int *process, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *status = NULL, *reply = NULL;
    int rc = reach_ask(s, "patchbay/status", NULL, &status, &doc, err);

    if (rc == 0)
        rc = json_int(json_get(json_root(&doc), "pid"), pid, err);
    if (rc == 0)
        rc = watch_process(*pid, process, err);
    if (rc == 0)
        rc = reach_request(s, "patchbay/stop", NULL, &reply, err);
    pb_result_free(status);
    pb_result_free(reply);
    return rc;
}

static int wait_for_end(int64_t pid, int process, struct pb_error *err)
{
    struct pollfd p = { .fd = process, .events = POLLIN };
    uint64_t until = clock_real()->now_ms(clock_real()) + DAEMON_ENDS_MS;
    int n = process < 0 ? 1 : 0;

    while (n == 0 || (n < 0 && errno == EINTR)) {
        uint64_t now = clock_real()->now_ms(clock_real());

        if (now >= until)
            return fail(
                err, PB_E_TIMEOUT,
                "the daemon (pid %lld) was told to end and has not within %d s; its servers "
                "may take their time",
                (long long)pid, DAEMON_ENDS_MS / 1000);
        n = poll(&p, 1, (int)(until - now));
    }
    return n < 0 ? fail_sys(err, errno, "wait for the daemon, process %lld", (long long)pid) : 0;
}

static void tell_ended(const struct cli *cli, int64_t pid)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    if (!cli_option(cli, "json")) {
        printf("The daemon has ended (pid %lld)\n", (long long)pid);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_bool(&o, "stopped", true);
    json_put_int(&o, "pid", pid);
    json_end(&o);
    show_json(buf_cstr(&out));
}

int ending_run(const struct cli *cli)
{
    struct reach *s = NULL;
    struct pb_error err;
    AUTO_CLOSE int process = -1;
    int64_t pid = 0;
    int rc, status = reach_open(&s, cli, &(struct reach_wants){ .daemon_only = true });

    if (status != CLI_OK)
        return status;
    rc = tell_to_end(s, &pid, &process, &err);
    reach_close(s); /* it need not wait for us */
    if (rc == 0)
        rc = wait_for_end(pid, process, &err);
    if (rc < 0)
        return cli_fail(&err);
    tell_ended(cli, pid);
    return CLI_OK;
}
