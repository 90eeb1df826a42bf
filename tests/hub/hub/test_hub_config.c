/* A hub and the files that name its servers: what they decide, and what is not theirs. */
#include "hub/catalog/catalog.h"
#include "hub/config/config.h"
#include "hub/config_rig.h"
#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "io/http/http.h"
#include "mcp/client/client.h"
#include "mcp/client_rig.h"
#include "temp_dir.h"

/* Makes the servers of the hub those of this text. */
static void take(struct hub_rig *r, const char *text)
{
    AUTO(config) struct config *c = config_rig_parse(text, NULL);

    hub_apply(r->hub, c);
    fakes_settle(&r->fakes);
}

/* S4-36 */
TEST(configured_servers_are_connected_at_once_and_disabled_ones_are_not)
{
    struct hub_rig r;

    hub_rig_init(&r);
    hub_rig_start(&r);
    r.fakes.fallback = hub_rig_server(&r, "any");
    take(&r, "{\"servers\":{"
             "\"a\":{\"transport\":\"stdio\",\"command\":\"x\"},"
             "\"b\":{\"transport\":\"sse\",\"url\":\"http://127.0.0.1:1/sse\"},"
             "\"off\":{\"transport\":\"stdio\",\"command\":\"x\",\"enabled\":false}}}");
    CHECK_INT(hub_rig_state(&r, "a"), LINK_CONNECTED);
    CHECK_INT(hub_rig_state(&r, "b"), LINK_CONNECTED);
    CHECK_INT(hub_rig_state(&r, "off"), LINK_DISABLED);
    CHECK_STR(buf_cstr(&r.fakes.opened), "a\nb\n");
    hub_rig_done(&r);
}

/* S4-57 */
TEST(a_server_has_one_time_limit_for_all_its_tools)
{
    static const char text[] =
        "{\"servers\":{\"a\":{\"transport\":\"stdio\",\"command\":\"x\",\"timeout_s\":2,"
        "\"tool_timeouts\":{\"one\":60}},"
        "\"b\":{\"transport\":\"stdio\",\"command\":\"x\",\"timeout_s\":5}}}";
    static const struct {
        const char *server, *tool;
        uint64_t ms;
    } cases[] = { { "a", "one", 2000 }, { "a", "two", 2000 }, { "b", "one", 5000 } };
    AUTO(config) struct config *c = config_rig_parse(text, NULL);
    AUTO_BUF struct buf warnings = { 0 };

    CHECK_HAS(config_rig_warnings(&warnings, c), "tool_timeouts"); /* nothing that there is */
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct hub_rig r;
        struct fake_reply a = { 0 };

        hub_rig_init(&r);
        hub_rig_start(&r);
        r.fakes.fallback = fakes_add(&r.fakes, "any");
        fake_tool(r.fakes.fallback, "one", FAKE_HANG);
        fake_tool(r.fakes.fallback, "two", FAKE_HANG);
        take(&r, text);
        CHECK_INT(hub_rig_call(&r, cases[i].server, cases[i].tool, &a, NULL, NULL), 0);
        hub_rig_pass(&r, cases[i].ms - 1);
        CHECK_INT(a.count, 0);
        hub_rig_pass(&r, 1);
        CHECK_INT(a.count, 1);
        CHECK_INT(fault_of(&a.err), FAULT_TIMEOUT);
        fake_reply_done(&a);
        hub_rig_done(&r);
    }
}

static struct config *load(const char *path)
{
    const char *files[] = { path, NULL };
    struct config_request q = { .files = files };
    struct config *c = NULL;
    struct pb_error err = { 0 };

    if (config_load(&c, &q, &err) < 0)
        TAP_FAIL("%s", err.msg);
    return c;
}

/* S4-59 */
TEST(what_is_connected_at_run_time_is_in_no_file_and_gone_with_the_hub)
{
    static const char text[] =
        "{\n  \"servers\": {\"a\": {\"transport\": \"stdio\", \"command\": \"x\"}}\n}\n";
    const char *path = temp_path("mcp_clients.json");

    temp_write(path, text);
    for (int run = 0; run < 2; run++) {
        AUTO(config) struct config *c = load(path);
        struct hub_rig r;

        hub_rig_init(&r);
        hub_rig_start(&r);
        r.fakes.fallback = hub_rig_server(&r, "any");
        hub_apply(r.hub, c);
        fakes_settle(&r.fakes);
        CHECK_INT(hub_count(r.hub), 1); /* also in the second run */
        hub_rig_begin(&r, "guest", (struct rig_spec){ .runtime_only = true });
        fakes_settle(&r.fakes);
        CHECK_INT(hub_rig_state(&r, "guest"), LINK_CONNECTED);
        hub_apply(r.hub, c); /* reading the file again leaves it alone */
        fakes_settle(&r.fakes);
        CHECK_INT(hub_rig_state(&r, "guest"), LINK_CONNECTED);
        CHECK_STR(temp_read(path), text);
        hub_rig_done(&r);
        CHECK_STR(temp_read(path), text);
    }
}

/* S4-60 */
TEST(there_may_be_as_many_connections_as_one_wants)
{
    enum { MANY = 1500 };
    struct hub_rig r;
    struct fake_reply a = { 0 };
    char name[32];

    hub_rig_init(&r);
    r.opts.health_ms = 0;
    hub_rig_start(&r);
    r.fakes.fallback = hub_rig_server(&r, "any");
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "s%d", i);
        hub_rig_begin(&r, name, (struct rig_spec){ 0 });
    }
    FAKES_UNTIL(&r.fakes, hub_rig_state(&r, name) == LINK_CONNECTED);
    for (int i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "s%d", i);
        CHECK_INT(hub_rig_state(&r, name), LINK_CONNECTED);
    }
    CHECK_INT(hub_rig_call(&r, "s777", "echo", &a, NULL, NULL), 0);
    FAKES_UNTIL(&r.fakes, a.count);
    CHECK(a.result != NULL);
    fake_reply_done(&a);
    hub_rig_done(&r);
}

/* S4-62 */
TEST(an_inline_server_is_a_url_or_a_command_by_how_it_begins)
{
    static const struct {
        const char *text;
        enum spec_transport transport;
        const char *target, *first;
    } cases[] = {
        { "a:http://h.test/sse", SPEC_SSE, "http://h.test/sse", NULL },
        { "a:https://h.test/sse", SPEC_SSE, "https://h.test/sse", NULL },
        { "a: http://h.test/x", SPEC_SSE, "http://h.test/x", NULL },
        { "a:httpd -v", SPEC_STDIO, "httpd", "-v" },
        { "a:http:/h.test", SPEC_STDIO, "http:/h.test", NULL },
        { "a:npx -y @x/fs", SPEC_STDIO, "npx", "-y" },
        { "a:/bin/http://x", SPEC_STDIO, "/bin/http://x", NULL },
        { "a:sse://h.test", SPEC_STDIO, "sse://h.test", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(spec) struct spec *s = NULL;

        CHECK_INT(config_inline(&s, cases[i].text, NULL), 0);
        CHECK_INT(s->transport, cases[i].transport);
        CHECK_STR(s->transport == SPEC_STDIO ? s->command : s->url, cases[i].target);
        if (cases[i].first)
            CHECK_STR(s->args[0], cases[i].first);
        else if (s->transport == SPEC_STDIO)
            CHECK(!s->args[0]);
    }
}

/* ---- single tools ---- */

/* S1-4 */
TEST(single_tools_of_a_server_are_switched_off_and_on)
{
    const char *path = temp_path("config.json");
    const char *const lists[] = { "disabledTools", "disabled_tools", NULL };
    struct hub_rig r;
    struct scope all = { 0 };
    struct fake_server *f;

    temp_write(path, "{\"mcpServers\":{\"a\":{\"command\":\"x\"}}}");
    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_server(&r, "a");
    fake_tool(f, "danger", FAKE_TEXT);
    for (int off = 0; off < 4; off++) {
        AUTO(config) struct config *c = NULL;
        struct blob *shown;
        AUTO_FREE char *text = NULL;
        struct pb_error err = { 0 };

        if (off)
            CHECK_INT(config_list_member(path, "a", lists, "danger", off % 2, NULL), 0);
        c = load(path);
        hub_apply(r.hub, c);
        fakes_settle(&r.fakes);
        shown = catalog_render(hub_catalog(r.hub), &all, LIST_TOOLS);
        text = mem_dupn(blob_span(shown).p, blob_span(shown).n);
        blob_unref(shown);
        CHECK_HAS(text, "a__echo");
        CHECK(!strstr(text, "a__danger") == (off % 2 == 1));
        CHECK(!catalog_find(hub_catalog(r.hub), &all, LIST_TOOLS, SPAN("a/danger"), &err) ==
              (off % 2 == 1));
        if (off % 2)
            CHECK_INT(fault_of(&err), FAULT_NO_TOOL);
    }
    CHECK_INT(f->connects, 1); /* without a new connection */
    hub_rig_done(&r);
}

/* ---- openers ---- */

struct openers {
    struct fakes *fakes;
    struct link_options real;
};

/* A shell script; `cases` answers what comes after the handshake. */
static struct spec *script(const char *name, const char *cases)
{
    AUTO_BUF struct buf b = { 0 };
    const char *args[] = { "-c", NULL, NULL };

    buf_printf(&b, "%swhile read -r l; do legacy || case $l in %s esac; done", rig_sh, cases);
    args[1] = buf_cstr(&b);
    return spec_stdio(name, "sh", args, NULL);
}

/* One server is a double, the others are what they are. */
static int open_some(void *ctx, struct client **out, struct pb_loop *loop, const struct spec *spec,
                     const char *caller, const struct client_events *events, void *events_ctx,
                     struct pb_error *err)
{
    struct openers *o = ctx;

    if (!strcmp(spec->name, "mock"))
        return fake_open(o->fakes, out, loop, spec, caller, events, events_ctx, err);
    return link_open_client(&o->real, out, loop, spec, caller, events, events_ctx, err);
}

/* S1-64 */
TEST(a_test_can_put_a_double_in_the_place_of_one_server)
{
    struct openers o = { 0 };
    struct hub_rig r;
    struct fake_reply mock = { 0 }, real = { 0 };
    AUTO(spec)
    struct spec *s =
        script("real", "*tools/list*) ok '{\"tools\":[{\"name\":\"go\",\"inputSchema\":{}}]}';;"
                       "*tools/call*) ok '{\"content\":[{\"type\":\"text\",\"text\":\"sh\"}]}';;");

    hub_rig_init(&r);
    o.fakes = &r.fakes;
    o.real = (struct link_options){ .loop = r.fakes.loop, .connect_ms = 10000 };
    r.opts.open = open_some;
    r.opts.open_ctx = &o;
    hub_rig_start(&r);
    fake_tool(fakes_add(&r.fakes, "mock"), "go", FAKE_TEXT)->text = "double";
    hub_rig_begin(&r, "mock", (struct rig_spec){ 0 });
    hub_start_all(r.hub, &s, 1);
    FAKES_WAIT(&r.fakes, hub_rig_state(&r, "real") == LINK_CONNECTED);
    CHECK_INT(hub_rig_call(&r, "mock", "go", &mock, NULL, NULL), 0);
    CHECK_INT(hub_rig_call(&r, "real", "go", &real, NULL, NULL), 0);
    FAKES_WAIT(&r.fakes, mock.count && real.count);
    CHECK_HAS(mock.result, "double");
    CHECK_HAS(real.result, "\"sh\"");
    CHECK_HAS(buf_cstr(&fakes_find(&r.fakes, "mock")->history), "go {\"n\":1}");
    fake_reply_done(&mock);
    fake_reply_done(&real);
    hub_rig_done(&r);
}

/* ---- servers that run elsewhere ---- */

struct web_rig {
    struct rig r;
    struct web web;
    struct hub *hub;
    bool closed;
    char headers[256]; /* those that were sent for authentication */
};

static void answer_web(struct web *w, struct http_request *r, const char *method, const char *id)
{
    static const char *const auth[] = { "Authorization", "Cookie", "Proxy-Authorization",
                                        "X-Api-Key" };
    struct web_rig *rig = CONTAINER_OF(w, struct web_rig, web);

    for (size_t i = 0; i < ARRAY_LEN(auth); i++) {
        struct span value = http_header(r, auth[i], NULL);

        if (value.p)
            snprintf(rig->headers, sizeof rig->headers, "%s: %.*s", auth[i], SPAN_ARG(value));
    }
    if (web_legacy(r, method, id))
        return;
    if (!strcmp(method, "tools/list"))
        web_result(r, id, "{\"tools\":[{\"name\":\"go\",\"inputSchema\":{\"type\":\"object\"}}]}",
                   NULL);
    else if (!strcmp(method, "tools/call"))
        web_result(r, id, "{\"content\":[{\"type\":\"text\",\"text\":\"went\"}]}", NULL);
    else
        web_result(r, id, "{\"resources\":[],\"resourceTemplates\":[]}", NULL);
}

static void web_rig_begin(struct web_rig *w, const char *form)
{
    struct hub_options o = HUB_OPTIONS_INIT;
    AUTO_BUF struct buf text = { 0 };
    AUTO(config) struct config *c = NULL;

    *w = (struct web_rig){ 0 };
    rig_init(&w->r, false);
    web_start(&w->web, &w->r, answer_web);
    o.loop = w->r.loop;
    w->hub = hub_new(&o);
    for (const char *p = form; *p; p++) /* "@" is the address */
        if (*p == '@')
            buf_str(&text, w->web.url);
        else
            buf_byte(&text, *p);
    c = config_rig_parse(buf_cstr(&text), NULL);
    hub_apply(w->hub, c);
}

static void web_rig_closed(void *ctx) { ((struct web_rig *)ctx)->closed = true; }

static void web_rig_end(struct web_rig *w)
{
    hub_close(w->hub, web_rig_closed, w);
    RIG_UNTIL(&w->r, w->closed);
    web_stop(&w->web);
    rig_done(&w->r);
}

static void web_call(struct web_rig *w, const char *server)
{
    struct fake_reply a = { 0 };
    uint64_t id;
    struct call_spec spec = {
        .server = server,
        .method = "tools/call",
        .params = SPAN("{\"name\":\"go\",\"arguments\":{}}"),
        .subject = SPAN("go"),
        .caller = "",
        .reply = fake_on_reply,
        .ctx = &a,
    };
    struct pb_error err;

    if (hub_call(w->hub, &spec, &id, &err) < 0)
        TAP_FAIL("%s", err.msg);
    RIG_UNTIL(&w->r, a.count);
    if (!a.result)
        TAP_FAIL("%s", a.err.msg);
    CHECK_HAS(a.result, "went");
    fake_reply_done(&a);
}

/* S1-3 */
TEST(a_hosted_server_of_the_list_is_used_over_http)
{
    struct web_rig w;

    web_rig_begin(&w,
                  "{\"version\":\"1.0\",\"profiles\":[],\"mcps\":[{\"id\":"
                  "\"3f2504e0-4f89-41d3-9a0c-0305e82c3301\",\"name\":\"Hosted\",\"enabled\":true,"
                  "\"source\":{\"type\":\"smithery\",\"qualified_name\":\"@x/hosted\"},"
                  "\"package\":{\"type\":\"http\",\"identifier\":\"@\",\"runtime_hint\":null},"
                  "\"transport\":\"http\",\"auth_type\":\"none\"}]}");
    web_call(&w, "hosted"); /* it is lazy: the call starts it */
    CHECK_INT(link_state(hub_link(w.hub, "hosted")), LINK_CONNECTED);
    CHECK_HAS(w.web.log, "POST tools/call\n");
    web_rig_end(&w);
}

/* S4-61 */
TEST(a_server_without_authentication_needs_none_and_is_sent_none)
{
    struct web_rig w;

    web_rig_begin(&w, "{\"servers\":{\"a\":{\"transport\":\"http\",\"url\":\"@\"}}}");
    web_call(&w, "a");
    CHECK_STR(w.headers, "");
    web_rig_end(&w);
    /* The same look at a server that is told something. */
    web_rig_begin(&w, "{\"mcpServers\":{\"a\":{\"url\":\"@\",\"headers\":{\"Authorization\":"
                      "\"Bearer x\"}}}}");
    web_call(&w, "a");
    CHECK_STR(w.headers, "Authorization: Bearer x");
    web_rig_end(&w);
}
