/* The doors of REST: who is let in, what is at which path, and what the documents say about it. */
#include "face/listen/console_files.h"
#include "face/listen/listen.h"
#include "face/rest/rest.h"
#include "face/rest/rest_impl.h"
#include "face/rest_rig.h"
#include "hub/link/link.h"

/* "/api/servers/{name}/logs" -> "/api/servers/x/logs" */
static void fill(char *out, size_t room, const struct rest_route *t)
{
    AUTO_BUF struct buf b = { 0 };

    for (const char *p = t->path; *p; p++) {
        if (*p == '{') {
            buf_byte(&b, 'x');
            p = strchr(p, '}');
        } else {
            buf_byte(&b, *p);
        }
    }
    snprintf(out, room, "%s %s", t->method, buf_cstr(&b));
}

TEST(the_table_is_sorted_and_complete)
{
    for (const struct rest_route *t = rest_routes; t->method; t++) {
        const struct rest_route *next = t + 1;
        size_t braces = 0, params = 0, n = 0;

        if (next->method) {
            int order = strcmp(t->path, next->path);

            CHECK(order < 0 || (order == 0 && strcmp(t->method, next->method) < 0));
        }
        for (const char *p = t->path; *p; p++)
            braces += *p == '{';
        for (const struct rest_param *p = t->params; p && p->name; p++, n++) {
            params += p->in == REST_PATH;
            CHECK(*p->help);
            CHECK(p->in != REST_BODY || strcmp(t->method, "GET") != 0);
        }
        /* What is not for everybody is for those who may read exactly when it changes nothing. */
        CHECK_INT((t->flags & (REST_READ | REST_PUBLIC)) != 0, strcmp(t->method, "GET") == 0);
        CHECK_INT(params, braces);
        CHECK(n <= REST_PARAMS_MAX);
        CHECK(t->run && *t->help && !t->answer != !t->type);
    }
}

/* All that wants no token. Nothing may join them unnoticed. */
static const char *const public_paths[] = { "/",     "/console.css", "/console.js",  "/console.svg",
                                            "/docs", "/health",      "/openapi.json" };

static bool is_public(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(public_paths); i++)
        if (strcmp(path, public_paths[i]) == 0)
            return true;
    return false;
}

static const struct {
    const char *host, *query, *headers;
    int status;
    const char *error;
} strangers[] = {
    { "evil.example", "", REST_TOKEN, 403, "forbidden" },
    { "127.0.0.1.evil.example", "", REST_TOKEN, 403, "forbidden" },
    { "localhost", "", REST_TOKEN, 403, "forbidden" }, /* on another port */
    { NULL, "", REST_TOKEN "Origin: http://evil.example\r\n", 403, "forbidden" },
    { NULL, "", REST_TOKEN "Origin: null\r\n", 403, "forbidden" },
    { NULL, "", REST_TOKEN "Origin: http://127.0.0.1\r\n", 403, "forbidden" },
    { NULL, "", "", 401, "unauthorized" },
    { NULL, "?token=secret", "", 401, "unauthorized" },
    { NULL, "?access_token=secret", "", 401, "unauthorized" },
    { NULL, "", "Authorization: Bearer wrong\r\n", 401, "unauthorized" },
    { NULL, "", "Authorization: Bearer \r\n", 401, "unauthorized" },
    { NULL, "", "Authorization: Basic c2VjcmV0\r\n", 401, "unauthorized" },
    { NULL, "", "Cookie: token=secret\r\n", 401, "unauthorized" },
    { NULL, "", REST_TOKEN REST_TOKEN, 400, "invalid_request" },
};

/* Every route, every way not to be let in. */
TEST(no_route_lets_a_stranger_in)
{
    struct rest_rig rig;
    struct fake_server *f;

    rest_init(&rig, NULL);
    fake_tool(f = rig_server(&rig.hub, "x"), "echo", FAKE_ECHO);
    rest_start(&rig);
    for (const struct rest_route *t = rest_routes; t->method; t++) {
        for (size_t i = 0; i < ARRAY_LEN(strangers); i++) {
            char request[256];

            if (is_public(t->path) && strangers[i].status == 401)
                continue;
            fill(request, sizeof request, t);
            snprintf(request + strlen(request), sizeof request - strlen(request), "%s",
                     strangers[i].query);
            if (rest_ask(&rig, request, strangers[i].host, strangers[i].headers, "") !=
                strangers[i].status)
                TAP_FAIL("%s: %s", request, rest_head);
            CHECK_STR(got("error"), strangers[i].error);
            CHECK(!strstr(rest_head, "Access-Control"));
        }
        loop_advance(rig.hub.fakes.loop, 1000); /* who guesses has to wait */
    }
    CHECK_INT(link_state(rig_link(&rig.hub, "x")), LINK_CONNECTED);
    CHECK_INT(f->calls, 0);
    /* What is not there is no secret to be found out either. */
    CHECK_INT(rest_ask(&rig, "GET /api/nosuch", NULL, "", ""), 401);
    rest_done(&rig);
}

/* Every path that there is, of every face: let in are those of the list, and no other. */
TEST(without_a_token_only_what_is_the_same_for_everybody_is_there)
{
    static const char *const others[] = { "/health",     "/mcp",     "/mcp/x",      "/mcp/mode/m",
                                          "/sse",        "/mcp/sse", "/messages",   "/api",
                                          "/nosuch",     "/console", "/index.html", "//",
                                          "/favicon.ico" };
    const char *paths[128];
    size_t n = 0, found = 0;
    struct rest_rig rig;

    for (const struct rest_route *t = rest_routes; t->method; t++)
        if (!n || strcmp(paths[n - 1], t->path) != 0)
            paths[n++] = t->path;
    for (const struct console_file *f = console_files; f->path; f++)
        paths[n++] = f->path;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        paths[n++] = others[i];
    CHECK(n < ARRAY_LEN(paths));
    rest_init(&rig, NULL);
    rig_server(&rig.hub, "x");
    rest_start(&rig);
    for (size_t i = 0; i < n; i++) {
        char request[256];
        int status;

        snprintf(request, sizeof request, "GET %s", paths[i]);
        status = rest_ask(&rig, request, NULL, "", "");
        if (status != (is_public(paths[i]) ? 200 : 401))
            TAP_FAIL("%s: %s", request, rest_head);
        found += is_public(paths[i]);
        CHECK_INT(rest_ask(&rig, request, "evil.example", REST_TOKEN, ""), 403);
        CHECK_INT(rest_ask(&rig, request, NULL, REST_TOKEN "Origin: null\r\n", ""), 403);
    }
    CHECK_INT(found, console_files[0].path ? ARRAY_LEN(public_paths) : 3);
    rest_done(&rig);
}

TEST(who_guesses_tokens_has_to_wait_and_who_has_the_right_one_does_not)
{
    static const char wrong[] = "Authorization: Bearer wrong\r\n";
    struct rest_rig rig;

    rest_init(&rig, NULL);
    rest_start(&rig);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < SERVE_WRONG_TOKENS_MAX; i++)
            CHECK_INT(rest_ask(&rig, "GET /api/status", NULL, wrong, ""), 401);
        CHECK_INT(rest_ask(&rig, "GET /api/status", NULL, wrong, ""), 429);
        CHECK_HAS(rest_head, "Retry-After: 1\r\n");
        CHECK_STR(got("error"), "too_many_wrong_tokens");
        CHECK(*got("message") && *got("next"));
        CHECK_INT(rest_ask(&rig, "POST /mcp", NULL, wrong, "{}"), 429);
        /* No token is no guess. */
        CHECK_INT(rest_ask(&rig, "GET /api/status", NULL, "", ""), 401);
        CHECK_INT(GET(&rig, "/api/status"), 200);
        CHECK_INT(rest_ask(&rig, "GET /health", NULL, wrong, ""), 200);
        loop_advance(rig.hub.fakes.loop, 1000);
    }
    rest_done(&rig);
}

/* Calls that hang, as many as may be under way: the next is refused, until one of them is over. */
TEST(requests_under_way_are_bounded)
{
    static const char body[] = "{\"tool\":\"x/hang\"}";
    struct line *lines = mem_zero(REST_REQUESTS_MAX * sizeof *lines);
    struct rest_rig rig;
    struct line extra;

    allow_files(2 * REST_REQUESTS_MAX + 100);
    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "x"), "hang", FAKE_HANG);
    rest_start(&rig);
    line_open(&rig, &extra);
    for (size_t i = 0; i < REST_REQUESTS_MAX; i++) {
        line_call(&rig, &lines[i], body);
        fakes_settle(&rig.hub.fakes);
    }
    CHECK_INT(GET(&rig, "/api/status"), 503);
    CHECK_STR(got("error"), "too_many_requests");
    CHECK_HAS(rest_head, "Retry-After: 1\r\n");
    /* Streams are counted apart, and who may not come in is told so all the same. */
    line_ask(&extra, "GET /api/events", NULL, REST_TOKEN, "");
    line_until(&extra, "retry:");
    CHECK_INT(rest_ask(&rig, "GET /api/status", NULL, "", ""), 401);
    line_close(&lines[0]);
    CHECK_INT(GET(&rig, "/api/status"), 200);
    for (size_t i = 1; i < REST_REQUESTS_MAX; i++)
        line_close(&lines[i]);
    line_close(&extra);
    free(lines);
    rest_done(&rig);
}

TEST(what_is_not_there_and_what_a_path_does_not_take)
{
    static const struct {
        const char *request;
        int status;
        const char *allow;
    } cases[] = {
        { "GET /api", 404, "" },
        { "GET /api/", 404, "" },
        { "GET /api/nosuch", 404, "" },
        { "GET /api/servers/", 404, "" },
        { "GET /api/servers//logs", 404, "" },
        { "GET /api/servers/x/logs/", 404, "" },
        { "GET /api/servers/x/y/z", 404, "" },
        { "GET /api/../api/status", 404, "" },
        { "POST /api/mcp-clients", 405, "Allow: GET, HEAD, OPTIONS\r\n" },
        { "GET /api/mcp-clients/connect", 405, "Allow: POST, OPTIONS\r\n" },
        { "PATCH /api/servers/x", 405, "Allow: DELETE, GET, PUT, HEAD, OPTIONS\r\n" },
        { "TRACE /api/status", 405, "Allow: GET, HEAD, OPTIONS\r\n" },
        { "OPTIONS /api/servers", 204, "Allow: GET, POST, HEAD, OPTIONS\r\n" },
        { "OPTIONS /api/nosuch", 404, "" },
        { "GET /api/servers/%zz", 400, "" },
        { "GET /api/servers/%00", 400, "" },
        { "GET /api/servers/%ff", 400, "" },
        { "GET /api/servers/%2e%2e", 404, "" },
        { "GET /api/servers/a%2Fb", 404, "" },
        { "GET /api/tools?nosuch=1", 400, "" },
        { "GET /api/tools?limit=1&limit=2", 400, "" },
        { "GET /api/tools?limit=-1", 400, "" },
        { "GET /api/tools?limit=0", 400, "" },
        { "GET /api/tools?limit=1001", 400, "" },
        { "GET /api/tools?limit=99999999999999999999", 400, "" },
        { "GET /api/tools?limit=1x", 400, "" },
        { "GET /api/tools?q=%", 400, "" },
        { "GET /api/events?types=serverLog,nosuch", 400, "" },
        { "GET /api/servers/x/logs?since=nan", 400, "" },
    };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    rig_server(&rig.hub, "x");
    rest_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        if (rest_send(&rig, cases[i].request, "") != cases[i].status)
            TAP_FAIL("%s: %s%s", cases[i].request, rest_head, rest_body);
        CHECK_HAS(rest_head, cases[i].allow);
        if (cases[i].status != 204)
            CHECK(*got("error") && *got("message"));
    }
    rest_done(&rig);
}

TEST(a_head_is_a_get_without_its_body)
{
    static const char *const paths[] = { "HEAD /api/status", "HEAD /api/mcp-clients",
                                         "HEAD /api/events", "HEAD /metrics", "HEAD /docs" };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct line s;

        line_open(&rig, &s);
        line_ask(&s, paths[i], NULL, REST_TOKEN "Connection: close\r\n", "");
        while (!s.over)
            line_turn(&s);
        CHECK_HAS(buf_cstr(&s.in), "HTTP/1.1 200 OK\r\n");
        CHECK_STR(strstr(buf_cstr(&s.in), "\r\n\r\n"), "\r\n\r\n");
        line_close(&s);
    }
    rest_done(&rig);
}

TEST(a_body_must_say_that_it_is_json)
{
    static const struct {
        const char *headers;
        int status;
    } cases[] = {
        { "", 415 },
        { "Content-Type: text/plain\r\n", 415 },
        { "Content-Type: application/x-www-form-urlencoded\r\n", 415 },
        { "Content-Type: application/jsonx\r\n", 415 },
        { "Content-Type: application/json\r\nContent-Type: text/plain\r\n", 400 },
        { "Content-Type: application/json\r\n", 200 },
        { "Content-Type: Application/JSON; charset=utf-8\r\n", 200 },
    };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "x"), "echo", FAKE_ECHO);
    rest_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf headers = { 0 };

        buf_printf(&headers, REST_TOKEN "%s", cases[i].headers);
        if (rest_ask(&rig, "POST /api/mcp-tools/call", NULL, buf_cstr(&headers),
                     "{\"tool\":\"x/echo\"}") != cases[i].status)
            TAP_FAIL("%s: %s", cases[i].headers, rest_head);
    }
    rest_done(&rig);
}

TEST(a_body_is_bounded)
{
    AUTO_BUF struct buf body = { 0 };
    struct rest_rig rig;
    size_t frame = strlen("{\"tool\":\"x/text\",\"arguments\":{\"a\":\"\"}}");

    rest_init(&rig, NULL);
    fake_tool(rig_server(&rig.hub, "x"), "text", FAKE_TEXT);
    rest_start(&rig);
    for (size_t past = 0; past < 2; past++) {
        body.n = 0;
        buf_str(&body, "{\"tool\":\"x/text\",\"arguments\":{\"a\":\"");
        memset(buf_reserve(&body, REQUEST_BYTES_MAX), 'a', REQUEST_BYTES_MAX);
        body.n += REQUEST_BYTES_MAX - frame + past;
        buf_str(&body, "\"}}");
        CHECK_INT(body.n, REQUEST_BYTES_MAX + past);
        CHECK_INT(POST(&rig, "/api/mcp-tools/call", buf_cstr(&body)), past ? 413 : 200);
        CHECK_STR(past ? got("error") : "too_large", "too_large");
    }
    /* MCP is told in its own words. */
    CHECK_INT(rest_ask(&rig, "POST /mcp", NULL, REST_TOKEN REST_JSON, buf_cstr(&body)), 413);
    CHECK_STR(got("jsonrpc"), "2.0");
    rest_done(&rig);
}

/* ---- documents ---- */

static struct json walk(struct json v, const char *const *keys)
{
    for (; *keys; keys++)
        v = json_get(v, *keys);
    return v;
}

static void check_parameters(const struct rest_route *t, struct json operation)
{
    struct json parameters = json_get(operation, "parameters");
    struct json properties =
        walk(operation, (const char *const[]){ "requestBody", "content", "application/json",
                                               "schema", "properties", NULL });
    size_t n = 0;

    for (const struct rest_param *p = t->params; p && p->name; p++) {
        struct json one = json_item(parameters, n);

        if (p->in == REST_BODY) {
            CHECK(json_is(json_get(properties, p->name), JSON_OBJECT));
            continue;
        }
        n++;
        CHECK(json_str_is(json_get(one, "name"), p->name));
        CHECK(json_str_is(json_get(one, "in"), p->in == REST_PATH ? "path" : "query"));
        CHECK(p->in != REST_PATH || json_bool(json_get(one, "required"), false));
        CHECK(json_is(json_get(one, "schema"), JSON_OBJECT));
    }
    CHECK_INT(json_len(parameters), n);
}

TEST(openapi_tells_all_that_is_in_the_table_and_nothing_else)
{
    AUTO_JSON struct json_doc doc = { 0 };
    static const struct json_opts strict = { .unique_depth = JSON_ALL };
    struct map ids = { 0 };
    struct rest_rig rig;
    size_t routes = 0, operations = 0;

    rest_init(&rig, NULL);
    CHECK_INT(GET(&rig, "/openapi.json"), 200);
    CHECK_INT(json_parse(&doc, span_of(rest_body), &strict, NULL), 0);
    CHECK(json_str_is(json_get(json_root(&doc), "openapi"), "3.1.0"));
    CHECK(json_str_is(walk(json_root(&doc), (const char *const[]){ "info", "version", NULL }),
                      pb_version()));
    for (const struct rest_route *t = rest_routes; t->method; t++, routes++) {
        char method[16];
        size_t i = 0;
        struct json operation;
        struct span id;

        for (; t->method[i]; i++)
            method[i] = (char)(t->method[i] | 0x20);
        method[i] = '\0';
        operation = walk(json_root(&doc), (const char *const[]){ "paths", t->path, method, NULL });
        CHECK(json_is(operation, JSON_OBJECT));
        CHECK(json_str_is(json_get(operation, "summary"), t->help));
        id = json_text(json_get(operation, "operationId"));
        CHECK(id.n > 2 && !map_put(&ids, id, &ids));
        CHECK(json_len(json_get(operation, "responses")) >= (t->flags & REST_PUBLIC ? 3 : 5));
        CHECK_INT(json_is(json_get(operation, "security"), JSON_ARRAY), is_public(t->path));
        check_parameters(t, operation);
    }
    JSON_FOREACH(path, json_get(json_root(&doc), "paths"))
        operations += json_len(path);
    CHECK_INT(operations, routes);
    map_done(&ids);
    rest_done(&rig);
}

TEST(openapi_refers_to_what_it_has)
{
    static const char mark[] = "\"$ref\":\"#/components/schemas/";
    AUTO_JSON struct json_doc doc = { 0 };
    struct rest_rig rig;
    size_t n = 0;

    rest_init(&rig, NULL);
    CHECK_INT(GET(&rig, "/openapi.json"), 200);
    CHECK_INT(json_parse(&doc, span_of(rest_body), NULL, NULL), 0);
    for (const char *at = rest_body; (at = strstr(at, "\"$ref\":\"")); at++, n++) {
        char name[64];

        CHECK(strncmp(at, mark, strlen(mark)) == 0);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + strlen(mark), "\""),
                 at + strlen(mark));
        CHECK(json_is(
            walk(json_root(&doc), (const char *const[]){ "components", "schemas", name, NULL }),
            JSON_OBJECT));
    }
    CHECK(n > 100);
    CHECK(json_is(walk(json_root(&doc),
                       (const char *const[]){ "components", "securitySchemes", "bearer", NULL }),
                  JSON_OBJECT));
    rest_done(&rig);
}

static bool is_answered(const char *shape)
{
    for (const struct rest_route *t = rest_routes; t->method; t++)
        if (t->answer && strcmp(t->answer->name, shape) == 0)
            return true;
    return false;
}

/* What is shown to people is true, too. */
TEST(every_answer_has_a_shape_and_an_example_that_fits_it)
{
    AUTO_BUF struct buf openapi = { 0 };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    CHECK_INT(GET(&rig, "/openapi.json"), 200);
    rest_write_openapi(&openapi);
    buf_byte(&openapi, '\n');
    CHECK_STR(rest_body, buf_cstr(&openapi)); /* which all other answers are held against */
    for (const struct rest_route *t = rest_routes; t->method; t++) {
        char request[256];

        if (!t->answer)
            continue;
        snprintf(request, sizeof request, "%s %s", t->method, t->path);
        CHECK(rest_example(t->answer));
        shape_check(request, t->status ? t->status : 200, span_of(rest_example(t->answer)));
    }
    for (const struct rest_example *e = rest_examples; e->shape; e++)
        if (!is_answered(e->shape))
            TAP_FAIL("%s is the answer of no route", e->shape);
    rest_done(&rig);
}

/* No object of ours may have a member that is not named; what comes from others may. */
TEST(only_what_others_make_may_have_members_without_a_name)
{
    read_shapes();
    JSON_FOREACH(shape, SHAPE_AT("components", "schemas")) {
        AUTO_ARENA struct arena a = { 0 };
        struct span name = json_key_str(shape, &a);
        bool foreign = span_starts(name, "Mcp") || span_is(name, "OpenApi");

        if (json_is(json_get(shape, "oneOf"), JSON_ARRAY))
            continue;
        CHECK(json_is(json_get(shape, "additionalProperties"), foreign ? JSON_TRUE : JSON_FALSE));
    }
}

TEST(the_page_for_people_lets_nothing_else_in)
{
    AUTO_BUF struct buf policy = { 0 };
    uint8_t digest[SHA256_BYTES];
    const char *style, *end;
    struct rest_rig rig;

    rest_init(&rig, NULL);
    CHECK_INT(GET(&rig, "/docs"), 200);
    CHECK_HAS(rest_head, "Content-Type: text/html; charset=utf-8\r\n");
    CHECK_HAS(rest_head, "X-Frame-Options: DENY\r\n");
    style = strstr(rest_body, "<style>");
    end = strstr(rest_body, "</style>");
    CHECK(style && end);
    sha256(span_make(style + 7, (size_t)(end - style) - 7), digest);
    buf_str(&policy, "Content-Security-Policy: default-src 'none'; style-src 'sha256-");
    base64_encode(&policy, span_make((const char *)digest, sizeof digest));
    buf_str(&policy, "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n");
    CHECK_HAS(rest_head, buf_cstr(&policy));
    CHECK(!strstr(rest_body, "<script") && !strstr(rest_body, "http://") &&
          !strstr(rest_body, "https://") && !strstr(rest_body, " style="));
    for (const struct rest_route *t = rest_routes; t->method; t++) {
        char heading[256];

        snprintf(heading, sizeof heading, "<b>%s</b>%s</h2>", t->method, t->path);
        CHECK_HAS(rest_body, heading);
    }
    rest_done(&rig);
}
