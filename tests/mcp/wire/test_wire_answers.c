/* test_wire_answers.c - what HTTP servers answer that is no answer, or too much of one. */
#include "io/http/http.h"
#include "mcp/client/client.h"
#include "mcp/client_rig.h"
#include "mcp/registry/registry.h"

struct plain {
    int status;
    const char *type, *body;
    bool skip_id;
};

/* Each '$' becomes the id. */
static void fill_in(struct buf *out, const char *body, const char *id)
{
    for (const char *c = body; *c; c++) {
        if (*c == '$')
            buf_str(out, id);
        else
            buf_byte(out, *c);
    }
}

static void answer_plain(struct web *w, struct http_request *r, const char *method, const char *id)
{
    const struct plain *p = w->ctx;
    AUTO_BUF struct buf b = { 0 };

    if (web_legacy(r, method, id))
        return;
    fill_in(&b, p->body, id);
    web_reply(r, p->status, p->type, buf_cstr(&b));
}

#define BEARER "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n"

TEST(answers_that_are_none_end_the_request_with_the_right_error)
{
    static const struct {
        struct plain p;
        enum pb_code code;
        int sys;
    } cases[] = {
        { { 200, WEB_JSON,
            "{\"jsonrpc\":\"2.0\",\"id\":$,\"error\":{\"code\":-32602,\"message\":"
            "\"bad\"}}",
            false },
          PB_E_REMOTE,
          -32602 },
        { { 400, WEB_JSON,
            "{\"jsonrpc\":\"2.0\",\"id\":$,\"error\":{\"code\":-32600,\"message\":"
            "\"bad\"}}",
            false },
          PB_E_REMOTE,
          -32600 },
        { { 400, WEB_JSON,
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32600,"
            "\"message\":\"bad\"}}",
            false },
          PB_E_REMOTE,
          -32600 },
        { { 500, WEB_JSON,
            "{\"jsonrpc\":\"2.0\",\"id\":$,\"error\":{\"code\":-32603,\"message\":"
            "\"bad\"}}",
            false },
          PB_E_REMOTE,
          -32603 },
        { { 401, BEARER, "", false }, PB_E_AUTH, 401 },
        { { 403, NULL, "", false }, PB_E_AUTH, 403 },
        { { 500, NULL, "oops", false }, PB_E_CLOSED, 0 },
        { { 400, "Content-Type: text/html\r\n", "<html>", false }, PB_E_INVALID, 0 },
        { { 202, NULL, "", false }, PB_E_INVALID, 0 },
        { { 204, NULL, "", false }, PB_E_INVALID, 0 },
        { { 200, "Content-Type: text/plain\r\n", "hello", false }, PB_E_INVALID, 0 },
        { { 200, WEB_JSON, "", false }, PB_E_INVALID, 0 },
        { { 200, WEB_JSON, "{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}", false },
          PB_E_INVALID,
          0 },
        { { 200, WEB_JSON, "{\"jsonrpc\":\"2.0\",\"id\":$,\"id\":$,\"result\":{}}", false },
          PB_E_INVALID,
          0 },
        { { 200, WEB_JSON, "{\"jsonrpc\":\"2.0\",\"id\":$,\"result\":[]}", false },
          PB_E_INVALID,
          0 },
        { { 200, WEB_JSON, "{\"jsonrpc\":\"2.0\",\"id\":\"$\",\"result\":{}}", false },
          PB_E_INVALID,
          0 },
        { { 200, WEB_SSE, "data: not json\n\n", false }, PB_E_CLOSED, 0 },
        { { 302, "Location: http://127.0.0.2:9/\r\n", "", false }, PB_E_INVALID, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct site s = { .w.ctx = (void *)(uintptr_t)&cases[i].p };
        struct answer a;

        site_open(&s, false, answer_plain, NULL);
        rig_request(&s.r, &a, "tools/list", NULL);
        if (a.err.code != cases[i].code || a.err.sys != cases[i].sys)
            TAP_FAIL("case %zu: code %d sys %d: %s", i, a.err.code, a.err.sys, a.err.msg);
        if (cases[i].p.type && strcmp(cases[i].p.type, BEARER) == 0)
            CHECK_STR(client_challenge(s.r.client), "Bearer error=\"invalid_token\"");
        /* The body of a refusal is nobody's business but the server's. */
        CHECK(!strstr(a.err.msg, "oops") && !strstr(a.err.msg, "<html>"));
        answer_done(&a);
        site_done(&s);
    }
}

/* The stream stays open: its end says nothing. */
static void answer_malformed(struct web *w, struct http_request *r, const char *method,
                             const char *id)
{
    AUTO_BUF struct buf b = { 0 };

    if (web_legacy(r, method, id))
        return;
    fill_in(&b, w->ctx, id);
    web_stream(w, r);
    web_event(r, buf_cstr(&b));
}

TEST(a_malformed_answer_on_an_open_stream_ends_its_request_at_once)
{
    static const char *const bad[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":$,\"result\":{},\"error\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":$,\"result\":{",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct site s = { .w.ctx = (void *)(uintptr_t)bad[i] };
        struct answer a;

        site_open(&s, true, answer_malformed, NULL);
        rig_request(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
        CHECK_INT(a.err.code, PB_E_INVALID);
        CHECK_HAS(a.err.msg, "tools/call: the answer is ");
        RIG_UNTIL(&s.r, s.w.gone == 1);
        site_done(&s);
    }
}

static void answer_sized(struct web *w, struct http_request *r, const char *method, const char *id)
{
    const size_t *size = w->ctx;
    bool stream = strcmp(method, "resources/list") == 0;
    AUTO_BUF struct buf b = { 0 };
    struct span part;

    if (web_legacy(r, method, id))
        return;
    buf_printf(&b, "%s{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"x\":\"", stream ? "data:" : "",
               id);
    while (b.n < *size + (stream ? 5 : 0) - 3)
        buf_byte(&b, 'a');
    buf_str(&b, "\"}}");
    if (stream)
        buf_str(&b, "\n\n");
    part = buf_span(&b);
    http_reply(r, 200, stream ? WEB_SSE : WEB_JSON, &part, 1);
}

TEST(the_size_limit_holds_while_an_answer_arrives)
{
    static const struct {
        size_t size;
        bool good;
    } cases[] = { { 4096, true }, { 4097, false }, { 409600, false } };
    static const char *const methods[] = { "tools/list", "resources/list" };

    for (size_t i = 0; i < ARRAY_LEN(cases) * 2; i++) {
        struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
        size_t size = cases[i / 2].size;
        struct site s = { .w.ctx = &size };
        struct answer a;

        o.max_message_bytes = 4096;
        site_open(&s, false, answer_sized, &o);
        rig_request(&s.r, &a, methods[i % 2], NULL);
        CHECK_INT(a.err.code, cases[i / 2].good ? PB_OK : PB_E_LIMIT);
        size = 1000;
        answer_done(&a);
        rig_request(&s.r, &a, methods[i % 2], NULL);
        CHECK_INT(a.err.code, PB_OK);
        answer_done(&a);
        site_done(&s);
    }
}
