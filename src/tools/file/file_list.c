#include "file_impl.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <time.h>

/* ---- list_dir ---- */

struct dir_listing {
    struct arena arena;
    const char **names;
    size_t n;
    bool cut; /* there are more than are sorted */
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int read_names(struct dir_listing *l, struct tool_call *c, DIR *dir)
{
    size_t room = 0;

    for (struct dirent *e; (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (l->n == FILE_LIST_SCAN) {
            l->cut = true;
            break;
        }
        if (l->n == room) {
            room = room ? 2 * room : 256;
            l->names = mem_resize(l->names, room * sizeof *l->names);
            if (pb_call_cancelled(c->call))
                return -PB_E_CANCELLED;
        }
        l->names[l->n++] = arena_dup(&l->arena, span_of(e->d_name));
    }
    if (l->n)
        qsort(l->names, l->n, sizeof *l->names, by_name);
    return 0;
}

static void put_entry(struct buf *out, int dir, const char *name)
{
    char to[PATH_MAX];
    struct stat st;
    ssize_t n;

    name_show(out, name);
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
        buf_str(out, " (cannot be looked at)\n");
    } else if (S_ISDIR(st.st_mode)) {
        buf_str(out, "/\n");
    } else if (S_ISREG(st.st_mode)) {
        buf_printf(out, " (%lld bytes)\n", (long long)st.st_size);
    } else if (S_ISLNK(st.st_mode) && (n = readlinkat(dir, name, to, sizeof to - 1)) > 0) {
        to[n] = '\0';
        buf_str(out, " -> ");
        name_show(out, to);
        buf_byte(out, '\n');
    } else {
        buf_printf(out, " (%s)\n", place_kind_name(st.st_mode));
    }
}

static void put_listing(struct buf *out, const struct dir_listing *l, int dir, const char *path,
                        size_t offset, size_t limit)
{
    size_t end = l->n - offset < limit ? l->n : offset + limit;

    buf_printf(out, "%s: %s%zu %s\n", path, l->cut ? "more than " : "", l->n,
               l->n == 1 ? "entry" : "entries");
    for (size_t i = offset; i < end; i++)
        put_entry(out, dir, l->names[i]);
    if (end < l->n)
        buf_printf(out, "…and %zu more: go on with offset=%zu\n", l->n - end, end);
    if (l->cut)
        buf_printf(out, "There are more than %d: these are not all, and not the first by name.\n",
                   FILE_LIST_SCAN);
}

static int list(struct tool_call *c, struct dir_listing *l, DIR *dir, const char *path)
{
    AUTO_BUF struct buf out = { 0 };
    int64_t limit = pb_arg_has(c->call, "limit") ? pb_arg_int(c->call, "limit") : FILE_LIST_ENTRIES;
    int64_t offset = pb_arg_int(c->call, "offset");
    int rc = read_names(l, c, dir);

    if (rc < 0)
        return rc;
    if (limit < 1 || limit > FILE_LIST_MAX)
        return pb_fail(c->call, "limit is %lld, and may be 1 to %d", (long long)limit,
                       FILE_LIST_MAX);
    if (offset < 0 || (uint64_t)offset > l->n)
        return pb_fail(c->call, "offset is %lld; '%s' has %zu entries", (long long)offset, path,
                       l->n);
    put_listing(&out, l, dirfd(dir), path, (size_t)offset, (size_t)limit);
    return pb_reply_bytes(c->call, out.p, out.n);
}

int file_list_dir(struct tool_call *c)
{
    AUTO_PLACE struct tool_place place = { .root = -1 };
    struct dir_listing l = { 0 };
    struct pb_error err;
    struct stat st;
    int fd = -1, rc;
    DIR *dir;

    if (place_find(&place, c, pb_arg_string(c->call, "path"), &err) < 0 ||
        place_open(&place, PLACE_DIRECTORY, &fd, &st, &err) < 0)
        return file_fail_err(c, &err);
    dir = fdopendir(fd);
    if (!dir) {
        fail_sys(&err, errno, "list '%s'", place.name);
        close(fd);
        return file_fail_err(c, &err);
    }
    rc = list(c, &l, dir, place.path);
    closedir(dir);
    free(l.names);
    arena_done(&l.arena);
    return rc;
}

/* ---- get_file_info ---- */

static void put_time(struct buf *out, const char *what, time_t at)
{
    char text[32];
    struct tm tm;

    gmtime_r(&at, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    buf_printf(out, "%s: %s\n", what, text);
}

static void put_content(struct buf *out, const struct tool_place *p)
{
    char beginning[FILE_LOOK_BYTES];
    AUTO_CLOSE int fd = -1;
    struct stat st;
    const char *kind;
    ssize_t n;

    if (place_open(p, PLACE_FILE, &fd, &st, NULL) < 0)
        return;
    n = read(fd, beginning, sizeof beginning);
    if (n < 0)
        return;
    kind = file_kind(span_make(beginning, (size_t)n));
    buf_printf(out, "content: %s\n", kind ? kind : n ? "text" : "nothing");
}

static void put_info(struct buf *out, const struct tool_place *p, int fd, const struct stat *st)
{
    char to[PATH_MAX];
    ssize_t n;

    buf_printf(out, "path: %s\nkind: %s\n", p->path, place_kind_name(st->st_mode));
    if (S_ISLNK(st->st_mode) && (n = readlinkat(fd, "", to, sizeof to - 1)) > 0) {
        to[n] = '\0';
        buf_str(out, "leads to: ");
        name_show(out, to);
        buf_byte(out, '\n');
    }
    if (S_ISREG(st->st_mode)) {
        buf_printf(out, "size: %lld bytes\n", (long long)st->st_size);
        put_content(out, p);
    }
    buf_printf(out, "mode: %04o\nowner: %u, group: %u\n", st->st_mode & 07777, st->st_uid,
               st->st_gid);
    put_time(out, "changed", st->st_mtim.tv_sec);
    buf_printf(out, "working directory: %s\n", p->inside ? "inside" : "outside");
}

int file_get_info(struct tool_call *c)
{
    AUTO_PLACE struct tool_place place = { .root = -1 };
    AUTO_BUF struct buf out = { 0 };
    AUTO_CLOSE int fd = -1;
    struct pb_error err;
    struct stat st;

    if (place_find(&place, c, pb_arg_string(c->call, "filePath"), &err) < 0 ||
        place_look(&place, &fd, &st, &err) < 0)
        return file_fail_err(c, &err);
    put_info(&out, &place, fd, &st);
    return pb_reply_bytes(c->call, out.p, out.n);
}
