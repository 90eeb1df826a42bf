#include "face/relay_rig.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

static const enum era client_eras[] = { ERA_LEGACY, ERA_MODERN };
static const enum pb_era server_eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

/* ---- plain calls -------------------------------------------------------------------------- */

TEST(results_and_arguments_pass_as_the_bytes_they_were)
{
    static const char odd[] =
        "{\"content\" : [ {\"text\":\"\\u0041\\ud800\", \"type\":\"text\",\"n\":1.0,"
        "\"big\":12345678901234567890} ],\"unknown\":{\"k\":1e400}}";

    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
        for (size_t c = 0; c < ARRAY_LEN(client_eras); c++) {
            struct hub_rig rig;
            struct down d;

            rig_init(&rig, NULL);
            rig_tool(&rig, "alpha", server_eras[s], "odd", FAKE_RAW)->text = odd;
            down_open(&d, &rig, PEER_STDIO, client_eras[c], "{}");
            down_call(&d, 7, "alpha__odd", "\"arguments\":{\"b\" : 1.0,\"a\":\"\\u0041\"},");
            CHECK_HAS(down_next(&d), odd + 1);
            CHECK_HAS(down_last(&d), "\"id\":7");
            CHECK_STR(rig.fakes.servers[0]->last_args, "{\"b\" : 1.0,\"a\":\"\\u0041\"}");
            if (client_eras[c] == ERA_MODERN)
                CHECK_HAS(down_last(&d), "\"resultType\":\"complete\"");
            down_close(&d);
            rig_done(&rig);
        }
}

TEST(what_a_server_is_told_about_the_client_is_what_it_can_be_asked_through_us)
{
    static const struct {
        enum era era;
        const char *caps, *told;
    } rows[] = {
        { ERA_MODERN, ASKS_ALL,
          "{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{\"tools\":{}},\"roots\":{},"
          "\"extensions\":{\"" EXT_TASKS "\":{}}}" },
        { ERA_MODERN, "{}", "{}" },
        { ERA_MODERN, "{\"extensions\":{\"a/b\":{\"c\":1.0},\"" EXT_TASKS "\":{}}}",
          "{\"extensions\":{\"a/b\":{\"c\":1.0},\"" EXT_TASKS "\":{}}}" },
        { ERA_LEGACY, "{\"extensions\":{\"a/b\":{\"c\":1.0},\"" EXT_TASKS "\":{}}}",
          "{\"extensions\":{\"a/b\":{\"c\":1.0}}}" },
        { ERA_LEGACY, "{\"roots\":{\"listChanged\":true},\"tasks\":{\"list\":{}},\"sampling\":{}}",
          "{\"roots\":{\"listChanged\":true},\"sampling\":{}}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct hub_rig rig;
        struct down d;
        struct fake_server *f;

        rig_init(&rig, NULL);
        rig_tool(&rig, "alpha", PB_ERA_MODERN, "hang", FAKE_HANG);
        f = rig.fakes.servers[0];
        down_open(&d, &rig, PEER_STDIO, rows[i].era, rows[i].caps);
        down_call(&d, 1, "alpha__hang", "");
        FAKES_UNTIL(&rig.fakes, f->n_held == 1);
        CHECK_SPAN(fake_held(f, 0)->env.client_caps, rows[i].told);
        fake_release(f, 0, "ok");
        down_next(&d);
        down_close(&d);
        rig_done(&rig);
    }
}

TEST(progress_reaches_only_its_own_call)
{
    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
        for (size_t c = 0; c < ARRAY_LEN(client_eras); c++) {
            struct hub_rig rig;
            struct down a, b;
            struct fake_server *f;

            rig_init(&rig, NULL);
            rig_tool(&rig, "alpha", server_eras[s], "hang", FAKE_HANG);
            f = rig.fakes.servers[0];
            down_open(&a, &rig, PEER_STDIO, client_eras[c], "{}");
            down_open(&b, &rig, PEER_STDIO, client_eras[c], "{}");
            down_request(&a, 1, "tools/call", "\"name\":\"alpha__hang\",",
                         "\"progressToken\":\"tok\\u0041\",\"" META_LOG_LEVEL "\":\"info\",");
            down_request(&b, 1, "tools/call", "\"name\":\"alpha__hang\",", "\"progressToken\":3,");
            FAKES_UNTIL(&rig.fakes, f->n_held == 2);

            request_progress(fake_held(f, 0), 0.1, 3, "one");
            CHECK_STR(down_next(&a),
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                      "\"progressToken\":\"tok\\u0041\",\"progress\":0.1,\"total\":3,"
                      "\"message\":\"one\"}}");
            request_progress(fake_held(f, 1), 5, 0, NULL);
            CHECK_STR(down_next(&b),
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                      "\"progressToken\":3,\"progress\":5}}");
            CHECK_INT(b.n, 1);
            fake_release(f, 0, "A");
            fake_release(f, 0, "B");
            CHECK_HAS(down_next(&a), "\"text\":\"A\"");
            FAKES_UNTIL(&rig.fakes, b.n == 2);
            CHECK_HAS(down_last(&b), "\"text\":\"B\"");
            down_close(&a);
            down_close(&b);
            rig_done(&rig);
        }
}

TEST(log_messages_reach_the_client_whose_call_they_belong_to)
{
    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
        for (size_t c = 0; c < ARRAY_LEN(client_eras); c++) {
            struct hub_rig rig;
            struct down a, b, quiet;
            struct fake_server *f[2];

            rig_init(&rig, NULL);
            rig_tool(&rig, "alpha", server_eras[s], "hang", FAKE_HANG);
            rig_tool(&rig, "beta", server_eras[s], "hang", FAKE_HANG);
            f[0] = rig.fakes.servers[0];
            f[1] = rig.fakes.servers[1];
            down_open(&a, &rig, PEER_STDIO, client_eras[c], "{}");
            down_open(&b, &rig, PEER_STDIO, client_eras[c], "{}");
            down_open(&quiet, &rig, PEER_STDIO, ERA_MODERN, "{}"); /* asks for no messages */
            down_request(&a, 1, "tools/call", "\"name\":\"alpha__hang\",",
                         "\"" META_LOG_LEVEL "\":\"warning\",");
            down_request(&b, 1, "tools/call", "\"name\":\"beta__hang\",",
                         "\"" META_LOG_LEVEL "\":\"info\",");
            down_request(&quiet, 1, "tools/call", "\"name\":\"beta__hang\",", "");
            FAKES_UNTIL(&rig.fakes, f[0]->n_held == 1 && f[1]->n_held == 2);
            request_log(fake_held(f[0], 0), PB_LOG_DEBUG, "l", SPAN("0"));
            request_log(fake_held(f[0], 0), PB_LOG_ERROR, "l", SPAN("{\"v\":1.0}"));
            CHECK_STR(down_next(&a),
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
                      "\"level\":\"error\",\"logger\":\"l\",\"data\":{\"v\":1.0}}}");
            fakes_settle(&rig.fakes);
            CHECK_INT(a.n, 1);
            CHECK_INT(b.n, 0);
            CHECK_INT(quiet.n, 0);
            down_close(&a);
            down_close(&b);
            down_close(&quiet);
            FAKES_UNTIL(&rig.fakes, f[0]->n_held + f[1]->n_held == 0);
            rig_done(&rig);
        }
}

/* `n` bytes of JSON: a string that ends in `unit` again and again, or an array of it. */
static struct span much(struct buf *out, bool string, const char *unit, size_t n)
{
    out->n = 0;
    buf_byte(out, string ? '"' : '[');
    while (out->n + strlen(unit) + 2 <= n)
        buf_str(out, unit);
    while (out->n + 1 < n)
        buf_byte(out, string ? 'x' : ' ');
    if (!string) /* the last comma */
        out->p[out->n - 1] = '0';
    buf_byte(out, string ? '"' : ']');
    return buf_span(out);
}

static void check_cut(const char *message, const char *member, size_t whole)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    const char *text, *mark;

    CHECK_INT(json_parse(&doc, span_of(message), NULL, NULL), 0);
    text = json_cstr(json_get(json_get(json_root(&doc), "params"), member), &a);
    CHECK(text);
    CHECK(strlen(message) < LINK_TOLD_MAX + 1024);
    mark = strstr(text, "… [");
    CHECK(mark && strstr(mark, " bytes cut]"));
    CHECK(strtoul(mark + strlen("… ["), NULL, 10) >= whole - LINK_TOLD_MAX - 2);
    CHECK(strtoul(mark + strlen("… ["), NULL, 10) < whole - LINK_TOLD_MAX + 16);
}

TEST(what_a_server_tells_is_cut_where_it_would_be_too_much_for_all_clients)
{
    static const char *const units[] = { "x", "\\n", "\\u00e9", "é", "😀", "\\\\" };
    enum { MUCH = 3 * LINK_TOLD_MAX + 7 };
    AUTO_BUF struct buf text = { 0 };
    struct hub_rig rig;
    struct down a;
    struct fake_server *f;

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_LEGACY, "hang", FAKE_HANG);
    f = rig.fakes.servers[0];
    down_open(&a, &rig, PEER_STDIO, ERA_LEGACY, "{}");
    down_request(&a, 1, "tools/call", "\"name\":\"alpha__hang\",",
                 "\"progressToken\":9,\"" META_LOG_LEVEL "\":\"info\",");
    FAKES_UNTIL(&rig.fakes, f->n_held == 1);
    /* As much as may be, with all that is around it. */
    request_log(
        fake_held(f, 0), PB_LOG_ERROR, "l",
        much(&text, true, "x", LINK_TOLD_MAX - strlen("{'level':'error','logger':'l','data':}")));
    CHECK(!strstr(down_next(&a), "bytes cut"));
    request_log(
        fake_held(f, 0), PB_LOG_ERROR, "l",
        much(&text, false, "1,", LINK_TOLD_MAX - strlen("{'level':'error','logger':'l','data':}")));
    CHECK(!strstr(down_next(&a), "bytes cut"));
    request_log(fake_held(f, 0), PB_LOG_ERROR, "l", much(&text, false, "1,", MUCH));
    CHECK_HAS(down_next(&a), "\"level\":\"error\",\"logger\":\"l\",\"data\":\"[1,1,");
    check_cut(down_last(&a), "data", MUCH);
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        AUTO_BUF struct buf params = { 0 };

        request_log(fake_held(f, 0), PB_LOG_ERROR, "l", much(&text, true, units[i], MUCH));
        check_cut(down_next(&a), "data", MUCH);
        buf_printf(&params, "{\"progress\":%zu,\"_meta\":", i + 1);
        buf_add_span(&params, buf_span(&text));
        buf_str(&params, ",\"progressToken\":");
        buf_add_span(&params, fake_held(f, 0)->env.progress_token);
        buf_str(&params, ",\"message\":");
        buf_add_span(&params, buf_span(&text));
        buf_byte(&params, '}');
        request_notify(fake_held(f, 0), "notifications/progress", buf_span(&params));
        CHECK_HAS(down_next(&a), "{\"progressToken\":9,\"progress\":");
        check_cut(down_last(&a), "message", MUCH);
    }
    down_close(&a);
    rig_done(&rig);
}

static void odd_progress(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    static const char *const rest[] = { ",\"progress\":1.50,\"total\":1e2,\"extra\":[1.0]}",
                                        ",\"progress\":1.5}", ",\"progress\":1.4}",
                                        ",\"progress\":\"x\"}", ",\"progress\":2}" };

    (void)f, (void)t;
    for (size_t i = 0; i < ARRAY_LEN(rest); i++) {
        AUTO_BUF struct buf b = { 0 };

        buf_str(&b, "{\"progressToken\":");
        buf_add_span(&b, r->env.progress_token);
        buf_str(&b, rest[i]);
        request_notify(r, "notifications/progress", buf_span(&b));
    }
    fake_reply_text(r, SPAN("done"));
}

TEST(progress_keeps_its_numbers_and_must_rise)
{
    struct hub_rig rig;
    struct down d;

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", PB_ERA_LEGACY, "odd", FAKE_RUN)->run = odd_progress;
    down_open(&d, &rig, PEER_STDIO, ERA_MODERN, "{}");
    down_request(&d, 1, "tools/call", "\"name\":\"alpha__odd\",", "\"progressToken\":9,");
    FAKES_UNTIL(&rig.fakes, d.n == 3);
    CHECK_HAS(d.sent[0], "{\"progressToken\":9,\"progress\":1.50,\"total\":1e2,\"extra\":[1.0]}}");
    CHECK_HAS(d.sent[1], "{\"progressToken\":9,\"progress\":2}}");
    CHECK_HAS(d.sent[2], "done");
    down_close(&d);
    rig_done(&rig);
}

/* ---- errors ------------------------------------------------------------------------------- */

static void raw_error(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    struct span text = span_of(t->text);

    (void)f;
    request_pass_error(r, t->code, &text, 1);
}

TEST(errors_of_a_server_pass_with_code_message_and_data_as_they_were)
{
    static const char *const errors[] = {
        "{\"code\":-32000,\"message\":\"m\\u0041\",\"data\":{\"n\" : 1.0}}",
        "{\"data\":[1,2],\"message\":\"\",\"code\" : 42}",
        "{\"code\":-32602,\"message\":\"Unknown tool\"}",
        "{\"code\":-32601,\"message\":\"no\"}",
        "{\"code\":-32021,\"message\":\"c\",\"data\":{\"requiredCapabilities\":{}}}",
    };

    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
        for (size_t c = 0; c < ARRAY_LEN(client_eras); c++)
            for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
                struct hub_rig rig;
                struct down d;
                struct fake_tool *t;
                char whole[256];

                rig_init(&rig, NULL);
                t = rig_tool(&rig, "alpha", server_eras[s], "bad", FAKE_RUN);
                t->run = raw_error;
                t->text = errors[i];
                down_open(&d, &rig, PEER_STDIO, client_eras[c], "{}");
                down_call(&d, 1, "alpha__bad", "");
                snprintf(whole, sizeof whole, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":%s}",
                         errors[i]);
                CHECK_STR(down_next(&d), whole);
                CHECK_INT(d.status, client_eras[c] == ERA_MODERN && i == 4 ? 400 : 200);
                down_close(&d);
                rig_done(&rig);
            }
}

static bool read_refused(void *ctx, struct request *r)
{
    struct fake_server *f = ctx;
    struct span text = span_of(f->user);

    if (!span_is(r->method, "resources/read"))
        return fake_handle(ctx, r);
    request_pass_error(r, 0, &text, 1);
    return true;
}

TEST(codes_that_mean_something_else_in_the_other_era_are_translated)
{
    static const struct {
        enum era client;
        const char *said, *told;
    } rows[] = {
        { ERA_MODERN, "{\"code\":-32002,\"message\":\"x\",\"data\":{\"uri\":\"u\"}}",
          "{\"code\":-32602,\"message\":\"x\",\"data\":{\"uri\":\"u\"}}" },
        { ERA_LEGACY, "{\"code\":-32002,\"message\":\"x\"}",
          "{\"code\":-32002,\"message\":\"x\"}" },
        { ERA_LEGACY, "{\"message\":\"x\",\"code\":-32602,\"data\":{\"uri\":\"u\"}}",
          "{\"message\":\"x\",\"code\":-32002,\"data\":{\"uri\":\"u\"}}" },
        { ERA_LEGACY, "{\"code\":-32602,\"message\":\"x\"}",
          "{\"code\":-32602,\"message\":\"x\"}" },
        { ERA_MODERN, "{\"code\":-32602,\"message\":\"x\",\"data\":{\"uri\":\"u\"}}",
          "{\"code\":-32602,\"message\":\"x\",\"data\":{\"uri\":\"u\"}}" },
        { ERA_MODERN, "{\"code\":-32020,\"message\":\"x\"}",
          "{\"code\":-32603,\"message\":\"x\"}" },
        { ERA_LEGACY, "{\"code\":-32022,\"message\":\"x\"}",
          "{\"code\":-32603,\"message\":\"x\"}" },
        { ERA_MODERN, "{\"code\":-32042,\"message\":\"x\"}",
          "{\"code\":-32603,\"message\":\"x\"}" },
        { ERA_LEGACY, "{\"code\":-32042,\"message\":\"x\"}",
          "{\"code\":-32042,\"message\":\"x\"}" },
    };
    struct provider refusing = fake_provider;

    refusing.handle = read_refused;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct hub_rig rig;
        struct down d;
        struct fake_server *f;
        char whole[256];

        rig_init(&rig, NULL);
        f = fakes_add(&rig.fakes, "alpha");
        server_set_provider(f->server, &refusing, f);
        f->user = (void *)(uintptr_t)rows[i].said;
        f->era = PB_ERA_LEGACY;
        fake_resource(f, "file:///a", "A");
        rig_connect(&rig, f);
        down_open(&d, &rig, PEER_STDIO, rows[i].client, "{}");
        down_request(&d, 1, "resources/read", "\"uri\":\"file:///a\",", "");
        snprintf(whole, sizeof whole, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":%s}", rows[i].told);
        CHECK_STR(down_next(&d), whole);
        CHECK_INT(d.status, 200);
        down_close(&d);
        rig_done(&rig);
    }
}

TEST(an_error_that_is_none_is_told_in_our_words)
{
    struct hub_rig rig;
    struct down d;
    struct fake_tool *t;

    rig_init(&rig, NULL);
    t = rig_tool(&rig, "alpha", PB_ERA_LEGACY, "bad", FAKE_RUN);
    t->run = raw_error;
    t->text = "{\"code\":\"x\",\"message\":7}";
    down_open(&d, &rig, PEER_STDIO, ERA_LEGACY, "{}");
    down_call(&d, 1, "alpha__bad", "");
    CHECK_HAS(down_next(&d), "{\\\"error\\\":\\\"call_failed\\\",\\\"message\\\":");
    CHECK_HAS(down_last(&d), "\"isError\":true");
    down_close(&d);
    rig_done(&rig);
}

TEST(a_tool_that_takes_too_long_is_a_result_that_a_model_can_read)
{
    for (size_t c = 0; c < ARRAY_LEN(client_eras); c++) {
        struct hub_rig rig;
        struct down d;
        struct fake_server *f;

        rig_init(&rig, NULL);
        rig_tool(&rig, "alpha", PB_ERA_LEGACY, "hang", FAKE_HANG);
        f = rig.fakes.servers[0];
        down_open(&d, &rig, PEER_STDIO, client_eras[c], "{}");
        down_call(&d, 1, "alpha__hang", "");
        FAKES_UNTIL(&rig.fakes, f->n_held == 1);
        loop_advance(rig.fakes.loop, 29999);
        CHECK_INT(d.n, 0);
        loop_advance(rig.fakes.loop, 1);
        FAKES_UNTIL(&rig.fakes, d.n == 1);
        CHECK_HAS(down_last(&d), "\"text\":\"{\\\"error\\\":\\\"call_timeout\\\",\\\"message\\\":"
                                 "\\\"Tool 'hang' on server 'alpha' timed out after 30s\\\"}\"");
        CHECK_HAS(down_last(&d), "\"isError\":true");
        FAKES_UNTIL(&rig.fakes, f->cancellations == 1);
        down_close(&d);
        rig_done(&rig);
    }
}

static bool read_hangs(void *ctx, struct request *r)
{
    if (!span_is(r->method, "resources/read"))
        return fake_handle(ctx, r);
    fake_hold(ctx, NULL, r);
    return true;
}

TEST(other_methods_that_take_too_long_are_errors)
{
    struct provider hanging = fake_provider;
    struct hub_rig rig;
    struct down d;
    struct fake_server *f;

    hanging.handle = read_hangs;
    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    server_set_provider(f->server, &hanging, f);
    fake_resource(f, "file:///a", "A");
    rig_spec_of(&rig, "alpha")->timeout_ms = 1500;
    rig_start(&rig);
    down_open(&d, &rig, PEER_STDIO, ERA_MODERN, "{}");
    down_request(&d, 1, "resources/read", "\"uri\":\"file:///a\",", "");
    FAKES_UNTIL(&rig.fakes, f->n_held == 1);
    loop_advance(rig.fakes.loop, 1500);
    FAKES_UNTIL(&rig.fakes, d.n == 1);
    CHECK_HAS(down_last(&d), "\"error\":{\"code\":-32000,\"message\":\"Resource 'file:///a' on "
                             "server 'alpha' timed out after 1.5s\",\"data\":{\"error\":"
                             "\"call_timeout\",");
    CHECK_HAS(down_last(&d), "\"server\":\"alpha\"");
    down_close(&d);
    rig_done(&rig);
}

TEST(a_server_that_dies_fails_its_calls_at_once)
{
    for (size_t c = 0; c < ARRAY_LEN(client_eras); c++) {
        struct hub_rig rig;
        struct down d;

        rig_init(&rig, NULL);
        rig_tool(&rig, "alpha", PB_ERA_LEGACY, "crash", FAKE_CRASH);
        down_open(&d, &rig, PEER_STDIO, client_eras[c], "{}");
        down_call(&d, 1, "alpha__crash", "");
        CHECK_HAS(down_next(&d), "{\\\"error\\\":\\\"server_not_connected\\\"");
        CHECK_HAS(down_last(&d), "\"isError\":true");
        down_close(&d);
        rig_done(&rig);
    }
}
