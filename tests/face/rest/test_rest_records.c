/* What stays of calls, over REST: pages and filters, one call with what it carried, the bytes by
 * their digest, forgetting, and who goes away meanwhile. */
#include "cid.h"
#include "face/rest_rig.h"
#include "temp_dir.h"

#define UUID_A "0af1e2d3-0000-4000-8000-00000000000a"

static void begin(struct rest_rig *rig, struct fake_server **f)
{
    rest_init_store(rig, NULL, temp_path("records"));
    *f = rig_server(&rig->hub, "alpha");
    fake_tool(*f, "echo", FAKE_ECHO);
    fake_tool(*f, "bad", FAKE_ERROR);
    fake_tool(*f, "hang", FAKE_HANG);
    rest_start(rig);
}

static int call(struct rest_rig *rig, const char *body)
{
    return rest_send(rig, "POST /api/mcp-tools/call", body);
}

static int ask(struct rest_rig *rig, const char *fmt, ...)
{
    char request[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(request, sizeof request, fmt, args);
    va_end(args);
    return rest_send(rig, request, "");
}

static void put_calls(struct rest_rig *rig, unsigned from, unsigned n)
{
    for (unsigned i = from; i < from + n; i++) {
        AUTO_BUF struct buf arguments = { 0 };
        char uuid[UUID_CHARS + 1], tool[16];

        snprintf(uuid, sizeof uuid, "00000000-0000-4000-8000-%012x", i);
        snprintf(tool, sizeof tool, "tool%u", i % 2);
        buf_printf(&arguments, "{\"n\":%u}", i);
        store_put(rig->hub.store, &(struct record){ .uuid = uuid,
                                                    .source = "app",
                                                    .face = "rest",
                                                    .method = "tools/call",
                                                    .caller = i % 3 ? "desk" : "bench",
                                                    .run = "r1",
                                                    .conversation = "c1",
                                                    .server = "beta",
                                                    .tool = tool,
                                                    .status = i % 4 ? "success" : "error",
                                                    .queued_us = 1000000 * (int64_t)i,
                                                    .ended_us = 1000000 * (int64_t)i + 500000,
                                                    .arguments = { buf_span(&arguments), NULL } });
    }
}

static char *copy(const char *text)
{
    static char copies[4][CID_CHARS + 1];
    static int at;
    char *to = copies[at++ % 4];

    snprintf(to, sizeof copies[0], "%s", text);
    return to;
}

TEST(a_call_is_recorded_and_found_again_with_what_it_carried)
{
    char cid[CID_CHARS + 1];
    struct fake_server *f;
    struct rest_rig rig;
    const char *result;

    begin(&rig, &f);
    CHECK_INT(
        call(&rig, "{\"tool\":\"alpha/echo\",\"arguments\":{\"x\":1.0},\"id\":\"" UUID_A "\"}"),
        200);
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_STR(got("recorded"), "true");
    CHECK_STR(got("total"), "1");
    CHECK_STR(got("next"), "");
    CHECK_STR(got("recent.0.id"), UUID_A);
    CHECK_STR(got("recent.0.status"), "success");
    CHECK_STR(got("recent.0.source"), "mcp_client");
    CHECK_STR(got("recent.0.face"), "rest");
    CHECK_STR(got("recent.0.server"), "alpha");
    CHECK_STR(got("recent.0.tool"), "echo");
    CHECK_STR(got("recent.0.name"), "alpha/echo");
    CHECK_STR(got("recent.0.caller"), "REST");
    result = copy(got("recent.0.result_cid"));

    CHECK_INT(GET(&rig, "/api/calls/" UUID_A), 200);
    CHECK_STR(got("name"), "alpha/echo");
    CHECK_STR(got("arguments"), "{\"x\":1.0}");
    CHECK_HAS(got("result"), "\"content\"");
    CHECK_STR(got("definition.name"), "echo");
    cid_of(SPAN("{\"x\":1.0}"), cid);
    CHECK_STR(got("arguments_cid"), cid);

    CHECK_INT(ask(&rig, "GET /api/objects/%s", cid), 200);
    CHECK_STR(rest_body, "{\"x\":1.0}");
    CHECK_HAS(rest_head, "Content-Type: application/json\r\n");
    CHECK_HAS(rest_head, "X-Content-Type-Options: nosniff\r\n");
    CHECK_HAS(rest_head, "Content-Disposition: attachment; filename=\"");
    CHECK_INT(ask(&rig, "GET /api/objects/%s", result), 200);
    cid_of(span_of(rest_body), cid);
    CHECK_STR(cid, result);
    rest_done(&rig);
}

TEST(a_failed_call_is_recorded_with_its_error)
{
    struct fake_server *f;
    struct rest_rig rig;
    struct line line;

    begin(&rig, &f);
    CHECK_INT(call(&rig, "{\"tool\":\"alpha/bad\",\"id\":\"" UUID_A "\"}"), 502);
    CHECK_INT(GET(&rig, "/api/calls/" UUID_A), 200);
    CHECK_STR(got("status"), "failed");
    CHECK(*got("note"));
    CHECK_HAS(got("result"), "\"code\"");
    line_hang(&rig, &line, f, "{\"tool\":\"alpha/hang\",\"timeout_s\":0.5}");
    loop_advance(rig.hub.fakes.loop, 500);
    CHECK_INT(line_answer(&line), 504);
    line_close(&line);
    CHECK_INT(GET(&rig, "/api/calls?status=timeout"), 200);
    CHECK_STR(got("recent.0.tool"), "hang");
    CHECK_HAS(got("recent.0.note"), "timed out");
    CHECK_STR(got("recent.0.duration"), "0.5");
    CHECK_STR(got("recent.1"), "");
    rest_done(&rig);
}

TEST(what_was_put_is_found_by_each_filter_and_page_by_page)
{
    static const struct {
        const char *query, *first;
        size_t n;
    } cases[] = {
        { "server=beta", "00000000-0000-4000-8000-000000000018", 24 },
        { "server=nosuch", "", 0 },
        { "server=", "00000000-0000-4000-8000-000000000018", 24 },
        { "tool=tool1", "00000000-0000-4000-8000-000000000017", 12 },
        { "caller=bench", "00000000-0000-4000-8000-000000000018", 8 },
        { "status=error", "00000000-0000-4000-8000-000000000018", 6 },
        { "status=error&caller=bench", "00000000-0000-4000-8000-000000000018", 2 },
        { "source=app", "00000000-0000-4000-8000-000000000018", 24 },
        { "source=mcp_client", "", 0 },
        { "face=cli", "", 0 },
        { "run=r1", "00000000-0000-4000-8000-000000000018", 24 },
        { "conversation=c1", "00000000-0000-4000-8000-000000000018", 24 },
        { "parent=" UUID_A, "", 0 },
        { "text=7", "00000000-0000-4000-8000-000000000007", 1 },
        { "since=20", "00000000-0000-4000-8000-000000000018", 5 },
        { "until=3.5", "00000000-0000-4000-8000-000000000003", 3 },
        { "since=5&until=7", "00000000-0000-4000-8000-000000000007", 3 },
    };
    struct fake_server *f;
    struct rest_rig rig;
    size_t seen = 0;
    uint64_t before = 0;

    begin(&rig, &f);
    put_calls(&rig, 1, 24);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        size_t n = 0;

        CHECK_INT(ask(&rig, "GET /api/calls?%s", cases[i].query), 200);
        CHECK_STR(got("recent.0.id"), cases[i].first);
        for (const char *at = rest_body; (at = strstr(at, "\"no\":")); at++)
            n++;
        CHECK_INT(n, cases[i].n);
        CHECK_STR(got("total"), "24");
    }
    do {
        CHECK_INT(before
                      ? ask(&rig, "GET /api/calls?limit=7&before=%llu", (unsigned long long)before)
                      : GET(&rig, "/api/calls?limit=7"),
                  200);
        for (const char *at = rest_body; (at = strstr(at, "\"no\":")); at++)
            seen++;
        before = strtoull(got("next"), NULL, 10);
    } while (before);
    CHECK_INT(seen, 24);
    CHECK_INT(GET(&rig, "/api/calls?limit=0"), 200);
    CHECK_STR(got("recent"), "[]");
    CHECK_STR(got("total"), "24");
    CHECK_STR(got("next"), "");
    CHECK_INT(GET(&rig, "/api/calls?limit=100000"), 200);
    CHECK_INT(GET(&rig, "/api/calls?since=-1"), 400);
    CHECK_INT(GET(&rig, "/api/calls?until=1e300"), 400);
    CHECK_INT(GET(&rig, "/api/calls?before=x"), 400);
    CHECK_INT(GET(&rig, "/api/calls?text=%22"), 400);
    CHECK_HAS(got("message"), "cannot search for");
    CHECK_INT(GET(&rig, "/api/calls?tol=x"), 400);
    CHECK_HAS(got("message"), "did you mean 'tool'");
    rest_done(&rig);
}

TEST(without_records_the_last_calls_answer_in_the_same_shape)
{
    struct fake_server *f;
    struct rest_rig rig;

    rest_init(&rig, NULL);
    f = rig_server(&rig.hub, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    fake_tool(f, "bad", FAKE_ERROR);
    rest_start(&rig);
    CHECK_INT(call(&rig, "{\"tool\":\"alpha/echo\",\"id\":\"" UUID_A "\"}"), 200);
    CHECK_INT(call(&rig, "{\"tool\":\"alpha/bad\"}"), 502);
    CHECK_INT(call(&rig, "{\"tool\":\"alpha/echo\"}"), 200);
    CHECK_INT(GET(&rig, "/api/calls?tool=echo"), 200);
    CHECK_STR(got("recorded"), "false");
    CHECK_STR(got("recent.0.no"), "3");
    CHECK_STR(got("recent.1.no"), "1");
    CHECK_STR(got("recent.2"), "");
    CHECK_INT(GET(&rig, "/api/calls?status=error"), 200);
    CHECK_STR(got("recent.0.tool"), "bad");
    CHECK_STR(got("recent.1"), "");
    CHECK_INT(GET(&rig, "/api/calls?caller=REST&server=alpha&limit=1"), 200);
    CHECK_STR(got("recent.0.no"), "3");
    CHECK_STR(got("next"), "3");
    CHECK_INT(GET(&rig, "/api/calls?before=3&limit=1"), 200);
    CHECK_STR(got("recent.0.no"), "2");
    CHECK_INT(GET(&rig, "/api/calls?before=2&limit=1"), 200);
    CHECK_STR(got("recent.0.no"), "1");
    CHECK_STR(got("next"), "");
    CHECK_INT(GET(&rig, "/api/calls?since=99999999999"), 200);
    CHECK_STR(got("recent"), "[]");
    CHECK_INT(GET(&rig, "/api/calls/" UUID_A), 200);
    CHECK_STR(got("name"), "alpha/echo");
    CHECK_STR(got("detail"), "none");
    /* What only records know. */
    CHECK_INT(GET(&rig, "/api/calls?text=x"), 409);
    CHECK_STR(got("error"), "not_recording");
    CHECK_HAS(got("message"), "'text'");
    CHECK_HAS(got("next"), "--no-record");
    CHECK_INT(GET(&rig, "/api/store"), 200);
    CHECK_STR(rest_body, "{\"recording\":false}\n");
    CHECK_INT(rest_send(&rig, "DELETE /api/calls?before=1", ""), 409);
    rest_done(&rig);
}

TEST(what_is_not_there_says_so)
{
    struct fake_server *f;
    struct rest_rig rig;
    char cid[CID_CHARS + 1];

    begin(&rig, &f);
    CHECK_INT(GET(&rig, "/api/calls/" UUID_A), 404);
    CHECK_STR(got("error"), "call_not_found");
    CHECK_STR(got("id"), UUID_A);
    CHECK_INT(GET(&rig, "/api/calls/nosuch"), 404);
    CHECK_INT(GET(&rig, "/api/objects/nosuch"), 400);
    cid_of(SPAN("never put"), cid);
    CHECK_INT(ask(&rig, "GET /api/objects/%s", cid), 404);
    CHECK_STR(got("error"), "object_not_found");
    CHECK(*got("next"));
    rest_done(&rig);
}

/* The bound, one past it and far past it. */
TEST(large_objects_are_named_and_not_shown_with_their_call)
{
    static const size_t sizes[] = { REST_INLINE_MAX, REST_INLINE_MAX + 1, REST_CHECK_MAX + 10 };
    struct fake_server *f;
    struct rest_rig rig;

    begin(&rig, &f);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        AUTO_FREE char *text = mem_zero(sizes[i] + 1);
        char uuid[UUID_CHARS + 1], cid[CID_CHARS + 1];

        memset(text, 'x', sizes[i]);
        text[0] = text[sizes[i] - 1] = '"';
        snprintf(uuid, sizeof uuid, "00000000-0000-4000-8000-%012zx", i);
        store_put(rig.hub.store, &(struct record){ .uuid = uuid,
                                                   .status = "success",
                                                   .queued_us = 1,
                                                   .result = { span_of(text), NULL } });
        CHECK_INT(ask(&rig, "GET /api/calls/%s", uuid), 200);
        CHECK_INT(*got("result") != '\0', i == 0);
        cid_of(span_of(text), cid);
        CHECK_STR(got("result_cid"), cid);
        CHECK_INT(ask(&rig, "GET /api/objects/%s", cid), 200);
        CHECK_INT(strlen(rest_body), sizes[i]);
        CHECK_HAS(rest_head, "Content-Type: application/json\r\n");
    }
    rest_done(&rig);
}

TEST(what_was_too_large_to_be_kept_says_so)
{
    AUTO_FREE char *text = mem_zero(RIG_OBJECT_MAX + 2);
    struct fake_server *f;
    struct rest_rig rig;
    char cid[CID_CHARS + 1];

    begin(&rig, &f);
    memset(text, 'x', RIG_OBJECT_MAX + 1);
    store_put(rig.hub.store, &(struct record){ .uuid = UUID_A,
                                               .status = "success",
                                               .queued_us = 1,
                                               .result = { span_of(text), NULL } });
    CHECK_INT(GET(&rig, "/api/calls/" UUID_A), 200);
    cid_of(span_of(text), cid);
    CHECK_STR(got("result_cid"), cid);
    CHECK_INT(strtol(got("result_bytes"), NULL, 10), RIG_OBJECT_MAX + 1);
    CHECK_INT(ask(&rig, "GET /api/objects/%s", cid), 410);
    CHECK_STR(got("error"), "object_not_kept");
    rest_done(&rig);
}

TEST(bytes_that_are_no_json_are_given_as_bytes)
{
    static const char page[] = "<script>alert(1)</script>";
    struct fake_server *f;
    struct rest_rig rig;
    char cid[CID_CHARS + 1];

    begin(&rig, &f);
    store_put(rig.hub.store, &(struct record){ .uuid = UUID_A,
                                               .status = "success",
                                               .queued_us = 1,
                                               .result = { span_of(page), NULL } });
    cid_of(span_of(page), cid);
    CHECK_INT(ask(&rig, "GET /api/objects/%s", cid), 200);
    CHECK_STR(rest_body, page);
    CHECK_HAS(rest_head, "Content-Type: application/octet-stream\r\n");
    CHECK_HAS(rest_head, "X-Content-Type-Options: nosniff\r\n");
    CHECK_HAS(rest_head, "Content-Disposition: attachment; filename=\"");
    CHECK_INT(GET(&rig, "/api/calls/" UUID_A), 200); /* and not into the answer about the call */
    CHECK_STR(got("result"), "");
    rest_done(&rig);
}

TEST(what_is_older_can_be_forgotten)
{
    struct fake_server *f;
    struct rest_rig rig;

    begin(&rig, &f);
    put_calls(&rig, 1, 10);
    CHECK_INT(rest_send(&rig, "DELETE /api/calls", ""), 400);
    CHECK_INT(rest_send(&rig, "DELETE /api/calls?before=-1", ""), 400);
    CHECK_INT(rest_send(&rig, "DELETE /api/calls?before=6", ""), 200);
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_STR(got("total"), "5");
    CHECK_STR(got("recent.4.queued_at"), "6");
    CHECK_INT(GET(&rig, "/api/store"), 200);
    CHECK_STR(got("recording"), "true");
    CHECK_STR(got("calls"), "5");
    CHECK_STR(got("objects"), "5");
    CHECK_STR(got("lost"), "0");
    CHECK_STR(got("oldest_at"), "6");
    CHECK_HAS(got("path"), temp_root());
    rest_done(&rig);
}

TEST(who_goes_away_is_not_waited_for)
{
    struct line lines[8];
    struct fake_server *f;
    struct rest_rig rig;

    begin(&rig, &f);
    put_calls(&rig, 1, 1000);
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
            line_open(&rig, &lines[i]);
            line_ask(&lines[i],
                     i % 4 == 0   ? "GET /api/calls?text=12&limit=1000"
                     : i % 4 == 1 ? "GET /api/calls/00000000-0000-4000-8000-000000000007"
                     : i % 4 == 2 ? "GET /api/store"
                                  : "POST /api/policy/dry-run",
                     NULL, REST_TOKEN REST_JSON, i % 4 == 3 ? "{\"policy\":{}}" : "");
        }
        for (int turn = 0; turn < round * 3; turn++)
            line_turn(&lines[0]);
        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
            line_close(&lines[i]);
    }
    CHECK_INT(GET(&rig, "/api/calls?limit=1"), 200);
    CHECK_STR(got("total"), "1000");
    rest_done(&rig);
}

TEST(a_program_that_ends_answers_those_who_wait)
{
    struct fake_server *f;
    struct rest_rig rig;
    struct line line;

    begin(&rig, &f);
    put_calls(&rig, 1, 100);
    line_open(&rig, &line);
    line_ask(&line, "POST /api/policy/dry-run", NULL, REST_TOKEN REST_JSON, "{\"policy\":{}}");
    for (int i = 0; i < 3; i++)
        line_turn(&line);
    serve_close(rig.serve, rest_on_closed, &rig);
    CHECK_INT(line_answer(&line) == 503 || strstr(rest_head, " 200 ") != NULL, 1);
    line_close(&line);
    for (int i = 0; i < 1000 && !rig.closed; i++) {
        fakes_settle(&rig.hub.fakes);
        loop_advance(rig.hub.fakes.loop, 10);
    }
    CHECK(rig.closed);
    rig_done(&rig.hub);
}

TEST(who_asks_beside_too_many_is_told_to_come_again)
{
    AUTO_FREE struct line *lines = mem_zero((REST_READS_MAX + 1) * sizeof *lines);
    struct fake_server *f;
    struct rest_rig rig;
    int refused = 0;

    begin(&rig, &f);
    put_calls(&rig, 1, 100);
    allow_files(1024);
    for (int i = 0; i <= REST_READS_MAX; i++)
        line_open(&rig, &lines[i]);
    for (int i = 0; i <= REST_READS_MAX; i++)
        line_ask(&lines[i], "GET /api/calls?text=12", NULL, REST_TOKEN, "");
    for (int i = 0; i <= REST_READS_MAX; i++) {
        int status = line_answer(&lines[i]);

        CHECK(status == 200 || status == 503);
        if (status == 503) {
            CHECK_STR(got("error"), "busy");
            refused++;
        }
        line_close(&lines[i]);
    }
    CHECK(refused <= 1);
    rest_done(&rig);
}
