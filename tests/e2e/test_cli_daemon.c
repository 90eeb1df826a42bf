/* The daemon as a person starts and ends it. */
#include "cli_rig.h"

static bool has_ended(void)
{
    siginfo_t info = { 0 };

    CHECK(waitid(P_PID, (id_t)rig_daemon_program.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0);
    return info.si_pid == rig_daemon_program.pid;
}

TEST(stop_has_ended_the_daemon_when_it_ends)
{
    static const struct {
        const char *words[4];
        bool json;
    } ways[] = { { { "stop" }, false },
                 { { "status", "--stop" }, false },
                 { { "stop", "--json" }, true } };

    rig_begin();
    CHECK_INT(RUN("stop"), 4);
    CHECK_HAS(err, "patchbay: no daemon listens on '");
    CHECK_HAS(err, "'patchbay serve' starts one\n");
    /* A server that takes as long as it may. */
    rig_config("\"ex\":" EXAMPLE ",\"deaf\":" MOB("noterm"));
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        char says[64], pid[16];

        rig_daemon(NULL);
        WAIT_FOR(strcmp(server_is("deaf", "state"), "connected") == 0);
        snprintf(pid, sizeof pid, "%d", rig_daemon_program.pid);
        snprintf(says, sizeof says, "The daemon has ended (pid %s)\n", pid);
        CHECK_INT(run_with(NULL, ways[i].words), 0);
        CHECK(has_ended());
        CHECK_STR(err, "");
        if (ways[i].json) {
            CHECK_STR(member("stopped"), "true");
            CHECK_STR(member("pid"), pid);
        } else {
            CHECK_STR(out, says);
        }
        CHECK_INT(daemon_ended(), 0);
        CHECK_INT(access(in_home("run/patchbay.sock"), F_OK), -1);
    }
    rig_end();
}
