#include "base/base.h"
#include "manual_clock.h"
#include "tap.h"

TEST(times_are_written_in_iso_8601)
{
    static const struct {
        int64_t ms;
        const char *want;
    } cases[] = {
        { 0, "1970-01-01T00:00:00.000Z" },
        { 1, "1970-01-01T00:00:00.001Z" },
        { -1, "1969-12-31T23:59:59.999Z" },
        { -1000, "1969-12-31T23:59:59.000Z" },
        { INT64_C(1785240000123), "2026-07-28T12:00:00.123Z" },
        { INT64_C(951782400000), "2000-02-29T00:00:00.000Z" },
        { INT64_C(253402300799999), "9999-12-31T23:59:59.999Z" },
        { INT64_C(253402300800000), "9999-12-31T23:59:59.999Z" },
        { INT64_MAX, "9999-12-31T23:59:59.999Z" },
        { INT64_C(-62167219200000), "0000-01-01T00:00:00.000Z" },
        { INT64_MIN, "0000-01-01T00:00:00.000Z" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char out[CLOCK_ISO_CHARS + 1];

        clock_iso(cases[i].ms, out);
        CHECK_STR(out, cases[i].want);
    }
}

TEST(the_real_clock_moves_forward)
{
    struct clock *c = clock_real();
    uint64_t a = c->now_ms(c), b = c->now_ms(c);

    CHECK(b >= a);
    CHECK(!c->manual);
    CHECK(c->wall_ms(c) > INT64_C(1600000000000));
}

TEST(a_manual_clock_stands_still_until_it_is_moved)
{
    struct manual_clock m;
    uint64_t now;

    manual_clock_init(&m);
    now = m.clock.now_ms(&m.clock);
    CHECK(m.clock.manual);
    CHECK_INT(m.clock.now_ms(&m.clock), now);
    m.now += 5000;
    m.wall += 5000;
    CHECK_INT(m.clock.now_ms(&m.clock), now + 5000);
}
