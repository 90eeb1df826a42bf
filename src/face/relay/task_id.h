/* task_id.h - the ids under which clients know the tasks of servers behind the hub. An id says
 * which server has the task and what that calls it, and is signed together with who was given it:
 *
 *     base64url(server "\n" own id) "." base64url(HMAC-SHA256(caller "\n" server "\n" own id))
 *
 * So nothing has to be remembered, nobody can make one up, and one that another client got hold of
 * is of no use to it. The same task has the same id whenever it is written. */
#pragma once
#include "base/base.h"

enum { TASK_KEY_BYTES = 32 };

struct task_name {
    struct span server; /* without line ends */
    struct span own;    /* the server's id of it */
};

/* Appends the id. `caller` is as caller_key() writes it: without line ends. -PB_E_INVALID when the
 * server's id is empty, -PB_E_LIMIT when it has more than RELAY_TASK_ID_MAX bytes. */
MUST_CHECK int task_id_write(struct buf *out, const uint8_t *key, const char *caller,
                             const struct task_name *name, struct pb_error *err);
/* False: it is none that this caller was given. The spans of *out lie in the arena. */
bool task_id_read(struct task_name *out, struct span text, const uint8_t *key, const char *caller,
                  struct arena *arena);
