#include "item.h"

/* No server's name holds one of these. */
static size_t plain_end(struct span text)
{
    size_t n = 0;

    while (n < text.n && text.p[n] != '/' && text.p[n] != '.' && text.p[n] != ':')
        n++;
    return n;
}

static bool is_double(struct span text, size_t at)
{
    return at + 1 < text.n && text.p[at] == '_' && text.p[at + 1] == '_';
}

bool item_split(struct item_name *out, struct span text, item_has_fn *has, const void *ctx)
{
    size_t end = plain_end(text), most = end < HUB_NAME_MAX ? end : HUB_NAME_MAX;

    for (size_t n = most; n > 0; n--) {
        size_t sep = n == end && n < text.n ? 1 : is_double(text, n) ? 2 : 0;
        struct item_name i = { span_make(text.p, n), span_from(text, n + sep) };

        if (!sep || !has(ctx, &i))
            continue;
        *out = i;
        return true;
    }
    return false;
}

struct span item_server_part(struct span text)
{
    size_t end = plain_end(text), n = 0;

    while (end == text.n && n < end && !is_double(text, n))
        n++;
    return span_make(text.p, end == text.n ? n : end);
}

bool item_names_server(struct span text) { return plain_end(text) < text.n; }
