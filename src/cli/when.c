#include "when.h"
#include <time.h>

/* Behind the date and the time: nothing, "Z" or "+01:00". False: it is something else. */
static bool read_zone(const char *text, bool *given, long *offset)
{
    char sign = *text;
    int h, m;

    *given = sign != '\0';
    *offset = 0;
    if (!*given || strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
        return true;
    if ((sign != '+' && sign != '-') || strlen(text) != 6 || text[3] != ':' ||
        strspn(text + 1, "0123456789") != 2 || strspn(text + 4, "0123456789") != 2)
        return false;
    h = (text[1] - '0') * 10 + text[2] - '0';
    m = (text[4] - '0') * 10 + text[5] - '0';
    *offset = (sign == '-' ? -1 : 1) * (h * 3600L + m * 60L);
    return true;
}

/* Fractions of a second are passed over. */
static const char *skip_fraction(const char *p)
{
    return *p == '.' ? p + 1 + strspn(p + 1, "0123456789") : p;
}

static bool read_date(const char *text, double *seconds)
{
    static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
                                         "%Y-%m-%d %H:%M", "%Y-%m-%d" };

    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct tm tm = { .tm_isdst = -1 };
        const char *rest = strptime(text, forms[i], &tm);
        bool zone;
        long offset;
        time_t at;

        if (!rest || !read_zone(skip_fraction(rest), &zone, &offset))
            continue;
        at = zone ? timegm(&tm) : mktime(&tm);
        if (at == (time_t)-1)
            continue;
        *seconds = (double)(at - offset);
        return true;
    }
    return false;
}

static bool read_when(const char *text, double *seconds)
{
    char *end;
    double number = strtod(text, &end);
    uint64_t back;

    if (duration_parse(span_of(text), &back)) {
        *seconds = (double)clock_real()->wall_ms(clock_real()) / 1000 - (double)back / 1000;
        return true;
    }
    if (end != text && !*end && number > 0 && number < 1e12) {
        *seconds = number;
        return true;
    }
    return read_date(text, seconds);
}

int when_option(const struct cli *cli, const char *name, double *seconds)
{
    const char *text = cli_option(cli, name);

    if (!text || read_when(text, seconds))
        return CLI_OK;
    return cli_usage(cli->verb,
                     "--%s is a time back such as 10m or 2h, a date such as 2026-01-31 or "
                     "2026-01-31T12:00, or seconds since 1970, not '%s'",
                     name, text);
}

int when_span_option(const struct cli *cli, const char *name, uint64_t *ms)
{
    const char *text = cli_option(cli, name);

    if (!text || (duration_parse(span_of(text), ms) && *ms))
        return CLI_OK;
    return cli_usage(cli->verb,
                     "--%s is a span of time such as 5m, 1h30m or 300 (seconds), not '%s'", name,
                     text);
}

void when_span_text(struct buf *out, double seconds)
{
    static const struct {
        double from, unit;
        const char *name;
    } rows[] = { { 172800, 86400, "d" }, { 7200, 3600, "h" }, { 120, 60, "min" }, { 0, 1, "s" } };

    if (seconds < 0)
        seconds = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (seconds >= rows[i].from) {
            buf_printf(out, "%.0f %s", seconds / rows[i].unit, rows[i].name);
            return;
        }
}

void when_text(struct buf *out, double seconds)
{
    time_t at = (time_t)seconds, now = time(NULL);
    struct tm then, today;
    char text[32] = "";

    if (!localtime_r(&at, &then) || !localtime_r(&now, &today))
        return;
    strftime(text, sizeof text,
             then.tm_yday == today.tm_yday && then.tm_year == today.tm_year ? "%H:%M:%S"
                                                                            : "%Y-%m-%d %H:%M:%S",
             &then);
    buf_str(out, text);
}
