/* child.h - one child process with its three pipes. The only place that starts processes.
 *
 * The child is the leader of its own process group, gets no descriptor but 0, 1 and 2, default
 * signal handling, and is killed by the kernel if the thread that started it ends: start it on the
 * loop's thread. It is watched by its pidfd and reaped when its output has been read, or a moment
 * (CHILD_LINGER_MS) after its end. Stopping: stdin is closed, SIGTERM to the group, then SIGKILL to
 * the group after the grace time; whatever of the group survives the child itself is killed too. No
 * shell is involved. */
#pragma once
#include "stream.h"
#include <sys/types.h>

struct child;

struct child_spec {
    const char *command;     /* looked up in the PATH of the environment the child gets */
    const char *const *args; /* without the command; ended by NULL; may be NULL */
    const char *const *env;  /* "NAME=value", merged over the parent's; the last of one name wins */
    bool clean_env;          /* only `env`, nothing of the parent's */
    const char *cwd;
};

struct child_events {
    struct stream_events out; /* the child's stdout */
    /* One line of stderr, cut at CHILD_STDERR_LINE_MAX. Beyond CHILD_STDERR_PER_S a second they
     * are left out, and one line says how many. */
    void (*err_line)(void *ctx, struct span line);
    /* The process has ended and its stdout has been read to the end. Last event. */
    void (*exited)(void *ctx, int status, int signal);
};

/* "Failed to spawn <command>: <cause>" on failure. S1 phase 0. */
MUST_CHECK int child_spawn(struct child **out, struct pb_loop *l, const struct child_spec *spec,
                           const struct child_events *events, void *ctx, struct pb_error *err);
struct stream *child_in(struct child *c);  /* its stdin */
struct stream *child_out(struct child *c); /* its stdout; reading is on from the start */
pid_t child_pid(const struct child *c);
/* The last lines of its stderr, joined by newlines (CHILD_STDERR_KEEP of them). */
void child_last_words(const struct child *c, struct buf *out);
/* "exited with status 1", "was killed by signal 9 (Killed)"; "runs" before that. */
void child_describe(const struct child *c, char *out, size_t n);
/* Starts the stop; `exited` follows. Twice is fine. */
void child_stop(struct child *c, uint64_t grace_ms);
/* Stops if needed and frees; no event follows; fn (may be NULL) runs when the process is reaped
 * and everything is closed. */
void child_close(struct child *c, loop_fn *fn, void *ctx);

/* Starts a program that goes on without us: in a session of its own, with nothing to read from and
 * nowhere to write to; neither watched nor stopped. Only that it could be started is known. */
MUST_CHECK int child_launch(const struct child_spec *spec, struct pb_error *err);
/* Lets us open as many files as we are allowed to. Children get the limit that we came with: not
 * all programs bear a higher one. Before the first child. */
void child_keep_file_limit(void);
/* Back to that limit: for a program that becomes another one. */
void child_return_file_limit(void);

/* For a program that is a subreaper. Reaps one child of this process that has ended and that
 * child_spawn() did not start, and returns its number; 0: there is none; -1: one of child_spawn()'s
 * stands first in line: try again when it has been reaped, within CHILD_LINGER_MS. [any thread] */
pid_t child_reap_adopted(void);
