/* rest_act.c - requests that do something to a server, and are answered when that is over. */
#include "face/control/control.h"
#include "hub/hub/hub.h"
#include "io/http/http.h"
#include "rest_impl.h"

static void on_gone(void *ctx)
{
    struct control_act *a = ctx;

    a->asker = NULL;
}

struct control_act *rest_act_new(struct rest_call *c, const char *server, control_acted_fn *done)
{
    struct control_act *a = control_act_new(c->hub, server, c->r, done);

    http_on_gone(c->r, on_gone, a);
    return a;
}

void rest_act(struct rest_call *c, const char *server, control_act_fn *act, bool wait,
              control_acted_fn *done)
{
    control_act_start(rest_act_new(c, server, done), act, wait);
}

bool rest_act_failed(const struct control_act *a, const struct pb_error *err)
{
    if (err && !a->begun)
        rest_fail_hub(a->asker, err, "name", a->server);
    else if (err)
        rest_fail(a->asker,
                  &(struct rest_failure){ 502, "connect_failed", "name", span_of(a->server),
                                          .code = err->code == PB_E_AUTH ? "auth_required" : NULL,
                                          .message = err->msg, .advice = ADVICE_EXAMINE });
    return err != NULL;
}
