/* A server of the old kind, HTTP+SSE, that lives at exactly one path. */
#include "base/base.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "io/http/http.h"
#include "io/io.h"
#include "mcp/client/client.h"
#include "mcp/client_rig.h"
#include "patchbay.h"
#include "json/json.h"

struct old_server {
    struct web web;
    const char *path;            /* of the stream; nothing else is served */
    const char *endpoint;        /* as it is told to clients */
    struct http_request *stream; /* NULL: nobody is there */
};

static void answer(struct old_server *s, const char *id, const char *result)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", id,
               result);
    web_write(s->stream, buf_cstr(&b));
}

static void gone(void *ctx) { ((struct old_server *)ctx)->stream = NULL; }

static void open_stream(struct old_server *s, struct http_request *r)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b, "event: endpoint\ndata: %s\n\n", s->endpoint);
    s->stream = r;
    http_on_gone(r, gone, s);
    http_begin(r, 200, WEB_SSE);
    web_write(r, buf_cstr(&b));
}

static void serve(struct web *w, struct http_request *r, const char *method, const char *id)
{
    struct old_server *s = CONTAINER_OF(w, struct old_server, web);

    if (span_is(http_method(r), "GET") && span_is(http_path(r), s->path)) {
        open_stream(s, r);
        return;
    }
    if (!span_is(http_path(r), "/old/messages") || !s->stream) {
        web_reply(r, 404, NULL, "");
        return;
    }
    web_reply(r, 202, NULL, "");
    if (!strcmp(method, "initialize"))
        answer(s, id,
               "{\"protocolVersion\":\"2024-11-05\",\"capabilities\":{\"tools\":{}},"
               "\"serverInfo\":{\"name\":\"old\",\"version\":\"1\"}}");
    else if (!strcmp(method, "tools/list"))
        answer(s, id, "{\"tools\":[{\"name\":\"go\",\"inputSchema\":{\"type\":\"object\"}}]}");
    else if (!strcmp(method, "tools/call"))
        answer(s, id, "{\"content\":[{\"type\":\"text\",\"text\":\"went\"}]}");
}

static void keep_reply(void *ctx, const struct client_reply *reply)
{
    char **result = ctx;

    *result = reply->err ? mem_dup(reply->err->msg) : mem_dupn(reply->result.p, reply->result.n);
}

static void on_closed(void *ctx) { *(bool *)ctx = true; }

static void call_it(struct rig *r, struct old_server *s, const char *path)
{
    struct hub_options o = HUB_OPTIONS_INIT;
    AUTO_FREE char *result = NULL;
    char url[128];
    AUTO(spec) struct spec *spec = NULL;
    struct pb_error err;
    struct hub *h;
    uint64_t id;
    bool closed = false;

    o.loop = r->loop;
    h = hub_new(&o);
    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", http_server_port(s->web.server), path);
    spec = spec_sse("old", url);
    hub_start_all(h, &spec, 1);
    CHECK_INT(hub_call(h,
                       &(struct call_spec){ .server = "old",
                                            .method = "tools/call",
                                            .params = SPAN("{\"name\":\"go\",\"arguments\":{}}"),
                                            .subject = SPAN("go"),
                                            .caller = "",
                                            .reply = keep_reply,
                                            .ctx = &result },
                       &id, &err),
              0);
    RIG_UNTIL(r, result);
    CHECK_STR(result, "{\"content\":[{\"type\":\"text\",\"text\":\"went\"}]}");
    CHECK_INT(link_state(hub_link(h, "old")), LINK_CONNECTED);
    CHECK_INT(hub_disconnect(h, "old", &err), 0);
    RIG_UNTIL(r, !s->stream); /* the connection is really closed */
    hub_close(h, on_closed, &closed);
    RIG_UNTIL(r, closed);
}

/* S4-229 S4-230 S4-86 */
TEST(an_sse_url_is_taken_as_it_is_with_and_without_a_slash_at_its_end)
{
    static const struct {
        const char *path, *endpoint;
    } cases[] = {
        { "/old/sse/", "/old/messages" },
        { "/old/sse", "/old/messages" },
        { "/old/sse/", "../messages" },
        { "/old/sse", "messages" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct old_server s = { .path = cases[i].path, .endpoint = cases[i].endpoint };
        struct rig r;

        rig_init(&r, false);
        web_start(&s.web, &r, serve);
        call_it(&r, &s, cases[i].path);
        web_stop(&s.web);
        rig_done(&r);
    }
}
