#include "hub/link/link.h"
#include "hub/view/texts.h"
#include "hub/view/view.h"
#include "mcp/rpc/rpc.h"
#include "tap.h"

#define CHECK_BUF(b, want)             \
    do {                               \
        CHECK_STR(buf_cstr(&b), want); \
        buf_done(&b);                  \
    } while (0)

/* S0-108 S0-29 */
TEST(every_state_has_its_words)
{
    static const struct {
        struct link_status status;
        const char *want;
    } cases[] = {
        { { .state = LINK_IDLE }, "Not started" },
        { { .state = LINK_CONNECTING }, "Connecting..." },
        { { .state = LINK_AUTHENTICATING, .auth = AUTH_STARTING }, "Starting authentication..." },
        { { .state = LINK_AUTHENTICATING, .auth = AUTH_OPENING_BROWSER }, "Opening browser..." },
        { { .state = LINK_AUTHENTICATING, .auth = AUTH_WAITING }, "Waiting for authorization..." },
        { { .state = LINK_AUTHENTICATING, .auth = AUTH_EXCHANGING },
          "Completing authentication..." },
        { { .state = LINK_CONNECTED, .tools = 3 }, "Connected" },
        { { .state = LINK_FAILED, .message = "Connection refused" }, "Connection refused" },
        { { .state = LINK_ERROR, .message = "Connection refused" }, "Connection refused" },
        { { .state = LINK_ERROR }, "Failed" },
        { { .state = LINK_RECONNECTING, .attempt = 2, .max_attempts = 5 },
          "Reconnecting (2/5)..." },
        { { .state = LINK_DISCONNECTED }, "Disconnected" },
        { { .state = LINK_DISABLED }, "Disabled" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = { 0 };

        status_text(&b, &cases[i].status);
        CHECK_BUF(b, cases[i].want);
    }
}

/* One table: lists, errors, REST and the doctor say the same. */
TEST(every_trouble_with_a_server_has_its_cure)
{
    static const struct {
        enum link_state state;
        const char *verb, *text;
    } cases[] = {
        { LINK_DISABLED, "enable", "; 'patchbay enable s' switches it on" },
        { LINK_IDLE, "connect", "; 'patchbay connect s' starts it" },
        { LINK_CONNECTING, NULL, "; try again soon" },
        { LINK_AUTHENTICATING, NULL, "; try again soon" },
        { LINK_CONNECTED, NULL, "" },
        { LINK_RECONNECTING, NULL, "; try again soon" },
        { LINK_DISCONNECTED, "reconnect", "; 'patchbay reconnect s' tries again" },
        { LINK_ERROR, "doctor", "; 'patchbay doctor s' looks into it" },
        { LINK_FAILED, "doctor", "; 'patchbay doctor s' looks into it" },
    };

    CHECK_INT(ARRAY_LEN(cases), LINK_COUNT);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        enum advice a = advice_of_state(cases[i].state);
        struct buf b = { 0 };

        CHECK(!advice_verb(a) == !cases[i].verb);
        CHECK(!cases[i].verb || strcmp(advice_verb(a), cases[i].verb) == 0);
        CHECK(!advice_rest(a) == (a == ADVICE_NONE));
        advice_text(&b, a, "s");
        CHECK_BUF(b, cases[i].text);
    }
    CHECK_INT(advice_of_fault(FAULT_DISABLED), ADVICE_ENABLE);
    CHECK_INT(advice_of_fault(FAULT_NOT_CONNECTED), ADVICE_RECONNECT);
    CHECK_INT(advice_of_fault(FAULT_CONNECT), ADVICE_EXAMINE);
    CHECK_INT(advice_of_fault(FAULT_TIMEOUT), ADVICE_NONE);
}

/* S1-120 S1-121 S1-122 S1-123 */
TEST(a_badge_says_connected_idle_error_or_nothing)
{
    static const struct {
        struct link_status status;
        const char *text, *color, *tooltip;
    } cases[] = {
        { { .state = LINK_CONNECTED }, "Connected", "green", NULL },
        { { .state = LINK_IDLE }, "Idle", "gray", NULL },
        { { .state = LINK_DISCONNECTED, .message = "went away" }, "Idle", "gray", NULL },
        { { .state = LINK_CONNECTING }, "Idle", "gray", NULL },
        { { .state = LINK_ERROR, .message = "Connection refused" },
          "Error",
          "red",
          "Connection refused" },
        { { .state = LINK_FAILED, .message = "Connection refused" },
          "Error",
          "red",
          "Connection refused" },
        { { .state = LINK_DISABLED }, "", "", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *tooltip = "untouched";
        enum badge b = status_badge(&cases[i].status, &tooltip);

        CHECK_STR(badge_text(b), cases[i].text);
        CHECK_STR(badge_color(b), cases[i].color);
        if (cases[i].tooltip)
            CHECK_STR(tooltip, cases[i].tooltip);
        else
            CHECK(!tooltip);
        CHECK_INT(status_badge(&cases[i].status, NULL), b);
    }
}

/* S0-131 S0-132 */
TEST(a_row_has_a_dot_and_a_menu)
{
    static const struct {
        enum link_state state;
        const char *dot;
        unsigned actions;
    } cases[] = {
        { LINK_CONNECTED, "green", ROW_DISCONNECT | ROW_LOGS },
        { LINK_CONNECTING, "yellow", ROW_CANCEL | ROW_LOGS },
        { LINK_AUTHENTICATING, "yellow", ROW_CANCEL | ROW_LOGS },
        { LINK_RECONNECTING, "yellow", ROW_LOGS },
        { LINK_FAILED, "red", ROW_RETRY | ROW_LOGS },
        { LINK_ERROR, "red", ROW_RETRY | ROW_LOGS },
        { LINK_DISCONNECTED, "gray", ROW_LOGS },
        { LINK_IDLE, "gray", ROW_LOGS },
        { LINK_DISABLED, "gray", ROW_LOGS },
    };

    _Static_assert(ARRAY_LEN(cases) == LINK_COUNT, "every state is tried");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_STR(dot_color(cases[i].state), cases[i].dot);
        CHECK_INT(row_actions(cases[i].state), cases[i].actions);
    }
    CHECK_STR(row_action_text(ROW_RETRY), "Retry");
    CHECK_STR(row_action_text(ROW_CANCEL), "Cancel");
    CHECK_STR(row_action_text(ROW_DISCONNECT), "Disconnect");
    CHECK_STR(row_action_text(ROW_LOGS), "View Logs");
}

TEST(an_alert_names_the_server_and_what_happened)
{
    struct buf b = { 0 };

    alert_text(&b, "github", "Connection refused");
    CHECK_BUF(b, "github: Connection refused");
}

/* S1-125 */
TEST(a_deletion_is_asked_about_in_these_words)
{
    struct buf b = { 0 };

    delete_confirmation(&b, "GitHub");
    CHECK_BUF(b, "Delete \"GitHub\"?\n\nThis will remove the MCP and its stored credentials.");
}

TEST(a_duration_is_exact_and_short)
{
    static const struct {
        uint64_t ms;
        const char *want;
    } cases[] = {
        { 0, "0ms" },      { 1, "1ms" },       { 100, "100ms" },   { 999, "999ms" },
        { 1000, "1s" },    { 1500, "1.5s" },   { 1501, "1501ms" }, { 30000, "30s" },
        { 60000, "1m" },   { 90000, "90s" },   { 120000, "2m" },   { 120500, "120.5s" },
        { 3600000, "1h" }, { 5400000, "90m" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = { 0 };

        duration_text(&b, cases[i].ms);
        CHECK_BUF(b, cases[i].want);
    }
}

/* S0-47 S0-48 S0-49 S0-50 S0-51 */
TEST(a_result_reads_as_text)
{
    static const struct {
        const char *result, *want;
    } cases[] = {
        { "{\"content\":[{\"type\":\"text\",\"text\":\"hello\"}]}", "hello" },
        { "{\"content\":[{\"type\":\"text\",\"text\":\"a \\u00e9\\n\\\"q\\\"\"}]}", "a é\n\"q\"" },
        { "{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"aGVsbG8=\"}]}",
          "[Image: image/png, 5 bytes]" },
        { "{\"content\":[{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"aGVsbG8h\"}]}",
          "[Audio: audio/wav, 6 bytes]" },
        { "{\"content\":[{\"type\":\"image\",\"mimeType\":\"image/gif\",\"data\":\"aA==\"}]}",
          "[Image: image/gif, 1 bytes]" },
        { "{\"content\":[{\"type\":\"image\",\"data\":\"\"}]}", "[Image: unknown type, 0 bytes]" },
        { "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"text\":"
          "\"inside\"}}]}",
          "inside" },
        { "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///"
          "a\",\"blob\":\"aGk=\"}}]}",
          "[Resource: file:///a]" },
        { "{\"content\":[{\"type\":\"resource_link\",\"uri\":\"file:///b\",\"name\":\"b\"}]}",
          "[Resource: file:///b]" },
        { "{\"content\":[{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"text\",\"text\":\"two\"}]}",
          "one\ntwo" },
        { "{\"content\":[{\"type\":\"text\",\"text\":\"\"},{\"type\":\"text\",\"text\":\"x\"}]}",
          "\nx" },
        { "{\"content\":[{\"type\":\"hologram\"},{}]}", "{\"type\":\"hologram\"}\n{}" },
        { "{\"content\":[],\"structuredContent\":{\"n\":1.0}}", "{\"n\":1.0}" },
        { "{\"content\":[{\"type\":\"text\",\"text\":\"t\"}],\"structuredContent\":{\"n\":1}}",
          "t" },
        { "{\"content\":\"text\"}", "" },
        { "{\"content\":[[],3,null,{\"type\":\"resource\",\"resource\":[]}]}",
          "[]\n3\nnull\n[Resource: ]" },
        { "[]", "" },
        { "{", "" },
        { "", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf b = { 0 };

        result_text(&b, span_of(cases[i].result));
        CHECK_BUF(b, cases[i].want);
    }
}

TEST(a_result_says_whether_the_tool_failed)
{
    CHECK(result_is_error(SPAN("{\"content\":[],\"isError\":true}")));
    CHECK(!result_is_error(SPAN("{\"content\":[],\"isError\":false}")));
    CHECK(!result_is_error(SPAN("{\"content\":[{\"isError\":true}]}")));
    CHECK(!result_is_error(SPAN("{\"isError\":1}")));
    CHECK(!result_is_error(SPAN("")));
}
