#include "config_edit_file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

void edit_file_done(struct edit_file *f)
{
    free(f->path);
    if (f->lock >= 0)
        close(f->lock);
    *f = (struct edit_file)EDIT_FILE_INIT;
}

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return mem_dup(".");
    return mem_dupn(path, slash == path ? 1 : (size_t)(slash - path));
}

/* What a symbolic link at the end of `path` says, seen from the link's own directory; NULL: none
 * there. realpath() would do, but not for a link whose target does not exist yet. */
static char *link_target(const char *path)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target);
    AUTO_BUF struct buf out = { 0 };

    if (n <= 0 || (size_t)n == sizeof target)
        return NULL;
    if (target[0] != '/') {
        AUTO_FREE char *dir = directory_of(path);

        buf_printf(&out, "%s/", dir);
    }
    buf_add(&out, target, (size_t)n);
    return buf_take(&out);
}

static int follow_links(const char *path, char **out, struct pb_error *err)
{
    char *at = mem_dup(path);

    for (int i = 0; i <= CONFIG_LINKS_MAX; i++) {
        char *target = link_target(at);

        if (!target) {
            *out = at;
            return 0;
        }
        free(at);
        at = target;
    }
    free(at);
    return fail_sys(err, ELOOP, "open '%s'", path);
}

int edit_file_read(const char *path, struct buf *text, struct pb_error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return fail(err, PB_E_NOT_FOUND, "there is no file '%s'", path);
    if (fd < 0)
        return fail_sys(err, errno, "open '%s'", path);
    return file_read(fd, path, CONFIG_BYTES_MAX, text, err);
}

static int read_existing(struct edit_file *f, struct buf *text, struct pb_error *err)
{
    AUTO_CLOSE int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0 || fstat(fd, &st) < 0)
        return fail_sys(err, errno, "open '%s'", f->path);
    if (!S_ISREG(st.st_mode))
        return fail(err, PB_E_INVALID, "'%s' is not a file", f->path);
    f->existed = true;
    f->mode = st.st_mode & 07777;
    f->uid = st.st_uid;
    f->gid = st.st_gid;
    return file_read(fd, f->path, CONFIG_BYTES_MAX, text, err);
}

int edit_file_open(struct edit_file *f, const char *path, bool make, struct buf *text,
                   struct pb_error *err)
{
    AUTO_FREE char *dir = NULL;
    int rc;

    rc = follow_links(path, &f->path, err);
    if (rc < 0)
        return rc;
    dir = directory_of(f->path);
    if (make && (rc = file_make_directories(dir, err)) < 0)
        return rc;
    if (!make && access(dir, F_OK) < 0)
        return 0;
    rc = file_lock_directory(dir, f->lock_ms, &f->lock, err);
    return rc < 0 ? rc : read_existing(f, text, err);
}

int edit_file_replace(struct edit_file *f, struct span text, struct pb_error *err)
{
    struct file_how how = { true, f->existed, f->mode, f->uid, f->gid };
    int rc = file_replace(f->path, text, how, err);

    if (rc == 0)
        fsync(f->lock); /* the new name itself; not every file system can, and the file is there */
    return rc;
}
