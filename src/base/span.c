#include "span.h"
#include <strings.h>

bool span_is_nocase(struct span a, const char *s)
{
    return strlen(s) == a.n && strncasecmp(a.p, s, a.n) == 0;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

struct span span_trim(struct span a)
{
    while (a.n && is_blank(a.p[0]))
        a = span_from(a, 1);
    while (a.n && is_blank(a.p[a.n - 1]))
        a.n--;
    return a;
}

int span_cmp(struct span a, struct span b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;

    if (c)
        return c;
    return a.n < b.n ? -1 : a.n > b.n;
}
