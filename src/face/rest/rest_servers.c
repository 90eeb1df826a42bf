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
            log_entry_put(&o, NULL, link_name(l), e);
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

static void on_acted(struct control_act *a, struct link *l, const struct pb_error *err)
{
    if (!rest_act_failed(a, err))
        rest_reply_server(a->asker, 200, a->hub, l);
}

static void act(struct rest_call *c, control_act_fn *fn, bool wait)
{
    if (rest_link(c))
        rest_act(c, rest_text(c, "name"), fn, wait, on_acted);
}

void rest_server_connect(struct rest_call *c) { act(c, hub_connect, true); }

void rest_server_reconnect(struct rest_call *c) { act(c, hub_reconnect, true); }

void rest_server_restart(struct rest_call *c) { act(c, hub_restart, true); }

void rest_server_disconnect(struct rest_call *c) { act(c, hub_disconnect, false); }

void rest_server_cancel(struct rest_call *c)
{
    struct link *l = rest_link(c);

    if (l && link_is_coming(link_state(l)))
        act(c, hub_cancel_connect, false);
    else if (l)
        rest_fail(c->r,
                  &(struct rest_failure){ 409, "not_connecting", "name", span_of(link_name(l)),
                                          .message = "There is no attempt to cancel" });
}

static void on_pong(struct control_act *a, struct link *l, const struct pb_error *err)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    (void)l;
    if (rest_act_failed(a, err))
        return;
    control_write_pong(&o, a);
    rest_reply(a->asker, 200, &body);
}

void rest_server_ping(struct rest_call *c)
{
    if (rest_link(c))
        control_act_ping(rest_act_new(c, rest_text(c, "name"), on_pong));
}

void rest_reconnect_failed(struct rest_call *c)
{
    hub_reconnect_failed(c->hub);
    rest_servers(c);
}
