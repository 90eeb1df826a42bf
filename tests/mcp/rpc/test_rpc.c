#include "base/base.h"
#include "io/io.h"
#include "mcp/rpc/rpc.h"
#include "patchbay.h"
#include "tap.h"
#include "json/json.h"

TEST(messages_are_told_apart)
{
    static const struct {
        const char *text;
        enum rpc_kind kind;
        const char *id, *why;
    } cases[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", RPC_REQUEST, "1", NULL },
        { "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"m\",\"params\":{}}", RPC_REQUEST, "\"\"",
          NULL },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":null}", RPC_REQUEST, "1",
          NULL },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", RPC_REQUEST, "1", NULL },
        { "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", RPC_NOTIFICATION, "", NULL },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}", RPC_RESPONSE, "1", NULL },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":null}", RPC_RESPONSE, "1", NULL },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{}}", RPC_ERROR, "1", NULL },
        { "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", RPC_ERROR, "", NULL },
        { "{\"jsonrpc\":\"2.0\",\"error\":{}}", RPC_ERROR, "", NULL },
        { "[]", RPC_BATCH, "", NULL },
        { "null", RPC_INVALID, "", "a message must be an object" },
        { "{\"id\":1,\"method\":\"m\"}", RPC_INVALID, "1", "jsonrpc must be \"2.0\"" },
        { "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", RPC_INVALID, "1",
          "jsonrpc must be \"2.0\"" },
        { "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", RPC_INVALID, "",
          "id must be a string or an integer" },
        { "{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"m\"}", RPC_INVALID, "",
          "id must be a string or an integer" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1e3,\"method\":\"m\"}", RPC_INVALID, "",
          "id must be a string or an integer" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":true}", RPC_INVALID, "1",
          "params must be an object" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":1,\"error\":{}}", RPC_INVALID, "1",
          "an answer has a result or an error, not both" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_INVALID, "1",
          "a message needs a method, a result or an error" },
        { "{\"jsonrpc\":\"2.0\",\"result\":1}", RPC_INVALID, "",
          "a result needs the id of its request" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"no\"}", RPC_INVALID, "1",
          "error must be an object" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        AUTO_ARENA struct arena arena = { 0 };
        struct rpc rpc;

        CHECK_INT(json_parse(&doc, span_of(cases[i].text), NULL, NULL), 0);
        rpc_read(&rpc, json_root(&doc), &arena);
        CHECK_INT(rpc.kind, cases[i].kind);
        CHECK_SPAN(rpc.id, cases[i].id);
        CHECK_INT(rpc.answers,
                  json_is(json_root(&doc), JSON_OBJECT) && !strstr(cases[i].text, "method"));
        if (cases[i].why) {
            CHECK_STR(rpc.why, cases[i].why);
            CHECK_INT(rpc.code, RPC_INVALID_REQUEST);
        }
    }
}

static bool id_of_length(size_t n)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };

    buf_byte(&text, '"');
    while (text.n < n - 1)
        buf_byte(&text, 'x');
    buf_byte(&text, '"');
    CHECK_INT(json_parse(&doc, buf_span(&text), NULL, NULL), 0);
    return rpc_id_valid(json_root(&doc));
}

TEST(ids_are_bounded)
{
    CHECK(id_of_length(RPC_ID_BYTES_MAX));
    CHECK(!id_of_length(RPC_ID_BYTES_MAX + 1));
    CHECK(!id_of_length((size_t)RPC_ID_BYTES_MAX * 100));
}

/* S2-63 */
TEST(the_id_is_found_in_the_head_of_a_message)
{
    static const struct {
        const char *head, *id;
    } cases[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":17,\"method\":\"m\"", "17" },
        { " \t{ \"id\" : \"a\\\"b\" , \"x\":", "\"a\\\"b\"" },
        { "{\"id\":-3}", "-3" },
        { "{\"params\":{\"id\":1,\"x\":[{\"id\":2}]},\"id\":3,", "3" },
        { "{\"a\":\"\\\"id\\\":4,\",\"id\":5,", "5" },
        { "{\"params\":{\"id\":1,", "" },
        { "{\"id\":12", "" }, /* may go on behind the head */
        { "{\"id\":\"abc", "" },
        { "{\"id\":null,", "" },
        { "{\"id\":1.5,", "" },
        { "{\"id\":{\"a\":1},", "" },
        { "{\"x\":\"id\",\"y\":7,", "" },
        { "[{\"id\":7}]", "" },
        { "{\"id", "" },
        { "{\"id\"", "" },
        { "{\"id\":", "" },
        { "{\"a\":\"\\", "" },
        { "", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_SPAN(rpc_id_peek(span_of(cases[i].head)), cases[i].id);
}

TEST(what_has_a_method_in_its_head_answers_nobody)
{
    static const struct {
        const char *head, *id;
    } cases[] = {
        { "{\"id\":1,\"method\":\"m\"", "" },
        { "{\"method\" : 3,\"id\":1,", "" },
        { "{\"id\":1,\"result\":{\"method\":1},", "1" },
        { "{\"x\":\"method\",\"id\":1,", "1" },
        { "{\"id\":1,\"result\":{\"text\":\"cut", "1" },
        { "{\"result\":{\"text\":\"cut", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_SPAN(rpc_answer_peek(span_of(cases[i].head)), cases[i].id);
}

TEST(errors_and_requests_are_written_whole)
{
    AUTO_BUF struct buf out = { 0 };

    rpc_write_error(&out, SPAN("\"x\""), -32000, SPAN("no \"way\""), SPAN("{\"a\":1}"));
    CHECK_SPAN(buf_span(&out), "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32000,"
                               "\"message\":\"no \\\"way\\\"\",\"data\":{\"a\":1}}}");
    out.n = 0;
    rpc_write_error(&out, SPAN(""), -32700, SPAN("\xff"), SPAN(""));
    CHECK_SPAN(buf_span(&out), "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
                               "\"message\":\"\xef\xbf\xbd\"}}");
    out.n = 0;
    rpc_write_request(&out, SPAN("7"), "m", SPAN("{}"));
    CHECK_SPAN(buf_span(&out), "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"m\",\"params\":{}}");
    out.n = 0;
    rpc_write_request(&out, SPAN(""), "m", SPAN(""));
    CHECK_SPAN(buf_span(&out), "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}");
}

TEST(revisions_are_newest_first_and_eras_split_at_the_right_date)
{
    for (const struct revision *r = mcp_revisions; r[1].date; r++)
        CHECK(strcmp(r->date, r[1].date) > 0);
    CHECK_INT(revision_find(SPAN("2025-11-25"))->era, ERA_LEGACY);
    CHECK_INT(revision_find(SPAN("2026-07-28"))->era, ERA_MODERN);
    CHECK(!revision_find(SPAN("2026-07-29")));
    CHECK(version_claims_modern(SPAN("2026-07-28")));
    CHECK(version_claims_modern(SPAN("2030-01-01")));
    CHECK(!version_claims_modern(SPAN("2025-11-25")));
    CHECK(!version_claims_modern(SPAN("v999.0.0")));
    CHECK(!version_claims_modern(SPAN("2026-07-280")));
    CHECK(!version_claims_modern(SPAN("")));
}

TEST(log_levels_have_names)
{
    enum pb_log_level level = PB_LOG_DEBUG;

    for (int i = PB_LOG_DEBUG; i <= PB_LOG_EMERGENCY; i++) {
        const char *name = log_level_name((enum pb_log_level)i);

        CHECK(log_level_parse(span_of(name), &level));
        CHECK_INT(level, i);
    }
    CHECK(!log_level_parse(SPAN("Debug"), &level));
    CHECK(!log_level_parse(SPAN(""), &level));
    CHECK_INT(level, PB_LOG_EMERGENCY);
    CHECK(!log_level_name((enum pb_log_level)8));
}
