#include "base/base.h"
#include "io/io.h"
#include "mcp/rpc/rpc.h"
#include "patchbay.h"
#include "tap.h"
#include "json/json.h"
#include <pthread.h>

static struct message *read_text(const char *text) { return message_new(blob_new(span_of(text))); }

TEST(a_message_keeps_its_bytes_as_they_came)
{
    AUTO(message)
    struct message *m =
        read_text("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\u0062\",\"params\":{\"x\":1.0}}");

    CHECK_INT(m->rpc.kind, RPC_REQUEST);
    CHECK_SPAN(m->rpc.method, "ab");
    CHECK_SPAN(json_text(m->rpc.params), "{\"x\":1.0}");
    CHECK(!m->claims_modern);
}

TEST(a_claim_is_a_version_that_is_a_string)
{
    static const struct {
        const char *meta;
        bool claims;
        const char *version;
    } cases[] = {
        { "{\"" META_VERSION "\":\"2026-07-28\"}", true, "2026-07-28" },
        { "{\"io.modelcontextprotocol\\/protocolVersion\":\"2026-07-\\u00328\"}", true,
          "2026-07-28" },
        { "{\"" META_VERSION "\":\"\"}", true, "" },
        { "{\"" META_VERSION "\":2026}", false, "" },
        { "{\"" META_VERSION "\":null}", false, "" },
        { "{}", false, "" },
        { "[]", false, "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf text = { 0 };
        AUTO(message) struct message *m = NULL;

        buf_printf(&text, "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"_meta\":%s}}",
                   cases[i].meta);
        m = read_text(buf_cstr(&text));
        CHECK_INT(m->claims_modern, cases[i].claims);
        CHECK_SPAN(m->claimed_version, cases[i].version);
    }
}

/* S2-61 */
TEST(what_is_no_json_says_why)
{
    static const struct {
        const char *text;
        int code;
        const char *why, *id;
    } cases[] = {
        { "{\"a\":\"\xc3\x28\"}", RPC_PARSE_ERROR, "invalid UTF-8", "" },
        { "{\"id\":1,", RPC_PARSE_ERROR, "line 1", "" },
        { "", RPC_PARSE_ERROR, "line 1", "" },
        { "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"m\",\"params\":{\"a\":[{\"b\":1,\"\\u0062\":2}]}}",
          RPC_INVALID_REQUEST, "twice", "4" },
        { "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"m\",\"method\":\"n\"}", RPC_INVALID_REQUEST,
          "twice", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(message) struct message *m = read_text(cases[i].text);

        CHECK_INT(m->rpc.kind, RPC_INVALID);
        CHECK_INT(m->rpc.code, cases[i].code);
        CHECK_HAS(m->rpc.why, cases[i].why);
        CHECK_SPAN(m->rpc.id, cases[i].id);
    }
}

TEST(nesting_past_the_bound_is_refused_with_the_id)
{
    for (int past = 0; past < 2; past++) {
        AUTO_BUF struct buf text = { 0 };
        AUTO(message) struct message *m = NULL;
        int depth = JSON_DEPTH_MAX - 1 + past; /* the message itself is one level */

        buf_str(&text, "{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"method\":\"m\",\"params\":");
        for (int i = 0; i < depth; i++)
            buf_byte(&text, '[');
        for (int i = 0; i < depth; i++)
            buf_byte(&text, ']');
        buf_byte(&text, '}');
        m = read_text(buf_cstr(&text));
        CHECK_INT(m->rpc.kind, past ? RPC_INVALID : RPC_REQUEST);
        CHECK_SPAN(m->rpc.id, "\"d\"");
        if (past)
            CHECK_INT(m->rpc.code, RPC_INVALID_REQUEST);
    }
}

TEST(elements_of_a_batch_outlive_it)
{
    struct message *batch = read_text("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"},7]");
    struct message *first, *second;

    CHECK_INT(batch->rpc.kind, RPC_BATCH);
    first = message_of_element(batch, json_item(json_root(&batch->doc), 0));
    second = message_of_element(batch, json_item(json_root(&batch->doc), 1));
    message_free(batch);
    CHECK_INT(first->rpc.kind, RPC_REQUEST);
    CHECK_SPAN(first->rpc.method, "a");
    CHECK_INT(second->rpc.kind, RPC_INVALID);
    message_free(first);
    message_free(second);
    message_free(NULL);
}

/* A message that follows another costs nothing. */
TEST(messages_are_used_again)
{
    static const char text[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"echo\",\"arguments\":{\"text\":\"a\\nb\"}}}";
    uint64_t before;

    message_free(read_text(text));
    before = mem_count();
    for (int i = 0; i < 100; i++)
        message_free(read_text(text));
    CHECK_INT(mem_count() - before, 0);
}

static void *read_and_free(void *ctx)
{
    struct message *many[MCP_SPARE_MAX + 5];

    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        many[i] = read_text(ctx);
    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        message_free(many[i]);
    return NULL;
}

TEST(a_thread_leaves_nothing_behind)
{
    static char text[] = "{\"jsonrpc\":\"2.0\",\"method\":\"a\\u0062\"}";
    pthread_t threads[4];

    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_INT(pthread_create(&threads[i], NULL, read_and_free, text), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
}
