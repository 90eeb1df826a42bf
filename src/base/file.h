/* file.h - directories that are made, and files that are put in place as a whole: others see what
 * was there or what is there now. Blocking: not on the loop. */
#pragma once
#include "error.h"
#include "span.h"

/* Those that are missing on the way to it, and itself; 0700. */
MUST_CHECK int file_make_directories(const char *dir, struct pb_error *err);

/* Whoever else wants to change files of the directory waits until *lock is closed. -PB_E_BUSY when
 * another has it for so long. Where the file system knows no locks nobody is waited for: replacing
 * is atomic all the same. */
MUST_CHECK int file_lock_directory(const char *dir, int wait_ms, int *lock, struct pb_error *err);

/* All that is left of an open file. -PB_E_LIMIT past `max` bytes; `path` is for the error. */
struct buf;
MUST_CHECK int file_read(int fd, const char *path, size_t max, struct buf *out,
                         struct pb_error *err);

struct file_how {
    bool durable; /* on the disk when it returns */
    bool like;    /* with this mode and, if we may, this owner; else 0600 and ours */
    unsigned mode, uid, gid;
};
/* Whatever was at `path` is not written through, be it a link. */
MUST_CHECK int file_replace(const char *path, struct span text, struct file_how how,
                            struct pb_error *err);
