/* root.c - where a search begins, and which rules of directories above it count. Nothing above is
 * searched: only .gitignore files up to the top of the repository are read. */
#include "search_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { DIRECTORY = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK };

struct ignore *rules_of(int dir, const char *name, const char *base)
{
    AUTO_CLOSE int fd =
        openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    AUTO_BUF struct buf text = { 0 };
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
        file_read(fd, name, SEARCH_IGNORE_BYTES_MAX, &text, NULL) < 0)
        return NULL;
    return ignore_new(buf_span(&text), base);
}

/* ---- above ---- */

struct above {
    int fds[SEARCH_DEPTH_MAX]; /* from the directory up to the top */
    size_t n;
};

static bool has_git(int fd) { return faccessat(fd, ".git", F_OK, AT_SYMLINK_NOFOLLOW) == 0; }

/* Opens what is above, up to where .git is. false: it is nowhere. */
static bool find_top(struct above *a, int fd)
{
    struct stat before, now;

    if (fstat(fd, &before) < 0)
        return false;
    a->fds[a->n++] = dup(fd);
    while (!has_git(a->fds[a->n - 1])) {
        int up = a->n < SEARCH_DEPTH_MAX ? openat(a->fds[a->n - 1], "..", DIRECTORY) : -1;

        if (up < 0)
            return false;
        a->fds[a->n++] = up;
        if (fstat(up, &now) < 0 || (now.st_ino == before.st_ino && now.st_dev == before.st_dev))
            return false; /* the root of all */
        before = now;
    }
    return true;
}

/* The last `n` parts of the directory's path, with a slash behind each. */
static char *last_parts(int fd, size_t n)
{
    char link[64], path[4096];
    ssize_t len;
    size_t at;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    len = readlink(link, path, sizeof path - 2);
    if (len <= 0 || path[0] != '/')
        return NULL;
    path[len] = '/';
    path[len + 1] = '\0';
    at = (size_t)len;
    while (n && at) {
        while (at && path[--at] != '/')
            ;
        n--;
    }
    return n ? NULL : mem_dup(path + at + 1);
}

static void add_rules(struct root *r, struct ignore *rules)
{
    if (!rules)
        return;
    r->rules = mem_resize(r->rules, (r->n_rules + 1) * sizeof(struct ignore *));
    r->rules[r->n_rules++] = rules;
}

/* Rules of the repository, then of each directory on the way down to ours, which is not read here.
 */
static void read_above(struct root *r)
{
    struct above a = { .n = 0 };
    bool found = find_top(&a, r->fd);
    char *parts = found ? last_parts(r->fd, a.n - 1) : NULL;
    const char *end = parts;

    if (parts) {
        free(r->above);
        r->above = parts;
        add_rules(r, rules_of(a.fds[a.n - 1], ".git/info/exclude", ""));
    }
    for (size_t i = a.n; parts && i-- > 1;) {
        AUTO_FREE char *base = mem_dupn(parts, (size_t)(end - parts));

        add_rules(r, rules_of(a.fds[i], ".gitignore", base));
        end = strchr(end, '/') + 1;
    }
    for (size_t i = 0; i < a.n; i++)
        close(a.fds[i]);
}

/* ---- the directory ---- */

static char *with_slash(const char *path)
{
    AUTO_BUF struct buf b = { 0 };

    while (path[0] == '.' && path[1] == '/')
        path += 2;
    if (strcmp(path, ".") != 0)
        buf_str(&b, path);
    if (b.n && b.p[b.n - 1] != '/')
        buf_byte(&b, '/');
    return buf_take(&b);
}

/* A single file: the directory that it is in. */
static int open_parent(struct root *r, int from, const char *path)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *parent = slash ? mem_dupn(path, (size_t)(slash + 1 - path)) : mem_dup("");
    struct stat st;

    r->fd = openat(from, *parent ? parent : ".", DIRECTORY);
    if (r->fd < 0)
        return -1;
    r->file = mem_dup(slash ? slash + 1 : path);
    if (fstatat(r->fd, r->file, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -1;
    if (!S_ISREG(st.st_mode)) {
        errno = ENOTSUP;
        return -1;
    }
    r->shown = with_slash(parent);
    return 0;
}

int root_open(struct root *r, const char *directory, const char *path, bool ignored,
              struct pb_error *err)
{
    AUTO_CLOSE int from = open(directory, DIRECTORY);
    int rc = 0;

    *r = (struct root){ .fd = -1, .above = mem_dup("") };
    if (from < 0 && (!path || *path != '/'))
        return fail_sys(err, errno, "Cannot open the working directory %s", directory);
    path = path && *path ? path : ".";
    r->fd = openat(from, path, DIRECTORY);
    if (r->fd < 0 && errno == ENOTDIR)
        rc = open_parent(r, from, path);
    else if (r->fd < 0)
        rc = -1;
    else
        r->shown = with_slash(path);
    if (rc < 0 && errno == ENOENT)
        return fail(err, PB_E_NOT_FOUND,
                    "There is no '%.150s' in %.60s. Look with list_dir or file_search", path,
                    directory);
    if (rc < 0 && errno == ENOTSUP)
        return fail(err, PB_E_INVALID, "'%.150s' is neither a directory nor a file", path);
    if (rc < 0)
        return fail_sys(err, errno, "Cannot search '%.150s'", path);
    if (!ignored)
        read_above(r);
    return 0;
}

void root_done(struct root *r)
{
    if (r->fd >= 0)
        close(r->fd);
    for (size_t i = 0; i < r->n_rules; i++)
        ignore_free(r->rules[i]);
    free(r->rules);
    free(r->file);
    free(r->above);
    free(r->shown);
    *r = (struct root){ .fd = -1 };
}
