/* rest_find.c - which route of the table a request is for. */
#include "face/caller/caller.h"
#include "rest_impl.h"

static struct span part_of(struct span *rest)
{
    const char *slash = rest->n ? memchr(rest->p, '/', rest->n) : NULL;
    struct span part = span_make(rest->p, slash ? (size_t)(slash - rest->p) : rest->n);

    *rest = span_from(*rest, slash ? part.n + 1 : part.n);
    return part;
}

/* A part in braces fits every part but an empty one. */
static bool fits(const char *template, struct span path)
{
    struct span want = span_of(template);

    if (path.n && path.p[path.n - 1] == '/')
        return false;
    while (want.n && path.n) {
        struct span a = part_of(&want), b = part_of(&path);

        if (a.n && a.p[0] == '{' ? !b.n : !span_eq(a, b))
            return false;
    }
    return !want.n && !path.n;
}

const struct rest_route *rest_find(struct span method, struct span path, struct buf *allow)
{
    bool reads = false;

    for (const struct rest_route *t = rest_routes; t->method; t++) {
        if (!fits(t->path, path))
            continue;
        if (span_is(method, t->method))
            return t;
        buf_printf(allow, "%s%s", allow->n ? ", " : "", t->method);
        reads = reads || strcmp(t->method, "GET") == 0;
    }
    if (allow->n)
        buf_printf(allow, "%s, OPTIONS", reads ? ", HEAD" : "");
    return NULL;
}

enum token_may rest_needs(struct span method, struct span path)
{
    AUTO_BUF struct buf allow = { 0 };
    bool reads = span_is(method, "GET") || span_is(method, "HEAD");
    const struct rest_route *t = rest_find(reads ? SPAN("GET") : method, path, &allow);

    /* What is not there can be told to whoever may read. */
    return (t ? (t->flags & REST_READ) != 0 : reads) ? TOKEN_READ : TOKEN_REST;
}

bool rest_is_public(struct span path)
{
    for (const struct rest_route *t = rest_routes; t->method; t++)
        if (t->flags & REST_PUBLIC && fits(t->path, path))
            return true;
    return false;
}
