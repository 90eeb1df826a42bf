/* rest_status.c - the daemon, and what a person should look at. */
#include "face/control/control.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/view/view.h"
#include "io/http/http.h"
#include "rest_impl.h"

void rest_status(struct rest_call *c)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    control_write_status(&o, c->rest->hosts);
    rest_reply(c->r, 200, &body);
}

/* ---- alerts ---- */

void rest_alerts(struct rest_call *c)
{
    const struct view_alert *const *all;
    size_t n = view_alerts(c->rest->view, &all);
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    json_begin_array(&o, "alerts");
    for (size_t i = 0; i < n; i++) {
        AUTO_BUF struct buf text = { 0 };

        alert_text(&text, all[i]->server, all[i]->message);
        json_begin_object(&o, NULL);
        json_put_str(&o, "id", all[i]->id);
        json_put_str(&o, "server", all[i]->server);
        json_put_str(&o, "kind", alert_kind_name(all[i]->kind));
        json_put_str(&o, "message", all[i]->message);
        json_put_span(&o, "text", buf_span(&text));
        json_put_seconds(&o, "timestamp", all[i]->at);
        json_end(&o);
    }
    json_end(&o);
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

void rest_alerts_dismiss(struct rest_call *c)
{
    view_dismiss_all(c->rest->view);
    rest_events_tell(c->rest->events, "alertsChanged");
    rest_reply_ok(c->r);
}

void rest_alert_dismiss(struct rest_call *c)
{
    const char *id = rest_text(c, "id");

    if (!view_dismiss(c->rest->view, id)) {
        rest_fail(c->r, &(struct rest_failure){ 404, "alert_not_found", "id", span_of(id),
                                                .message = "There is no such alert" });
        return;
    }
    rest_events_tell(c->rest->events, "alertsChanged");
    rest_reply_ok(c->r);
}
