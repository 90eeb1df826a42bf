#include "file_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* One end of a way. */
struct end {
    struct tool_place place;
    int dir;
    const char *name;
};

static int end_find(struct end *e, struct tool_call *c, const char *param, bool make,
                    struct pb_error *err)
{
    int rc = place_find(&e->place, c, pb_arg_string(c->call, param), err);

    if (rc == 0)
        rc = place_enter(&e->place, make, &e->dir, &e->name, err);
    return rc;
}

static void end_done(struct end *e)
{
    if (e->dir >= 0)
        close(e->dir);
    place_done(&e->place);
}

/* ---- rename_file ---- */

static int rename_over(const struct end *from, const struct end *to)
{
    return renameat(from->dir, from->name, to->dir, to->name) < 0 ? -errno : 0;
}

static int fail_rename(const struct end *from, const struct end *to, int sys, struct pb_error *err)
{
    switch (sys) {
    case ENOENT:
        return fail(err, PB_E_NOT_FOUND, "there is no '%s'", from->place.name);
    case EEXIST:
        return fail(err, PB_E_INVALID, "'%s' exists already; overwrite=true replaces it",
                    to->place.name);
    case EXDEV:
        return fail(err, PB_E_INVALID,
                    "'%.90s' is on another file system: create it there, then delete it here",
                    to->place.name);
    case EINVAL:
        return fail(err, PB_E_INVALID,
                    "'%s' cannot be moved there, be it into itself or by this file system",
                    from->place.name);
    default:
        return fail_sys(err, sys, "rename '%.70s' to '%.70s'", from->place.name, to->place.name);
    }
}

static int rename_ends(struct tool_call *c, struct end *from, struct end *to, struct pb_error *err)
{
    int rc = end_find(from, c, "oldPath", false, err);
    struct stat st;

    if (rc == 0 && fstatat(from->dir, from->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        rc = fail_rename(from, to, errno, err); /* before directories are made for it */
    if (rc == 0)
        rc = end_find(to, c, "newPath", true, err);
    if (rc < 0)
        return rc;
    rc = pb_arg_bool(c->call, "overwrite") ? rename_over(from, to)
                                           : name_move(from->dir, from->name, to->dir, to->name);
    return rc < 0 ? fail_rename(from, to, -rc, err) : 0;
}

int file_rename(struct tool_call *c)
{
    struct end from = { .dir = -1 }, to = { .dir = -1 };
    struct pb_error err;
    int rc = rename_ends(c, &from, &to, &err);

    if (rc < 0)
        rc = file_fail_err(c, &err);
    else
        rc = pb_reply_text(c->call, "Renamed '%s' to '%s'", from.place.path, to.place.path);
    end_done(&from);
    end_done(&to);
    return rc;
}

/* ---- delete_file ---- */

static int delete_end(const struct end *e, struct pb_error *err)
{
    if (unlinkat(e->dir, e->name, 0) == 0)
        return 0;
    if (errno == ENOENT)
        return fail(err, PB_E_NOT_FOUND, "there is no '%s'", e->place.name);
    if (errno != EISDIR && errno != EPERM)
        return fail_sys(err, errno, "delete '%s'", e->place.name);
    if (unlinkat(e->dir, e->name, AT_REMOVEDIR) == 0)
        return 0;
    if (errno == ENOTEMPTY || errno == EEXIST)
        return fail(err, PB_E_INVALID,
                    "'%s' is a directory with something in it: delete what is in it first",
                    e->place.name);
    return fail_sys(err, errno, "delete '%s'", e->place.name);
}

int file_delete(struct tool_call *c)
{
    struct end e = { .dir = -1 };
    struct pb_error err;
    int rc = end_find(&e, c, "filePath", false, &err);

    if (rc == 0)
        rc = delete_end(&e, &err);
    if (rc < 0)
        rc = file_fail_err(c, &err);
    else
        rc = pb_reply_text(c->call, "Deleted '%s'", e.place.path);
    end_done(&e);
    return rc;
}

/* ---- create_directory ---- */

static int make_end(struct tool_call *c, struct end *e, bool *made, struct pb_error *err)
{
    struct stat st;
    int rc = end_find(e, c, "path", true, err);

    if (rc < 0)
        return rc;
    *made = mkdirat(e->dir, e->name, 0777) == 0;
    if (*made)
        return 0;
    if (errno != EEXIST)
        return fail_sys(err, errno, "make the directory '%s'", e->place.name);
    if (fstatat(e->dir, e->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return fail_sys(err, errno, "look at '%s'", e->place.name);
    if (!S_ISDIR(st.st_mode))
        return fail(err, PB_E_INVALID, "'%s' exists already, and is a %s", e->place.name,
                    place_kind_name(st.st_mode));
    return 0;
}

int file_make_directory(struct tool_call *c)
{
    struct end e = { .dir = -1 };
    struct pb_error err;
    bool made = false;
    int rc = make_end(c, &e, &made, &err);

    if (rc < 0)
        rc = file_fail_err(c, &err);
    else
        rc = pb_reply_text(c->call, made ? "Created the directory '%s'" : "'%s' is there already",
                           e.place.path);
    end_done(&e);
    return rc;
}
