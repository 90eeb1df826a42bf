/* What one request costs on its way through the peer, when the transport only counts. */
#include "fake_host.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

static void count_send(void *transport, struct request *about, enum send_kind kind,
                       const struct span *parts, size_t n)
{
    struct fake *f = transport;

    (void)about, (void)kind;
    for (size_t i = 0; i < n; i++)
        f->running += parts[i].n;
    f->n_sent += 1;
}

static void count_finished(void *transport, struct request *about) { (void)transport, (void)about; }

static const struct peer_ops count_ops = { .send = count_send, .finished = count_finished };

static uint64_t cost_of(enum peer_kind kind, const char *say)
{
    struct fake f;
    struct peer *p;
    uint64_t before, after;

    fake_start(&f, kind, NULL);
    p = peer_new(f.server, kind, &count_ops, &f);
    for (int i = 0; i < 10; i++) {
        peer_receive(p, message_new(blob_new(span_of(say))), NULL, &f);
        loop_turn(f.loop, false);
    }
    before = mem_count();
    for (int i = 0; i < 100; i++) {
        peer_receive(p, message_new(blob_new(span_of(say))), NULL, &f);
        loop_turn(f.loop, false);
    }
    after = mem_count();
    CHECK_INT(f.n_sent, 110);
    f.n_sent = 0;
    f.running = 0;
    peer_close(p);
    fake_end(&f);
    return after - before;
}

TEST(a_request_and_its_answer_cost_no_allocation)
{
    CHECK_INT(cost_of(PEER_STDIO,
                      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                      "\"name\":\"echo\",\"arguments\":{\"text\":\"hello\"}}}"),
              0);
    CHECK_INT(cost_of(PEER_STATELESS,
                      "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                      "{\"name\":\"echo\",\"_meta\":" FAKE_META "}}"),
              0);
    CHECK_INT(cost_of(PEER_SESSION, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"none\"}"), 0);
}
