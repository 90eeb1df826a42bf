/* Questions to a legacy client: with a request of its own, and without. */
#include "fake_host.h"
#include "mcp/serve/serve.h"

#define RPC(rest) "{\"jsonrpc\":\"2.0\"," rest "}"
#define INIT_WITH(version) \
    RPC("\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" version "\"}")
#define CALL(id, tool) \
    RPC("\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool "\"}")

TEST(a_question_travels_with_its_request_and_its_answer_comes_back)
{
    struct fake f;

    fake_start(&f, PEER_SESSION, NULL);
    fake_say(&f, INIT_WITH("2025-11-25"));
    FAKE_ANSWERS(&f, CALL("7", "ask"), RPC("\"id\":1,\"method\":\"roots/list\",\"params\":{}"));
    CHECK_INT(f.sent[0].kind, SEND_QUESTION);
    CHECK(f.sent[0].about);
    /* Not ours: another number, the number as a string, nothing. */
    FAKE_SILENT(&f, RPC("\"id\":2,\"result\":{}"));
    FAKE_SILENT(&f, RPC("\"id\":\"1\",\"result\":{}"));
    FAKE_SILENT(&f, RPC("\"id\":null,\"error\":{\"code\":1,\"message\":\"\"}"));
    CHECK_INT(f.n_answers, 0);
    FAKE_SILENT(&f, RPC("\"id\":1,\"result\":{\"roots\":[ ]}"));
    CHECK_STR(f.answer, "{\"roots\":[ ]}");
    FAKE_SILENT(&f, RPC("\"id\":1,\"result\":{\"roots\":[1]}")); /* a second time */
    CHECK_INT(f.n_answers, 1);
    fake_end(&f);
}

TEST(a_refused_question_is_an_error_with_the_clients_code)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, CALL("7", "ask"));
    fake_say(&f, RPC("\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no \\\"roots\\\"\"}"));
    CHECK_STR(f.answer, "remote -32601 no \"roots\"");
    fake_end(&f);
}

TEST(a_question_ends_with_its_request_and_the_client_is_told)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, CALL("7", "ask"));
    fake_forget(&f);
    request_reply(f.held[0], SPAN("{}"));
    CHECK_INT(f.n_sent, 2);
    CHECK_HAS(f.sent[0].text,
              "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1,");
    CHECK_STR(f.sent[1].text, RPC("\"id\":7,\"result\":{}"));
    fake_forget(&f);
    FAKE_SILENT(&f, RPC("\"id\":1,\"result\":{}"));
    CHECK_INT(f.n_answers, 0);
    fake_end(&f);
}

TEST(a_question_that_nobody_answers_times_out)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, CALL("7", "ask"));
    fake_forget(&f);
    loop_advance(f.loop, MCP_ASK_MS - 1);
    CHECK_INT(f.n_answers, 0);
    loop_advance(f.loop, 1);
    CHECK_INT(f.n_answers, 1);
    CHECK_HAS(f.answer, "timeout");
    CHECK_HAS(fake_heard(&f), "notifications/cancelled");
    fake_end(&f);
}

TEST(open_questions_to_one_client_are_bounded)
{
    struct fake f;
    char say[128];

    fake_start(&f, PEER_STDIO, NULL);
    for (int i = 0; i <= MCP_QUESTIONS_MAX; i++) {
        snprintf(say, sizeof say, CALL("%d", "ask"), i);
        FAKE_ANSWERS_WITH(&f, say,
                          i < MCP_QUESTIONS_MAX ? "roots/list" : "questions to this client");
    }
    fake_say(&f, RPC("\"id\":3,\"result\":{}"));
    FAKE_ANSWERS_WITH(&f, CALL("\"again\"", "ask"), "roots/list");
    fake_end(&f);
}

/* ---- questions that belong to no request ---- */

static void peer_told(struct peer *p, void *ctx, struct span result, const struct pb_error *err)
{
    struct fake *f = ctx;

    CHECK(p == f->peer || !f->peer); /* fake_end() has taken it */
    fake_on_answer(NULL, ctx, result, err);
}

static int ask_peer(struct fake *f, uint64_t ms, struct pb_error *err)
{
    return peer_question(f->peer, "roots/list", SPAN(""), ms, peer_told, f, err);
}

TEST(a_client_can_be_asked_without_a_request_of_its_own)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, INIT_WITH("2025-11-25"));
    fake_forget(&f);
    CHECK_INT(ask_peer(&f, 1000, NULL), 0);
    CHECK_INT(f.n_answers, 0);
    CHECK_STR(fake_heard(&f), RPC("\"id\":1,\"method\":\"roots/list\""));
    CHECK_INT(f.sent[0].kind, SEND_QUESTION);
    CHECK(!f.sent[0].about);
    fake_forget(&f);
    /* Its ids and those of questions with a request are one row. */
    FAKE_ANSWERS(&f, CALL("7", "ask"), RPC("\"id\":2,\"method\":\"roots/list\",\"params\":{}"));
    fake_forget(&f);
    request_reply(f.held[0], SPAN("{}")); /* ends its own question only */
    fake_forget(&f);
    FAKE_SILENT(&f, RPC("\"id\":1,\"result\":{\"roots\":[ ]}"));
    CHECK_INT(f.n_answers, 1);
    CHECK_STR(f.answer, "{\"roots\":[ ]}");
    CHECK_INT(ask_peer(&f, 1000, NULL), 0);
    fake_say(&f, RPC("\"id\":3,\"error\":{\"code\":-32601,\"message\":\"no\"}"));
    CHECK_STR(f.answer, "remote -32601 no");
    fake_end(&f);
}

TEST(a_question_without_a_request_has_its_own_time)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, INIT_WITH("2025-11-25"));
    CHECK_INT(ask_peer(&f, 2000, NULL), 0);
    fake_forget(&f);
    loop_advance(f.loop, 1999);
    CHECK_INT(f.n_answers, 0);
    loop_advance(f.loop, 1);
    CHECK_INT(f.n_answers, 1);
    CHECK_STR(f.answer, "timeout 0 the client did not answer within 2 s");
    CHECK_HAS(fake_heard(&f),
              "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1,");
    fake_end(&f);
}

TEST(a_client_that_leaves_answers_every_open_question_without_a_request)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    fake_say(&f, INIT_WITH("2025-11-25"));
    for (int i = 0; i < 3; i++)
        CHECK_INT(ask_peer(&f, 1000, NULL), 0);
    fake_end(&f);
    CHECK_INT(f.n_answers, 3);
    CHECK_STR(f.answer, "closed 0 the client has left");
}

TEST(who_cannot_be_asked_without_a_request_is_not)
{
    struct fake f;
    struct pb_error err;

    fake_start(&f, PEER_STDIO, NULL);
    CHECK(!peer_session(f.peer));
    CHECK_INT(ask_peer(&f, 1000, &err), -PB_E_UNSUPPORTED); /* no handshake yet */
    fake_say(&f, INIT_WITH("2025-11-25"));
    CHECK(peer_session(f.peer) != NULL);
    for (int i = 0; i < MCP_QUESTIONS_MAX; i++)
        CHECK_INT(ask_peer(&f, 1000, &err), 0);
    CHECK_INT(ask_peer(&f, 1000, &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "64 questions to this client are open");
    fake_end(&f);

    fake_start(&f, PEER_STATELESS, NULL);
    CHECK_INT(ask_peer(&f, 1000, &err), -PB_E_UNSUPPORTED);
    CHECK(!peer_session(f.peer));
    peer_tell(f.peer, "notifications/elicitation/complete", SPAN("{}"));
    CHECK_INT(f.n_sent, 0);
    fake_end(&f);
}

static void count_peer(void *ctx, struct peer *p)
{
    (void)p;
    ++*(int *)ctx;
}

TEST(a_server_knows_the_clients_that_have_not_left)
{
    struct fake f;
    struct peer *second;
    int n = 0;

    fake_start(&f, PEER_STDIO, NULL);
    second = peer_new(f.server, PEER_SESSION, &fake_peer_ops, &f);
    server_each_peer(f.server, count_peer, &n);
    CHECK_INT(n, 2);
    peer_close(second);
    n = 0;
    server_each_peer(f.server, count_peer, &n);
    CHECK_INT(n, 1);
    fake_end(&f);
}
