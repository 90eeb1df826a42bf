#include "face/relay/relay.h"
#include "face/relay/relay_impl.h"
#include "face/relay_rig.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

static const enum era client_eras[] = { ERA_LEGACY, ERA_MODERN };
static const enum pb_era server_eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

#define CANCEL_1 \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}"

/* Ways in which a client stops wanting an answer. */
enum way { BY_NOTICE, BY_LEAVING, BY_EXCHANGE, BY_SHUTDOWN, WAYS };

static void stop_wanting(struct down *d, enum way way)
{
    switch (way) {
    case BY_NOTICE:
        down_say(d, CANCEL_1);
        break;
    case BY_LEAVING:
        down_close(d);
        break;
    case BY_EXCHANGE:
        peer_exchange_gone(d->peer, d);
        break;
    default:
        peer_cancel_all(d->peer);
    }
}

static void end(struct hub_rig *rig, struct down *d)
{
    if (d->peer)
        down_close(d);
    rig_done(rig);
}

/* S0-43 */
TEST(a_client_that_stops_wanting_the_answer_cancels_a_running_call)
{
    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
        for (size_t c = 0; c < ARRAY_LEN(client_eras); c++)
            for (int way = 0; way < WAYS; way++) {
                struct hub_rig rig;
                struct down d;
                struct fake_server *f;
                size_t told;

                if (way == BY_EXCHANGE && client_eras[c] == ERA_LEGACY)
                    continue; /* a legacy client may come back for its answer */
                rig_init(&rig, NULL);
                rig_tool(&rig, "alpha", server_eras[s], "hang", FAKE_HANG);
                f = rig.fakes.servers[0];
                down_open(&d, &rig, way == BY_EXCHANGE ? PEER_STATELESS : PEER_STDIO,
                          client_eras[c], ASKS_ALL);
                down_call(&d, 1, "alpha__hang", "");
                FAKES_UNTIL(&rig.fakes, f->n_held == 1);
                stop_wanting(&d, way);
                told = d.n;
                FAKES_UNTIL(&rig.fakes, f->cancellations == 1);
                CHECK_INT(f->n_held, 0);
                fakes_settle(&rig.fakes);
                CHECK_INT(told, way == BY_SHUTDOWN ? 1 : 0); /* "Request cancelled" */
                CHECK_INT(d.n, told);
                end(&rig, &d);
            }
}

/* The client is being asked; it stops wanting the answer instead. */
TEST(a_call_is_cancelled_while_its_legacy_client_is_asked)
{
    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
        for (int way = 0; way < WAYS; way++) {
            struct hub_rig rig;
            struct down d;
            struct fake_server *f;

            if (way == BY_EXCHANGE)
                continue;
            rig_init(&rig, NULL);
            rig_tool(&rig, "alpha", server_eras[s], "ask", FAKE_ASK)->params =
                "{\"message\":\"m\"}";
            f = rig.fakes.servers[0];
            down_open(&d, &rig, PEER_STDIO, ERA_LEGACY, ASKS_ALL);
            down_call(&d, 1, "alpha__ask", "");
            CHECK_HAS(down_next(&d), "elicitation/create");
            stop_wanting(&d, way);
            if (server_eras[s] == PB_ERA_LEGACY)
                FAKES_UNTIL(&rig.fakes, f->n_held == 0 && f->cancellations == 1);
            fakes_settle(&rig.fakes);
            CHECK_INT(f->calls, 1); /* a modern server is not asked again */
            if (d.peer) {
                CHECK_HAS(d.sent[1], "notifications/cancelled");
                down_answer(&d, "\"result\":{\"action\":\"accept\"}"); /* too late, to nobody */
            }
            fakes_settle(&rig.fakes);
            CHECK_INT(f->calls, 1);
            end(&rig, &d);
        }
}

static void only_state(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    (void)f, (void)t;
    request_reply(r, SPAN("{\"resultType\":\"input_required\",\"requestState\":\"p\"}"));
}

TEST(a_call_is_cancelled_before_its_server_is_asked_again)
{
    struct hub_rig rig;
    struct down d;
    struct fake_tool *t;

    rig_init(&rig, NULL);
    t = rig_tool(&rig, "alpha", PB_ERA_MODERN, "poll", FAKE_RUN);
    t->run = only_state;
    down_open(&d, &rig, PEER_STDIO, ERA_LEGACY, "{}");
    down_call(&d, 1, "alpha__poll", "");
    FAKES_UNTIL(&rig.fakes, t->calls == 1);
    fakes_settle(&rig.fakes);
    stop_wanting(&d, BY_NOTICE);
    loop_advance(rig.fakes.loop, 10 * MCP_ROUND_PAUSE_MS);
    CHECK_INT(t->calls, 1);
    end(&rig, &d);
}

TEST(a_call_is_cancelled_in_the_turn_in_which_its_server_asked)
{
    struct hub_rig rig;
    struct down d;
    struct fake_server *f;

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_LEGACY, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
    f = rig.fakes.servers[0];
    down_open(&d, &rig, PEER_STDIO, ERA_MODERN, ASKS_ALL);
    down_call(&d, 1, "alpha__ask", "");
    FAKES_UNTIL(&rig.fakes, f->n_held == 1);
    stop_wanting(&d, BY_LEAVING); /* the question is still on its way */
    FAKES_UNTIL(&rig.fakes, f->n_held == 0);
    CHECK_INT(rig_relays(&rig)->parked.n, 0);
    end(&rig, &d);
}

TEST(a_parked_call_ends_with_a_client_that_cannot_come_back)
{
    static const enum peer_kind kinds[] = { PEER_STDIO, PEER_MEMORY, PEER_STATELESS };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct hub_rig rig;
        struct down d;
        struct fake_server *f;

        rig_init(&rig, NULL);
        rig_tool(&rig, "alpha", PB_ERA_LEGACY, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
        f = rig.fakes.servers[0];
        down_open(&d, &rig, kinds[i], ERA_MODERN, ASKS_ALL);
        down_call(&d, 1, "alpha__ask", "");
        CHECK_HAS(down_next(&d), "input_required");
        CHECK_INT(rig_relays(&rig)->parked.n, 1);
        peer_exchange_gone(d.peer, &d); /* its answer was sent: the connection may go */
        CHECK_INT(rig_relays(&rig)->parked.n, 1);
        down_close(&d);
        fakes_settle(&rig.fakes);
        CHECK_INT(rig_relays(&rig)->parked.n, kinds[i] == PEER_STATELESS);
        CHECK_INT(f->n_held, kinds[i] == PEER_STATELESS);
        CHECK_INT(f->cancellations, kinds[i] != PEER_STATELESS);
        end(&rig, &d);
    }
}

TEST(a_call_is_cancelled_while_its_server_comes_up)
{
    struct hub_rig rig;
    struct down d;
    struct fake_server *f;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    f->connect = FAKE_CONNECT_HANG;
    rig_start(&rig);
    /* it is known from before */
    rig_list(&rig, "alpha", LIST_TOOLS,
             "[{\"name\":\"text\",\"inputSchema\":{\"type\":\"object\"}}]");
    fakes_settle(&rig.fakes);
    down_open(&d, &rig, PEER_STDIO, ERA_LEGACY, "{}");
    down_call(&d, 1, "alpha__text", "");
    fakes_settle(&rig.fakes);
    CHECK_INT(d.n, 0);
    stop_wanting(&d, BY_NOTICE);
    fakes_settle(&rig.fakes);
    CHECK_INT(d.n, 0);
    CHECK_INT(f->calls, 0);
    end(&rig, &d);
}

TEST(time_does_not_pass_for_the_server_while_a_person_thinks)
{
    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
        for (size_t c = 0; c < ARRAY_LEN(client_eras); c++) {
            struct hub_rig rig;
            struct down d;

            rig_init(&rig, NULL);
            rig_tool(&rig, "alpha", server_eras[s], "ask", FAKE_ASK)->params =
                "{\"message\":\"m\"}";
            down_open(&d, &rig, PEER_STDIO, client_eras[c], ASKS_ALL);
            down_call(&d, 1, "alpha__ask", "");
            down_next(&d);
            loop_advance(rig.fakes.loop, MCP_ASK_MS - 1000);
            CHECK_INT(d.n, 1);
            if (client_eras[c] == ERA_LEGACY) {
                down_answer(&d, "\"result\":{\"action\":\"accept\"}");
            } else {
                AUTO_BUF struct buf more = { 0 };

                buf_printf(&more,
                           "%s\"inputResponses\":{\"q\":{\"action\":\"accept\"},"
                           "\"q1\":{\"action\":\"accept\"}},",
                           down_state(&d));
                down_call(&d, 2, "alpha__ask", buf_cstr(&more));
            }
            FAKES_UNTIL(&rig.fakes, d.n == 2);
            CHECK_HAS(down_last(&d), "accept");
            CHECK(!strstr(down_last(&d), "isError"));
            end(&rig, &d);
        }
}

TEST(a_legacy_client_that_never_answers_is_not_waited_for_forever)
{
    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++) {
        struct hub_rig rig;
        struct down d;

        rig_init(&rig, NULL);
        rig_tool(&rig, "alpha", server_eras[s], "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
        down_open(&d, &rig, PEER_STDIO, ERA_LEGACY, ASKS_ALL);
        down_call(&d, 1, "alpha__ask", "");
        down_next(&d);
        loop_advance(rig.fakes.loop, MCP_ASK_MS);
        fakes_settle(&rig.fakes);
        CHECK(d.n >= 2);
        CHECK_HAS(down_last(&d), "\"id\":1");
        end(&rig, &d);
    }
}

TEST(a_set_that_is_freed_leaves_nobody_waiting)
{
    static const struct {
        enum era client;
        enum pb_era server;
        const char *tool;
    } rows[] = {
        { ERA_LEGACY, PB_ERA_LEGACY, "alpha__hang" }, { ERA_LEGACY, PB_ERA_LEGACY, "alpha__ask" },
        { ERA_LEGACY, PB_ERA_MODERN, "alpha__ask" },  { ERA_MODERN, PB_ERA_LEGACY, "alpha__ask" },
        { ERA_MODERN, PB_ERA_MODERN, "alpha__hang" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct hub_rig rig;
        struct down d;
        struct fake_server *f;

        rig_init(&rig, NULL);
        f = fakes_add(&rig.fakes, "alpha");
        f->era = rows[i].server;
        fake_tool(f, "hang", FAKE_HANG);
        fake_tool(f, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
        rig_connect(&rig, f);
        down_open(&d, &rig, PEER_STDIO, rows[i].client, ASKS_ALL);
        down_call(&d, 1, rows[i].tool, "");
        FAKES_UNTIL(&rig.fakes, f->calls == 1);
        fakes_settle(&rig.fakes);
        hosts_close(rig.hosts, rig_on_hosts_closed, &rig);
        FAKES_UNTIL(&rig.fakes, rig.hosts_closed && f->n_held == 0);
        if (!strstr(down_last(&d), "input_required"))
            CHECK_HAS(down_last(&d), "\"id\":1,\"error\":{\"code\":-32603");
        down_forget(&d); /* the peer went with the host's server */
        rig_done(&rig);
    }
}

TEST(servers_that_are_taken_away_end_their_calls)
{
    for (size_t c = 0; c < ARRAY_LEN(client_eras); c++) {
        struct hub_rig rig;
        struct down d;
        struct fake_server *f;
        struct pb_error err;

        rig_init(&rig, NULL);
        rig_tool(&rig, "alpha", PB_ERA_LEGACY, "hang", FAKE_HANG);
        f = rig.fakes.servers[0];
        down_open(&d, &rig, PEER_STDIO, client_eras[c], "{}");
        down_call(&d, 1, "alpha__hang", "");
        FAKES_UNTIL(&rig.fakes, f->n_held == 1);
        CHECK_INT(hub_remove(rig.hub, "alpha", &err), 0);
        FAKES_UNTIL(&rig.fakes, d.n == 1);
        CHECK_HAS(down_last(&d), "\"isError\":true");
        CHECK_HAS(down_last(&d), "{\\\"error\\\":\\\"server_not_connected\\\"");
        end(&rig, &d);
    }
}
