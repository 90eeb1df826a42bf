/* The states of a link: connecting, failing, ending. */
#include "hub/link/link.h"
#include "hub/link_kit.h"
#include "mcp/rpc/rpc.h"

/* S0-16 S0-17 S0-159 */
TEST(a_new_link_is_idle_and_knows_its_spec)
{
    struct link_kit k;
    struct link_facts facts;

    kit_init(&k);
    kit_link(&k);
    CHECK_STR(link_name(k.link), "alpha");
    CHECK(link_spec(k.link) == k.spec);
    CHECK_INT(link_state(k.link), LINK_IDLE);
    CHECK(link_settled(k.link));
    link_facts(k.link, &facts);
    CHECK(!facts.protocol);
    CHECK_INT(facts.calls, 0);
    CHECK_INT(facts.connected_at, 0);
    CHECK_INT(k.fakes.n_events, 0);
    kit_done(&k);
}

/* S0-18 S0-20 S0-31 S0-36 S0-38 S0-160 */
TEST(connecting_lists_the_tools_and_then_is_connected)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

    for (size_t i = 0; i < ARRAY_LEN(eras); i++) {
        struct link_kit k;
        struct link_status s;
        struct link_facts facts;

        kit_init(&k);
        k.f->era = eras[i];
        fake_tool(k.f, "echo", FAKE_ECHO)->description = "says it again";
        fake_tool(k.f, "two", FAKE_TEXT);
        kit_start(&k);
        CHECK_STR(fakes_states(&k.fakes, "alpha"), "idle>connecting connecting>connected");
        CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, "alpha", "State: idle → connecting"), 1);
        CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, "alpha", "State: connecting → connected"), 1);
        CHECK_INT(k.listed[LIST_TOOLS], 1);
        CHECK_INT(k.state_when_listed, LINK_CONNECTING);
        CHECK_HAS(k.lists[LIST_TOOLS], "\"name\":\"echo\",\"description\":\"says it again\"");
        link_status(k.link, &s);
        CHECK_INT(s.tools, 2);
        CHECK(!s.message);
        link_facts(k.link, &facts);
        CHECK_STR(facts.protocol, eras[i] == PB_ERA_LEGACY ? "2025-11-25" : "2026-07-28");
        CHECK_INT(facts.era, eras[i] == PB_ERA_LEGACY ? ERA_LEGACY : ERA_MODERN);
        CHECK_INT(facts.pid, 4242);
        CHECK(facts.connected_at > 0);
        CHECK(link_has(k.link, "tools"));
        CHECK(!link_has(k.link, "prompts"));
        kit_done(&k);
    }
}

/* S0-30 S0-161 */
TEST(connecting_twice_is_refused_with_a_warning_and_changes_nothing)
{
    struct link_kit k;
    struct pb_error err;
    size_t states;

    kit_init(&k);
    kit_start(&k);
    states = fakes_count(&k.fakes, EVENT_STATE, NULL, NULL);
    CHECK_INT(link_connect(k.link, 0, &err), -PB_E_BUSY);
    CHECK_STR(err.msg, "Cannot connect from state: connected");
    CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, "alpha", "Cannot connect from state: connected"), 1);
    CHECK_HAS(fakes_json(&k.fakes, EVENT_LOG, "alpha", "Cannot connect"), "\"level\":\"warning\"");
    CHECK_INT(fakes_count(&k.fakes, EVENT_STATE, NULL, NULL), states);
    CHECK_INT(link_state(k.link), LINK_CONNECTED);
    CHECK_INT(k.f->connects, 1);
    kit_done(&k);
}

/* S0-21 S0-33 S0-162 */
TEST(a_client_that_cannot_be_made_ends_in_error_with_the_count_it_was_given)
{
    struct link_kit k;
    struct link_status s;
    struct pb_error err;

    kit_init(&k);
    k.f->connect = FAKE_CONNECT_FAIL;
    k.f->connect_text = "connection refused";
    kit_link(&k);
    CHECK_INT(link_connect(k.link, 3, &err), 0);
    CHECK_INT(link_state(k.link), LINK_CONNECTING); /* told later, as an event */
    FAKES_UNTIL(&k.fakes, link_state(k.link) == LINK_ERROR);
    link_status(k.link, &s);
    CHECK_STR(s.message, "Cannot connect to server 'alpha': connection refused");
    CHECK_INT(s.retries, 3);
    CHECK_STR(fakes_states(&k.fakes, "alpha"), "idle>connecting connecting>error");
    CHECK_HAS(fakes_json(&k.fakes, EVENT_STATE, NULL, NULL), "\"retries\":3");
    CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, NULL, "\"level\":\"error\""), 1);
    CHECK_INT(link_last_error(k.link)->code, PB_E_CLOSED);
    CHECK(link_settled(k.link));

    k.f->connect = FAKE_CONNECT_OK;
    kit_connect(&k);
    CHECK(!link_last_error(k.link));
    kit_done(&k);
}

TEST(a_server_that_dies_while_it_is_greeted_is_quoted)
{
    struct link_kit k;
    struct pb_error err;

    kit_init(&k);
    k.f->connect = FAKE_CONNECT_DIE;
    k.f->connect_text = "config.toml: no such file";
    kit_link(&k);
    CHECK_INT(link_connect(k.link, 0, &err), 0);
    while (link_state(k.link) != LINK_ERROR)
        loop_advance(k.fakes.loop, 1);
    CHECK_HAS(kit_message_of_state(&k), "Cannot connect to server 'alpha': ");
    CHECK_HAS(kit_message_of_state(&k), "exited with status 1; stderr: ");
    CHECK_HAS(kit_message_of_state(&k), "config.toml: no such file");
    kit_done(&k);
}

/* S0-32 S0-165 */
TEST(cancelling_an_attempt_that_hangs_leads_back_to_idle)
{
    struct link_kit k;
    struct pb_error err;

    kit_init(&k);
    k.f->connect = FAKE_CONNECT_HANG;
    kit_link(&k);
    CHECK_INT(link_connect(k.link, 0, &err), 0);
    fakes_settle(&k.fakes);
    CHECK_INT(link_state(k.link), LINK_CONNECTING);
    CHECK(!link_settled(k.link));
    link_cancel_connect(k.link);
    CHECK_INT(link_state(k.link), LINK_IDLE);
    CHECK_STR(fakes_states(&k.fakes, "alpha"), "idle>connecting connecting>idle");
    FAKES_UNTIL(&k.fakes, link_settled(k.link));
    CHECK_INT(k.f->closes, 1);
    loop_advance(k.fakes.loop, 60000); /* its limit is gone too */
    CHECK_INT(link_state(k.link), LINK_IDLE);
    link_cancel_connect(k.link); /* nothing to cancel */
    CHECK_INT(link_state(k.link), LINK_IDLE);

    k.f->connect = FAKE_CONNECT_OK;
    kit_connect(&k);
    kit_done(&k);
}

TEST(an_attempt_that_fails_after_it_was_cancelled_is_not_told)
{
    struct link_kit k;
    struct pb_error err;

    kit_init(&k);
    k.f->connect = FAKE_CONNECT_FAIL;
    kit_link(&k);
    CHECK_INT(link_connect(k.link, 0, &err), 0);
    link_cancel_connect(k.link);
    k.f->connect = FAKE_CONNECT_HANG;
    CHECK_INT(link_connect(k.link, 0, &err), 0);
    fakes_settle(&k.fakes);
    CHECK_INT(link_state(k.link), LINK_CONNECTING);
    kit_done(&k);
}

TEST(handshake_and_lists_share_one_limit_and_the_message_names_the_phase)
{
    struct link_kit k;
    struct pb_error err;

    kit_init(&k);
    k.f->connect = FAKE_CONNECT_HANG;
    kit_link(&k);
    CHECK_INT(link_connect(k.link, 0, &err), 0);
    loop_advance(k.fakes.loop, 9999);
    CHECK_INT(link_state(k.link), LINK_CONNECTING);
    loop_advance(k.fakes.loop, 1);
    CHECK_INT(link_state(k.link), LINK_ERROR);
    CHECK_STR(kit_message_of_state(&k),
              "Cannot connect to server 'alpha': handshake: no answer within 10s");
    CHECK_INT(link_last_error(k.link)->code, PB_E_TIMEOUT);

    k.f->connect = FAKE_CONNECT_DELAY;
    k.f->connect_ms = 6000;
    k.f->hang_list[LIST_PROMPTS] = true;
    fake_prompt(k.f, "p", "");
    CHECK_INT(link_connect(k.link, 0, &err), 0);
    loop_advance(k.fakes.loop, 9999);
    CHECK_INT(link_state(k.link), LINK_CONNECTING);
    loop_advance(k.fakes.loop, 1);
    CHECK_INT(link_state(k.link), LINK_ERROR);
    CHECK_STR(kit_message_of_state(&k),
              "Cannot connect to server 'alpha': listing what it offers: no answer within 10s");
    CHECK_INT(k.listed[LIST_TOOLS], 0);
    kit_done(&k);
}

TEST(a_list_of_tools_that_fails_fails_the_attempt_the_others_only_warn)
{
    struct link_kit k;
    struct pb_error err;

    kit_init(&k);
    fake_resource(k.f, "test://a", "a");
    fake_prompt(k.f, "p", "");
    k.f->fail_list[LIST_TOOLS] = true;
    kit_link(&k);
    CHECK_INT(link_connect(k.link, 0, &err), 0);
    FAKES_UNTIL(&k.fakes, link_state(k.link) == LINK_ERROR);
    CHECK_STR(kit_message_of_state(&k),
              "Cannot connect to server 'alpha': tools/list: no list today");
    CHECK_INT(k.listed[LIST_RESOURCES], 0);

    k.f->fail_list[LIST_TOOLS] = false;
    k.f->fail_list[LIST_RESOURCES] = k.f->fail_list[LIST_TEMPLATES] = true;
    k.f->fail_list[LIST_PROMPTS] = true;
    kit_connect(&k);
    CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, NULL, "resources/list failed: no list today"), 1);
    CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, NULL, "prompts/list failed: no list today"), 1);
    CHECK_HAS(fakes_json(&k.fakes, EVENT_LOG, NULL, "prompts/list failed"),
              "\"level\":\"warning\"");
    CHECK_STR(k.lists[LIST_PROMPTS], "");
    kit_done(&k);
}

/* S0-23 S0-34 */
TEST(disconnecting_closes_the_client_and_works_from_every_state)
{
    struct link_kit k;
    struct pb_error err;

    kit_init(&k);
    kit_start(&k);
    link_disconnect(k.link);
    CHECK_INT(link_state(k.link), LINK_DISCONNECTED);
    CHECK(!link_settled(k.link));
    FAKES_UNTIL(&k.fakes, link_settled(k.link));
    CHECK_INT(k.f->closes, 1);
    CHECK_STR(kit_message_of_state(&k), "");
    fakes_forget_events(&k.fakes);
    link_disconnect(k.link); /* again: nothing happens */
    CHECK_INT(k.fakes.n_events, 0);

    k.f->connect = FAKE_CONNECT_HANG;
    CHECK_INT(link_connect(k.link, 0, &err), 0);
    link_disconnect(k.link);
    CHECK_INT(link_state(k.link), LINK_DISCONNECTED);
    k.f->connect = FAKE_CONNECT_FAIL;
    CHECK_INT(link_connect(k.link, 0, &err), 0);
    FAKES_UNTIL(&k.fakes, link_state(k.link) == LINK_ERROR);
    link_disconnect(k.link);
    CHECK_INT(link_state(k.link), LINK_DISCONNECTED);
    link_give_up(k.link);
    CHECK_INT(link_state(k.link), LINK_FAILED);
    link_disconnect(k.link);
    link_mark_reconnecting(k.link, 1, 5, 0);
    link_disconnect(k.link);
    CHECK_INT(link_state(k.link), LINK_DISCONNECTED);
    link_rest(k.link);
    CHECK_INT(link_state(k.link), LINK_IDLE);
    link_disconnect(k.link);
    CHECK_INT(link_state(k.link), LINK_DISCONNECTED);
    kit_done(&k);
}

/* S0-22 S0-35 */
TEST(reconnecting_is_marked_from_outside_with_attempt_limit_and_time)
{
    struct link_kit k;
    struct link_status s;
    struct pb_error err;

    kit_init(&k);
    k.f->connect = FAKE_CONNECT_FAIL;
    kit_link(&k);
    CHECK_INT(link_connect(k.link, 0, &err), 0);
    FAKES_UNTIL(&k.fakes, link_state(k.link) == LINK_ERROR);
    link_mark_reconnecting(k.link, 1, 5, 1234567);
    link_status(k.link, &s);
    CHECK_INT(s.state, LINK_RECONNECTING);
    CHECK_INT(s.attempt, 1);
    CHECK_INT(s.max_attempts, 5);
    CHECK_INT(s.next_retry_at, 1234567);
    CHECK(!s.message);
    k.f->connect = FAKE_CONNECT_OK;
    kit_connect(&k); /* C38: connect is legal from here */
    CHECK_STR(fakes_states(&k.fakes, "alpha"),
              "idle>connecting connecting>error error>reconnecting reconnecting>connecting "
              "connecting>connected");
    kit_done(&k);
}

TEST(giving_up_keeps_the_reason)
{
    struct link_kit k;
    struct link_status s;
    struct pb_error err;

    kit_init(&k);
    k.f->connect = FAKE_CONNECT_FAIL;
    kit_link(&k);
    CHECK_INT(link_connect(k.link, 5, &err), 0);
    FAKES_UNTIL(&k.fakes, link_state(k.link) == LINK_ERROR);
    link_give_up(k.link);
    link_status(k.link, &s);
    CHECK_INT(s.state, LINK_FAILED);
    CHECK_STR(s.message, "Cannot connect to server 'alpha': connection refused");
    CHECK_INT(s.retries, 5);
    kit_done(&k);
}

/* S0-11 */
TEST(a_transition_that_the_table_does_not_know_is_logged_and_changes_nothing)
{
    struct link_kit k;

    kit_init(&k);
    kit_start(&k);
    fakes_forget_events(&k.fakes);
    link_give_up(k.link);
    link_mark_reconnecting(k.link, 1, 5, 0);
    CHECK_INT(link_state(k.link), LINK_CONNECTED);
    CHECK_INT(fakes_count(&k.fakes, EVENT_STATE, NULL, NULL), 0);
    CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, NULL, "Refused: State: connected → failed"), 1);
    CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, NULL, "Refused: State: connected → reconnecting"),
              1);
    kit_done(&k);
}

TEST(a_disabled_server_does_nothing_until_it_is_enabled)
{
    struct link_kit k;
    struct pb_error err;

    kit_init(&k);
    k.spec->enabled = false;
    kit_link(&k);
    CHECK_INT(link_state(k.link), LINK_DISABLED);
    CHECK_INT(link_connect(k.link, 0, &err), -PB_E_BUSY);
    link_disconnect(k.link);
    link_rest(k.link);
    CHECK_INT(link_state(k.link), LINK_DISABLED);
    link_set_enabled(k.link, true);
    CHECK_INT(link_state(k.link), LINK_IDLE);
    link_set_enabled(k.link, true);
    kit_connect(&k);
    link_set_enabled(k.link, false);
    CHECK_INT(link_state(k.link), LINK_DISABLED);
    FAKES_UNTIL(&k.fakes, link_settled(k.link));
    CHECK_INT(k.f->closes, 1);
    kit_done(&k);
}

TEST(a_lazy_server_that_rests_is_idle_again_and_what_is_known_of_it_stays)
{
    struct link_kit k;
    struct link_facts facts;

    kit_init(&k);
    kit_start(&k);
    link_rest(k.link);
    CHECK_INT(link_state(k.link), LINK_IDLE);
    FAKES_UNTIL(&k.fakes, link_settled(k.link));
    link_facts(k.link, &facts);
    CHECK(facts.protocol);
    CHECK(facts.capabilities.n);
    CHECK_INT(facts.pid, 0);
    kit_connect(&k);
    CHECK_INT(k.f->connects, 2);
    kit_done(&k);
}

TEST(a_server_that_dies_is_disconnected_with_its_last_words)
{
    struct link_kit k;
    struct link_facts facts;
    AUTO_BUF struct buf words = { 0 };

    kit_init(&k);
    kit_start(&k);
    fake_stderr(k.f, "panic: out of cheese");
    fake_break(k.f, "the server was killed by signal 9 (Killed)");
    CHECK_INT(link_state(k.link), LINK_DISCONNECTED);
    CHECK_STR(
        kit_message_of_state(&k),
        "Server 'alpha' went away: the server was killed by signal 9 (Killed); stderr: panic: "
        "out of cheese");
    link_facts(k.link, &facts);
    CHECK(facts.crashed);
    link_last_words(k.link, &words);
    CHECK_STR(buf_cstr(&words), "panic: out of cheese");
    FAKES_UNTIL(&k.fakes, link_settled(k.link));
    kit_connect(&k);
    link_disconnect(k.link);
    link_facts(k.link, &facts);
    CHECK(!facts.crashed); /* that was our own wish */
    kit_done(&k);
}

TEST(long_last_words_are_cut_at_the_front)
{
    struct link_kit k;
    char line[200];

    kit_init(&k);
    kit_start(&k);
    for (int i = 0; i < 20; i++) {
        snprintf(line, sizeof line, "line %d of a long story that nobody reads to its end", i);
        fake_stderr(k.f, line);
    }
    fake_break(k.f, "the server exited with status 1");
    CHECK_HAS(kit_message_of_state(&k), "stderr: line 1");
    CHECK_HAS(kit_message_of_state(&k), "line 19 of a long story that nobody reads to its end");
    CHECK(!strstr(kit_message_of_state(&k), "line 2 of"));
    kit_done(&k);
}

TEST(a_server_that_dies_while_it_lists_fails_the_attempt)
{
    struct link_kit k;
    struct pb_error err;

    kit_init(&k);
    k.f->hang_list[LIST_TOOLS] = true;
    kit_link(&k);
    CHECK_INT(link_connect(k.link, 0, &err), 0);
    FAKES_UNTIL(&k.fakes, k.f->n_held == 1);
    fake_break(k.f, "the server exited with status 1");
    CHECK_INT(link_state(k.link), LINK_ERROR);
    CHECK_HAS(kit_message_of_state(&k), "tools/list: the server exited with status 1");
    kit_done(&k);
}

/* Closing from inside is what a hub does when a server is removed because of an event. */
static void close_on_error(void *ctx, const struct hub_event *e)
{
    struct link_kit *k = ctx;

    kit_event(k, e);
    if (e->kind == EVENT_STATE &&
        (e->state.to.state == LINK_ERROR || e->state.to.state == LINK_DISCONNECTED))
        link_close(TAKE(k->link), CALL_SHUTDOWN, kit_gone, k);
}

TEST(a_link_may_be_closed_from_its_own_event)
{
    static const enum fake_connect how[] = { FAKE_CONNECT_FAIL, FAKE_CONNECT_OK };

    for (size_t i = 0; i < ARRAY_LEN(how); i++) {
        struct link_kit k;
        struct pb_error err;

        kit_init(&k);
        k.f->connect = how[i];
        k.opts.event = close_on_error;
        kit_link(&k);
        CHECK_INT(link_connect(k.link, 0, &err), 0);
        fakes_settle(&k.fakes);
        if (how[i] == FAKE_CONNECT_OK)
            fake_break(k.f, "gone");
        CHECK(!k.link);
        FAKES_UNTIL(&k.fakes, k.gone);
        kit_done(&k);
    }
}

TEST(fifty_starts_and_stops_in_a_row_leave_nothing_behind)
{
    struct link_kit k;
    struct pb_error err;

    kit_init(&k);
    k.f->connect = FAKE_CONNECT_DELAY;
    kit_link(&k);
    for (unsigned i = 0; i < 50; i++) {
        k.f->connect_ms = i % 4;
        CHECK_INT(link_connect(k.link, 0, &err), 0);
        loop_advance(k.fakes.loop, 2);
        link_disconnect(k.link);
        CHECK_INT(link_state(k.link), LINK_DISCONNECTED);
    }
    FAKES_UNTIL(&k.fakes, link_settled(k.link));
    CHECK_INT(k.f->connects, 50);
    CHECK_INT(k.f->closes, 50);
    kit_done(&k);
}
