/* control_impl.h - shared by the files of control. All of it needs a hub.
 *
 *   control.c         the table of methods, and most of them
 *   control_act.c     something is done to a server, for every door
 *   control_find.c    is there such a tool or prompt, and if not, why
 *   control_follow.c  who reads what is recorded or asked, as it comes
 *   control_gate.c    rules, answers, grants; where a call would stop
 *   control_records.c what was recorded of calls
 *   control_pieces.c  answers with many bytes in them
 *   control_pins.c    what was approved of servers, and approving it
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
    char *item; /* a server, or "server.tool" */
    uint64_t lines;
    bool follow, refresh, again, prune;
    struct pb_error failed; /* no parameter: why its server did not come up, when that was tried */
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

/* The same for one that was made, and may have got a server since. */
void control_wait_known(struct control_wait *w);

/* control_pins.c */
void control_pins(struct hosts *s, struct request *r);
void control_approve(struct hosts *s, struct request *r);

/* control_find.c */
void control_find(struct hosts *s, struct request *r);
/* Runs `then` when it is known whether there is the tool or prompt that r names: its server may be
 * started for that. */
void control_when_found(struct hosts *s, struct request *r, control_then_fn *then);
/* NULL: why there is none, and what to do. */
const struct entry *control_look_up(struct hosts *s, const struct control_params *p,
                                    struct pb_error *err);
/* The same error, with what a person can do about it. */
void control_add_advice(struct pb_error *err, const char *server);

/* control_records.c: what people ask for calls by. */
struct control_query {
    struct call_query q;
    double since_s, until_s;
    uint64_t limit;
    bool follow;
    struct span format;
    char *id;
};
/* NULL: answered, nothing is recorded here. */
struct store *control_need_store(struct hosts *s, struct request *r);
void control_write_records(struct json_out *o, const char *key, const struct call_page *p);
void control_records(struct hosts *s, struct request *r);
void control_record(struct hosts *s, struct request *r);
void control_record_stats(struct hosts *s, struct request *r);
void control_object(struct hosts *s, struct request *r);
void control_export(struct hosts *s, struct request *r);
void control_forget(struct hosts *s, struct request *r);

/* control_pieces.c: bytes that are too many for one message. */
bool control_is_long(struct span bytes);
/* As "text", or "base64" if they are none. */
void control_put_bytes(struct json_out *o, struct span bytes);
/* Sends them in pieces, "notifications/patchbay/piece", and then answers with `last`, which is
 * taken over. The bytes are copied. */
void control_reply_pieces(struct hosts *h, struct request *r, struct span bytes, struct buf *last);

/* control_follow.c */
void control_follow_records(struct hosts *s, struct request *r, const struct control_query *q);
void control_questions(struct hosts *s, struct request *r);

/* control_gate.c */
void control_policy(struct hosts *s, struct request *r);
void control_question(struct hosts *s, struct request *r);
void control_answer(struct hosts *s, struct request *r);
void control_grants(struct hosts *s, struct request *r);
void control_grants_add(struct hosts *s, struct request *r);
void control_grants_rm(struct hosts *s, struct request *r);
void control_grants_auto(struct hosts *s, struct request *r);
void control_explain(struct hosts *s, struct request *r);
