#include "wire.h"

int wire_write_line(struct stream *to, struct span text, struct pb_error *err)
{
    AUTO_BUF struct buf flat = { 0 };
    struct span parts[] = { text, SPAN("\n") };

    if (span_line_end(text)) {
        buf_add_span(&flat, text);
        buf_flatten(&flat, 0);
        parts[0] = buf_span(&flat);
    }
    return stream_write(to, parts, ARRAY_LEN(parts), err);
}
