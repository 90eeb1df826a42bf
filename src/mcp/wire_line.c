#include "wire.h"

/* Some readers, Python's among them, end a line at a carriage return, too. */
static bool has_line_end(struct span text)
{
    return text.n && (memchr(text.p, '\n', text.n) || memchr(text.p, '\r', text.n));
}

int wire_write_line(struct stream *to, struct span text, struct pb_error *err)
{
    AUTO_BUF struct buf flat = { 0 };
    struct span parts[] = { text, SPAN("\n") };

    if (has_line_end(text)) {
        buf_add_span(&flat, text);
        for (size_t i = 0; i < flat.n; i++)
            if (flat.p[i] == '\n' || flat.p[i] == '\r')
                flat.p[i] = ' ';
        parts[0] = buf_span(&flat);
    }
    return stream_write(to, parts, ARRAY_LEN(parts), err);
}
