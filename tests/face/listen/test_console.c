/* The page: what a browser gets, how, and what it is allowed to do. */
#include "face/listen/console_files.h"
#include "face/listen/listen.h"
#include "face/rest_rig.h"

static const char policy[] =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; media-src data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'\r\n";

static void ask(struct rest_rig *rig, int status, const char *request, const char *headers)
{
    if (rest_ask(rig, request, NULL, headers, "") != status)
        TAP_FAIL("%s: %s", request, rest_head);
    CHECK(!strstr(rest_head, "Set-Cookie") && !strstr(rest_head, "Access-Control"));
}

/* A program that was built without the page says so, and that is all. */
static bool is_left_out(struct rest_rig *rig)
{
    if (console_files[0].path)
        return false;
    ask(rig, 404, "GET /", "");
    CHECK_HAS(rest_body, "built without the console");
    return true;
}

TEST(the_page_comes_with_all_that_it_is_made_of_and_may_load_nothing_else)
{
    static const char *const lines[] = { policy,
                                         "X-Content-Type-Options: nosniff\r\n",
                                         "Referrer-Policy: no-referrer\r\n",
                                         "X-Frame-Options: DENY\r\n",
                                         "Cross-Origin-Opener-Policy: same-origin\r\n",
                                         "Cross-Origin-Resource-Policy: same-origin\r\n",
                                         "Vary: Accept-Encoding\r\n",
                                         "Cache-Control: no-cache\r\n",
                                         "ETag: \"" };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    if (!is_left_out(&rig)) {
        for (const struct console_file *f = console_files; f->path; f++) {
            char request[64], type[64];

            snprintf(request, sizeof request, "GET %s", f->path);
            snprintf(type, sizeof type, "Content-Type: %s\r\n", f->type);
            ask(&rig, 200, request, "");
            for (size_t i = 0; i < ARRAY_LEN(lines); i++)
                CHECK_HAS(rest_head, lines[i]);
            CHECK_HAS(rest_head, type);
            CHECK(!strstr(rest_head, "Content-Encoding"));
            CHECK(span_is(f->plain, rest_body));
        }
        ask(&rig, 200, "GET /", "");
        CHECK_HAS(rest_body, "<script src=\"/console.js\"");
        CHECK_HAS(rest_body, "href=\"/console.css\"");
        /* What the policy would forbid is not there. */
        CHECK(!strstr(rest_body, "<style") && !strstr(rest_body, " style=") &&
              !strstr(rest_body, "://") && !strstr(rest_body, "onload="));
    }
    rest_done(&rig);
}

TEST(whoever_takes_gzip_gets_it)
{
    static const struct {
        const char *headers;
        bool packed;
    } cases[] = {
        { "", false },
        { "Accept-Encoding: gzip, deflate, br\r\n", true },
        { "Accept-Encoding: br;q=1.0, GZIP;q=0.5\r\n", true },
        { "Accept-Encoding: gzip;q=0\r\n", false },
        { "Accept-Encoding: gzip; q=0.000\r\n", false },
        { "Accept-Encoding: gzip;q=0.001\r\n", true },
        { "Accept-Encoding: gzipped, x-gzip\r\n", false },
        { "Accept-Encoding: ,,;,\r\n", false },
    };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    if (!is_left_out(&rig)) {
        for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
            ask(&rig, 200, "GET /console.js", cases[i].headers);
            CHECK_INT(strstr(rest_head, "Content-Encoding: gzip\r\n") != NULL, cases[i].packed);
            CHECK_INT(memcmp(rest_body, "\x1f\x8b", 2) == 0, cases[i].packed);
            CHECK_INT(strstr(rest_head, "-gzip\"\r\n") != NULL, cases[i].packed);
        }
    }
    rest_done(&rig);
}

TEST(who_has_the_page_already_is_told_so)
{
    char tag[128], headers[512];
    struct rest_rig rig;

    rest_init(&rig, NULL);
    if (!is_left_out(&rig)) {
        static const char *const forms[] = { "%s", "W/%s", "\"other\", %s", "*" };

        snprintf(tag, sizeof tag, "\"%s\"", console_files[0].tag);
        for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
            AUTO_BUF struct buf list = { 0 };
            const char *at = strstr(forms[i], "%s");

            buf_add(&list, forms[i], at ? (size_t)(at - forms[i]) : strlen(forms[i]));
            buf_str(&list, at ? tag : "");
            snprintf(headers, sizeof headers, "If-None-Match: %s\r\n", buf_cstr(&list));
            ask(&rig, 304, "GET /", headers);
            CHECK_HAS(rest_head, "ETag: \"");
            CHECK_HAS(rest_head, policy);
            CHECK_STR(rest_body, "");
        }
        snprintf(headers, sizeof headers, "If-None-Match: \"other\"\r\n");
        ask(&rig, 200, "GET /", headers);
        /* Packed it is another one. */
        snprintf(headers, sizeof headers, "If-None-Match: %s\r\nAccept-Encoding: gzip\r\n", tag);
        ask(&rig, 200, "GET /", headers);
    }
    rest_done(&rig);
}

TEST(the_page_is_only_read_and_only_from_here)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    if (!is_left_out(&rig)) {
        ask(&rig, 405, "POST /", "");
        CHECK_HAS(rest_head, "Allow: GET, HEAD\r\n");
        CHECK_HAS(rest_body, "/mcp");
        ask(&rig, 405, "OPTIONS /console.js", "");
        ask(&rig, 403, "GET /", "Origin: http://evil.example\r\n");
        CHECK_HAS(rest_head, "Content-Type: text/plain");
        CHECK_INT(rest_ask(&rig, "GET /", "evil.example", "", ""), 403);
        CHECK_HAS(rest_body, "patchbay console");
    }
    rest_done(&rig);
}

/* The token is in the fragment, which stays in the browser; nothing here is different with one. */
TEST(the_page_is_the_same_with_and_without_a_token)
{
    AUTO_BUF struct buf without = { 0 };
    struct rest_rig rig;

    rest_init(&rig, NULL);
    if (!is_left_out(&rig)) {
        ask(&rig, 200, "GET /", "");
        buf_printf(&without, "%s%s", rest_head, rest_body);
        ask(&rig, 200, "GET /", REST_TOKEN);
        CHECK(strncmp(buf_cstr(&without), rest_head, strlen(rest_head)) == 0);
        CHECK_STR(buf_cstr(&without) + strlen(rest_head), rest_body);
        ask(&rig, 200, "GET /?token=secret", "");
        CHECK(!strstr(rest_body, "secret"));
    }
    rest_done(&rig);
}
