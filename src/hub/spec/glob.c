#include "filter.h"

/* Bytes of the character at p. */
static size_t char_bytes(const char *p, const char *end)
{
    size_t n = utf8_length((const uint8_t *)p, (const uint8_t *)end);

    return n ? n : 1;
}

/* Only the last star is ever gone back to: if a later star can be reached at all, what an earlier
 * one took does not matter. So the time is at most pattern x name. */
bool glob_match(const char *pattern, struct span name)
{
    const char *p = pattern, *s = name.p, *end = span_end(name);
    const char *star = NULL, *retry = NULL;

    while (s != end) {
        if (*p == '*') {
            star = ++p;
            retry = s;
        } else if (*p == '?') {
            p++;
            s += char_bytes(s, end);
        } else if (*p && *p == *s) {
            p++;
            s++;
        } else if (star) {
            p = star;
            retry += char_bytes(retry, end);
            s = retry;
        } else {
            return false;
        }
    }
    while (*p == '*')
        p++;
    return !*p;
}
