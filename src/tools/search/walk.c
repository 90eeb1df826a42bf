/* walk.c - directories, and the threads that share the work.
 *
 * What is left to do is a stack: names of directories to be opened, and names of files to be
 * searched, of one directory each. The thread of the call takes part, so that nothing waits for
 * threads that never start; how many help is bounded for the whole program, and they are not of
 * the loop's pool, whose workers may all be busy with searches.
 *
 * Every open is relative to the descriptor of the directory above and follows no link, so that
 * whatever others do to the tree meanwhile, nothing outside of it is read and nothing is read
 * twice. A directory stays open while something in it is left to be done. */
#include "search_impl.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

struct dir {
    struct dir *above;
    struct ignore *rules;
    char *path; /* from the top: "" or "a/b/" */
    size_t path_n, depth;
    int fd;
    atomic_size_t refs;
};

struct walk_task {
    struct walk_task *next;
    struct dir *dir;
    bool files;
    char *names; /* each ended by a NUL */
    size_t at, n;
    size_t refs; /* the stack, and who works on some of the names */
};

/* Some of a task. */
struct share {
    struct walk_task *task;
    size_t from, to;
};

struct worker {
    struct hunt *h;
    bool first; /* the thread of the call */
    pthread_t thread;
    struct scanner scanner;
    struct buf path, dirs, files;
    char *dents;
};

static atomic_uint helpers; /* of all searches */

/* ---- directories ---- */

static void dir_unref(struct hunt *h, struct dir *d)
{
    while (d && atomic_fetch_sub(&d->refs, 1) == 1) {
        struct dir *above = d->above;

        close(d->fd);
        ignore_free(d->rules);
        free(d->path);
        free(d);
        pthread_mutex_lock(&h->lock);
        if (h->open_dirs-- == SEARCH_FDS_MAX)
            pthread_cond_broadcast(&h->wake);
        pthread_mutex_unlock(&h->lock);
        d = above;
    }
}

/* Takes the descriptor. */
static struct dir *dir_new(struct hunt *h, struct dir *above, int fd, struct span path)
{
    struct dir *d = NEW(struct dir);

    d->fd = fd;
    d->above = above;
    d->depth = above ? above->depth + 1 : 0;
    d->path = mem_dupn(path.p ? path.p : "", path.n);
    d->path_n = path.n;
    atomic_store(&d->refs, 1);
    if (above)
        atomic_fetch_add(&above->refs, 1);
    if (!h->ignored)
        d->rules = rules_of(fd, ".gitignore", d->path);
    pthread_mutex_lock(&h->lock);
    h->open_dirs++;
    pthread_mutex_unlock(&h->lock);
    return d;
}

/* The nearest rule decides. */
static bool is_ignored(const struct hunt *h, const struct dir *d, struct span path, bool directory)
{
    size_t name = d->path_n;
    int rc = -1;

    if (h->ignored)
        return false;
    for (; d && rc < 0; d = d->above)
        if (d->rules)
            rc = ignore_decides(d->rules, path, name, directory);
    for (size_t i = h->root->n_rules; i-- > 0 && rc < 0;)
        rc = ignore_decides(h->root->rules[i], path, name, directory);
    return rc > 0;
}

/* ---- the stack ---- */

/* The lock is held. */
static void task_unref(struct walk_task *t, struct dir **unused)
{
    *unused = NULL;
    if (--t->refs)
        return;
    *unused = t->dir;
    free(t->names);
    free(t);
}

static void push(struct hunt *h, struct dir *d, struct buf *names, bool files)
{
    struct walk_task *t;

    if (!names->n)
        return;
    t = NEW(struct walk_task);
    *t = (struct walk_task){
        .dir = d, .files = files, .names = mem_dupn(names->p, names->n), .n = names->n, .refs = 1
    };
    names->n = 0;
    atomic_fetch_add(&d->refs, 1);
    pthread_mutex_lock(&h->lock);
    t->next = h->todo;
    h->todo = t;
    pthread_cond_broadcast(&h->wake);
    pthread_mutex_unlock(&h->lock);
}

static struct share take(struct hunt *h)
{
    struct walk_task *t = h->todo;
    struct share s = { t, t->at, t->at };

    for (int i = 0; s.to < t->n && i < (t->files ? SEARCH_BATCH_FILES : 1); i++)
        s.to += strlen(t->names + s.to) + 1;
    t->at = s.to;
    t->refs++;
    if (t->at == t->n) {
        h->todo = t->next;
        t->refs--;
    }
    h->busy++;
    return s;
}

static uint64_t now_ms(void) { return clock_real()->now_ms(clock_real()); }

static void tell_progress(struct hunt *h)
{
    uint64_t now = now_ms();
    char text[128];

    if (!h->call || now - h->seen_ms < SEARCH_PROGRESS_MS)
        return;
    h->seen_ms = now;
    snprintf(text, sizeof text, "%llu files and directories seen, %llu searched",
             (unsigned long long)h->entries, (unsigned long long)h->searched);
    pb_call_progress(h->call, (double)h->entries, 0, text);
}

bool hunt_over(struct hunt *h)
{
    if (h->call && pb_call_cancelled(h->call))
        h->stop = true;
    return h->stop;
}

static void wait_for_work(struct worker *w)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += SEARCH_LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&w->h->wake, &w->h->lock, &until);
}

/* With many directories open only one thread goes on opening more: its way down is bounded. */
static bool may_take(const struct worker *w)
{
    const struct hunt *h = w->h;

    return h->todo && (h->todo->files || w->first || h->open_dirs < SEARCH_FDS_MAX);
}

/* false: nothing is left, or the search is over. */
static bool next_share(struct worker *w, struct share *out)
{
    struct hunt *h = w->h;
    bool got = false;

    pthread_mutex_lock(&h->lock);
    while (!hunt_over(h) && (h->todo || h->busy)) {
        if (may_take(w)) {
            *out = take(h);
            got = true;
            break;
        }
        wait_for_work(w);
    }
    pthread_mutex_unlock(&h->lock);
    return got;
}

static void share_done(struct hunt *h, struct share s)
{
    struct dir *unused;

    pthread_mutex_lock(&h->lock);
    task_unref(s.task, &unused);
    if (!--h->busy && !h->todo)
        pthread_cond_broadcast(&h->wake);
    pthread_mutex_unlock(&h->lock);
    dir_unref(h, unused);
}

/* ---- trouble ---- */

char *hunt_shown(const struct hunt *h, const char *path)
{
    AUTO_BUF struct buf b = { 0 };

    buf_str(&b, h->root->shown);
    buf_str(&b, path + strlen(h->root->above));
    return buf_take(&b);
}

void hunt_trouble(struct hunt *h, const char *path, const char *why)
{
    AUTO_FREE char *shown = hunt_shown(h, path);

    pthread_mutex_lock(&h->lock);
    if (h->troubles++ < SEARCH_TOLD_MAX) {
        put_printable(&h->trouble, span_of(*shown ? shown : "."));
        buf_printf(&h->trouble, ": %s\n", why ? why : "it cannot be read");
    }
    pthread_mutex_unlock(&h->lock);
}

void hunt_fault(struct hunt *h, const char *path, int sys)
{
    char room[96];

    hunt_trouble(h, path, system_text(sys, room, sizeof room));
}

/* ---- reading a directory ---- */

static void found_by_name(struct hunt *h, const char *path)
{
    struct found_file file = { .path = hunt_shown(h, path) };

    pthread_mutex_lock(&h->lock);
    found_add(&h->found, &file, 0);
    pthread_mutex_unlock(&h->lock);
}

static bool is_included(const struct hunt *h, struct span path)
{
    return !h->include || pathglob_match(h->include, span_from(path, strlen(h->root->above)), NULL);
}

static unsigned char type_of(const struct dir *d, const struct dirent64 *e)
{
    struct stat st;

    if (e->d_type != DT_UNKNOWN)
        return e->d_type;
    return fstatat(d->fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0
               ? DT_UNKNOWN
               : (unsigned char)IFTODT(st.st_mode);
}

/* Devices, FIFOs and sockets are not looked at. Links are names, which lead nowhere. */
static void look_at(struct worker *w, struct dir *d, const struct dirent64 *e)
{
    struct hunt *h = w->h;
    unsigned char type = type_of(d, e);
    struct span path;

    if (type != DT_DIR && type != DT_REG && (type != DT_LNK || h->matcher))
        return;
    w->path.n = d->path_n;
    buf_str(&w->path, e->d_name);
    path = buf_span(&w->path);
    if (is_ignored(h, d, path, type == DT_DIR))
        return;
    if (type == DT_DIR)
        buf_add(&w->dirs, e->d_name, strlen(e->d_name) + 1);
    else if (!is_included(h, path))
        return;
    else if (h->matcher)
        buf_add(&w->files, e->d_name, strlen(e->d_name) + 1);
    else
        found_by_name(h, buf_cstr(&w->path));
}

static bool is_own(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, ".git") == 0;
}

static void read_dir(struct worker *w, struct dir *d)
{
    struct hunt *h = w->h;
    ssize_t n;

    w->path.n = 0;
    buf_add(&w->path, d->path, d->path_n);
    while (!hunt_over(h) && (n = getdents64(d->fd, w->dents, SEARCH_DENTS_BYTES)) != 0) {
        if (n < 0) {
            if (errno != ENOENT)
                hunt_fault(h, d->path, errno);
            break;
        }
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *e = (const void *)(w->dents + at);

            at += e->d_reclen;
            if (is_own(e->d_name))
                continue;
            if (atomic_fetch_add(&h->entries, 1) >= SEARCH_ENTRIES_MAX) {
                h->too_many = true;
                h->stop = true;
                break;
            }
            look_at(w, d, e);
        }
    }
    push(h, d, &w->dirs, false);
    push(h, d, &w->files, true);
}

/* ---- working ---- */

static bool is_private(const struct hunt *h, int fd)
{
    struct stat st;

    return h->private_ino && fstat(fd, &st) == 0 && st.st_dev == h->private_dev &&
           st.st_ino == h->private_ino;
}

static void enter(struct worker *w, struct dir *above, const char *name)
{
    struct hunt *h = w->h;
    int fd = openat(above->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    int error = errno;
    AUTO_BUF struct buf path = { 0 };
    struct dir *d;

    buf_add(&path, above->path, above->path_n);
    buf_str(&path, name);
    if (fd < 0 && error != ENOENT && error != ELOOP && error != ENOTDIR)
        hunt_fault(h, buf_cstr(&path), error);
    if (fd < 0)
        return;
    if (is_private(h, fd)) {
        close(fd);
        hunt_trouble(h, buf_cstr(&path), "it belongs to Patchbay itself");
        return;
    }
    if (above->depth + 1 >= SEARCH_DEPTH_MAX) {
        close(fd);
        hunt_trouble(h, buf_cstr(&path), "it lies too deep; search in it by its path");
        return;
    }
    buf_byte(&path, '/');
    d = dir_new(h, above, fd, buf_span(&path));
    read_dir(w, d);
    dir_unref(h, d);
}

static void work_on(struct worker *w, struct share s)
{
    const struct walk_task *t = s.task;

    for (size_t at = s.from; at < s.to && !hunt_over(w->h); at += strlen(t->names + at) + 1) {
        const char *name = t->names + at;

        if (!t->files) {
            enter(w, t->dir, name);
            continue;
        }
        w->path.n = 0;
        buf_add(&w->path, t->dir->path, t->dir->path_n);
        buf_str(&w->path, name);
        scan_file(&w->scanner, t->dir->fd, name, buf_cstr(&w->path));
    }
}

static void *worker_run(void *ctx)
{
    struct worker *w = ctx;
    struct share s;

    while (next_share(w, &s)) {
        work_on(w, s);
        share_done(w->h, s);
        if (w->first)
            tell_progress(w->h);
    }
    return NULL;
}

static void worker_init(struct worker *w, struct hunt *h, bool first)
{
    *w = (struct worker){ .h = h, .first = first, .scanner.h = h };
    w->dents = mem_alloc(SEARCH_DENTS_BYTES);
}

static void worker_done(struct worker *w)
{
    scanner_done(&w->scanner);
    buf_done(&w->path);
    buf_done(&w->dirs);
    buf_done(&w->files);
    free(w->dents);
}

static bool helper_start(struct worker *w)
{
    if (atomic_fetch_add(&helpers, 1) < SEARCH_HELPERS_MAX &&
        pthread_create(&w->thread, NULL, worker_run, w) == 0)
        return true;
    atomic_fetch_sub(&helpers, 1);
    return false;
}

static unsigned threads_wanted(const struct hunt *h)
{
    cpu_set_t set;
    unsigned n = h->threads;

    if (!n)
        n = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;
    return n < SEARCH_THREADS_MAX ? n : SEARCH_THREADS_MAX;
}

static void run_threads(struct hunt *h)
{
    struct worker w[SEARCH_THREADS_MAX];
    unsigned wanted = threads_wanted(h), n = 1;

    worker_init(&w[0], h, true);
    for (; n < wanted; n++) {
        worker_init(&w[n], h, false);
        if (!helper_start(&w[n])) {
            worker_done(&w[n]);
            break;
        }
    }
    worker_run(&w[0]);
    for (unsigned i = 0; i < n; i++) {
        if (i) {
            pthread_join(w[i].thread, NULL);
            atomic_fetch_sub(&helpers, 1);
        }
        worker_done(&w[i]);
    }
}

/* What a search that was stopped did not get to. */
static void drop_rest(struct hunt *h)
{
    while (h->todo) {
        struct walk_task *t = h->todo;
        struct dir *unused;

        h->todo = t->next;
        task_unref(t, &unused);
        dir_unref(h, unused);
    }
}

static void begin(struct hunt *h)
{
    int fd = openat(h->root->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    AUTO_BUF struct buf names = { 0 };
    struct worker w;
    struct dir *d;

    if (fd < 0) {
        hunt_fault(h, h->root->above, errno);
        return;
    }
    d = dir_new(h, NULL, fd, span_of(h->root->above));
    if (h->root->file) {
        buf_add(&names, h->root->file, strlen(h->root->file) + 1);
        push(h, d, &names, true);
    } else {
        worker_init(&w, h, true);
        read_dir(&w, d);
        worker_done(&w);
    }
    dir_unref(h, d);
}

void hunt_init(struct hunt *h)
{
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->wake, NULL);
    h->seen_ms = now_ms();
}

int hunt_run(struct hunt *h)
{
    begin(h);
    run_threads(h);
    drop_rest(h);
    found_sort(&h->found);
    return h->call && pb_call_cancelled(h->call) ? -PB_E_CANCELLED : 0;
}

void hunt_done(struct hunt *h)
{
    found_done(&h->found);
    buf_done(&h->trouble);
    pthread_mutex_destroy(&h->lock);
    pthread_cond_destroy(&h->wake);
}
