/* The states of a link: connecting, failing, ending. */
#include "hub/link/link.h"
#include "hub/link_rig.h"
#include "mcp/rpc/rpc.h"

/* S0-16 S0-17 S0-159 */
TEST(a_new_link_is_idle_and_knows_its_spec)
{
    struct link_rig rig;
    struct link_facts facts;

    link_rig_init(&rig);
    link_rig_make(&rig);
    CHECK_STR(link_name(rig.link), "alpha");
    CHECK(link_spec(rig.link) == rig.spec);
    CHECK_INT(link_state(rig.link), LINK_IDLE);
    CHECK(link_is_clear(rig.link));
    link_facts(rig.link, &facts);
    CHECK(!facts.protocol);
    CHECK_INT(facts.calls, 0);
    CHECK_INT(facts.connected_at, 0);
    CHECK_INT(rig.fakes.n_events, 0);
    link_rig_done(&rig);
}

/* S0-18 S0-20 S0-31 S0-36 S0-38 S0-160 */
TEST(connecting_lists_the_tools_and_then_is_connected)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        struct link_rig rig;
        struct link_status s;
        struct link_facts facts;

        link_rig_init(&rig);
        rig.f->era = eras[i];
        fake_tool(rig.f, "echo", FAKE_ECHO)->description = "says it again";
        fake_tool(rig.f, "two", FAKE_TEXT);
        link_rig_start(&rig);
        CHECK_STR(fakes_states(&rig.fakes, "alpha"), "idle>connecting connecting>connected");
        CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, "alpha", "State: idle → connecting"), 1);
        CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, "alpha", "State: connecting → connected"), 1);
        CHECK_INT(rig.listed[LIST_TOOLS], 1);
        CHECK_INT(rig.state_when_listed, LINK_CONNECTING);
        CHECK_HAS(rig.lists[LIST_TOOLS], "\"name\":\"echo\",\"description\":\"says it again\"");
        link_status(rig.link, &s);
        CHECK_INT(s.tools, 2);
        CHECK(!s.message);
        link_facts(rig.link, &facts);
        CHECK_STR(facts.protocol, eras[i] == PB_ERA_LEGACY ? "2025-11-25" : "2026-07-28");
        CHECK_INT(facts.era, eras[i] == PB_ERA_LEGACY ? ERA_LEGACY : ERA_MODERN);
        CHECK_INT(facts.pid, 4242);
        CHECK(facts.connected_at > 0);
        CHECK(link_has(rig.link, "tools"));
        CHECK(!link_has(rig.link, "prompts"));
        link_rig_done(&rig);
    }
}

/* S0-30 S0-161 */
TEST(connecting_twice_is_refused_with_a_warning_and_changes_nothing)
{
    struct link_rig rig;
    struct pb_error err;
    size_t states;

    link_rig_init(&rig);
    link_rig_start(&rig);
    states = fakes_count(&rig.fakes, EVENT_STATE, NULL, NULL);
    CHECK_INT(link_connect(rig.link, 0, &err), -PB_E_BUSY);
    CHECK_STR(err.msg, "Cannot connect from state: connected");
    CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, "alpha", "Cannot connect from state: connected"),
              1);
    CHECK_HAS(fakes_json(&rig.fakes, EVENT_LOG, "alpha", "Cannot connect"),
              "\"level\":\"warning\"");
    CHECK_INT(fakes_count(&rig.fakes, EVENT_STATE, NULL, NULL), states);
    CHECK_INT(link_state(rig.link), LINK_CONNECTED);
    CHECK_INT(rig.f->connects, 1);
    link_rig_done(&rig);
}

/* S0-21 S0-33 S0-162 */
TEST(a_client_that_cannot_be_made_ends_in_error_with_the_count_it_was_given)
{
    struct link_rig rig;
    struct link_status s;
    struct pb_error err;

    link_rig_init(&rig);
    rig.f->connect = FAKE_CONNECT_FAIL;
    rig.f->connect_text = "connection refused";
    link_rig_make(&rig);
    CHECK_INT(link_connect(rig.link, 3, &err), 0);
    CHECK_INT(link_state(rig.link), LINK_CONNECTING); /* told later, as an event */
    FAKES_UNTIL(&rig.fakes, link_state(rig.link) == LINK_ERROR);
    link_status(rig.link, &s);
    CHECK_STR(s.message, "Cannot connect to server 'alpha': connection refused");
    CHECK_INT(s.retries, 3);
    CHECK_STR(fakes_states(&rig.fakes, "alpha"), "idle>connecting connecting>error");
    CHECK_HAS(fakes_json(&rig.fakes, EVENT_STATE, NULL, NULL), "\"retries\":3");
    CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, NULL, "\"level\":\"error\""), 1);
    CHECK_INT(link_last_error(rig.link)->code, PB_E_CLOSED);
    CHECK(link_is_clear(rig.link));

    rig.f->connect = FAKE_CONNECT_OK;
    link_rig_connect(&rig);
    CHECK(!link_last_error(rig.link));
    link_rig_done(&rig);
}

TEST(a_server_that_dies_while_it_is_greeted_is_quoted)
{
    struct link_rig rig;
    struct pb_error err;

    link_rig_init(&rig);
    rig.f->connect = FAKE_CONNECT_DIE;
    rig.f->connect_text = "config.toml: no such file";
    link_rig_make(&rig);
    CHECK_INT(link_connect(rig.link, 0, &err), 0);
    while (link_state(rig.link) != LINK_ERROR)
        loop_advance(rig.fakes.loop, 1);
    CHECK_HAS(link_rig_message_of_state(&rig), "Cannot connect to server 'alpha': ");
    CHECK_HAS(link_rig_message_of_state(&rig), "exited with status 1; stderr: ");
    CHECK_HAS(link_rig_message_of_state(&rig), "config.toml: no such file");
    link_rig_done(&rig);
}

/* S0-32 S0-165 */
TEST(cancelling_an_attempt_that_hangs_leads_back_to_idle)
{
    struct link_rig rig;
    struct pb_error err;

    link_rig_init(&rig);
    rig.f->connect = FAKE_CONNECT_HANG;
    link_rig_make(&rig);
    CHECK_INT(link_connect(rig.link, 0, &err), 0);
    fakes_settle(&rig.fakes);
    CHECK_INT(link_state(rig.link), LINK_CONNECTING);
    CHECK(!link_is_clear(rig.link));
    link_cancel_connect(rig.link);
    CHECK_INT(link_state(rig.link), LINK_IDLE);
    CHECK_STR(fakes_states(&rig.fakes, "alpha"), "idle>connecting connecting>idle");
    FAKES_UNTIL(&rig.fakes, link_is_clear(rig.link));
    CHECK_INT(rig.f->closes, 1);
    loop_advance(rig.fakes.loop, 60000); /* its limit is gone too */
    CHECK_INT(link_state(rig.link), LINK_IDLE);
    link_cancel_connect(rig.link); /* nothing to cancel */
    CHECK_INT(link_state(rig.link), LINK_IDLE);

    rig.f->connect = FAKE_CONNECT_OK;
    link_rig_connect(&rig);
    link_rig_done(&rig);
}

TEST(an_attempt_that_fails_after_it_was_cancelled_is_not_told)
{
    struct link_rig rig;
    struct pb_error err;

    link_rig_init(&rig);
    rig.f->connect = FAKE_CONNECT_FAIL;
    link_rig_make(&rig);
    CHECK_INT(link_connect(rig.link, 0, &err), 0);
    link_cancel_connect(rig.link);
    rig.f->connect = FAKE_CONNECT_HANG;
    CHECK_INT(link_connect(rig.link, 0, &err), 0);
    fakes_settle(&rig.fakes);
    CHECK_INT(link_state(rig.link), LINK_CONNECTING);
    link_rig_done(&rig);
}

TEST(handshake_and_lists_share_one_limit_and_the_message_names_the_phase)
{
    struct link_rig rig;
    struct pb_error err;

    link_rig_init(&rig);
    rig.f->connect = FAKE_CONNECT_HANG;
    link_rig_make(&rig);
    CHECK_INT(link_connect(rig.link, 0, &err), 0);
    loop_advance(rig.fakes.loop, 9999);
    CHECK_INT(link_state(rig.link), LINK_CONNECTING);
    loop_advance(rig.fakes.loop, 1);
    CHECK_INT(link_state(rig.link), LINK_ERROR);
    CHECK_STR(link_rig_message_of_state(&rig),
              "Cannot connect to server 'alpha': handshake: no answer within 10s");
    CHECK_INT(link_last_error(rig.link)->code, PB_E_TIMEOUT);

    rig.f->connect = FAKE_CONNECT_DELAY;
    rig.f->connect_ms = 6000;
    rig.f->hang_list[LIST_PROMPTS] = true;
    fake_prompt(rig.f, "p", "");
    CHECK_INT(link_connect(rig.link, 0, &err), 0);
    loop_advance(rig.fakes.loop, 9999);
    CHECK_INT(link_state(rig.link), LINK_CONNECTING);
    loop_advance(rig.fakes.loop, 1);
    CHECK_INT(link_state(rig.link), LINK_ERROR);
    CHECK_STR(link_rig_message_of_state(&rig),
              "Cannot connect to server 'alpha': listing what it offers: no answer within 10s");
    CHECK_INT(rig.listed[LIST_TOOLS], 0);
    link_rig_done(&rig);
}

TEST(a_list_of_tools_that_fails_fails_the_attempt_the_others_only_warn)
{
    struct link_rig rig;
    struct pb_error err;

    link_rig_init(&rig);
    fake_resource(rig.f, "test://a", "a");
    fake_prompt(rig.f, "p", "");
    rig.f->fail_list[LIST_TOOLS] = true;
    link_rig_make(&rig);
    CHECK_INT(link_connect(rig.link, 0, &err), 0);
    FAKES_UNTIL(&rig.fakes, link_state(rig.link) == LINK_ERROR);
    CHECK_STR(link_rig_message_of_state(&rig),
              "Cannot connect to server 'alpha': tools/list: no list today");
    CHECK_INT(rig.listed[LIST_RESOURCES], 0);

    rig.f->fail_list[LIST_TOOLS] = false;
    rig.f->fail_list[LIST_RESOURCES] = rig.f->fail_list[LIST_TEMPLATES] = true;
    rig.f->fail_list[LIST_PROMPTS] = true;
    link_rig_connect(&rig);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, NULL, "resources/list failed: no list today"), 1);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, NULL, "prompts/list failed: no list today"), 1);
    CHECK_HAS(fakes_json(&rig.fakes, EVENT_LOG, NULL, "prompts/list failed"),
              "\"level\":\"warning\"");
    CHECK_STR(rig.lists[LIST_PROMPTS], "");
    link_rig_done(&rig);
}

/* S0-23 S0-34 */
TEST(disconnecting_closes_the_client_and_works_from_every_state)
{
    struct link_rig rig;
    struct pb_error err;

    link_rig_init(&rig);
    link_rig_start(&rig);
    link_disconnect(rig.link);
    CHECK_INT(link_state(rig.link), LINK_DISCONNECTED);
    CHECK(!link_is_clear(rig.link));
    FAKES_UNTIL(&rig.fakes, link_is_clear(rig.link));
    CHECK_INT(rig.f->closes, 1);
    CHECK_STR(link_rig_message_of_state(&rig), "");
    fakes_forget_events(&rig.fakes);
    link_disconnect(rig.link); /* again: nothing happens */
    CHECK_INT(rig.fakes.n_events, 0);

    rig.f->connect = FAKE_CONNECT_HANG;
    CHECK_INT(link_connect(rig.link, 0, &err), 0);
    link_disconnect(rig.link);
    CHECK_INT(link_state(rig.link), LINK_DISCONNECTED);
    rig.f->connect = FAKE_CONNECT_FAIL;
    CHECK_INT(link_connect(rig.link, 0, &err), 0);
    FAKES_UNTIL(&rig.fakes, link_state(rig.link) == LINK_ERROR);
    link_disconnect(rig.link);
    CHECK_INT(link_state(rig.link), LINK_DISCONNECTED);
    link_give_up(rig.link);
    CHECK_INT(link_state(rig.link), LINK_FAILED);
    link_disconnect(rig.link);
    link_mark_reconnecting(rig.link, 1, 5, 0);
    link_disconnect(rig.link);
    CHECK_INT(link_state(rig.link), LINK_DISCONNECTED);
    link_go_idle(rig.link);
    CHECK_INT(link_state(rig.link), LINK_IDLE);
    link_disconnect(rig.link);
    CHECK_INT(link_state(rig.link), LINK_DISCONNECTED);
    link_rig_done(&rig);
}

/* S0-22 S0-35 */
TEST(reconnecting_is_marked_from_outside_with_attempt_limit_and_time)
{
    struct link_rig rig;
    struct link_status s;
    struct pb_error err;

    link_rig_init(&rig);
    rig.f->connect = FAKE_CONNECT_FAIL;
    link_rig_make(&rig);
    CHECK_INT(link_connect(rig.link, 0, &err), 0);
    FAKES_UNTIL(&rig.fakes, link_state(rig.link) == LINK_ERROR);
    link_mark_reconnecting(rig.link, 1, 5, 1234567);
    link_status(rig.link, &s);
    CHECK_INT(s.state, LINK_RECONNECTING);
    CHECK_INT(s.attempt, 1);
    CHECK_INT(s.max_attempts, 5);
    CHECK_INT(s.next_retry_at, 1234567);
    CHECK(!s.message);
    rig.f->connect = FAKE_CONNECT_OK;
    link_rig_connect(&rig); /* C38: connect is legal from here */
    CHECK_STR(fakes_states(&rig.fakes, "alpha"),
              "idle>connecting connecting>error error>reconnecting reconnecting>connecting "
              "connecting>connected");
    link_rig_done(&rig);
}

TEST(giving_up_keeps_the_reason)
{
    struct link_rig rig;
    struct link_status s;
    struct pb_error err;

    link_rig_init(&rig);
    rig.f->connect = FAKE_CONNECT_FAIL;
    link_rig_make(&rig);
    CHECK_INT(link_connect(rig.link, 5, &err), 0);
    FAKES_UNTIL(&rig.fakes, link_state(rig.link) == LINK_ERROR);
    link_give_up(rig.link);
    link_status(rig.link, &s);
    CHECK_INT(s.state, LINK_FAILED);
    CHECK_STR(s.message, "Cannot connect to server 'alpha': connection refused");
    CHECK_INT(s.retries, 5);
    link_rig_done(&rig);
}

/* S0-11 */
TEST(a_transition_that_the_table_does_not_know_is_logged_and_changes_nothing)
{
    struct link_rig rig;

    link_rig_init(&rig);
    link_rig_start(&rig);
    fakes_forget_events(&rig.fakes);
    link_give_up(rig.link);
    link_mark_reconnecting(rig.link, 1, 5, 0);
    CHECK_INT(link_state(rig.link), LINK_CONNECTED);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_STATE, NULL, NULL), 0);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, NULL, "Refused: State: connected → failed"), 1);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, NULL, "Refused: State: connected → reconnecting"),
              1);
    link_rig_done(&rig);
}

TEST(a_disabled_server_does_nothing_until_it_is_enabled)
{
    struct link_rig rig;
    struct pb_error err;

    link_rig_init(&rig);
    rig.spec->enabled = false;
    link_rig_make(&rig);
    CHECK_INT(link_state(rig.link), LINK_DISABLED);
    CHECK_INT(link_connect(rig.link, 0, &err), -PB_E_BUSY);
    link_disconnect(rig.link);
    link_go_idle(rig.link);
    CHECK_INT(link_state(rig.link), LINK_DISABLED);
    link_set_enabled(rig.link, true);
    CHECK_INT(link_state(rig.link), LINK_IDLE);
    link_set_enabled(rig.link, true);
    link_rig_connect(&rig);
    link_set_enabled(rig.link, false);
    CHECK_INT(link_state(rig.link), LINK_DISABLED);
    FAKES_UNTIL(&rig.fakes, link_is_clear(rig.link));
    CHECK_INT(rig.f->closes, 1);
    link_rig_done(&rig);
}

TEST(a_lazy_server_that_rests_is_idle_again_and_what_is_known_of_it_stays)
{
    struct link_rig rig;
    struct link_facts facts;

    link_rig_init(&rig);
    link_rig_start(&rig);
    link_go_idle(rig.link);
    CHECK_INT(link_state(rig.link), LINK_IDLE);
    FAKES_UNTIL(&rig.fakes, link_is_clear(rig.link));
    link_facts(rig.link, &facts);
    CHECK(facts.protocol);
    CHECK(facts.capabilities.n);
    CHECK_INT(facts.pid, 0);
    link_rig_connect(&rig);
    CHECK_INT(rig.f->connects, 2);
    link_rig_done(&rig);
}

TEST(a_server_that_dies_is_disconnected_with_its_last_words)
{
    struct link_rig rig;
    struct link_facts facts;
    AUTO_BUF struct buf words = { 0 };

    link_rig_init(&rig);
    link_rig_start(&rig);
    fake_stderr(rig.f, "panic: out of cheese");
    fake_break(rig.f, "the server was killed by signal 9 (Killed)");
    CHECK_INT(link_state(rig.link), LINK_DISCONNECTED);
    CHECK_STR(
        link_rig_message_of_state(&rig),
        "Server 'alpha' went away: the server was killed by signal 9 (Killed); stderr: panic: "
        "out of cheese");
    link_facts(rig.link, &facts);
    CHECK(facts.crashed);
    link_last_words(rig.link, &words);
    CHECK_STR(buf_cstr(&words), "panic: out of cheese");
    FAKES_UNTIL(&rig.fakes, link_is_clear(rig.link));
    link_rig_connect(&rig);
    link_disconnect(rig.link);
    link_facts(rig.link, &facts);
    CHECK(!facts.crashed); /* that was our own wish */
    link_rig_done(&rig);
}

TEST(long_last_words_are_cut_at_the_front)
{
    struct link_rig rig;
    char line[200];

    link_rig_init(&rig);
    link_rig_start(&rig);
    for (int i = 0; i < 20; i++) {
        snprintf(line, sizeof line, "line %d of a long story that nobody reads to its end", i);
        fake_stderr(rig.f, line);
    }
    fake_break(rig.f, "the server exited with status 1");
    CHECK_HAS(link_rig_message_of_state(&rig), "stderr: line 1");
    CHECK_HAS(link_rig_message_of_state(&rig),
              "line 19 of a long story that nobody reads to its end");
    CHECK(!strstr(link_rig_message_of_state(&rig), "line 2 of"));
    link_rig_done(&rig);
}

TEST(a_server_that_dies_while_it_lists_fails_the_attempt)
{
    struct link_rig rig;
    struct pb_error err;

    link_rig_init(&rig);
    rig.f->hang_list[LIST_TOOLS] = true;
    link_rig_make(&rig);
    CHECK_INT(link_connect(rig.link, 0, &err), 0);
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 1);
    fake_break(rig.f, "the server exited with status 1");
    CHECK_INT(link_state(rig.link), LINK_ERROR);
    CHECK_HAS(link_rig_message_of_state(&rig), "tools/list: the server exited with status 1");
    link_rig_done(&rig);
}

/* Closing from inside is what a hub does when a server is removed because of an event. */
static void close_on_error(void *ctx, const struct hub_event *e)
{
    struct link_rig *rig = ctx;

    link_rig_event(rig, e);
    if (e->kind == EVENT_STATE &&
        (e->state.to.state == LINK_ERROR || e->state.to.state == LINK_DISCONNECTED))
        link_close(TAKE(rig->link), CALL_SHUTDOWN, link_rig_gone, rig);
}

TEST(a_link_may_be_closed_from_its_own_event)
{
    static const enum fake_connect how[] = { FAKE_CONNECT_FAIL, FAKE_CONNECT_OK };

    for (size_t i = 0; i < ARRAY_LEN(how); i++) {
        struct link_rig rig;
        struct pb_error err;

        link_rig_init(&rig);
        rig.f->connect = how[i];
        rig.opts.event = close_on_error;
        link_rig_make(&rig);
        CHECK_INT(link_connect(rig.link, 0, &err), 0);
        fakes_settle(&rig.fakes);
        if (how[i] == FAKE_CONNECT_OK)
            fake_break(rig.f, "gone");
        CHECK(!rig.link);
        FAKES_UNTIL(&rig.fakes, rig.gone);
        link_rig_done(&rig);
    }
}

TEST(fifty_starts_and_stops_in_a_row_leave_nothing_behind)
{
    struct link_rig rig;
    struct pb_error err;

    link_rig_init(&rig);
    rig.f->connect = FAKE_CONNECT_DELAY;
    link_rig_make(&rig);
    for (unsigned i = 0; i < 50; i++) {
        rig.f->connect_ms = i % 4;
        CHECK_INT(link_connect(rig.link, 0, &err), 0);
        loop_advance(rig.fakes.loop, 2);
        link_disconnect(rig.link);
        CHECK_INT(link_state(rig.link), LINK_DISCONNECTED);
    }
    FAKES_UNTIL(&rig.fakes, link_is_clear(rig.link));
    CHECK_INT(rig.f->connects, 50);
    CHECK_INT(rig.f->closes, 50);
    link_rig_done(&rig);
}
