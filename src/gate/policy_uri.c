/* policy_uri.c - the ways to write one URI. A server may take "file:///a/%2e%2e/b" for
 * "file:///b", so rules look at both. What programs do in practice is more than RFC 3986 says: what
 * browsers and Node do (the URL standard) is undone, too. */
#include "policy_impl.h"
#include <strings.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* `keep`: characters that stay as they are written; a NUL always does. */
static void put_decoded(struct buf *out, struct span s, const char *keep)
{
    for (size_t i = 0; i < s.n; i++) {
        int high = s.p[i] == '%' && i + 2 < s.n ? hex_digit(s.p[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(s.p[i + 2]) : -1;
        char c = '\0';

        if (low >= 0)
            c = (char)(high * 16 + low);
        if (!c || strchr(keep, c)) {
            buf_byte(out, s.p[i]);
        } else {
            buf_byte(out, c);
            i += 2;
        }
    }
}

static void put_lower(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c >= 'A' && c <= 'Z')
            c = (char)(c | 0x20);
        buf_byte(out, c);
    }
}

/* "http" of "http://…", empty: there is none. */
static struct span scheme_of(struct span s)
{
    size_t n = 0;

    while (n < s.n && (((s.p[n] | 0x20) >= 'a' && (s.p[n] | 0x20) <= 'z') ||
                       (n && s.p[n] && strchr("0123456789+-.", s.p[n]))))
        n++;
    return span_make(s.p, n && n < s.n && s.p[n] == ':' ? n : 0);
}

/* Those in which a backslash is a slash, a host follows however many there are, and a port may go
 * without saying. */
static const struct {
    const char *name, *port;
} special[] = { { "file", "" },  { "http", ":80" }, { "https", ":443" },
                { "ws", ":80" }, { "wss", ":443" }, { "ftp", ":21" } };

static const char *port_of(struct span scheme)
{
    for (size_t i = 0; i < ARRAY_LEN(special); i++)
        if (span_is(scheme, special[i].name))
            return special[i].port;
    return NULL;
}

static size_t find_any(struct span s, const char *chars)
{
    size_t n = 0;

    while (n < s.n && !strchr(chars, s.p[n]))
        n++;
    return n;
}

/* Without who, and without what goes without saying. */
static void put_host(struct buf *out, struct span s, const char *port)
{
    AUTO_BUF struct buf decoded = { 0 };
    struct span host;
    size_t n = port ? strlen(port) : 0;

    put_decoded(&decoded, s, "");
    host = buf_span(&decoded);
    for (size_t i = host.n; port && i-- > 0;)
        if (host.p[i] == '@') {
            host = span_from(host, i + 1);
            break;
        }
    if (n && host.n >= n && memcmp(span_end(host) - n, port, n) == 0)
        host.n -= n;
    if (!(port && !*port && host.n == 9 && strncasecmp(host.p, "localhost", 9) == 0))
        put_lower(out, host);
}

/* Dots are followed, and of several slashes there is one. `out` from `root` on is the path. */
static void put_path(struct buf *out, struct span path)
{
    size_t root = out->n;
    bool absolute = path.n && path.p[0] == '/';

    if (absolute)
        buf_byte(out, '/');
    while (path.n) {
        size_t n = find_any(path, "/");
        struct span segment = span_make(path.p, n);
        bool slash = n < path.n;

        path = span_from(path, n + slash);
        if (span_is(segment, "..")) {
            if (out->n > root + absolute)
                out->n--; /* its slash */
            while (out->n > root + absolute && out->p[out->n - 1] != '/')
                out->n--;
        } else if (segment.n && !span_is(segment, ".")) {
            buf_add_span(out, segment);
            if (slash)
                buf_byte(out, '/');
        }
    }
}

/* As who reads it strictly would have got it: without white space around it, and line ends in it.
 */
static void put_tidy(struct buf *out, struct span s)
{
    while (s.n && (unsigned char)s.p[0] <= ' ')
        s = span_from(s, 1);
    while (s.n && (unsigned char)s.p[s.n - 1] <= ' ')
        s.n--;
    for (size_t i = 0; i < s.n; i++)
        if (!strchr("\t\r\n", s.p[i]))
            buf_byte(out, s.p[i]);
}

void uri_normal(struct buf *out, struct span uri, size_t *path_end)
{
    AUTO_BUF struct buf tidy = { 0 }, path = { 0 }, scheme = { 0 };
    struct span s, own;
    const char *port;
    size_t end;

    put_tidy(&tidy, uri);
    s = buf_span(&tidy);
    *path_end = out->n;
    if (!tidy.p)
        return;
    own = scheme_of(s);
    put_lower(&scheme, own);
    port = port_of(buf_span(&scheme));
    end = find_any(s, "?#");
    for (size_t i = 0; port && i < end; i++)
        if (s.p[i] == '\\')
            tidy.p[i] = '/';
    own = own.n ? span_make(s.p + own.n + 1, end - own.n - 1) : span_make(s.p, end);
    if (scheme.n) {
        buf_add_span(out, buf_span(&scheme));
        buf_byte(out, ':');
    }
    if (port && *port) /* a host, however many slashes there are */
        while (own.n > 2 && own.p[2] == '/')
            own = span_from(own, 1);
    if (own.n > 1 && own.p[0] == '/' && own.p[1] == '/') {
        struct span host = span_from(own, 2);

        host.n = find_any(host, "/");
        own = span_from(own, 2 + host.n);
        buf_str(out, "//");
        put_host(out, host, port);
        if (!own.n && port)
            own = SPAN("/");
    } else if (port && !*port) {
        buf_str(out, "//");
        buf_str(&path, own.n && own.p[0] == '/' ? "" : "/");
    }
    put_decoded(&path, own, "");
    put_path(out, buf_span(&path));
    *path_end = out->n;
    put_decoded(out, span_from(s, end), "");
}

char *uri_glob(struct arena *a, const char *glob)
{
    AUTO_BUF struct buf out = { 0 };
    struct span s = span_of(glob), scheme = scheme_of(s);
    size_t host = scheme.n + 1;

    if (!scheme.n)
        host = 0;
    put_lower(&out, span_make(s.p, host));
    s = span_from(s, host);
    if (span_is(buf_span(&out), "file:")) {
        if (s.n > 1 && s.p[0] == '/' && s.p[1] != '/')
            buf_str(&out, "//");
        else if (s.n > 12 && strncasecmp(s.p, "//localhost/", 12) == 0) {
            buf_str(&out, "//");
            s = span_from(s, 11);
        }
    }
    if (scheme.n && s.n > 1 && s.p[0] == '/' && s.p[1] == '/') {
        size_t n = 2 + find_any(span_from(s, 2), "/");

        put_lower(&out, span_make(s.p, n));
        s = span_from(s, n);
    }
    put_decoded(&out, s, "*?");
    return arena_dup(a, buf_span(&out));
}
