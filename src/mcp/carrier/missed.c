#include "missed.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include <inttypes.h>
#include <stdio.h>

bool missed_drop(struct missed *m, enum send_kind kind, bool full)
{
    if (!full || !send_may_drop(kind))
        return false;
    m->n++;
    m->owed |= kind == SEND_CHATTER;
    return true;
}

void missed_tell(struct missed *m, struct buf *out)
{
    struct missed was = *m;
    struct json_out o = json_out(out);
    char text[160];

    *m = (struct missed){ 0 };
    if (!was.owed)
        return;
    snprintf(text, sizeof text,
             "%" PRIu64 " log and progress messages were dropped: more came than this client read",
             was.n);
    json_begin_object(&o, NULL);
    json_put_str(&o, "jsonrpc", "2.0");
    json_put_str(&o, "method", "notifications/message");
    json_begin_object(&o, "params");
    json_put_str(&o, "level", "warning");
    json_put_str(&o, "logger", "patchbay");
    json_put_str(&o, "data", text);
    json_end(&o);
    json_end(&o);
}

struct span missed_answer(struct buf *room, const struct request *about, size_t n, size_t waiting)
{
    char text[160];

    if (n <= STREAM_QUEUE_HARD && waiting <= STREAM_QUEUE_HARD - n)
        return (struct span){ 0 };
    log_warn("an answer of %zu bytes cannot be kept: %zu bytes wait for its client already", n,
             waiting);
    snprintf(text, sizeof text,
             "The answer of %zu bytes was dropped: this client reads too slowly, %zu bytes wait "
             "for it already",
             n, waiting);
    rpc_write_error(room, about ? about->id : SPAN(""), RPC_SERVER_ERROR, span_of(text), SPAN(""));
    return buf_span(room);
}
