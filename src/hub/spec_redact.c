#include "spec.h"
#include "spec_mask.h"

enum { SECRET_MIN = 8 };

static void take_out(char *text, struct span secret)
{
    size_t n = strlen(text), hidden = strlen(SPEC_MASKED);
    char *at = text;

    if (secret.n < SECRET_MIN)
        return;
    while ((at = memmem(at, n - (size_t)(at - text), secret.p, secret.n))) {
        memcpy(at, SPEC_MASKED, hidden);
        memmove(at + hidden, at + secret.n, n - (size_t)(at - text) - secret.n + 1);
        n -= secret.n - hidden;
        at += hidden;
    }
}

/* "Bearer KEY" gives the key away without its first word, too. */
static void take_header_out(char *text, struct span value)
{
    const char *space;

    value = span_trim(value);
    space = value.n ? memchr(value.p, ' ', value.n) : NULL;
    take_out(text, value);
    if (space)
        take_out(text, span_trim(span_from(value, (size_t)(space - value.p))));
}

/* Name and value around the first separator. */
static bool split(const char *pair, char separator, struct span *name, struct span *value)
{
    const char *at = strchr(pair, separator);

    if (!at)
        return false;
    *name = span_make(pair, (size_t)(at - pair));
    *value = span_of(at + 1);
    return true;
}

void spec_redact(const struct spec *s, char *text)
{
    struct span name, value;

    for (const char *const *p = s->env; *p; p++)
        if (split(*p, '=', &name, &value) && mask_wants(name, value))
            take_out(text, value);
    for (const char *const *p = s->headers; *p; p++)
        if (split(*p, ':', &name, &value) && mask_wants(name, span_trim(value)))
            take_header_out(text, value);
}
