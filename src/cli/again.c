#include "again.h"
#include "io/io.h"
#include "token.h"
#include <errno.h>
#include <signal.h>

/* Signals that were held back would stay so. */
static void let_signals_in(void)
{
    sigset_t none;

    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

int again_become(const struct cli *cli)
{
    struct pb_error err;

    fflush(NULL);
    token_show();
    child_return_file_limit();
    let_signals_in();
    execvp(cli->argv[0], cli->argv);
    fail_sys(&err, errno, "start '%s' again", cli->argv[0]);
    return cli_fail(&err);
}
