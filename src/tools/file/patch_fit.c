#include "file_impl.h"
#include "patch.h"

struct patch_fitting {
    const struct patch *p;
    struct span *lines; /* of the file, with their ends */
    size_t n;
    size_t at;    /* lines before this one are done */
    long shift;   /* of the last hunk, from where it says that it belongs */
    size_t steps; /* left */
    bool crlf;
    struct buf *out, *report, *why;
};

/* A hunk, less the context at its ends that is not insisted on. */
struct piece {
    const struct patch_line *lines;
    size_t n;
    size_t old_lines; /* of them: those that must be there */
    size_t cut;       /* lines less at the beginning */
};

static const char *file_end(const struct patch_fitting *f) { return f->crlf ? "\r\n" : "\n"; }

/* ---- where it belongs ---- */

static bool fits(struct patch_fitting *f, const struct piece *p, size_t at)
{
    if (at < f->at || p->old_lines > f->n || at > f->n - p->old_lines)
        return false;
    for (size_t i = 0; i < p->n; i++) {
        if (p->lines[i].kind == '+')
            continue;
        if (!f->steps)
            return false;
        f->steps--;
        if (!span_eq(line_bare(f->lines[at++]), line_bare(p->lines[i].text)))
            return false;
    }
    return true;
}

/* So many lines of context are at its beginning, or its end. */
static size_t context(const struct patch_line *v, size_t n, bool end)
{
    size_t i = 0;

    while (i < n && v[end ? n - 1 - i : i].kind == ' ')
        i++;
    return i;
}

static struct piece make_piece(const struct patch *p, const struct patch_hunk *h, size_t fuzz)
{
    const struct patch_line *v = p->lines + h->first;
    size_t head = context(v, h->n, false), tail = context(v, h->n, true);
    size_t less = 0;
    struct piece out = { v, h->n, 0, 0 };

    if (head < h->n) {
        out.cut = head < fuzz ? head : fuzz;
        less = tail < fuzz ? tail : fuzz;
    }
    out.lines += out.cut;
    out.n -= out.cut + less;
    out.old_lines = h->old_lines - out.cut - less;
    return out;
}

enum fit { FIT_NOWHERE, FIT_HERE, FIT_TWICE };

/* There, or else at one place alone. */
static enum fit find_place(struct patch_fitting *f, const struct piece *p, size_t wanted,
                           size_t *at)
{
    enum fit found = FIT_NOWHERE;

    if (fits(f, p, wanted)) {
        *at = wanted;
        return FIT_HERE;
    }
    if (!p->old_lines) /* it would fit anywhere */
        return FIT_NOWHERE;
    for (size_t i = f->at; i < f->n; i++)
        if (fits(f, p, i)) {
            if (found == FIT_HERE)
                return FIT_TWICE;
            *at = i;
            found = FIT_HERE;
        }
    return found;
}

/* Where its first line should be, from 0; past the end is possible. */
static size_t wanted_at(const struct patch_fitting *f, const struct patch_hunk *h)
{
    long at = (long)h->old_start - (h->old_lines > 0) + f->shift;

    return at > 0 ? (size_t)at : 0;
}

/* ---- what is told ---- */

static void tell_hunk(struct buf *out, const struct patch_hunk *h)
{
    buf_str(out, "the hunk '");
    line_show(out, h->header);
    buf_byte(out, '\'');
}

static void tell_expected(struct buf *why, const struct patch_fitting *f,
                          const struct patch_hunk *h)
{
    size_t told = 0;

    buf_str(why, "\nexpected:");
    for (size_t i = 0; i < h->n && told < FILE_PATCH_SHOWN; i++) {
        const struct patch_line *line = &f->p->lines[h->first + i];

        if (line->kind == '+')
            continue;
        buf_str(why, "\n    ");
        line_show(why, line->text);
        told++;
    }
    if (told < h->old_lines)
        buf_printf(why, "\n    … %zu more lines", h->old_lines - told);
}

static void tell_found(struct buf *why, const struct patch_fitting *f, const struct patch_hunk *h)
{
    size_t from = wanted_at(f, h), n = h->old_lines ? h->old_lines : 1;

    buf_printf(why, "\nfound at line %zu:", from + 1);
    if (from >= f->n)
        buf_printf(why, " nothing, there are %zu lines", f->n);
    for (size_t i = 0; i < n && i < FILE_PATCH_SHOWN && from + i < f->n; i++) {
        buf_str(why, "\n    ");
        line_show(why, f->lines[from + i]);
    }
}

static int refuse_hunk(const struct patch_fitting *f, const struct patch_hunk *h, enum fit found)
{
    tell_hunk(f->why, h);
    if (!f->steps) {
        buf_str(f->why, " takes too long to find a place for: give the right line numbers");
        return -PB_E_LIMIT;
    }
    if (found == FIT_TWICE) {
        buf_str(f->why, " does not fit where it says, but at several other places: give more lines "
                        "of context, or the right line numbers");
        return -PB_E_INVALID;
    }
    buf_str(f->why, " does not fit");
    tell_expected(f->why, f, h);
    tell_found(f->why, f, h);
    return -PB_E_INVALID;
}

/* ---- what the file becomes ---- */

/* The line before may have been the last one of its file. */
static void end_line(struct patch_fitting *f)
{
    if (f->out->n && f->out->p[f->out->n - 1] != '\n')
        buf_str(f->out, file_end(f));
}

static void copy_until(struct patch_fitting *f, size_t at)
{
    for (; f->at < at; f->at++) {
        end_line(f);
        buf_add_span(f->out, f->lines[f->at]);
    }
}

static void put_piece(struct patch_fitting *f, const struct piece *p, size_t at)
{
    copy_until(f, at);
    for (size_t i = 0; i < p->n; i++) {
        const struct patch_line *line = &p->lines[i];

        if (line->kind == ' ') {
            copy_until(f, f->at + 1);
        } else if (line->kind == '-') {
            f->at++;
        } else {
            end_line(f);
            buf_add_span(f->out, f->crlf ? line_bare(line->text) : line->text);
            if (!line->no_end)
                buf_str(f->out, file_end(f));
        }
    }
}

static int put_hunk(struct patch_fitting *f, const struct patch_hunk *h)
{
    enum fit found = FIT_NOWHERE;
    size_t at = 0, wanted = wanted_at(f, h), fuzz;
    struct piece p;
    long put;

    for (fuzz = 0; fuzz <= FILE_PATCH_FUZZ && found == FIT_NOWHERE && f->steps; fuzz++) {
        p = make_piece(f->p, h, fuzz);
        if (!fuzz || p.old_lines)
            found = find_place(f, &p, wanted + p.cut, &at);
    }
    if (found != FIT_HERE || !f->steps)
        return refuse_hunk(f, h, found);
    put = (long)at - (long)p.cut;
    f->shift += put - (long)wanted;
    if (put != (long)wanted || fuzz > 1) {
        tell_hunk(f->report, h);
        buf_printf(f->report, " was put at line %zu", at + 1);
        if (fuzz > 1)
            buf_printf(f->report, ", where %zu lines of its context differ", fuzz - 1);
        buf_byte(f->report, '\n');
    }
    put_piece(f, &p, at);
    return 0;
}

int patch_fit(const struct patch *p, const struct patch_file *file, struct span text,
              struct buf *out, struct buf *report, struct buf *why)
{
    struct patch_fitting f = { .p = p,
                               .n = lines_count(text),
                               .steps = FILE_PATCH_STEPS,
                               .crlf = lines_crlf(text),
                               .out = out,
                               .report = report,
                               .why = why };
    int rc = 0;

    if (f.n > FILE_PATCH_LINES) {
        buf_printf(why, "it has %zu lines; up to %d are possible", f.n, FILE_PATCH_LINES);
        return -PB_E_LIMIT;
    }
    f.lines = mem_zero((f.n + 1) * sizeof *f.lines);
    for (size_t i = 0; i < f.n; i++) {
        f.lines[i] = line_first(text);
        text = span_from(text, f.lines[i].n);
    }
    for (size_t i = 0; i < file->n && rc == 0; i++)
        rc = put_hunk(&f, &p->hunks[file->first + i]);
    if (rc == 0)
        copy_until(&f, f.n);
    free(f.lines);
    return rc;
}

void patch_file_count(const struct patch *p, const struct patch_file *f, size_t *plus,
                      size_t *minus)
{
    *plus = *minus = 0;
    for (size_t i = 0; i < f->n; i++)
        for (size_t k = 0; k < p->hunks[f->first + i].n; k++) {
            char kind = p->lines[p->hunks[f->first + i].first + k].kind;

            *plus += kind == '+';
            *minus += kind == '-';
        }
}
