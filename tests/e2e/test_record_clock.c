/* Somebody sets the clock back while the daemon records: what comes later is still the newest, and
 * nothing of it is lost. */
#include "gate_rig.h"

enum { DAY_S = 86400, KEPT_DAYS = 2 };

static void set_clock(long seconds)
{
    char text[32];

    snprintf(text, sizeof text, "%ld\n", seconds);
    write_file(in_home("shift.new"), text);
    CHECK_INT(rename(in_home("shift.new"), in_home("shift")), 0);
}

/* Only the daemon has the other clock. */
static void start_shifted(void)
{
    setenv("CLOCK_SHIFT", in_home("shift"), 1);
    setenv("LD_PRELOAD", built("tests/e2e/libclock_shift.so"), 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
    rig_daemon(NULL);
    unsetenv("LD_PRELOAD");
    unsetenv("ASAN_OPTIONS");
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
}

static void echo(const char *text)
{
    AUTO_BUF struct buf word = { 0 };

    buf_printf(&word, "text=%s", text);
    CHECK_INT(RUN("call", "ex.echo", buf_cstr(&word)), 0);
}

static double number_of(const char *path) { return strtod(member(path), NULL); }

/* Those that there are, the newest first, whatever the clock said. */
static void check_order(int n)
{
    char path[64];

    CHECK_INT(RUN("calls", "--json"), 0);
    CHECK_INT((int)number_of("total"), n);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "calls.%d.no", i);
        CHECK_INT((int)number_of(path), n - i);
        snprintf(path, sizeof path, "calls.%d.status", i);
        CHECK_STR(member(path), "success");
    }
}

TEST(calls_after_the_clock_was_set_back_are_the_newest_and_stay)
{
    double before;

    rig_begin();
    write_filled("config.json", "{\"mcpServers\":{", "\"ex\":" EXAMPLE,
                 "},\"settings\":{\"record_days\":2}}");
    set_clock(0);
    start_shifted();
    echo("one");
    echo("two");
    CHECK_INT(RUN("calls", "--json"), 0);
    before = number_of("calls.0.queued_at");
    /* further back than what is kept: by their times the old ones are in the future */
    set_clock(-(KEPT_DAYS + 1) * DAY_S);
    echo("three");
    echo("four");
    check_order(4);
    CHECK(number_of("calls.0.queued_at") < before - KEPT_DAYS * DAY_S); /* it was set back */
    CHECK(number_of("calls.0.duration") >= 0);
    /* what is too old is looked for at the start */
    CHECK_INT(daemon_stop(SIGTERM), 0);
    start_shifted();
    check_order(4);
    echo("five");
    check_order(5);
    CHECK_INT(RUN("calls", "--text", "three", "--json"), 0);
    CHECK_STR(member("calls.0.no"), "3");
    /* and after a small step back within one run */
    set_clock(-(KEPT_DAYS + 1) * DAY_S - 3600);
    echo("six");
    check_order(6);
    CHECK_INT(RUN("calls", "show", "6", "--json"), 0);
    rig_end();
}
