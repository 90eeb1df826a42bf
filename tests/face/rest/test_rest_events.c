/* GET /api/events: what is told, in which order, to whom; coming back; and readers that stall. */
#include "face/control/control.h"
#include "face/control/control_write.h"
#include "face/listen/listen.h"
#include "face/rest_rig.h"
#include "hub/link/link.h"
#include "mcp/serve/serve.h"

/* Opens a stream; `last` is the id that was got last, or NULL. */
static void listen_to(struct rest_rig *w, struct line *s, const char *path, const char *last)
{
    AUTO_BUF struct buf request = { 0 }, headers = { 0 };

    buf_printf(&request, "GET %s", path);
    buf_str(&headers, REST_TOKEN);
    if (last)
        buf_printf(&headers, "Last-Event-ID: %s\r\n", last);
    line_open(w, s);
    line_ask(s, buf_cstr(&request), NULL, buf_cstr(&headers), "");
    line_until(s, "retry: 1000\n");
    line_until(s, "\n\n");
}

/* The id of the newest event that came. Good until the next call. */
static const char *last_id(struct line *s)
{
    static char id[64];
    const char *at = buf_cstr(&s->in), *newest = NULL;

    for (; (at = strstr(at, "id: ")); at++)
        newest = at + 4;
    CHECK(newest != NULL);
    snprintf(id, sizeof id, "%.*s", (int)strcspn(newest, "\n"), newest);
    return id;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    for (; (text = strstr(text, part)); text++)
        n++;
    return n;
}

/* S0-91 */
TEST(every_event_of_the_hub_is_told_in_order)
{
    struct rest_rig rig;
    struct line s;
    const char *text;

    rest_init(&rig, NULL);
    listen_to(&rig, &s, "/api/events", NULL);
    CHECK_HAS(buf_cstr(&s.in), "HTTP/1.1 200 OK\r\n");
    CHECK_HAS(buf_cstr(&s.in), "Content-Type: text/event-stream\r\n");
    CHECK_HAS(buf_cstr(&s.in), "Cache-Control: no-store\r\n");
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    rest_start(&rig);
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"alpha/echo\"}"), 200);
    line_until(&s, "event: toolCallCompleted\n");
    line_until(&s, "\"success\":true}\n\n");
    text = buf_cstr(&s.in);
    CHECK_HAS(text, "data: {\"type\":\"serverAdded\",\"server\":\"alpha\"");
    CHECK_HAS(text, "\"to\":{\"state\":\"connected\",\"tools\":1}}\n\n");
    CHECK_HAS(strstr(text, "serverAdded"), "\"from\":{\"state\":\"idle\"}");
    CHECK(strstr(text, "\"to\":{\"state\":\"connecting\"}") <
          strstr(text, "\"to\":{\"state\":\"connected\""));
    CHECK(strstr(text, "event: toolCallStarted") < strstr(text, "event: toolCallCompleted"));
    CHECK_HAS(text, "event: serverLog\n");
    CHECK_HAS(text, "event: catalogChanged\n");
    line_close(&s);
    rest_done(&rig);
}

TEST(a_stream_can_be_narrowed)
{
    struct rest_rig rig;
    struct line s;
    const char *text;

    rest_init(&rig, NULL);
    listen_to(&rig, &s, "/api/events?server=beta&types=serverStateChanged,serverAdded", NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    fake_tool(rig_server(&rig.hub, "beta"), "echo", FAKE_ECHO);
    rest_start(&rig);
    line_until(&s, "\"to\":{\"state\":\"connected\"");
    text = buf_cstr(&s.in);
    CHECK(!strstr(text, "alpha") && !strstr(text, "serverLog") && !strstr(text, "catalogChanged"));
    CHECK_HAS(text, "serverAdded");
    line_close(&s);
    rest_done(&rig);
}

TEST(a_client_that_comes_back_goes_on_where_it_was)
{
    struct rest_rig rig;
    struct line s;
    char id[64];

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "alpha"), "echo", FAKE_ECHO);
    listen_to(&rig, &s, "/api/events?types=serverAdded", NULL);
    rest_start(&rig);
    line_until(&s, "event: serverAdded\n");
    line_until(&s, "\"alpha\"");
    snprintf(id, sizeof id, "%s", last_id(&s));
    line_close(&s);
    rig_server(&rig.hub, "beta"); /* while nobody listens */
    rest_start(&rig);
    listen_to(&rig, &s, "/api/events?types=serverAdded", id);
    line_until(&s, "\"beta\"");
    CHECK(!strstr(buf_cstr(&s.in), "\"alpha\""));
    CHECK(!strstr(buf_cstr(&s.in), "event: reset"));
    snprintf(id, sizeof id, "%s", last_id(&s));
    line_close(&s);
    /* Nothing was missed. */
    listen_to(&rig, &s, "/api/events?types=serverAdded", id);
    rig_server(&rig.hub, "gamma");
    rest_start(&rig);
    line_until(&s, "\"gamma\"");
    CHECK(!strstr(buf_cstr(&s.in), "\"beta\""));
    line_close(&s);
    rest_done(&rig);
}

TEST(a_client_that_missed_too_much_is_told_to_look_anew)
{
    static const char *const lost[] = {
        "1", "nonsense", "00000000-1", "00000000-99999999999999999999999", "",
    };
    struct rest_rig rig;
    struct line s;
    char first[64], id[64];

    rest_init(&rig, NULL);
    rig_server(&rig.hub, "alpha");
    listen_to(&rig, &s, "/api/events", NULL);
    snprintf(first, sizeof first, "%s", last_id(&s));
    line_close(&s);
    for (size_t i = 0; i < ARRAY_LEN(lost); i++) {
        listen_to(&rig, &s, "/api/events", lost[i]);
        if (*lost[i])
            line_until(&s, "data: {\"type\":\"reset\"}\n\n");
        else
            CHECK(!strstr(buf_cstr(&s.in), "reset"));
        line_close(&s);
    }
    /* One that was never told. */
    snprintf(id, sizeof id, "%.9s999999", first);
    listen_to(&rig, &s, "/api/events", id);
    line_until(&s, "event: reset\n");
    line_close(&s);
    /* The bound: the ring holds REST_EVENTS_MAX; what came before is gone. */
    rest_start(&rig);
    listen_to(&rig, &s, "/api/events", NULL);
    snprintf(id, sizeof id, "%s", last_id(&s));
    line_close(&s);
    for (int i = 0; i < REST_EVENTS_MAX; i++)
        link_log(rig_link(&rig.hub, "alpha"), PB_LOG_INFO, "line %d", i);
    listen_to(&rig, &s, "/api/events", id);
    line_until(&s, "line 4095\"");
    CHECK(!strstr(buf_cstr(&s.in), "reset"));
    CHECK_INT(count(buf_cstr(&s.in), "event: serverLog\n"), REST_EVENTS_MAX);
    line_close(&s);
    link_log(rig_link(&rig.hub, "alpha"), PB_LOG_INFO, "one more");
    listen_to(&rig, &s, "/api/events", id);
    line_until(&s, "event: reset\n");
    CHECK(!strstr(buf_cstr(&s.in), "line "));
    line_close(&s);
    rest_done(&rig);
}

TEST(what_nobody_comes_back_for_is_forgotten)
{
    struct rest_rig rig;
    struct line s;
    char id[64];

    rest_init(&rig, NULL);
    rig_server(&rig.hub, "alpha");
    rest_start(&rig);
    listen_to(&rig, &s, "/api/events", NULL);
    link_log(rig_link(&rig.hub, "alpha"), PB_LOG_INFO, "first");
    line_until(&s, "first");
    snprintf(id, sizeof id, "%s", last_id(&s));
    line_close(&s);
    link_log(rig_link(&rig.hub, "alpha"), PB_LOG_INFO, "second");
    loop_advance(rig.hub.fakes.loop, REST_EVENTS_KEEP_MS - 1);
    listen_to(&rig, &s, "/api/events", id);
    line_until(&s, "second");
    CHECK(!strstr(buf_cstr(&s.in), "reset"));
    snprintf(id, sizeof id, "%s", last_id(&s));
    line_close(&s);
    loop_advance(rig.hub.fakes.loop, REST_EVENTS_KEEP_MS);
    /* Even if nothing happened since: that is not known. */
    listen_to(&rig, &s, "/api/events", id);
    line_until(&s, "event: reset\n");
    link_log(rig_link(&rig.hub, "alpha"), PB_LOG_INFO, "third");
    line_until(&s, "third");
    CHECK(!strstr(buf_cstr(&s.in), "second"));
    line_close(&s);
    rest_done(&rig);
}

TEST(a_stream_beats_while_nothing_happens)
{
    struct rest_rig rig;
    struct line s;

    rest_init(&rig, NULL);
    listen_to(&rig, &s, "/api/events", NULL);
    s.in.n = 0;
    loop_advance(rig.hub.fakes.loop, SSE_KEEPALIVE_MS - 1);
    for (int i = 0; i < 20; i++)
        line_turn(&s);
    CHECK_INT(s.in.n, 0);
    loop_advance(rig.hub.fakes.loop, 1);
    line_until(&s, ": \n\n");
    s.in.n = 0;
    loop_advance(rig.hub.fakes.loop, SSE_KEEPALIVE_MS);
    line_until(&s, ": \n\n");
    line_close(&s);
    rest_done(&rig);
}

/* It is told so when it comes around, and one that takes nothing at all is cut off in time. */
TEST(a_reader_that_falls_behind_has_a_gap_and_the_others_have_none)
{
    struct rest_rig rig;
    struct line slow, quick;
    char text[2001];
    size_t lines = 0;

    rest_init(&rig, NULL);
    rig_server(&rig.hub, "alpha");
    rest_start(&rig);
    listen_to(&rig, &slow, "/api/events", NULL);
    listen_to(&rig, &quick, "/api/events", NULL);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK_HAS(rest_body, "patchbay_event_streams 2\n");
    /* 40 MB: more than the kernel, the connection and the ring hold together. */
    for (int i = 0; i < 20000; i++) {
        link_log(rig_link(&rig.hub, "alpha"), PB_LOG_INFO, "%s %d", text, i);
        if (i % 100 == 99) {
            char last[16];

            snprintf(last, sizeof last, "x %d\"", i);
            line_until(&quick, last);
            lines += count(buf_cstr(&quick.in), "event: serverLog\n");
            quick.in.n = 0;
        }
    }
    CHECK_INT(lines, 20000);
    CHECK(!quick.over);
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK_HAS(rest_body, "patchbay_event_streams 2\n");
    /* What had been queued for it is bounded. */
    for (int i = 0; i < 20000 && !slow.over && !strstr(buf_cstr(&slow.in), "event: reset\n"); i++) {
        CHECK_INT(count(buf_cstr(&slow.in), "x 19999\""), 0);
        if (slow.in.n > 65536)
            buf_consume(&slow.in, slow.in.n - 64);
        line_turn(&slow);
    }
    CHECK(strstr(buf_cstr(&slow.in), "event: reset\n"));
    link_log(rig_link(&rig.hub, "alpha"), PB_LOG_INFO, "after the gap");
    line_until(&slow, "after the gap");
    CHECK_INT(count(buf_cstr(&slow.in), "event: reset\n"), 1);
    line_close(&quick);
    /* One that reads nothing any more is cut off, once the kernel takes no more for it. */
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 2000; i++)
            link_log(rig_link(&rig.hub, "alpha"), PB_LOG_INFO, "%s %d", text, i);
        fakes_settle(&rig.hub.fakes);
        loop_advance(rig.hub.fakes.loop, 2 * HTTP_WRITE_STALL_MS);
        CHECK_INT(GET(&rig, "/metrics"), 200);
        if (strstr(rest_body, "patchbay_event_streams 0\n"))
            break;
    }
    CHECK_HAS(rest_body, "patchbay_event_streams 0\n");
    line_close(&slow);
    rest_done(&rig);
}

TEST(a_round_ends_when_all_who_listen_have_left)
{
    enum { MANY = 3 * REST_READERS_PER_TURN };
    struct line s[MANY], late;
    struct rest_rig rig;

    rest_init(&rig, NULL);
    rig_server(&rig.hub, "alpha");
    rest_start(&rig);
    for (int i = 0; i < MANY; i++)
        listen_to(&rig, &s[i], "/api/events", NULL);
    link_log(rig_link(&rig.hub, "alpha"), PB_LOG_INFO, "first");
    fakes_settle(&rig.hub.fakes); /* some were told; the others have to wait for the clock */
    for (int i = 0; i < MANY; i++)
        line_close(&s[i]);
    for (int i = 0; i < 2 * MANY; i++)
        loop_advance(rig.hub.fakes.loop, REST_READERS_REST_MS);
    listen_to(&rig, &late, "/api/events", NULL);
    link_log(rig_link(&rig.hub, "alpha"), PB_LOG_INFO, "second");
    line_until(&late, "second");
    line_close(&late);
    rest_done(&rig);
}

TEST(streams_end_with_the_listener)
{
    struct rest_rig rig;
    struct line s;

    rest_init(&rig, NULL);
    listen_to(&rig, &s, "/api/events", NULL);
    serve_close(rig.serve, rest_on_closed, &rig);
    while (!s.over)
        line_turn(&s);
    CHECK_HAS(buf_cstr(&s.in), "\r\n0\r\n\r\n");
    line_close(&s);
    for (int i = 0; i < 10 && !rig.closed; i++) {
        fakes_settle(&rig.hub.fakes);
        loop_advance(rig.hub.fakes.loop, 10);
    }
    CHECK(rig.closed); /* well before the time for flushing is over */
    rig_done(&rig.hub);
}

static size_t resident_kib(void) { return (size_t)(control_resident_bytes() / 1024); }

TEST(a_thousand_streams_cost_little)
{
    enum { STREAMS = 1000 };
    static struct line s[STREAMS];
    struct rest_rig rig;
    size_t before, cost;

    allow_files(2 * STREAMS + 100);
    rest_init(&rig, NULL);
    rig_server(&rig.hub, "alpha");
    rest_start(&rig);
    for (int i = 0; i < 10; i++)
        CHECK_INT(GET(&rig, "/api/mcp-clients"), 200);
    before = resident_kib();
    for (int i = 0; i < STREAMS; i++) {
        line_open(&rig, &s[i]);
        line_ask(&s[i], "GET /api/events", NULL, REST_TOKEN, "");
        if (i % 50 == 49)
            fakes_settle(&rig.hub.fakes);
    }
    fakes_settle(&rig.hub.fakes);
    CHECK_INT(GET(&rig, "/metrics"), 200);
    CHECK_HAS(rest_body, "patchbay_event_streams 1000\n");
    link_log(rig_link(&rig.hub, "alpha"), PB_LOG_INFO, "for all");
    fakes_settle(&rig.hub.fakes);
    cost = resident_kib() - before;
    printf("# %zu KiB for %d streams\n", cost, STREAMS);
#if !defined(__SANITIZE_ADDRESS__)
    CHECK(cost < 10 * STREAMS);
#endif
    for (int i = 0; i < STREAMS / REST_READERS_PER_TURN + 1; i++)
        loop_advance(rig.hub.fakes.loop, REST_READERS_REST_MS);
    for (int i = 0; i < STREAMS; i++) {
        line_until(&s[i], "for all");
        close(s[i].fd);
        buf_done(&s[i].in);
    }
    rest_done(&rig);
}

TEST(what_changes_beside_the_hub_is_told_too)
{
    struct rest_rig rig;
    struct fake_server *f;
    struct line s;

    rest_init(&rig, NULL);
    listen_to(&rig, &s, "/api/events", NULL);
    f = rig_server(&rig.hub, "alpha");
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "no";
    rig_spec_of(&rig.hub, "alpha")->auto_reconnect = false;
    rest_start(&rig);
    line_until(&s, "event: alertsChanged\n");
    s.in.n = 0;
    rig_modes(&rig.hub, "{\"few\":{\"filter\":\"none\"}}");
    line_until(&s, "event: modesChanged\n");
    s.in.n = 0;
    CHECK_INT(rest_send(&rig, "DELETE /api/alerts", ""), 200);
    line_until(&s, "event: alertsChanged\n");
    line_close(&s);
    rest_done(&rig);
}

/* How many of the shapes of events are of this type. */
static size_t shapes_of(const char *type)
{
    size_t n = 0;

    JSON_FOREACH(shape, SHAPE_AT("components", "schemas"))
        n += json_str_is(
            shape_at(shape, (const char *const[]){ "properties", "type", "const", NULL }), type);
    return n;
}

/* With all that it can say: what was told is held against the document when the line is closed. */
TEST(every_kind_of_event_is_told_as_it_is_described)
{
    static const char *const own[] = { "toast", "alertsChanged", "reset" };
    struct rest_rig rig;
    struct fake_server *f, *bad;
    struct line s, call;

    rest_init(&rig, NULL);
    fake_tool(f = rig_server(&rig.hub, "alpha"), "hang", FAKE_HANG);
    fake_tool(f, "echo", FAKE_ECHO);
    bad = rig_server(&rig.hub, "bad");
    bad->connect = FAKE_CONNECT_FAIL;
    bad->connect_text = "no";
    line_open(&rig, &s);
    line_ask(&s, "GET /api/events", NULL, REST_TOKEN "Last-Event-ID: of-another-run\r\n", "");
    line_until(&s, "event: reset");
    rest_start(&rig);
    fakes_add(&rig.hub.fakes, "late");
    CHECK_INT(POST(&rig, "/api/mcp-clients/connect", EX("late")), 200);
    CHECK_INT(rest_send(&rig, "DELETE /api/servers/late", ""), 200);
    line_until(&s, "serverRemoved");
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"alpha/echo\"}"), 200);
    line_until(&s, "toolCallCompleted");
    line_hang(&rig, &call, f,
              "{\"tool\":\"alpha/hang\",\"id\":\"0c9f1a2e-0000-4000-8000-000000000001\"}");
    request_progress(fake_held(f, 0), 1, 2, "half of it");
    line_until(&s, "half of it");
    loop_advance(rig.hub.fakes.loop, 30001);
    CHECK_INT(line_answer(&call), 504);
    line_close(&call);
    line_until(&s, "toolCallCancelled");
    CHECK_INT(rest_send(&rig, "DELETE /api/alerts", ""), 200);
    line_until(&s, "alertsChanged");
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        CHECK_INT(shapes_of(hub_event_name((enum hub_event_kind)kind)), 1);
        CHECK_HAS(buf_cstr(&s.in), hub_event_name((enum hub_event_kind)kind));
    }
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        CHECK_INT(shapes_of(own[i]), 1);
        CHECK_HAS(buf_cstr(&s.in), own[i]);
    }
    line_close(&s);
    rest_done(&rig);
}
