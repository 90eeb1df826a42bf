/* server.h - our MCP server: its peers, its provider, its listeners. pb_server_* of patchbay.h
 * are implemented by this noun, by carriers and by the registry. */
#pragma once
#include "provider.h"

struct pb_server;

/* One without a provider: server_set_provider() comes next. */
struct pb_server *server_new(const struct pb_server_options *opts);
/* As given to it, copied, with the defaults filled in. */
const struct pb_server_options *server_options(const struct pb_server *s);

/* This one, instead of what there was. Before anything is served. */
void server_set_provider(struct pb_server *s, const struct provider *provider, void *ctx);
/* The ctx of this provider; NULL: it has another. */
void *server_provided_by(const struct pb_server *s, const struct provider *provider);

/* Another title in serverInfo, from the next answer on. NULL: none. */
void server_set_title(struct pb_server *s, const char *title);
/* pb_server_stop() and pb_server_free() in one, for servers on a loop of others: fn (may be NULL)
 * runs when nothing is left of it. The provider must live until then. Once, and nothing else after
 * it. Loop thread. */
void server_close(struct pb_server *s, loop_fn *fn, void *ctx);

/* `list` is "tools", "prompts" or "resources": told to legacy peers and to listen streams that
 * asked; calls within one turn are told once. [any thread] */
void server_list_changed(struct pb_server *s, const char *list);
/* Told to those who subscribed to it. [any thread] */
void server_resource_updated(struct pb_server *s, struct span uri);
/* The provider's handlers have all ended: a stop that waits for them goes on. Loop thread. */
void server_drained(struct pb_server *s);
/* "created", "initializing", "ready", "closing", "closed", "error" */
const char *server_state(const struct pb_server *s);
/* What pb_server_port() tells: of the newest HTTP listener; 0 before that. */
void server_set_port(struct pb_server *s, int port);
int server_port(const struct pb_server *s);

struct pb_loop *server_loop(const struct pb_server *s);
size_t server_max_request(const struct pb_server *s);
/* The client with this number, see peer_serial(); NULL: it is none of its, or has left. */
struct peer *server_peer(const struct pb_server *s, uint64_t serial);
/* Every client that has not left. fn must not close any. */
void server_each_peer(struct pb_server *s, void (*fn)(void *ctx, struct peer *p), void *ctx);

/* A transport that the server owns: stopped and closed with it. */
struct carrier_ops {
    /* No new input; fn once what is to be flushed is flushed, or the time for it has passed. */
    void (*drain)(void *carrier, loop_fn *fn, void *ctx);
    /* Frees; fn runs after. */
    void (*close)(void *carrier, loop_fn *fn, void *ctx);
};
void server_add_carrier(struct pb_server *s, const struct carrier_ops *ops, void *carrier);
/* A carrier ended by itself (end of input) and frees itself: forgotten. The server stops when it
 * was the last. */
void server_carrier_ended(struct pb_server *s, void *carrier);
/* The same for a carrier whose end says nothing about the server: the loop goes on. */
void server_forget_carrier(struct pb_server *s, void *carrier);
/* Serves the client at the other end of a connected socket, a message a line, as one of many: its
 * end is not the server's. Takes fd; on failure, whatever it was, fd is open and the caller's. */
MUST_CHECK int server_take_socket(struct pb_server *s, int fd, struct pb_error *err);
/* The same on a pair of descriptors that stay the caller's; `ended` when that client has left by
 * itself. */
MUST_CHECK int server_take_stdio(struct pb_server *s, int in, int out, loop_fn *ended, void *ctx,
                                 struct pb_error *err);
/* The input of this carrier ended at `since` (loop_now()), and it is about to end: if it is the
 * only one, the server begins to stop, and the time for that counts from then. */
void server_carrier_ending(struct pb_server *s, void *carrier, uint64_t since);
