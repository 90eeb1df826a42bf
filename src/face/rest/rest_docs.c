/* rest_docs.c - GET /docs: the table as a page. No script, nothing from elsewhere; the policy lets
 * in one style sheet, by its digest. */
#include "io/http/http.h"
#include "rest_impl.h"

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#1b1b1f;background:#fff}"
    "h2{font:600 1rem ui-monospace,monospace;margin:2.2rem 0 .2rem;border-top:1px solid #d5d5dc;"
    "padding-top:1rem;overflow-wrap:anywhere}"
    "h2 b{display:inline-block;min-width:4.5rem}p{margin:.2rem 0 .6rem}"
    "table{border-collapse:collapse;margin:.4rem 0}td{padding:.1rem 1rem .1rem 0;"
    "vertical-align:top}code,pre{font:14px ui-monospace,monospace}"
    "pre{background:#f4f4f7;padding:.6rem .8rem;white-space:pre-wrap;overflow-wrap:anywhere}"
    "a{color:inherit}"
    "@media(prefers-color-scheme:dark){body{color:#e6e6ea;background:#16161a}"
    "h2{border-color:#3a3a42}pre{background:#232329}}";

static void put_text(struct buf *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            buf_str(out, "&amp;");
            break;
        case '<':
            buf_str(out, "&lt;");
            break;
        case '>':
            buf_str(out, "&gt;");
            break;
        case '"':
            buf_str(out, "&quot;");
            break;
        default:
            buf_byte(out, *text);
        }
    }
}

static void put_params(struct buf *out, const struct rest_param *params)
{
    static const char *const places[] = { "path", "query", "body" };
    static const char *const types[] = { "string", "count", "number", "boolean", "object", "any" };

    if (!params)
        return;
    buf_str(out, "<table>\n");
    for (const struct rest_param *p = params; p->name; p++) {
        buf_printf(out, "<tr><td><code>%s</code></td><td>%s, %s%s</td><td>", p->name, places[p->in],
                   types[p->type], p->required && p->in != REST_PATH ? ", required" : "");
        put_text(out, p->help);
        buf_str(out, "</td></tr>\n");
    }
    buf_str(out, "</table>\n");
}

static void put_route(struct buf *out, const struct rest_route *t)
{
    buf_printf(out, "<h2 id=\"%s-%s\"><b>%s</b>%s</h2>\n<p>", t->method, t->path, t->method,
               t->path);
    put_text(out, t->help);
    buf_str(out, ".</p>\n");
    put_params(out, t->params);
    if (t->answer) {
        buf_str(out, "<pre>");
        put_text(out, rest_example(t->answer));
        buf_str(out, "</pre>\n");
    } else {
        buf_printf(out, "<p>Answers <code>%s</code>.</p>\n", t->type);
    }
}

static void rest_write_docs(struct buf *out, struct buf *headers)
{
    uint8_t digest[SHA256_BYTES];

    sha256(span_of(style), digest);
    buf_str(headers, "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\n"
                     "X-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
                     "Referrer-Policy: no-referrer\r\n"
                     "Content-Security-Policy: default-src 'none'; style-src 'sha256-");
    base64_encode(headers, span_make((const char *)digest, sizeof digest));
    buf_str(headers, "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n");
    buf_printf(out,
               "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<meta name=\"viewport\" content=\"width=device-width\">"
               "<title>Patchbay REST API</title><style>%s</style></head><body>\n"
               "<h1>Patchbay REST API</h1>\n"
               "<p>Version %s. For programs: <a href=\"/openapi.json\">openapi.json</a>. Send "
               "<code>Authorization: Bearer TOKEN</code>, and bodies as "
               "<code>application/json</code>. A failure is "
               "<code>{\"error\",\"message\",\"next\"}</code>.</p>\n",
               style, pb_version());
    for (const struct rest_route *t = rest_routes; t->method; t++)
        put_route(out, t);
    buf_str(out, "</body></html>\n");
}

void rest_docs(struct rest_call *c)
{
    AUTO_BUF struct buf page = { 0 }, headers = { 0 };
    struct span body;

    rest_write_docs(&page, &headers);
    body = buf_span(&page);
    http_reply(c->r, 200, buf_cstr(&headers), &body, 1);
}
