/* control.h - methods beside MCP's by which a command line rules a hub: only on hosts whose scope
 * has `control`. One table; names begin with "patchbay/". */
#pragma once
#include "face/host/host.h"
#include "hub/spec/spec.h"
#include "mcp/serve/serve.h"

/* What a refusal's code tells: RPC_INVALID_PARAMS that the parameters are wrong, RPC_SERVER_ERROR
 * what none of these does. */
enum {
    CONTROL_AUTH = -32090,      /* the server wants a login */
    CONTROL_NOT_FOUND = -32091, /* there is no such thing */
    CONTROL_TIMEOUT = -32092,
    CONTROL_DISABLED = -32093, /* the server is */
    CONTROL_HELD = -32094,     /* what it is about is not what was approved */
};

/* Hosts of this set whose scope has `control` answer them from now on. */
void control_start(struct hosts *s);
/* Once: err is NULL when what the files say now is taken over. */
typedef void control_reloaded_fn(void *ctx, const struct pb_error *err);
/* What the program around a hub does when it is told to. */
struct control_daemon {
    /* Reads the config again and takes it over. */
    void (*reload)(void *ctx, control_reloaded_fn *fn, void *fn_ctx);
    void (*stop)(void *ctx);
    /* Stops, and begins anew as it was started. */
    void (*restart)(void *ctx);
};

/* The facts that patchbay/status tells. */
struct control_facts {
    const char *home, *socket, *url;
    const char *token_from;   /* a file, or how else it came; NULL: none is wanted */
    const char *const *files; /* config files; NULL-ended */
    /* Why the files as they are now are not taken, with file and line; what was read before goes
     * on. NULL: they are. */
    const char *config_error;
    int64_t started_at;
    /* What the program was started with, and what the files say now; NULL: not known. The first
     * outlives the set. */
    const struct settings *started_with, *settings;
    const struct control_daemon *daemon; /* NULL: nothing was read from files, and nobody stops */
    void *daemon_ctx;
};
/* False, and fn does not run: nothing was read from files here. */
MUST_CHECK bool control_reload(const struct hosts *s, control_reloaded_fn *fn, void *fn_ctx);
/* Must it be started again for this setting to count? */
bool control_wants_restart(const struct setting *row, const struct settings *started_with,
                           const struct settings *now);
/* Borrowed; kept with the set. All zero until they are set. */
void control_set_facts(struct hosts *s, const struct control_facts *f);
const struct control_facts *control_facts_of(const struct hosts *s);

/* FAULT_NO_SERVER for item_server_part(), with those of the names (NULL-ended) that are like it. */
int control_no_server(const char *item, const char *const *names, struct pb_error *err);

struct control_method {
    const char *name, *params, *help;
    void (*run)(struct hosts *s, struct request *r);
};
/* Sorted, ended by name NULL; for documents. */
extern const struct control_method control_methods[];

/* The rest of the room. */
#include "control_act.h"
#include "control_write.h"
