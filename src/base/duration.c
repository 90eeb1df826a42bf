#include "duration.h"
#include "macros.h"
#include <inttypes.h>

static const struct {
    const char *name;
    uint64_t ms;
} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { "d", 86400000 } };
enum { DAY = 4 }; /* which nobody has asked to be told in */

void duration_text(struct buf *out, uint64_t ms)
{
    for (size_t i = DAY - 1; i > 0; i--) {
        if (ms >= units[i].ms && ms % units[i].ms == 0) {
            buf_printf(out, "%" PRIu64 "%s", ms / units[i].ms, units[i].name);
            return;
        }
    }
    if (ms > 1000 && ms % 100 == 0)
        buf_printf(out, "%" PRIu64 ".%" PRIu64 "s", ms / 1000, ms / 100 % 10);
    else
        buf_printf(out, "%" PRIu64 "ms", ms);
}

/* Digits, and maybe a dot and digits. Returns how many bytes; 0: there is no number. */
static size_t read_number(struct span s, double *out)
{
    size_t n = 0, dot = 0;
    double scale = 1;

    *out = 0;
    for (; n < s.n && n < 20; n++) {
        if (s.p[n] == '.' && !dot && n)
            dot = n;
        else if (s.p[n] >= '0' && s.p[n] <= '9')
            *out = dot ? *out + (s.p[n] - '0') * (scale /= 10) : *out * 10 + (s.p[n] - '0');
        else
            break;
    }
    return dot == n - 1 && dot ? 0 : n;
}

static uint64_t read_unit(struct span *s)
{
    size_t n = 0;

    while (n < s->n && s->p[n] >= 'a' && s->p[n] <= 'z')
        n++;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (span_is(span_make(s->p, n), units[i].name)) {
            *s = span_from(*s, n);
            return units[i].ms;
        }
    return 0;
}

bool duration_parse(struct span text, uint64_t *ms)
{
    static const double year_ms = 366 * 86400000.0;
    double sum = 0;
    uint64_t last = UINT64_MAX;
    bool first = true;

    while (text.n) {
        double number;
        size_t n = read_number(text, &number);
        uint64_t unit = 0;

        text = span_from(text, n);
        if (n && text.n)
            unit = read_unit(&text);
        else if (n && first)
            unit = 1000;
        if (!n || !unit || unit >= last)
            return false;
        last = unit;
        first = false;
        sum += number * (double)unit;
    }
    if (first || sum > year_ms)
        return false;
    *ms = (uint64_t)(sum + 0.5);
    return true;
}
