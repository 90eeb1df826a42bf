#include "mcp/registry/registry.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "mcp/talk.h"

/* A provider that answers with what the test says. */
struct answer {
    const char *result;
    struct edit edits[40];
    size_t n;
    const char *error;
    int code;
};

static void no_capabilities(void *ctx, struct json_out *o, const struct envelope *env)
{
    (void)ctx, (void)o, (void)env;
}

static bool answer(void *ctx, struct request *r)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct answer *a = ctx;
    struct span whole = span_of(a->error);

    if (a->error) {
        request_pass_error(r, a->code, &whole, 1);
        return true;
    }
    CHECK_INT(json_parse(&doc, span_of(a->result), NULL, NULL), 0);
    request_reply_edited(r, json_root(&doc), a->edits, a->n);
    return true;
}

static const struct provider provider = { .capabilities = no_capabilities, .handle = answer };

#define INFO "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"t\",\"version\":\"1\"}"
#define NEW_REQUEST                                                                         \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"_meta\":{\"" META_VERSION \
    "\":\"2026-07-28\",\"" META_CLIENT_CAPS "\":{}}}}"
#define OLD_REQUEST "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}"

/* The result (or error) of the one message that was sent. */
static const char *asked(struct answer *a, const char *request, int *status)
{
    static char text[4096];
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    server_set_provider(t.server, &provider, a);
    talk_say(&t, request);
    CHECK_INT(t.n, 1);
    snprintf(text, sizeof text, "%s", t.sent[0]);
    if (status)
        *status = t.http_status;
    talk_close(&t);
    return text;
}

static void edit_at(struct answer *a, const char *old, const char *put)
{
    a->edits[a->n++] =
        (struct edit){ (size_t)(strstr(a->result, old) - a->result), strlen(old), span_of(put) };
}

TEST(edits_of_a_result_leave_all_other_bytes_alone)
{
    static const struct {
        const char *result, *old, *put, *legacy, *modern;
    } rows[] = {
        { "{\"a\" : 1.0, \"b\":\"x\"}", "\"x\"", "\"yy\"", "{\"a\" : 1.0, \"b\":\"yy\"}",
          "{\"resultType\":\"complete\",\"_meta\":{" INFO "},\"a\" : 1.0, \"b\":\"yy\"}" },
        { "{\"b\":\"x\",\"_meta\":{\"k\":1}}", "\"x\"", "2", "{\"b\":2,\"_meta\":{\"k\":1}}",
          "{\"resultType\":\"complete\",\"b\":2,\"_meta\":{" INFO ",\"k\":1}}" },
        { "{\"_meta\":{},\"b\":\"x\"}", "\"x\"", "2", "{\"_meta\":{},\"b\":2}",
          "{\"resultType\":\"complete\",\"_meta\":{" INFO "},\"b\":2}" },
        { "{\"_meta\":{" INFO "},\"resultType\":\"complete\",\"b\":[\"x\"]}", "\"x\"", "",
          "{\"_meta\":{" INFO "},\"resultType\":\"complete\",\"b\":[]}",
          "{\"_meta\":{" INFO "},\"resultType\":\"complete\",\"b\":[]}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct answer a = { .result = rows[i].result };

        edit_at(&a, rows[i].old, rows[i].put);
        CHECK_HAS(asked(&a, OLD_REQUEST, NULL), rows[i].legacy);
        CHECK_HAS(asked(&a, NEW_REQUEST, NULL), rows[i].modern);
    }
}

TEST(a_result_may_have_many_edits)
{
    struct answer a = { .result = "{\"v\":[0,1,2,3,4,5,6,7,8,9],\"w\":[\"A\",\"B\",\"C\",\"D\"]}" };
    static const char *const old[] = { "0", "1", "2", "3", "4", "5", "6",
                                       "7", "8", "9", "A", "B", "C", "D" };

    for (size_t i = 0; i < ARRAY_LEN(old); i++)
        edit_at(&a, old[i], "--");
    a.edits[0].put = SPAN("10");
    for (size_t i = 1; i < 10; i++)
        a.edits[i].put = SPAN("11");
    CHECK_HAS(asked(&a, OLD_REQUEST, NULL),
              "[10,11,11,11,11,11,11,11,11,11],\"w\":[\"--\",\"--\",");
    CHECK_HAS(asked(&a, NEW_REQUEST, NULL),
              "[10,11,11,11,11,11,11,11,11,11],\"w\":[\"--\",\"--\",");
}

TEST(an_error_of_another_is_passed_on_as_it_was_and_in_band)
{
    static const struct {
        int code, status;
    } rows[] = { { -32020, 200 }, { -32601, 200 }, { -32700, 200 }, { -32021, 400 }, { 7, 200 } };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char error[128], whole[256];
        struct answer a = { .error = error, .code = rows[i].code };
        int status;

        snprintf(error, sizeof error, "{\"message\" : \"m\\u0041\",\"code\":%d,\"data\":1.0}",
                 rows[i].code);
        snprintf(whole, sizeof whole, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":%s}", error);
        CHECK_STR(asked(&a, NEW_REQUEST, &status), whole);
        CHECK_INT(status, rows[i].status);
        CHECK_STR(asked(&a, OLD_REQUEST, &status), whole);
        CHECK_INT(status, 200);
    }
}
