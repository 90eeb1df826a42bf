/* patch.h - a unified diff: what it says, and what a file becomes by it. Touches no file. */
#pragma once
#include "base/base.h"

struct patch_line {
    char kind;        /* ' ' as before, '-' goes, '+' comes */
    bool no_end;      /* the last one of a file, without a line end */
    struct span text; /* without its end */
};

struct patch_hunk {
    struct span header; /* "@@ -1,2 +1,3 @@ …" */
    size_t old_start, old_lines, new_start, new_lines;
    size_t first, n; /* of patch.lines */
};

enum patch_deed { PATCH_CHANGE, PATCH_CREATE, PATCH_DELETE, PATCH_RENAME, PATCH_COPY };

struct patch_file {
    enum patch_deed deed;
    /* Without "a/" and "b/". PATCH_CHANGE: by either name, whichever is there. */
    const char *from, *to;
    size_t first, n; /* of patch.hunks */
};

struct patch {
    struct arena arena;
    struct patch_file *files;
    struct patch_hunk *hunks;
    struct patch_line *lines;
    size_t n_files, n_hunks, n_lines;
};

/* Borrows the text. What is around the diffs, such as the words of a mail, is passed over. Modes,
 * links and binary files are refused. */
MUST_CHECK int patch_parse(struct patch *p, struct span text, struct pb_error *err);
void patch_done(struct patch *p);

/* Appends to *out what the text becomes, and to *report what is worth telling, a line each. What
 * does not fit is told in *why: the hunk, what it expects and what there is. A hunk that fits only
 * elsewhere, or without some of its context, must fit at one place alone. */
MUST_CHECK int patch_fit(const struct patch *p, const struct patch_file *f, struct span text,
                         struct buf *out, struct buf *report, struct buf *why);
/* How many lines come, and how many go. */
void patch_file_count(const struct patch *p, const struct patch_file *f, size_t *plus,
                      size_t *minus);
