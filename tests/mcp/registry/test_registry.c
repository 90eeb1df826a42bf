#include "mcp/serve/serve.h"
#include "mcp/talk.h"
#include <pthread.h>

static int nothing(struct pb_call *call, void *ctx)
{
    (void)call, (void)ctx;
    return 0;
}

static void add(struct talk *t, const struct pb_tool *tool)
{
    struct pb_error err;

    if (pb_server_add_tool(t->server, tool, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

/* ---- lists -------------------------------------------------------------------------------- */

#define EMPTY_SCHEMA \
    "{\"type\":\"object\",\"properties\":{},\"required\":[],\"additionalProperties\":false}"

/* S2-22 S2-23 S2-48 S2-85 */
TEST(tools_are_listed_in_the_order_of_registration)
{
    static const char *const asks[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":null}",
        LEGACY("tools/list", ""),
    };
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, &(struct pb_tool){ "zebra", .description = "last \"letter\"", .run = nothing });
    add(&t, &(struct pb_tool){ "ape", .description = "first", .run = nothing });
    talk_shake(&t, "2025-11-25", "{}");
    for (size_t i = 0; i < ARRAY_LEN(asks); i++)
        CHECK_STR(talk_ask(&t, asks[i]),
                  RESULT "{\"tools\":[{\"name\":\"zebra\",\"description\":\"last \\\"letter\\\"\","
                         "\"inputSchema\":" EMPTY_SCHEMA "},{\"name\":\"ape\",\"description\":"
                         "\"first\",\"inputSchema\":" EMPTY_SCHEMA "}]}}");
    talk_close(&t);
}

TEST(modern_lists_say_how_long_they_are_good)
{
    struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;
    struct talk t;

    opts.cache_ttl_ms = 5000;
    talk_open(&t, PEER_MEMORY, &opts);
    CHECK_STR(talk_ask(&t, MODERN("tools/list", "")),
              MODERN_RESULT ",\"tools\":[],\"ttlMs\":5000,\"cacheScope\":\"public\"}}");
    talk_close(&t);
}

static const struct pb_tool rich = {
    "rich",
    .title = "Rich",
    .description = "d",
    .output_schema = "{\"type\":\"object\"}",
    .icons = "[{\"src\":\"data:,\"}]",
    .meta = "{\n\"k\": 1\n}",
    .flags = PB_READ_ONLY | PB_ADDITIVE | PB_IDEMPOTENT | PB_CLOSED_WORLD,
    .run = nothing,
};

TEST(a_revision_sees_only_what_it_knows)
{
    static const struct {
        const char *revision;
        bool annotations, titles, icons;
    } cases[] = {
        { "2024-11-05", false, false, false },
        { "2025-03-26", true, false, false },
        { "2025-06-18", true, true, false },
        { "2025-11-25", true, true, true },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf want = { 0 };
        struct talk t;

        talk_open(&t, PEER_MEMORY, NULL);
        add(&t, &rich);
        talk_shake(&t, cases[i].revision, "{}");
        buf_printf(&want,
                   RESULT "{\"tools\":[{\"name\":\"rich\",%s\"description\":\"d\","
                          "\"inputSchema\":" EMPTY_SCHEMA "%s%s%s%s}]}}",
                   cases[i].titles ? "\"title\":\"Rich\"," : "",
                   cases[i].titles ? ",\"outputSchema\":{\"type\":\"object\"}" : "",
                   cases[i].annotations
                       ? ",\"annotations\":{\"readOnlyHint\":true,\"destructiveHint\":false,"
                         "\"idempotentHint\":true,\"openWorldHint\":false}"
                       : "",
                   cases[i].icons ? ",\"icons\":[{\"src\":\"data:,\"}]" : "",
                   cases[i].titles ? ",\"_meta\":{\"k\": 1}" : "");
        CHECK_STR(talk_ask(&t, LEGACY("tools/list", "")), buf_cstr(&want));
        talk_close(&t);
    }
}

TEST(output_schemas_that_are_no_objects_are_hidden_from_legacy_clients)
{
    struct pb_tool tool = { "t", .output_schema = "{\"type\":\"array\"}", .run = nothing };
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, &tool);
    CHECK_HAS(talk_ask(&t, MODERN("tools/list", "")), "\"outputSchema\":{\"type\":\"array\"}");
    talk_close(&t);
    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, &tool);
    talk_shake(&t, "2025-11-25", "{}");
    CHECK(!strstr(talk_ask(&t, LEGACY("tools/list", "")), "outputSchema"));
    talk_close(&t);
}

/* A schema of the program's own is offered as it was written, but for line breaks. */
TEST(raw_input_schemas_are_offered_as_written)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, &(struct pb_tool){ "t", .run = nothing,
                               .input_schema = " {\"$schema\":\"https://json-schema.org/draft/"
                                               "2020-12/schema\",\n \"type\": \"object\", "
                                               "\"x-more\": 1.0}\n" });
    talk_shake(&t, "2025-11-25", "{}");
    CHECK_HAS(talk_ask(&t, LEGACY("tools/list", "")),
              "\"inputSchema\":{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\", "
              "\"type\": \"object\", \"x-more\": 1.0}");
    talk_close(&t);
}

/* ---- paging ------------------------------------------------------------------------------- */

static void add_many(struct talk *t, int from, int to)
{
    for (int i = from; i < to; i++) {
        char name[16];

        snprintf(name, sizeof name, "t%d", i);
        add(t, &(struct pb_tool){ name, .run = nothing });
    }
}

/* The names of one page, and the cursor of the next (empty at the end). */
static void page(struct talk *t, const char *cursor, char *names, size_t size, char *next)
{
    AUTO_BUF struct buf ask = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct json result;

    buf_str(&ask, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{");
    if (cursor)
        buf_printf(&ask, "\"cursor\":\"%s\"", cursor);
    buf_str(&ask, "}}");
    CHECK_INT(json_parse(&doc, span_of(talk_ask(t, buf_cstr(&ask))), NULL, NULL), 0);
    result = json_get(json_root(&doc), "result");
    CHECK(json_is(result, JSON_OBJECT));
    names[0] = next[0] = '\0';
    JSON_FOREACH(tool, json_get(result, "tools"))
        snprintf(names + strlen(names), size - strlen(names), "%s ",
                 json_cstr(json_get(tool, "name"), &a));
    if (json_is(json_get(result, "nextCursor"), JSON_STRING))
        snprintf(next, 64, "%s", json_cstr(json_get(result, "nextCursor"), &a));
}

TEST(pages_follow_each_other_to_the_end)
{
    struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;
    char names[64], next[64];
    struct talk t;

    opts.page_items = 2;
    talk_open(&t, PEER_MEMORY, &opts);
    add_many(&t, 0, 5);
    talk_shake(&t, "2025-11-25", "{}");
    page(&t, NULL, names, sizeof names, next);
    CHECK_STR(names, "t0 t1 ");
    page(&t, next, names, sizeof names, next);
    CHECK_STR(names, "t2 t3 ");
    page(&t, next, names, sizeof names, next);
    CHECK_STR(names, "t4 ");
    CHECK_STR(next, "");
    page(&t, "", names, sizeof names, next);
    CHECK_STR(names, "t0 t1 ");
    talk_close(&t);
}

TEST(a_full_last_page_has_no_cursor)
{
    struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;
    char names[64], next[64];
    struct talk t;

    opts.page_items = 3;
    talk_open(&t, PEER_MEMORY, &opts);
    add_many(&t, 0, 3);
    talk_shake(&t, "2025-11-25", "{}");
    page(&t, NULL, names, sizeof names, next);
    CHECK_STR(names, "t0 t1 t2 ");
    CHECK_STR(next, "");
    talk_close(&t);
}

/* What was seen is not seen again, and nothing that stayed is missed. */
TEST(pages_survive_changes_of_the_list)
{
    struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;
    char names[64], next[64];
    struct talk t;

    opts.page_items = 2;
    talk_open(&t, PEER_MEMORY, &opts);
    add_many(&t, 0, 4);
    talk_shake(&t, "2025-11-25", "{}");
    page(&t, NULL, names, sizeof names, next);
    CHECK_INT(pb_server_remove_tool(t.server, "t1", NULL), 0);
    CHECK_INT(pb_server_remove_tool(t.server, "t2", NULL), 0);
    add_many(&t, 0, 1); /* replaced in its place */
    add_many(&t, 9, 10);
    loop_turn(t.loop, false);
    page(&t, next, names, sizeof names, next);
    CHECK_STR(names, "t3 t9 ");
    page(&t, NULL, names, sizeof names, next);
    CHECK_STR(names, "t0 t3 ");
    talk_close(&t);
}

TEST(cursors_that_we_did_not_give_are_refused)
{
    static const char *const cases[] = {
        "\"cursor\":\"x\"", "\"cursor\":\"!!\"",           "\"cursor\":7",
        "\"cursor\":{}",    "\"cursor\":\"cgAAAAAAAAAA\"", /* of another list */
    };
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    talk_shake(&t, "2025-11-25", "{}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf ask = { 0 };

        buf_printf(&ask, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{%s}}",
                   cases[i]);
        CHECK_STR(talk_ask(&t, buf_cstr(&ask)), FAILED("-32602", "Invalid cursor"));
    }
    CHECK_HAS(talk_ask(&t, LEGACY("tools/list", "\"cursor\":\"dP__________\"")), "\"tools\":[]");
    talk_close(&t);
}

TEST(a_default_page_holds_a_thousand)
{
    char next[64];
    static char names[16384];
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add_many(&t, 0, MCP_PAGE_ITEMS + 1);
    talk_shake(&t, "2025-11-25", "{}");
    page(&t, NULL, names, sizeof names, next);
    CHECK_HAS(names, " t999 ");
    CHECK(!strstr(names, "t1000 "));
    page(&t, next, names, sizeof names, next);
    CHECK_STR(names, "t1000 ");
    talk_close(&t);
}

/* ---- registering -------------------------------------------------------------------------- */

TEST(wrong_tools_are_refused_and_told_why)
{
    static const struct {
        struct pb_tool tool;
        const char *want;
    } cases[] = {
        { { NULL, .run = nothing }, "tool '': a tool's name has 1 to 128 characters" },
        { { "a b", .run = nothing }, "tool 'a b': the name may hold A-Z a-z 0-9 _ - . / only" },
        { { "t" }, "tool 't': has no function to run" },
        { { "t", .run = nothing, .input_schema = "{" }, "tool 't': input_schema: line 1" },
        { { "t", .run = nothing, .input_schema = "[]" },
          "tool 't': input_schema: expected a JSON object, got array" },
        { { "t", .run = nothing, .input_schema = "{\"type\":\"array\"}" },
          "tool 't': input_schema: the root must have \"type\": \"object\"" },
        { { "t", .run = nothing, .input_schema = "{\"type\":\"object\",\"required\":1}" },
          "tool 't': input_schema: " },
        { { "t", .run = nothing,
            .input_schema = "{\"type\":\"object\",\"$ref\":\"https://example.org/s\"}" },
          "tool 't': input_schema: " },
        { { "t", .run = nothing, .output_schema = "{\"type\":7}" }, "tool 't': output_schema: " },
        { { "t", .run = nothing, .icons = "{}" }, "tool 't': icons: expected a JSON array" },
        { { "t", .run = nothing, .meta = "[]" }, "tool 't': meta: expected a JSON object" },
        { { "t", .run = nothing, .flags = PB_DESTRUCTIVE | PB_ADDITIVE },
          "tool 't': has flags that contradict each other" },
        { { "t", .run = nothing, .flags = PB_OPEN_WORLD | PB_CLOSED_WORLD },
          "tool 't': has flags that contradict each other" },
    };
    static const struct pb_param twice[] = { { "a", PB_STRING, .header = "H" },
                                             { "b", PB_STRING, .header = "h" },
                                             { 0 } };
    struct pb_tool both = { "t", .run = nothing, .params = twice, .input_schema = "{}" };
    struct pb_tool headers = { "t", .run = nothing, .params = twice };
    struct pb_error err;
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(pb_server_add_tool(t.server, &cases[i].tool, &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, cases[i].want);
    }
    CHECK_INT(pb_server_add_tool(t.server, &both, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "give one of them");
    CHECK_INT(pb_server_add_tool(t.server, &headers, &err), -PB_E_INVALID);
    talk_shake(&t, "2025-11-25", "{}");
    CHECK_HAS(talk_ask(&t, LEGACY("tools/list", "")), "\"tools\":[]");
    talk_close(&t);
}

/* The bound, one past it. */
TEST(names_have_up_to_128_characters)
{
    char name[130];
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    memset(name, 'x', sizeof name);
    name[128] = '\0';
    CHECK_INT(pb_server_add_tool(t.server, &(struct pb_tool){ name, .run = nothing }, NULL), 0);
    name[128] = 'x';
    name[129] = '\0';
    CHECK_INT(pb_server_add_tool(t.server, &(struct pb_tool){ name, .run = nothing }, NULL),
              -PB_E_INVALID);
    talk_close(&t);
}

static int which(struct pb_call *call, void *ctx) { return pb_reply_text(call, "%s", (char *)ctx); }

TEST(a_name_that_exists_is_replaced_and_clients_are_told)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add(&t, &(struct pb_tool){ "t", .run = which, .ctx = (void *)"old" });
    talk_shake(&t, "2025-11-25", "{}");
    CHECK_HAS(talk_ask(&t, LEGACY("tools/call", "\"name\":\"t\"")), "old");
    talk_forget(&t);
    add(&t, &(struct pb_tool){ "t", .run = which, .ctx = (void *)"new" });
    CHECK_STR(talk_wait(&t, 1),
              "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    CHECK_HAS(talk_ask(&t, LEGACY("tools/call", "\"name\":\"t\"")), "new");
    CHECK_INT(pb_server_remove_tool(t.server, "t", NULL), 0);
    talk_forget(&t);
    talk_wait(&t, 1);
    CHECK_HAS(talk_ask(&t, LEGACY("tools/call", "\"name\":\"t\"")), "Unknown tool: t");
    talk_close(&t);
}

TEST(removing_what_is_not_there_is_not_found)
{
    struct pb_error err;
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    CHECK_INT(pb_server_remove_tool(t.server, "x", &err), -PB_E_NOT_FOUND);
    CHECK_STR(err.msg, "there is no tool 'x'");
    CHECK_INT(pb_server_remove_resource(t.server, "x", &err), -PB_E_NOT_FOUND);
    CHECK_INT(pb_server_remove_prompt(t.server, "x", &err), -PB_E_NOT_FOUND);
    talk_close(&t);
}

static void *registering(void *ctx)
{
    struct pb_server *server = ctx;

    for (int i = 0; i < 300; i++) {
        char name[24];
        struct pb_tool tool = { name, .run = which, .ctx = (void *)"x" };

        snprintf(name, sizeof name, "t%d", i % 10);
        if (i % 3 == 2)
            (void)pb_server_remove_tool(server, name, NULL);
        else if (pb_server_add_tool(server, &tool, NULL) < 0)
            TAP_FAIL("adding failed");
    }
    return NULL;
}

TEST(tools_come_and_go_from_other_threads_while_clients_use_them)
{
    pthread_t threads[3];
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    talk_shake(&t, "2025-11-25", "{}");
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_INT(pthread_create(&threads[i], NULL, registering, t.server), 0);
    for (int i = 0; i < 200; i++) {
        talk_forget(&t);
        talk_say(&t, LEGACY("tools/list", ""));
        talk_say(&t, LEGACY("tools/call", "\"name\":\"t3\""));
        loop_turn(t.loop, false);
    }
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    while (loop_turn(t.loop, false))
        talk_forget(&t);
    talk_close(&t);
}

/* ---- capabilities ------------------------------------------------------------------------- */

static const char *capabilities(struct talk *t)
{
    return talk_ask(t, MODERN("server/discover", ""));
}

static int read_it(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_text(call, "%s of %s", pb_call_uri(call), pb_call_name(call));
}

/* S2-19 */
TEST(what_is_announced_is_what_is_there)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    CHECK_HAS(talk_ask(&t, LEGACY("initialize", "\"protocolVersion\":\"2024-11-05\"")),
              "\"capabilities\":{\"tools\":{\"listChanged\":true},\"logging\":{}}");
    talk_close(&t);
    talk_open(&t, PEER_MEMORY, NULL);
    CHECK_HAS(capabilities(&t),
              "\"capabilities\":{\"tools\":{\"listChanged\":true},\"logging\":{}}");
    CHECK_HAS(talk_ask(&t, MODERN("resources/list", "")), "\"code\":-32601");
    CHECK_HAS(talk_ask(&t, MODERN("prompts/list", "")), "\"code\":-32601");
    CHECK_HAS(talk_ask(&t, MODERN("tasks/get", "")), "\"code\":-32601");
    CHECK_HAS(talk_ask(&t, MODERN("completion/complete", "")), "\"code\":-32601");
    CHECK_INT(pb_server_add_template(
                  t.server,
                  &(struct pb_resource){ "x:{a}", "n", .read = read_it, .complete = nothing },
                  NULL),
              0);
    CHECK_INT(pb_server_add_prompt(t.server, &(struct pb_prompt){ "p", .get = nothing }, NULL), 0);
    add(&t, &(struct pb_tool){ "t", .run = nothing, .flags = PB_TASK_ALLOWED });
    CHECK_HAS(
        capabilities(&t),
        "\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true,"
        "\"listChanged\":true},\"prompts\":{\"listChanged\":true},\"completions\":{},"
        "\"logging\":{},\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}");
    CHECK_HAS(talk_ask(&t, MODERN("resources/list", "")), "\"resources\":[]");
    talk_close(&t);
}

/* ---- resources ---------------------------------------------------------------------------- */

static int read_variable(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_resource(call, pb_call_uri(call), "application/json",
                             pb_arg_string(call, "id"));
}

static int read_blob(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_image(call, "\x89PNG", 4, "image/png");
}

static void add_resources(struct talk *t)
{
    static const struct pb_resource plain = { "test://plain",
                                              "plain",
                                              .title = "T",
                                              .description = "d",
                                              .mime_type = "text/plain",
                                              .annotations = "{\"priority\":1}",
                                              .size = 7,
                                              .read = read_it };
    static const struct pb_resource blob = { "test://blob", "blob", .read = read_blob,
                                             .flags = PB_ON_LOOP };
    static const struct pb_resource item = { "test://item/{id}", "item",
                                             .mime_type = "application/json",
                                             .read = read_variable };

    CHECK_INT(pb_server_add_resource(t->server, &plain, NULL), 0);
    CHECK_INT(pb_server_add_resource(t->server, &blob, NULL), 0);
    CHECK_INT(pb_server_add_template(t->server, &item, NULL), 0);
}

/* S2-99 */
TEST(resources_are_listed_and_read)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add_resources(&t);
    CHECK_STR(talk_ask(&t, MODERN("resources/list", "")), MODERN_RESULT
              ",\"resources\":[{\"uri\":\"test://plain\",\"name\":\"plain\",\"title\":\"T\","
              "\"description\":\"d\",\"mimeType\":\"text/plain\",\"annotations\":{\"priority\":1},"
              "\"size\":7},{\"uri\":\"test://blob\",\"name\":\"blob\"}],\"ttlMs\":0,"
              "\"cacheScope\":\"public\"}}");
    CHECK_STR(talk_ask(&t, MODERN("resources/templates/list", "")), MODERN_RESULT
              ",\"resourceTemplates\":[{\"uriTemplate\":\"test://item/{id}\",\"name\":\"item\","
              "\"mimeType\":\"application/json\"}],\"ttlMs\":0,\"cacheScope\":\"public\"}}");
    CHECK_STR(talk_ask(&t, MODERN("resources/read", "\"uri\":\"test://plain\",")),
              MODERN_RESULT ",\"contents\":[{\"uri\":\"test://plain\",\"mimeType\":\"text/plain\","
                            "\"text\":\"test://plain of plain\"}],\"ttlMs\":0,\"cacheScope\":"
                            "\"public\"}}");
    CHECK_HAS(talk_ask(&t, MODERN("resources/read", "\"uri\":\"test://blob\",")),
              "\"contents\":[{\"uri\":\"test://blob\",\"mimeType\":\"image/png\",\"blob\":"
              "\"iVBORw==\"}]");
    CHECK_HAS(talk_ask(&t, MODERN("resources/read", "\"uri\":\"test://item/a%20b\",")),
              "\"contents\":[{\"uri\":\"test://item/a%20b\",\"mimeType\":\"application/json\","
              "\"text\":\"a b\"}]");
    talk_close(&t);
}

TEST(unknown_resources_are_told_by_era)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    add_resources(&t);
    CHECK_STR(talk_ask(&t, MODERN("resources/read", "\"uri\":\"test://no\\\"ne\",")),
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Resource not "
              "found\",\"data\":{\"uri\":\"test://no\\\"ne\"}}}");
    CHECK_HAS(talk_ask(&t, MODERN("resources/read", "")), "uri: expected a string");
    talk_close(&t);
    talk_open(&t, PEER_MEMORY, NULL);
    add_resources(&t);
    talk_shake(&t, "2025-11-25", "{}");
    CHECK_HAS(
        talk_ask(&t, LEGACY("resources/read", "\"uri\":\"test://none\"")),
        "\"code\":-32002,\"message\":\"Resource not found\",\"data\":{\"uri\":\"test://none\"}");
    CHECK_STR(talk_ask(&t, LEGACY("resources/read", "\"uri\":\"test://plain\"")), RESULT
              "{\"contents\":[{\"uri\":\"test://plain\",\"mimeType\":\"text/plain\",\"text\":"
              "\"test://plain of plain\"}]}}");
    talk_close(&t);
}

/* An exact URI wins over a template; of templates, the first that fits. */
TEST(the_nearest_resource_answers)
{
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    CHECK_INT(pb_server_add_template(
                  t.server, &(struct pb_resource){ "x:{a}", "first", .read = read_it }, NULL),
              0);
    CHECK_INT(pb_server_add_template(
                  t.server, &(struct pb_resource){ "x:{+b}", "second", .read = read_it }, NULL),
              0);
    CHECK_INT(pb_server_add_resource(
                  t.server, &(struct pb_resource){ "x:1", "exact", .read = read_it }, NULL),
              0);
    talk_shake(&t, "2025-11-25", "{}");
    CHECK_HAS(talk_ask(&t, LEGACY("resources/read", "\"uri\":\"x:1\"")), "of exact");
    CHECK_HAS(talk_ask(&t, LEGACY("resources/read", "\"uri\":\"x:2\"")), "of first");
    CHECK_HAS(talk_ask(&t, LEGACY("resources/read", "\"uri\":\"x:2/3\"")), "of second");
    CHECK_HAS(talk_ask(&t, LEGACY("resources/subscribe", "\"uri\":\"x:2/3\"")), "\"result\":{}");
    CHECK_HAS(talk_ask(&t, LEGACY("resources/subscribe", "\"uri\":\"y:2\"")), "\"error\"");
    talk_close(&t);
}

TEST(wrong_resources_are_refused_and_told_why)
{
    static const struct {
        struct pb_resource r;
        const char *want;
    } cases[] = {
        { { NULL, "n", .read = nothing }, "resource '': a URI has 1 to 65536 bytes" },
        { { "x:", NULL, .read = nothing }, "resource 'x:': has no name" },
        { { "x:", "n" }, "resource 'x:': has no function to read it" },
        { { "x:", "n", .read = nothing, .complete = nothing },
          "resource 'x:': only templates have something to complete" },
        { { "x:", "n", .read = nothing, .annotations = "1" },
          "resource 'x:': annotations: expected a JSON object" },
    };
    struct pb_resource bad_template = { "x:{", "n", .read = nothing };
    struct pb_error err;
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(pb_server_add_resource(t.server, &cases[i].r, &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, cases[i].want);
    }
    CHECK_INT(pb_server_add_template(t.server, &bad_template, &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "resource 'x:{': '{' without '}' in a URI template");
    talk_close(&t);
}

/* ---- prompts ------------------------------------------------------------------------------ */

static int get_prompt(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_reply_message(call, "user", pb_arg_string(call, "who"));
    pb_reply_message_content(call, "assistant", "{\"type\":\"text\",\"text\":\"yes?\"}");
    pb_reply_image(call, "i", 1, "image/png");
    return pb_reply_resource(call, "test://r", "text/plain", "body");
}

static const struct pb_prompt_arg prompt_args[] = { { "who", "name", true },
                                                    { "how", NULL, false },
                                                    { 0 } };

TEST(prompts_are_listed_and_filled_in)
{
    struct pb_prompt prompt = { "greet", .title = "Greet", .description = "says hello",
                                .args = prompt_args, .get = get_prompt };
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    CHECK_INT(pb_server_add_prompt(t.server, &prompt, NULL), 0);
    talk_shake(&t, "2025-11-25", "{}");
    CHECK_STR(talk_ask(&t, LEGACY("prompts/list", "")),
              RESULT "{\"prompts\":[{\"name\":\"greet\",\"title\":\"Greet\",\"description\":\"says "
                     "hello\",\"arguments\":[{\"name\":\"who\",\"description\":\"name\","
                     "\"required\":true},{\"name\":\"how\",\"required\":false}]}]}}");
    CHECK_STR(
        talk_ask(&t, LEGACY("prompts/get", "\"name\":\"greet\",\"arguments\":{\"who\":\"Al\"}")),
        RESULT "{\"description\":\"says hello\",\"messages\":[{\"role\":\"user\",\"content\":{"
               "\"type\":\"text\",\"text\":\"Al\"}},{\"role\":\"assistant\",\"content\":{"
               "\"type\":\"text\",\"text\":\"yes?\"}},{\"role\":\"user\",\"content\":{\"type\":"
               "\"image\",\"data\":\"aQ==\",\"mimeType\":\"image/png\"}},{\"role\":\"user\","
               "\"content\":{\"type\":\"resource\",\"resource\":{\"uri\":\"test://r\","
               "\"mimeType\":\"text/plain\",\"text\":\"body\"}}}]}}");
    talk_close(&t);
}

static int wrong_role(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_message(call, "system", "x");
}

TEST(prompts_refuse_what_is_missing_or_no_string)
{
    static const struct {
        const char *params, *want;
    } cases[] = {
        { "\"name\":\"greet\"", "Missing required argument 'who'" },
        { "\"name\":\"greet\",\"arguments\":{\"how\":\"x\"}", "Missing required argument 'who'" },
        { "\"name\":\"greet\",\"arguments\":{\"who\":1}",
          "arguments.who: expected a string, got number" },
        { "\"name\":\"greet\",\"arguments\":[]", "arguments: expected an object, got array" },
        { "\"name\":\"none\"", "Unknown prompt: none" },
        { "", "name: expected a string, got nothing" },
    };
    struct pb_prompt prompt = { "greet", .args = prompt_args, .get = get_prompt };
    struct pb_prompt wrong = { "wrong", .get = wrong_role };
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    CHECK_INT(pb_server_add_prompt(t.server, &prompt, NULL), 0);
    CHECK_INT(pb_server_add_prompt(t.server, &wrong, NULL), 0);
    CHECK_INT(pb_server_add_prompt(t.server, &(struct pb_prompt){ "x" }, NULL), -PB_E_INVALID);
    CHECK_INT(pb_server_add_prompt(t.server, &(struct pb_prompt){ .get = wrong_role }, NULL),
              -PB_E_INVALID);
    talk_shake(&t, "2025-11-25", "{}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf ask = { 0 }, want = { 0 };

        buf_printf(&ask,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\",\"params\":{%s}}",
                   cases[i].params);
        buf_printf(&want, FAILED("-32602", "%s"), cases[i].want);
        CHECK_STR(talk_ask(&t, buf_cstr(&ask)), buf_cstr(&want));
    }
    CHECK_STR(talk_ask(&t, LEGACY("prompts/get", "\"name\":\"wrong\"")),
              FAILED("-32603", "Prompt 'wrong' failed"));
    talk_close(&t);
}

/* ---- completion --------------------------------------------------------------------------- */

static int suggest(struct pb_call *call, void *ctx)
{
    const int *n = ctx;
    char word[64];

    for (int i = 0; i < *n; i++) {
        snprintf(word, sizeof word, "%s%d", pb_complete_value(call), i);
        pb_complete_add(call, word);
    }
    if (pb_arg_has(call, "how"))
        pb_complete_add(call, pb_arg_string(call, "how"));
    return pb_complete_add(call, pb_complete_argument(call));
}

#define COMPLETE(ref, rest)       \
    LEGACY("completion/complete", \
           "\"ref\":" ref ",\"argument\":{\"name\":\"who\",\"value\":\"w\"}" rest)

TEST(completions_come_from_prompts_and_templates)
{
    int n = 2;
    struct pb_prompt prompt = { "greet", .args = prompt_args, .get = get_prompt,
                                .complete = suggest, .ctx = &n };
    struct pb_prompt plain = { "plain", .get = get_prompt };
    struct pb_resource tmpl = { "x:{who}", "n", .read = read_it, .complete = suggest, .ctx = &n };
    struct talk t;

    talk_open(&t, PEER_MEMORY, NULL);
    CHECK_INT(pb_server_add_prompt(t.server, &prompt, NULL), 0);
    CHECK_INT(pb_server_add_prompt(t.server, &plain, NULL), 0);
    CHECK_INT(pb_server_add_template(t.server, &tmpl, NULL), 0);
    talk_shake(&t, "2025-11-25", "{}");
    CHECK_STR(talk_ask(&t, COMPLETE("{\"type\":\"ref/prompt\",\"name\":\"greet\"}", "")),
              RESULT "{\"completion\":{\"values\":[\"w0\",\"w1\",\"who\"],\"total\":3,\"hasMore\":"
                     "false}}}");
    CHECK_HAS(talk_ask(&t, COMPLETE("{\"type\":\"ref/prompt\",\"name\":\"greet\"}",
                                    ",\"context\":{\"arguments\":{\"how\":\"well\"}}")),
              "[\"w0\",\"w1\",\"well\",\"who\"]");
    CHECK_HAS(talk_ask(&t, COMPLETE("{\"type\":\"ref/resource\",\"uri\":\"x:{who}\"}", "")),
              "\"total\":3");
    CHECK_HAS(talk_ask(&t, COMPLETE("{\"type\":\"ref/prompt\",\"name\":\"plain\"}", "")),
              "{\"values\":[],\"total\":0,\"hasMore\":false}");
    CHECK_STR(talk_ask(&t, COMPLETE("{\"type\":\"ref/prompt\",\"name\":\"none\"}", "")),
              FAILED("-32602", "Unknown reference: none"));
    CHECK_STR(talk_ask(&t, COMPLETE("{\"type\":\"ref/resource\",\"uri\":\"z:\"}", "")),
              FAILED("-32602", "Unknown reference: z:"));
    CHECK_HAS(talk_ask(&t, COMPLETE("{\"type\":\"ref/else\",\"name\":\"greet\"}", "")), "-32602");
    CHECK_HAS(talk_ask(&t, LEGACY("completion/complete", "")), "-32602");
    talk_close(&t);
}

/* The bound, one past it and far past it. */
TEST(a_hundred_suggestions_are_shown_and_all_are_counted)
{
    static const struct {
        int n, shown;
        const char *total;
    } cases[] = {
        { 99, 100, "\"total\":100,\"hasMore\":false" },
        { 100, 100, "\"total\":101,\"hasMore\":true" },
        { 5000, 100, "\"total\":5001,\"hasMore\":true" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int n = cases[i].n;
        struct pb_prompt prompt = { "p", .get = get_prompt, .complete = suggest, .ctx = &n };
        AUTO_JSON struct json_doc doc = { 0 };
        struct json completion;
        struct talk t;

        talk_open(&t, PEER_MEMORY, NULL);
        CHECK_INT(pb_server_add_prompt(t.server, &prompt, NULL), 0);
        talk_shake(&t, "2025-11-25", "{}");
        CHECK_HAS(talk_ask(&t, COMPLETE("{\"type\":\"ref/prompt\",\"name\":\"p\"}", "")),
                  cases[i].total);
        CHECK_INT(json_parse(&doc, span_of(t.sent[0]), NULL, NULL), 0);
        completion = json_get(json_get(json_root(&doc), "result"), "completion");
        CHECK_INT(json_len(json_get(completion, "values")), cases[i].shown);
        talk_close(&t);
    }
}
