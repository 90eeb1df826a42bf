/* rest_clients.c - S4's servers: S4-37, S4-44 to S4-47. */
#include "hub/catalog/catalog.h"
#include "hub/config/config.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "io/http/http.h"
#include "rest_impl.h"

void rest_clients(struct rest_call *c)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    hub_write_servers(&o, "clients", c->hub);
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

static void put_tools(struct json_out *o, const struct hub *h, const char *server)
{
    const struct entry *const *all;
    size_t n = catalog_all(hub_catalog(h), LIST_TOOLS, &all);

    json_begin_array(o, "tools");
    for (size_t i = 0; i < n; i++)
        if (all[i]->enabled && !all[i]->held && all[i]->server && strcmp(all[i]->server, server) == 0)
            json_put_span(o, NULL, all[i]->id);
    json_end(o);
}

static void reply_ok(struct control_act *a, bool tools)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    json_put_str(&o, "status", "ok");
    json_put_str(&o, "name", a->server);
    if (tools)
        put_tools(&o, a->hub, a->server);
    json_end(&o);
    rest_reply(a->asker, 200, &body);
}

static void on_connected(struct control_act *a, struct link *l, const struct pb_error *err)
{
    (void)l;
    if (!rest_act_failed(a, err))
        reply_ok(a, true);
}

static void on_disconnected(struct control_act *a, struct link *l, const struct pb_error *err)
{
    (void)l;
    if (!rest_act_failed(a, err))
        reply_ok(a, false);
}

/* A server that could not be connected stays, in state error (T15, T16): its log tells why, and
 * `reconnect` tries again. It is forgotten at the end of the program (S4-17) or by DELETE. */
void rest_clients_connect(struct rest_call *c)
{
    const char *name = rest_text(c, "name");
    AUTO(spec) struct spec *spec = NULL;
    struct config_request request = { 0 };
    struct pb_error err;

    if (spec_parse(&spec, name, http_body(c->r), false, &request, &err) < 0) {
        rest_fail_hub(c->r, &err, "name", name);
        return;
    }
    spec->runtime_only = true;
    spec->origin = SPEC_ORIGIN_REST;
    if (hub_add(c->hub, spec, &err) < 0)
        rest_fail_hub(c->r, &err, "name", name);
    else
        rest_act(c, name, hub_connect, true, on_connected);
}

void rest_clients_disconnect(struct rest_call *c)
{
    if (rest_link(c))
        rest_act(c, rest_text(c, "name"), hub_disconnect, false, on_disconnected);
}

void rest_clients_reconnect(struct rest_call *c)
{
    if (rest_link(c))
        rest_act(c, rest_text(c, "name"), hub_reconnect, true, on_connected);
}
