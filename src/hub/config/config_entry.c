#include "config_entry.h"
#include <stdarg.h>
#include <stdio.h>

/* ---- Where --------------------------------------------------------------------------------- */

unsigned source_line(struct config_source *s, struct json v)
{
    struct span at = json_text(v);
    size_t offset = at.n ? (size_t)(at.p - s->text.p) : 0;

    if (offset < s->counted || !s->line) {
        s->counted = 0;
        s->line = 1;
    }
    for (const char *p = s->text.p + s->counted;
         (p = memchr(p, '\n', (size_t)(s->text.p + offset - p))) != NULL; p++)
        s->line++;
    s->counted = offset;
    return s->line;
}

void show_head(char out[static SHOWN_MAX + 1], struct span text, size_t max)
{
    size_t n = max < SHOWN_MAX ? max : SHOWN_MAX;

    if (text.n <= n) {
        snprintf(out, SHOWN_MAX + 1, "%.*s", SPAN_ARG(text));
    } else {
        n -= 3; /* for the dots, which are three bytes */
        while (n && (text.p[n] & 0xC0) == 0x80)
            n--;
        snprintf(out, SHOWN_MAX + 1, "%.*s…", (int)n, text.p);
    }
    text_make_printable(out);
}

void show_tail(char out[static SHOWN_MAX + 1], const char *text)
{
    size_t n = strlen(text);

    if (n <= SHOWN_MAX) {
        snprintf(out, SHOWN_MAX + 1, "%s", text);
    } else {
        const char *tail = text + n - (SHOWN_MAX - 3);

        while ((*tail & 0xC0) == 0x80)
            tail++;
        snprintf(out, SHOWN_MAX + 1, "…%s", tail);
    }
    text_make_printable(out);
}

/* "FILE:LINE: WHERE: text", as far as these are known. */
static void compose(struct config_source *s, struct json v, const char *where, const char *text,
                    struct buf *out)
{
    char path[SHOWN_MAX + 1];

    if (s->path) {
        show_tail(path, s->path);
        buf_printf(out, "%s:%u: ", path, source_line(s, v));
    }
    if (where && *where)
        buf_printf(out, "%s: ", where);
    buf_str(out, text);
    buf_cstr(out);
    text_make_printable(out->p);
}

int source_fail(struct config_source *s, struct json v, const char *where, enum pb_code code,
                const char *text)
{
    AUTO_BUF struct buf whole = { 0 };

    compose(s, v, where, text, &whole);
    return fail(s->err, code, "%s", buf_cstr(&whole));
}

void source_warn(struct config_source *s, struct json v, const char *where, const char *text)
{
    AUTO_BUF struct buf whole = { 0 };

    if (!s->config)
        return;
    compose(s, v, where, text, &whole);
    config_warn(s->config, buf_cstr(&whole));
}

static void join_where(const struct config_entry *e, const char *key, struct buf *out)
{
    buf_str(out, e->where ? e->where : "");
    if (key && *key)
        buf_printf(out, "%s%s", out->n ? "." : "", key);
}

int entry_fail(const struct config_entry *e, struct json v, const char *key, const char *fmt, ...)
{
    AUTO_BUF struct buf where = { 0 };
    char text[sizeof e->source->err->msg];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    join_where(e, key, &where);
    return source_fail(e->source, v, buf_cstr(&where), PB_E_INVALID, text);
}

int entry_fail_type(const struct config_entry *e, struct json v, const char *key, const char *what)
{
    return entry_fail(e, v, key, "expected %s, got %s", what, json_type_phrase(v));
}

void entry_warn(const struct config_entry *e, struct json v, const char *key, const char *fmt, ...)
{
    AUTO_BUF struct buf where = { 0 };
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    join_where(e, key, &where);
    source_warn(e->source, v, buf_cstr(&where), text);
}
