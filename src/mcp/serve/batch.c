#include "batch.h"
#include "mcp/rpc/rpc.h"
#include <assert.h>

const char *batch_refusal(const struct message *m, const struct revision *r)
{
    struct json root = json_root(&m->doc);
    size_t n = json_len(root);

    if (!r || !r->batch)
        return "batches are not part of this protocol revision";
    if (n == 0)
        return "a batch must not be empty";
    if (n > RPC_BATCH_MAX)
        return "a batch may hold 100 messages";
    return NULL;
}

_Static_assert(RPC_BATCH_MAX == 100, "the text above names it");

static void put(struct batch *b, const struct span *parts, size_t n)
{
    size_t before = b->text.n;

    buf_byte(&b->text, b->text.n ? ',' : '[');
    for (size_t i = 0; i < n; i++)
        buf_add_span(&b->text, parts[i]);
    if (b->sum)
        *b->sum += b->text.n - before;
    b->counted = b->text.n;
}

static void refuse(struct batch *b, struct span id, int code, const char *why)
{
    AUTO_BUF struct buf text = { 0 };
    struct span part;

    rpc_write_error(&text, id, code, span_of(why), SPAN(""));
    part = buf_span(&text);
    put(b, &part, 1);
}

void batch_add(struct batch *b, struct span id, const struct span *parts, size_t n)
{
    size_t size = spans_size(parts, n);

    if (size + b->text.n > RPC_BATCH_ANSWERS_MAX)
        refuse(b, id, RPC_SERVER_ERROR,
               "The answers to this batch are too large together; ask again, without a batch");
    else if (b->sum && size + *b->sum > RPC_BATCHES_ANSWERS_MAX)
        refuse(b, id, RPC_SERVER_ERROR,
               "Too many answers wait for the rest of their batches; ask again, without a batch");
    else
        put(b, parts, n);
}

static void receive_one(struct batch *b, struct peer *p, struct message *take_message,
                        const struct http_facts *facts, void *exchange)
{
    AUTO(message) struct message *m = take_message;
    const struct rpc *rpc = &m->rpc;

    if (rpc->kind == RPC_INVALID) {
        refuse(b, rpc->id, rpc->code, rpc->why);
    } else if (rpc->kind == RPC_BATCH) {
        refuse(b, rpc->id, RPC_INVALID_REQUEST, "a batch must not hold a batch");
    } else if (span_is(rpc->method, "initialize")) {
        refuse(b, rpc->id, RPC_INVALID_REQUEST, "initialize must not be part of a batch");
    } else {
        b->open += rpc->kind == RPC_REQUEST;
        peer_receive(p, TAKE(m), facts, exchange);
    }
}

bool batch_receive(struct batch *b, struct peer *p, struct message *take_message,
                   const struct http_facts *facts, void *exchange)
{
    b->open++;
    JSON_FOREACH(element, json_root(&take_message->doc))
        receive_one(b, p, message_of_element(take_message, element), facts, exchange);
    message_free(take_message);
    return batch_ended(b);
}

bool batch_ended(struct batch *b)
{
    assert(b->open);
    return --b->open == 0;
}

struct span batch_finish(struct batch *b)
{
    if (b->text.n)
        buf_byte(&b->text, ']');
    return buf_span(&b->text);
}

void batch_done(struct batch *b)
{
    if (b->sum)
        *b->sum -= b->counted;
    b->counted = 0;
    buf_done(&b->text);
}

struct batch *batch_begin(struct peer *p, struct message *take_message, size_t *sum)
{
    const char *why = batch_refusal(take_message, peer_revision(p));
    struct batch *b;

    if (why) {
        take_message->rpc =
            (struct rpc){ .kind = RPC_INVALID, .code = RPC_INVALID_REQUEST, .why = why };
        peer_receive(p, take_message, NULL, NULL);
        return NULL;
    }
    b = NEW(struct batch);
    b->sum = sum;
    return batch_receive(b, p, take_message, NULL, b) ? b : NULL;
}

void batch_free(struct batch *b)
{
    batch_done(b);
    free(b);
}
