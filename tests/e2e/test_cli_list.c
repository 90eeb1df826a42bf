/* How list, doctor and logs tell of many servers: each as soon as it is known, at any width, and in
 * the order of time. */
#include "cli_rig.h"

/* ---- as soon as it is known ---- */

TEST(list_tells_of_each_server_as_soon_as_it_is_known)
{
    struct started s;

    rig_begin();
    rig_config("\"slow\":" MOB("silent") ",\"ex\":" EXAMPLE);
    start_with(&s, NULL, WORDS("list"));
    WAIT_FOR(strstr(so_far(s.o), "ex    connected     4      "));
    CHECK(!strstr(so_far(s.o), "slow"));
    CHECK(kill(s.pid, 0) == 0);
    kill(s.pid, SIGINT);
    started_end(&s);
    CHECK_STR(err, ""); /* nothing moves where there is no terminal */
    rig_end();
}

TEST(doctor_tells_of_each_server_as_soon_as_it_is_known)
{
    struct started s;

    rig_begin();
    rig_config("\"slow\":" MOB("silent") ",\"ex\":" EXAMPLE);
    start_with(&s, NULL, WORDS("doctor"));
    WAIT_FOR(strstr(so_far(s.o), "  ok   tools     4\n"));
    CHECK(!strstr(so_far(s.o), "slow"));
    kill(s.pid, SIGINT);
    started_end(&s);
    CHECK_STR(err, "");
    rig_end();
}

#define AFTER(mine, other)                                                                 \
    "{\"command\":\"sh\",\"args\":[\"-c\",\"touch $HOME/" mine "; until [ -e $HOME/" other \
    " ]; do :; "                                                                           \
    "done; exec $BUILD/patchbay-example-server\"]}"

/* Each begins only when the other has begun, so that one after the other would never do. */
TEST(doctor_looks_at_all_servers_at_once)
{
    rig_begin();
    rig_config("\"a\":" AFTER("a", "b") ",\"b\":" AFTER("b", "a") ",\"off\":{\"command\":\"cat\","
                                                                  "\"enabled\":false}");
    CHECK_INT(RUN("doctor"), 0);
    CHECK_HAS(out, "\n2 well, 1 disabled\n");
    CHECK_INT(RUN("doctor", "--json"), 0);
    CHECK_STR(member("servers.0.server"), "a");
    CHECK_STR(member("servers.1.server"), "b");
    rig_end();
}

/* ---- the end ---- */

TEST(list_waits_as_long_as_it_is_told_to)
{
    rig_begin();
    rig_config("\"slow\":" MOB("silent"));
    CHECK_INT(RUN("list", "--timeout", "0.3"), 0);
    CHECK_STR(out, "NAME  STATE         TOOLS  WHAT\n"
                   "slow  connecting           no answer within 0.3 s (try: a longer --timeout)\n"
                   "\n1 connecting\n");
    CHECK_INT(RUN("list", "--timeout", "0.3", "--exit-code"), 4);
    CHECK_INT(RUN("list", "--timeout", "0.3", "--json"), 0);
    CHECK_STR(member_of("servers", "slow", "state"), "connecting");
    CHECK_INT(RUN("list", "--timeout", "never"), 1);
    CHECK_HAS(err, "--timeout is a number of seconds up to 3600, or as 300ms or 5m, not 'never'");
    rig_end();
}

TEST(list_can_say_by_its_exit_code_that_one_is_not_well)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE ",\"off\":{\"command\":\"cat\",\"enabled\":false}");
    CHECK_INT(RUN("list", "--exit-code"), 0);
    CHECK_HAS(out, "\n1 connected, 1 disabled\n");
    rig_config("\"ex\":" EXAMPLE ",\"gone\":{\"command\":\"/no/such/program\"}");
    CHECK_INT(RUN("list"), 0);
    CHECK_INT(RUN("list", "--exit-code"), 4);
    CHECK_HAS(out, "\n1 connected, 1 failed\n");
    CHECK_INT(RUN("list", "--exit-code", "--json"), 4);
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("gone", "state"), "error") == 0);
    CHECK_INT(RUN("list", "--exit-code"), 4);
    rig_end();
}

/* ---- the terminal ---- */

static bool has_control(void)
{
    for (const char *p = out; *p; p++)
        if (*p == '\033' || (*p == '\r' && p[1] != '\n'))
            return true;
    return false;
}

TEST(a_line_moves_while_a_server_is_waited_for_and_is_gone_in_the_end)
{
    static const char *const verbs[] = { "list", "doctor" };

    rig_begin();
    rig_config("\"slow\":" MOB("silent"));
    setenv("TERM", "xterm", 1);
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        run_on_terminal(WORDS(verbs[i], "--timeout", "2")); /* some ticks, also on a busy machine */
        CHECK_HAS(out, "\r\033[K| waiting for slow\r\033[K/ waiting for slow");
        CHECK_HAS(out, "waiting for slow\r\033[K\033[");
    }
    rig_end();
}

TEST(a_dumb_terminal_and_no_color_get_no_control_sequences_at_all)
{
    static const char *const verbs[] = { "list", "doctor" };

    rig_begin();
    rig_config("\"slow\":" MOB("silent") ",\"gone\":{\"command\":\"/no/such/program\"}");
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        setenv("TERM", "dumb", 1);
        run_on_terminal(WORDS(verbs[i], "--timeout", "0.4"));
        CHECK_HAS(out, "gone");
        CHECK(!has_control());
        setenv("TERM", "xterm", 1);
        setenv("NO_COLOR", "1", 1);
        run_on_terminal(WORDS(verbs[i], "--timeout", "0.4"));
        CHECK_HAS(out, "gone");
        CHECK(!has_control());
        unsetenv("NO_COLOR");
    }
    rig_end();
}

/* Everything but spaces and line ends, behind where the reason begins. */
static const char *squeezed(const char *from)
{
    static char text[RIG_TEXT_MAX];
    size_t n = 0;

    for (; *from; from++)
        if (!strchr(" \r\n", *from))
            text[n++] = *from;
    text[n] = '\0';
    return text;
}

static size_t longest_line(void)
{
    size_t longest = 0;

    for (const char *line = out; *line; line += strcspn(line, "\n") + (strchr(line, '\n') != NULL))
        if (strcspn(line, "\r\n") > longest)
            longest = strcspn(line, "\r\n");
    return longest;
}

TEST(reasons_wrap_at_any_width_and_lose_nothing)
{
    static const unsigned short widths[] = { 200, 80, 60, 40, 33 };
    static const char *const verbs[] = { "list", "doctor" };

    rig_begin();
    setenv("NO_COLOR", "1", 1);
    rig_config("\"gone\":{\"command\":\"/no/such/program\"}");
    for (size_t v = 0; v < ARRAY_LEN(verbs); v++) {
        for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
            rig_columns = widths[i];
            run_on_terminal(WORDS(verbs[v]));
            CHECK(longest_line() <= widths[i]);
            CHECK_HAS(squeezed(out), "thereisnoprogram'/no/such/program',ornottheinterpreterthatits"
                                     "firstlinenames");
            CHECK_HAS(squeezed(out), "correct\"command\"at");
            CHECK(!strstr(out, "…"));
        }
    }
    rig_columns = 12; /* the columns themselves do not fit, but all words are there */
    run_on_terminal(WORDS("list"));
    CHECK_HAS(squeezed(out), "ornottheinterpreterthatitsfirstlinenames(try:correct\"command\"at");
    rig_columns = 0;
    unsetenv("NO_COLOR");
    rig_end();
}

/* ---- logs ---- */

/* Lines of JSON whose times do not go back; the servers that came up, in this order. */
static const char *check_times(void)
{
    static char came_up[64];
    double last = 0;

    came_up[0] = '\0';

    for (char *line = out, *end; *line; line = end + 1) {
        double at;

        end = strchr(line, '\n');
        *end = '\0';
        at = strtod(json_member(line, "timestamp"), NULL);
        CHECK(at >= last);
        last = at;
        if (strcmp(json_member(line, "message"), "State: connecting → connected") == 0)
            snprintf(came_up + strlen(came_up), sizeof came_up - strlen(came_up), "%s",
                     json_member(line, "server"));
    }
    return came_up;
}

TEST(logs_of_several_servers_are_merged_by_time)
{
    rig_begin();
    rig_config("\"a\":" EXAMPLE ",\"b\":" EXAMPLE ",\"c\":" EXAMPLE);
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("a", "state"), "connected") == 0);
    WAIT_FOR(strcmp(server_is("b", "state"), "connected") == 0);
    WAIT_FOR(strcmp(server_is("c", "state"), "connected") == 0);
    /* one after the other, however short a moment each takes */
    for (int i = 0; i < 2; i++) {
        CHECK_INT(RUN("reconnect", "--force", "c"), 0);
        CHECK_INT(RUN("reconnect", "--force", "a"), 0);
        CHECK_INT(RUN("reconnect", "--force", "b"), 0);
    }
    CHECK_INT(RUN("logs", "--json"), 0);
    CHECK_STR(check_times() + 3, "cabcab"); /* after those of the start, whose order is theirs */
    CHECK_INT(RUN("logs", "a", "b", "--json"), 0);
    CHECK(!strstr(out, "\"c\""));
    CHECK_STR(check_times() + 2, "abab");
    CHECK_INT(RUN("logs", "a", "bb"), 1);
    CHECK_STR(err, "patchbay: there is no server 'bb'; 'patchbay list' shows those there are\n");
    CHECK_STR(out, "");
    rig_end();
}
