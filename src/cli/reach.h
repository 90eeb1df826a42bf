/* reach.h - how a verb reaches the hub: the daemon that runs, or one of its own for as long as
 * the verb takes. Both answer the same methods, so that no verb can tell. */
#pragma once
#include "hub_flags.h"

struct reach;

enum reach_flags {
    REACH_START_ALL = 1, /* of our own: start every server, not only those that are needed */
    REACH_DAEMON_ONLY = 2,
};

/* --standalone among the verb's options keeps it from the daemon. */
MUST_CHECK int reach_open(struct reach **out, const struct cli *cli, unsigned flags,
                          struct pb_error *err);
void reach_close(struct reach *s);
AUTO_DEFINE(reach, reach_close)

bool reach_is_daemon(const struct reach *s);
struct pb_client *reach_client(struct reach *s);
/* {"server":…} and the like. Empty: {}. */
MUST_CHECK int reach_request(struct reach *s, const char *method, const char *params,
                             struct pb_result **out, struct pb_error *err);
/* The same, and the answer taped. `doc` borrows from *out. */
MUST_CHECK int reach_ask(struct reach *s, const char *method, const char *params,
                         struct pb_result **out, struct json_doc *doc, struct pb_error *err);
/* {"key":"value"}, or {} when value is NULL. Owned by the caller. */
char *reach_params(const char *key, const char *value);

/* verb_logs.c: a line of a log that is followed. */
void logs_notified(const char *method, const char *params);

#define CLI_HUB_OPTIONS { 0, "standalone", NULL, "do not use a running daemon" }, CLI_CONFIG_OPTIONS
