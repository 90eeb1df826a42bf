/* file_impl.h - what the operations on files share.
 *
 *   file.c         the table of operations
 *   file_read.c    read_file
 *   file_kind.c    what a file is that is no text
 *   file_list.c    list_dir and get_file_info
 *   file_change.c  files that are changed together: all, or none
 *   file_write.c   create_file, write_file, append_file
 *   file_edit.c    replace_string, multi_replace_string, insert_edit
 *   file_move.c    rename_file, delete_file, create_directory
 *   file_patch.c   apply_patch
 *   file_text.c    lines, and what is said when something fails
 *   patch.c        a unified diff to its files and hunks
 *   patch_fit.c    where a hunk belongs, and what a file becomes by it */
#pragma once
#include "file.h"

/* ---- file_text.c ---- */

/* "Operation failed: …" */
int file_fail(struct tool_call *c, struct span why);
int file_fail_err(struct tool_call *c, const struct pb_error *err);
/* Fills *why with the text of an error; returns its -code. */
int file_why(struct buf *why, const struct pb_error *err);
/* The first line, with its end; empty: there is none left. */
struct span line_first(struct span text);
/* Without its end. */
struct span line_bare(struct span line);
size_t lines_count(struct span text);
/* Do most of its lines end with CR LF? */
bool lines_crlf(struct span text);
/* Appends text; each LF becomes CR LF if the file is such a one. */
void lines_put(struct buf *out, struct span text, bool crlf);
/* A piece of a line for a text that explains something: one line, valid, not too long. */
void line_show(struct buf *out, struct span line);
/* A name of a directory's entry; as "…" with escapes where it would deceive. */
void name_show(struct buf *out, const char *name);

/* ---- file_kind.c ---- */

/* NULL: it begins as a text does. */
const char *file_kind(struct span beginning);

/* ---- file_change.c ---- */

/* A file that is to be written, or to go. */
struct file_change {
    struct tool_place place;
    int dir;          /* that it lies in; -1: there is none yet */
    const char *name; /* in there; borrowed of place */

    /* as it was when it was read */
    bool there;
    struct stat st;
    struct buf was;

    /* as it shall be */
    bool gone;
    struct buf text;
    const struct stat
        *like; /* whose mode and owner it gets; NULL: its own, or those of new files */

    char beside[48]; /* the name of what it shall be, then of what it was */
    bool staged, swapped;
};

/* Takes the place. The text is read if `whole`. That it is not there is no failure. */
MUST_CHECK int change_read(struct file_change *ch, struct tool_place *take_place, bool whole,
                           struct pb_error *err);
/* Others see what was there before or what is there now, and on the disk it is when this returns.
 * -PB_E_BUSY: somebody has changed one of the files since it was read; nothing was done. */
MUST_CHECK int changes_apply(struct file_change *v, size_t n, struct pb_error *err);
void change_done(struct file_change *ch);
/* renameat2(RENAME_NOREPLACE), also where the file system has no such thing. 0, or -errno. */
int name_move(int from_dir, const char *from, int to_dir, const char *to);

/* Makes ch->text. Fills *why when it fails. Is run again when somebody else was faster. */
typedef int file_edit_fn(struct file_change *ch, void *ctx, struct buf *why);
/* Reads filePath, edits, writes. 0, or the call was failed. The place is for the reply. */
MUST_CHECK int file_edit(struct tool_call *c, file_edit_fn *fn, void *ctx, bool whole,
                         struct tool_place *place);

/* ---- the operations ---- */

tool_fn file_read_file, file_list_dir, file_get_info;
tool_fn file_create, file_write, file_append;
tool_fn file_replace_string, file_multi_replace, file_insert;
tool_fn file_rename, file_delete, file_make_directory;
tool_fn file_apply_patch;
