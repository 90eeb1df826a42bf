/* A server that only the command line names. */
#include "cli_rig.h"

/* S4-34 */
TEST(the_inline_flag_alone_makes_the_daemon_a_client_of_that_server)
{
    char server[300];

    rig_begin();
    CHECK_INT(access(in_home("config.json"), F_OK), -1); /* no file says anything */
    CHECK_INT(access(in_home("mcp_clients.json"), F_OK), -1);
    snprintf(server, sizeof server, "ex:%s", built("patchbay-example-server"));
    rig_daemon(WORDS("--mcp-client", server));
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "ex.echo");
    CHECK_INT(RUN("call", "ex.echo", "text=alone"), 0);
    CHECK_STR(out, "alone\n");
    CHECK_INT(access(in_home("mcp_clients.json"), F_OK), -1);
    rig_end();
}
