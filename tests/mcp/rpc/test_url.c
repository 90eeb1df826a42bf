#include "mcp/rpc/rpc.h"
#include "mcp/rpc/url.h"
#include "tap.h"

TEST(a_reference_leads_where_browsers_would_go)
{
    static const struct {
        const char *base, *ref, *want; /* NULL: nowhere */
    } cases[] = {
        { "http://h:1/a/sse", "/messages?s=1", "http://h:1/messages?s=1" },
        { "http://h/a/sse?x=1", "messages", "http://h/a/messages" },
        { "http://h", "messages", "http://h/messages" },
        { "http://h?q", "messages", "http://h/messages" },
        { "http://h/a/sse", "?s=1", "http://h/a/sse?s=1" },
        { "http://h/a?q#f", "", "http://h/a?q" },
        { "https://h/a", "//other/b", "https://other/b" },
        { "https://h/a", "http://other:8/b#c", "http://other:8/b" },
        { "http://[::1]:8/a", "/b", "http://[::1]:8/b" },
        { "http://h/a", "/b:c", "http://h/b:c" },
        { "http://h/a", "./b", "http://h/./b" },
        { "http://h/a", " /b\n", "http://h/b" },
        { "http://h/a", "javascript:alert(1)", NULL },
        { "http://h/a", "file:///etc/passwd", NULL },
        { "http://h/a", "http://", NULL },
        { "http://h/a", "http://u:p@h/", NULL },
        { "http://h/a", "/b c", NULL },
        { "http://h/a", "/b\r\nX: y", NULL },
        { "http://h/a", "\\\\evil\\b", NULL },
        { "http://h/a", "http://h:8x/", NULL },
        { "http://h/a", "http://[::1/", NULL },
        { "ftp://h/a", "/b", NULL },
        { "/a", "/b", NULL },
        { "", "", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf out = { 0 };
        int rc = url_resolve(&out, span_of(cases[i].base), span_of(cases[i].ref), NULL);

        if (!cases[i].want) {
            if (rc == 0)
                TAP_FAIL("%s at %s led to %s", cases[i].ref, cases[i].base, buf_cstr(&out));
            CHECK_INT(out.n, 0);
            continue;
        }
        CHECK_INT(rc, 0);
        CHECK_STR(buf_cstr(&out), cases[i].want);
    }
}

TEST(origins_are_scheme_host_and_port)
{
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        { "http://h/a", "http://h/b?c", true },
        { "http://h", "HTTP://H:80/", true },
        { "https://h/", "https://h:443/x", true },
        { "http://[::1]/", "http://[::1]:80/", true },
        { "http://h/", "https://h/", false },
        { "http://h/", "http://h:8080/", false },
        { "http://h/", "http://h.evil/", false },
        { "http://h/", "http://evil/h/", false },
        { "http://h/", "http://h@evil/", false },
        { "http://u@h/", "http://u@h/", false },
        { "http://127.0.0.1/", "http://localhost/", false },
        { "h", "h", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (url_same_origin(span_of(cases[i].a), span_of(cases[i].b)) != cases[i].same)
            TAP_FAIL("%s and %s", cases[i].a, cases[i].b);
}
