#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "mcp/talk.h"
#include <stdatomic.h>

#define NAME_SCHEMA \
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},\"required\":[\"name\"]}"
#define ELICIT_NAME                                                                      \
    "{\"method\":\"elicitation/create\",\"params\":{\"message\":\"What is your name?\"," \
    "\"requestedSchema\":" NAME_SCHEMA "}}"
#define ALICE "{\"action\":\"accept\",\"content\":{\"name\":\"Alice\"}}"

static const char elicits[] = "{\"elicitation\":{}}";
static const char asks_all[] =
    "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{\"tools\":{}},"
    "\"roots\":{}}";

/* The name out of an ElicitResult. */
static void name_in(const char *answer, char *out, size_t size)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct json name;

    CHECK_INT(json_parse(&doc, span_of(answer), NULL, NULL), 0);
    name = json_get(json_get(json_root(&doc), "content"), "name");
    snprintf(out, size, "%s", json_is(name, JSON_STRING) ? json_cstr(name, &a) : "(nobody)");
}

static int greet(struct pb_call *call, void *ctx)
{
    const char *answer;
    char name[64];
    int rc = pb_ask_form(call, "user_name", "What is your name?", NAME_SCHEMA, &answer);

    (void)ctx;
    if (rc < 0)
        return rc;
    name_in(answer, name, sizeof name);
    return pb_reply_text(call, "Hello, %s!", name);
}

static void add(struct talk *t, const char *name, pb_handler *run, void *ctx)
{
    struct pb_error err;
    struct pb_tool tool = { name, .run = run, .ctx = ctx, .input_schema = "{\"type\":\"object\"}" };

    if (pb_server_add_tool(t->server, &tool, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

/* A modern tools/call of `tool` with the given capabilities and more params. */
static const char *call_tool(struct talk *t, const char *tool, const char *caps, const char *more)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(
        &text,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
        "%s\"_meta\":{\"" META_VERSION "\":\"2026-07-28\",\"" META_CLIENT_CAPS "\":%s}}}",
        tool, more, caps);
    return talk_ask(t, buf_cstr(&text));
}

/* The requestState of the last answer, as a member to send back. */
static const char *state_of(struct talk *t)
{
    static struct buf member;
    AUTO_JSON struct json_doc doc = { 0 };
    struct json state;

    member.n = 0;
    CHECK_INT(json_parse(&doc, span_of(t->sent[t->n - 1]), NULL, NULL), 0);
    state = json_get(json_get(json_root(&doc), "result"), "requestState");
    CHECK(json_is(state, JSON_STRING));
    buf_str(&member, "\"requestState\":");
    buf_add_span(&member, json_text(state));
    buf_byte(&member, ',');
    return buf_cstr(&member);
}

static const char *with_state(struct talk *t, const char *more)
{
    static struct buf both;

    both.n = 0;
    buf_str(&both, state_of(t));
    buf_str(&both, more);
    return buf_cstr(&both);
}

/* ---- modern: input_required --------------------------------------------------------------- */

TEST(a_question_is_a_result_and_its_answer_a_new_request)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "greet", greet, NULL);
    CHECK_HAS(call_tool(&t, "greet", elicits, ""),
              "\"resultType\":\"input_required\",\"inputRequests\":{\"user_name\":" ELICIT_NAME
              "},\"requestState\":\"");
    CHECK_HAS(call_tool(&t, "greet", elicits,
                        with_state(&t, "\"inputResponses\":{\"user_name\":" ALICE "},")),
              "\"text\":\"Hello, Alice!\"");
    talk_close(&t);
}

TEST(first_round_answers_need_no_state_and_extra_ones_are_ignored)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "greet", greet, NULL);
    CHECK_HAS(call_tool(&t, "greet", elicits,
                        "\"inputResponses\":{\"x\":1,\"user_name\":" ALICE ",\"y\":{}},"),
              "Hello, Alice!");
    CHECK_HAS(call_tool(&t, "greet", elicits,
                        "\"inputResponses\":{\"user_name\":{\"action\":\"decline\"}},"),
              "Hello, (nobody)!");
    talk_close(&t);
}

TEST(missing_and_wrong_answers_are_asked_for_again)
{
    static const char *const cases[] = {
        "\"inputResponses\":{\"wrong_key\":" ALICE "},",
        "\"inputResponses\":{},",
        "\"inputResponses\":null,",
        "\"inputResponses\":{\"user_name\":{\"action\":\"accept\",\"content\":{\"name\":7}}},",
        "\"inputResponses\":{\"user_name\":{\"action\":\"accept\"}},",
    };
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "greet", greet, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_HAS(call_tool(&t, "greet", elicits, cases[i]), "\"inputRequests\":{\"user_name\":");
    talk_close(&t);
}

TEST(answers_that_are_none_are_refused)
{
    static const struct {
        const char *more, *want;
    } cases[] = {
        { "\"inputResponses\":{\"user_name\":12345},",
          FAILED("-32602", "inputResponses.user_name: expected an object, got number") },
        { "\"inputResponses\":{\"user_name\":{\"action\":\"maybe\"}},",
          FAILED("-32602", "inputResponses.user_name: action: expected \\\"accept\\\", "
                           "\\\"decline\\\" or \\\"cancel\\\"") },
        { "\"inputResponses\":{\"user_name\":{\"method\":\"x\",\"result\":{}}},", NULL },
        { "\"inputResponses\":[],",
          FAILED("-32602", "inputResponses: expected an object, got array") },
        { "\"requestState\":7,", FAILED("-32602", "requestState is not valid for this request") },
        { "\"requestState\":\"x\",",
          FAILED("-32602", "requestState is not valid for this request") },
    };
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "greet", greet, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = call_tool(&t, "greet", elicits, cases[i].more);

        CHECK_HAS(got, cases[i].want ? cases[i].want : "-32602");
    }
    talk_close(&t);
}

TEST(a_state_is_good_for_its_own_request_only)
{
    AUTO_BUF struct buf own = { 0 }, tampered = { 0 };
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "greet", greet, NULL);
    add(&t, "other", greet, NULL);
    call_tool(&t, "greet", elicits, "\"arguments\":{\"a\":1},");
    buf_str(&own, state_of(&t));
    buf_str(&own, "\"arguments\":{\"a\":1},\"inputResponses\":{\"user_name\":" ALICE "},");
    CHECK_HAS(call_tool(&t, "greet", elicits, buf_cstr(&own)), "Hello, Alice!");
    CHECK_HAS(call_tool(&t, "other", elicits, buf_cstr(&own)), "-32602");
    buf_str(&tampered, "\"inputResponses\":{\"user_name\":" ALICE "},\"arguments\":{\"a\":2},");
    call_tool(&t, "greet", elicits, "\"arguments\":{\"a\":1},");
    CHECK_STR(call_tool(&t, "greet", elicits, with_state(&t, buf_cstr(&tampered))),
              FAILED("-32602", "requestState is not valid for this request"));
    talk_close(&t);
}

TEST(a_tampered_state_is_an_error_and_never_a_question)
{
    AUTO_BUF struct buf more = { 0 };
    const char *state;
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "greet", greet, NULL);
    call_tool(&t, "greet", elicits, "");
    state = state_of(&t);
    buf_add(&more, state, strlen(state) - 2);
    buf_str(&more, "-TAMPERED\",");
    CHECK_STR(call_tool(&t, "greet", elicits, buf_cstr(&more)),
              FAILED("-32602", "requestState is not valid for this request"));
    talk_close(&t);
}

TEST(a_state_runs_out_and_does_not_pass_between_owners)
{
    AUTO_BUF struct buf more = { 0 };
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "greet", greet, NULL);
    peer_set_principal(t.peer, "ann");
    call_tool(&t, "greet", elicits, "");
    buf_str(&more, with_state(&t, "\"inputResponses\":{\"user_name\":" ALICE "},"));
    peer_set_principal(t.peer, "bob");
    CHECK_HAS(call_tool(&t, "greet", elicits, buf_cstr(&more)), "-32602");
    peer_set_principal(t.peer, "ann");
    CHECK_HAS(call_tool(&t, "greet", elicits, buf_cstr(&more)), "Alice");
    t.clock.wall += MCP_STATE_MS;
    CHECK_HAS(call_tool(&t, "greet", elicits, buf_cstr(&more)), "-32602");
    talk_close(&t);
}

static int two_steps(struct pb_call *call, void *ctx)
{
    const char *first, *second;
    char name[64], color[64];
    int rc;

    (void)ctx;
    rc = pb_ask_form(call, "step1", "Name?", NAME_SCHEMA, &first);
    if (rc < 0) {
        CHECK(!pb_call_state(call));
        pb_call_set_state(call, "{\"at\":\n1}");
        return rc;
    }
    rc = pb_ask_form(call, "step2", "Color?", NAME_SCHEMA, &second);
    if (rc < 0) {
        CHECK_STR(pb_call_state(call), "{\"at\":1}");
        pb_call_set_state(call, "2");
        return rc;
    }
    CHECK_STR(pb_call_state(call), "2");
    name_in(first, name, sizeof name);
    name_in(second, color, sizeof color);
    return pb_reply_text(call, "%s likes %s", name, color);
}

TEST(rounds_follow_each_other_and_answers_add_up)
{
    AUTO_BUF struct buf first = { 0 };
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "two", two_steps, NULL);
    CHECK_HAS(call_tool(&t, "two", elicits, ""), "{\"step1\":{");
    buf_str(&first, state_of(&t));
    CHECK_HAS(
        call_tool(&t, "two", elicits, with_state(&t, "\"inputResponses\":{\"step1\":" ALICE "},")),
        "\"inputRequests\":{\"step2\":{");
    CHECK(strcmp(buf_cstr(&first), state_of(&t)) != 0);
    CHECK_HAS(call_tool(&t, "two", elicits,
                        with_state(&t, "\"inputResponses\":{\"step2\":{\"action\":\"accept\","
                                       "\"content\":{\"name\":\"blue\"}}},")),
              "Alice likes blue");
    talk_close(&t);
}

static int all_kinds(struct pb_call *call, void *ctx)
{
    const char *form, *url, *model, *roots;
    int rc = 0;

    (void)ctx;
    rc |= pb_ask_form(call, "form", "f", NAME_SCHEMA, &form);
    rc |= pb_ask_url(call, "url", "u", "https://example.org/", &url);
    rc |= pb_ask_model(call, "model", "{\"messages\":[],\n\"maxTokens\":50}", &model);
    rc |= pb_ask_roots(call, "roots", &roots);
    if (rc < 0)
        return -PB_E_INPUT;
    return pb_reply_text(call, "%s %s %s %s", form, url, model, roots);
}

TEST(several_questions_are_put_together)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "all", all_kinds, NULL);
    CHECK_HAS(
        call_tool(&t, "all", asks_all, ""),
        "\"inputRequests\":{\"form\":{\"method\":\"elicitation/create\",\"params\":{\"message\":"
        "\"f\",\"requestedSchema\":" NAME_SCHEMA "}},\"url\":{\"method\":\"elicitation/create\","
        "\"params\":{\"mode\":\"url\",\"message\":\"u\",\"url\":\"https://example.org/\"}},"
        "\"model\":{\"method\":\"sampling/createMessage\",\"params\":{\"messages\":[],"
        "\"maxTokens\":50}},\"roots\":{\"method\":\"roots/list\",\"params\":{}}}");
    /* half of the answers: the other half is asked for again */
    CHECK_HAS(call_tool(&t, "all", asks_all,
                        with_state(&t, "\"inputResponses\":{\"form\":{\"action\":\"cancel\"},"
                                       "\"roots\":{\"roots\":[]}},")),
              "\"inputRequests\":{\"url\":{");
    CHECK(!strstr(t.sent[0], "\"roots/list\""));
    CHECK_HAS(
        call_tool(&t, "all", asks_all,
                  with_state(&t, "\"inputResponses\":{\"url\":{\"action\":\"accept\"},"
                                 "\"model\":{\"role\":\"assistant\",\"model\":\"m\",\"content\":"
                                 "{\"type\":\"text\",\"text\":\"x\"}}},")),
        "{\\\"action\\\":\\\"cancel\\\"} {\\\"action\\\":\\\"accept\\\"} {");
    talk_close(&t);
}

struct wish {
    int (*ask)(struct pb_call *call, const char **answer);
};

static int wish_form(struct pb_call *c, const char **a)
{
    return pb_ask_form(c, "k", "m", NAME_SCHEMA, a);
}
static int wish_url(struct pb_call *c, const char **a)
{
    return pb_ask_url(c, "k", "m", "https://example.org/", a);
}
static int wish_model(struct pb_call *c, const char **a) { return pb_ask_model(c, "k", "{}", a); }
static int wish_tools(struct pb_call *c, const char **a)
{
    return pb_ask_model(c, "k", "{\"tools\":[]}", a);
}
static int wish_roots(struct pb_call *c, const char **a) { return pb_ask_roots(c, "k", a); }

static int wishing(struct pb_call *call, void *ctx)
{
    const struct wish *w = ctx;
    const char *answer;
    int rc = w->ask(call, &answer);

    return rc < 0 ? rc : pb_reply_text(call, "%s", answer);
}

static const struct {
    struct wish wish;
    const char *what, *able, *unable, *missing;
} wishes[] = {
    { { wish_form },
      "elicitation",
      "{\"elicitation\":{}}",
      "{\"elicitation\":{\"url\":{}}}",
      "{\"elicitation\":{}}" },
    { { wish_url },
      "elicitation.url",
      "{\"elicitation\":{\"url\":{}}}",
      "{\"elicitation\":{}}",
      "{\"elicitation\":{\"url\":{}}}" },
    { { wish_model }, "sampling", "{\"sampling\":{}}", "{}", "{\"sampling\":{}}" },
    { { wish_tools },
      "sampling.tools",
      "{\"sampling\":{\"tools\":{}}}",
      "{\"sampling\":{}}",
      "{\"sampling\":{\"tools\":{}}}" },
    { { wish_roots }, "roots", "{\"roots\":{}}", "{\"sampling\":{}}", "{\"roots\":{}}" },
};

TEST(only_what_the_client_declared_is_asked)
{
    for (size_t i = 0; i < ARRAY_LEN(wishes); i++) {
        AUTO_BUF struct buf want = { 0 };
        struct talk t;

        talk_open(&t, PEER_STATELESS, NULL);
        add(&t, "wish", wishing, (void *)&wishes[i].wish);
        CHECK_HAS(call_tool(&t, "wish", wishes[i].able, ""), "\"inputRequests\":{\"k\":");
        buf_printf(&want,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32021,\"message\":\"Missing "
                   "required client capability\",\"data\":{\"requiredCapabilities\":%s}}}",
                   wishes[i].missing);
        CHECK_STR(call_tool(&t, "wish", wishes[i].unable, ""), buf_cstr(&want));
        CHECK_INT(t.http_status, 400);
        talk_close(&t);
    }
}

static int can(struct pb_call *call, void *ctx)
{
    for (size_t i = 0; i < ARRAY_LEN(wishes); i++)
        pb_reply_text(call, "%d", pb_call_can_ask(call, wishes[i].what));
    (void)ctx;
    return pb_reply_text(call, "%d", pb_call_can_ask(call, "nonsense"));
}

TEST(a_handler_may_look_before_it_asks)
{
    static const char *const want[] = {
        "{\"type\":\"text\",\"text\":\"1\"},{\"type\":\"text\",\"text\":\"0\"},{\"type\":\"text\","
        "\"text\":\"0\"},{\"type\":\"text\",\"text\":\"0\"},{\"type\":\"text\",\"text\":\"0\"},{"
        "\"type\":\"text\",\"text\":\"0\"}]",
        "{\"type\":\"text\",\"text\":\"1\"},{\"type\":\"text\",\"text\":\"1\"},{\"type\":\"text\","
        "\"text\":\"1\"},{\"type\":\"text\",\"text\":\"1\"},{\"type\":\"text\",\"text\":\"1\"},{"
        "\"type\":\"text\",\"text\":\"0\"}]",
    };
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "can", can, NULL);
    CHECK_HAS(call_tool(&t, "can", elicits, ""), want[0]);
    CHECK_HAS(call_tool(&t, "can", asks_all, ""), want[1]);
    talk_close(&t);
}

static int endless(struct pb_call *call, void *ctx)
{
    const char *answer;
    char key[16];
    int i = 0;

    (void)ctx;
    do
        snprintf(key, sizeof key, "k%d", i++);
    while (pb_ask_roots(call, key, &answer) == 0);
    return -PB_E_INPUT;
}

/* The bound, and one past it. */
TEST(rounds_are_bounded)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "endless", endless, NULL);
    call_tool(&t, "endless", asks_all, "");
    for (int i = 0; i < MCP_ASK_ROUNDS_MAX; i++) {
        AUTO_BUF struct buf more = { 0 };

        CHECK_HAS(t.sent[0], "input_required");
        buf_printf(&more, "\"inputResponses\":{\"k%d\":{\"roots\":[]}},", i);
        call_tool(&t, "endless", asks_all, with_state(&t, buf_cstr(&more)));
    }
    CHECK_HAS(t.sent[0], "The client was asked too often");
    talk_close(&t);
}

static int too_many(struct pb_call *call, void *ctx)
{
    const int *n = ctx;
    const char *answer;
    char key[16];
    int rc = 0;

    for (int i = 0; i < *n; i++) {
        snprintf(key, sizeof key, "k%d", i);
        rc = pb_ask_roots(call, key, &answer);
        CHECK_INT(pb_ask_roots(call, key, &answer), rc); /* the same question counts once */
    }
    return rc;
}

TEST(questions_of_one_round_are_bounded)
{
    int n = MCP_QUESTIONS_MAX;
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "many", too_many, &n);
    CHECK_HAS(call_tool(&t, "many", asks_all, ""), "\"k63\":{");
    n++;
    CHECK_HAS(call_tool(&t, "many", asks_all, ""), "Tool 'many' failed");
    talk_close(&t);
}

static int big_state(struct pb_call *call, void *ctx)
{
    AUTO_BUF struct buf json = { 0 };
    const char *answer;

    (void)ctx;
    buf_byte(&json, '"');
    memset(buf_reserve(&json, MCP_STATE_BYTES_MAX), 'x', MCP_STATE_BYTES_MAX);
    json.n += MCP_STATE_BYTES_MAX;
    buf_byte(&json, '"');
    pb_call_set_state(call, buf_cstr(&json));
    return pb_ask_roots(call, "k", &answer);
}

TEST(a_state_that_is_too_large_fails_the_call)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, "big", big_state, NULL);
    CHECK_HAS(call_tool(&t, "big", asks_all, ""), "do not fit into a requestState of 65536 bytes");
    talk_close(&t);
}

static int misuse(struct pb_call *call, void *ctx)
{
    const char *how = ctx, *answer;

    if (strcmp(how, "schema") == 0)
        return pb_ask_form(call, "k", "m", "[]", &answer);
    if (strcmp(how, "params") == 0)
        return pb_ask_model(call, "k", "nothing", &answer);
    pb_call_set_state(call, "{");
    return 0;
}

TEST(questions_that_are_no_json_fail_the_call)
{
    static const char *const hows[] = { "schema", "params", "state" };
    struct talk t;

    for (size_t i = 0; i < ARRAY_LEN(hows); i++) {
        talk_open(&t, PEER_MEMORY, NULL);
        add(&t, "t", misuse, (void *)hows[i]);
        CHECK_HAS(call_tool(&t, "t", asks_all, ""), "Tool 't' failed");
        talk_close(&t);
    }
}

static int ask_prompt(struct pb_call *call, void *ctx)
{
    const char *answer;
    int rc = pb_ask_form(call, "user_context", "Context?", NAME_SCHEMA, &answer);

    (void)ctx;
    return rc < 0 ? rc : pb_reply_message(call, "user", answer);
}

static int ask_resource(struct pb_call *call, void *ctx)
{
    const char *answer;
    int rc = pb_ask_form(call, "user_context", "Context?", NAME_SCHEMA, &answer);

    (void)ctx;
    return rc < 0 ? rc : pb_reply_text(call, "%s", answer);
}

TEST(prompts_and_resources_may_ask_too)
{
    static const struct {
        const char *method, *params, *want;
    } cases[] = {
        { "prompts/get", "\"name\":\"p\",", "\"messages\":[{" },
        { "resources/read", "\"uri\":\"x:1\",", "\"contents\":[{" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf ask = { 0 }, state = { 0 };
        struct talk t;

        talk_open(&t, PEER_MEMORY, NULL);
        CHECK_INT(
            pb_server_add_prompt(t.server, &(struct pb_prompt){ "p", .get = ask_prompt }, NULL), 0);
        CHECK_INT(pb_server_add_template(
                      t.server, &(struct pb_resource){ "x:{a}", "r", .read = ask_resource }, NULL),
                  0);
        for (int round = 0; round < 2; round++) {
            ask.n = 0;
            buf_printf(&ask,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s%s\"_meta\":{"
                       "\"" META_VERSION "\":\"2026-07-28\",\"" META_CLIENT_CAPS "\":%s}}}",
                       cases[i].method, cases[i].params, round ? buf_cstr(&state) : "", elicits);
            talk_ask(&t, buf_cstr(&ask));
            CHECK_HAS(t.sent[0], round ? cases[i].want : "\"inputRequests\":{\"user_context\":");
            CHECK(round == 1 || !strstr(t.sent[0], "ttlMs"));
            if (!round)
                buf_str(&state, with_state(&t, "\"inputResponses\":{\"user_context\":" ALICE "},"));
        }
        talk_close(&t);
    }
}

/* ---- legacy: requests of our own ---------------------------------------------------------- */

static void start_legacy(struct talk *t, const char *revision, const char *caps, pb_handler *run,
                         void *ctx)
{
    talk_open(t, PEER_MEMORY, NULL);
    add(t, "t", run, ctx);
    talk_shake(t, revision, caps);
    talk_say(t, LEGACY("tools/call", "\"name\":\"t\""));
}

/* Answers the question that was sent as message n (from 0). */
static void answer(struct talk *t, size_t n, const char *result)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf text = { 0 };

    CHECK_INT(json_parse(&doc, span_of(t->sent[n]), NULL, NULL), 0);
    buf_str(&text, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_span(&text, json_text(json_get(json_root(&doc), "id")));
    buf_printf(&text, ",%s}", result);
    talk_say(t, buf_cstr(&text));
}

TEST(legacy_clients_are_asked_by_request)
{
    struct talk t;

    start_legacy(&t, "2025-06-18", elicits, greet, NULL);
    CHECK_HAS(talk_wait(&t, 1),
              "\"method\":\"elicitation/create\",\"params\":{\"message\":\"What is "
              "your name?\",\"requestedSchema\":" NAME_SCHEMA "}}");
    CHECK_INT(t.kinds[0], SEND_QUESTION);
    answer(&t, 0, "\"result\":" ALICE);
    CHECK_STR(talk_wait(&t, 2),
              RESULT "{\"content\":[{\"type\":\"text\",\"text\":\"Hello, Alice!\"}]}}");
    talk_close(&t);
}

TEST(legacy_questions_of_one_round_go_out_together)
{
    struct talk t;

    start_legacy(&t, "2025-11-25", asks_all, all_kinds, NULL);
    talk_wait(&t, 4);
    CHECK_HAS(t.sent[1], "\"mode\":\"url\"");
    CHECK_HAS(t.sent[1], "\"elicitationId\":\"");
    answer(&t, 3, "\"result\":{\"roots\":[]}");
    answer(&t, 1, "\"result\":{\"action\":\"accept\"}");
    answer(&t, 0, "\"result\":{\"action\":\"decline\"}");
    CHECK_INT(t.n, 4);
    answer(&t, 2, "\"result\":{\"role\":\"assistant\",\"model\":\"m\",\"content\":[]}");
    CHECK_HAS(talk_wait(&t, 5), "{\\\"action\\\":\\\"decline\\\"} {\\\"action\\\":\\\"accept\\\"}");
    talk_close(&t);
}

TEST(legacy_rounds_keep_their_state)
{
    struct talk t;

    start_legacy(&t, "2025-11-25", elicits, two_steps, NULL);
    talk_wait(&t, 1);
    answer(&t, 0, "\"result\":" ALICE);
    talk_wait(&t, 2);
    answer(&t, 1, "\"result\":{\"action\":\"accept\",\"content\":{\"name\":\"red\"}}");
    CHECK_HAS(talk_wait(&t, 3), "Alice likes red");
    talk_close(&t);
}

TEST(a_wrong_legacy_answer_is_asked_again_and_a_refusal_ends_the_call)
{
    struct talk t;

    start_legacy(&t, "2025-11-25", elicits, greet, NULL);
    talk_wait(&t, 1);
    answer(&t, 0, "\"result\":{\"action\":\"accept\",\"content\":{\"name\":1}}");
    CHECK_HAS(talk_wait(&t, 2), "elicitation/create");
    answer(&t, 1, "\"error\":{\"code\":-1,\"message\":\"the user left\"}");
    CHECK_STR(talk_wait(&t, 3),
              RESULT "{\"content\":[{\"type\":\"text\",\"text\":\"The client did not answer "
                     "'user_name': the user left\"}],\"isError\":true}}");
    talk_close(&t);
    start_legacy(&t, "2025-11-25", elicits, greet, NULL);
    talk_wait(&t, 1);
    answer(&t, 0, "\"result\":{\"action\":\"shrug\"}");
    CHECK_HAS(talk_wait(&t, 2), "The client did not answer 'user_name': ");
    talk_close(&t);
}

TEST(legacy_clients_that_cannot_be_asked_get_words)
{
    static const struct {
        const char *revision, *caps;
    } cases[] = {
        { "2025-11-25", "{}" },
        { "2025-03-26", "{\"elicitation\":{}}" }, /* it knows no such thing, whatever it says */
    };
    struct talk t;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        start_legacy(&t, cases[i].revision, cases[i].caps, greet, NULL);
        CHECK_STR(talk_wait(&t, 1),
                  RESULT "{\"content\":[{\"type\":\"text\",\"text\":\"Tool 't' needs a client with "
                         "the capability {\\\"elicitation\\\":{}}\"}],\"isError\":true}}");
        talk_close(&t);
    }
}

/* The tool's own time limit does not run while a person thinks. */
TEST(a_person_may_take_longer_than_a_tool)
{
    struct talk t;

    start_legacy(&t, "2025-11-25", elicits, greet, NULL);
    talk_wait(&t, 1);
    loop_advance(t.loop, MCP_TOOL_MS * 5);
    CHECK_INT(t.n, 1);
    answer(&t, 0, "\"result\":" ALICE);
    CHECK_HAS(talk_wait(&t, 2), "Alice");
    talk_close(&t);
    start_legacy(&t, "2025-11-25", elicits, greet, NULL);
    talk_wait(&t, 1);
    loop_advance(t.loop, MCP_ASK_MS);
    while (!strstr(t.sent[t.n - 1], "\"result\""))
        loop_turn(t.loop, true);
    CHECK_HAS(t.sent[t.n - 1], "The client did not answer 'user_name'");
    talk_close(&t);
}

TEST(cancelling_while_a_question_is_out_ends_the_call)
{
    struct talk t;

    start_legacy(&t, "2025-11-25", elicits, greet, NULL);
    talk_wait(&t, 1);
    talk_say(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                 "\"requestId\":1}}");
    loop_turn(t.loop, false);
    answer(&t, 0, "\"result\":" ALICE);
    while (loop_turn(t.loop, false))
        ;
    for (size_t i = 1; i < t.n; i++)
        CHECK(!strstr(t.sent[i], "\"result\""));
    talk_close(&t);
}
