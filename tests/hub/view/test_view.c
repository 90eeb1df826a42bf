/* Events in, state out: nothing else happens here. */
#include "base/base.h"
#include "hub/link/link.h"
#include "hub/link/log_ring.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "io/io.h"
#include "patchbay.h"
#include "tap.h"
#include "json/json.h"

#define TOOLS                                                                                 \
    "[{\"name\":\"search\",\"description\":\"Finds\",\"inputSchema\":{\"type\":\"object\"}}," \
    "{\"name\":\"create\"}]"

static void add(struct view *v, const char *name)
{
    struct spec *s = spec_stdio(name, "echo", (const char *const[]){ "test", NULL }, NULL);

    view_add_server(v, s);
    spec_unref(s);
}

/* A view with these servers. */
static struct view *view_with(const char *a, const char *b)
{
    struct view *v = view_new();

    add(v, a);
    if (b)
        add(v, b);
    return v;
}

static bool go(struct view *v, const char *server, struct link_status from, struct link_status to)
{
    struct hub_event e = { .kind = EVENT_STATE, .server = server, .at = 5000 };

    e.state.from = from;
    e.state.to = to;
    return view_apply(v, &e);
}

static bool to_state(struct view *v, const char *server, enum link_state state)
{
    return go(v, server, (struct link_status){ 0 }, (struct link_status){ .state = state });
}

static bool to_failed(struct view *v, const char *server, enum link_state state, const char *why)
{
    return go(v, server, (struct link_status){ .state = LINK_CONNECTING },
              (struct link_status){ .state = state, .message = why });
}

static void connect(struct view *v, const char *server)
{
    view_set_tools(v, server, SPAN(TOOLS));
    CHECK(go(v, server, (struct link_status){ .state = LINK_CONNECTING },
             (struct link_status){ .state = LINK_CONNECTED, .tools = 2 }));
}

static size_t count_tools(const struct view *v)
{
    const struct view_tool *const *tools;

    return view_tools(v, NULL, &tools);
}

static size_t count_alerts(const struct view *v)
{
    const struct view_alert *const *alerts;

    return view_alerts(v, &alerts);
}

static size_t count_calls(const struct view *v)
{
    const struct view_call *const *calls;

    return view_calls(v, &calls);
}

static bool call_event(struct view *v, enum hub_event_kind kind, const char *server, const char *id)
{
    struct hub_event e = { .kind = kind, .server = server, .at = 7000 };

    e.call.id = id;
    e.call.tool = SPAN("search");
    e.call.progress = 3;
    e.call.total = 10;
    e.call.success = true;
    return view_apply(v, &e);
}

/* ---- servers ---- */

/* S0-85 S0-91 S0-106 */
TEST(every_spec_becomes_an_idle_server_without_tools_and_logs)
{
    struct view *v = view_with("a", "b");
    const struct view_server *const *servers;

    CHECK_INT(view_servers(v, &servers), 2);
    CHECK_STR(servers[0]->id, "a");
    CHECK_STR(servers[1]->id, "b");
    CHECK_STR(servers[0]->display_name, "a");
    CHECK_INT(servers[0]->status.state, LINK_IDLE);
    CHECK_INT(servers[0]->tool_count, 0);
    CHECK(!servers[0]->last_error);
    CHECK(servers[0]->enabled);
    CHECK_INT(log_ring_count(servers[0]->logs), 0);
    CHECK(view_server(v, "a") == servers[0]);
    CHECK(!view_server(v, "c"));
    view_free(v);
}

TEST(a_server_that_is_added_again_takes_its_new_name_and_keeps_its_state)
{
    struct view *v = view_with("a", NULL);
    struct spec *s = spec_stdio("a", "echo", (const char *const[]){ NULL }, NULL);
    struct hub_event e = { .kind = EVENT_SERVER_ADDED, .server = "a", .spec = s };

    connect(v, "a");
    CHECK(!view_apply(v, &e)); /* nothing is new */
    s->display_name = "The A";
    CHECK(view_apply(v, &e));
    CHECK_STR(view_server(v, "a")->display_name, "The A");
    CHECK_INT(view_server(v, "a")->status.state, LINK_CONNECTED);
    CHECK_INT(view_total_count(v), 1);
    spec_unref(s);
    view_free(v);
}

TEST(a_server_that_is_removed_takes_everything_with_it)
{
    struct view *v = view_with("a", "b");
    struct hub_event e = { .kind = EVENT_SERVER_REMOVED, .server = "a" };
    const struct view_server *const *servers;

    connect(v, "a");
    connect(v, "b");
    CHECK(call_event(v, EVENT_CALL_STARTED, "a", "c1"));
    CHECK(call_event(v, EVENT_CALL_STARTED, "b", "c2"));
    view_add_alert(v, "a", ALERT_AUTH_EXPIRED, "log in again", 1);
    CHECK(view_apply(v, &e));
    CHECK(!view_apply(v, &e));
    CHECK_INT(view_servers(v, &servers), 1);
    CHECK_STR(servers[0]->id, "b");
    CHECK_INT(count_tools(v), 2);
    CHECK_INT(count_calls(v), 1);
    CHECK_INT(count_alerts(v), 0);
    view_free(v);
}

/* S0-103 */
TEST(events_of_unknown_servers_change_nothing)
{
    struct view *v = view_with("a", NULL);
    struct log_entry entry = { .text = "hello" };
    struct hub_event log = { .kind = EVENT_LOG, .server = "ghost", .log = &entry };
    struct hub_event none = { .kind = EVENT_STATE };

    CHECK(!to_failed(v, "ghost", LINK_ERROR, "boo"));
    CHECK(!view_apply(v, &log));
    CHECK(!view_apply(v, &none));
    CHECK(!call_event(v, EVENT_CALL_STARTED, "ghost", "c1"));
    CHECK(!call_event(v, EVENT_CALL_COMPLETED, "a", "never-started"));
    view_set_tools(v, "ghost", SPAN(TOOLS));
    CHECK_INT(view_total_count(v), 1);
    CHECK_INT(count_tools(v), 0);
    CHECK_INT(count_alerts(v), 0);
    CHECK_INT(count_calls(v), 0);
    view_free(v);
}

/* S0-99 S0-101 S0-107 */
TEST(a_state_is_shown_with_what_belongs_to_it)
{
    struct view *v = view_with("a", NULL);
    const struct link_status *s = &view_server(v, "a")->status;
    char url[] = "https://login.example/x";

    CHECK(to_state(v, "a", LINK_CONNECTING));
    CHECK_INT(s->state, LINK_CONNECTING);
    CHECK(go(v, "a", (struct link_status){ 0 },
             (struct link_status){
                 .state = LINK_AUTHENTICATING, .auth = AUTH_OPENING_BROWSER, .auth_url = url }));
    url[0] = '?'; /* what the event pointed to is gone */
    CHECK_STR(s->auth_url, "https://login.example/x");
    CHECK_STR(auth_step_text(s->auth), "Opening browser...");
    CHECK(go(v, "a", (struct link_status){ 0 },
             (struct link_status){ .state = LINK_RECONNECTING, .attempt = 2, .max_attempts = 5 }));
    CHECK_INT(s->attempt, 2);
    CHECK_INT(s->max_attempts, 5);
    CHECK(!s->auth_url);
    CHECK(to_state(v, "a", LINK_IDLE));
    CHECK_INT(s->state, LINK_IDLE);
    CHECK(!to_state(v, "a", LINK_IDLE)); /* the same again */
    view_free(v);
}

/* S0-86 S0-99 S0-109 S0-141 S0-171 */
TEST(a_connected_server_shows_its_tools)
{
    struct view *v = view_with("server1", NULL);
    const struct view_tool *const *tools;

    CHECK(to_state(v, "server1", LINK_CONNECTING));
    view_set_tools(v, "server1",
                   SPAN("[{\"name\":\"search\",\"description\":\"Finds\",\"inputSchema\":{}}]"));
    CHECK(go(v, "server1", (struct link_status){ .state = LINK_CONNECTING },
             (struct link_status){ .state = LINK_CONNECTED, .tools = 1 }));
    CHECK_INT(view_server(v, "server1")->status.state, LINK_CONNECTED);
    CHECK_INT(view_server(v, "server1")->tool_count, 1);
    CHECK_INT(view_tools(v, NULL, &tools), 1);
    CHECK_STR(tools[0]->id, "server1.search");
    CHECK_STR(tools[0]->server, "server1");
    CHECK_STR(tools[0]->name, "search");
    CHECK_STR(tools[0]->description, "Finds");
    CHECK_STR(tools[0]->definition,
              "{\"name\":\"search\",\"description\":\"Finds\",\"inputSchema\":{}}");
    view_free(v);
}

TEST(a_new_list_takes_the_place_of_the_old_one)
{
    struct view *v = view_with("b", "a");
    const struct view_tool *const *tools;

    connect(v, "b");
    connect(v, "a");
    CHECK_INT(view_tools(v, NULL, &tools), 4);
    CHECK_STR(tools[0]->id, "a.create"); /* sorted */
    CHECK_STR(tools[1]->id, "a.search");
    CHECK_STR(tools[2]->id, "b.create");
    CHECK_STR(tools[0]->description, "");
    view_set_tools(v, "a", SPAN("[{\"name\":\"only\"}]"));
    CHECK_INT(view_tools(v, NULL, &tools), 3);
    CHECK_STR(tools[0]->id, "a.only");
    CHECK_INT(view_server(v, "a")->tool_count, 1);
    view_set_tools(v, "a", SPAN(""));
    CHECK_INT(view_tools(v, NULL, &tools), 2);
    CHECK_INT(view_server(v, "a")->tool_count, 0);
    view_free(v);
}

TEST(a_list_with_odd_items_gives_the_good_ones)
{
    static const struct {
        const char *array;
        size_t want;
    } cases[] = {
        { "[{\"name\":\"x\"},{\"title\":\"no name\"},{\"name\":3},null,[],{\"name\":\"y\"}]", 2 },
        { "[{\"name\":\"x\",\"description\":\"1\"},{\"name\":\"x\",\"description\":\"2\"}]", 1 },
        { "[{\"name\":\"a\\u0000b\"}]", 0 },
        { "{\"name\":\"x\"}", 0 },
        { "[", 0 },
        { "[]", 0 },
    };
    struct view *v = view_with("a", NULL);
    const struct view_tool *const *tools;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        view_set_tools(v, "a", span_of(cases[i].array));
        CHECK_INT(view_tools(v, NULL, &tools), cases[i].want);
        if (i == 1)
            CHECK_STR(tools[0]->description, "2");
    }
    view_free(v);
}

/* S0-95 */
TEST(a_filter_chooses_among_the_tools)
{
    static const struct {
        const char *filter;
        size_t want;
    } cases[] = {
        { "\"all\"", 4 },
        { "{\"servers\":[\"a\"]}", 2 },
        { "{\"tools\":[\"search\"]}", 2 },
        { "{\"toolIDs\":[\"a.search\"]}", 1 },
        { "{\"not\":{\"servers\":[\"a\",\"b\"]}}", 0 },
    };
    struct view *v = view_with("a", "b");

    connect(v, "a");
    connect(v, "b");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        AUTO(filter) struct filter *f = NULL;
        const struct view_tool *const *tools;

        CHECK_INT(json_parse(&doc, span_of(cases[i].filter), NULL, NULL), 0);
        CHECK_INT(filter_parse(&f, json_root(&doc), NULL), 0);
        CHECK_INT(view_tools(v, f, &tools), cases[i].want);
    }
    view_free(v);
}

/* S0-100 S0-142 S0-172 */
TEST(a_failure_is_shown_takes_the_tools_away_and_alerts_once)
{
    static const enum link_state states[] = { LINK_ERROR, LINK_FAILED };

    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        struct view *v = view_with("server1", "other");
        const struct view_alert *const *alerts;

        connect(v, "server1");
        connect(v, "other");
        CHECK(to_failed(v, "server1", states[i], "Connection refused"));
        CHECK_INT(view_server(v, "server1")->status.state, states[i]);
        CHECK_STR(view_server(v, "server1")->status.message, "Connection refused");
        CHECK_STR(view_server(v, "server1")->last_error, "Connection refused");
        CHECK_INT(count_tools(v), 2);
        CHECK_INT(view_alerts(v, &alerts), 1);
        CHECK_STR(alerts[0]->server, "server1");
        CHECK_INT(alerts[0]->kind, ALERT_CONNECTION_FAILED);
        CHECK_STR(alerts[0]->message, "Connection refused");
        CHECK_INT(alerts[0]->at, 5000);
        CHECK_INT(strlen(alerts[0]->id), UUID_CHARS);
        view_free(v);
    }
}

TEST(attempts_that_fail_alike_are_one_alert)
{
    struct view *v = view_with("a", NULL);

    for (int i = 0; i < 5; i++) {
        CHECK(to_failed(v, "a", LINK_ERROR, "Connection refused"));
        CHECK(to_state(v, "a", LINK_RECONNECTING));
    }
    CHECK_INT(count_alerts(v), 1);
    CHECK(to_failed(v, "a", LINK_ERROR, "No route to host"));
    CHECK_INT(count_alerts(v), 2);
    view_free(v);
}

/* S0-102 S0-148 */
TEST(a_server_that_is_lost_takes_its_tools_away)
{
    struct view *v = view_with("a", "b");

    connect(v, "a");
    connect(v, "b");
    CHECK(to_state(v, "a", LINK_DISCONNECTED));
    CHECK_INT(view_server(v, "a")->status.state, LINK_DISCONNECTED);
    CHECK_INT(count_tools(v), 2);
    CHECK_INT(count_alerts(v), 0); /* somebody wanted it */
    CHECK(!view_server(v, "a")->last_error);
    view_free(v);
}

TEST(a_loss_that_nobody_repairs_alerts)
{
    struct view *v = view_with("a", NULL);
    struct spec *s = spec_stdio("a", "echo", (const char *const[]){ NULL }, NULL);
    struct hub_event e = { .kind = EVENT_STATE, .server = "a", .spec = s };
    const struct view_alert *const *alerts;

    connect(v, "a");
    e.state.to = (struct link_status){ .state = LINK_DISCONNECTED, .message = "exited" };
    CHECK(view_apply(v, &e));
    CHECK_INT(count_alerts(v), 0); /* it will be tried again */
    CHECK_STR(view_server(v, "a")->last_error, "exited");
    connect(v, "a");
    s->auto_reconnect = false;
    CHECK(view_apply(v, &e));
    CHECK_INT(view_alerts(v, &alerts), 1);
    CHECK_INT(alerts[0]->kind, ALERT_DISCONNECTED);
    spec_unref(s);
    view_free(v);
}

TEST(an_alert_ends_with_its_cause)
{
    static const enum link_state ends[] = { LINK_CONNECTED, LINK_DISCONNECTED, LINK_DISABLED,
                                            LINK_IDLE };

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct view *v = view_with("a", "b");

        CHECK(to_failed(v, "a", LINK_ERROR, "Connection refused"));
        CHECK(to_failed(v, "b", LINK_FAILED, "Connection refused"));
        view_add_alert(v, "a", ALERT_AUTH_REQUIRED, "log in", 1);
        CHECK(to_state(v, "a", LINK_RECONNECTING));
        CHECK(to_state(v, "a", LINK_CONNECTING));
        CHECK_INT(count_alerts(v), 3); /* nothing is better yet */
        CHECK(to_state(v, "a", ends[i]));
        CHECK_INT(count_alerts(v), 1); /* the other server's */
        view_free(v);
    }
}

TEST(a_loss_that_nobody_repairs_makes_a_toast)
{
    AUTO(spec) struct spec *s = spec_stdio("a", "echo", NULL, NULL);
    struct hub_event e = { .kind = EVENT_STATE, .server = "a", .spec = s };
    AUTO_BUF struct buf text = { 0 };
    struct toast t = { 0 };

    e.state.from.state = LINK_CONNECTED;
    e.state.to = (struct link_status){ .state = LINK_DISCONNECTED, .message = "exited" };
    CHECK(!view_toast(&e, "A", &text, &t)); /* it is on its way back */
    s->auto_reconnect = false;
    CHECK(view_toast(&e, "A", &text, &t));
    CHECK_STR(buf_cstr(&text), "A MCP disconnected.");
    CHECK(t.level == TOAST_ERROR && !t.spinner && !t.dismisses_itself);
    e.state.to.message = NULL;
    CHECK(!view_toast(&e, "A", &text, &t)); /* somebody wanted it */
}

TEST(a_lazy_server_that_rests_keeps_its_tools)
{
    struct view *v = view_with("a", NULL);

    connect(v, "a");
    CHECK(to_state(v, "a", LINK_IDLE));
    CHECK_INT(count_tools(v), 2);
    CHECK(to_state(v, "a", LINK_DISABLED));
    CHECK_INT(count_tools(v), 0);
    CHECK(!view_server(v, "a")->enabled);
    view_free(v);
}

/* S0-144 */
TEST(a_cancelled_attempt_is_idle_again)
{
    struct view *v = view_with("a", NULL);

    CHECK(to_state(v, "a", LINK_CONNECTING));
    CHECK(go(v, "a", (struct link_status){ .state = LINK_CONNECTING },
             (struct link_status){ .state = LINK_IDLE }));
    CHECK_INT(view_server(v, "a")->status.state, LINK_IDLE);
    CHECK_INT(count_alerts(v), 0);
    view_free(v);
}

/* S0-98 S0-140 */
TEST(the_whole_is_counted)
{
    struct view *v = view_with("a", "b");
    const char *const *failed;

    add(v, "c");
    CHECK_INT(view_connected_count(v), 0);
    CHECK_INT(view_total_count(v), 3);
    CHECK(!view_has_failures(v));
    connect(v, "a");
    connect(v, "b");
    CHECK(to_failed(v, "c", LINK_FAILED, "no"));
    CHECK_INT(view_connected_count(v), 2);
    CHECK(view_has_failures(v));
    CHECK_INT(view_failed(v, &failed), 1);
    CHECK_STR(failed[0], "c");
    CHECK(to_state(v, "c", LINK_CONNECTING));
    CHECK(!view_has_failures(v));
    view_free(v);
}

/* S1-124 */
TEST(a_badge_follows_the_state)
{
    struct view *v = view_with("a", NULL);
    const struct link_status *s = &view_server(v, "a")->status;

    CHECK_STR(badge_text(status_badge(s, NULL)), "Idle");
    connect(v, "a");
    CHECK_STR(badge_text(status_badge(s, NULL)), "Connected");
    CHECK(to_failed(v, "a", LINK_ERROR, "no"));
    CHECK_STR(badge_text(status_badge(s, NULL)), "Error");
    CHECK(to_state(v, "a", LINK_DISABLED));
    CHECK_STR(badge_text(status_badge(s, NULL)), "");
    view_free(v);
}

/* ---- logs, calls, alerts ---- */

/* S0-104 */
TEST(the_log_of_a_server_keeps_its_last_thousand_lines)
{
    struct view *v = view_with("a", NULL);
    const struct log_ring *logs = view_server(v, "a")->logs;

    for (int i = 1; i <= LINK_LOG_MAX + 1; i++) {
        char text[32];
        struct log_entry entry = { .seq = (uint64_t)i, .text = text };
        struct hub_event e = { .kind = EVENT_LOG, .server = "a", .log = &entry };

        snprintf(text, sizeof text, "line %d", i);
        CHECK(view_apply(v, &e));
    }
    CHECK_INT(log_ring_count(logs), LINK_LOG_MAX);
    CHECK_STR(log_ring_at(logs, 0)->text, "line 2");
    CHECK_STR(log_ring_at(logs, LINK_LOG_MAX - 1)->text, "line 1001");
    view_free(v);
}

/* S0-87 S0-105 */
TEST(a_call_is_shown_while_it_runs)
{
    struct view *v = view_with("a", NULL);
    const struct view_call *const *calls;

    CHECK(call_event(v, EVENT_CALL_STARTED, "a", "c1"));
    CHECK(call_event(v, EVENT_CALL_STARTED, "a", "c2"));
    CHECK(call_event(v, EVENT_CALL_STARTED, "a", "c3"));
    CHECK(!call_event(v, EVENT_CALL_STARTED, "a", "c3"));
    CHECK_INT(view_calls(v, &calls), 3);
    CHECK_STR(calls[0]->id, "c1");
    CHECK_STR(calls[0]->server, "a");
    CHECK_STR(calls[0]->tool, "search");
    CHECK_INT(calls[0]->started_at, 7000);
    CHECK(call_event(v, EVENT_CALL_PROGRESS, "a", "c2"));
    CHECK(call_event(v, EVENT_CALL_COMPLETED, "a", "c1"));
    CHECK_INT(view_calls(v, &calls), 2);
    CHECK_STR(calls[0]->id, "c2");
    CHECK(calls[0]->progress > 2.9 && calls[0]->total > 9.9);
    CHECK(call_event(v, EVENT_CALL_CANCELLED, "a", "c2"));
    CHECK(call_event(v, EVENT_CALL_CANCELLED, "a", "c3"));
    CHECK_INT(count_calls(v), 0);
    CHECK(!call_event(v, EVENT_CALL_PROGRESS, "a", "c3"));
    view_free(v);
}

TEST(more_calls_than_anyone_can_look_at_are_not_shown)
{
    struct view *v = view_with("a", NULL);
    char id[32];

    for (int i = 0; i < VIEW_CALLS_MAX + 3; i++) {
        snprintf(id, sizeof id, "c%d", i);
        CHECK_INT(call_event(v, EVENT_CALL_STARTED, "a", id), i < VIEW_CALLS_MAX);
    }
    CHECK_INT(count_calls(v), VIEW_CALLS_MAX);
    CHECK(call_event(v, EVENT_CALL_COMPLETED, "a", "c5"));
    CHECK(call_event(v, EVENT_CALL_STARTED, "a", "again"));
    view_free(v);
}

/* S0-88 S0-97 S0-174 */
TEST(an_alert_goes_when_it_is_dismissed)
{
    struct view *v = view_with("a", "b");
    const struct view_alert *const *alerts;
    char id[UUID_CHARS + 1];

    CHECK(to_failed(v, "a", LINK_ERROR, "no"));
    CHECK(to_failed(v, "b", LINK_ERROR, "no"));
    CHECK_INT(view_alerts(v, &alerts), 2);
    memcpy(id, alerts[0]->id, sizeof id);
    CHECK(view_dismiss(v, id));
    CHECK(!view_dismiss(v, id));
    CHECK_INT(view_alerts(v, &alerts), 1);
    CHECK_STR(alerts[0]->server, "b");
    view_dismiss_all(v);
    CHECK_INT(count_alerts(v), 0);
    view_free(v);
}

TEST(the_oldest_of_too_many_alerts_go)
{
    struct view *v = view_with("a", NULL);
    const struct view_alert *const *alerts;
    char text[32];

    for (int i = 0; i < VIEW_ALERTS_MAX + 2; i++) {
        snprintf(text, sizeof text, "problem %d", i);
        view_add_alert(v, "a", ALERT_CONNECTION_FAILED, text, i);
    }
    CHECK_INT(view_alerts(v, &alerts), VIEW_ALERTS_MAX);
    CHECK_STR(alerts[0]->message, "problem 2");
    view_free(v);
}

/* S0-110 */
TEST(alerts_are_of_four_kinds)
{
    CHECK_STR(alert_kind_name(ALERT_CONNECTION_FAILED), "connectionFailed");
    CHECK_STR(alert_kind_name(ALERT_AUTH_EXPIRED), "authExpired");
    CHECK_STR(alert_kind_name(ALERT_DISCONNECTED), "disconnected");
    CHECK_STR(alert_kind_name(ALERT_AUTH_REQUIRED), "authRequired");
}

/* S1-127 S1-128 S1-129 */
TEST(a_toast_tells_of_losses_returns_and_the_end)
{
    static const struct {
        enum link_state from, to;
        const char *text; /* NULL: nothing is said */
        struct toast toast;
    } cases[] = {
        { LINK_CONNECTED,
          LINK_RECONNECTING,
          "GitHub MCP disconnected. Reconnecting...",
          { TOAST_WARNING, true, false } },
        { LINK_DISCONNECTED,
          LINK_RECONNECTING,
          "GitHub MCP disconnected. Reconnecting...",
          { TOAST_WARNING, true, false } },
        { LINK_ERROR, LINK_RECONNECTING, NULL, { 0 } },
        { LINK_CONNECTING,
          LINK_CONNECTED,
          "GitHub MCP connected.",
          { TOAST_SUCCESS, false, true } },
        { LINK_CONNECTED, LINK_CONNECTED, NULL, { 0 } },
        { LINK_ERROR,
          LINK_FAILED,
          "GitHub MCP failed to restart. Check settings.",
          { TOAST_ERROR, false, false } },
        { LINK_CONNECTED, LINK_DISCONNECTED, NULL, { 0 } },
        { LINK_IDLE, LINK_CONNECTING, NULL, { 0 } },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct hub_event e = { .kind = EVENT_STATE, .server = "github" };
        AUTO_BUF struct buf text = { 0 };
        struct toast t = { 0 };

        e.state.from.state = cases[i].from;
        e.state.to.state = cases[i].to;
        CHECK_INT(view_toast(&e, "GitHub", &text, &t), cases[i].text != NULL);
        CHECK_STR(buf_cstr(&text), cases[i].text ? cases[i].text : "");
        CHECK_INT(t.level, cases[i].toast.level);
        CHECK_INT(t.spinner, cases[i].toast.spinner);
        CHECK_INT(t.dismisses_itself, cases[i].toast.dismisses_itself);
    }
}

/* ---- as JSON ---- */

TEST(the_picture_is_written_as_json)
{
    struct view *v = view_with("a", NULL);
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    struct json root, server, tool;

    connect(v, "a");
    CHECK(call_event(v, EVENT_CALL_STARTED, "a", "c1"));
    view_add_alert(v, "a", ALERT_AUTH_REQUIRED, "log in", 1500);
    view_write(&o, NULL, v);
    CHECK_INT(json_parse(&doc, buf_span(&b), NULL, NULL), 0);
    root = json_root(&doc);
    server = json_item(json_get(root, "servers"), 0);
    CHECK_STR(json_cstr(json_get(server, "id"), &arena), "a");
    CHECK_STR(json_cstr(json_get(server, "state"), &arena), "connected");
    CHECK_STR(json_cstr(json_get(server, "status"), &arena), "Connected");
    CHECK_STR(json_cstr(json_get(server, "color"), &arena), "green");
    CHECK_SPAN(json_text(json_get(server, "toolCount")), "2");
    tool = json_item(json_get(root, "tools"), 1);
    CHECK_STR(json_cstr(json_get(tool, "id"), &arena), "a.search");
    CHECK_SPAN(json_text(json_get(json_get(tool, "definition"), "inputSchema")),
               "{\"type\":\"object\"}");
    CHECK_SPAN(json_text(json_get(json_item(json_get(root, "calls"), 0), "startedAt")), "7");
    CHECK_SPAN(json_text(json_get(json_item(json_get(root, "alerts"), 0), "at")), "1.5");
    CHECK(json_str_is(json_get(json_item(json_get(root, "alerts"), 0), "kind"), "authRequired"));
    view_free(v);
}
