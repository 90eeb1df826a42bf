/* server_text.c - bytes that grow, and just enough JSON to find a member. */
#include "server.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void make_room(struct text *t, size_t more)
{
    if (t->n + more + 1 <= t->cap)
        return;
    t->cap = (t->n + more + 1) * 2;
    t->p = realloc(t->p, t->cap);
    if (!t->p)
        abort();
}

void text_add(struct text *t, const char *p, size_t n)
{
    make_room(t, n);
    memcpy(t->p + t->n, p, n);
    t->n += n;
    t->p[t->n] = '\0';
}

void text_printf(struct text *t, const char *fmt, ...)
{
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    make_room(t, (size_t)n);
    va_start(ap, fmt);
    vsnprintf(t->p + t->n, (size_t)n + 1, fmt, ap);
    va_end(ap);
    t->n += (size_t)n;
}

void text_drop(struct text *t, size_t n)
{
    memmove(t->p, t->p + n, t->n - n);
    t->n -= n;
}

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && strchr(" \t\r\n", *p))
        p++;
    return p;
}

static const char *skip_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p < end ? p + 1 : end;
}

static const char *skip_value(const char *p, const char *end)
{
    int depth = 0;

    while (p < end) {
        if (*p == '"') {
            p = skip_string(p, end);
        } else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (*p == '}' || *p == ']') {
            if (!depth)
                return p;
            depth--;
            p++;
        } else if (!depth && (*p == ',' || *p == ':')) {
            return p;
        } else {
            p++;
            continue;
        }
        if (!depth)
            return p;
    }
    return end;
}

struct slice slice_get(struct slice object, const char *key)
{
    const char *p = object.p, *end = p ? p + object.n : p;
    size_t key_n = strlen(key);

    if (!p)
        return (struct slice){ NULL, 0 };
    p = skip_space(p, end);
    if (p == end || *p != '{')
        return (struct slice){ NULL, 0 };
    for (p = skip_space(p + 1, end); p < end && *p == '"'; p = skip_space(p, end)) {
        const char *name = p + 1, *value;
        size_t name_n;

        p = skip_string(p, end);
        name_n = (size_t)(p - name) - 1;
        p = skip_space(p, end);
        value = skip_space(p < end ? p + 1 : p, end);
        p = skip_value(value, end);
        if (name_n == key_n && memcmp(name, key, key_n) == 0) {
            bool quoted = *value == '"';

            return (struct slice){ value + quoted, (size_t)(p - value) - (quoted ? 2 : 0) };
        }
        p = skip_space(p, end);
        if (p < end && *p == ',')
            p++;
        p = skip_space(p, end);
    }
    return (struct slice){ NULL, 0 };
}

bool slice_is(struct slice s, const char *word)
{
    return s.p && s.n == strlen(word) && memcmp(s.p, word, s.n) == 0;
}

struct slice slice_canary(struct slice s)
{
    const char *p = s.n ? memmem(s.p, s.n, "cny:", 4) : NULL;
    size_t n = 0, room = p ? (size_t)(s.p + s.n - p) : 0;

    while (n < room && strchr("cny:.0123456789abcdef", p[n]) && p[n])
        n++;
    return (struct slice){ p, n };
}
