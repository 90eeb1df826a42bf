#include "url.h"

struct url {
    struct span scheme, host, port, path, query; /* path begins with '/' or is empty */
};

static struct span until(struct span s, const char *stops)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr(stops, s.p[i]))
            return span_make(s.p, i);
    return s;
}

static bool fit_for_a_url(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7f || s.p[i] == '\\')
            return false;
    return true;
}

/* host, host:port, [v6], [v6]:port; a user is refused: it is how URLs lie about their host. */
static bool split_authority(struct span authority, struct url *out)
{
    struct span rest;

    if (!authority.n || memchr(authority.p, '@', authority.n))
        return false;
    if (authority.p[0] == '[') {
        struct span v6 = until(authority, "]");

        if (v6.n == authority.n)
            return false;
        out->host = span_make(authority.p, v6.n + 1);
    } else {
        out->host = until(authority, ":");
    }
    rest = span_from(authority, out->host.n);
    if (rest.n && rest.p[0] != ':')
        return false;
    out->port = rest.n ? span_from(rest, 1) : SPAN("");
    for (size_t i = 0; i < out->port.n; i++)
        if (out->port.p[i] < '0' || out->port.p[i] > '9')
            return false;
    return out->host.n > 0;
}

static bool split(struct span s, struct url *out)
{
    struct span authority;

    *out = (struct url){ 0 };
    if (!fit_for_a_url(s))
        return false;
    out->scheme = until(s, ":");
    if (!span_is_nocase(out->scheme, "http") && !span_is_nocase(out->scheme, "https"))
        return false;
    s = span_from(s, out->scheme.n);
    if (!span_starts(s, "://"))
        return false;
    s = span_from(s, 3);
    authority = until(s, "/?#");
    s = span_from(s, authority.n);
    out->path = until(s, "?#");
    s = span_from(s, out->path.n);
    out->query = s.n && s.p[0] == '?' ? until(s, "#") : SPAN("");
    return split_authority(authority, out);
}

static struct span port_of(const struct url *u)
{
    if (u->port.n)
        return u->port;
    return u->scheme.n == 5 ? SPAN("443") : SPAN("80");
}

static bool same_nocase(struct span a, struct span b)
{
    AUTO_FREE char *text = mem_dupn(b.p, b.n);

    return span_is_nocase(a, text);
}

bool url_same_origin(struct span a, struct span b)
{
    struct url x, y;

    return split(a, &x) && split(b, &y) && same_nocase(x.scheme, y.scheme) &&
           same_nocase(x.host, y.host) && span_eq(port_of(&x), port_of(&y));
}

static void put_origin(struct buf *out, const struct url *u)
{
    buf_add_span(out, u->scheme);
    buf_str(out, "://");
    buf_add_span(out, u->host);
    if (u->port.n) {
        buf_byte(out, ':');
        buf_add_span(out, u->port);
    }
}

static bool has_scheme(struct span ref)
{
    struct span head = until(ref, ":/?#");

    return head.n && head.n < ref.n && ref.p[head.n] == ':';
}

/* The path of base up to and with its last slash. */
static struct span folder(struct span path)
{
    while (path.n && path.p[path.n - 1] != '/')
        path.n--;
    return path.n ? path : SPAN("/");
}

int url_resolve(struct buf *out, struct span base, struct span ref, struct pb_error *err)
{
    struct url from, to;
    AUTO_BUF struct buf made = { 0 };

    ref = until(span_trim(ref), "#");
    if (!split(base, &from))
        return fail(err, PB_E_INVALID, "not an http or https URL to start from");
    if (!fit_for_a_url(ref))
        return fail(err, PB_E_INVALID, "the reference holds blanks or control characters");
    if (has_scheme(ref)) {
        buf_add_span(&made, ref);
    } else if (span_starts(ref, "//")) {
        buf_add_span(&made, from.scheme);
        buf_byte(&made, ':');
        buf_add_span(&made, ref);
    } else {
        put_origin(&made, &from);
        if (!ref.n || ref.p[0] == '?')
            buf_add_span(&made, from.path.n ? from.path : SPAN("/"));
        else if (ref.p[0] != '/')
            buf_add_span(&made, folder(from.path));
        if (!ref.n)
            buf_add_span(&made, from.query);
        buf_add_span(&made, ref);
    }
    if (!split(buf_span(&made), &to))
        return fail(err, PB_E_INVALID, "the reference leads to no http or https URL");
    buf_add_span(out, buf_span(&made));
    return 0;
}
