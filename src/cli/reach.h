/* reach.h - how a verb reaches the hub: the daemon that runs, or one of its own for as long as
 * the verb takes. Both answer the same methods, so that no verb can tell. */
#pragma once
#include "hub_flags.h"
#include "talk.h"

struct reach;

/* Which servers a hub of our own is made of; a daemon has all of its own. */
struct reach_wants {
    bool daemon_only; /* no hub of our own will do */
    bool start_all;   /* not only those of which nothing is known, and not waited for */
    bool no_servers;
    bool records;       /* our own even if there is a daemon, with what was recorded; no servers */
    const char *server; /* this one only */
    const char *item;   /* "server.tool": only the server that it begins with */
    /* How long a person is ready to wait for its server to start; 0: as long as that may take. */
    uint32_t start_ms;
    /* What the hub tells by itself; on a thread of the client's. NULL: nobody wants to know. */
    void (*notified)(const char *method, const char *params);
};

/* Gives an exit code; what is not CLI_OK has been told. --standalone among the verb's options keeps
 * it from the daemon; so do servers of the project that are what the verb is about. */
MUST_CHECK int reach_open(struct reach **out, const struct cli *cli, const struct reach_wants *w);
/* The daemon, or nothing: -PB_E_CLOSED, and nothing is told. Of `w` only `notified` counts; it may
 * be NULL. */
MUST_CHECK int reach_daemon(struct reach **out, const struct cli *cli, const struct reach_wants *w,
                            struct pb_error *err);
void reach_close(struct reach *s);
AUTO_DEFINE(reach, reach_close)

/* Hears what is said to us besides answers, from the next request on; NULL: nobody does. On a
 * thread of the client's. */
void reach_listen(struct reach *s, void (*notified)(const char *method, const char *params));
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
/* cli_fail() for what a patchbay/… method was refused with. */
int reach_fail(const struct pb_error *err);
/* Tells the "failed" servers of an answer. CLI_OK, or when there are some what befits them. */
int reach_tell_failed(struct json failed);
/* What "auth_required", "server_not_found", ... mean; FAILURE_COUNT: not one of the hub's. */
enum cli_failure reach_failure(struct span fault);

#define CLI_HUB_OPTIONS \
    { 0, "standalone", NULL, "do not use a running daemon" }, CLI_PROJECT_OPTION, CLI_CONFIG_OPTIONS
