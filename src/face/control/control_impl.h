/* control_impl.h - shared by the files of control. All of it needs a hub.
 *
 *   control.c         the table of methods, and most of them
 *   control_act.c     something is done to a server, for every door
 *   control_find.c    is there such a tool or prompt, and if not, why
 *   control_wait.c    requests that wait for servers
 *   control_write.c   what there is, as JSON */
#pragma once
#include "control.h"
#include "control_write.h"
#include "face/host/host.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/serve/serve.h"

struct control_params {
    char *server, *id, *mode, *tool, *prompt;
    uint64_t lines;
    bool follow, refresh, again;
};
/* False: refused and answered. */
bool control_read_params(struct request *r, struct control_params *out, struct arena *a);

/* The answer to what failed; its code is for exit codes, see control.h. */
void control_refuse(struct request *r, const struct pb_error *err);
/* control_no_server() among those of the hub. */
int control_no_server_of(const struct hub *h, const char *item, struct pb_error *err);
/* The server that a request must name. NULL: answered. */
struct link *control_need_server(struct hosts *s, struct request *r, const char *name);

typedef void control_then_fn(struct hosts *s, struct request *r, const struct control_params *p);

/* A request that waits for servers to come up. It may be gone before they are. */
struct control_wait {
    struct hosts *hosts;
    struct request *r; /* NULL: cancelled */
    struct arena arena;
    struct control_params params;
    control_then_fn *then;
    size_t pending; /* servers whose attempt is waited for */
};
/* NULL: answered, the parameters are wrong. */
struct control_wait *control_wait_new(struct hosts *s, struct request *r, control_then_fn *then);
void control_wait_end(struct control_wait *w);
/* `then`, unless the request is gone; and the end. */
void control_wait_over(struct control_wait *w);
void control_wait_settled(struct control_wait *w);

/* Runs `then` when the server that r names, or each of them, is not in the middle of an attempt to
 * connect: it may be connected, have failed, be idle, or wait before it tries again. */
void control_when_known(struct hosts *s, struct request *r, control_then_fn *then);

/* control_find.c */
void control_find(struct hosts *s, struct request *r);
