#include "console.h"
#include "console_files.h"
#include "io/http/http.h"
#include "mcp/carrier/carrier.h"

/* Everything comes from here and goes to here. Pictures and sounds of results are data: of theirs
 * the page knows the bytes. The page is asked for anew each time, at the cost of a 304: one version
 * of it must not run with the script of another. */
#define POLICY                                                            \
    "Content-Security-Policy: default-src 'none'; script-src 'self'; "    \
    "style-src 'self'; img-src 'self' data:; media-src data:; "           \
    "connect-src 'self'; base-uri 'none'; form-action 'none'; "           \
    "frame-ancestors 'none'\r\n"                                          \
    "X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n" \
    "Cross-Origin-Opener-Policy: same-origin\r\n"                         \
    "Cross-Origin-Resource-Policy: same-origin\r\nX-Frame-Options: DENY\r\n"

static const struct console_file *find(struct span path)
{
    for (const struct console_file *f = console_files; f->path; f++)
        if (span_is(path, f->path))
            return f;
    return NULL;
}

bool console_there(void) { return console_files[0].path; }

/* Where there is no page, that is said at its address. */
bool console_owns(struct span path) { return span_is(path, "/") || find(path); }

/* ---- lists in headers ---- */

static struct span next_item(struct span *rest)
{
    const char *comma = memchr(rest->p, ',', rest->n);
    struct span item = span_make(rest->p, comma ? (size_t)(comma - rest->p) : rest->n);

    *rest = span_from(*rest, item.n + (comma != NULL));
    return span_trim(item);
}

/* "gzip;q=0" and the like say no. */
static bool is_zero(struct span weight)
{
    weight = span_trim(weight);
    if (!span_starts(weight, "q=0"))
        return false;
    for (size_t i = strlen("q=0"); i < weight.n; i++)
        if (weight.p[i] != '0' && weight.p[i] != '.')
            return false;
    return true;
}

static bool takes_gzip(const struct http_request *r)
{
    struct span rest = http_header(r, "Accept-Encoding", NULL);

    while (rest.n) {
        struct span item = next_item(&rest);
        const char *semicolon = item.n ? memchr(item.p, ';', item.n) : NULL;
        size_t n = semicolon ? (size_t)(semicolon - item.p) : item.n;

        if (span_is_nocase(span_trim(span_make(item.p, n)), "gzip"))
            return !semicolon || !is_zero(span_from(item, n + 1));
    }
    return false;
}

/* Has the client got the one with this tag already? */
static bool has_it(const struct http_request *r, struct span tag)
{
    struct span rest = http_header(r, "If-None-Match", NULL);

    while (rest.n) {
        struct span item = next_item(&rest);

        if (span_starts(item, "W/"))
            item = span_from(item, 2);
        if (span_is(item, "*") || span_eq(item, tag))
            return true;
    }
    return false;
}

/* ---- answers ---- */

static void say(struct http_request *r, int status, const char *more, const char *text)
{
    AUTO_BUF struct buf headers = { 0 };
    const struct span body[] = { span_of(text), SPAN("\n") };

    buf_printf(&headers,
               "Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n" POLICY "%s",
               more ? more : "");
    http_reply(r, status, buf_cstr(&headers), body, ARRAY_LEN(body));
}

static void send_file(struct http_request *r, const struct console_file *f)
{
    AUTO_BUF struct buf headers = { 0 };
    AUTO_BUF struct buf tag = { 0 };
    bool packed = takes_gzip(r);
    bool same;

    /* Packed they are other bytes. */
    buf_printf(&tag, "\"%s%s\"", f->tag, packed ? "-gzip" : "");
    same = has_it(r, buf_span(&tag));
    buf_printf(&headers, "ETag: %s\r\nCache-Control: no-cache\r\nVary: Accept-Encoding\r\n" POLICY,
               buf_cstr(&tag));
    if (!same)
        buf_printf(&headers, "Content-Type: %s\r\n%s", f->type,
                   packed ? "Content-Encoding: gzip\r\n" : "");
    http_reply(r, same ? 304 : 200, buf_cstr(&headers), packed ? &f->gzip : &f->plain, 1);
}

void console_handle(struct http_request *r, const struct guard_verdict *v)
{
    const struct console_file *f = find(http_path(r));
    struct span method = http_method(r);

    if (v->status == 403)
        say(r, 403, v->headers,
            "This address is not served here. Open the link that \"patchbay console\" prints, or "
            "see --allowed-hosts and --allowed-origins of \"patchbay serve\".");
    else if (v->status)
        say(r, v->status, v->headers, v->why);
    else if (!f)
        say(r, 404, NULL, "This program was built without the console. /docs tells about REST.");
    else if (span_is(method, "GET") || span_is(method, "HEAD"))
        send_file(r, f);
    else
        say(r, 405, "Allow: GET, HEAD\r\n",
            "There is nothing to send here. MCP is at /mcp, REST at /api: /docs tells how.");
}
