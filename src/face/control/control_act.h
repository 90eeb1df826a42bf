/* control_act.h - something is done to a server, and whoever wanted it is told what came of it: the
 * same for every door. */
#pragma once
#include "hub/hub/hub.h"
#include "hub/link/link.h"

typedef int control_act_fn(struct hub *h, const char *name, struct pb_error *err);
struct control_act;
/* Once, while the asker is there: l is the server, or err says why not. It may be before
 * control_act_start() returns; *a is gone afterwards. */
typedef void control_acted_fn(struct control_act *a, struct link *l, const struct pb_error *err);

struct control_act {
    struct hub *hub;
    char *server;
    void *asker; /* the request; whoever made this sets it to NULL when that is gone */
    control_acted_fn *done;
    bool begun; /* what was to be done was; an error is one of the attempt to connect */
    uint64_t pinged_at, took_ms; /* control_act_ping() */
};
struct control_act *control_act_new(struct hub *h, const char *server, void *asker,
                                    control_acted_fn *done);
/* `wait`: is done when the attempt to connect that it leads to has ended. */
void control_act_start(struct control_act *a, control_act_fn *act, bool wait);
/* Asks it instead whether it lives; took_ms says for how long, if it does. */
void control_act_ping(struct control_act *a);
