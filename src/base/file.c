#include "file.h"
#include "buf.h"
#include "mem.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOCK_STEP_MS = 10 };

int file_make_directories(const char *dir, struct pb_error *err)
{
    AUTO_FREE char *at = mem_dup(dir);

    for (char *p = at + 1;; p++) {
        char was = *p;

        if (was && was != '/')
            continue;
        *p = '\0';
        if (mkdir(at, 0700) < 0 && errno != EEXIST)
            return fail_sys(err, errno, "make the directory '%s'", at);
        if (!was)
            return 0;
        *p = was;
    }
}

int file_lock_directory(const char *dir, int wait_ms, int *lock, struct pb_error *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return fail_sys(err, errno, "open the directory '%s'", dir);
    for (int waited = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; waited += LOCK_STEP_MS) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            break;
        if (waited >= wait_ms) {
            close(fd);
            return fail(err, PB_E_BUSY, "another program is changing files in '%s'; try again",
                        dir);
        }
        poll(NULL, 0, LOCK_STEP_MS);
    }
    *lock = fd;
    return 0;
}

static int write_all(int fd, struct span text, const char *path, struct pb_error *err)
{
    while (text.n) {
        ssize_t n = write(fd, text.p, text.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_sys(err, errno, "write '%s'", path);
        text = span_from(text, (size_t)n);
    }
    return 0;
}

static int fill(int fd, const char *path, struct span text, const struct file_how *how,
                struct pb_error *err)
{
    int rc;

    if (how->like && (how->uid != geteuid() || how->gid != getegid()) &&
        fchown(fd, how->uid, how->gid) < 0 && errno != EPERM)
        return fail_sys(err, errno, "keep the owner of '%s'", path);
    if (how->like && fchmod(fd, how->mode) < 0)
        return fail_sys(err, errno, "set the mode of '%s'", path);
    rc = write_all(fd, text, path, err);
    if (rc == 0 && how->durable && fsync(fd) < 0)
        rc = fail_sys(err, errno, "write '%s'", path);
    return rc;
}

/* That the file has this name now is on the disk with its directory only. */
static int sync_directory(const char *path, struct pb_error *err)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *dir =
        slash ? mem_dupn(path, slash == path ? 1 : (size_t)(slash - path)) : mem_dup(".");
    AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || fsync(fd) < 0)
        return fail_sys(err, errno, "write the directory '%s'", dir);
    return 0;
}

int file_replace(const char *path, struct span text, struct file_how how, struct pb_error *err)
{
    AUTO_BUF struct buf name = { 0 };
    AUTO_CLOSE int fd = -1;
    int rc;

    buf_printf(&name, "%s.XXXXXX", path);
    buf_cstr(&name);
    fd = mkostemp(name.p, O_CLOEXEC); /* makes it 0600 */
    if (fd < 0)
        return fail_sys(err, errno, "make a file beside '%s'", path);
    rc = fill(fd, path, text, &how, err);
    if (rc == 0 && rename(name.p, path) < 0)
        rc = fail_sys(err, errno, "replace '%s'", path);
    if (rc < 0)
        unlink(name.p);
    else if (how.durable)
        rc = sync_directory(path, err);
    return rc;
}

int file_read(int fd, const char *path, size_t max, struct buf *out, struct pb_error *err)
{
    enum { STEP = 65536 };

    for (;;) {
        ssize_t n = read(fd, buf_reserve(out, STEP), STEP);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_sys(err, errno, "read '%s'", path);
        if (n == 0)
            return 0;
        out->n += (size_t)n;
        if (out->n > max)
            return fail(err, PB_E_LIMIT, "'%s' is larger than %zu bytes", path, max);
    }
}
