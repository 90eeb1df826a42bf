#include "background.h"
#include "hub_flags.h"
#include "talk.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { LOG_BYTES_MAX = 1048576, SHOWN_BYTES_MAX = 4096 };

/* One log before this one is kept, so that they do not grow without end. */
static int open_log(const char *path, off_t *begins, struct pb_error *err)
{
    AUTO_FREE char *dir = mem_dupn(path, (size_t)(strrchr(path, '/') - path));
    AUTO_BUF struct buf old = { 0 };
    struct stat st;
    int fd, rc = file_make_directories(dir, err);

    if (rc < 0)
        return rc;
    buf_printf(&old, "%s.1", path);
    if (stat(path, &st) == 0 && st.st_size > LOG_BYTES_MAX && rename(path, buf_cstr(&old)) < 0)
        return fail_sys(err, errno, "move '%s' away", path);
    fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fail_sys(err, errno, "write to '%s'", path);
    *begins = st.st_size;
    return fd;
}

/* The directory stays what it was: files may have been named from there. */
static void leave_terminal(int log)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);

    setsid();
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
}

/* Until the end of the text: helpers of the other process may hold the pipe for as long as it runs.
 * False: it is gone and has not said that it serves. */
static bool hear_ready(int fd, struct buf *text)
{
    char piece[512];

    for (;;) {
        ssize_t n = read(fd, piece, sizeof piece);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        buf_add_span(text, span_make(piece, (size_t)n));
        if (piece[n - 1] == '\0') {
            text->n--;
            return true;
        }
    }
}

static int tell_failed(pid_t pid, int log, off_t begins, const char *path)
{
    char text[SHOWN_BYTES_MAX + 1];
    ssize_t n = pread(log, text, SHOWN_BYTES_MAX, begins);
    int status = 0;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    text[n > 0 ? n : 0] = '\0';
    fputs(text, stderr); /* in the form that was asked for */
    n = talk_fail(FAILURE_UNREACHABLE, "it does not run in the background; see %s", path);
    return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : (int)n;
}

static int await(pid_t pid, int ready, int log, off_t begins, const char *path)
{
    AUTO_BUF struct buf text = { 0 };

    if (!hear_ready(ready, &text))
        return tell_failed(pid, log, begins, path);
    fputs(buf_cstr(&text), stdout);
    return CLI_OK;
}

bool background_split(const char *path, int *ready, int *status)
{
    struct pb_error err;
    off_t begins = 0;
    AUTO_CLOSE int log = open_log(path, &begins, &err);
    int ends[2];
    pid_t pid = -1;

    *status = CLI_USAGE;
    if (log < 0) {
        *status = cli_config_fail(&err);
        return false;
    }
    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) == 0)
        pid = fork();
    if (pid < 0) {
        fail_sys(&err, errno, "start a process in the background");
        *status = cli_fail(&err);
        return false;
    }
    if (pid == 0) {
        close(ends[0]);
        leave_terminal(log);
        *ready = ends[1];
        return true;
    }
    close(ends[1]);
    *status = await(pid, ends[0], log, begins, path);
    close(ends[0]);
    return false;
}

void background_ready(int ready, struct span text)
{
    static const char end = '\0';
    struct span parts[] = { text, { &end, 1 } };

    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        while (parts[i].n) {
            ssize_t n = write(ready, parts[i].p, parts[i].n);

            if (n < 0 && errno != EINTR)
                break; /* nobody waits any more */
            parts[i] = span_from(parts[i], n > 0 ? (size_t)n : 0);
        }
    close(ready);
}
