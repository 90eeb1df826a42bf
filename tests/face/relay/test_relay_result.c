#include "face/relay_rig.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "mcp/serve/server_impl.h"

static const enum era client_eras[] = { ERA_LEGACY, ERA_MODERN };

/* alpha and beta list the same URI, so that beta's is written in another way. */
static void open_two(struct hub_rig *rig, struct down *d, enum era era, const char *result)
{
    struct fake_server *a, *b;

    rig_init(rig, NULL);
    a = fakes_add(&rig->fakes, "alpha");
    b = fakes_add(&rig->fakes, "beta");
    fake_resource(a, "file:///same", "A");
    fake_resource(b, "file:///same", "B");
    fake_resource(b, "file:///own", "own");
    fake_tool(b, "links", FAKE_RAW)->text = result;
    fake_prompt(b, "p", "P");
    rig_connect(rig, a);
    rig_connect(rig, b);
    down_open(d, rig, PEER_STDIO, era, "{}");
}

/* How beta's URI is written. */
static const char *outward(struct hub_rig *rig, const char *uri)
{
    static struct arena a;
    size_t steps = CATALOG_STEPS_MAX;

    return arena_dup(&a, catalog_out_uri(hub_catalog(rig->hub), &rig_host(rig, NULL)->scope, "beta",
                                         span_of(uri), &a, &steps));
}

TEST(uris_in_results_are_those_that_the_client_can_ask_for)
{
    static const struct {
        const char *before, *after; /* around the URI */
    } rows[] = {
        { "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"",
          "\",\"name\" : \"n\"}],\"z\":1.0}" },
        { "{\"content\":[{\"type\":\"text\",\"text\":\"file:///same\"},{\"type\":\"resource\","
          "\"resource\":{\"text\":\"file:///same\",\"uri\":\"",
          "\"}}]}" },
        { "{\"structuredContent\":{\"uri\":\"file:///same\",\"type\":\"resource_link\"},\"content\":"
          "[{\"uri\":\"",
          "\",\"type\":\"resource_link\"}]}" },
    };

    for (size_t c = 0; c < ARRAY_LEN(client_eras); c++)
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            AUTO_BUF struct buf said = { 0 }, told = { 0 };
            struct hub_rig rig;
            struct down d;
            const char *out;

            buf_printf(&said, "%sfile:///same%s", rows[i].before, rows[i].after);
            open_two(&rig, &d, client_eras[c], buf_cstr(&said));
            out = outward(&rig, "file:///same");
            CHECK(strcmp(out, "file:///same") != 0);
            down_call(&d, 1, "beta__links", "");
            buf_printf(&told, "%s%s%s", rows[i].before + 1, out, rows[i].after);
            CHECK_HAS(down_next(&d), buf_cstr(&told));
            down_close(&d);
            rig_done(&rig);
        }
}

TEST(uris_that_nobody_else_has_stay_as_they_are_and_can_be_read)
{
    static const char result[] =
        "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"made:\\u002fup\",\"name\":\"n\"}]}";
    AUTO_ARENA struct arena a = { 0 };
    struct uri_route to;
    struct hub_rig rig;
    struct down d;

    open_two(&rig, &d, ERA_LEGACY, result);
    CHECK(!catalog_route(hub_catalog(rig.hub), &rig_host(&rig, NULL)->scope, SPAN("made:/up"), &a)
               .server);
    down_call(&d, 1, "beta__links", "");
    CHECK_HAS(down_next(&d), result + 1);
    to = catalog_route(hub_catalog(rig.hub), &rig_host(&rig, NULL)->scope, SPAN("made:/up"), &a);
    CHECK_STR(to.server, "beta");
    CHECK_SPAN(to.uri, "made:/up");
    down_close(&d);
    rig_done(&rig);
}

TEST(what_is_read_has_the_uri_that_was_asked_for)
{
    for (size_t c = 0; c < ARRAY_LEN(client_eras); c++) {
        AUTO_BUF struct buf params = { 0 }, told = { 0 };
        struct hub_rig rig;
        struct down d;
        const char *out;

        open_two(&rig, &d, client_eras[c], "{}");
        out = outward(&rig, "file:///same");
        buf_printf(&params, "\"uri\":\"%s\",", out);
        down_request(&d, 1, "resources/read", buf_cstr(&params), "");
        buf_printf(&told, "\"contents\":[{\"uri\":\"%s\",\"text\":\"B\"}]", out);
        CHECK_HAS(down_next(&d), buf_cstr(&told));
        down_request(&d, 2, "resources/read", "\"uri\":\"file:///same\",", "");
        CHECK_HAS(down_next(&d), "\"contents\":[{\"uri\":\"file:///same\",\"text\":\"A\"}]");
        down_close(&d);
        rig_done(&rig);
    }
}

static bool linked_prompt(void *ctx, struct request *r)
{
    if (!span_is(r->method, "prompts/get"))
        return fake_handle(ctx, r);
    request_reply(r, SPAN("{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"resource\","
                          "\"resource\":{\"uri\":\"file:///same\",\"text\":\"t\"}}},"
                          "{\"role\":\"user\",\"content\":[{\"type\":\"resource_link\",\"uri\":"
                          "\"file:///same\"},{\"type\":\"resource_link\",\"uri\":\"x:y\"}]}]}"));
    return true;
}

TEST(uris_in_prompts_are_those_that_the_client_can_ask_for)
{
    AUTO_BUF struct buf told = { 0 };
    struct provider linked = fake_provider;
    struct hub_rig rig;
    struct down d;
    const char *out;

    linked.handle = linked_prompt;
    open_two(&rig, &d, ERA_LEGACY, "{}");
    rig.fakes.servers[1]->server->provider = &linked;
    out = outward(&rig, "file:///same");
    down_request(&d, 1, "prompts/get", "\"name\":\"beta__p\",", "");
    buf_printf(&told,
               "{\"uri\":\"%s\",\"text\":\"t\"}}},{\"role\":\"user\",\"content\":[{\"type\":"
               "\"resource_link\",\"uri\":\"%s\"},{\"type\":\"resource_link\",\"uri\":\"x:y\"}]}]}",
               out, out);
    CHECK_HAS(down_next(&d), buf_cstr(&told));
    down_close(&d);
    rig_done(&rig);
}

TEST(modern_clients_are_told_how_long_what_they_read_is_good)
{
    struct fake_server *f;
    struct hub_rig rig;
    struct down d, old;

    rig_init(&rig, NULL);
    f = fakes_add(&rig.fakes, "alpha");
    f->era = PB_ERA_LEGACY;
    fake_resource(f, "file:///a", "A");
    rig_connect(&rig, f);
    down_open(&d, &rig, PEER_STDIO, ERA_MODERN, "{}");
    down_open(&old, &rig, PEER_STDIO, ERA_LEGACY, "{}");
    down_request(&d, 1, "resources/read", "\"uri\":\"file:///a\",", "");
    CHECK_HAS(down_next(&d), "\"text\":\"A\"}],\"ttlMs\":0,\"cacheScope\":\"private\"}");
    down_request(&old, 1, "resources/read", "\"uri\":\"file:///a\",", "");
    CHECK_HAS(down_next(&old),
              "\"result\":{\"contents\":[{\"uri\":\"file:///a\",\"text\":\"A\"}]}}");
    down_close(&d);
    down_close(&old);
    rig_done(&rig);
}

TEST(structure_that_is_no_object_is_text_for_a_legacy_client)
{
    static const struct {
        const char *said, *legacy, *modern;
    } rows[] = {
        { "{\"content\":[],\"structuredContent\":[1.0,\"a\"]}",
          "{\"content\":[{\"type\":\"text\",\"text\":\"[1.0,\\\"a\\\"]\"}]}",
          "\"content\":[],\"structuredContent\":[1.0,\"a\"]}" },
        { "{\"structuredContent\" : 7 , \"content\":[{\"type\":\"text\",\"text\":\"7\"}]}",
          "{ \"content\":[{\"type\":\"text\",\"text\":\"7\"}]}",
          "\"structuredContent\" : 7 , \"content\":[{\"type\":\"text\",\"text\":\"7\"}]}" },
        { "{\"content\":[{\"type\":\"text\",\"text\":\"n\"}] ,\"structuredContent\":null,\"x\":1}",
          "{\"content\":[{\"type\":\"text\",\"text\":\"n\"}] ,\"x\":1}",
          "\"structuredContent\":null,\"x\":1}" },
        { "{\"content\":[],\"structuredContent\":{\"a\":[1]}}",
          "{\"content\":[],\"structuredContent\":{\"a\":[1]}}",
          "\"content\":[],\"structuredContent\":{\"a\":[1]}}" },
    };

    for (size_t c = 0; c < ARRAY_LEN(client_eras); c++)
        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            AUTO_BUF struct buf told = { 0 };
            struct hub_rig rig;
            struct down d;

            rig_init(&rig, NULL);
            rig_tool(&rig, "alpha", PB_ERA_MODERN, "raw", FAKE_RAW)->text = rows[i].said;
            down_open(&d, &rig, PEER_STDIO, client_eras[c], "{}");
            down_call(&d, 1, "alpha__raw", "");
            buf_printf(&told, "%s}",
                       client_eras[c] == ERA_LEGACY ? rows[i].legacy + 1 : rows[i].modern);
            CHECK_HAS(down_next(&d), buf_cstr(&told));
            down_close(&d);
            rig_done(&rig);
        }
}

TEST(a_large_result_is_sent_from_where_it_lies)
{
    enum { LARGE = 10 << 20 };

    for (size_t c = 0; c < ARRAY_LEN(client_eras); c++) {
        struct buf text = { 0 };
        struct hub_rig rig;
        struct down d;

        rig_init(&rig, NULL);
        buf_str(&text, "{\"content\":[{\"type\":\"text\",\"text\":\"");
        memset(buf_reserve(&text, LARGE), 'x', LARGE);
        text.n += LARGE;
        buf_str(&text, "\"}]}");
        rig_tool(&rig, "alpha", PB_ERA_MODERN, "large", FAKE_RAW)->text = buf_cstr(&text);
        down_open(&d, &rig, PEER_STDIO, client_eras[c], "{}");
        down_call(&d, 1, "alpha__large", "");
        CHECK(strlen(down_next(&d)) > LARGE);
        CHECK(host_server(rig_host(&rig, NULL))->out.cap <
              65536); /* where answers of ours are written */
        buf_done(&text);
        down_close(&d);
        rig_done(&rig);
    }
}

/* {"content":[{"type":"resource_link","uri":FIRST},...,{"type":"resource_link","uri":LAST}]} */
static void many_links(struct buf *out, struct span first, size_t n, const char *last)
{
    buf_str(out, "{\"content\":[");
    for (size_t i = 0; i < n; i++) {
        buf_str(out, "{\"type\":\"resource_link\",\"uri\":");
        json_quote(out, first);
        buf_str(out, "},");
    }
    buf_printf(out, "{\"type\":\"resource_link\",\"uri\":\"%s\"}]}", last);
}

/* What the client is told of a result with such links. */
static const char *told_of_links(struct hub_rig *rig, struct down *d, struct span first, size_t n,
                                 const char *last)
{
    static struct buf said;

    said.n = 0;
    many_links(&said, first, n, last);
    open_two(rig, d, ERA_LEGACY, buf_cstr(&said));
    return down_call(d, 1, "beta__links", ""), down_next(d);
}

TEST(so_many_uris_of_a_result_are_looked_at_and_no_more)
{
    for (size_t i = 0; i < 2; i++) {
        struct hub_rig rig;
        struct down d;
        const char *told =
            told_of_links(&rig, &d, SPAN("x:y"), RELAY_URIS_MAX - 1 + i, "file:///same");

        CHECK_INT(strstr(told, "\"patchbay://beta/file:///same\"") != NULL, i == 0);
        CHECK_INT(strstr(told, "\"file:///same\"") != NULL, i == 1);
        down_close(&d);
        rig_done(&rig);
    }
}

/* MCP Apps: a host reads the page that the result names. */
TEST(the_page_of_a_result_is_the_one_of_its_server)
{
    static const char *const keys[][2] = {
        { "\"ui\":{\"resourceUri\":", "}" },
        { "\"ui/resourceUri\":", "" },
        { "\"openai/outputTemplate\":", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        AUTO_BUF struct buf said = { 0 }, told = { 0 };
        struct hub_rig rig;
        struct down d;

        buf_printf(&said, "{\"content\":[],\"_meta\":{%s\"ui://w\"%s,\"z\":\"ui://w\"}}",
                   keys[i][0], keys[i][1]);
        buf_printf(&told, "%s\"ui://patchbay/beta/ui://w\"%s,\"z\":\"ui://w\"}", keys[i][0],
                   keys[i][1]);
        open_two(&rig, &d, ERA_LEGACY, buf_cstr(&said));
        rig_list(&rig, "alpha", LIST_RESOURCES, "[{\"uri\":\"ui://w\"}]");
        down_call(&d, 1, "beta__links", "");
        CHECK_HAS(down_next(&d), buf_cstr(&told));
        down_close(&d);
        rig_done(&rig);
    }
}
