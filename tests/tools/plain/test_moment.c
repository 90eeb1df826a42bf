/* Dates and times, held against those of the C library. */
#include "base/base.h"
#include "tap.h"
#include "tools/plain/plain_impl.h"
#include <fcntl.h>
#include <time.h>

static const char *read_back(const char *text)
{
    static char shown[256];
    AUTO_BUF struct buf out = { 0 };
    struct moment m;
    struct pb_error err;

    if (moment_parse(span_of(text), &m, &err) < 0)
        return "none";
    moment_print(&out, &m);
    snprintf(shown, sizeof shown, "%s", buf_cstr(&out));
    return shown;
}

TEST(times_are_read_as_iso_8601_writes_them)
{
    CHECK_STR(read_back("2026-07-28"), "2026-07-28T00:00:00Z");
    CHECK_STR(read_back(" 2026-07-28T12:30 "), "2026-07-28T12:30:00Z");
    CHECK_STR(read_back("2026-07-28 12:30:59.5Z"), "2026-07-28T12:30:59.500Z");
    CHECK_STR(read_back("2026-07-28T12:30:59+02:00"), "2026-07-28T12:30:59+02:00");
    CHECK_STR(read_back("2026-07-28T12:30:59-0530"), "2026-07-28T12:30:59-05:30");
    CHECK_STR(read_back("2024-02-29"), "2024-02-29T00:00:00Z");
    CHECK_STR(read_back("0000-01-01"), "0000-01-01T00:00:00Z");
    CHECK_STR(read_back("1969-12-31T23:59:59Z"), "1969-12-31T23:59:59Z");
}

TEST(what_is_no_time_is_refused)
{
    static const char *const none[] = { "",
                                        "today",
                                        "2026-7-28",
                                        "2026-02-29",
                                        "1900-02-29",
                                        "2026-13-01",
                                        "2026-00-10",
                                        "2026-01-00",
                                        "2026-01-01T24:00",
                                        "2026-01-01T",
                                        "2026-01-01T10",
                                        "2026-01-01T10:60",
                                        "2026-01-01T10:00:00.",
                                        "2026-01-01T10:00+19:00",
                                        "2026-01-01T10:00 CET",
                                        "2026-01-01Z" };

    for (size_t i = 0; i < ARRAY_LEN(none); i++)
        if (strcmp(read_back(none[i]), "none") != 0)
            TAP_FAIL("'%s' is read as %s", none[i], read_back(none[i]));
}

TEST(the_calendar_is_the_one_of_the_c_library)
{
    for (int64_t s = -62135596800; s < 253402300799; s += 86400LL * 97 + 12345) {
        struct moment_parts p = moment_parts(&(struct moment){ .seconds = s });
        time_t t = (time_t)s;
        struct tm tm;

        gmtime_r(&t, &tm);
        if (p.year != tm.tm_year + 1900 || p.month != tm.tm_mon + 1 || p.day != tm.tm_mday ||
            p.hour != tm.tm_hour || p.minute != tm.tm_min || p.second != tm.tm_sec ||
            p.weekday != tm.tm_wday || p.day_of_year != tm.tm_yday + 1)
            TAP_FAIL("%lld differs", (long long)s);
    }
}

TEST(clocks_show_in_every_zone_what_those_of_the_c_library_do)
{
    static const char *const zones[] = {
        "Europe/Berlin",   "America/New_York",  "Australia/Lord_Howe",
        "Asia/Kolkata",    "America/Sao_Paulo", "Africa/Casablanca",
        "Europe/Dublin",   "Pacific/Apia",      "UTC",
        "Antarctica/Troll"
    };
    struct moment m = { 0 };
    struct pb_error err;

    if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) < 0)
        TAP_SKIP("there is no time zone database");
    for (size_t i = 0; i < ARRAY_LEN(zones); i++) {
        setenv("TZ", zones[i], 1);
        tzset();
        for (m.seconds = -3000000000; m.seconds < 4000000000; m.seconds += 86400 * 5 + 3601) {
            time_t t = (time_t)m.seconds;
            struct tm tm;

            localtime_r(&t, &tm);
            if (moment_set_zone(&m, zones[i], &err) < 0)
                TAP_FAIL("%s", err.msg);
            if (m.offset_s != tm.tm_gmtoff)
                TAP_FAIL("%s at %lld: %d, expected %ld", zones[i], (long long)m.seconds, m.offset_s,
                         tm.tm_gmtoff);
        }
    }
}

static const char *zone_error(const char *zone)
{
    static struct pb_error err;
    struct moment m = { 0 };

    return moment_set_zone(&m, zone, &err) < 0 ? err.msg : "";
}

TEST(a_zone_leads_to_no_other_file)
{
    CHECK_HAS(zone_error("../../../etc/passwd"), "is no time zone");
    CHECK_HAS(zone_error("/etc/passwd"), "is no time zone");
    CHECK_HAS(zone_error("Europe/../../x"), "is no time zone");
    CHECK_HAS(zone_error(""), "is no time zone");
    CHECK_HAS(zone_error("Europe/Nowhere"), "there is no time zone 'Europe/Nowhere'");
    CHECK_STR(zone_error("+02:00"), "");
    CHECK_STR(zone_error("utc"), "");
}

TEST(a_damaged_file_of_a_zone_is_refused)
{
    AUTO_CLOSE int fd = open("/usr/share/zoneinfo/Europe/Berlin", O_RDONLY | O_CLOEXEC);
    AUTO_BUF struct buf file = { 0 };
    struct pb_error err;
    int offset;

    if (fd < 0)
        TAP_SKIP("there is no time zone database");
    CHECK_INT(file_read(fd, "zone", 65536, &file, &err), 0);
    for (size_t n = 0; n < file.n - 30; n++) { /* cut anywhere before its rule */
        AUTO_FREE char *copy = mem_dupn(file.p, n);

        CHECK(zone_offset(span_make(copy, n), 0, &offset, &err) < 0 || n > file.n - 40);
    }
}
