#include "http_client_rig.h"
#include "io/http/curl_api.h"
#include "io/http/http.h"

TEST(a_request_goes_out_as_given_and_the_answer_comes_back)
{
    static const struct {
        struct http_client_request req;
        const char *want;
    } cases[] = {
        { { .url = "/a?b=c" }, "GET /a?b=c 0\n" },
        { { .url = "/a", .has_body = true, .body = SPAN_CONST("hello") }, "POST /a 5\n" },
        { { .url = "/a", .has_body = true }, "POST /a 0\n" },
        { { .url = "/a", .method = "DELETE" }, "DELETE /a 0\n" },
        { { .url = "/a", .method = "PUT", .has_body = true, .body = SPAN_CONST("x") },
          "PUT /a 1\n" },
        { { .url = "/a", .method = "POST" }, "POST /a 0\n" },
        { { .url = "/a", .method = "HEAD" }, "HEAD /a 0\n" },
        { { .url = "/a#fragment" }, "GET /a 0\n" },
        { { .url = "" }, "GET / 0\n" },
    };
    struct client_rig c = { 0 };

    client_rig_open(&c);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct http_client_request req = cases[i].req;
        struct result r = { .want = "CONTENT-type" };
        char url[128];

        snprintf(url, sizeof url, "%s%s", c.url, req.url);
        req.url = url;
        c.rig.log.n = 0;
        client_send(&c, &r, &req);
        client_until(&c, &r.done);
        CHECK(!r.failed);
        CHECK_INT(r.heads, 1);
        CHECK_INT(r.status, 200);
        CHECK_STR(buf_cstr(&r.header), "text/plain");
        CHECK_STR(buf_cstr(&c.rig.log), cases[i].want);
        CHECK_SPAN(buf_span(&r.body), req.body.p ? req.body.p : "");
        result_free(&r);
    }
    CHECK_INT(http_server_connections(c.rig.server), 1); /* one for all of them */
    client_rig_close(&c);
}

TEST(what_is_sent_holds_nothing_that_was_not_asked_for)
{
    static const char *const headers[] = { "Content-Type: application/json", "X-Empty:", "A: b: c",
                                           "Accept: application/json, text/event-stream", NULL };
    struct client_rig c = { 0 };
    struct raw w = { 0 };
    struct result r[2] = { 0 };
    char url[80];

    raw_add(&w,
            (struct raw_script){
                .first = SPAN("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nSet-Cookie: a=b\r\n\r\n"),
                .hold = true });
    raw_open(&w);
    client_rig_open(&c);
    snprintf(url, sizeof url, "%s/", w.url);
    client_send(&c, &r[0],
                &(struct http_client_request){
                    .url = url, .headers = headers, .has_body = true, .body = SPAN("{}") });
    client_until(&c, &r[0].done);
    client_send(&c, &r[1],
                &(struct http_client_request){ .url = url, .has_body = true, .body = SPAN("{}") });
    client_until(&c, &r[1].done);
    client_rig_close(&c);
    raw_close(&w);
    {
        AUTO_BUF struct buf want = { 0 };

        buf_printf(&want,
                   "POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: patchbay/" PB_VERSION
                   "\r\nContent-Type: application/json\r\nX-Empty:\r\nA: b: c\r\n"
                   "Accept: application/json, text/event-stream\r\nContent-Length: 2\r\n\r\n{}"
                   "POST / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: patchbay/" PB_VERSION
                   "\r\nAccept: */*\r\nContent-Length: 2\r\n\r\n{}",
                   w.port, w.port);
        CHECK_STR(buf_cstr(&w.seen), buf_cstr(&want));
    }
    buf_done(&w.seen);
}

TEST(wrong_urls_methods_and_headers_are_refused_at_once)
{
    static const struct {
        const char *url, *method, *header, *want;
    } cases[] = {
        /* clang-format off */
        { "",                        NULL, NULL, "no URL that can be used" },
        { "example.com",             NULL, NULL, "no URL that can be used" },
        { "/path",                   NULL, NULL, "no URL that can be used" },
        { "http://",                 NULL, NULL, "no URL that can be used" },
        { "http://a b/",             NULL, NULL, "no URL that can be used" },
        { "http://a/\r\nX: y",       NULL, NULL, "no URL that can be used" },
        { "http://a:99999/",         NULL, NULL, "no URL that can be used" },
        { "ftp://a/",                NULL, NULL, "only http:// and https:// URLs" },
        { "file:///etc/passwd",      NULL, NULL, "only http:// and https:// URLs" },
        { "gopher://a/",             NULL, NULL, "only http:// and https:// URLs" },
        { "javascript:alert(1)",     NULL, NULL, "no URL that can be used" },
        { "http://a/", "GE T",             NULL, "is no HTTP method" },
        { "http://a/", "",                 NULL, "is no HTTP method" },
        { "http://a/", "GET\r\nX: y",      NULL, "is no HTTP method" },
        { "http://a/", NULL, "X: a\r\nY: b",     "header X holds a control character" },
        { "http://a/", NULL, "X: a\nY: b",       "header X holds a control character" },
        { "http://a/", NULL, "X: a\rb",          "header X holds a control character" },
        { "http://a/", NULL, "X: a\x7f",         "header X holds a control character" },
        { "http://a/", NULL, "X",                "must have the form 'Name: value'" },
        { "http://a/", NULL, ": x",              "must have the form 'Name: value'" },
        { "http://a/", NULL, "X y: z",           "must have the form 'Name: value'" },
        { "http://a/", NULL, "X\r\nY: z",        "must have the form 'Name: value'" },
        { "http://a/", NULL, "content-length: 5",     "header Content-Length is set by the client" },
        { "http://a/", NULL, "Transfer-Encoding: x",  "header Transfer-Encoding is set by the client" },
        { "http://a/", NULL, "Expect: 100-continue",  "header Expect is set by the client" },
        /* clang-format on */
    };
    struct client_rig c = { 0 };

    client_rig_open(&c);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *headers[] = { cases[i].header, NULL };
        struct http_client_request req = { .url = cases[i].url,
                                           .method = cases[i].method,
                                           .headers = headers };
        struct http_call *call = NULL;
        struct pb_error err = { 0 };

        if (http_client_send(c.client, &call, &req, &result_events, NULL, &err) != -PB_E_INVALID ||
            !strstr(err.msg, cases[i].want))
            TAP_FAIL("case %zu: %s", i, err.msg);
        CHECK(call == NULL);
    }
    client_rig_close(&c);
}

TEST(a_hundred_requests_at_once_are_all_answered)
{
    enum { COUNT = 100 };
    static struct result r[COUNT];
    struct client_rig c = { 0 };

    client_rig_open(&c);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            char url[128], body[16];
            int n = snprintf(body, sizeof body, "%d", i);

            r[i] = (struct result){ 0 };
            snprintf(url, sizeof url, "%s/%d", c.url, i);
            client_send(&c, &r[i],
                        &(struct http_client_request){
                            .url = url, .has_body = true, .body = { body, (size_t)n } });
        }
        for (int i = 0; i < COUNT; i++) {
            char want[16];

            client_until(&c, &r[i].done);
            snprintf(want, sizeof want, "%d", i);
            CHECK(!r[i].failed);
            CHECK_STR(buf_cstr(&r[i].body), want);
            result_free(&r[i]);
        }
    }
    CHECK_INT(c.rig.n_requests, 2 * COUNT);
    CHECK(http_server_connections(c.rig.server) <= COUNT);
    client_rig_close(&c);
}

TEST(a_stream_comes_piece_by_piece)
{
    struct client_rig c = { 0 };
    struct result r = { 0 };
    struct span event = SPAN("data: 1\n\n");

    client_rig_open(&c);
    client_get(&c, &r, c.url, "/stream");
    client_until(&c, &r.heads);
    CHECK_INT(r.datas, 0);
    for (int i = 1; i <= 3; i++) {
        http_write(c.rig.kept[0], &event, 1);
        while (r.body.n < (size_t)i * event.n)
            loop_turn(c.rig.loop, true);
    }
    CHECK_INT(r.done, 0);
    http_end(c.rig.kept[0]);
    client_until(&c, &r.done);
    CHECK(!r.failed);
    CHECK_STR(buf_cstr(&r.body), "data: 1\n\ndata: 1\n\ndata: 1\n\n");
    result_free(&r);
    client_rig_close(&c);
}

TEST(a_paused_call_stops_its_server_and_loses_nothing)
{
    struct client_rig c = { 0 };
    struct result r = { .pause = true };
    AUTO_BUF struct buf all = { 0 };
    uint32_t v = 1;

    client_rig_open(&c);
    client_get(&c, &r, c.url, "/stream");
    client_until(&c, &r.heads);
    /* The server fills every buffer on the way, and then its own. */
    for (int i = 0; i < 5000 && !http_full(c.rig.kept[0]); i++) {
        struct span part;
        char text[20000];

        for (size_t k = 0; k < sizeof text; k++)
            text[k] = (char)((v = v * 1664525u + 1013904223u) >> 24);
        part = span_make(text, sizeof text);
        buf_add_span(&all, part);
        CHECK(http_write(c.rig.kept[0], &part, 1));
        loop_turn(c.rig.loop, false);
    }
    CHECK(http_full(c.rig.kept[0]));
    CHECK_INT(r.paused, 1);
    CHECK_INT(r.body.n, 0);
    /* Resumed, but refused again: the same bytes come once more. */
    http_call_resume(r.call);
    CHECK_INT(r.paused, 1);
    client_until(&c, (int[]){ 1 });
    while (r.paused < 2)
        loop_turn(c.rig.loop, true);
    CHECK_INT(r.body.n, 0);
    r.pause = false;
    http_call_resume(r.call);
    http_call_resume(r.call);
    http_end(c.rig.kept[0]);
    client_until(&c, &r.done);
    CHECK(!r.failed);
    CHECK_INT(r.body.n, all.n);
    CHECK(!memcmp(r.body.p, all.p, all.n));
    result_free(&r);
    client_rig_close(&c);
}

/* Only what was not taken comes again, and the end after all of it. */
TEST(bytes_may_be_taken_bite_by_bite)
{
    static const size_t bites[] = { 1, 7, 1000, 5000 };

    for (size_t i = 0; i < ARRAY_LEN(bites); i++) {
        struct client_rig c = { 0 };
        struct result r = { .bite = bites[i] };
        AUTO_BUF struct buf all = { 0 };
        struct span whole;

        for (uint32_t v = 1, k = 0; k < bites[i] * 100; k++)
            buf_byte(&all, (char)((v = v * 1664525u + 1013904223u) >> 24));
        client_rig_open(&c);
        client_get(&c, &r, c.url, "/later");
        while (!c.rig.n_kept)
            loop_turn(c.rig.loop, true);
        whole = buf_span(&all);
        http_reply(c.rig.kept[0], 200, NULL, &whole, 1);
        client_until(&c, &r.done);
        CHECK(!r.failed);
        CHECK(r.datas >= 100);
        CHECK_INT(r.body.n, all.n);
        CHECK(!memcmp(r.body.p, all.p, all.n));
        result_free(&r);
        client_rig_close(&c);
    }
}

TEST(a_cancelled_call_says_nothing_more_and_its_server_notices)
{
    struct client_rig c = { 0 };
    struct result r = { 0 }, s = { 0 };

    client_rig_open(&c);
    client_get(&c, &r, c.url, "/never");
    http_call_cancel(r.call); /* before it was begun */
    rig_turns(&c.rig, 20);
    CHECK_INT(c.rig.n_requests, 0);
    client_get(&c, &r, c.url, "/later");
    rig_until_kept(&c.rig, 1);
    http_call_cancel(r.call);
    for (int i = 0; i < RIG_TURNS && !c.rig.n_gone; i++)
        loop_turn(c.rig.loop, false);
    CHECK_INT(c.rig.n_gone, 1);
    client_get(&c, &s, c.url, "/stream");
    client_until(&c, &s.heads);
    http_call_cancel(s.call);
    while (c.rig.n_gone < 2)
        loop_turn(c.rig.loop, true);
    CHECK_INT(r.heads + r.datas + r.done + s.datas + s.done, 0);
    client_rig_close(&c);
}

struct nested {
    struct client_rig *c;
    struct result inner;
    struct http_call *call;
    int in_head, in_data, in_done; /* 1: send another, 2: cancel this, 3: close the client */
    int finished;
    loop_fn *closed;
};

static void nested_closed(void *ctx) { ((struct nested *)ctx)->finished = 1; }

static void nest(struct nested *n, int what)
{
    if (what == 1)
        client_get(n->c, &n->inner, n->c->url, "/inner");
    if (what == 2) {
        http_call_cancel(n->call);
        n->finished = 1;
    }
    if (what == 3)
        http_client_close(n->c->client, nested_closed, n);
}

static void nested_head(void *ctx, int status)
{
    struct nested *n = ctx;

    CHECK_INT(status, 200);
    nest(n, n->in_head);
}

static size_t nested_data(void *ctx, struct span bytes)
{
    struct nested *n = ctx;

    nest(n, n->in_data);
    return bytes.n;
}

static void nested_done(void *ctx, const struct pb_error *err)
{
    struct nested *n = ctx;

    CHECK(err == NULL);
    nest(n, n->in_done);
    if (n->in_done != 3)
        n->finished = 1;
}

/* libcurl forbids nearly everything inside its callbacks; we do not. */
TEST(calls_may_be_sent_cancelled_and_closed_from_inside_events)
{
    static const struct http_client_events events = { nested_head, nested_data, nested_done };

    for (int where = 0; where < 3; where++)
        for (int what = 1; what <= 3; what++) {
            struct client_rig c = { 0 };
            struct nested n = { .c = &c };
            struct pb_error err;
            char url[80];

            *(where == 0 ? &n.in_head : where == 1 ? &n.in_data : &n.in_done) = what;
            client_rig_open(&c);
            snprintf(url, sizeof url, "%s/", c.url);
            CHECK_INT(http_client_send(c.client, &n.call,
                                       &(struct http_client_request){
                                           .url = url, .has_body = true, .body = SPAN("x") },
                                       &events, &n, &err),
                      0);
            client_until(&c, &n.finished);
            if (what == 1)
                client_until(&c, &n.inner.done);
            if (what != 3)
                client_rig_close(&c);
            else
                rig_close(&c.rig);
        }
}

TEST(closing_ends_all_calls_without_a_word)
{
    struct client_rig c = { 0 };
    struct nested n = { 0 };
    struct result r[5] = { 0 }, late = { 0 };
    struct http_call *call;
    struct pb_error err;

    client_rig_open(&c);
    for (int i = 0; i < 4; i++) {
        client_get(&c, &r[i], c.url, i % 2 ? "/stream" : "/later");
        rig_until_kept(&c.rig, i + 1);
    }
    client_get(&c, &r[4], c.url, "/not-begun");
    http_client_close(c.client, nested_closed, &n);
    CHECK_INT(http_client_send(c.client, &call, &(struct http_client_request){ .url = c.url },
                               &result_events, &late, &err),
              -PB_E_CLOSED);
    client_until(&c, &n.finished);
    for (int i = 0; i < 5; i++)
        CHECK_INT(r[i].done + r[i].datas, 0);
    while (c.rig.n_gone < 4)
        loop_turn(c.rig.loop, true);
    rig_close(&c.rig);
}

TEST(a_client_that_was_never_used_costs_and_keeps_nothing)
{
    struct pb_loop *l = loop_new(NULL);
    struct http_client *c = http_client_new(l);

    loop_run(l); /* returns: nothing keeps the loop alive */
    http_client_close(c, NULL, NULL);
    loop_free(l);
}

TEST(the_number_of_calls_has_a_bound)
{
    struct client_rig c = { 0 };
    struct http_call *call;
    struct result r = { 0 };
    struct pb_error err;

    client_rig_open(&c);
    for (int i = 0; i < HTTP_CALLS_MAX; i++)
        CHECK_INT(http_client_send(c.client, &call, &(struct http_client_request){ .url = c.url },
                                   &result_events, &r, &err),
                  0);
    CHECK_INT(http_client_send(c.client, &call, &(struct http_client_request){ .url = c.url },
                               &result_events, &r, &err),
              -PB_E_BUSY);
    CHECK_HAS(err.msg, "10000 HTTP requests are under way");
    client_rig_close(&c);
}

TEST(redirects_are_followed_within_their_origin_only)
{
    static const struct {
        const char *method;
        int status;
        const char *location; /* NULL: none; '/' first: same origin */
        int want;             /* the status delivered */
        const char *seen;     /* the second request, or NULL */
    } cases[] = {
        { "GET", 301, "/b", 200, "GET /b HTTP/1.1" },
        { "GET", 302, "/b?x=1", 200, "GET /b?x=1 HTTP/1.1" },
        { "GET", 303, "b", 200, "GET /b HTTP/1.1" },
        { "GET", 307, "/b", 200, "GET /b HTTP/1.1" },
        { "GET", 308, "/b", 200, "GET /b HTTP/1.1" },
        { "HEAD", 302, "/b", 200, "HEAD /b HTTP/1.1" },
        { "POST", 307, "/b", 200, "POST /b HTTP/1.1" },
        { "POST", 308, "/b", 200, "POST /b HTTP/1.1" },
        { "POST", 301, "/b", 301, NULL },
        { "POST", 302, "/b", 302, NULL },
        { "POST", 303, "/b", 303, NULL },
        { "DELETE", 307, "/b", 307, NULL },
        { "GET", 300, "/b", 300, NULL },
        { "GET", 302, NULL, 302, NULL },
        { "GET", 302, "http://example.com/", 302, NULL },
        { "GET", 302, "//example.com/", 302, NULL },
        { "GET", 302, "http://127.0.0.1:1/", 302, NULL },
        { "GET", 302, "https://127.0.0.1/", 302, NULL },
        { "GET", 302, "file:///etc/passwd", 302, NULL },
        { "GET", 302, "javascript:alert(1)", 302, NULL },
        { "GET", 302, "http://[bad/", 302, NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        bool post = !strcmp(cases[i].method, "POST");
        struct client_rig c = { 0 };
        struct raw w = { 0 };
        struct result r = { .want = "Location" };
        AUTO_BUF struct buf head = { 0 };
        const char *second;
        char url[80];

        buf_printf(&head, "HTTP/1.1 %d X\r\nContent-Length: %d\r\n", cases[i].status,
                   strcmp(cases[i].method, "HEAD") ? 3 : 0);
        if (cases[i].location)
            buf_printf(&head, "Location: %s\r\n", cases[i].location);
        buf_str(&head, strcmp(cases[i].method, "HEAD") ? "\r\nold" : "\r\n");
        raw_add(&w, (struct raw_script){ .first = buf_span(&head), .hold = true });
        raw_add(&w,
                (struct raw_script){ .first = SPAN("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
                                     .hold = true });
        raw_open(&w);
        client_rig_open(&c);
        snprintf(url, sizeof url, "%s/a", w.url);
        client_send(&c, &r,
                    &(struct http_client_request){ .url = url,
                                                   .method = cases[i].method,
                                                   .has_body = post,
                                                   .body = post ? SPAN("body") : SPAN("") });
        client_until(&c, &r.done);
        CHECK(!r.failed);
        CHECK_INT(r.status, cases[i].want);
        CHECK_STR(buf_cstr(&r.header), cases[i].seen       ? "(absent)"
                                       : cases[i].location ? cases[i].location
                                                           : "(absent)");
        CHECK_SPAN(buf_span(&r.body), cases[i].seen ? "" : "old");
        client_rig_close(&c);
        raw_close(&w);
        second = strstr(strstr(buf_cstr(&w.seen), "HTTP/1.1") + 1, " HTTP/1.1");
        CHECK(!second == !cases[i].seen);
        if (cases[i].seen) {
            CHECK(strstr(w.seen.p, cases[i].seen));
            if (post)
                CHECK(strstr(second, "\r\n\r\nbody"));
        }
        buf_done(&w.seen);
        result_free(&r);
    }
}

TEST(redirects_to_another_name_or_password_are_not_followed)
{
    struct client_rig c = { 0 };
    struct raw w = { 0 };
    struct result r = { 0 };
    AUTO_BUF struct buf head = { 0 };

    raw_open(&w);
    buf_printf(&head,
               "HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: http://u:p@127.0.0.1:%d/\r\n\r\n",
               w.port);
    raw_add(&w, (struct raw_script){ .first = buf_span(&head), .hold = true });
    client_rig_open(&c);
    client_get(&c, &r, w.url, "/");
    client_until(&c, &r.done);
    CHECK_INT(r.status, 302);
    client_rig_close(&c);
    raw_close(&w);
    buf_done(&w.seen);
}

TEST(endless_redirects_end)
{
    struct client_rig c = { 0 };
    struct raw w = { 0 };
    struct result r = { 0 };
    int requests = 0;

    raw_add(&w, (struct raw_script){
                    .first = SPAN("HTTP/1.1 302 X\r\nContent-Length: 0\r\nLocation: /\r\n\r\n"),
                    .hold = true });
    raw_open(&w);
    client_rig_open(&c);
    client_get(&c, &r, w.url, "/");
    client_until(&c, &r.done);
    CHECK_INT(r.status, 302);
    client_rig_close(&c);
    raw_close(&w);
    for (const char *at = buf_cstr(&w.seen); (at = strstr(at, "GET / ")); at++)
        requests++;
    CHECK_INT(requests, HTTP_REDIRECTS_MAX + 1);
    buf_done(&w.seen);
}

TEST(the_endless_body_of_a_redirect_is_not_read)
{
    static char x[65536];
    struct client_rig c = { 0 };
    struct raw w = { 0 };
    struct result r = { 0 };

    raw_add(&w, (struct raw_script){ .first = SPAN("HTTP/1.1 302 X\r\nLocation: /b\r\n\r\n"),
                                     .again = { x, sizeof x },
                                     .times = SIZE_MAX });
    raw_add(&w,
            (struct raw_script){ .first = SPAN("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
                                 .hold = true });
    raw_open(&w);
    client_rig_open(&c);
    client_get(&c, &r, w.url, "/a");
    client_until(&c, &r.done);
    CHECK(!r.failed);
    CHECK_STR(buf_cstr(&r.body), "ok");
    client_rig_close(&c);
    raw_close(&w);
    buf_done(&w.seen);
    result_free(&r);
}

TEST(a_missing_libcurl_says_what_to_install)
{
    struct curl_api api;
    struct pb_error err;

    CHECK_INT(curl_api_open(&api, "libcurl-of-nobody.so.4", &err), -PB_E_UNSUPPORTED);
    CHECK_STR(err.msg, "HTTP needs libcurl-of-nobody.so.4; install libcurl (Debian: the package "
                       "libcurl4)");
    CHECK_INT(curl_api_open(&api, "libc.so.6", &err), -PB_E_UNSUPPORTED);
    CHECK_HAS(err.msg, "libc.so.6 has no curl_global_init");
    CHECK(curl_api(&err) != NULL);
}

TEST(proxies_are_used_but_never_for_loopback)
{
    struct client_rig c = { 0 };
    struct result r = { 0 }, s = { 0 };

    client_rig_open(&c);
    setenv("http_proxy", "http://127.0.0.1:1", 1); /* nobody is there */
    setenv("all_proxy", "http://127.0.0.1:1", 1);
    client_get(&c, &r, c.url, "/direct");
    client_until(&c, &r.done);
    CHECK(!r.failed);
    setenv("http_proxy", c.url, 1);
    client_get(&c, &s, "http://name.invalid:8080", "/by-proxy");
    client_until(&c, &s.done);
    CHECK(!s.failed);
    CHECK_STR(buf_cstr(&c.rig.log), "GET /direct 0\nGET http://name.invalid:8080/by-proxy 0\n");
    client_rig_close(&c);
}
