/* host.h - the hub as an MCP server. One host for each thing that can be asked for (everything, one
 * server unprefixed, a mode), made when first wanted; all of one set share the hub and the parked
 * calls. A host is a pb_server whose provider answers out of the catalog and relays calls. */
#pragma once
#include "gate/gate.h"
#include "hub/hub/hub.h"
#include "mcp/serve/serve.h"
#include "tools/tools/tools.h"

/* Groups of built-ins (C37); `expose` is a mask of them, and of enum tool_group. */
enum host_group {
    HOST_CATALOG = 1,  /* the tools of the servers themselves */
    HOST_EXTERNAL = 2, /* external_list_servers and its kin */
    HOST_BREAKPOINT = 8,
    HOST_BUILTIN = TOOLS_ALL, /* file, terminal, memory ... tools */
};
/* "catalog,external" -> mask. "builtin" is all tools of our own, "file,todo" some. */
MUST_CHECK int host_parse_expose(const char *text, unsigned *out, struct pb_error *err);
void host_write_expose(struct buf *out, unsigned expose);

struct host_options {
    struct gate *gate;          /* before a hub; NULL: there is no client manager (T126) */
    unsigned expose;            /* 0: HOST_CATALOG */
    const char *name, *version; /* NULL: Patchbay and its version */
    size_t max_request_bytes;   /* 0: REQUEST_BYTES_MAX */
    /* What is asked for while servers are still being connected waits for them this long:
     * many clients ask once and never heed list_changed. 0: it does not wait. */
    uint64_t list_wait_ms;
};

struct hosts;
struct host;

/* The gate and its hub must outlive the set. */
struct hosts *hosts_new(struct pb_loop *l, const struct host_options *opts);
void hosts_set_list_wait(struct hosts *s, uint64_t ms);
/* Stops every host's server; frees when they have ended, then runs fn (may be NULL). */
void hosts_close(struct hosts *s, loop_fn *fn, void *ctx);

/* What is asked for; at most one of the two. `expose` 0: the set's. */
struct host_scope {
    const char *server, *mode;
    unsigned expose;
    const char *directory; /* where its clients work: relative paths of built-in tools begin there */
    bool control;          /* what hosts_set_control() was given is asked, too */
};
/* Borrowed from the set. -PB_E_NOT_FOUND with FAULT_NO_SERVER or the names of the modes there are.
 */
MUST_CHECK int hosts_get(struct hosts *s, const struct host_scope *scope, struct host **out,
                         struct pb_error *err);
struct pb_server *host_server(struct host *h);
struct hub *hosts_hub(const struct hosts *s);
struct gate *hosts_gate(const struct hosts *s); /* NULL: there is no hub */
struct pb_loop *hosts_loop(const struct hosts *s);
/* That are there now, of all hosts. One that keeps no session is not counted. */
size_t hosts_clients(const struct hosts *s);
/* What answers first on hosts whose scope has `control`. True: it has. */
typedef bool control_fn(struct hosts *s, struct request *r);
void hosts_set_control(struct hosts *s, control_fn *fn);
/* One thing that is kept with the set and freed with it (what control.h needs to know). NULL: none
 * yet. */
void hosts_keep(struct hosts *s, void *take_p, void (*free_fn)(void *p));
void *hosts_kept(const struct hosts *s);
