/* listen.h - subscriptions/listen: a modern client's stream of changes.
 *
 * A listen request stays open. It is acknowledged first, then told what it asked for, each
 * notification tagged with the id of the request; it ends when the client cancels it, goes away,
 * or the server stops. */
#pragma once
#include "server.h"

/* Answers r, or keeps it open. */
void listen_open(struct request *r);
/* The streams of a request that ended. Called by the peer. */
void listen_forget(struct request *r);
/* The graceful end: the response that says so. */
void listen_end(struct request *r);

/* Tells every stream that asked for this list: "tools", "prompts" or "resources". */
void listen_list_changed(struct pb_server *s, const char *list);
void listen_resource_updated(struct pb_server *s, struct span uri);
/* `params` is the JSON object text of a whole task, as in tasks/get. Loop thread. */
void listen_task_changed(struct pb_server *s, struct span task_id, struct span params);
