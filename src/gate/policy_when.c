#include "policy_impl.h"
#include <time.h>

static const char *const days[] = { "sun", "mon", "tue", "wed", "thu", "fri", "sat" };

/* "09:30" */
static bool read_clock(struct json v, int *out)
{
    AUTO_ARENA struct arena a = { 0 };
    struct span s = json_str(v, &a);
    int n[4];

    if (s.n != 5 || s.p[2] != ':')
        return false;
    for (size_t i = 0, at = 0; i < 5; i++) {
        if (i == 2)
            continue;
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        n[at++] = s.p[i] - '0';
    }
    *out = (n[0] * 10 + n[1]) * 60 + n[2] * 10 + n[3];
    return n[0] * 10 + n[1] < 24 && n[2] < 6;
}

static int read_days(struct time_of_day *t, struct json v, struct pb_error *err)
{
    JSON_FOREACH(day, v) {
        unsigned bit = 0;

        for (unsigned i = 0; i < ARRAY_LEN(days); i++)
            if (json_str_is(day, days[i]))
                bit = 1U << i;
        if (!bit)
            return fail(err, PB_E_INVALID,
                        "days: expected \"sun\", \"mon\", \"tue\", \"wed\", \"thu\", \"fri\" or "
                        "\"sat\", got %.*s",
                        SPAN_ARG(json_text(day)));
        t->days |= bit;
    }
    return 0;
}

int time_of_day_read(struct time_of_day *t, struct json v, struct pb_error *err)
{
    struct json from = json_get(v, "from"), to = json_get(v, "to"), on = json_get(v, "days");

    if (!json_is(v, JSON_OBJECT))
        return fail(err, PB_E_INVALID, "expected an object, got %s", json_type_phrase(v));
    JSON_FOREACH(m, v)
        if (!json_key_is(m, "from") && !json_key_is(m, "to") && !json_key_is(m, "days"))
            return fail(err, PB_E_INVALID, "%.*s: there are only \"from\", \"to\" and \"days\"",
                        SPAN_ARG(json_key(m)));
    *t = (struct time_of_day){ .given = true, .to = 24 * 60 };
    if (!json_is(from, JSON_NONE) && !read_clock(from, &t->from))
        return fail(err, PB_E_INVALID, "from: expected a time such as \"09:00\", got %.*s",
                    SPAN_ARG(json_text(from)));
    if (!json_is(to, JSON_NONE) && !read_clock(to, &t->to))
        return fail(err, PB_E_INVALID, "to: expected a time such as \"17:00\", got %.*s",
                    SPAN_ARG(json_text(to)));
    if (t->from == t->to)
        return fail(err, PB_E_INVALID, "from and to are the same: it would never apply");
    if (!json_is(on, JSON_NONE) && !json_is(on, JSON_ARRAY))
        return fail(err, PB_E_INVALID, "days: expected a list, got %s", json_type_phrase(on));
    return read_days(t, on, err);
}

/* A night belongs to the day on which it began. */
bool time_of_day_holds(const struct time_of_day *t, int64_t wall_ms)
{
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm local;
    int minute, day;
    bool over = t->from > t->to;

    if (!t->given)
        return true;
    if (!localtime_r(&seconds, &local))
        return false;
    minute = local.tm_hour * 60 + local.tm_min;
    day = over && minute < t->to ? (local.tm_wday + 6) % 7 : local.tm_wday;
    if (t->days && !(t->days & 1U << day))
        return false;
    return over ? minute >= t->from || minute < t->to : minute >= t->from && minute < t->to;
}
