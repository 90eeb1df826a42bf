/* moment.c - ISO 8601 to seconds, and back; the Gregorian calendar in both directions of time. */
#include "plain_impl.h"
#include <ctype.h>
#include <time.h>

enum { DAY_S = 86400, HOUR_S = 3600, OFFSET_MAX_S = 18 * HOUR_S, YEAR_MAX = 9999 };

/* ---- the calendar ---- */

static bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_in_month(int64_t year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/* Years begin in March here, so that the day that may be missing is the last one. */
int64_t days_of_date(int64_t year, int month, int day)
{
    int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400, of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static void date_of_days(int64_t days, struct moment_parts *p)
{
    int64_t z = days + 719468, era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;

    p->day = (int)(of_year - (153 * m + 2) / 5 + 1);
    p->month = (int)(m < 10 ? m + 3 : m - 9);
    p->year = y + era * 400 + (p->month <= 2);
}

struct moment_parts moment_parts(const struct moment *m)
{
    int64_t local = m->seconds + m->offset_s;
    int64_t days = (local >= 0 ? local : local - (DAY_S - 1)) / DAY_S;
    int of_day = (int)(local - days * DAY_S);
    struct moment_parts p = { .hour = of_day / HOUR_S,
                              .minute = of_day / 60 % 60,
                              .second = of_day % 60,
                              .weekday = (int)(((days + 4) % 7 + 7) % 7) };

    date_of_days(days, &p);
    p.day_of_year = (int)(days - days_of_date(p.year, 1, 1)) + 1;
    return p;
}

void moment_print(struct buf *out, const struct moment *m)
{
    struct moment_parts p = moment_parts(m);
    int east = m->offset_s < 0 ? -m->offset_s : m->offset_s;

    buf_printf(out, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)p.year, p.month, p.day, p.hour,
               p.minute, p.second);
    if (m->millis)
        buf_printf(out, ".%03d", m->millis);
    if (m->offset_s)
        buf_printf(out, "%c%02d:%02d", m->offset_s < 0 ? '-' : '+', east / HOUR_S, east / 60 % 60);
    else
        buf_byte(out, 'Z');
}

/* ---- reading ---- */

struct time_text {
    struct span left;
};

static bool eat(struct time_text *r, const char *any)
{
    if (!r->left.n || !strchr(any, *r->left.p) || !*r->left.p)
        return false;
    r->left = span_from(r->left, 1);
    return true;
}

/* Exactly n digits. */
static bool digits(struct time_text *r, size_t n, int *out)
{
    *out = 0;
    if (r->left.n < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!isdigit((unsigned char)r->left.p[i]))
            return false;
        *out = *out * 10 + (r->left.p[i] - '0');
    }
    r->left = span_from(r->left, n);
    return true;
}

static bool read_date(struct time_text *r, struct moment_parts *p)
{
    int year;

    if (!digits(r, 4, &year) || !eat(r, "-") || !digits(r, 2, &p->month) || !eat(r, "-") ||
        !digits(r, 2, &p->day))
        return false;
    p->year = year;
    return p->month >= 1 && p->month <= 12 && p->day >= 1 &&
           p->day <= days_in_month(p->year, p->month);
}

/* What is finer than a thousandth is dropped. */
static bool read_fraction(struct time_text *r, int *millis)
{
    int scale = 100, digit;

    if (!digits(r, 1, &digit))
        return false;
    do {
        *millis += digit * scale;
        scale /= 10;
    } while (digits(r, 1, &digit));
    return true;
}

static bool read_time(struct time_text *r, struct moment_parts *p, int *millis)
{
    if (!digits(r, 2, &p->hour) || !eat(r, ":") || !digits(r, 2, &p->minute))
        return false;
    if (eat(r, ":") && (!digits(r, 2, &p->second) || (eat(r, ".,") && !read_fraction(r, millis))))
        return false;
    return p->hour < 24 && p->minute < 60 && p->second < 60;
}

/* "Z", "+02:00", "+0200", "+02", "-5" */
static bool read_offset(struct time_text *r, int *offset_s)
{
    bool west = r->left.n && *r->left.p == '-';
    int hours, minutes = 0;

    if (eat(r, "Zz"))
        return true;
    if (!eat(r, "+-") || !(digits(r, 2, &hours) || digits(r, 1, &hours)))
        return false;
    if (eat(r, ":") ? !digits(r, 2, &minutes) : r->left.n && !digits(r, 2, &minutes))
        return false;
    *offset_s = (hours * HOUR_S + minutes * 60) * (west ? -1 : 1);
    return minutes < 60 && *offset_s <= OFFSET_MAX_S && *offset_s >= -OFFSET_MAX_S;
}

bool moment_offset(struct span text, int *offset_s)
{
    struct time_text r = { text };

    *offset_s = 0;
    return read_offset(&r, offset_s) && !r.left.n;
}

int moment_parse(struct span text, struct moment *out, struct pb_error *err)
{
    struct time_text r = { span_trim(text) };
    struct moment_parts p = { 0 };
    struct moment m = { 0 };
    bool ok = read_date(&r, &p);

    if (ok && eat(&r, "Tt "))
        ok = read_time(&r, &p, &m.millis) && (!r.left.n || read_offset(&r, &m.offset_s));
    if (!ok || r.left.n)
        return fail(err, PB_E_INVALID,
                    "'%.*s' is no time; write it as 2026-07-28, 2026-07-28T12:00:00Z or "
                    "2026-07-28T14:00:00+02:00",
                    (int)utf8_cut(text, 60).n, text.p);
    m.seconds = days_of_date(p.year, p.month, p.day) * DAY_S + INT64_C(1) * p.hour * HOUR_S +
                INT64_C(60) * p.minute + p.second - m.offset_s;
    *out = m;
    return 0;
}
