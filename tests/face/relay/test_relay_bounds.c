/* How much is kept for clients that have to come back with answers. */
#include "face/relay/relay.h"
#include "face/relay/relay_impl.h"
#include "face/relay_rig.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

static void nobody_told(struct request *r, void *ctx, struct span result,
                        const struct pb_error *err)
{
    (void)r, (void)ctx, (void)result, (void)err;
}

TEST(only_so_many_calls_are_parked)
{
    enum { SERVERS = RELAY_PARKED_MAX / MCP_QUESTIONS_MAX };
    static char names[SERVERS + 1][8], tools[SERVERS + 1][16];
    struct hub_rig rig;
    struct down d;

    rig_init(&rig, NULL);
    down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    for (int s = 0; s <= SERVERS; s++) {
        snprintf(names[s], sizeof names[s], "s%d", s);
        snprintf(tools[s], sizeof tools[s], "s%d__ask", s);
        rig_tool(&rig, names[s], PB_ERA_LEGACY, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
    }
    for (int i = 0; i < RELAY_PARKED_MAX; i++) {
        char name[16];

        snprintf(name, sizeof name, "c%d", i / RELAY_PARKED_CALLER_MAX);
        d.name = name;
        down_call(&d, i, tools[i / MCP_QUESTIONS_MAX], "");
        down_next(&d);
        CHECK_INT(rig_relays(&rig)->parked.n, i + 1);
    }
    d.name = "one more";
    down_call(&d, 5000, tools[SERVERS], "");
    CHECK_HAS(down_next(&d), "refused: -32603 Too many calls wait for their clients to answer");
    CHECK_INT(rig_relays(&rig)->parked.n, RELAY_PARKED_MAX);
    loop_advance(rig.fakes.loop, MCP_ASK_MS);
    FAKES_UNTIL(&rig.fakes, rig_relays(&rig)->parked.n == 0);
    down_call(&d, 5001, tools[SERVERS], "");
    CHECK_HAS(down_next(&d), "input_required");
    down_close(&d);
    rig_done(&rig);
}

TEST(one_client_does_not_take_the_places_of_all_others)
{
    struct hub_rig rig;
    struct down greedy, other;

    rig_init(&rig, NULL);
    rig_tool(&rig, "a", PB_ERA_LEGACY, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
    rig_tool(&rig, "b", PB_ERA_LEGACY, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
    down_open(&greedy, &rig, PEER_STDIO, ERA_MODERN, ASKS_ALL);
    down_open(&other, &rig, PEER_STDIO, ERA_MODERN, ASKS_ALL);
    for (int i = 0; i < RELAY_PARKED_CALLER_MAX; i++) {
        down_call(&greedy, i, "a__ask", "");
        CHECK_HAS(down_next(&greedy), "input_required");
    }
    down_call(&greedy, 1000, "b__ask", "");
    CHECK_HAS(down_next(&greedy), "refused: -32603 Too many calls wait for their clients");
    CHECK_INT(rig_relays(&rig)->parked.n, RELAY_PARKED_CALLER_MAX);
    down_call(&other, 1, "b__ask", "");
    CHECK_HAS(down_next(&other), "input_required");
    down_close(&greedy);
    FAKES_UNTIL(&rig.fakes, rig_relays(&rig)->parked.n == 1);
    down_close(&other);
    rig_done(&rig);
}

/* A call of this client to this server is parked, and then its answer of about so many bytes comes.
 */
static void answer_parked(struct hub_rig *rig, struct down *d, struct fake_server *f,
                          const char *tool, size_t bytes)
{
    AUTO_FREE char *text = mem_zero(bytes + 1);
    struct pb_error err;

    memset(text, 'x', bytes);
    down_call(d, 1, tool, "");
    FAKES_UNTIL(&rig->fakes, f->n_held == 1);
    CHECK_INT(request_question(fake_held(f, 0), "roots/list", SPAN("{}"), nobody_told, NULL, &err),
              0);
    CHECK_HAS(down_next(d), "input_required");
    fake_release(f, 0, text);
    fakes_settle(&rig->fakes);
}

static const char *take_parked(struct hub_rig *rig, struct down *d, const char *tool,
                               const char *state)
{
    AUTO_BUF struct buf more = { 0 };

    buf_printf(&more, "%s\"inputResponses\":{},", state);
    down_call(d, 2, tool, buf_cstr(&more));
    fakes_settle(&rig->fakes);
    return down_last(d);
}

static const char refusal[] = "more than can be kept: call again";

TEST(answers_that_wait_for_one_client_have_a_bound_in_bytes)
{
    enum { HALF = RELAY_KEPT_EACH / 2 - 1000 };
    struct hub_rig rig;
    struct down d;
    struct fake_server *f;
    char *first;

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_LEGACY, "hang", FAKE_HANG);
    f = rig.fakes.servers[0];
    down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    answer_parked(&rig, &d, f, "alpha__hang", RELAY_KEPT_EACH);
    CHECK_HAS(take_parked(&rig, &d, "alpha__hang", down_state(&d)), refusal);
    answer_parked(&rig, &d, f, "alpha__hang", HALF);
    first = mem_dup(down_state(&d));
    answer_parked(&rig, &d, f, "alpha__hang", HALF);
    CHECK(!strstr(take_parked(&rig, &d, "alpha__hang", down_state(&d)), refusal));
    answer_parked(&rig, &d, f, "alpha__hang", HALF); /* its place is free again */
    CHECK(!strstr(take_parked(&rig, &d, "alpha__hang", down_state(&d)), refusal));
    answer_parked(&rig, &d, f, "alpha__hang", HALF + 4000);
    CHECK_HAS(take_parked(&rig, &d, "alpha__hang", down_state(&d)), refusal);
    CHECK(!strstr(take_parked(&rig, &d, "alpha__hang", first), refusal));
    free(first);
    CHECK_INT(rig_relays(&rig)->kept_bytes, 0);
    CHECK_INT(rig_relays(&rig)->parkers.n, 0);
    down_close(&d);
    rig_done(&rig);
}

TEST(answers_that_wait_for_all_clients_have_a_bound_in_bytes)
{
    enum { EACH = RELAY_KEPT_EACH - 1000, MOST = RELAY_KEPT_MAX / RELAY_KEPT_EACH };
    char names[MOST + 1][16], tools[MOST + 1][32];
    struct hub_rig rig;
    struct down d;

    rig_init(&rig, NULL);
    down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    for (int i = 0; i <= MOST; i++) { /* a server each: nobody doubts whose its question is */
        snprintf(names[i], sizeof names[i], "s%d", i);
        snprintf(tools[i], sizeof tools[i], "s%d__hang", i);
        rig_tool(&rig, names[i], PB_ERA_LEGACY, "hang", FAKE_HANG);
        d.name = names[i];
        answer_parked(&rig, &d, rig.fakes.servers[i], tools[i], EACH);
    }
    CHECK_HAS(take_parked(&rig, &d, tools[MOST], down_state(&d)), refusal);
    CHECK_INT(rig_relays(&rig)->parked.n, MOST);
    loop_advance(rig.fakes.loop, MCP_ASK_MS);
    FAKES_UNTIL(&rig.fakes, rig_relays(&rig)->parked.n == 0);
    CHECK_INT(rig_relays(&rig)->kept_bytes, 0);
    CHECK_INT(rig_relays(&rig)->parkers.n, 0);
    down_close(&d);
    rig_done(&rig);
}

TEST(questions_that_wait_for_clients_have_a_bound_in_bytes)
{
    static const size_t sizes[] = { RELAY_ASK_BYTES, RELAY_ASK_BYTES + 1 };
    enum { MOST = RELAY_ASKS_BYTES / RELAY_ASK_BYTES };

    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        AUTO_BUF struct buf params = { 0 };
        struct hub_rig rig;
        struct down d;
        struct fake_tool *t;

        buf_str(&params, "{\"message\":\"");
        while (params.n < sizes[i] - 2)
            buf_byte(&params, 'm');
        buf_str(&params, "\"}");
        rig_init(&rig, NULL);
        t = rig_tool(&rig, "alpha", PB_ERA_LEGACY, "ask", FAKE_ASK);
        t->params = buf_cstr(&params);
        down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
        for (int n = 0; i == 0 && n < MOST; n++) {
            down_call(&d, n, "alpha__ask", "");
            CHECK_HAS(down_next(&d), "input_required");
        }
        down_call(&d, 100, "alpha__ask", "");
        CHECK_HAS(down_next(&d), "refused: -32603 This is more than can be kept");
        down_close(&d);
        rig_done(&rig);
    }
}
