/* place.h - where a path of a call is, and the only way to get there.
 *
 * Relative paths begin in the working directory of the call, "~" is the home of whoever runs the
 * program; "." and ".." and doubled slashes are taken out before anything is opened, so that "a/.."
 * is nothing also where "a" is a link. What lies in the working directory is opened beneath a
 * descriptor of it: the kernel itself refuses whatever leads out, be it put there while we look.
 * What lies outside the gate has let through by its path. Links that the kernel makes up
 * (/proc/PID/root and the like) are followed nowhere, and nothing of /proc is opened: environments
 * of programs are in there. Blocking: on workers only. */
#pragma once
#include "base/base.h"
#include <sys/stat.h>

struct kit;
struct tool_call;

struct tool_place {
    const struct kit *keep_out; /* whose home is not for who asks; NULL: all is */
    int root;                   /* a descriptor of the working directory, or of "/" */
    bool inside;       /* of the working directory: it is root, and nothing leads out of it */
    char *path;        /* absolute and clean */
    const char *below; /* the same from root on, in path; "." is root itself */
    char name[128];    /* what to call it in texts: path, or what is left of a long one */
};
#define AUTO_PLACE __attribute__((cleanup(place_done)))

/* The absolute and clean path that this one means in a directory; the caller frees it. The gate is
 * told by the same what would be touched. */
char *place_path(const char *directory, const char *path);
/* As it would be written in there; lies in `path` or stays for good. */
const char *place_shown(const char *directory, const char *path);
/* A working directory that is the kit's own is made when it is missing. */
MUST_CHECK int place_find(struct tool_place *p, const struct tool_call *c, const char *path,
                          struct pb_error *err);
/* A path that must not leave `in`, a directory that is open as `root`. */
MUST_CHECK int place_find_in(struct tool_place *p, const struct tool_place *in, int root,
                             const char *path, struct pb_error *err);
void place_done(struct tool_place *p);
/* Is what is open here Patchbay's own, and the call a program's? */
bool place_is_private(const struct tool_call *c, int fd);

enum tool_place_kinds { PLACE_FILE = 1, PLACE_DIRECTORY = 2 };
/* To be read. Links are followed, as far as they do not lead out. Devices, pipes and sockets are
 * refused, and never waited for. */
MUST_CHECK int place_open(const struct tool_place *p, unsigned kinds, int *fd, struct stat *st,
                          struct pb_error *err);
/* What is there, be it a link. -PB_E_NOT_FOUND. */
MUST_CHECK int place_look(const struct tool_place *p, int *fd, struct stat *st,
                          struct pb_error *err);

/* The directory that it lies in, for changing it there by *name (borrowed of p). Missing ones are
 * made if `make`; else -PB_E_NOT_FOUND. */
MUST_CHECK int place_enter(const struct tool_place *p, bool make, int *dir, const char **name,
                           struct pb_error *err);
/* A file by its name in such a directory; no link is followed. -PB_E_NOT_FOUND. */
MUST_CHECK int place_open_in(const struct tool_place *p, int dir, const char *name, int *fd,
                             struct stat *st, struct pb_error *err);

/* "directory", "named pipe", … */
const char *place_kind_name(mode_t mode);
