#include "births.h"
#include "child_err.h"
#include "loop_impl.h"
#include "spawn.h"
#include "stream_impl.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

enum {
    CHILD_RUNS,
    CHILD_ENDED,  /* a zombie, so that its number stays ours */
    CHILD_REAPED, /* and nothing of its group is left */
    CHILD_TOLD,   /* and its owner knows */
};

/* clang-format off */
#define TO(s) SM_BIT(CHILD_##s)
static const struct sm_state lives[] = {
    [CHILD_RUNS]   = { "runs",   TO(ENDED) | TO(REAPED), NULL }, /* reaped: by somebody else */
    [CHILD_ENDED]  = { "ended",  TO(REAPED),             NULL },
    [CHILD_REAPED] = { "reaped", TO(TOLD),               NULL },
    [CHILD_TOLD]   = { "told",   0,                      NULL },
};
#undef TO
/* clang-format on */

struct child {
    struct pb_loop *loop;
    struct child_events events;
    void *ctx;
    pid_t pid;
    int pidfd;
    uv_poll_t watch;
    struct stream *in, *out;
    struct child_err err;

    struct sm life;
    bool lost; /* how it ended is not known */
    int status, signal;
    enum { OUT_OPEN, OUT_LIMITED, OUT_OVER } out_is;
    uint64_t out_left; /* when limited: what of its stdout is still to be handed on */
    struct timer grace, linger;

    enum { MAY_RUN, MUST_STOP, IS_CLOSED } wish; /* of its owner, who hears nothing once closed */
    int open_parts;                              /* watch and streams that are not closed yet */
    loop_fn *closed_fn;
    void *closed_ctx;
};

static void try_tell(struct child *c);
static void finish_close(struct child *c);

static bool has_ended(const struct child *c) { return c->life.now >= CHILD_ENDED; }

static bool is_reaped(const struct child *c) { return c->life.now >= CHILD_REAPED; }

static bool is_closed(const struct child *c) { return c->wish == IS_CLOSED; }

static void on_err_line(void *ctx, struct span line)
{
    struct child *c = ctx;

    if (c->events.err_line && !is_closed(c))
        c->events.err_line(c->ctx, line);
}

static void on_err_ended(void *ctx) { try_tell(ctx); }

static void on_out_over(struct child *c)
{
    if (c->out_is == OUT_OVER)
        return;
    c->out_is = OUT_OVER;
    if (c->events.out.eof && !is_closed(c))
        c->events.out.eof(c->ctx);
    try_tell(c);
}

static void on_out_data(void *ctx, struct span bytes)
{
    struct child *c = ctx;

    if (is_closed(c) || c->out_is == OUT_OVER)
        return;
    if (c->out_is == OUT_LIMITED && bytes.n >= c->out_left)
        bytes.n = (size_t)c->out_left;
    if (c->out_is == OUT_LIMITED)
        c->out_left -= bytes.n;
    if (bytes.n && c->events.out.data)
        c->events.out.data(c->ctx, bytes);
    if (c->out_is == OUT_LIMITED && c->out_left == 0)
        on_out_over(c);
}

static char *on_out_room(void *ctx, size_t *n)
{
    struct child *c = ctx;

    if (!c->events.out.room || is_closed(c) || c->out_is == OUT_OVER)
        return NULL;
    return c->events.out.room(c->ctx, n);
}

static void on_out_eof(void *ctx) { on_out_over(ctx); }

static void on_out_error(void *ctx, const struct pb_error *err)
{
    struct child *c = ctx;

    if (c->events.out.error && !is_closed(c))
        c->events.out.error(c->ctx, err);
    on_out_over(c);
}

/* A child that reads no more is not an event of its own: it will exit, or its stdout tells. */
static const struct stream_events in_events = { 0 };
static const struct stream_events out_events = {
    .data = on_out_data, .room = on_out_room, .eof = on_out_eof, .error = on_out_error
};

static void signal_group(const struct child *c, int signo)
{
    if (!is_reaped(c))
        kill(-c->pid, signo);
}

/* The group first, while the zombie still keeps its number from being given to others. */
static void reap(struct child *c)
{
    if (is_reaped(c))
        return;
    signal_group(c, SIGKILL);
    births_reap(c->pid);
    sm_move(&c->life, c, CHILD_REAPED);
}

static void tell(void *ctx)
{
    struct child *c = ctx;

    if (is_closed(c))
        return;
    /* One that left the group may hold the other ends for ever. */
    stream_hangup(c->in);
    stream_hangup(c->out);
    stream_hangup(c->err.stream);
    if (c->events.exited)
        c->events.exited(c->ctx, c->status, c->signal);
}

static void try_tell(struct child *c)
{
    if (!has_ended(c) || c->life.now == CHILD_TOLD)
        return;
    if (is_closed(c)) {
        reap(c);
        finish_close(c);
        return;
    }
    if (c->out_is != OUT_OVER || !c->err.over)
        return;
    reap(c);
    timer_stop(&c->linger);
    sm_move(&c->life, c, CHILD_TOLD);
    loop_defer(c->loop, tell, c);
}

/* Somebody else holds its stdout: of its group, then it is killed now; or one that left the
 * group, then what is in the pipe now is the end. */
static void on_linger(void *ctx)
{
    struct child *c = ctx;
    bool first = !is_reaped(c);
    int left = 0;

    reap(c);
    if (first) {
        timer_start(&c->linger, CHILD_LINGER_MS);
        return;
    }
    if (c->out_is != OUT_OVER && ioctl(c->out->fd, FIONREAD, &left) == 0 && left > 0) {
        c->out_is = OUT_LIMITED;
        c->out_left = (uint64_t)left;
    } else {
        on_out_over(c);
    }
    child_err_finish(&c->err);
}

static void on_ended(struct child *c, const siginfo_t *info)
{
    if (!is_reaped(c))
        sm_move(&c->life, c, CHILD_ENDED);
    uv_poll_stop(&c->watch);
    timer_stop(&c->grace);
    if (info->si_code == CLD_EXITED)
        c->status = info->si_status;
    else
        c->signal = info->si_status;
    if (c->out_is != OUT_OVER || !c->err.over)
        timer_start(&c->linger, CHILD_LINGER_MS);
    try_tell(c);
}

static void on_watch(uv_poll_t *p, int status, int events)
{
    struct child *c = p->data;
    siginfo_t info = { 0 };
    int rc;

    (void)status;
    (void)events;
    loop_mark(c->loop, "child exit");
    do {
        rc = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT | __WALL);
    } while (rc < 0 && errno == EINTR);
    if (rc < 0) {
        /* The host program waits for all children and took ours: how it ended is lost. */
        births_forget(c->pid);
        c->lost = true;
        sm_move(&c->life, c, CHILD_REAPED);
        info.si_code = CLD_EXITED;
    } else if (info.si_pid == 0) {
        return;
    }
    on_ended(c, &info);
}

static void on_grace(void *ctx) { signal_group(ctx, SIGKILL); }

static struct child *child_new(struct pb_loop *l, const struct spawned *born,
                               const struct child_events *events, void *ctx)
{
    struct child *c = NEW(struct child);

    c->loop = l;
    c->events = *events;
    c->ctx = ctx;
    c->pid = born->pid;
    c->pidfd = born->pidfd;
    c->watch.data = c;
    c->life = (struct sm){ lives, CHILD_RUNS };
    child_err_init(&c->err, l, on_err_line, on_err_ended, c);
    timer_init(&c->grace, l, on_grace, c);
    timer_init(&c->linger, l, on_linger, c);
    return c;
}

static void free_child(void *p)
{
    struct child *c = p;

    child_err_done(&c->err);
    free(c);
}

static void part_closed(void *ctx)
{
    struct child *c = ctx;

    if (--c->open_parts)
        return;
    loop_closing_end(c->loop);
    if (c->closed_fn)
        c->closed_fn(c->closed_ctx);
    loop_free_later(c->loop, c, free_child);
}

static void on_watch_closed(uv_handle_t *h) { part_closed(h->data); }

static void finish_close(struct child *c)
{
    struct stream *const streams[] = { c->in, c->out, c->err.stream };

    if (c->open_parts)
        return;
    timer_stop(&c->grace);
    timer_stop(&c->linger);
    c->open_parts = 1;
    for (size_t i = 0; i < ARRAY_LEN(streams); i++) {
        if (!streams[i])
            continue;
        c->open_parts++;
        stream_close(streams[i], part_closed, c);
    }
    uv_close((uv_handle_t *)&c->watch, on_watch_closed);
    close(c->pidfd);
}

/* A descriptor is -1 once its stream has it. */
static int adopt(struct child *c, struct stream **out, int *fd, const struct stream_events *events,
                 struct pb_error *err)
{
    int rc = stream_open(out, c->loop, *fd, false, events, c, err);

    if (rc == 0)
        *fd = -1;
    return rc;
}

static int adopt_err(struct child *c, int *fd, struct pb_error *err)
{
    int rc = child_err_open(&c->err, *fd, err);

    if (rc == 0)
        *fd = -1;
    return rc;
}

static int watch_all(struct child *c, struct spawned *born, struct pb_error *err)
{
    int rc = uv_poll_start(&c->watch, UV_READABLE, on_watch);

    if (rc < 0)
        return fail_sys(err, -rc, "watch the child process");
    rc = adopt(c, &c->in, &born->in, &in_events, err);
    if (rc == 0)
        rc = adopt(c, &c->out, &born->out, &out_events, err);
    if (rc == 0)
        rc = adopt_err(c, &born->err, err);
    return rc;
}

/* It runs, but we cannot listen to it. */
static void undo_birth(struct spawned *born)
{
    kill(-born->pid, SIGKILL);
    births_reap(born->pid);
}

static void close_left(const struct spawned *born)
{
    const int fds[] = { born->in, born->out, born->err };

    for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

int child_spawn(struct child **out, struct pb_loop *l, const struct child_spec *spec,
                const struct child_events *events, void *ctx, struct pb_error *err)
{
    struct spawned born;
    struct child *c;
    int rc = spawn_process(&born, spec, err);

    if (rc < 0)
        return rc;
    c = child_new(l, &born, events, ctx);
    rc = uv_poll_init(loop_uv(l), &c->watch, c->pidfd);
    if (rc < 0) {
        undo_birth(&born);
        close_left(&born);
        close(born.pidfd);
        free_child(c);
        return fail_sys(err, -rc, "Failed to spawn %s: watch it", spec->command);
    }
    rc = watch_all(c, &born, err);
    if (rc < 0) {
        undo_birth(&born);
        close_left(&born);
        sm_move(&c->life, c, CHILD_REAPED);
        child_close(c, NULL, NULL);
        return fail_in(err, "Failed to spawn %s", spec->command);
    }
    stream_read(c->out, true);
    stream_read(c->err.stream, true);
    *out = c;
    return 0;
}

struct stream *child_in(struct child *c) { return c->in; }

struct stream *child_out(struct child *c) { return c->out; }

pid_t child_pid(const struct child *c) { return c->pid; }

void child_last_words(const struct child *c, struct buf *out) { words_join(&c->err.words, out); }

/* In English, whatever the locale is. */
static const char *signal_text(int signo)
{
#ifdef __GLIBC__
    return sigdescr_np(signo);
#else
    return strsignal(signo);
#endif
}

void child_describe(const struct child *c, char *out, size_t n)
{
    const char *name = c->signal ? signal_text(c->signal) : NULL;

    if (!has_ended(c))
        snprintf(out, n, "runs");
    else if (c->signal)
        snprintf(out, n, "was killed by signal %d (%s)", c->signal, name ? name : "unknown");
    else if (c->lost)
        snprintf(out, n, "has ended");
    else
        snprintf(out, n, "exited with status %d", c->status);
}

void child_stop(struct child *c, uint64_t grace_ms)
{
    if (has_ended(c))
        return;
    if (c->wish != MAY_RUN) {
        /* A second wish may only be more urgent. */
        if (timer_running(&c->grace) && loop_now(c->loop) + grace_ms < c->grace.due)
            timer_start(&c->grace, grace_ms);
        return;
    }
    c->wish = MUST_STOP;
    stream_hangup(c->in);
    signal_group(c, SIGTERM);
    signal_group(c, SIGCONT); /* one that is stopped could not hear it */
    timer_start(&c->grace, grace_ms);
}

void child_close(struct child *c, loop_fn *fn, void *ctx)
{
    if (is_closed(c))
        return;
    child_stop(c, CHILD_STOP_MS);
    c->wish = IS_CLOSED;
    child_err_hush(&c->err);
    c->closed_fn = fn;
    c->closed_ctx = ctx;
    loop_closing_begin(c->loop);
    if (has_ended(c)) {
        reap(c);
        finish_close(c);
        return;
    }
    /* What it still says is read and dropped: a full pipe must not keep it from ending well. */
    stream_read(c->out, true);
    stream_read(c->err.stream, true);
}
