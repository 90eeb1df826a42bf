/* hub_wait.h - the hub for threads: each call waits for its result. The hub runs on a loop with a
 * thread of its own. S4-5, T1, T4, T5, T53 to T56, T135 to T140. */
#pragma once
#include "hub/spec/spec.h"

struct hub;
struct hub_options;
struct hub_thread;

/* opts->loop must be NULL. */
MUST_CHECK int hub_thread_start(struct hub_thread **out, const struct hub_options *opts,
                                struct pb_error *err);
/* Stops the servers, ends the loop, joins the thread. Waits that run return -PB_E_CLOSED. A second
 * shutdown does nothing; only hub_thread_free() frees. */
void hub_thread_shutdown(struct hub_thread *t);
void hub_thread_free(struct hub_thread *t);
struct pb_loop *hub_thread_loop(struct hub_thread *t);
struct hub *hub_thread_hub(struct hub_thread *t); /* to be used on its loop */

/* Adds, connects and waits for the outcome. */
MUST_CHECK int hub_wait_connect(struct hub_thread *t, struct spec *spec, struct pb_error *err);
MUST_CHECK int hub_wait_disconnect(struct hub_thread *t, const char *name, struct pb_error *err);
MUST_CHECK int hub_wait_reconnect(struct hub_thread *t, const char *name, struct pb_error *err);
MUST_CHECK int hub_wait_ping(struct hub_thread *t, const char *name, struct pb_error *err);
/* "server/tool". `arguments`: an object's text or NULL. *result is the result's JSON, owned by the
 * caller. T29 to T39 */
MUST_CHECK int hub_wait_call(struct hub_thread *t, const char *id, const char *arguments,
                             char **result, struct pb_error *err);
MUST_CHECK int hub_wait_read(struct hub_thread *t, const char *server, const char *uri,
                             char **result, struct pb_error *err);
/* {"name":{"status",…}} and [{name,server,original_name,description,input_schema}]; resources
 * [{uri,server,name,description,mime_type}]: the shapes of S4-37, S4-38, S4-41. Owned by the
 * caller. */
MUST_CHECK int hub_wait_servers(struct hub_thread *t, char **json, struct pb_error *err);
MUST_CHECK int hub_wait_tools(struct hub_thread *t, const char *server, char **json,
                              struct pb_error *err);
MUST_CHECK int hub_wait_resources(struct hub_thread *t, const char *server, char **json,
                                  struct pb_error *err);

/* The same texts on the loop, for every face that shows them. */
void hub_write_servers(struct json_out *o, const char *key, const struct hub *h);
void hub_write_tools(struct json_out *o, const char *key, const struct hub *h, const char *server);
void hub_write_resources(struct json_out *o, const char *key, const struct hub *h,
                         const char *server);
