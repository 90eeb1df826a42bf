#include "base/base.h"
#include "tap.h"
#include <fcntl.h>
#include <signal.h>

enum { IDLE, BUSY, DONE };

static void count_entry(void *self) { ++*(int *)self; }

static const struct sm_state states[] = {
    [IDLE] = { "idle", SM_BIT(BUSY), NULL },
    [BUSY] = { "busy", SM_BIT(DONE) | SM_BIT(BUSY), count_entry },
    [DONE] = { "done", 0, NULL },
};

TEST(only_moves_of_the_table_happen)
{
    struct sm m = { states, IDLE };
    int entered = 0;

    CHECK(!sm_try(&m, &entered, DONE));
    CHECK_STR(sm_name(&m), "idle");
    CHECK_INT(entered, 0);
    sm_move(&m, &entered, BUSY);
    CHECK_INT(entered, 1);
    CHECK(sm_try(&m, &entered, BUSY));
    CHECK_INT(entered, 2);
    sm_move(&m, &entered, DONE);
    CHECK_STR(sm_name(&m), "done");
    CHECK(!sm_try(&m, &entered, IDLE));
}

TEST(a_promised_move_that_is_not_in_the_table_aborts)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        struct sm m = { states, DONE };
        int entered = 0;

        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        sm_move(&m, &entered, IDLE);
        _exit(0);
    }
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFSIGNALED(status));
    CHECK_INT(WTERMSIG(status), SIGABRT);
}
