#include "control_act.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"

struct control_act *control_act_new(struct hub *h, const char *server, void *asker,
                                    control_acted_fn *done)
{
    struct control_act *a = NEW(struct control_act);

    *a = (struct control_act){ h, mem_dup(server), asker, done };
    return a;
}

static void over(void *ctx, const struct pb_error *err)
{
    struct control_act *a = ctx;
    struct link *l = err ? NULL : hub_link(a->hub, a->server);
    struct pb_error gone;

    if (!err && !l) {
        fault_fail(&gone, FAULT_NO_SERVER, "the server '%s' was removed meanwhile", a->server);
        err = &gone;
    }
    if (a->asker)
        a->done(a, l, err);
    free(a->server);
    free(a);
}

void control_act_start(struct control_act *a, control_act_fn *act, bool wait)
{
    struct pb_error err;
    int rc = act(a->hub, a->server, &err);

    a->begun = rc == 0;
    if (rc == 0 && wait)
        rc = hub_when_connected(a->hub, a->server, over, a, &err);
    if (rc < 0 || !wait)
        over(a, rc < 0 ? &err : NULL);
}

static void on_pong(void *ctx, const struct client_reply *reply)
{
    struct control_act *a = ctx;

    a->took_ms = loop_now(hub_loop(a->hub)) - a->pinged_at;
    over(a, reply->err);
}

void control_act_ping(struct control_act *a)
{
    struct link *l = hub_link(a->hub, a->server);
    struct pb_error err;
    int rc;

    a->pinged_at = loop_now(hub_loop(a->hub));
    if (l)
        rc = link_ping(l, link_spec(l)->timeout_ms, on_pong, a, &err);
    else
        rc = fault_fail(&err, FAULT_NO_SERVER, "there is no server '%s'", a->server);
    if (rc < 0)
        over(a, &err);
}
