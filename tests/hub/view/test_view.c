/* Events in, alerts and toasts out: nothing else happens here. */
#include "base/base.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "tap.h"

static void add(struct view *v, const char *name)
{
    struct hub_event e = { .kind = EVENT_SERVER_ADDED, .server = name };

    CHECK(!view_apply(v, &e));
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

static bool go(struct view *v, const char *server, struct link_status to)
{
    struct hub_event e = { .kind = EVENT_STATE, .server = server, .at = 5000, .state.to = to };

    return view_apply(v, &e);
}

static bool to_state(struct view *v, const char *server, enum link_state state)
{
    return go(v, server, (struct link_status){ .state = state });
}

static bool to_failed(struct view *v, const char *server, enum link_state state, const char *why)
{
    return go(v, server, (struct link_status){ .state = state, .message = why });
}

static size_t count_alerts(const struct view *v)
{
    const struct view_alert *const *alerts;

    return view_alerts(v, &alerts);
}

TEST(a_server_that_is_removed_takes_its_alerts_with_it)
{
    struct view *v = view_with("a", "b");
    struct hub_event e = { .kind = EVENT_SERVER_REMOVED, .server = "a" };

    CHECK(to_failed(v, "a", LINK_ERROR, "no"));
    CHECK(to_failed(v, "b", LINK_ERROR, "no"));
    CHECK(view_apply(v, &e));
    CHECK(!view_apply(v, &e));
    CHECK_INT(count_alerts(v), 1);
    CHECK(!to_failed(v, "a", LINK_ERROR, "its last words"));
    CHECK_INT(count_alerts(v), 1);
    view_free(v);
}

/* S0-103 */
TEST(events_of_unknown_servers_change_nothing)
{
    struct view *v = view_with("a", NULL);

    CHECK(!to_failed(v, "ghost", LINK_ERROR, "boo"));
    CHECK(!to_failed(v, "ghost", LINK_DISCONNECTED, "boo"));
    CHECK_INT(count_alerts(v), 0);
    CHECK(to_failed(v, "a", LINK_ERROR, "boo"));
    view_free(v);
}

/* S0-88 S0-100 S0-142 S0-172 */
TEST(a_failure_alerts_once)
{
    static const enum link_state states[] = { LINK_ERROR, LINK_FAILED };

    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        struct view *v = view_with("server1", "other");
        const struct view_alert *const *alerts;

        CHECK(to_failed(v, "server1", states[i], "Connection refused"));
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
        CHECK(!to_state(v, "a", LINK_RECONNECTING));
    }
    CHECK_INT(count_alerts(v), 1);
    CHECK(to_failed(v, "a", LINK_ERROR, "No route to host"));
    CHECK_INT(count_alerts(v), 2);
    view_free(v);
}

TEST(a_loss_that_nobody_repairs_alerts)
{
    struct view *v = view_with("a", NULL);
    AUTO(spec) struct spec *s = spec_stdio("a", "echo", (const char *const[]){ NULL }, NULL);
    struct hub_event e = { .kind = EVENT_STATE, .server = "a", .spec = s };
    const struct view_alert *const *alerts;

    CHECK(!to_state(v, "a", LINK_DISCONNECTED)); /* somebody wanted it */
    e.state.to = (struct link_status){ .state = LINK_DISCONNECTED, .message = "exited" };
    CHECK(!view_apply(v, &e)); /* it will be tried again */
    CHECK_INT(count_alerts(v), 0);
    s->auto_reconnect = false;
    CHECK(view_apply(v, &e));
    CHECK_INT(view_alerts(v, &alerts), 1);
    CHECK_INT(alerts[0]->kind, ALERT_DISCONNECTED);
    view_free(v);
}

TEST(an_alert_ends_with_its_cause)
{
    static const enum link_state ends[] = { LINK_CONNECTED, LINK_DISCONNECTED, LINK_DISABLED,
                                            LINK_IDLE };

    for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
        struct view *v = view_with("a", "b");

        CHECK(to_failed(v, "a", LINK_ERROR, "Connection refused"));
        CHECK(to_failed(v, "a", LINK_ERROR, "No route to host"));
        CHECK(to_failed(v, "b", LINK_FAILED, "Connection refused"));
        CHECK(!to_state(v, "a", LINK_RECONNECTING));
        CHECK(!to_state(v, "a", LINK_CONNECTING));
        CHECK_INT(count_alerts(v), 3); /* nothing is better yet */
        CHECK(to_state(v, "a", ends[i]));
        CHECK_INT(count_alerts(v), 1); /* the other server's */
        CHECK(!to_state(v, "a", ends[i]));
        view_free(v);
    }
}

/* S0-97 S0-174 */
TEST(an_alert_goes_when_it_is_dismissed)
{
    struct view *v = view_with("a", "b");
    const struct view_alert *const *alerts;
    char id[UUID_CHARS + 1];

    CHECK(to_failed(v, "a", LINK_ERROR, "one"));
    CHECK(to_failed(v, "b", LINK_ERROR, "two"));
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
        CHECK(to_failed(v, "a", LINK_ERROR, text));
    }
    CHECK_INT(view_alerts(v, &alerts), VIEW_ALERTS_MAX);
    CHECK_STR(alerts[0]->message, "problem 2");
    view_free(v);
}

TEST(alerts_are_of_four_kinds)
{
    CHECK_STR(alert_kind_name(ALERT_CONNECTION_FAILED), "connectionFailed");
    CHECK_STR(alert_kind_name(ALERT_AUTH_EXPIRED), "authExpired");
    CHECK_STR(alert_kind_name(ALERT_DISCONNECTED), "disconnected");
    CHECK_STR(alert_kind_name(ALERT_AUTH_REQUIRED), "authRequired");
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
