#include "patch.h"
#include "file_impl.h"

struct patch_reader {
    struct patch *p;
    struct span rest;
    size_t number; /* of the first line of rest, from 1 */
};

/* What the lines before the hunks of a file say. */
struct patch_head {
    struct span git; /* both names, as they stand behind "diff --git " */
    struct span old_name, new_name, rename_from, rename_to, copy_from, copy_to;
    struct span created, deleted, old_mode, new_mode; /* modes */
    struct span binary;
    bool crlf; /* the lines of the patch end so, whatever those of the file do */
};

static struct span peek(const struct patch_reader *r)
{
    struct span line = line_first(r->rest);

    if (line.n && line.p[line.n - 1] == '\n')
        line.n--;
    return line;
}

static void advance(struct patch_reader *r)
{
    r->rest = span_from(r->rest, line_first(r->rest).n);
    r->number++;
}

static struct patch_reader second(const struct patch_reader *r)
{
    struct patch_reader next = *r;

    advance(&next);
    return next;
}

static int refuse(const struct patch_reader *r, struct pb_error *err, const char *why)
{
    return fail(err, PB_E_INVALID, "line %zu of the patch: %s", r->number, why);
}

static void *grown(void *v, size_t n, size_t size)
{
    return n & (n - 1) || n == 1 ? v : mem_resize(v, (n ? 2 * n : 2) * size);
}

/* ---- names ---- */

/* "a\303\244\"" as git writes it. False: it is none. */
static bool unquote(struct buf *out, struct span s)
{
    static const char escapes[] = "abfnrtv\"\\", meant[] = "\a\b\f\n\r\t\v\"\\";

    for (s = span_from(s, 1); s.n && *s.p != '"'; s = span_from(s, 1)) {
        const char *e;
        int c = 0, digits = 0;

        if (*s.p != '\\') {
            buf_byte(out, *s.p);
            continue;
        }
        s = span_from(s, 1);
        if (!s.n)
            return false;
        for (; digits < 3 && s.n > (size_t)digits && s.p[digits] >= '0' && s.p[digits] <= '7';
             digits++)
            c = 8 * c + (s.p[digits] - '0');
        e = *s.p ? strchr(escapes, *s.p) : NULL;
        if (digits == 3 && c > 0 && c < 256) {
            buf_byte(out, (char)c);
            s = span_from(s, 2);
        } else if (e && !digits) {
            buf_byte(out, meant[e - escapes]);
        } else {
            return false;
        }
    }
    return s.n == 1;
}

/* NULL: it cannot be a name. */
static const char *decode_name(struct patch *p, struct span s, bool prefixed)
{
    AUTO_BUF struct buf out = { 0 };
    struct span name;

    if (s.n && *s.p == '"') {
        if (!unquote(&out, s))
            return NULL;
    } else {
        buf_add_span(&out, s);
    }
    name = buf_span(&out);
    if (prefixed && name.n > 2)
        name = span_from(name, 2);
    if (!name.n || memchr(name.p, '\0', name.n))
        return NULL;
    return arena_dup(&p->arena, name);
}

/* Behind "--- " and "+++ " a tab and a time may follow. */
static struct span name_part(struct span line)
{
    const char *tab = line.n ? memchr(line.p, '\t', line.n) : NULL;

    if (tab && *line.p != '"')
        line.n = (size_t)(tab - line.p);
    return span_trim(line);
}

static bool is_nothing(struct span name) { return span_is(name, "/dev/null"); }

static bool has_prefix(struct span name, const char *plain, const char *quoted)
{
    return span_starts(name, plain) || span_starts(name, quoted);
}

/* "a/x b/x": both halves say the same. */
static bool split_git(struct span both, struct span *a, struct span *b)
{
    size_t half = both.n / 2;

    if (both.n < 5 || both.p[half] != ' ' || both.n % 2 == 0)
        return false;
    *a = span_make(both.p, half);
    *b = span_from(both, half + 1);
    return true;
}

/* ---- what happens to the file ---- */

static int check_mode(const struct patch_reader *r, struct span mode, struct pb_error *err)
{
    mode = span_trim(mode);
    if (!mode.n || span_is(mode, "100644"))
        return 0;
    if (span_is(mode, "120000"))
        return refuse(r, err, "symbolic links are not made by patches");
    return refuse(r, err, "modes other than 100644 are not set by patches: leave that line out");
}

static int set_names(struct patch_reader *r, struct patch_file *f, struct span from, struct span to,
                     bool prefixed, struct pb_error *err)
{
    f->from = decode_name(r->p, from, prefixed);
    f->to = decode_name(r->p, to, prefixed);
    return f->from && f->to ? 0 : refuse(r, err, "the name before it cannot be read");
}

static int set_plain_names(struct patch_reader *r, struct patch_file *f, const struct patch_head *h,
                           struct pb_error *err)
{
    struct span from = h->old_name, to = h->new_name;
    bool prefixed;

    if (!from.n && !split_git(span_trim(h->git), &from, &to))
        return refuse(r, err, "it does not say which file is meant");
    if (is_nothing(from) && is_nothing(to))
        return refuse(r, err, "both names are /dev/null");
    f->deed = is_nothing(from) || h->created.n ? PATCH_CREATE
              : is_nothing(to) || h->deleted.n ? PATCH_DELETE
                                               : PATCH_CHANGE;
    prefixed = (is_nothing(from) || has_prefix(from, "a/", "\"a/")) &&
               (is_nothing(to) || has_prefix(to, "b/", "\"b/"));
    return set_names(r, f, is_nothing(from) ? to : from, is_nothing(to) ? from : to, prefixed, err);
}

static int head_to_file(struct patch_reader *r, struct patch_file *f, const struct patch_head *h,
                        struct pb_error *err)
{
    int rc = check_mode(r, h->created, err);

    if (rc == 0)
        rc = check_mode(r, h->new_mode, err);
    if (rc < 0)
        return rc;
    if (h->binary.n)
        return refuse(r, err, "binary files are not changed by patches");
    if (h->rename_from.n && h->rename_to.n) {
        f->deed = PATCH_RENAME;
        return set_names(r, f, h->rename_from, h->rename_to, false, err);
    }
    if (h->copy_from.n && h->copy_to.n) {
        f->deed = PATCH_COPY;
        return set_names(r, f, h->copy_from, h->copy_to, false, err);
    }
    return set_plain_names(r, f, h, err);
}

/* ---- hunks ---- */

static bool read_number(struct span *s, size_t *out)
{
    size_t digits = 0;

    for (*out = 0; s->n && *s->p >= '0' && *s->p <= '9' && digits < 9; digits++) {
        *out = 10 * *out + (size_t)(*s->p - '0');
        *s = span_from(*s, 1);
    }
    return digits > 0;
}

/* "-1,2" or "-1", which means "-1,1". */
static bool read_range(struct span *s, char sign, size_t *start, size_t *lines)
{
    if (!s->n || *s->p != sign)
        return false;
    *s = span_from(*s, 1);
    *lines = 1;
    if (!read_number(s, start))
        return false;
    if (!s->n || *s->p != ',')
        return true;
    *s = span_from(*s, 1);
    return read_number(s, lines);
}

static bool read_hunk_header(struct patch_hunk *h, struct span line)
{
    h->header = span_trim(line);
    line = span_from(line, 3);
    if (!read_range(&line, '-', &h->old_start, &h->old_lines) || !line.n || *line.p != ' ')
        return false;
    line = span_from(line, 1);
    return read_range(&line, '+', &h->new_start, &h->new_lines) && span_starts(line, " @@");
}

static bool is_hunk(struct span line) { return span_starts(line, "@@ "); }

/* Where another file begins. */
static bool is_names(const struct patch_reader *r)
{
    struct patch_reader next = second(r);

    return span_starts(peek(r), "--- ") && span_starts(peek(&next), "+++ ");
}

static void add_line(struct patch *p, struct patch_hunk *h, struct patch_line line)
{
    p->lines = grown(p->lines, p->n_lines, sizeof *p->lines);
    p->lines[p->n_lines++] = line;
    h->n++;
}

static int refuse_lines(const struct patch_reader *r, const struct patch_hunk *h, size_t old_lines,
                        size_t new_lines, struct pb_error *err)
{
    return fail(
        err, PB_E_INVALID,
        "line %zu of the patch: '%.*s' announces %zu old and %zu new lines, but has %zu and "
        "%zu%s",
        r->number, h->header.n < 60 ? (int)h->header.n : 60, h->header.p, h->old_lines,
        h->new_lines, old_lines, new_lines,
        old_lines < h->old_lines || new_lines < h->new_lines ? "" : ", or more");
}

static int read_hunk_lines(struct patch_reader *r, struct patch_hunk *h, bool crlf,
                           struct pb_error *err)
{
    size_t old_lines = 0, new_lines = 0;

    while (old_lines < h->old_lines || new_lines < h->new_lines || span_starts(peek(r), "\\")) {
        struct span line = peek(r);
        char kind = ' '; /* an empty one is context whose space was lost on the way */

        if (line.n && !span_is(line, "\r"))
            kind = *line.p;
        if (!r->rest.n || !strchr(" +-\\", kind) || !kind)
            return refuse_lines(r, h, old_lines, new_lines, err);
        if (kind == '\\') {
            if (!h->n)
                return refuse(r, err, "there is no line before it");
            r->p->lines[r->p->n_lines - 1].no_end = true;
            advance(r);
            continue;
        }
        old_lines += kind != '+';
        new_lines += kind != '-';
        if (old_lines > h->old_lines || new_lines > h->new_lines)
            return refuse_lines(r, h, old_lines, new_lines, err);
        line = span_from(line, line.n ? 1 : 0);
        if (crlf && line.n && line.p[line.n - 1] == '\r')
            line.n--;
        add_line(r->p, h, (struct patch_line){ kind, false, line });
        advance(r);
    }
    /* One more would be passed over as if it were words between diffs. */
    if (peek(r).n && strchr(" +-", *peek(r).p) && !is_names(r) &&
        !span_is(span_trim(peek(r)), "--"))
        return refuse_lines(r, h, old_lines, new_lines, err);
    return 0;
}

static int read_hunks(struct patch_reader *r, struct patch_file *f, bool crlf, struct pb_error *err)
{
    struct patch *p = r->p;

    f->first = p->n_hunks;
    while (is_hunk(peek(r))) {
        struct patch_hunk h = { .first = p->n_lines };
        int rc;

        if (p->n_hunks == FILE_PATCH_HUNKS)
            return fail(err, PB_E_LIMIT, "the patch has more than %d hunks", FILE_PATCH_HUNKS);
        if (!read_hunk_header(&h, peek(r)))
            return refuse(r, err, "a hunk begins with '@@ -LINE,COUNT +LINE,COUNT @@'");
        advance(r);
        rc = read_hunk_lines(r, &h, crlf, err);
        if (rc < 0)
            return rc;
        p->hunks = grown(p->hunks, p->n_hunks, sizeof *p->hunks);
        p->hunks[p->n_hunks++] = h;
        f->n++;
    }
    return 0;
}

/* ---- files ---- */

struct head_line {
    const char *begins;
    size_t at; /* of its rest in struct patch_head */
};

#define HEAD(word, member)                        \
    {                                             \
        word, offsetof(struct patch_head, member) \
    }
static const struct head_line head_lines[] = {
    HEAD("new file mode ", created),
    HEAD("deleted file mode ", deleted),
    HEAD("old mode ", old_mode),
    HEAD("new mode ", new_mode),
    HEAD("rename from ", rename_from),
    HEAD("rename to ", rename_to),
    HEAD("copy from ", copy_from),
    HEAD("copy to ", copy_to),
    HEAD("GIT binary patch", binary),
    HEAD("Binary files ", binary),
    HEAD("index ", git),
    HEAD("similarity index ", git),
    HEAD("dissimilarity index ", git),
};

/* False: it is no line of a head. */
static bool read_head_line(struct patch_head *h, struct span line)
{
    for (size_t i = 0; i < ARRAY_LEN(head_lines); i++) {
        struct span *to = (struct span *)(void *)((char *)h + head_lines[i].at);

        if (!span_starts(line, head_lines[i].begins))
            continue;
        if (to == &h->binary)
            *to = line;
        else if (to != &h->git)
            *to = span_trim(span_from(line, strlen(head_lines[i].begins)));
        return true;
    }
    return false;
}

static void read_head(struct patch_reader *r, struct patch_head *h)
{
    if (span_starts(peek(r), "diff --git ")) {
        h->git = span_from(peek(r), strlen("diff --git "));
        do
            advance(r);
        while (r->rest.n && read_head_line(h, peek(r)));
    }
    if (!is_names(r))
        return;
    h->old_name = name_part(span_from(peek(r), 4));
    advance(r);
    h->new_name = name_part(span_from(peek(r), 4));
    h->crlf = peek(r).p[peek(r).n - 1] == '\r';
    advance(r);
}

static int read_file(struct patch_reader *r, struct pb_error *err)
{
    struct patch *p = r->p;
    struct patch_head h = { 0 };
    struct patch_file f = { 0 };
    int rc;

    if (p->n_files == FILE_PATCH_FILES)
        return fail(err, PB_E_LIMIT, "the patch is about more than %d files", FILE_PATCH_FILES);
    read_head(r, &h);
    rc = head_to_file(r, &f, &h, err);
    if (rc == 0)
        rc = read_hunks(r, &f, h.crlf, err);
    if (rc < 0)
        return rc;
    if (!f.n && f.deed == PATCH_CHANGE)
        return refuse(r, err, "nothing happens to the file before it");
    p->files = grown(p->files, p->n_files, sizeof *p->files);
    p->files[p->n_files++] = f;
    return 0;
}

int patch_parse(struct patch *p, struct span text, struct pb_error *err)
{
    struct patch_reader r = { p, text, 1 };
    int rc = 0;

    *p = (struct patch){ 0 };
    while (r.rest.n && rc == 0) {
        if (span_starts(peek(&r), "diff --git ") || is_names(&r))
            rc = read_file(&r, err);
        else if (is_hunk(peek(&r)))
            rc = refuse(&r, err,
                        "this hunk belongs to no file: '--- a/NAME' and '+++ b/NAME' come "
                        "before it");
        else
            advance(&r);
    }
    if (rc == 0 && !p->n_files)
        rc = fail(
            err, PB_E_INVALID,
            "there is no unified diff in it: '--- a/NAME', '+++ b/NAME', then '@@ -1,2 +1,3 @@' "
            "and its lines");
    if (rc < 0)
        patch_done(p);
    return rc;
}

void patch_done(struct patch *p)
{
    free(p->files);
    free(p->hunks);
    free(p->lines);
    arena_done(&p->arena);
    *p = (struct patch){ 0 };
}
