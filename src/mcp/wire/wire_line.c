#include "wire.h"

/* Cancellations and answers are small and let the server go on: they pass for longer. But one that
 * asks and asks and does not read is not answered any more. */
bool wire_queue_full(size_t queued, const struct wire_out *m)
{
    size_t most = MCP_CLIENT_QUEUE_BYTES + (m->request ? 0 : STREAM_QUEUE_HIGH);

    return queued && queued + m->text.n > most;
}

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
