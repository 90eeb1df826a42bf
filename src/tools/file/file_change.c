#include "file_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

/* While names are swapped and swapped back nobody else here does so: what lies beside a name for a
 * moment must not be taken for what is there. */
static pthread_mutex_t swapping = PTHREAD_MUTEX_INITIALIZER;

/* ---- names ---- */

static int rename_how(int from_dir, const char *from, int to_dir, const char *to, unsigned how)
{
    return syscall(SYS_renameat2, from_dir, from, to_dir, to, how) < 0 ? -errno : 0;
}

static void new_name(char name[static 48])
{
    char id[ID_CHARS + 1];

    id_new(id);
    snprintf(name, 48, ".patchbay-%s", id);
}

int name_move(int from_dir, const char *from, int to_dir, const char *to)
{
    int rc = rename_how(from_dir, from, to_dir, to, RENAME_NOREPLACE);

    if (rc != -EINVAL && rc != -ENOSYS)
        return rc;
    /* A link fails where there is something already; and of a directory there is none. */
    if (linkat(from_dir, from, to_dir, to, 0) < 0)
        return errno == EPERM ? rc : -errno;
    return unlinkat(from_dir, from, 0) < 0 ? -errno : 0;
}

static int name_exchange(int dir, const char *a, const char *b)
{
    char spare[48];
    int rc = rename_how(dir, a, dir, b, RENAME_EXCHANGE);

    if (rc != -EINVAL && rc != -ENOSYS)
        return rc;
    new_name(spare);
    if (linkat(dir, b, dir, spare, 0) < 0)
        return -errno;
    if (renameat(dir, a, dir, b) < 0) {
        rc = -errno;
        unlinkat(dir, spare, 0);
        return rc;
    }
    return renameat(dir, spare, dir, a) < 0 ? -errno : 0;
}

/* ---- reading ---- */

int change_read(struct file_change *ch, struct tool_place *take_place, bool whole,
                struct pb_error *err)
{
    AUTO_CLOSE int fd = -1;
    int rc;

    *ch = (struct file_change){ .place = *take_place, .dir = -1 };
    *take_place = (struct tool_place){ .root = -1 };
    rc = place_enter(&ch->place, false, &ch->dir, &ch->name, err);
    if (rc == 0)
        rc = place_open_in(&ch->place, ch->dir, ch->name, &fd, &ch->st, err);
    if (rc == -PB_E_NOT_FOUND)
        return 0;
    ch->there = rc == 0;
    if (rc < 0 || !whole)
        return rc;
    if (ch->st.st_size > FILE_EDIT_BYTES)
        return fail(err, PB_E_LIMIT,
                    "'%s' has %lld bytes; files of up to %d bytes can be changed here",
                    ch->place.name, (long long)ch->st.st_size, FILE_EDIT_BYTES);
    return file_read(fd, ch->place.name, FILE_EDIT_BYTES, &ch->was, err);
}

void change_done(struct file_change *ch)
{
    if (ch->dir >= 0)
        close(ch->dir);
    place_done(&ch->place);
    buf_done(&ch->was);
    buf_done(&ch->text);
}

/* ---- what it shall be, beside what it is ---- */

/* What people have noted, and lists of who may do what; not what a program may do with the file.
 * What cannot be kept is not worth failing for. */
static bool is_kept(const char *attribute)
{
    return strncmp(attribute, "user.", 5) == 0 || strcmp(attribute, "system.posix_acl_access") == 0;
}

static void keep_attributes(const struct file_change *ch, int to)
{
    AUTO_FREE char *names = mem_alloc(FILE_XATTR_BYTES), *value = mem_alloc(FILE_XATTR_BYTES);
    AUTO_CLOSE int from = -1;
    struct stat st;
    ssize_t n;

    if (place_open_in(&ch->place, ch->dir, ch->name, &from, &st, NULL) < 0)
        return;
    n = flistxattr(from, names, FILE_XATTR_BYTES);
    for (const char *name = names; n > 0 && name < names + n; name += strlen(name) + 1) {
        ssize_t size = is_kept(name) ? fgetxattr(from, name, value, FILE_XATTR_BYTES) : -1;

        if (size >= 0)
            (void)!fsetxattr(to, name, value, (size_t)size, 0);
    }
}

/* Nothing is made to run as its owner: what is written here nobody has looked at. */
static int make_like(const struct file_change *ch, const struct stat *st, int fd,
                     struct pb_error *err)
{
    if ((st->st_uid != geteuid() || st->st_gid != getegid()) &&
        fchown(fd, st->st_uid, st->st_gid) < 0 && errno != EPERM)
        return fail_sys(err, errno, "keep the owner of '%s'", ch->place.name);
    if (fchmod(fd, st->st_mode & 0777) < 0)
        return fail_sys(err, errno, "keep the mode of '%s'", ch->place.name);
    if (ch->there)
        keep_attributes(ch, fd);
    return 0;
}

static int write_text(const struct file_change *ch, int fd, struct pb_error *err)
{
    struct span text = buf_span(&ch->text);
    ssize_t n = 0;

    for (; text.n && n >= 0; text = span_from(text, n > 0 ? (size_t)n : 0)) {
        n = write(fd, text.p, text.n);
        if (n < 0 && errno == EINTR)
            n = 0;
    }
    if (n < 0 || fsync(fd) < 0)
        return fail_sys(err, errno, "write '%s'", ch->place.name);
    return 0;
}

static int stage(struct file_change *ch, struct pb_error *err)
{
    const struct stat *like = ch->like ? ch->like : ch->there ? &ch->st : NULL;
    AUTO_CLOSE int fd = -1;
    int rc = 0;

    new_name(ch->beside);
    if (ch->gone)
        return 0;
    if (ch->dir < 0)
        rc = place_enter(&ch->place, true, &ch->dir, &ch->name, err);
    if (rc < 0)
        return rc;
    fd = openat(ch->dir, ch->beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                like ? 0600 : 0666);
    if (fd < 0)
        return fail_sys(err, errno, "make a file beside '%s'", ch->place.name);
    ch->staged = true;
    if (like)
        rc = make_like(ch, like, fd, err);
    if (rc == 0)
        rc = write_text(ch, fd, err);
    return rc;
}

/* ---- from one to the other ---- */

/* Is what lies there what was read? A name changes the inode's time, so that is not looked at. */
static bool same(const struct file_change *ch, const char *name)
{
    struct stat now;

    return fstatat(ch->dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == ch->st.st_dev &&
           now.st_ino == ch->st.st_ino && now.st_size == ch->st.st_size &&
           now.st_mtim.tv_sec == ch->st.st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == ch->st.st_mtim.tv_nsec;
}

static int swap_names(const struct file_change *ch, bool back)
{
    const char *from = ch->gone != back ? ch->name : ch->beside;
    const char *to = ch->gone != back ? ch->beside : ch->name;

    if (ch->there && !ch->gone)
        return name_exchange(ch->dir, ch->beside, ch->name);
    return name_move(ch->dir, from, ch->dir, to);
}

static int swap(struct file_change *ch, struct pb_error *err)
{
    int rc = ch->there && !same(ch, ch->name) ? -ENOENT : swap_names(ch, false);

    if (rc == 0 && ch->there && !same(ch, ch->beside)) {
        /* Somebody else's lies beside it now. If it cannot go back, it stays there. */
        if (swap_names(ch, true) < 0)
            ch->staged = name_move(ch->dir, ch->beside, ch->dir, ch->name) == 0;
        rc = -ENOENT;
    }
    ch->swapped = rc == 0;
    if (rc == -ENOENT || rc == -EEXIST)
        return fail(err, PB_E_BUSY, "'%s' was changed by somebody else meanwhile; look at it again",
                    ch->place.name);
    return rc < 0 ? fail_sys(err, -rc, "replace '%s'", ch->place.name) : 0;
}

static int swap_back(struct file_change *v, size_t n, struct pb_error *err)
{
    int rc = -(int)err->code;

    while (n--) {
        if (v[n].swapped && swap_names(&v[n], true) < 0) {
            v[n].staged = false; /* it is what is left of what was there */
            rc = fail_in(err, "'%s' could not be put back; what it was is '%s' beside it",
                         v[n].place.name, v[n].beside);
        }
        v[n].swapped = false;
    }
    return rc;
}

/* What is beside it now: what it was, or what it shall not be. */
static void clear(const struct file_change *ch)
{
    if (ch->swapped ? ch->there : ch->staged)
        unlinkat(ch->dir, ch->beside, 0);
}

/* That a file has this name now is on the disk with its directory only. */
static int sync_directory(const struct file_change *ch, struct pb_error *err)
{
    AUTO_CLOSE int fd = openat(ch->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0 && fsync(fd) < 0)
        return fail_sys(err, errno, "'%s' is written, but perhaps not on the disk yet",
                        ch->place.name);
    return 0;
}

int changes_apply(struct file_change *v, size_t n, struct pb_error *err)
{
    int rc = 0;

    for (size_t i = 0; i < n && rc == 0; i++)
        rc = stage(&v[i], err);
    if (rc == 0) {
        pthread_mutex_lock(&swapping);
        for (size_t i = 0; i < n && rc == 0; i++)
            rc = swap(&v[i], err);
        if (rc < 0)
            rc = swap_back(v, n, err);
        pthread_mutex_unlock(&swapping);
    }
    for (size_t i = 0; i < n; i++)
        clear(&v[i]);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = sync_directory(&v[i], err);
    return rc;
}

/* ---- one file ---- */

static int edit_once(struct tool_call *c, file_edit_fn *fn, void *ctx, bool whole,
                     struct tool_place *place, struct buf *why)
{
    struct file_change ch;
    struct pb_error err;
    int rc;

    if (place_find(place, c, pb_arg_string(c->call, "filePath"), &err) < 0)
        return file_why(why, &err);
    rc = change_read(&ch, place, whole, &err);
    if (rc < 0)
        file_why(why, &err);
    else
        rc = fn(&ch, ctx, why);
    if (rc == 0 && ch.text.n > FILE_EDIT_BYTES) {
        buf_printf(why, "'%s' would have %zu bytes; at most %d are possible", ch.place.name,
                   ch.text.n, FILE_EDIT_BYTES);
        rc = -PB_E_LIMIT;
    }
    if (rc == 0) {
        rc = changes_apply(&ch, 1, &err);
        if (rc < 0)
            file_why(why, &err);
    }
    *place = ch.place;
    ch.place = (struct tool_place){ .root = -1 };
    change_done(&ch);
    return rc;
}

int file_edit(struct tool_call *c, file_edit_fn *fn, void *ctx, bool whole,
              struct tool_place *place)
{
    AUTO_BUF struct buf why = { 0 };
    int rc = -PB_E_BUSY;

    for (int i = 0; rc == -PB_E_BUSY && i < FILE_EDIT_TRIES; i++) {
        place_done(place);
        why.n = 0;
        rc = edit_once(c, fn, ctx, whole, place, &why);
    }
    return rc < 0 ? file_fail(c, buf_span(&why)) : 0;
}
