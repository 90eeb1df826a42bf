/* test_wire_streams.c - streams that bring more than fits into a turn. */
#include "io/http/http.h"
#include "mcp/client/client.h"
#include "mcp/client_rig.h"
#include "mcp/registry/registry.h"

enum { FLOOD = 3000 };

/* A call on the old transport, and on the new one, is answered at the end of very many events. */
static void answer_flood(struct web *w, struct http_request *r, const char *method, const char *id)
{
    AUTO_BUF struct buf b = { 0 };
    bool old = w->ctx != NULL;

    if (old && span_is(http_method(r), "GET")) {
        web_stream(w, r);
        w->held = r;
        web_write(r, "event: endpoint\ndata: /messages\n\n");
        return;
    }
    if (strcmp(method, "tools/call") != 0 && !old) {
        web_legacy(r, method, id);
        return;
    }
    if (!old) {
        web_stream(w, r);
        w->held = r;
    } else if (!span_is(http_path(r), "/messages")) {
        web_reply(r, 405, NULL, "");
        return;
    } else {
        web_reply(r, 202, NULL, "");
    }
    for (int i = 0; i < FLOOD && strcmp(method, "tools/call") == 0; i++)
        buf_printf(&b,
                   "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                   "\"params\":{\"progressToken\":%s,\"progress\":%d}}\n\n",
                   id, i);
    if (*id)
        buf_printf(&b, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", id,
                   strcmp(method, "initialize") == 0 ? WEB_WELCOME : "{}");
    web_write(w->held, buf_cstr(&b));
    if (!old)
        http_end(w->held);
}

/* However much comes at once: others get their turns, and the end of the stream, which comes with
 * it, waits for all that was before. */
TEST(the_events_of_a_stream_take_turns)
{
    for (int old = 0; old < 2; old++) {
        struct site s = { .w.ctx = old ? &s : NULL };
        struct answer a;

        site_open(&s, false, answer_flood, NULL);
        rig_send_spec(&s.r, &a,
                      (struct client_request_spec){ .method = "tools/call",
                                                    .params = SPAN("{\"name\":\"x\"}"),
                                                    .wants_progress = true,
                                                    .progress = answer_progress });
        while (!a.count) {
            int before = a.progressed;

            loop_turn(s.r.loop, true);
            /* When they are read, and at the end of the turn. */
            CHECK(a.progressed - before <= 2 * SSE_EVENTS_PER_TURN);
        }
        CHECK_INT(a.progressed, FLOOD);
        CHECK_STR(a.result, "{}");
        answer_done(&a);
        site_done(&s);
    }
}
