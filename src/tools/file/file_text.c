#include "file_impl.h"

int file_fail(struct tool_call *c, struct span why)
{
    log_info("built-in tool %s.%s: the operation failed", c->tool->name, c->op->name);
    return pb_fail(c->call, "Operation failed: %.*s", SPAN_ARG(why));
}

int file_fail_err(struct tool_call *c, const struct pb_error *err)
{
    return file_fail(c, span_of(err->msg));
}

int file_why(struct buf *why, const struct pb_error *err)
{
    buf_str(why, err->msg);
    return -(int)err->code;
}

/* ---- lines ---- */

struct span line_first(struct span text)
{
    const char *end = text.n ? memchr(text.p, '\n', text.n) : NULL;

    return span_make(text.p, end ? (size_t)(end - text.p) + 1 : text.n);
}

struct span line_bare(struct span line)
{
    if (line.n && line.p[line.n - 1] == '\n')
        line.n--;
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

size_t lines_count(struct span text)
{
    size_t n = 0;

    for (; text.n; n++)
        text = span_from(text, line_first(text).n);
    return n;
}

bool lines_crlf(struct span text)
{
    size_t crlf = 0, lf = 0;

    while (text.n) {
        struct span line = line_first(text);

        if (line.p[line.n - 1] == '\n')
            *(line.n > 1 && line.p[line.n - 2] == '\r' ? &crlf : &lf) += 1;
        text = span_from(text, line.n);
    }
    return crlf > lf;
}

void lines_put(struct buf *out, struct span text, bool crlf)
{
    while (crlf && text.n) {
        struct span line = line_first(text);

        if (line.p[line.n - 1] == '\n') {
            buf_add_span(out, line_bare(line));
            buf_str(out, "\r\n");
        } else {
            buf_add_span(out, line);
        }
        text = span_from(text, line.n);
    }
    buf_add_span(out, text);
}

/* ---- what is shown ---- */

/* Bytes that are no characters become U+FFFD. */
static size_t show_char(struct buf *out, struct span s)
{
    size_t n = utf8_length((const uint8_t *)s.p, (const uint8_t *)span_end(s));

    if (n == 1 && (unsigned char)*s.p < 0x20 && *s.p != '\t')
        n = 0;
    if (n)
        buf_add(out, s.p, n);
    else
        utf8_append(out, 0xFFFD);
    return n ? n : 1;
}

void line_show(struct buf *out, struct span line)
{
    size_t from = out->n;

    line = line_bare(line);
    while (line.n && out->n - from < FILE_SHOWN_BYTES)
        line = span_from(line, show_char(out, line));
    if (line.n)
        buf_str(out, "…");
}

static bool deceives(struct span s)
{
    size_t n = utf8_length((const uint8_t *)s.p, (const uint8_t *)span_end(s));
    unsigned char c = (unsigned char)*s.p;

    return !n || c < 0x20 || c == 0x7f || c == '"' || c == '\\' ||
           (c == 0xC2 && (unsigned char)s.p[1] < 0xA0) || text_hidden(s);
}

void name_show(struct buf *out, const char *name)
{
    struct span s = span_of(name);
    bool odd = false;

    for (struct span at = s; at.n && !odd; at = span_from(at, 1))
        odd = ((unsigned char)*at.p & 0xC0) != 0x80 && deceives(at);
    if (!odd && utf8_valid(s)) {
        buf_add_span(out, s);
        return;
    }
    buf_byte(out, '"');
    while (s.n) {
        size_t n = 1;

        if (*s.p == '"' || *s.p == '\\') {
            buf_printf(out, "\\%c", *s.p);
        } else if (deceives(s)) {
            buf_printf(out, "\\x%02x", (unsigned char)*s.p);
        } else {
            n = utf8_length((const uint8_t *)s.p, (const uint8_t *)span_end(s));
            buf_add(out, s.p, n);
        }
        s = span_from(s, n);
    }
    buf_byte(out, '"');
}
