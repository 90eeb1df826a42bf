/* Names and texts of events and states. */
#include "hub/link/event.h"
#include "hub/link/link.h"
#include "tap.h"

/* S0-24 S0-25 S0-26 */
TEST(states_have_names_and_predicates)
{
    static const struct {
        enum link_state s;
        const char *name;
        bool connected, failed, terminal;
    } cases[] = {
        { LINK_DISABLED, "disabled", false, false, false },
        { LINK_IDLE, "idle", false, false, false },
        { LINK_CONNECTING, "connecting", false, false, false },
        { LINK_AUTHENTICATING, "authenticating", false, false, false },
        { LINK_CONNECTED, "connected", true, false, true },
        { LINK_RECONNECTING, "reconnecting", false, false, false },
        { LINK_DISCONNECTED, "disconnected", false, false, true },
        { LINK_ERROR, "error", false, true, true },
        { LINK_FAILED, "failed", false, true, true },
    };

    CHECK_INT(ARRAY_LEN(cases), LINK_COUNT);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_STR(link_state_name(cases[i].s), cases[i].name);
        CHECK_INT(link_is_connected(cases[i].s), cases[i].connected);
        CHECK_INT(link_is_failed(cases[i].s), cases[i].failed);
        CHECK_INT(link_is_terminal(cases[i].s), cases[i].terminal);
    }
}

/* S0-28 S0-29 */
TEST(the_four_steps_of_a_login_have_their_texts)
{
    CHECK_STR(auth_step_text(AUTH_STARTING), "Starting authentication...");
    CHECK_STR(auth_step_text(AUTH_OPENING_BROWSER), "Opening browser...");
    CHECK_STR(auth_step_text(AUTH_WAITING), "Waiting for authorization...");
    CHECK_STR(auth_step_text(AUTH_EXCHANGING), "Completing authentication...");
}

/* S0-46 */
TEST(reasons_of_cancellation_have_names)
{
    CHECK_STR(call_cancel_name(CALL_BY_USER), "userRequested");
    CHECK_STR(call_cancel_name(CALL_TIMED_OUT), "timeout");
    CHECK_STR(call_cancel_name(CALL_DISCONNECTED), "serverDisconnected");
    CHECK_STR(call_cancel_name(CALL_SHUTDOWN), "appShutdown");
}

static void check(const struct hub_event *e, const char *want)
{
    AUTO_BUF struct buf b = { 0 };

    hub_event_write(&b, e);
    CHECK_STR(buf_cstr(&b), want);
}

/* S0-20 S0-21 S0-22 S0-53 S0-56 */
TEST(every_kind_of_event_is_one_json_object)
{
    static const struct log_entry entry = {
        .id = "u", .at = 2500, .level = PB_LOG_WARNING, .text = "a \"b\""
    };
    struct hub_event e = { .server = "s", .at = 1500 };

    e.kind = EVENT_SERVER_ADDED;
    check(&e, "{\"type\":\"serverAdded\",\"server\":\"s\",\"at\":1.5}");
    e.kind = EVENT_SERVER_REMOVED;
    check(&e, "{\"type\":\"serverRemoved\",\"server\":\"s\",\"at\":1.5}");
    e.kind = EVENT_CATALOG;
    check(&e, "{\"type\":\"catalogChanged\",\"server\":\"s\",\"at\":1.5}");

    e.kind = EVENT_STATE;
    e.state.from = (struct link_status){ .state = LINK_CONNECTING };
    e.state.to = (struct link_status){ .state = LINK_CONNECTED, .tools = 2 };
    check(&e, "{\"type\":\"serverStateChanged\",\"server\":\"s\",\"at\":1.5,"
              "\"from\":{\"state\":\"connecting\"},\"to\":{\"state\":\"connected\",\"tools\":2}}");
    e.state.from = (struct link_status){ .state = LINK_ERROR, .message = "no", .retries = 1 };
    e.state.to = (struct link_status){
        .state = LINK_RECONNECTING, .attempt = 2, .max_attempts = 5, .next_retry_at = 3500
    };
    check(&e, "{\"type\":\"serverStateChanged\",\"server\":\"s\",\"at\":1.5,"
              "\"from\":{\"state\":\"error\",\"message\":\"no\",\"retries\":1},"
              "\"to\":{\"state\":\"reconnecting\",\"attempt\":2,\"max_attempts\":5,"
              "\"next_retry_at\":3.5}}");
    e.state.from = (struct link_status){ .state = LINK_IDLE };
    e.state.to = (struct link_status){ .state = LINK_AUTHENTICATING,
                                       .auth = AUTH_OPENING_BROWSER,
                                       .auth_url = "http://a/" };
    check(&e, "{\"type\":\"serverStateChanged\",\"server\":\"s\",\"at\":1.5,"
              "\"from\":{\"state\":\"idle\"},\"to\":{\"state\":\"authenticating\","
              "\"progress\":\"Opening browser...\",\"url\":\"http://a/\"}}");

    e = (struct hub_event){ .kind = EVENT_LOG, .server = "s", .at = 1500, .log = &entry };
    check(&e, "{\"type\":\"serverLog\",\"server\":\"s\",\"at\":1.5,\"entry\":{\"id\":\"u\","
              "\"server\":\"s\",\"timestamp\":2.5,\"level\":\"warning\",\"source\":\"link\","
              "\"message\":\"a \\\"b\\\"\"}}");
}

TEST(a_log_has_four_of_the_eight_levels)
{
    static const char *const shown[] = { "debug", "info",  "info",  "warning",
                                         "error", "error", "error", "error" };

    for (int level = PB_LOG_DEBUG; level <= PB_LOG_EMERGENCY; level++) {
        struct log_entry entry = { .id = "u", .level = (enum pb_log_level)level, .text = "" };
        AUTO_BUF struct buf text = { 0 }, want = { 0 };
        struct json_out o = json_out(&text);

        buf_printf(&want, "\"level\":\"%s\",", shown[level]);
        log_entry_put(&o, NULL, "s", &entry);
        CHECK_HAS(buf_cstr(&text), buf_cstr(&want));
    }
}

/* S0-41 S0-42 S0-45 S0-46 S0-56 */
TEST(events_of_calls_tell_which_and_how_it_went)
{
    struct hub_event e = { .kind = EVENT_CALL_STARTED, .server = "s", .at = 1500 };

    e.call.id = "u";
    e.call.tool = SPAN("t");
    e.call.method = "tools/call";
    check(&e, "{\"type\":\"toolCallStarted\",\"server\":\"s\",\"at\":1.5,\"request_id\":\"u\","
              "\"tool\":\"t\",\"method\":\"tools/call\"}");
    e.kind = EVENT_CALL_PROGRESS;
    e.call.progress = 1;
    check(&e, "{\"type\":\"toolCallProgress\",\"server\":\"s\",\"at\":1.5,\"request_id\":\"u\","
              "\"tool\":\"t\",\"method\":\"tools/call\",\"progress\":1}");
    e.call.total = 4;
    e.call.message = SPAN("m");
    check(&e, "{\"type\":\"toolCallProgress\",\"server\":\"s\",\"at\":1.5,\"request_id\":\"u\","
              "\"tool\":\"t\",\"method\":\"tools/call\",\"progress\":1,\"total\":4,"
              "\"message\":\"m\"}");
    e.kind = EVENT_CALL_COMPLETED;
    e.call.ms = 250;
    e.call.success = true;
    check(&e, "{\"type\":\"toolCallCompleted\",\"server\":\"s\",\"at\":1.5,\"request_id\":\"u\","
              "\"tool\":\"t\",\"method\":\"tools/call\",\"duration\":0.25,\"success\":true}");
    e.kind = EVENT_CALL_CANCELLED;
    e.call.why = CALL_BY_USER;
    check(&e, "{\"type\":\"toolCallCancelled\",\"server\":\"s\",\"at\":1.5,\"request_id\":\"u\","
              "\"tool\":\"t\",\"method\":\"tools/call\",\"duration\":0.25,"
              "\"reason\":\"userRequested\"}");
    e.call.why = CALL_TIMED_OUT;
    e.call.limit_ms = 30000;
    check(&e, "{\"type\":\"toolCallCancelled\",\"server\":\"s\",\"at\":1.5,\"request_id\":\"u\","
              "\"tool\":\"t\",\"method\":\"tools/call\",\"duration\":0.25,"
              "\"reason\":\"timeout\",\"timeout\":30}");
}

TEST(events_of_calls_tell_who_asked_but_not_with_every_step)
{
    static const enum hub_event_kind kinds[] = { EVENT_CALL_STARTED, EVENT_CALL_COMPLETED,
                                                 EVENT_CALL_CANCELLED };
    struct hub_event e = { .server = "s" };

    e.call.id = "u";
    e.call.method = "m";
    e.call.client = "Claude \"Code\" 2.1";
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        AUTO_BUF struct buf b = { 0 };

        e.kind = kinds[i];
        hub_event_write(&b, &e);
        CHECK_HAS(buf_cstr(&b), "\"client\":\"Claude \\\"Code\\\" 2.1\"");
    }
    e.kind = EVENT_CALL_PROGRESS;
    check(&e, "{\"type\":\"toolCallProgress\",\"server\":\"s\",\"at\":0,\"request_id\":\"u\","
              "\"tool\":\"\",\"method\":\"m\",\"progress\":0}");
    e.kind = EVENT_CALL_STARTED;
    e.call.client = ""; /* nobody in particular */
    check(&e, "{\"type\":\"toolCallStarted\",\"server\":\"s\",\"at\":0,\"request_id\":\"u\","
              "\"tool\":\"\",\"method\":\"m\"}");
}
