/* found.c - results: by path, then by line, whichever thread found them first. */
#include "search_impl.h"

static size_t results_of(const struct found_file *f) { return f->n ? f->n : 1; }

static void hits_drop(struct search_found *f, struct found_file *file, size_t from)
{
    for (size_t i = from; i < file->n; i++) {
        f->bytes -= strlen(file->hits[i].text) + sizeof(struct search_hit);
        free(file->hits[i].text);
    }
    file->n = from;
}

void found_file_done(struct found_file *file)
{
    for (size_t i = 0; i < file->n; i++)
        free(file->hits[i].text);
    free(file->hits);
    free(file->path);
    *file = (struct found_file){ 0 };
}

void found_done(struct search_found *f)
{
    for (size_t i = 0; i < f->n; i++)
        found_file_done(&f->files[i]);
    free(f->files);
    free(f->last);
    *f = (struct search_found){ 0 };
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct found_file *)a)->path, ((const struct found_file *)b)->path);
}

/* The first SEARCH_KEPT_MAX stay. What was found elsewhere meanwhile may come before them; what
 * comes behind them cannot be among the first any more. */
void found_sort(struct search_found *f)
{
    size_t kept = 0, i = 0;

    if (f->n)
        qsort(f->files, f->n, sizeof *f->files, by_path);
    for (; i < f->n && kept + results_of(&f->files[i]) <= SEARCH_KEPT_MAX; i++)
        kept += results_of(&f->files[i]);
    if (i == f->n)
        return;
    if (kept < SEARCH_KEPT_MAX && f->files[i].n) {
        hits_drop(f, &f->files[i], SEARCH_KEPT_MAX - kept);
        kept = SEARCH_KEPT_MAX;
        i++;
    }
    free(f->last);
    f->last = mem_dup(f->files[i - 1].path);
    for (size_t k = i; k < f->n; k++) {
        f->bytes -= strlen(f->files[k].path) + sizeof f->files[k];
        hits_drop(f, &f->files[k], 0);
        found_file_done(&f->files[k]);
    }
    f->n = i;
    f->results = kept;
}

void found_add(struct search_found *f, struct found_file *file, uint64_t total)
{
    f->total += total ? total : 1;
    f->total_files++;
    if (f->last && strcmp(file->path, f->last) > 0) {
        found_file_done(file);
        return;
    }
    if (f->n == f->cap) {
        f->cap = f->cap ? f->cap * 2 : 16;
        f->files = mem_resize(f->files, f->cap * sizeof *f->files);
    }
    f->files[f->n++] = *file;
    f->results += results_of(file);
    f->bytes += strlen(file->path) + sizeof *file;
    for (size_t i = 0; i < file->n; i++)
        f->bytes += strlen(file->hits[i].text) + sizeof(struct search_hit);
    *file = (struct found_file){ 0 };
    if (f->results / 2 > SEARCH_KEPT_MAX)
        found_sort(f);
}

/* ---- as text ---- */

void put_printable(struct buf *out, struct span text)
{
    while (text.n) {
        size_t n = utf8_length((const uint8_t *)text.p, (const uint8_t *)span_end(text));
        bool control =
            n == 1 && ((unsigned char)text.p[0] < ' ' || text.p[0] == 127) && text.p[0] != '\t';

        if (control)
            buf_byte(out, '?');
        else if (!n)
            utf8_append(out, 0xFFFD);
        else
            buf_add(out, text.p, n);
        text = span_from(text, n ? n : 1);
    }
}

/* Not in the middle of a character. */
static size_t char_start(struct span s, size_t at)
{
    for (int i = 0; i < 3 && at && at < s.n && ((unsigned char)s.p[at] & 0xC0) == 0x80; i++)
        at--;
    return at;
}

char *found_text(struct span line, struct span hit)
{
    AUTO_BUF struct buf out = { 0 };
    size_t at = (size_t)(hit.p - line.p), from = 0, to;

    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    if (at > line.n)
        at = line.n;
    if (line.n > SEARCH_SHOWN_BYTES && at > SEARCH_SHOWN_BYTES / 4) {
        from = at - SEARCH_SHOWN_BYTES / 4;
        if (line.n - from < SEARCH_SHOWN_BYTES)
            from = line.n - SEARCH_SHOWN_BYTES;
        from = char_start(line, from);
    }
    to = line.n - from > SEARCH_SHOWN_BYTES ? char_start(line, from + SEARCH_SHOWN_BYTES) : line.n;
    if (from)
        buf_str(&out, "…");
    put_printable(&out, span_make(line.p + from, to - from));
    if (to < line.n)
        buf_str(&out, "…");
    return buf_take(&out);
}

size_t found_write(const struct search_found *f, struct buf *out, size_t offset, size_t max)
{
    size_t at = 0, written = 0;

    for (size_t i = 0; i < f->n && written < max; i++) {
        const struct found_file *file = &f->files[i];

        for (size_t k = 0; k < results_of(file) && written < max; k++, at++) {
            if (at < offset)
                continue;
            put_printable(out, span_of(file->path));
            if (file->n)
                buf_printf(out, ":%llu: %s", (unsigned long long)file->hits[k].line,
                           file->hits[k].text);
            buf_byte(out, '\n');
            written++;
        }
    }
    return written;
}
