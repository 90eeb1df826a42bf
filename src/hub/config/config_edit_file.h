/* config_edit_file.h - a file that is read, changed and replaced as one step: others see the old
 * one or the new one, and two that change it at once do so one after the other. Blocking. */
#pragma once
#include "base/base.h"

struct edit_file {
    char *path;   /* what is replaced: where symbolic links lead to */
    int lock;     /* the directory; -1: none */
    int lock_ms;  /* how long others may take to give it back */
    bool existed; /* with this mode and owner: */
    unsigned mode, uid, gid;
};

#define AUTO_EDIT_FILE __attribute__((cleanup(edit_file_done)))
#define EDIT_FILE_INIT                        \
    {                                         \
        .lock = -1, .lock_ms = CONFIG_LOCK_MS \
    }
void edit_file_done(struct edit_file *f);

/* Makes directories that are missing if `make`, waits for others that change files there, reads
 * the file onto `text` (nothing if it is not there). */
MUST_CHECK int edit_file_open(struct edit_file *f, const char *path, bool make, struct buf *text,
                              struct pb_error *err);
/* 0600 for a new file; an existing one keeps its mode. */
MUST_CHECK int edit_file_replace(struct edit_file *f, struct span text, struct pb_error *err);

/* Only reads. -PB_E_NOT_FOUND: there is no such file. */
MUST_CHECK int edit_file_read(const char *path, struct buf *text, struct pb_error *err);
