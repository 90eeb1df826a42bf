/* child_err.h - the stderr of a child, handed on in lines. However fast it writes, it is read: it
 * must not wait for us. But CHILD_STDERR_PER_TURN lines are handed on in a turn, and in the long
 * run CHILD_STDERR_PER_S in a second; those beyond are counted, and that is said in a line of our
 * own. The last ones are remembered all the same. */
#pragma once
#include "stream.h"
#include "words.h"

struct child_err {
    struct pb_loop *loop;
    struct stream *stream; /* NULL: not opened */
    struct words words;
    struct buf rest;  /* was read and waits for its turn ... */
    size_t rest_at;   /* ... from here on */
    int credit;       /* lines that may be handed on before the next second */
    uint64_t skipped; /* lines since that was last told */
    struct timer second;
    bool waits; /* for its next turn */
    bool over;
    words_fn *line;
    loop_fn *ended; /* all has been read; runs once */
    void *ctx;
};

void child_err_init(struct child_err *e, struct pb_loop *l, words_fn *line, loop_fn *ended,
                    void *ctx);
/* As stream_open(). */
MUST_CHECK int child_err_open(struct child_err *e, int fd, struct pb_error *err);
/* What was read is the end. */
void child_err_finish(struct child_err *e);
/* No event follows. What still comes is read over, as long as the stream is open. */
void child_err_hush(struct child_err *e);
/* A turn after child_err_hush() or later. */
void child_err_done(struct child_err *e);
