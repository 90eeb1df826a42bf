/* span.h - borrowed bytes: a pointer and a length, not terminated, never owned. */
#pragma once
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct span {
    const char *p;
    size_t n;
};

/* A string literal as a span, in expressions and (braces only) in static tables. */
#define SPAN(lit) ((struct span){ "" lit, sizeof(lit) - 1 })
#define SPAN_CONST(lit)         \
    {                           \
        "" lit, sizeof(lit) - 1 \
    }
/* For printf's "%.*s". */
#define SPAN_ARG(s) (int)(s).n, (s).p

static inline struct span span_of(const char *s) { return (struct span){ s, s ? strlen(s) : 0 }; }

static inline struct span span_make(const char *p, size_t n) { return (struct span){ p, n }; }

/* The bytes of all of them. */
static inline size_t spans_size(const struct span *parts, size_t n)
{
    size_t size = 0;

    for (size_t i = 0; i < n; i++)
        size += parts[i].n;
    return size;
}

static inline bool span_eq(struct span a, struct span b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool span_is(struct span a, const char *s) { return span_eq(a, span_of(s)); }

/* Is `what` somewhere in s? Made for few hits in much text: a result of megabytes is searched on
 * its way through. */
bool span_has(struct span s, struct span what);

/* The first CR or LF; NULL: s is one line. As span_has(), made for few of them. */
const char *span_line_end(struct span s);

static inline bool span_starts(struct span a, const char *prefix)
{
    size_t n = strlen(prefix);

    return a.n >= n && (n == 0 || memcmp(a.p, prefix, n) == 0);
}

/* Behind the last byte. An empty span may hold NULL, to which C lets nothing be added. */
static inline const char *span_end(struct span a) { return a.n ? a.p + a.n : a.p; }

/* The span without its first n bytes, of which it has at least so many. */
static inline struct span span_from(struct span a, size_t n)
{
    assert(n <= a.n);
    return (struct span){ n ? a.p + n : a.p, a.n - n };
}

/* ASCII case does not matter: for header names. Most are written as we do. */
bool span_eq_nocase(struct span a, struct span b);
static inline bool span_is_nocase(struct span a, const char *s)
{
    struct span b = span_of(s);

    return a.n == b.n && (span_eq(a, b) || span_eq_nocase(a, b));
}
/* Without spaces, tabs, CR and LF at both ends. */
struct span span_trim(struct span a);
/* <0, 0, >0 in byte order. */
int span_cmp(struct span a, struct span b);
