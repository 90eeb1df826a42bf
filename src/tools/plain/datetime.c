/* datetime.c - dates and times: what time it is somewhere, and how to calculate with it. */
#include "plain_impl.h"
#include <ctype.h>

enum { DAY_S = 86400, YEAR_MAX = 9999 };

static const char *const weekdays[] = { "Sunday",   "Monday", "Tuesday", "Wednesday",
                                        "Thursday", "Friday", "Saturday" };
static const char *const months[] = { "January",   "February", "March",    "April",
                                      "May",       "June",     "July",     "August",
                                      "September", "October",  "November", "December" };

/* ---- how it is shown ---- */

static void print_full(struct buf *out, const struct moment *m)
{
    struct moment_parts p = moment_parts(m);
    AUTO_BUF struct buf iso = { 0 };

    moment_print(&iso, m);
    buf_printf(out, "%s, %d %s %lld, %02d:%02d:%02d %s", weekdays[p.weekday], p.day,
               months[p.month - 1], (long long)p.year, p.hour, p.minute, p.second,
               m->offset_s ? buf_cstr(&iso) + iso.n - strlen("+00:00") : "UTC");
}

static void print_date(struct buf *out, const struct moment *m)
{
    struct moment_parts p = moment_parts(m);

    buf_printf(out, "%04lld-%02d-%02d", (long long)p.year, p.month, p.day);
}

static void print_time(struct buf *out, const struct moment *m)
{
    struct moment_parts p = moment_parts(m);

    buf_printf(out, "%02d:%02d:%02d", p.hour, p.minute, p.second);
}

static void print_short(struct buf *out, const struct moment *m)
{
    struct moment_parts p = moment_parts(m);

    print_date(out, m);
    buf_printf(out, " %02d:%02d", p.hour, p.minute);
}

static void print_unix(struct buf *out, const struct moment *m)
{
    buf_printf(out, "%lld", (long long)m->seconds);
}

static const struct {
    const char *name;
    void (*print)(struct buf *out, const struct moment *m);
} formats[] = {
    { "iso8601", moment_print }, { "full", print_full },   { "date", print_date },
    { "time", print_time },      { "short", print_short }, { "unix", print_unix },
};
static const char *const format_names[] = {
    "iso8601", "full", "date", "time", "short", "unix", NULL
};
_Static_assert(ARRAY_LEN(format_names) == ARRAY_LEN(formats) + 1, "every format has a name");

static int answer(struct tool_call *c, struct moment m)
{
    AUTO_BUF struct buf text = { 0 }, iso = { 0 }, json = { 0 };
    const char *zone = pb_arg_string(c->call, "timezone");
    const char *format = pb_arg_string(c->call, "format");
    struct json_out o = json_out(&json);
    struct moment_parts p;
    struct pb_error err;

    if (zone && moment_set_zone(&m, zone, &err) < 0)
        return pb_fail(c->call, "%s", err.msg);
    p = moment_parts(&m);
    if (p.year < 0 || p.year > YEAR_MAX)
        return pb_fail(c->call, "the time lies outside the years 0 to %d", YEAR_MAX);
    for (size_t i = 0; i < ARRAY_LEN(formats); i++)
        if (strcmp(format ? format : "iso8601", formats[i].name) == 0)
            formats[i].print(&text, &m);
    moment_print(&iso, &m);
    json_begin_object(&o, NULL);
    json_put_span(&o, "iso8601", buf_span(&iso));
    json_put_int(&o, "unix", m.seconds);
    json_put_str(&o, "weekday", weekdays[p.weekday]);
    json_put_int(&o, "dayOfYear", p.day_of_year);
    json_end(&o);
    pb_reply_bytes(c->call, text.p, text.n);
    return pb_reply_structured(c->call, buf_cstr(&json));
}

/* ---- operations ---- */

static int read_moment(struct tool_call *c, const char *param, struct moment *m)
{
    struct pb_error err;

    if (moment_parse(span_of(pb_arg_string(c->call, param)), m, &err) < 0)
        return pb_fail(c->call, "%s: %s", param, err.msg);
    return 0;
}

static int now(struct tool_call *c)
{
    return answer(
        c, (struct moment){ .seconds = c->now_ms / 1000, .millis = (int)(c->now_ms % 1000) });
}

static int format(struct tool_call *c)
{
    struct moment m;
    int rc = read_moment(c, "time", &m);

    return rc < 0 ? rc : answer(c, m);
}

/* "1h30m", "-2d", "90s" and "+3 months": months and years keep the day, or end with the month. */
struct time_step {
    int64_t seconds;
    int64_t months;
};

static bool read_unit(struct span word, struct time_step *unit)
{
    static const struct {
        const char *words[4];
        struct time_step step;
    } units[] = {
        { { "s", "second", "sec", NULL }, { 1, 0 } },
        { { "m", "minute", "min", NULL }, { 60, 0 } },
        { { "h", "hour", "hr", NULL }, { 3600, 0 } },
        { { "d", "day", NULL }, { DAY_S, 0 } },
        { { "w", "week", NULL }, { INT64_C(7) * DAY_S, 0 } },
        { { "month", "mo", NULL }, { 0, 1 } },
        { { "y", "year", "yr", NULL }, { 0, 12 } },
    };

    if (word.n > 2 && word.p[word.n - 1] == 's')
        word.n--;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        for (size_t k = 0; units[i].words[k]; k++)
            if (span_is_nocase(word, units[i].words[k])) {
                *unit = units[i].step;
                return true;
            }
    return false;
}

static bool read_steps(struct span s, struct time_step *out)
{
    static const int64_t MOST = 1000000000, SECONDS_MOST = 1000000000000, MONTHS_MOST = 1000000;
    bool negative = s.n && *s.p == '-';

    *out = (struct time_step){ 0 };
    if (s.n && strchr("+-", *s.p))
        s = span_from(s, 1);
    for (s = span_trim(s); s.n; s = span_trim(s)) {
        int64_t n = 0;
        size_t at = 0, from;
        struct time_step unit;

        while (at < s.n && isdigit((unsigned char)s.p[at]) && n <= MOST)
            n = n * 10 + (s.p[at++] - '0');
        if (!at || n > MOST)
            return false;
        while (at < s.n && s.p[at] == ' ')
            at++;
        for (from = at; at < s.n && isalpha((unsigned char)s.p[at]);)
            at++;
        if (!read_unit(span_make(s.p + from, at - from), &unit))
            return false;
        out->seconds += (negative ? -n : n) * unit.seconds;
        out->months += (negative ? -n : n) * unit.months;
        if (llabs(out->seconds) > SECONDS_MOST || llabs(out->months) > MONTHS_MOST)
            return false;
        s = span_from(s, at);
    }
    return true;
}

static void add_months(struct moment *m, int64_t n)
{
    struct moment_parts p = moment_parts(m);
    int64_t month = p.year * 12 + (p.month - 1) + n;
    int64_t year = (month >= 0 ? month : month - 11) / 12;
    int of_year = (int)(month - year * 12) + 1, days = days_in_month(year, of_year);

    m->seconds += (days_of_date(year, of_year, p.day < days ? p.day : days) -
                   days_of_date(p.year, p.month, p.day)) *
                  DAY_S;
}

static int add(struct tool_call *c)
{
    const char *duration = pb_arg_string(c->call, "duration");
    struct time_step step;
    struct moment m;
    int rc = read_moment(c, "time", &m);

    if (rc < 0)
        return rc;
    if (!*duration || !read_steps(span_of(duration), &step))
        return pb_fail(c->call,
                       "duration: '%.60s' is none; write it as 90s, 1h30m, -2d, 3 weeks, 1 month",
                       duration);
    add_months(&m, step.months);
    m.seconds += step.seconds;
    return answer(c, m);
}

static int difference(struct tool_call *c)
{
    AUTO_BUF struct buf json = { 0 };
    struct json_out o = json_out(&json);
    struct moment from = { 0 }, to = { 0 };
    int64_t ms, left;
    int rc = read_moment(c, "from", &from);

    if (rc == 0)
        rc = read_moment(c, "to", &to);
    if (rc < 0)
        return rc;
    ms = (to.seconds - from.seconds) * 1000 + to.millis - from.millis;
    left = ms < 0 ? -ms : ms;
    pb_reply_text(c->call, "%s%lld days, %lld hours, %lld minutes, %lld.%03lld seconds",
                  ms < 0 ? "-" : "", (long long)(left / (1000LL * DAY_S)),
                  (long long)(left / 3600000 % 24), (long long)(left / 60000 % 60),
                  (long long)(left / 1000 % 60), (long long)(left % 1000));
    json_begin_object(&o, NULL);
    json_put_seconds(&o, "seconds", ms);
    json_end(&o);
    return pb_reply_structured(c->call, buf_cstr(&json));
}

static int weekday(struct tool_call *c)
{
    struct moment m;
    int rc = read_moment(c, "time", &m);

    if (rc < 0)
        return rc;
    return pb_reply_text(c->call, "%s", weekdays[moment_parts(&m).weekday]);
}

/* ---- rows ---- */

#define TIME_PARAM                                                                           \
    {                                                                                        \
        .name = "time", .type = PB_STRING,                                                   \
        .description = "ISO 8601, such as 2026-07-28T12:00:00Z; without an offset it is UTC" \
    }
#define SHOWN_PARAMS                                                                        \
    { .name = "timezone",                                                                   \
      .type = PB_STRING,                                                                    \
      .flags = PB_OPTIONAL,                                                                 \
      .description = "UTC, +02:00 or a name such as Europe/Berlin" },                       \
    {                                                                                       \
        .name = "format", .type = PB_ONE_OF, .options = format_names, .flags = PB_OPTIONAL, \
        .description = "How it is written; iso8601 if not said"                             \
    }

static const struct pb_param now_params[] = { SHOWN_PARAMS, { 0 } };
static const struct pb_param format_params[] = { TIME_PARAM, SHOWN_PARAMS, { 0 } };
static const struct pb_param add_params[] = {
    TIME_PARAM,
    { .name = "duration", .type = PB_STRING, .description = "Such as 1h30m, -2d or 1 month" },
    SHOWN_PARAMS,
    { 0 },
};
static const struct pb_param difference_params[] = {
    { .name = "from", .type = PB_STRING, .description = "ISO 8601" },
    { .name = "to", .type = PB_STRING, .description = "ISO 8601" },
    { 0 },
};
static const struct pb_param weekday_params[] = { TIME_PARAM, { 0 } };

/* Their own names are words that others have as well. */
enum { PLAIN = PB_READ_ONLY | PB_CLOSED_WORLD | TOOL_FULL_NAME };

static const struct tool_operation rows[] = {
    { .name = "now", .help = "what time it is", .params = now_params, .flags = PLAIN, .run = now },
    { .name = "format",
      .help = "a time in another time zone or another form",
      .params = format_params,
      .flags = PLAIN,
      .run = format },
    { .name = "add",
      .help = "the time so much later, or earlier with a minus",
      .params = add_params,
      .flags = PLAIN,
      .run = add },
    { .name = "difference",
      .help = "how long it is from one time to another",
      .params = difference_params,
      .flags = PLAIN,
      .run = difference },
    { .name = "weekday",
      .help = "the day of the week",
      .params = weekday_params,
      .flags = PLAIN,
      .run = weekday },
    { 0 },
};

const struct tool datetime_tool = {
    .name = "datetime",
    .title = "Dates and times",
    .help = "What time it is, and calculating with dates and times.",
    .icon = "clock",
    .group = TOOLS_PLAIN,
    .operations = rows,
};
