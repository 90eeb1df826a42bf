#include "control_act.h"
#include "hub/spec/spec.h"

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
