#include "schema_parts.h"

struct uri {
    struct span scheme, authority, path, query; /* with ':' after, "//" and '?' before */
};

int hex_digit(char c)
{
    int low = c | 0x20;

    if (c >= '0' && c <= '9')
        return c - '0';
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

static size_t scheme_length(struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';

        if (c == ':')
            return i ? i + 1 : 0;
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.')))
            return 0;
    }
    return 0;
}

static size_t length_until(struct span s, const char *stops)
{
    size_t i = 0;

    while (i < s.n && (s.p[i] == '\0' || !strchr(stops, s.p[i])))
        i++;
    return i;
}

static struct span cut(struct span *s, size_t n)
{
    struct span head = span_make(s->p, n);

    *s = span_from(*s, n);
    return head;
}

static struct uri split(struct span s)
{
    struct uri u = { 0 };

    s.n = length_until(s, "#");
    u.scheme = cut(&s, scheme_length(s));
    if (span_starts(s, "//"))
        u.authority = cut(&s, 2 + length_until(span_from(s, 2), "/?"));
    u.path = cut(&s, length_until(s, "?"));
    u.query = s;
    return u;
}

static void drop_last(struct buf *out, size_t floor)
{
    while (out->n > floor && out->p[out->n - 1] != '/')
        out->n--;
    if (out->n > floor)
        out->n--;
}

/* RFC 3986, 5.2.4, for paths that begin with '/'; others are taken as they are. */
static void add_path(struct buf *out, struct span path)
{
    size_t floor = out->n;

    if (!span_starts(path, "/")) {
        buf_add_span(out, path);
        return;
    }
    while (path.n) {
        size_t n = 1 + length_until(span_from(path, 1), "/");
        struct span segment = cut(&path, n);

        if (span_is(segment, "/..") || span_is(segment, "/.")) {
            if (segment.n == 3)
                drop_last(out, floor);
            if (!path.n)
                buf_byte(out, '/');
        } else {
            buf_add_span(out, segment);
        }
    }
}

static void add_merged(struct buf *out, const struct uri *base, struct span path)
{
    AUTO_BUF struct buf merged = { 0 };
    size_t n = base->path.n;

    while (n && base->path.p[n - 1] != '/')
        n--;
    if (base->authority.n && !base->path.n)
        buf_byte(&merged, '/');
    buf_add(&merged, base->path.p, n);
    buf_add_span(&merged, path);
    add_path(out, buf_span(&merged));
}

void uri_resolve(struct buf *out, struct span base_text, struct span ref_text)
{
    struct uri base = split(base_text), ref = split(ref_text);

    out->n = 0;
    buf_add_span(out, ref.scheme.n ? ref.scheme : base.scheme);
    buf_add_span(out, ref.scheme.n || ref.authority.n ? ref.authority : base.authority);
    if (ref.scheme.n || ref.authority.n || span_starts(ref.path, "/"))
        add_path(out, ref.path);
    else if (ref.path.n)
        add_merged(out, &base, ref.path);
    else
        add_path(out, base.path);
    if (ref.query.n || ref.path.n || ref.authority.n || ref.scheme.n)
        buf_add_span(out, ref.query);
    else
        buf_add_span(out, base.query);
}
