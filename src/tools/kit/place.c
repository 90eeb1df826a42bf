#include "kit_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

/* ---- the path ---- */

char *place_path(const char *directory, const char *path)
{
    const char *home = getenv("HOME");
    struct buf out = { 0 };

    path_resolve(&out, directory, home && *home == '/' ? home : NULL, path);
    return buf_take(&out);
}

const char *place_shown(const char *directory, const char *path)
{
    size_t n = strlen(directory);

    if (!path_is_within(directory, path) || n == 1)
        return path;
    return path[n] ? path + n + 1 : ".";
}

/* What is left of path behind the directory; NULL: it is not in there. "/w/a-b" is not in "/w/a".
 */
static const char *below(const char *path, const char *directory)
{
    size_t n = strlen(directory);

    if (!path_is_within(directory, path))
        return NULL;
    if (n > 1)
        n++;
    return strlen(path) > n ? path + n : ".";
}

/* Its beginning and its end: the text that it is put into has an end, too. */
static void set_name(struct tool_place *p)
{
    enum { HEAD = 24 };
    size_t n = strlen(p->path), room = sizeof p->name - 1 - HEAD - strlen("…");

    if (n < sizeof p->name) {
        memcpy(p->name, p->path, n + 1);
    } else {
        struct span head = utf8_cut(span_of(p->path), HEAD);
        const char *tail = p->path + n - room;

        while (((unsigned char)*tail & 0xC0) == 0x80)
            tail++;
        snprintf(p->name, sizeof p->name, "%.*s…%s", SPAN_ARG(head), tail);
    }
    text_make_printable(p->name);
}

static int check_path(const char *path, struct pb_error *err)
{
    if (!path || !*path)
        return fail(err, PB_E_INVALID, "the path is empty");
    if (strlen(path) >= PATH_MAX)
        return fail(err, PB_E_LIMIT, "the path has %zu bytes; at most %d are possible",
                    strlen(path), PATH_MAX - 1);
    return 0;
}

/* ---- opening ---- */

static int resolve(int dir, const char *path, int flags, uint64_t rules)
{
    struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC), .resolve = rules };
    int fd = -1;

    /* EAGAIN: something on the way was renamed meanwhile, and it is not known to be beneath. */
    for (int i = 0; i < PLACE_TRIES; i++) {
        fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof how);
        if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
            break;
    }
    return fd;
}

static uint64_t rules_of(const struct tool_place *p)
{
    return RESOLVE_NO_MAGICLINKS | (p->inside ? RESOLVE_BENEATH : 0);
}

static bool leads_somewhere(const struct tool_place *p, const char *path)
{
    AUTO_CLOSE int fd = resolve(p->root, path, O_PATH, rules_of(p));

    return fd >= 0;
}

static bool read_link(const struct tool_place *p, const char *path, char *to, size_t n)
{
    AUTO_CLOSE int fd = resolve(p->root, path, O_PATH | O_NOFOLLOW, rules_of(p));
    ssize_t got = fd < 0 ? -1 : readlinkat(fd, "", to, n - 1);

    to[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* For a text only: nothing is decided by it. The first link on the way that leads nowhere we go,
 * and to where. NULL: there is none by now. */
static char *way_out(const struct tool_place *p)
{
    AUTO_FREE char *part = mem_dup(p->below);
    AUTO_BUF struct buf to = { 0 };
    char link[PATH_MAX], *end = part, *slash;

    for (;; end++) {
        end = strchrnul(end, '/');
        if (!*end)
            break;
        *end = '\0';
        if (!leads_somewhere(p, part))
            break;
        *end = '/';
    }
    if (!read_link(p, part, link, sizeof link))
        return NULL;
    slash = strrchr(part, '/');
    if (*link != '/') /* it begins where the link lies */
        buf_printf(&to, "%.*s%.*s/", (int)(p->below - p->path), p->path,
                   slash ? (int)(slash - part) : 0, part);
    buf_str(&to, link);
    buf_str(&to, p->below + (end - part));
    return place_path("/", buf_cstr(&to));
}

static int fail_outside(const struct tool_place *p, struct pb_error *err)
{
    struct tool_place target = { .root = -1, .path = way_out(p) };

    if (!target.path)
        return fail(err, PB_E_INVALID, "'%s' leads out of the working directory", p->name);
    set_name(&target);
    free(target.path);
    return fail(err, PB_E_INVALID,
                "a symbolic link leads out of the working directory, to '%.90s'; if that is meant, "
                "ask for that path itself",
                target.name);
}

static int fail_open(const struct tool_place *p, int sys, struct pb_error *err)
{
    switch (sys) {
    case ENOENT:
        return fail(err, PB_E_NOT_FOUND, "there is no '%s'", p->name);
    case ENOTDIR:
        return fail(err, PB_E_NOT_FOUND,
                    "there is no '%s': something before its last part is no directory", p->name);
    case EXDEV:
        return fail_outside(p, err);
    case ELOOP:
        return fail_sys(err, sys, "follow the symbolic links on the way to '%s'", p->name);
    case EAGAIN:
        return fail(err, PB_E_BUSY, "what is on the way to '%s' is being renamed; try again",
                    p->name);
    case ENOSYS:
        return fail(err, PB_E_UNSUPPORTED,
                    "this kernel cannot keep a path within a directory (openat2, Linux 5.6 or "
                    "newer): no file is touched");
    default:
        return fail_sys(err, sys, "open '%s'", p->name);
    }
}

const char *place_kind_name(mode_t mode)
{
    static const struct {
        mode_t type;
        const char *name;
    } rows[] = {
        { S_IFREG, "file" },         { S_IFDIR, "directory" }, { S_IFLNK, "symbolic link" },
        { S_IFIFO, "named pipe" },   { S_IFSOCK, "socket" },   { S_IFCHR, "character device" },
        { S_IFBLK, "block device" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((mode & S_IFMT) == rows[i].type)
            return rows[i].name;
    return "thing of an unknown kind";
}

static int check_kind(const struct tool_place *p, int fd, unsigned kinds, struct stat *st,
                      struct pb_error *err)
{
    struct statfs fs;
    unsigned kind;

    if (fstat(fd, st) < 0 || fstatfs(fd, &fs) < 0)
        return fail_sys(err, errno, "look at '%s'", p->name);
    if (fs.f_type == PROC_SUPER_MAGIC)
        return fail(err, PB_E_INVALID,
                    "'%s' is made up by the kernel and may hold what programs keep secret: it is "
                    "not opened",
                    p->name);
    kind = S_ISREG(st->st_mode) ? PLACE_FILE : S_ISDIR(st->st_mode) ? PLACE_DIRECTORY : 0;
    if (kind & kinds)
        return 0;
    if (kind == PLACE_DIRECTORY)
        return fail(err, PB_E_INVALID, "'%s' is a directory, not a file; list_dir shows it",
                    p->name);
    return fail(err, PB_E_INVALID, "'%s' is a %s, not a %s", p->name, place_kind_name(st->st_mode),
                kinds & PLACE_FILE ? "file" : "directory");
}

/* First without touching it: to open a device can do something, to open a pipe can wait. */
/* What a descriptor leads to now; false: that is not known. */
static bool real_path(int fd, char out[static PATH_MAX])
{
    char link[32];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, out, PATH_MAX - 1);
    out[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* Keys, tokens, records and rules are Patchbay's own: no program gets at them by a path, whatever
 * leads there, also where its working directory lies above. What it is given to work in is not. */
static bool is_private(const struct kit *k, int fd)
{
    const char *home = kit_real_home(k), *behind;
    char real[PATH_MAX];

    if (!real_path(fd, real))
        return true;
    if (!path_is_within(home, real))
        return false;
    behind = real + strlen(home);
    return !(strncmp(behind, "/" KIT_WORK, strlen("/" KIT_WORK)) == 0 &&
             (!behind[strlen("/" KIT_WORK)] || behind[strlen("/" KIT_WORK)] == '/'));
}

bool place_is_private(const struct tool_call *c, int fd)
{
    return !c->person && is_private(c->kit, fd);
}

/* Moved away or put aside it would not be known any more: nor is what lies above it moved. */
static bool holds_private(const struct kit *k, int dir, const char *name)
{
    AUTO_BUF struct buf path = { 0 };
    char real[PATH_MAX];

    if (!real_path(dir, real))
        return true;
    buf_printf(&path, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name);
    return path_is_within(buf_cstr(&path), kit_real_home(k));
}

static int fail_private(const struct tool_place *p, struct pb_error *err)
{
    return fail(err, PB_E_INVALID, "'%s' belongs to Patchbay itself, and is not for programs",
                p->name);
}

static int open_kind(const struct tool_place *p, int dir, const char *path, uint64_t rules,
                     unsigned kinds, int *out, struct stat *st, struct pb_error *err)
{
    AUTO_CLOSE int look = resolve(dir, path, O_PATH, rules);
    int fd, rc;

    if (look < 0)
        return fail_open(p, errno, err);
    rc = check_kind(p, look, kinds, st, err);
    if (rc < 0)
        return rc;
    fd = resolve(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, rules);
    if (fd < 0)
        return fail_open(p, errno, err);
    rc = p->keep_out && is_private(p->keep_out, fd)
             ? fail_private(p, err)
             : check_kind(p, fd, kinds, st, err); /* by now another */
    if (rc < 0) {
        close(fd);
        return rc;
    }
    fcntl(fd, F_SETFL, 0);
    *out = fd;
    return 0;
}

/* ---- from outside ---- */

static int open_root(struct tool_place *p, const char *directory, struct pb_error *err)
{
    AUTO_CLOSE int top = -1;

    p->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (p->root < 0)
        return fail_sys(err, errno, "open '/'");
    if (!p->inside || !directory[1])
        return 0;
    top = p->root;
    p->root = resolve(top, directory + 1, O_PATH | O_DIRECTORY, RESOLVE_NO_MAGICLINKS);
    if (p->root < 0 && errno == ENOSYS)
        return fail_open(p, ENOSYS, err);
    if (p->root < 0)
        return fail_sys(err, errno, "open the working directory '%.120s'", directory);
    return 0;
}

int place_find(struct tool_place *p, const struct tool_call *c, const char *path,
               struct pb_error *err)
{
    AUTO_FREE char *directory = NULL;
    int rc;

    *p = (struct tool_place){ .root = -1, .keep_out = c->person ? NULL : c->kit };
    rc = check_path(path, err);
    if (rc == 0 && c->own_directory)
        rc = file_make_directories(c->directory, err);
    if (rc < 0)
        return rc;
    directory = place_path("/", c->directory);
    p->path = place_path(directory, path);
    set_name(p);
    p->below = below(p->path, directory);
    p->inside = p->below != NULL;
    if (!p->inside)
        p->below = below(p->path, "/");
    rc = open_root(p, directory, err);
    if (rc < 0)
        place_done(p);
    return rc;
}

int place_find_in(struct tool_place *p, const struct tool_place *in, int root, const char *path,
                  struct pb_error *err)
{
    int rc = check_path(path, err);

    *p = (struct tool_place){ .root = -1, .inside = true, .keep_out = in->keep_out };
    if (rc < 0)
        return rc;
    if (*path == '/' || *path == '~')
        return fail(err, PB_E_INVALID, "'%.100s' does not begin in '%s': write it without that",
                    path, in->name);
    p->path = place_path(in->path, path);
    set_name(p);
    p->below = below(p->path, in->path);
    if (!p->below) {
        rc = fail(err, PB_E_INVALID, "'%.100s' leads out of '%s'", path, in->name);
        place_done(p);
        return rc;
    }
    p->root = fcntl(root, F_DUPFD_CLOEXEC, 0);
    if (p->root < 0) {
        rc = fail_sys(err, errno, "open '%s'", in->name);
        place_done(p);
    }
    return rc;
}

void place_done(struct tool_place *p)
{
    if (p->path && p->root >= 0)
        close(p->root);
    free(p->path);
    *p = (struct tool_place){ .root = -1 };
}

int place_open(const struct tool_place *p, unsigned kinds, int *fd, struct stat *st,
               struct pb_error *err)
{
    return open_kind(p, p->root, p->below, rules_of(p), kinds, fd, st, err);
}

int place_look(const struct tool_place *p, int *out, struct stat *st, struct pb_error *err)
{
    int fd = resolve(p->root, p->below, O_PATH | O_NOFOLLOW, rules_of(p));

    if (fd < 0)
        return fail_open(p, errno, err);
    if (p->keep_out && is_private(p->keep_out, fd)) {
        close(fd);
        return fail_private(p, err);
    }
    if (fstat(fd, st) < 0) {
        close(fd);
        return fail_sys(err, errno, "look at '%s'", p->name);
    }
    *out = fd;
    return 0;
}

static int open_directory(const struct tool_place *p, const char *path)
{
    return resolve(p->root, *path ? path : ".", O_PATH | O_DIRECTORY, rules_of(p));
}

/* One after the other, each found again from root on: what is made lies beneath it, whatever is
 * renamed meanwhile. */
static int make_directories(const struct tool_place *p, char *path, struct pb_error *err)
{
    for (char *end = path; *end; end++) {
        AUTO_CLOSE int dir = -1;
        char *slash, was;

        end = strchrnul(end, '/');
        was = *end;
        *end = '\0';
        slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
        dir = open_directory(p, slash ? path : ".");
        if (slash)
            *slash = '/';
        if (dir < 0)
            return fail_open(p, errno, err);
        if (p->keep_out && is_private(p->keep_out, dir))
            return fail_private(p, err);
        if (mkdirat(dir, slash ? slash + 1 : path, 0777) < 0 && errno != EEXIST)
            return fail_sys(err, errno, "make the directory of '%s'", p->name);
        *end = was;
        if (!was)
            return 0;
    }
    return 0;
}

int place_enter(const struct tool_place *p, bool make, int *dir, const char **name,
                struct pb_error *err)
{
    const char *slash = strrchr(p->below, '/');
    AUTO_FREE char *parent = mem_dupn(p->below, slash ? (size_t)(slash - p->below) : 0);
    int fd, rc;

    if (strcmp(p->below, ".") == 0)
        return fail(err, PB_E_INVALID, "'%s' is the directory that everything here begins in",
                    p->name);
    fd = open_directory(p, parent);
    if (fd < 0 && errno == ENOENT && make) {
        rc = make_directories(p, parent, err);
        if (rc < 0)
            return rc;
        fd = open_directory(p, parent);
    }
    if (fd < 0)
        return fail_open(p, errno, err);
    *name = slash ? slash + 1 : p->below;
    if (p->keep_out && (is_private(p->keep_out, fd) || holds_private(p->keep_out, fd, *name))) {
        close(fd);
        return fail_private(p, err);
    }
    *dir = fd;
    return 0;
}

int place_open_in(const struct tool_place *p, int dir, const char *name, int *fd, struct stat *st,
                  struct pb_error *err)
{
    char to[PATH_MAX];
    int rc =
        open_kind(p, dir, name, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS, PLACE_FILE, fd, st, err);

    if (rc < 0 && err && err->sys == ELOOP && read_link(p, p->below, to, sizeof to)) {
        text_make_printable(to);
        rc = fail(err, PB_E_INVALID,
                  "'%.90s' is a symbolic link to '%.60s', and is not written through: change what "
                  "it leads to",
                  p->name, to);
    }
    return rc;
}
