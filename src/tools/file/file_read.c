#include "file_impl.h"
#include <errno.h>
#include <stdio.h>

enum { CHUNK = 65536 };

/* One file of a call. What is shown lies in `out`; `left` and `lines` are what may still be. */
struct reading {
    struct tool_call *c;
    struct buf *out;
    const char *name;
    int fd;
    int64_t size;
    int64_t offset; /* the first line, from 1; negative: so many before the end */
    int64_t limit;  /* lines */
    size_t left;    /* bytes */

    int64_t at;    /* in the file */
    int64_t shown; /* lines */
    bool odd;      /* bytes that are no text were shown as something else */
    bool cut;      /* the last line that was shown is longer */
};

static ssize_t read_at(const struct reading *r, int64_t at, char *to, size_t n)
{
    ssize_t got;

    do
        got = pread(r->fd, to, n, at);
    while (got < 0 && errno == EINTR);
    return got;
}

static int fail_reading(const struct reading *r, struct pb_error *err)
{
    return fail_sys(err, errno, "read '%s'", r->name);
}

static int cancelled(const struct reading *r, struct pb_error *err)
{
    return pb_call_cancelled(r->c->call) ? fail(err, PB_E_CANCELLED, "nobody waits any more") : 0;
}

/* ---- where to begin ---- */

static int skip_lines(struct reading *r, struct pb_error *err)
{
    int64_t line = 1;
    char chunk[CHUNK], last = '\n';

    while (line < r->offset) {
        ssize_t n = read_at(r, r->at, chunk, sizeof chunk);
        const char *p = chunk, *end = chunk + (n > 0 ? n : 0);

        if (n < 0)
            return fail_reading(r, err);
        while (line < r->offset && p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
            line++;
            p++;
        }
        r->at += p ? p - chunk : n;
        if (n == 0 || cancelled(r, err) < 0)
            break;
    }
    if (pb_call_cancelled(r->c->call))
        return -PB_E_CANCELLED;
    if (r->at < r->size || r->offset == 1)
        return 0;
    read_at(r, r->size - 1, &last, 1);
    return fail(err, PB_E_INVALID, "'%s' ends before line %lld: it has %lld lines", r->name,
                (long long)r->offset, (long long)line - (last == '\n'));
}

/* From the end, so that the size of the file does not matter. */
static int skip_back(struct reading *r, struct pb_error *err)
{
    int64_t wanted = -r->offset, lines = 0, end = r->size;
    char chunk[CHUNK];

    while (end > 0) {
        size_t n = end < CHUNK ? (size_t)end : CHUNK;
        const char *p = chunk + n;

        if (read_at(r, end - (int64_t)n, chunk, n) != (ssize_t)n)
            return fail(err, PB_E_BUSY, "'%s' is becoming shorter; try again", r->name);
        while ((p = memrchr(chunk, '\n', (size_t)(p - chunk)))) {
            /* The one at the end of the file ends the last line, and begins none. */
            if (end - (int64_t)n + (p - chunk) + 1 < r->size && ++lines == wanted) {
                r->at = end - (int64_t)n + (p - chunk) + 1;
                return 0;
            }
        }
        end -= (int64_t)n;
        if (cancelled(r, err) < 0)
            return -PB_E_CANCELLED;
    }
    r->at = 0;
    r->offset = -(lines + 1);
    return 0;
}

/* ---- what is shown ---- */

static void show_bytes(struct reading *r, struct span s)
{
    while (s.n) {
        size_t n = *s.p ? utf8_length((const uint8_t *)s.p, (const uint8_t *)span_end(s)) : 0;

        if (n) {
            buf_add(r->out, s.p, n);
        } else {
            utf8_append(r->out, 0xFFFD);
            r->odd = true;
        }
        s = span_from(s, n ? n : 1);
    }
}

/* Between two characters, if it has any. */
static struct span cut_line(struct span line, size_t max)
{
    struct span cut = utf8_cut(line, max);

    return line.n > max && max - cut.n > 3 ? span_make(line.p, max) : cut;
}

/* As many whole lines as there is room for; of the first, if it is longer than that, its
 * beginning. */
static int show_lines(struct reading *r, struct pb_error *err)
{
    AUTO_BUF struct buf piece = { 0 };
    ssize_t n = read_at(r, r->at, buf_reserve(&piece, r->left + 4), r->left + 4);
    struct span rest;

    if (n < 0)
        return fail_reading(r, err);
    piece.n = (size_t)n;
    rest = buf_span(&piece);
    while (rest.n && r->shown < r->limit) {
        struct span line = line_first(rest);
        bool whole = line.p[line.n - 1] == '\n' || r->at + (int64_t)line.n >= r->size;

        if (line.n > r->left || !whole) {
            if (r->shown)
                break;
            line = cut_line(line, r->left);
            r->cut = true;
        }
        show_bytes(r, line);
        r->left -= line.n;
        r->at += (int64_t)line.n;
        r->shown++;
        if (r->cut)
            break;
        rest = span_from(rest, line.n);
    }
    return 0;
}

static void begin_line(struct buf *out)
{
    if (out->n && out->p[out->n - 1] != '\n')
        buf_byte(out, '\n');
}

static void tell_rest(struct reading *r)
{
    long long next = r->offset + r->shown, follow = r->size - r->at;
    bool end = r->at >= r->size && !r->cut;

    if (r->odd || r->cut || !end || r->offset != 1)
        begin_line(r->out);
    if (r->odd)
        buf_str(r->out, "[Some bytes are no UTF-8; each is shown as \xEF\xBF\xBD. replace_string "
                        "does not find them.]\n");
    if (r->cut)
        buf_printf(r->out, "[Line %lld is too long to be shown: it is cut here.]\n", next - 1);
    if (!end && next)
        buf_printf(r->out, "[Lines %lld to %lld; %lld bytes follow. Go on with offset=%lld.]\n",
                   (long long)r->offset, next - 1, follow, next);
    else if (end && r->offset != 1)
        buf_printf(r->out, "[These are the last %lld lines.]\n", (long long)r->shown);
}

static int show_text(struct reading *r, struct pb_error *err)
{
    int rc = r->offset < 0 ? skip_back(r, err) : skip_lines(r, err);

    if (rc == 0)
        rc = show_lines(r, err);
    if (rc == 0)
        tell_rest(r);
    return rc;
}

static int show_file(struct reading *r, struct pb_error *err)
{
    char beginning[FILE_LOOK_BYTES];
    ssize_t n = read_at(r, 0, beginning, sizeof beginning);
    const char *kind;

    if (n < 0)
        return fail_reading(r, err);
    if (n == 0) {
        buf_str(r->out, "[The file is empty.]");
        return 0;
    }
    if (r->size < n)
        r->size = n; /* such as those in /sys, which have more than they say */
    kind = file_kind(span_make(beginning, (size_t)n));
    if (!kind)
        return show_text(r, err);
    buf_printf(r->out, "[This is no text, but %s of %lld bytes.]", kind, (long long)r->size);
    return 0;
}

/* ---- the call ---- */

static int read_place(struct tool_call *c, const struct tool_place *p, struct buf *out,
                      size_t *left, struct pb_error *err)
{
    AUTO_CLOSE int fd = -1;
    struct stat st;
    struct reading r = { .c = c,
                         .out = out,
                         .name = p->name,
                         .offset = pb_arg_int(c->call, "offset"),
                         .limit = pb_arg_int(c->call, "limit"),
                         .left = *left };
    int rc = place_open(p, PLACE_FILE, &fd, &st, err);

    if (rc < 0)
        return rc;
    if (r.offset == 0)
        r.offset = 1;
    if (r.limit < 1 || r.limit > FILE_READ_LINES)
        r.limit = FILE_READ_LINES;
    r.fd = fd;
    r.size = st.st_size;
    rc = show_file(&r, err);
    *left = r.left;
    return rc;
}

static int read_path(struct tool_call *c, const char *path, struct buf *out, size_t *left,
                     struct pb_error *err)
{
    AUTO_PLACE struct tool_place place = { .root = -1 };
    int rc = place_find(&place, c, path, err);

    return rc < 0 ? rc : read_place(c, &place, out, left, err);
}

/* What fails of one does not keep the others from being read. */
static int read_many(struct tool_call *c, struct json paths)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf out = { 0 };
    size_t left = FILE_READ_BYTES, n = 0, failed = 0;
    struct pb_error err;

    JSON_FOREACH(v, paths) {
        const char *path = json_cstr(v, &a);

        if (n == FILE_READ_FILES) {
            begin_line(&out);
            buf_printf(&out, "[At most %d files are read by one call.]", FILE_READ_FILES);
            break;
        }
        buf_str(&out, n++ ? "\n==> " : "==> ");
        name_show(&out, path ? path : "");
        buf_str(&out, " <==\n");
        if (!left) {
            buf_str(&out, "[No room is left in this answer: read it by another call.]");
        } else if (read_path(c, path, &out, &left, &err) < 0) {
            buf_printf(&out, "[Operation failed: %s]", err.msg);
            failed++;
        }
        begin_line(&out);
    }
    if (n && failed == n)
        return file_fail(c, buf_span(&out));
    return pb_reply_bytes(c->call, out.p, out.n);
}

int file_read_file(struct tool_call *c)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf out = { 0 };
    AUTO_PLACE struct tool_place place = { .root = -1 };
    const char *paths = pb_arg_json(c->call, "filePaths");
    size_t left = FILE_READ_BYTES;
    struct pb_error err;

    if (!pb_arg_has(c->call, "filePath")) {
        if (!paths || json_parse(&doc, span_of(paths), NULL, NULL) < 0 ||
            !json_len(json_root(&doc)))
            return pb_fail(c->call, "Missing required parameter: filePath");
        return read_many(c, json_root(&doc));
    }
    if (place_find(&place, c, pb_arg_string(c->call, "filePath"), &err) < 0 ||
        read_place(c, &place, &out, &left, &err) < 0)
        return file_fail_err(c, &err);
    return pb_reply_bytes(c->call, out.p, out.n);
}
