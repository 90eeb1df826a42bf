/* test_wire_http.c - Streamable HTTP of the legacy era: sessions, streams, resumption. */
#include "io/http/http.h"
#include "mcp/carrier/carrier.h"
#include "mcp/client/client.h"
#include "mcp/client/client_impl.h"
#include "mcp/client_rig.h"
#include "mcp/registry/registry.h"

static const char *header(struct http_request *r, const char *name, char *room, size_t n)
{
    struct span v = http_header(r, name, NULL);

    if (!v.p)
        return "-";
    snprintf(room, n, "%.*s", SPAN_ARG(v));
    return room;
}

/* ---- what is sent ---- */

static void log_headers(struct web *w, struct http_request *r)
{
    static const char *const names[] = { "Mcp-Session-Id", "MCP-Protocol-Version", "Accept",
                                         "Content-Type", "X-Mine" };
    char room[128];

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        web_log(w, i ? " | " : "  ");
        web_log(w, header(r, names[i], room, sizeof room));
    }
    web_log(w, "\n");
}

static void answer_logging(struct web *w, struct http_request *r, const char *method,
                           const char *id)
{
    log_headers(w, r);
    if (!web_legacy(r, method, id))
        web_result(r, id, "{}", NULL);
}

TEST(every_request_after_the_handshake_names_session_and_revision)
{
    static const char *const mine[] = { "X-Mine: yes", "Accept: text/html", "mcp-session-id: evil",
                                        NULL };
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct site s = { 0 };

    o.era = PB_ERA_LEGACY;
    o.headers = mine;
    site_open(&s, false, answer_logging, &o);
    RIG_UNTIL(&s.r, strstr(s.w.log, "GET\n"));
    RIG_RESULT(&s.r, "ping", NULL, "{}");
    client_close(TAKE(s.r.client), NULL, NULL);
    RIG_UNTIL(&s.r, strstr(s.w.log, "DELETE\n"));
    CHECK_STR(s.w.log, "POST initialize\n  - | - | application/json, text/event-stream | "
                       "application/json | yes\n"
                       "POST notifications/initialized\n  s1 | 2025-11-25 | application/json, "
                       "text/event-stream | application/json | yes\n"
                       "GET\n  s1 | 2025-11-25 | text/event-stream | - | yes\n"
                       "POST ping\n  s1 | 2025-11-25 | application/json, text/event-stream | "
                       "application/json | yes\n"
                       "DELETE\n  s1 | 2025-11-25 | */* | - | yes\n");
    site_done(&s);
}

static void answer_old_revision(struct web *w, struct http_request *r, const char *method,
                                const char *id)
{
    char room[64];

    if (strcmp(method, "initialize") == 0) {
        web_result(r, id, "{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{}}", NULL);
        return;
    }
    web_log(w, header(r, "MCP-Protocol-Version", room, sizeof room));
    web_log(w, header(r, "Mcp-Session-Id", room, sizeof room));
    answer_logging(w, r, method, id);
}

TEST(a_revision_without_the_header_and_a_server_without_sessions_get_neither)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct site s = { 0 };

    o.era = PB_ERA_LEGACY;
    site_open(&s, false, answer_old_revision, &o);
    RIG_RESULT(&s.r, "ping", NULL, "{}");
    CHECK_HAS(s.w.log, "POST notifications/initialized\n--");
    CHECK_HAS(s.w.log, "POST ping\n--");
    client_close(TAKE(s.r.client), NULL, NULL);
    RIG_UNTIL(&s.r, !http_server_connections(s.w.server));
    CHECK(!strstr(s.w.log, "DELETE"));
    site_done(&s);
}

TEST(header_values_that_would_break_out_are_refused)
{
    static const char *const bad[][2] = {
        { "X-Evil: a\r\nX-More: b", NULL },
        { "X-Evil: a\nb", NULL },
        { "no colon", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
        struct web w = { 0 };
        struct rig r;

        rig_init(&r, false);
        web_start(&w, &r, answer_logging);
        o.url = w.url;
        o.headers = bad[i];
        rig_open(&r, &o);
        CHECK_INT(r.open_err.code, PB_E_INVALID);
        CHECK_STR(w.log, "");
        web_stop(&w);
        rig_done(&r);
    }
}

/* ---- sessions ---- */

struct sessions {
    int serial, executed;
    bool forget; /* the session of the next request */
};

static void answer_sessions(struct web *w, struct http_request *r, const char *method,
                            const char *id)
{
    struct sessions *s = w->ctx;
    char now[32], room[64], more[64];

    snprintf(now, sizeof now, "s%d", s->serial);
    if (strcmp(method, "initialize") == 0) {
        snprintf(more, sizeof more, "Mcp-Session-Id: s%d\r\n", ++s->serial);
        web_result(r, id, WEB_WELCOME, more);
    } else if (strcmp(header(r, "Mcp-Session-Id", room, sizeof room), now) != 0) {
        web_error(r, strcmp(method, "server/discover") ? 404 : 400, "null", -32001, NULL);
    } else if (s->forget && *method) {
        s->forget = false;
        s->serial += 100; /* nobody has that one */
        web_error(r, 404, "null", -32001, NULL);
    } else if (!web_legacy(r, method, id)) {
        s->executed++;
        web_result(r, id, "{\"ok\":true}", NULL);
    }
}

TEST(a_lost_session_is_made_anew_and_the_request_sent_again)
{
    struct sessions state = { 0 };
    struct site s = { .w.ctx = &state };
    struct answer a[8];

    site_open(&s, false, answer_sessions, NULL);
    RIG_RESULT(&s.r, "tools/list", NULL, "{\"ok\":true}");
    state.forget = true;
    for (size_t i = 0; i < ARRAY_LEN(a); i++) /* all of them are refused, or wait */
        rig_send(&s.r, &a[i], "tools/list", NULL);
    for (size_t i = 0; i < ARRAY_LEN(a); i++) {
        RIG_UNTIL(&s.r, a[i].count);
        CHECK_STR(a[i].result, "{\"ok\":true}");
        answer_done(&a[i]);
    }
    CHECK_INT(state.executed, 1 + (int)ARRAY_LEN(a));
    CHECK_INT(state.serial, 102);
    CHECK(!s.r.closed);
    site_done(&s);
}

static void answer_homeless(struct web *w, struct http_request *r, const char *method,
                            const char *id)
{
    (void)w;
    if (strcmp(method, "tools/list") == 0)
        web_error(r, 404, "null", -32001, NULL);
    else
        web_legacy(r, method, id);
}

TEST(a_session_that_is_lost_again_at_once_is_an_error)
{
    struct site s = { 0 };
    struct answer a;

    site_open(&s, false, answer_homeless, NULL);
    rig_request(&s.r, &a, "tools/list", NULL);
    CHECK_INT(a.err.code, PB_E_CLOSED);
    CHECK_HAS(a.err.msg, "404");
    site_done(&s);
}

static void answer_farewell(struct web *w, struct http_request *r, const char *method,
                            const char *id)
{
    struct sessions *s = w->ctx;

    if (strcmp(method, "tools/list") == 0)
        web_error(r, 404, "null", -32001, NULL);
    else if (strcmp(method, "initialize") == 0 && s->serial++)
        web_reply(r, 503, NULL, "");
    else
        web_legacy(r, method, id);
}

TEST(a_session_that_cannot_be_made_anew_ends_the_client)
{
    struct sessions state = { 0 };
    struct site s = { .w.ctx = &state };
    struct answer a;

    site_open(&s, false, answer_farewell, NULL);
    rig_request(&s.r, &a, "tools/list", NULL);
    CHECK_INT(a.err.code, PB_E_CLOSED);
    RIG_UNTIL(&s.r, s.r.closed);
    CHECK_HAS(s.r.why.msg, "503");
    rig_request(&s.r, &a, "tools/list", NULL);
    CHECK_HAS(a.err.msg, "503");
    site_done(&s);
}

/* ---- streams ---- */

static void answer_stream(struct web *w, struct http_request *r, const char *method, const char *id)
{
    char text[512];

    if (strcmp(method, "tools/call") != 0) {
        web_legacy(r, method, id);
        return;
    }
    web_stream(w, r);
    snprintf(text, sizeof text,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
             "{\"progressToken\":%s,\"progress\":1}}",
             id);
    web_event(r, text);
    web_event(r, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
                 "{\"level\":\"info\",\"data\":\"x\"}}");
    web_event(r, "{\"jsonrpc\":\"2.0\",\"id\":\"q1\",\"method\":\"elicitation/create\",\"params\":"
                 "{\"message\":\"name?\",\"requestedSchema\":{}}}");
    w->held = r;
    snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[]}}", id);
    free(w->ctx);
    w->ctx = mem_dup(text);
}

TEST(a_stream_brings_progress_logs_questions_and_the_answer)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct site s = { 0 };
    struct answer a;

    o.can_elicit = true;
    site_open(&s, false, answer_stream, &o);
    rig_send_spec(&s.r, &a,
                  (struct client_request_spec){ .method = "tools/call",
                                                .params = SPAN("{\"name\":\"x\"}"),
                                                .wants_progress = true,
                                                .progress = answer_progress });
    RIG_UNTIL(&s.r, s.r.n_asked);
    CHECK_INT(a.progressed, 1);
    CHECK_HAS(a.progress, "\"progress\":1}");
    CHECK_STR(s.r.notes, "notifications/message {\"level\":\"info\",\"data\":\"x\"}\n");
    /* On a stream of its own the question belongs to this call. */
    CHECK_STR(s.r.asked[0], "1 elicitation/create {\"message\":\"name?\",\"requestedSchema\":{}}");
    client_answer(s.r.questions[0], SPAN("{\"action\":\"decline\"}"));
    RIG_UNTIL(&s.r, strstr(s.w.log, "POST (answer)"));
    web_event(s.w.held, s.w.ctx);
    RIG_UNTIL(&s.r, a.count);
    CHECK_STR(a.result, "{\"content\":[]}");
    http_end(s.w.held);
    answer_done(&a);
    site_done(&s);
    free(s.w.ctx);
}

static void answer_own_stream(struct web *w, struct http_request *r, const char *method,
                              const char *id)
{
    if (!span_is(http_method(r), "GET")) {
        web_legacy(r, method, id);
        return;
    }
    web_stream(w, r);
    w->held = r;
}

TEST(the_servers_own_stream_brings_questions_and_news)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct site s = { 0 };

    o.can_list_roots = true;
    site_open(&s, false, answer_own_stream, &o);
    RIG_UNTIL(&s.r, s.w.held);
    web_event(s.w.held, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    web_event(s.w.held, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}");
    web_event(s.w.held, "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"roots/list\"}");
    web_event(s.w.held, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sampling/createMessage\"}");
    RIG_UNTIL(&s.r, s.r.n_asked);
    CHECK_STR(s.r.asked[0], "0 roots/list ");
    CHECK_STR(s.r.notes, "notifications/tools/list_changed\n");
    client_answer(s.r.questions[0], SPAN("{\"roots\":[]}"));
    RIG_UNTIL(&s.r, s.w.n >= 7); /* discover, initialize, initialized, GET and three answers */
    http_end(s.w.held);
    site_done(&s);
}

/* ---- resumption ---- */

struct resume {
    char id[32];
    int posts, gets;
    int answer_at; /* the GET that brings the answer; 0: none does */
    int status;    /* of the GETs before; 0: streams that end at once */
    const char *priming;
    char last_ids[256];
};

static void answer_resume(struct web *w, struct http_request *r, const char *method, const char *id)
{
    struct resume *s = w->ctx;
    char room[128], text[256];

    if (strcmp(method, "tools/call") == 0) {
        s->posts++;
        snprintf(s->id, sizeof s->id, "%s", id);
        http_begin(r, 200, WEB_SSE);
        web_write(r, s->priming);
        http_end(r);
    } else if (span_is(http_method(r), "GET") && http_header(r, "Last-Event-ID", NULL).p) {
        s->gets++;
        snprintf(s->last_ids + strlen(s->last_ids), sizeof s->last_ids - strlen(s->last_ids), "%s ",
                 header(r, "Last-Event-ID", room, sizeof room));
        if (s->gets != s->answer_at && s->status) {
            web_reply(r, s->status, NULL, "");
            return;
        }
        http_begin(r, 200, WEB_SSE);
        snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"late\":1}}",
                 s->id);
        if (s->gets == s->answer_at)
            web_event(r, text);
        http_end(r);
    } else {
        web_legacy(r, method, id);
    }
}

/* Turns until nothing of the network is under way. */
static void settle(struct rig *r)
{
    for (int i = 0; i < 50; i++)
        loop_turn(r->loop, false);
}

TEST(a_stream_that_ends_early_is_resumed_when_the_server_says)
{
    struct resume state = { .answer_at = 1, .priming = "id: e1\nretry: 500\ndata:\n\n" };
    struct site s = { .w.ctx = &state };
    struct answer a;

    site_open(&s, true, answer_resume, NULL);
    rig_send(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
    RIG_UNTIL(&s.r, state.posts);
    settle(&s.r);
    loop_advance(s.r.loop, 499);
    settle(&s.r);
    CHECK_INT(state.gets, 0);
    loop_advance(s.r.loop, 1);
    RIG_UNTIL(&s.r, a.count);
    CHECK_STR(a.result, "{\"late\":1}");
    CHECK_STR(state.last_ids, "e1 ");
    CHECK_INT(state.posts, 1); /* nothing was executed twice */
    answer_done(&a);
    site_done(&s);
}

TEST(without_a_word_about_it_a_stream_is_resumed_after_a_second)
{
    struct resume state = { .answer_at = 1, .priming = "id: e1\ndata:\n\n" };
    struct site s = { .w.ctx = &state };
    struct answer a;

    site_open(&s, true, answer_resume, NULL);
    rig_send(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
    RIG_UNTIL(&s.r, state.posts);
    settle(&s.r);
    loop_advance(s.r.loop, MCP_RESUME_MS - 1);
    settle(&s.r);
    CHECK_INT(state.gets, 0);
    loop_advance(s.r.loop, 1);
    RIG_UNTIL(&s.r, a.count);
    CHECK_STR(a.result, "{\"late\":1}");
    answer_done(&a);
    site_done(&s);
}

TEST(resuming_is_tried_a_bounded_number_of_times)
{
    static const int statuses[] = { 0, 503 };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        struct resume state = { .status = statuses[i], .priming = "id: e1\nretry: 100\ndata:\n\n" };
        struct site s = { .w.ctx = &state };
        struct answer a;

        site_open(&s, true, answer_resume, NULL);
        rig_send_spec(&s.r, &a,
                      (struct client_request_spec){ .method = "tools/call",
                                                    .timeout_ms = MCP_CALL_TOTAL_MS });
        RIG_UNTIL(&s.r, state.posts);
        for (int n = 0; n < 200 && !a.count; n++) {
            settle(&s.r);
            loop_advance(s.r.loop, 500);
        }
        CHECK_INT(a.err.code, PB_E_CLOSED);
        CHECK_HAS(a.err.msg, "before its answer");
        CHECK_INT(state.gets, MCP_RECONNECTS_MAX);
        site_done(&s);
    }
}

TEST(a_server_that_does_not_resume_loses_the_request_at_once)
{
    struct resume state = { .status = 405, .priming = "id: e1\nretry: 100\ndata:\n\n" };
    struct site s = { .w.ctx = &state };
    struct answer a;

    site_open(&s, false, answer_resume, NULL);
    rig_request(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
    CHECK_INT(a.err.code, PB_E_CLOSED);
    CHECK_INT(state.gets, 1);
    site_done(&s);
}

TEST(a_stream_without_event_ids_cannot_be_resumed)
{
    struct resume state = { .priming = ": nothing\n\n" };
    struct site s = { .w.ctx = &state };
    struct answer a;

    site_open(&s, false, answer_resume, NULL);
    rig_request(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
    CHECK_INT(a.err.code, PB_E_CLOSED);
    CHECK_INT(state.gets, 0);
    site_done(&s);
}

struct own {
    int gets;
    bool hasty; /* every stream says to come back at once, and ends */
    char ids[256];
};

static void answer_broken_own(struct web *w, struct http_request *r, const char *method,
                              const char *id)
{
    struct own *s = w->ctx;
    char room[64];

    if (!span_is(http_method(r), "GET")) {
        web_legacy(r, method, id);
        return;
    }
    s->gets++;
    snprintf(s->ids + strlen(s->ids), sizeof s->ids - strlen(s->ids), "%s ",
             header(r, "Last-Event-ID", room, sizeof room));
    http_begin(r, 200, WEB_SSE);
    if (s->hasty)
        web_write(r, "id: h\nretry: 0\ndata:\n\n");
    else if (s->gets == 1)
        web_write(r, "id: g1\ndata: "
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n");
    http_end(r);
}

TEST(the_servers_own_stream_is_opened_again_ever_more_slowly_and_given_up)
{
    struct own state = { 0 };
    struct site s = { .w.ctx = &state };
    uint64_t waited = 0;

    site_open(&s, true, answer_broken_own, NULL);
    RIG_UNTIL(&s.r, state.gets == 1);
    settle(&s.r);
    CHECK_STR(s.r.notes, "notifications/tools/list_changed\n");
    for (int n = 0; n < 2000 && state.gets < 1 + MCP_RECONNECTS_MAX; n++) {
        settle(&s.r);
        loop_advance(s.r.loop, 100);
        waited += 100;
    }
    CHECK_STR(state.ids, "- g1 g1 g1 g1 g1 ");
    CHECK(waited >= 1000 + 2000 + 4000 + 8000 + 16000);
    for (int n = 0; n < 100; n++) {
        settle(&s.r);
        loop_advance(s.r.loop, 1000);
    }
    CHECK_INT(state.gets, 1 + MCP_RECONNECTS_MAX);
    CHECK(!s.r.closed);
    site_done(&s);
}

TEST(a_server_cannot_make_us_open_its_own_stream_over_and_over)
{
    struct own state = { .hasty = true };
    struct site s = { .w.ctx = &state };

    site_open(&s, true, answer_broken_own, NULL);
    RIG_UNTIL(&s.r, state.gets == 1);
    for (int n = 1; n <= 10; n++) {
        settle(&s.r);
        loop_advance(s.r.loop, MCP_RESUME_MS - 1);
        settle(&s.r);
        CHECK_INT(state.gets, n);
        loop_advance(s.r.loop, 1);
        RIG_UNTIL(&s.r, state.gets == n + 1);
    }
    site_done(&s);
}

/* ---- ends ---- */

static void answer_hanging(struct web *w, struct http_request *r, const char *method,
                           const char *id)
{
    if (web_legacy(r, method, id))
        return;
    if (strcmp(method, "tools/call") == 0)
        web_stream(w, r);
    else
        http_on_gone(r, web_gone, w); /* not even a head */
}

/* S0-43 S0-44 */
TEST(a_cancelled_request_is_told_to_the_server_and_its_stream_closed)
{
    struct site s = { 0 };
    struct answer a, b;
    uint64_t id;

    site_open(&s, false, answer_hanging, NULL);
    id = rig_send(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
    RIG_UNTIL(&s.r, strstr(s.w.log, "tools/call"));
    client_cancel(s.r.client, id, "user");
    CHECK_INT(a.count, 1);
    CHECK_INT(a.err.code, PB_E_CANCELLED);
    RIG_UNTIL(&s.r, strstr(s.w.log, "POST notifications/cancelled"));
    RIG_UNTIL(&s.r, s.w.gone == 1);
    client_cancel(s.r.client, id, "again"); /* unknown by now */
    client_cancel(s.r.client, 999, "unknown");
    id = rig_send(&s.r, &b, "tools/list", NULL);
    RIG_UNTIL(&s.r, strstr(s.w.log, "tools/list"));
    client_cancel(s.r.client, id, NULL);
    CHECK_INT(b.err.code, PB_E_CANCELLED);
    CHECK_INT(s.r.client->by_id.n, 0);
    site_done(&s);
}

TEST(a_request_without_an_answer_ends_in_time)
{
    struct site s = { 0 };
    struct answer a;

    site_open(&s, true, answer_hanging, NULL);
    rig_send(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
    RIG_UNTIL(&s.r, strstr(s.w.log, "tools/call"));
    loop_advance(s.r.loop, MCP_CALL_MS - 1);
    CHECK_INT(a.count, 0);
    loop_advance(s.r.loop, 1);
    CHECK_INT(a.err.code, PB_E_TIMEOUT);
    CHECK_STR(a.err.msg, "tools/call: no answer within 30000 ms");
    RIG_UNTIL(&s.r, strstr(s.w.log, "POST notifications/cancelled"));
    site_done(&s);
}

static void answer_moved(struct web *w, struct http_request *r, const char *method, const char *id)
{
    char location[128];

    if (span_is(http_path(r), "/mcp") && span_is(http_method(r), "POST")) {
        snprintf(location, sizeof location, "Location: %s/new\r\n", w->url);
        web_reply(r, 307, location, "");
    } else if (!web_legacy(r, method, id)) {
        web_result(r, id, "{}", NULL);
    }
}

TEST(a_redirect_within_the_origin_is_followed_with_its_body)
{
    struct site s = { 0 };

    site_open(&s, false, answer_moved, NULL);
    RIG_RESULT(&s.r, "ping", NULL, "{}");
    site_done(&s);
}

TEST(closing_a_client_ends_everything_at_once)
{
    struct site s = { 0 };
    struct answer a, b;

    site_open(&s, false, answer_hanging, NULL);
    rig_send(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
    rig_send(&s.r, &b, "tools/list", NULL);
    RIG_UNTIL(&s.r, strstr(s.w.log, "tools/list"));
    client_close(TAKE(s.r.client), NULL, NULL);
    CHECK_INT(a.err.code, PB_E_CANCELLED);
    CHECK_INT(b.err.code, PB_E_CANCELLED);
    CHECK(!s.r.closed);
    RIG_UNTIL(&s.r, s.w.gone == 2);
    site_done(&s);
    CHECK_INT(a.count + b.count, 2);
}
