/* zone_rule.c - "CET-1CEST,M3.5.0,M10.5.0/3": names, what clocks show, and from when to when it is
 * summer (POSIX, with the hours of RFC 8536). */
#include "plain_impl.h"
#include <ctype.h>

enum { HOUR_S = 3600, DAY_S = 86400, HOURS_MAX = 167 };

struct rule_text {
    struct span s;
};

static char peek(const struct rule_text *r) { return (char)(r->s.n ? *r->s.p : '\0'); }

static bool eat(struct rule_text *r, char c)
{
    if (peek(r) != c || !c)
        return false;
    r->s = span_from(r->s, 1);
    return true;
}

static bool read_int(struct rule_text *r, int most, int *out)
{
    *out = 0;
    if (!isdigit((unsigned char)peek(r)))
        return false;
    while (isdigit((unsigned char)peek(r))) {
        *out = *out * 10 + (peek(r) - '0');
        if (*out > most)
            return false;
        r->s = span_from(r->s, 1);
    }
    return true;
}

/* "CET" or "<+03>" */
static bool skip_name(struct rule_text *r)
{
    size_t n = 0;

    if (eat(r, '<')) {
        while (peek(r) && peek(r) != '>')
            r->s = span_from(r->s, 1);
        return eat(r, '>');
    }
    for (; isalpha((unsigned char)peek(r)); n++)
        r->s = span_from(r->s, 1);
    return n >= 3;
}

/* "-1", "+5:30", "26:00:00" */
static bool read_clock(struct rule_text *r, int *seconds)
{
    bool negative = eat(r, '-');
    int part;

    if (!negative)
        eat(r, '+');
    if (!read_int(r, HOURS_MAX, &part))
        return false;
    *seconds = part * HOUR_S;
    if (eat(r, ':')) {
        if (!read_int(r, 59, &part))
            return false;
        *seconds += part * 60;
        if (eat(r, ':')) {
            if (!read_int(r, 59, &part))
                return false;
            *seconds += part;
        }
    }
    *seconds = negative ? -*seconds : *seconds;
    return true;
}

/* ---- when summer begins or ends ---- */

struct day_rule {
    char kind; /* 'M' month, week, weekday; 'J' day without February 29; 'n' day from 0 */
    int month, week, day;
    int seconds; /* of that day */
};

static bool read_day(struct rule_text *r, struct day_rule *d)
{
    *d = (struct day_rule){ .kind = 'n', .seconds = 2 * HOUR_S };
    if (eat(r, 'M')) {
        d->kind = 'M';
        if (!read_int(r, 12, &d->month) || !eat(r, '.') || !read_int(r, 5, &d->week) ||
            !eat(r, '.') || !read_int(r, 6, &d->day) || !d->month || !d->week)
            return false;
    } else {
        d->kind = eat(r, 'J') ? 'J' : 'n';
        if (!read_int(r, 365, &d->day) || (d->kind == 'J' && !d->day))
            return false;
    }
    return !eat(r, '/') || read_clock(r, &d->seconds);
}

/* Seconds since 1970 as a clock there shows it. */
static int64_t local_time(const struct day_rule *d, int64_t year)
{
    int64_t first = days_of_date(year, 1, 1), day;
    int weekday, of_month;

    if (d->kind == 'M') {
        day = days_of_date(year, d->month, 1);
        weekday = (int)(((day + 4) % 7 + 7) % 7);
        of_month = (d->day - weekday + 7) % 7 + 7 * (d->week - 1);
        while (of_month >= days_in_month(year, d->month))
            of_month -= 7;
        day += of_month;
    } else if (d->kind == 'J') {
        day = first + d->day - 1 + (d->day >= 60 && days_in_month(year, 2) == 29);
    } else {
        day = first + d->day;
    }
    return day * DAY_S + d->seconds;
}

bool zone_rule(struct span rule, int64_t at, int *offset_s)
{
    struct rule_text r = { rule };
    struct day_rule begin, end;
    int winter, summer;
    int64_t year, from, to;

    if (!skip_name(&r) || !read_clock(&r, &winter))
        return false;
    winter = -winter; /* west is positive there */
    summer = winter + HOUR_S;
    *offset_s = winter;
    if (!r.s.n)
        return true;
    if (!skip_name(&r))
        return false;
    if (peek(&r) != ',') {
        if (!read_clock(&r, &summer))
            return false;
        summer = -summer;
    }
    if (!eat(&r, ',') || !read_day(&r, &begin) || !eat(&r, ',') || !read_day(&r, &end) || r.s.n)
        return false;
    year = moment_parts(&(struct moment){ .seconds = at, .offset_s = winter }).year;
    from = local_time(&begin, year) - winter;
    to = local_time(&end, year) - summer;
    if (from < to ? at >= from && at < to : at >= from || at < to)
        *offset_s = summer;
    return true;
}
