/* wire_line.h - what the wires share whose messages are lines: those to a child process and those
 * to a socket.
 *
 *   wire_line.c   lines in and out */
#pragma once
#include "wire.h"

/* The reading side. Messages go to the wire's events, LOOP_LINES_PER_TURN a turn at most: one
 * chatty server must not starve the rest. */
struct line_in {
    struct wire *wire;
    struct stream *from; /* set by the wire when it has it */
    struct lines lines;
    int in_turn;
    bool held;     /* not read for now */
    bool ended;    /* nothing more comes; what came may not be handed on yet */
    bool shut;     /* nothing more is handed on: the end was told, or the wire is closing */
    bool resuming; /* a deferred resume is on its way */
    void (*drained)(struct wire *w); /* it has ended, and all that came was handed on */
    loop_fn *gone;                   /* waits for the deferred resume only */
    void *gone_ctx;
};

void line_in_init(struct line_in *in, struct wire *w, void (*drained)(struct wire *w));
void line_in_feed(struct line_in *in, struct span bytes);
/* As lines_room(). */
char *line_in_room(struct line_in *in, size_t *n);
void line_in_hold(struct line_in *in, bool on);
/* Nothing more comes: `drained` follows, at once or when what is left has been handed on. */
void line_in_end(struct line_in *in);
/* Frees what it holds; fn(ctx), which may free the rest, runs when it is not needed any more: at
 * once or at the end of the turn. */
void line_in_done(struct line_in *in, loop_fn *fn, void *ctx);

/* One message as one line. A line end within it can only be white space between tokens, but it
 * would end the line, and what follows would be read as another message: it becomes a space. */
int wire_write_line(struct stream *to, struct span text, struct pb_error *err);
