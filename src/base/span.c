#include "span.h"

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* Not strncasecmp(): in a Turkish locale "I" and "i" are different letters to it. */
bool span_is_nocase(struct span a, const char *s)
{
    size_t i = 0;

    while (i < a.n && s[i] && (a.p[i] == s[i] || lower(a.p[i]) == lower(s[i])))
        i++;
    return i == a.n && !s[i];
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
