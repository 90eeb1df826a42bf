/* Servers that answer what they may not, and clients that come back where they may not. */
#include "face/host/host.h"
#include "face/relay/relay.h"
#include "face/relay/relay_impl.h"
#include "face/relay_rig.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

#define QUESTION \
    "\"inputRequests\":{\"q\":{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[]}}}"

/* Results that want to be taken for a question of ours. */
static const char *const disguises[] = {
    "{\"resultType\":\"input_required\"," QUESTION "}",
    "{\"resultType\":\"input_required\"," QUESTION ",\"requestState\":\"forged\"}",
    "{\"resultType\":\"input\\u005frequired\"," QUESTION "}",
    "{\"result\\u0054ype\":\"input_required\"," QUESTION "}",
    "{\"result\\u0054ype\":\"input\\u005frequired\"," QUESTION "}",
    "{\"resultType\":\"complete\",\"resultType\":\"input_required\"," QUESTION "}",
    "{\"resultType\":\"complete\",\"result\\u0054ype\":\"input_required\"," QUESTION "}",
    "{\"resultType\":\"task\",\"taskId\":\"t\"}",
    "{\"resultType\":7," QUESTION "}",
};

/* The answer as a client would read it must not be one that it acts on. */
static void check_inert(const char *answer)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json result;

    CHECK_INT(json_parse(&doc, span_of(answer), NULL, NULL), 0);
    result = json_get(json_root(&doc), "result");
    if (!json_bool(json_get(result, "isError"), false) ||
        !json_is(json_get(result, "inputRequests"), JSON_NONE) ||
        !json_is(json_get(result, "requestState"), JSON_NONE))
        TAP_FAIL("it passes: %s", answer);
}

/* B22: a client that declared nothing is asked nothing, whatever the result looks like. */
TEST(no_result_makes_a_modern_client_answer_what_it_cannot_be_asked)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

    for (size_t e = 0; e < ARRAY_LEN(eras); e++)
        for (size_t i = 0; i < ARRAY_LEN(disguises); i++) {
            struct hub_rig rig;
            struct down d;

            rig_init(&rig, NULL);
            rig_tool(&rig, "alpha", eras[e], "raw", FAKE_RAW)->text = disguises[i];
            down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, "{}");
            down_call(&d, 1, "alpha__raw", "");
            check_inert(down_next(&d));
            CHECK_HAS(down_last(&d), "\"resultType\":\"complete\"");
            CHECK_INT(rig_relays(&rig)->parked.n, 0);
            down_close(&d);
            rig_done(&rig);
        }
}

/* What a legacy server says has no meaning in its era, so a client of that era gets its bytes. */
TEST(a_legacy_server_cannot_ask_by_its_result_even_who_could_answer)
{
    for (size_t i = 0; i < ARRAY_LEN(disguises); i++) {
        struct hub_rig rig;
        struct down modern, legacy;

        rig_init(&rig, NULL);
        rig_tool(&rig, "alpha", PB_ERA_LEGACY, "raw", FAKE_RAW)->text = disguises[i];
        down_open(&modern, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
        down_call(&modern, 1, "alpha__raw", "");
        check_inert(down_next(&modern));
        down_close(&modern);
        if (!strstr(disguises[i], "complete")) { /* keys twice are no JSON of this rig */
            down_open(&legacy, &rig, PEER_STDIO, ERA_LEGACY, ASKS_ALL);
            down_call(&legacy, 1, "alpha__raw", "");
            CHECK_HAS(down_next(&legacy), disguises[i]);
            CHECK_INT(legacy.n, 1); /* and no question */
            down_close(&legacy);
        }
        rig_done(&rig);
    }
}

/* A tool of a server that nobody has talked to yet, and whose first call wakes it. */
static struct fake_server *unknown_server(struct hub_rig *rig)
{
    struct fake_server *f = fakes_add(&rig->fakes, "alpha");
    struct spec *spec = spec_stdio("alpha", "fake", NULL, NULL);
    struct pb_error err;

    f->era = PB_ERA_LEGACY;
    fake_tool(f, "hang", FAKE_HANG);
    CHECK_INT(hub_add(rig->hub, spec, &err), 0);
    spec_unref(spec);
    CHECK_INT(hub_connect(rig->hub, "alpha", &err), 0);
    rig_list(rig, "alpha", LIST_TOOLS,
             "[{\"name\":\"hang\",\"inputSchema\":{\"type\":\"object\"}}]");
    return f;
}

#define ASKS_RAW                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\",\"params\":{" \
    "\"message\":\"m\",\"requestedSchema\":{}}}"

/* The call began when nobody knew the server's era: it asks as old servers do, and answers as only
 * new ones may. */
TEST(a_question_does_not_outlive_the_answer_that_came_before_it)
{
    static const struct {
        enum era client;
        const char *result, *has;
    } rows[] = {
        { ERA_LEGACY, "{\"resultType\":\"input_required\"," QUESTION "}", QUESTION },
        { ERA_LEGACY, "{\"content\":[]}", "\"content\":[]" },
        { ERA_MODERN, "{\"resultType\":\"input_required\"," QUESTION "}", "input_required" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct hub_rig rig;
        struct down d;
        struct fake_server *f;

        rig_init(&rig, NULL);
        f = unknown_server(&rig);
        down_open(&d, &rig, PEER_STDIO, rows[i].client, ASKS_ALL);
        down_call(&d, 1, "alpha__hang", "");
        FAKES_UNTIL(&rig.fakes, f->n_held == 1);
        fake_say_raw(f, ASKS_RAW);
        FAKES_UNTIL(&rig.fakes, d.n == 1);
        CHECK_HAS(down_last(&d), "elicitation/create");
        fake_answer_raw(f, 0, rows[i].result);
        fakes_settle(&rig.fakes);
        if (rows[i].client == ERA_LEGACY) {
            /* To a question that nobody has any more. */
            down_say(&d, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\"}}");
            CHECK_HAS(d.sent[1], "notifications/cancelled");
        }
        CHECK_HAS(down_last(&d), rows[i].has);
        down_close(&d);
        rig_done(&rig);
    }
}

/* ---- URLs that a person is to open -------------------------------------------------------- */

TEST(nobody_is_sent_to_an_address_that_is_not_of_the_web)
{
    static const struct {
        const char *url;
        bool passes;
    } cases[] = {
        { "https://example.com/a?b#c", true },
        { "HTTP://127.0.0.1:1/", true },
        { "javascript:alert(1)", false },
        { "JaVaScRiPt://%0aalert(1)", false },
        { "data:text/html,<script>", false },
        { "file:///etc/passwd", false },
        { "vscode://x", false },
        { "//example.com", false },
        { " https://example.com", false },
        { "https://example.com/\\u001b]0;x", false },
        { "https://example.com/\\u000d\\u000aX: y", false },
        { "https://", false },
        { "", false },
    };
    static const enum pb_era servers[] = { PB_ERA_LEGACY, PB_ERA_MODERN };
    static const enum era clients[] = { ERA_LEGACY, ERA_MODERN };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (int way = 0; way < 4; way++) {
            struct hub_rig rig;
            struct down d;
            char params[256];

            snprintf(params, sizeof params,
                     "{\"mode\":\"url\",\"message\":\"m\",\"url\":\"%s\",\"elicitationId\":\"e\"}",
                     cases[i].url);
            rig_init(&rig, NULL);
            rig_tool(&rig, "alpha", servers[way / 2], "ask", FAKE_ASK)->params = params;
            down_open(&d, &rig, PEER_STDIO, clients[way % 2], ASKS_ALL);
            down_converse(&d, "alpha__ask", "{\"action\":\"accept\"}");
            if ((d.asked[0] != '\0') != cases[i].passes)
                TAP_FAIL("%s, way %d: asked \"%s\"", cases[i].url, way, d.asked);
            down_close(&d);
            rig_done(&rig);
        }
}

/* ---- states of another endpoint ----------------------------------------------------------- */

static void open_narrow(struct hub_rig *rig, enum pb_era era)
{
    struct fake_server *f;

    rig_init(rig, NULL);
    f = fakes_add(&rig->fakes, "alpha");
    f->era = era;
    fake_tool(f, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
    fake_tool(f, "echo", FAKE_ECHO);
    rig_connect(rig, f);
    rig_modes(rig, "{\"narrow\":{\"filter\":{\"tools\":[\"echo\"]}}}");
}

static const char *call(struct down *d, int id, const char *tool, const char *more)
{
    size_t had = d->n;

    down_call(d, id, tool, more);
    FAKES_UNTIL(d->fakes, d->n > had);
    return down_last(d);
}

/* Same client, same request, same arguments: only the endpoint is another. */
TEST(a_state_does_not_open_what_another_endpoint_hides)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        struct hub_rig rig;
        struct down wide, narrow;
        char more[4096];

        open_narrow(&rig, eras[i]);
        down_open(&wide, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
        down_open_at(&narrow, &rig, &(struct host_scope){ .mode = "narrow" }, PEER_STATELESS,
                     ERA_MODERN, ASKS_ALL);
        CHECK_HAS(call(&wide, 1, "alpha__ask", "\"arguments\":{},"), "input_required");
        snprintf(more, sizeof more,
                 "\"arguments\":{},%s\"inputResponses\":{\"q1\":{\"action\":\"accept\"},"
                 "\"q\":{\"action\":\"accept\"}},",
                 down_state(&wide));
        CHECK_HAS(call(&narrow, 2, "alpha__ask", more), "\"error\":{\"code\":-32602");
        /* with a tool that it may call it is another request */
        CHECK_HAS(call(&narrow, 3, "alpha__echo", more),
                  "requestState is not valid for this request");
        CHECK_INT(rig.fakes.servers[0]->calls, 1);
        /* and where it belongs it is still good */
        CHECK_HAS(call(&wide, 4, "alpha__ask", more), "accept");
        down_close(&wide);
        down_close(&narrow);
        rig_done(&rig);
    }
}

TEST(no_part_of_a_state_can_be_changed)
{
    struct hub_rig rig;
    struct down d;
    char state[4096], more[8192];
    size_t n;

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_LEGACY, "ask", FAKE_ASK)->params = "{\"message\":\"m\"}";
    down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, ASKS_ALL);
    down_call(&d, 1, "alpha__ask", "\"arguments\":{},");
    CHECK_HAS(down_next(&d), "input_required");
    snprintf(state, sizeof state, "%s", down_state(&d));
    n = strlen(state) - 2; /* the closing quote and the comma */
    for (size_t i = strlen("\"requestState\":\""); i < n; i++) {
        char forged[4096];

        snprintf(forged, sizeof forged, "%s", state);
        forged[i] = forged[i] == 'A' ? 'B' : 'A';
        snprintf(more, sizeof more, "\"arguments\":{},%s\"inputResponses\":{\"q1\":{}},", forged);
        down_call(&d, (int)i + 10, "alpha__ask", more);
        CHECK_HAS(down_last(&d), "\"error\":{\"code\":-32602");
        snprintf(more, sizeof more, "\"arguments\":{},%.*s\",\"inputResponses\":{\"q1\":{}},",
                 (int)i, state); /* truncated */
        down_call(&d, (int)i + 5000, "alpha__ask", more);
        CHECK_HAS(down_last(&d), "\"error\":{\"code\":-32602");
    }
    CHECK_INT(rig_relays(&rig)->parked.n, 1); /* nobody got to it */
    down_close(&d);
    rig_done(&rig);
}

/* ---- names that a client gives itself ----------------------------------------------------- */

TEST(a_client_with_a_new_name_for_each_call_does_not_get_a_process_for_each)
{
    struct link_facts facts;
    struct hub_rig rig;
    struct down d;
    char name[16];

    rig_init(&rig, NULL);
    fake_tool(rig_server(&rig, "alpha"), "text", FAKE_TEXT);
    rig_spec_of(&rig, "alpha")->instance = SPEC_PER_CLIENT;
    rig_start(&rig);
    down_open(&d, &rig, PEER_STATELESS, ERA_MODERN, "{}");
    d.name = name;
    for (int i = 0; i < 3 * LINK_ORIGIN_MAX; i++) {
        snprintf(name, sizeof name, "n%d", i);
        down_call(&d, i, "alpha__text", "");
        CHECK_HAS(down_next(&d), "mock");
    }
    link_facts(rig_link(&rig, "alpha"), &facts);
    CHECK_INT(facts.instances, LINK_ORIGIN_MAX);
    down_close(&d);
    rig_done(&rig);
}
