/* rest_servers.c - servers as a console sees and rules them. What changes the config is in
 * rest_config.c. */
#include "face/control/control.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "rest_impl.h"

void rest_servers(struct rest_call *c)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    control_write_servers(&o, "servers", c->hub);
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

void rest_server(struct rest_call *c)
{
    struct link *l = rest_link(c);

    if (l)
        rest_reply_server(c->r, 200, c->hub, l);
}

/* ---- the log ---- */

void rest_server_logs(struct rest_call *c)
{
    struct link *l = rest_link(c);
    uint64_t lines = rest_count(c, "lines", LINK_LOG_MAX);
    const struct rest_value *since = rest_value(c, "since");
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);
    size_t n = l ? link_log_count(l) : 0;

    if (!l)
        return;
    json_begin_object(&o, NULL);
    json_begin_array(&o, "entries");
    for (size_t i = n > lines ? n - (size_t)lines : 0; i < n; i++) {
        const struct log_entry *e = link_log_at(l, i);

        if (!since->given || (double)e->at / 1000 > since->number)
            control_write_log(&o, NULL, link_name(l), e);
    }
    json_end(&o);
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

void rest_logs(struct rest_call *c)
{
    uint64_t lines = rest_count(c, "lines", LINK_LOG_MAX);
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    control_write_logs(&o, "entries", c->hub, NULL,
                       lines < LINK_LOG_MAX ? (size_t)lines : LINK_LOG_MAX);
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

/* ---- actions ---- */

typedef int action_fn(struct hub *h, const char *name, struct pb_error *err);

static void on_connected(struct rest_wait *w, const struct pb_error *err)
{
    struct link *l = hub_link(w->hub, w->server);

    if (err || !l)
        rest_fail(w->r, &(struct rest_failure){
                            502, "connect_failed", "name", span_of(w->server),
                            .code = err && err->code == PB_E_AUTH ? "auth_required" : NULL,
                            .message = err ? err->msg : "The server was removed meanwhile",
                            .advice = ADVICE_EXAMINE });
    else
        rest_reply_server(w->r, 200, w->hub, l);
}

static void act(struct rest_call *c, action_fn *fn, bool wait)
{
    struct link *l = rest_link(c);
    struct pb_error err;

    if (!l)
        return;
    if (fn(c->hub, link_name(l), &err) < 0)
        rest_fail_hub(c->r, &err, "name", rest_text(c, "name"));
    else if (wait)
        rest_wait_connected(c, rest_text(c, "name"), on_connected);
    else
        rest_reply_server(c->r, 200, c->hub, hub_link(c->hub, rest_text(c, "name")));
}

void rest_server_connect(struct rest_call *c) { act(c, hub_connect, true); }

void rest_server_reconnect(struct rest_call *c) { act(c, hub_reconnect, true); }

void rest_server_restart(struct rest_call *c) { act(c, hub_restart, true); }

void rest_server_disconnect(struct rest_call *c) { act(c, hub_disconnect, false); }

void rest_server_cancel(struct rest_call *c)
{
    struct link *l = rest_link(c);
    enum link_state s = l ? link_state(l) : LINK_IDLE;

    if (!l)
        return;
    if (s == LINK_CONNECTING || s == LINK_AUTHENTICATING || s == LINK_RECONNECTING)
        act(c, hub_cancel_connect, false);
    else
        rest_fail(c->r,
                  &(struct rest_failure){ 409, "not_connecting", "name", span_of(link_name(l)),
                                          .message = "There is no attempt to cancel" });
}

void rest_reconnect_failed(struct rest_call *c)
{
    hub_reconnect_failed(c->hub);
    rest_servers(c);
}
