/* tasks.h - calls that outlive their request: the extension io.modelcontextprotocol/tasks.
 *
 * A task is made before the client hears of it, belongs to the principal that called, and stays
 * readable for MCP_TASK_KEEP_MS after it ended. Others are told that there is none. Loop thread. */
#pragma once
#include "call.h"
#include "mcp/serve/serve.h"

struct tasks;
struct task;

struct tasks *tasks_new(struct registry *reg);
void tasks_free(struct tasks *t);

/* The call goes on as a task; its request is answered with the task's handle. False: there are
 * too many, and the call was refused. */
bool task_begin(struct pb_call *c);
/* The handler has an outcome. */
void task_concluded(struct pb_call *c);
/* Its questions wait for tasks/update. */
void task_asks(struct pb_call *c);
/* Its own time limit has passed. */
void task_expired(struct pb_call *c, struct span text);
/* A word on how far it is. */
void task_said(struct pb_call *c, const char *message);

/* Is there such a task, and is it this client's? */
bool tasks_has(const struct registry *reg, const struct peer *p, struct span id);
/* Cancels every task that has not ended. */
void tasks_stop(struct registry *reg);

void tasks_get(struct registry *reg, struct request *r);
void tasks_update(struct registry *reg, struct request *r);
void tasks_cancel(struct registry *reg, struct request *r);
