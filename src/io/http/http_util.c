#include "http_server.h"

static const struct {
    int status;
    const char *text;
} texts[] = {
    /* clang-format off */
    { 100, "Continue" },
    { 200, "OK" },
    { 201, "Created" },
    { 202, "Accepted" },
    { 204, "No Content" },
    { 206, "Partial Content" },
    { 301, "Moved Permanently" },
    { 302, "Found" },
    { 303, "See Other" },
    { 304, "Not Modified" },
    { 307, "Temporary Redirect" },
    { 308, "Permanent Redirect" },
    { 400, "Bad Request" },
    { 401, "Unauthorized" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 406, "Not Acceptable" },
    { 408, "Request Timeout" },
    { 409, "Conflict" },
    { 410, "Gone" },
    { 411, "Length Required" },
    { 412, "Precondition Failed" },
    { 413, "Content Too Large" },
    { 414, "URI Too Long" },
    { 415, "Unsupported Media Type" },
    { 416, "Range Not Satisfiable" },
    { 417, "Expectation Failed" },
    { 421, "Misdirected Request" },
    { 422, "Unprocessable Content" },
    { 426, "Upgrade Required" },
    { 428, "Precondition Required" },
    { 429, "Too Many Requests" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 502, "Bad Gateway" },
    { 503, "Service Unavailable" },
    { 504, "Gateway Timeout" },
    { 505, "HTTP Version Not Supported" },
    { 507, "Insufficient Storage" },
    /* clang-format on */
};

const char *http_status_text(int status)
{
    size_t lo = 0, hi = ARRAY_LEN(texts);

    if (status == 200)
        return "OK";
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;

        if (texts[mid].status == status)
            return texts[mid].text;
        if (texts[mid].status < status)
            lo = mid + 1;
        else
            hi = mid;
    }
    return "Unknown";
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool decode(struct buf *out, struct span s, bool plus_is_space)
{
    size_t before = out->n;

    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c == '%') {
            int hi = i + 1 < s.n ? hex_digit(s.p[i + 1]) : -1;
            int lo = i + 2 < s.n ? hex_digit(s.p[i + 2]) : -1;

            c = (char)(hi * 16 + lo);
            i += 2;
            if (hi < 0 || lo < 0)
                c = '\0';
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        if (c == '\0') {
            out->n = before;
            return false;
        }
        buf_byte(out, c);
    }
    return true;
}

bool http_decode(struct buf *out, struct span s) { return decode(out, s, false); }

/* Names are compared decoded: "a%62" is "ab". */
struct span http_query_get(struct span query, const char *name, struct arena *arena)
{
    AUTO_BUF struct buf text = { 0 };

    while (query.n) {
        const char *end = memchr(query.p, '&', query.n), *eq;
        struct span pair = span_make(query.p, end ? (size_t)(end - query.p) : query.n);

        query = span_from(query, end ? pair.n + 1 : pair.n);
        eq = memchr(pair.p, '=', pair.n);
        text.n = 0;
        if (!decode(&text, span_make(pair.p, eq ? (size_t)(eq - pair.p) : pair.n), true) ||
            !span_is(buf_span(&text), name))
            continue;
        text.n = 0;
        if (eq && !decode(&text, span_from(pair, (size_t)(eq - pair.p) + 1), true))
            return (struct span){ 0 };
        return span_make(arena_dup(arena, buf_span(&text)), text.n);
    }
    return (struct span){ 0 };
}
