#include "watch.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/inotify.h>
#include <sys/stat.h>

enum {
    WATCH_MASK = IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                 IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR,
    CLIMBS_MAX = 8, /* tries to catch up with directories that are being made just now */
};

/* What a path names at the moment; zeroed: nothing. */
struct file_state {
    dev_t dev;
    ino_t ino;
    off_t size;
    struct timespec mtime;
};

struct watched_file {
    char *path;
    struct file_state state;
};

/* A name in a directory whose comings and goings matter: the file itself, or on the way to it. */
struct spot {
    int wd;
    char *name;
    bool is_file;
};

struct watch {
    struct pb_loop *loop;
    struct stream *stream;
    int fd; /* the stream's */
    struct watched_file *files;
    size_t n_files;
    struct spot *spots;
    size_t n_spots, cap_spots;
    bool touched; /* a file itself, so that no look at it is needed to know ... */
    bool seen;    /* ... unless that may be what watch_seen() was about: then a look decides */
    uint64_t touched_at;
    struct timer quiet;
    loop_fn *changed;
    void *ctx;
};

static struct file_state look_at(const char *path)
{
    struct file_state s = { 0 };
    struct stat st;

    if (stat(path, &st) == 0)
        s = (struct file_state){ st.st_dev, st.st_ino, st.st_size, st.st_mtim };
    return s;
}

static bool same_state(const struct file_state *a, const struct file_state *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
           a->mtime.tv_sec == b->mtime.tv_sec && a->mtime.tv_nsec == b->mtime.tv_nsec;
}

/* The last name of a path, and the directory it is in, as a new path. */
static char *split(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');

    *name = slash ? slash + 1 : path;
    if (!slash)
        return mem_dup(".");
    return mem_dupn(path, slash == path ? 1 : (size_t)(slash - path));
}

static void add_spot(struct watch *w, int wd, const char *name, bool is_file)
{
    if (w->n_spots == w->cap_spots) {
        w->cap_spots = w->cap_spots ? w->cap_spots * 2 : 8;
        w->spots = mem_resize(w->spots, w->cap_spots * sizeof *w->spots);
    }
    w->spots[w->n_spots++] = (struct spot){ wd, mem_dup(name), is_file };
}

/* The directory of `path`, or the nearest one above it that is there. Returns whether it was the
 * directory itself; *wd < 0 with errno when nothing could be watched. */
static bool watch_nearest(struct watch *w, const char *path, int *wd, char **name)
{
    const char *last;
    char *dir = split(path, &last);
    bool nearest = true;

    *name = mem_dup(last);
    while ((*wd = inotify_add_watch(w->fd, dir, WATCH_MASK)) < 0 &&
           (errno == ENOENT || errno == ENOTDIR || errno == EACCES) && strcmp(dir, "/") != 0 &&
           strcmp(dir, ".") != 0) {
        char *up = split(dir, &last);

        free(*name);
        *name = mem_dup(last);
        free(dir);
        dir = up;
        nearest = false;
    }
    free(dir);
    return nearest;
}

/* A directory made between finding it missing and watching the one above it would go unseen, so
 * climb again until nothing new is found. */
static int watch_path(struct watch *w, const char *path, struct pb_error *err)
{
    AUTO_FREE char *name = NULL;
    int wd = -1, last_wd;
    bool nearest;

    for (int i = 0; i < CLIMBS_MAX; i++) {
        last_wd = wd;
        free(name);
        nearest = watch_nearest(w, path, &wd, &name);
        if (wd < 0)
            return fail_sys(err, errno, "watch '%s'", path);
        if (nearest || wd == last_wd)
            break;
    }
    add_spot(w, wd, name, nearest);
    return 0;
}

/* Where a symbolic link leads, seen from its own directory; NULL: it is none. */
static char *link_target(const char *path)
{
    char target[PATH_MAX];
    ssize_t n = readlink(path, target, sizeof target);
    struct buf out = { 0 };

    if (n <= 0 || (size_t)n == sizeof target)
        return NULL;
    if (target[0] != '/') {
        const char *name;
        AUTO_FREE char *dir = split(path, &name);

        buf_printf(&out, "%s/", dir);
    }
    buf_add(&out, target, (size_t)n);
    return buf_take(&out);
}

/* A path and everything its symbolic links lead to: an edit happens where the file really is. */
static int watch_links(struct watch *w, const char *path, struct pb_error *err)
{
    char *at = mem_dup(path);
    int rc = 0;

    for (int i = 0; at && rc == 0 && i <= CONFIG_LINKS_MAX; i++) {
        char *target;

        rc = watch_path(w, at, err);
        target = link_target(at);
        free(at);
        at = target;
    }
    free(at);
    return rc;
}

static bool has_wd(const struct spot *spots, size_t n, int wd)
{
    for (size_t i = 0; i < n; i++)
        if (spots[i].wd == wd)
            return true;
    return false;
}

static void free_spots(struct spot *spots, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(spots[i].name);
    free(spots);
}

/* Finds out anew what is to be watched. Looking at a file after this misses nothing: what happens
 * later is told, what happened before is seen. */
static int arm(struct watch *w, struct pb_error *err)
{
    struct spot *old = w->spots;
    size_t n_old = w->n_spots;
    int rc = 0;

    w->spots = NULL;
    w->n_spots = w->cap_spots = 0;
    for (size_t i = 0; i < w->n_files && rc == 0; i++)
        rc = watch_links(w, w->files[i].path, err);
    for (size_t i = 0; i < n_old; i++)
        if (!has_wd(w->spots, w->n_spots, old[i].wd) && !has_wd(old, i, old[i].wd))
            inotify_rm_watch(w->fd, old[i].wd); /* may be gone with its directory: fine */
    free_spots(old, n_old);
    return rc;
}

static void arm_again(struct watch *w)
{
    struct pb_error err;

    if (arm(w, &err) < 0)
        log_warn("%s; changes there will not be noticed", err.msg);
}

static bool look_again(struct watch *w)
{
    bool changed = w->touched;

    w->touched = false;
    for (size_t i = 0; i < w->n_files; i++) {
        struct file_state now = look_at(w->files[i].path);

        changed |= !same_state(&now, &w->files[i].state);
        w->files[i].state = now;
    }
    return changed;
}

static void on_quiet(void *ctx)
{
    struct watch *w = ctx;

    w->seen = false;
    arm_again(w);
    if (look_again(w))
        w->changed(w->ctx); /* which may free w */
}

/* Waits for quiet, but not for ever: a file that is written all the time is told now and then. The
 * end may have passed, when the loop was held up and hears of this before the timer. */
static void touch(struct watch *w)
{
    uint64_t now = loop_now(w->loop), end, left;

    if (!timer_running(&w->quiet))
        w->touched_at = now;
    end = w->touched_at + WATCH_QUIET_MAX_MS;
    left = end > now ? end - now : 0;
    timer_start(&w->quiet, left < WATCH_QUIET_MS ? left : WATCH_QUIET_MS);
}

/* The events of it may still be on their way, and a look tells them from others. Only an edit in
 * place that changes neither length nor time could pass for one of them, until all is quiet. */
void watch_seen(struct watch *w)
{
    look_again(w);
    w->seen = true;
    touch(w);
}

/* Does the event concern us? Our own inotify_rm_watch() makes events too, of unknown numbers. */
static bool concerns(struct watch *w, const struct inotify_event *e, const char *name)
{
    bool ours = false;

    if (e->mask & IN_Q_OVERFLOW)
        return true;
    for (size_t i = 0; i < w->n_spots; i++) {
        if (w->spots[i].wd != e->wd)
            continue;
        if (e->len == 0)
            return true; /* the directory itself has gone */
        if (strcmp(w->spots[i].name, name) != 0)
            continue;
        ours = true;
        w->touched |= w->spots[i].is_file && !w->seen;
    }
    return ours;
}

static void on_events(void *ctx, struct span bytes)
{
    struct watch *w = ctx;
    struct inotify_event e;
    bool any = false;

    while (bytes.n >= sizeof e) {
        memcpy(&e, bytes.p, sizeof e);
        if (bytes.n - sizeof e < e.len)
            break;
        any |= concerns(w, &e, bytes.p + sizeof e);
        bytes = span_from(bytes, sizeof e + e.len);
    }
    if (!any)
        return;
    arm_again(w);
    touch(w);
}

static void on_error(void *ctx, const struct pb_error *err)
{
    (void)ctx;
    log_warn("watching files: %s; changes will not be noticed", err->msg);
}

static void free_watch(struct watch *w)
{
    for (size_t i = 0; i < w->n_files; i++)
        free(w->files[i].path);
    free(w->files);
    free_spots(w->spots, w->n_spots);
    free(w);
}

static void keep_paths(struct watch *w, const char *const *paths)
{
    while (paths[w->n_files])
        w->n_files++;
    w->files = mem_zero((w->n_files + 1) * sizeof *w->files);
    for (size_t i = 0; i < w->n_files; i++)
        w->files[i].path = mem_dup(paths[i]);
}

int watch_files(struct watch **out, struct pb_loop *l, const char *const *paths, loop_fn *changed,
                void *ctx, struct pb_error *err)
{
    static const struct stream_events events = { .data = on_events, .error = on_error };
    struct watch *w;
    int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    int rc;

    if (fd < 0)
        return fail_sys(err, errno, "begin to watch files");
    w = NEW(struct watch);
    w->loop = l;
    w->fd = fd;
    w->changed = changed;
    w->ctx = ctx;
    keep_paths(w, paths);
    timer_init(&w->quiet, l, on_quiet, w);
    rc = arm(w, err);
    if (rc == 0)
        rc = stream_open(&w->stream, l, fd, false, &events, w, err);
    if (rc < 0) {
        close(fd);
        free_watch(w);
        return rc;
    }
    look_again(w);
    stream_read(w->stream, true);
    *out = w;
    return 0;
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    timer_stop(&w->quiet);
    stream_close(w->stream, NULL, NULL);
    free_watch(w);
}
