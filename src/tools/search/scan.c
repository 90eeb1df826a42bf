/* scan.c - a file, window by window. Lines are not taken apart: where something is found, the line
 * around it is looked for, and only then lines are counted. */
#include "search_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { BUFFER = SEARCH_LINE_MAX + SEARCH_READ_BYTES };

void scanner_done(struct scanner *s)
{
    regex_run_done(&s->run.regex);
    found_file_done(&s->file);
    free(s->buf);
}

static void add_hit(struct scanner *s, struct span line, struct span hit)
{
    if (s->line <= s->hit_line)
        return; /* seen before: in another part of a long line, or kept for what begins in it */
    s->hit_line = s->line;
    s->total++;
    if (s->file.n == SEARCH_KEPT_MAX)
        return;
    if (s->file.n == s->cap) {
        s->cap = s->cap ? s->cap * 2 : 4;
        s->file.hits = mem_resize(s->file.hits, s->cap * sizeof *s->file.hits);
    }
    s->file.hits[s->file.n++] = (struct search_hit){ s->line, found_text(line, hit) };
}

/* -PB_E_LIMIT: the expression takes too long. */
static int search_lines(struct scanner *s, struct span lines, bool more)
{
    struct span line, hit;
    int rc;

    matcher_begin(&s->run);
    while ((rc = matcher_next(s->h->matcher, &s->run, lines, &line, &hit)) > 0) {
        size_t end = (size_t)(span_end(line) - lines.p);

        s->line += count_lines(span_make(lines.p, (size_t)(line.p - lines.p)));
        add_hit(s, line, hit);
        if (end == lines.n)
            return 0; /* the last line has no line feed, or it is part of a long one */
        s->line++;
        lines = span_from(lines, end + 1);
        if (!lines.n)
            return 0;
    }
    if (more)
        s->line += count_lines(lines);
    return rc;
}

/* The first bytes that can be searched now, and from where on they have to be seen again. */
static size_t next_part(const struct scanner *s, size_t n, size_t *from)
{
    const char *lf = memrchr(s->buf, '\n', n);
    size_t taken = lf ? (size_t)(lf + 1 - s->buf) : SEARCH_LINE_MAX;

    *from = lf ? taken : taken - SEARCH_OVERLAP;
    if (!lf)
        return taken;
    /* what has line feeds in it may begin here and end in what is not read yet */
    for (size_t i = 0; *from && i < s->h->matcher->line_feeds; i++) {
        lf = memrchr(s->buf, '\n', *from - 1);
        *from = lf ? (size_t)(lf + 1 - s->buf) : 0;
    }
    if (n - *from >= SEARCH_LINE_MAX)
        *from = taken;
    return taken;
}

/* Searches what is there and keeps what has to be seen again: less than SEARCH_LINE_MAX. Returns
 * how much that is. */
static ssize_t search_window(struct scanner *s, size_t n, bool end)
{
    while (!end && (n >= SEARCH_LINE_MAX || (n && memrchr(s->buf, '\n', n)))) {
        size_t from, taken = next_part(s, n, &from);

        if (search_lines(s, span_make(s->buf, taken), true) < 0)
            return -1;
        s->line -= count_lines(span_make(s->buf + from, taken - from));
        memmove(s->buf, s->buf + from, n - from);
        n -= from;
        if (n < SEARCH_LINE_MAX)
            break;
    }
    if (end && search_lines(s, span_make(s->buf, n), false) < 0)
        return -1;
    return end ? 0 : (ssize_t)n;
}

static bool is_binary(const char *p, size_t n)
{
    return memchr(p, '\0', n < SEARCH_BINARY_BYTES ? n : SEARCH_BINARY_BYTES);
}

/* 0, or an errno; -1: the expression takes too long. */
static int search_fd(struct scanner *s, int fd, uint64_t size)
{
    size_t n = 0;
    uint64_t read_so_far = 0;

    while (!hunt_over(s->h)) {
        ssize_t got = read(fd, s->buf + n, SEARCH_READ_BYTES);
        bool end;

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (!read_so_far && is_binary(s->buf, (size_t)got)) {
            s->h->binary++;
            return 0;
        }
        read_so_far += (uint64_t)got;
        n += (size_t)got;
        /* saves a read that says nothing new */
        end = !got || (got < SEARCH_READ_BYTES && read_so_far == size);
        got = search_window(s, n, end);
        if (got < 0)
            return -1;
        n = (size_t)got;
        if (end)
            break;
    }
    s->h->bytes += read_so_far;
    return 0;
}

/* What vanished meanwhile, or is something else now, is no trouble. */
static bool is_gone(int error) { return error == ENOENT || error == ELOOP || error == ENXIO; }

void scan_file(struct scanner *s, int dir, const char *name, const char *path)
{
    AUTO_CLOSE int fd =
        openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat st;
    int rc;

    if (fd < 0 && !is_gone(errno))
        hunt_fault(s->h, path, errno);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    if (!s->buf)
        s->buf = mem_alloc(BUFFER);
    s->total = s->hit_line = 0;
    s->line = 1;
    s->cap = 0;
    s->run.spent_ns = s->run.bytes = s->run.runs = 0;
    rc = search_fd(s, fd, (uint64_t)st.st_size);
    s->h->searched++;
    if (rc < 0)
        hunt_trouble(s->h, path, "the expression takes too long on it; make it simpler");
    else if (rc > 0)
        hunt_fault(s->h, path, rc);
    if (!s->total)
        return;
    s->file.path = hunt_shown(s->h, path);
    pthread_mutex_lock(&s->h->lock);
    found_add(&s->h->found, &s->file, s->total);
    pthread_mutex_unlock(&s->h->lock);
}
