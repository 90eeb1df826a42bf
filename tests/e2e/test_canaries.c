/* Fifty secrets, each written in ten ways, go through the program: in the config, in stored keys,
 * in arguments and results. None may be found in what is recorded, exported, logged or shown. */
#include "base/base.h"
#include "rest_http.h"
#include "script_rig.h"

enum { CANARIES = 50, CANARY_CHARS = 24, FROM_EACH = 10 };

static char canaries[CANARIES][CANARY_CHARS + 1];

/* Printable, with what every way to write it has to deal with. */
static void make_canaries(void)
{
    static const char letters[] = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789/+&\"";
    uint8_t bytes[CANARY_CHARS];

    for (size_t i = 0; i < CANARIES; i++) {
        id_random(bytes, sizeof bytes);
        for (size_t k = 0; k < CANARY_CHARS; k++)
            canaries[i][k] = letters[bytes[k] % (sizeof letters - 1)];
        canaries[i][0] = 'k'; /* neither a path nor an option */
        canaries[i][CANARY_CHARS / 2] = '"';
        canaries[i][CANARY_CHARS / 2 + 1] = '&';
    }
}

/* ---- ways to write one ---- */

static void raw(struct buf *to, struct span s) { buf_add_span(to, s); }
static void base64(struct buf *to, struct span s) { base64_encode(to, s); }
static void base64url(struct buf *to, struct span s) { base64url_encode(to, s); }

static void in_base64(struct buf *to, struct span s)
{
    AUTO_BUF struct buf around = { 0 };

    buf_printf(&around, "u:%.*s;", SPAN_ARG(s));
    base64_encode(to, buf_span(&around));
}

static void url(struct buf *to, struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr("/+&\"", s.p[i]))
            buf_printf(to, "%%%02X", (unsigned char)s.p[i]);
        else
            buf_byte(to, s.p[i]);
}

static void escaped(struct buf *to, struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        buf_printf(to, "\\u%04x", (unsigned char)s.p[i]);
}

static void quoted(struct buf *to, struct span s) { json_quote(to, s); }

static void hex(struct buf *to, struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        buf_printf(to, "%02x", (unsigned char)s.p[i]);
}

static void html(struct buf *to, struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '&')
            buf_str(to, "&amp;");
        else if (s.p[i] == '"')
            buf_str(to, "&quot;");
        else
            buf_byte(to, s.p[i]);
}

static void header(struct buf *to, struct span s) { buf_printf(to, "Bearer %.*s", SPAN_ARG(s)); }

static void (*const ways[])(struct buf *to, struct span s) = {
    raw, base64, base64url, in_base64, url, escaped, quoted, hex, html, header,
};

/* As the value of a member of JSON; `escaped` is JSON already. */
static void put_written(struct json_out *o, const char *key, size_t way, struct span canary)
{
    AUTO_BUF struct buf text = { 0 };

    if (ways[way] == escaped) {
        buf_byte(&text, '"');
        escaped(&text, canary);
        buf_byte(&text, '"');
        json_put_raw(o, key, buf_span(&text));
        return;
    }
    ways[way](&text, canary);
    json_put_span(o, key, buf_span(&text));
}

/* ---- what must not be found ---- */

static void check_clean(const char *where, const char *text)
{
    for (size_t i = 0; i < CANARIES; i++) {
        struct span half = span_make(canaries[i], CANARY_CHARS / 2);
        AUTO_BUF struct buf json = { 0 };

        for (size_t w = 0; w < ARRAY_LEN(ways); w++) {
            AUTO_BUF struct buf written = { 0 };

            ways[w](&written, span_of(canaries[i]));
            if (strstr(text, buf_cstr(&written)))
                TAP_FAIL("%s shows canary %zu, written in way %zu: %s", where, i, w,
                         buf_cstr(&written));
        }
        buf_add_span(&json, half); /* no half of it, either */
        if (strstr(text, buf_cstr(&json)))
            TAP_FAIL("%s shows half of canary %zu: %s", where, i, buf_cstr(&json));
    }
}

/* ---- where they come from ---- */

static const char *canary(size_t kind, size_t i) { return canaries[kind * FROM_EACH + i]; }

enum { IN_ENV, IN_ARGS, IN_STORE, IN_HEADER, MARKED };

static void write_config(void)
{
    AUTO_BUF struct buf text = { 0 };
    struct json_out o = json_out(&text);

    json_begin_object(&o, NULL);
    json_begin_object(&o, "mcpServers");
    json_begin_object(&o, "s");
    json_put_str(&o, "command", built("tests/e2e/script_server"));
    json_begin_array(&o, "args");
    json_put_str(&o, NULL, in_home("said"));
    for (size_t i = 0; i < FROM_EACH; i++) {
        json_put_str(&o, NULL, "--api-key");
        json_put_str(&o, NULL, canary(IN_ARGS, i));
    }
    json_end(&o);
    json_begin_object(&o, "env");
    for (size_t i = 0; i < FROM_EACH; i++) {
        char name[32];

        snprintf(name, sizeof name, "CANARY_%zu_TOKEN", i);
        json_put_str(&o, name, canary(IN_ENV, i));
    }
    json_end(&o);
    json_end(&o);
    json_begin_object(&o, "web");
    json_put_str(&o, "url", "http://127.0.0.1:1/mcp");
    json_put_bool(&o, "enabled", false);
    json_begin_object(&o, "headers");
    for (size_t i = 0; i < FROM_EACH; i++) {
        AUTO_BUF struct buf value = { 0 };
        char name[32];

        snprintf(name, sizeof name, "X-Api-Key-%zu", i);
        buf_printf(&value, "Bearer %s", canary(IN_HEADER, i));
        json_put_str(&o, name, buf_cstr(&value));
    }
    json_end(&o);
    json_end(&o);
    json_end(&o);
    json_end(&o);
    write_file(in_home("config.json"), buf_cstr(&text));
}

/* Keys that the program keeps apart from the config. */
static void store_keys(void)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    json_put_str(&o, "name", "kept");
    json_begin_object(&o, "entry");
    json_put_str(&o, "command", built("patchbay-example-server"));
    json_begin_object(&o, "env");
    for (size_t i = 0; i < FROM_EACH; i++) {
        char name[32];

        snprintf(name, sizeof name, "KEPT_%zu_KEY", i);
        json_put_str(&o, name, "<key>");
    }
    json_end(&o);
    json_end(&o);
    json_begin_object(&o, "secrets");
    for (size_t i = 0; i < FROM_EACH; i++) {
        char name[32];

        snprintf(name, sizeof name, "KEPT_%zu_KEY", i);
        json_put_str(&o, name, canary(IN_STORE, i));
    }
    json_end(&o);
    json_end(&o);
    CHECK_INT(http("POST", "/api/servers", buf_cstr(&body)), 201);
}

/* All of them in one way, under names that say nothing; those that only a name gives away, under
 * names that do; and one of each split over two members. */
static void put_all(struct json_out *o, size_t way)
{
    static const char *const names[] = { "password",  "api_key", "clientSecret", "token",
                                         "authToken", "passwd",  "access_token", "secret",
                                         "apiKey",    "Password" };
    char name[32];

    _Static_assert(ARRAY_LEN(names) == FROM_EACH, "a name for each");
    for (size_t i = 0; i < MARKED * FROM_EACH; i++) {
        snprintf(name, sizeof name, "v%zu", i);
        put_written(o, name, way, span_of(canaries[i]));
        snprintf(name, sizeof name, "a%zu", i);
        json_put_span(o, name, span_make(canaries[i], CANARY_CHARS / 2));
        snprintf(name, sizeof name, "b%zu", i);
        json_put_span(o, name, span_from(span_of(canaries[i]), CANARY_CHARS / 2));
    }
    for (size_t i = 0; i < FROM_EACH; i++)
        put_written(o, names[i], way, span_of(canary(MARKED, i)));
}

static void say_and_hear(size_t way)
{
    AUTO_BUF struct buf result = { 0 }, body = { 0 }, inner = { 0 };
    struct json_out r = json_out(&result), b = json_out(&body), in = json_out(&inner);

    json_begin_object(&in, NULL);
    put_all(&in, way);
    json_end(&in);
    json_begin_object(&r, NULL);
    json_begin_array(&r, "content");
    json_begin_object(&r, NULL);
    json_put_str(&r, "type", "text");
    json_put_span(&r, "text", buf_span(&inner));
    json_end(&r);
    json_end(&r);
    json_put_raw(&r, "structuredContent", buf_span(&inner));
    json_end(&r);
    write_file(in_home("said/tools_call"), buf_cstr(&result));
    json_begin_object(&b, NULL);
    json_put_str(&b, "tool", "s/t");
    json_put_raw(&b, "arguments", buf_span(&inner));
    json_end(&b);
    CHECK_INT(http_plain("POST", "/api/mcp-tools/call", buf_cstr(&body)), 200);
    CHECK_HAS(out, "structuredContent"); /* whoever called gets what it asked for */
}

/* A tool that fails says why, and stderr is full of the keys that it was given. */
static void fail_aloud(void)
{
    AUTO_BUF struct buf text = { 0 };

    for (size_t i = 0; i < IN_STORE * FROM_EACH; i++)
        buf_printf(&text, "refused for %s\n", canaries[i]);
    write_file(in_home("said/stderr"), buf_cstr(&text));
    CHECK_INT(http_plain("POST", "/api/servers/s/restart", ""), 200);
    http_plain("POST", "/api/mcp-prompts/get", "{\"prompt\":\"s/nothing\"}");
}

/* ---- the test ---- */

static void check_object(const char *cid)
{
    char path[256];

    if (!*cid)
        return;
    snprintf(path, sizeof path, "/api/objects/%s", cid);
    CHECK_INT(http_plain("GET", path, ""), 200);
    CHECK_HAS(out, "***");
    check_clean(path, out);
}

static void check_records(void)
{
    char path[64];
    size_t seen = 0;

    CHECK_INT(http("GET", "/api/calls?tool=t", ""), 200);
    check_clean("GET /api/calls", out);
    {
        AUTO_FREE char *list = mem_dup(out);

        for (;; seen++) {
            AUTO_FREE char *arguments = NULL, *result = NULL;

            snprintf(path, sizeof path, "recent.%zu.id", seen);
            if (!*json_member(list, path))
                break;
            {
                char one[128];

                snprintf(one, sizeof one, "/api/calls/%s", json_member(list, path));
                CHECK_INT(http("GET", one, ""), 200);
                check_clean(one, out);
                CHECK_HAS(out, "\"redacted\":[");
            }
            snprintf(path, sizeof path, "recent.%zu.arguments_cid", seen);
            arguments = mem_dup(json_member(list, path));
            snprintf(path, sizeof path, "recent.%zu.result_cid", seen);
            result = mem_dup(json_member(list, path));
            CHECK(*arguments && *result);
            check_object(arguments);
            check_object(result);
        }
    }
    CHECK_INT(seen, ARRAY_LEN(ways));
}

static void check_shown(void)
{
    static const char *const paths[] = { "/api/calls",  "/api/logs",     "/api/servers",
                                         "/api/alerts", "/api/status",   "/api/settings",
                                         "/metrics",    "/api/servers/s" };
    static const char *const formats[] = { "jsonl", "har", "otlp" };

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        http_plain("GET", paths[i], "");
        check_clean(paths[i], out);
    }
    for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
        CHECK_INT(RUN("calls", "export", "--format", formats[i]), 0);
        check_clean(formats[i], out);
        check_clean(formats[i], err);
    }
    CHECK_INT(RUN("calls"), 0);
    check_clean("patchbay calls", out);
    CHECK_INT(RUN("logs"), 0);
    check_clean("patchbay logs", out);
    check_clean("what the daemon says", file_text("daemon.err"));
}

TEST(fifty_secrets_in_ten_ways_are_found_nowhere)
{
    AUTO_BUF struct buf events = { 0 };
    int fd;

    make_canaries();
    script_begin("{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}", "");
    write_config();
    start(NULL);
    BECOMES("s", "connected");
    store_keys();
    BECOMES("kept", "connected");
    fd = listen_to_events();
    for (size_t way = 0; way < ARRAY_LEN(ways); way++)
        say_and_hear(way);
    fail_aloud();
    check_records();
    check_shown();
    events_until(fd, &events, 0, "refused for");
    check_clean("GET /api/events", buf_cstr(&events));
    close(fd);
    rig_end();
}
