/* Programs that are started and left alone. */
#include "io/io.h"
#include "tap.h"
#include "temp_dir.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* A pipe with a name: what was launched has no other way to tell. */
static int open_fifo(const char *path)
{
    CHECK_INT(mkfifo(path, 0600), 0);
    return open(path, O_RDWR | O_CLOEXEC);
}

static long hear_number(int fd)
{
    char text[64] = "";

    CHECK(read(fd, text, sizeof text - 1) > 0);
    return strtol(text, NULL, 10);
}

static int launch_script(const char *script)
{
    return child_launch(&(struct child_spec){ .command = "/bin/sh",
                                              .args = (const char *const[]){ "-c", script, NULL } },
                        NULL);
}

TEST(what_is_launched_goes_on_without_us)
{
    char script[600];
    const char *gate = temp_path("gate"), *fifo = temp_path("said");
    AUTO_CLOSE int fd = open_fifo(fifo), open_gate = open_fifo(gate);
    pid_t parent;
    long session;

    snprintf(script, sizeof script, "read x <%s; ps -o sid= -p $$ >%s", gate, fifo);
    parent = fork();
    if (parent == 0)
        _exit(launch_script(script) < 0);
    CHECK_INT(waitpid(parent, NULL, 0), parent);
    CHECK_INT(write(open_gate, "\n", 1), 1); /* only now, when nobody is left who launched it */
    session = hear_number(fd);
    CHECK(session > 0 && session != getsid(0));
}

TEST(what_cannot_be_launched_is_told)
{
    struct pb_error err;

    CHECK_INT(child_launch(&(struct child_spec){ .command = "/no/such" }, &err), -PB_E_SYSTEM);
    CHECK_HAS(err.msg, "Failed to spawn /no/such: No such file or directory");
    CHECK_INT(waitpid(-1, NULL, WNOHANG), -1); /* no zombie */
    CHECK_INT(errno, ECHILD);
}

TEST(children_get_the_limit_of_files_that_we_came_with)
{
    const char *fifo = temp_path("said");
    AUTO_CLOSE int fd = open_fifo(fifo);
    struct rlimit files;
    char script[256];

    TAP_SKIP_UNDER_VALGRIND("has limits of its own");
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = 200;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &files), 0);
    child_keep_file_limit();
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &files), 0);
    CHECK_INT(files.rlim_cur, files.rlim_max);
    snprintf(script, sizeof script, "ulimit -n >%s", fifo);
    CHECK_INT(launch_script(script), 0);
    CHECK_INT(hear_number(fd), 200);
    CHECK(waitpid(-1, NULL, 0) > 0);
}
