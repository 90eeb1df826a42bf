/* kit_impl.h - the layout of the kit.
 *
 *   kit.c           all tools of a hub, from their rows to their end
 *   kit_describe.c  what clients are shown of a tool
 *   kit_read.c      what a call means
 *   kit_reach.c     what it would touch outside the working directory
 *   kit_run.c       a call from its arrival to its answer; one after the other where that is wanted
 *   place.c         where a path is, and the only way to get there
 */
#pragma once
#include "kit.h"

/* An operation as it is called. */
struct kit_entry {
    struct kit *kit;
    const struct tool *tool;
    const struct tool_operation *op; /* NULL: the tool as a whole */
    void **state;                    /* of the tool */
    char *name;                      /* "file_operations.read_file", or the tool's */
};

struct kit {
    struct gate *gate;
    struct pb_loop *loop;
    struct pb_server *server;
    char *home, *directory;
    char *real_home; /* home, without links on the way to it */
    const struct tool *const *tools;
    const struct settings *settings; /* while it is made */
    void **states;                   /* of each tool's family, in the order of the tools */
    struct map entries; /* any name -> struct kit_entry; several names lead to the same */
    struct map lanes;   /* who is busy with one call after the other -> struct lane */
    size_t running;     /* calls on workers */
    bool closing;
    loop_fn *closed;
    void *closed_ctx;
    struct timer limit;
};

/* In home: where those work who say nothing else. */
#define KIT_WORK "work"
const char *kit_real_home(const struct kit *k);
/* kit.c: nothing runs any more. */
void kit_maybe_end(struct kit *k);
/* It has no operations but is called as it is. */
static inline bool op_is_tool(const struct tool_operation *op) { return !op->name; }

/* kit_describe.c: a tool as lists show it; op NULL: as a whole. */
void kit_describe(struct buf *out, const struct tool *t, const struct tool_operation *op);
/* kit_read.c: for the gate. */
void kit_read(void *ctx, const struct own_wish *w, struct buf *name, struct buf *rewritten);
/* kit_reach.c: for the gate. */
bool kit_reaches(void *ctx, const struct own_wish *w, struct buf *reason);
/* kit_run.c: where relative paths begin for who has said this (may be NULL). */
const char *kit_directory(const struct kit *k, const char *said, struct arena *a);
/* kit_run.c: pb_handler; ctx is a struct kit_entry. */
int kit_run(struct pb_call *call, void *ctx);
void kit_drop_lanes(struct kit *k);
