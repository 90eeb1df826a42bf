/* server_impl.h - the server's own layout, for server*.c, peer*.c, request.c, question.c, listen.c
 * and subscriptions.c. Everybody else uses server.h.
 *
 *   server.c          what a server is: its options, its provider, its peers
 *   server_stop.c     its life: carriers, running, the graceful end
 *   server_tell.c     what the program tells all clients, from any thread
 *   listen.c          the listen streams of modern clients
 *   subscriptions.c   who wants to hear of a resource */
#pragma once
#include "mcp/rpc/rpc.h"
#include "server.h"
#include <pthread.h>
#include <stdatomic.h>

/*    created -> initializing -> ready -> closing -> closed
 *                     |           |                    |
 *                     +-> error <-+     (served again) +-> initializing        */
enum server_states {
    SERVER_CREATED,
    SERVER_INITIALIZING, /* a transport is there; nothing has come through it yet */
    SERVER_READY,
    SERVER_CLOSING,
    SERVER_CLOSED,
    SERVER_ERROR, /* it could not be started; only freeing is left */
    SERVER_COUNT,
};

/* How much of serverInfo a client may see. */
enum { INFO_PLAIN, INFO_TITLED, INFO_FULL, INFO_COUNT };

/* What other threads want to be told to clients, until the loop comes to it. */
struct inbox {
    pthread_mutex_t mu;
    struct list notes;
    size_t n, bytes;
    unsigned lists; /* one bit per list that changed */
    bool posted;    /* a callback is on its way to the loop */
};

struct pb_server {
    struct pb_loop *loop;
    bool own_loop;
    struct pb_server_options opts;
    struct arena strings;
    const struct provider *provider;
    void *provider_ctx;

    struct sm state;
    struct buf info[INFO_COUNT]; /* serverInfo as JSON */
    struct buf result_begin;

    struct list peers, listens;
    struct map by_serial; /* the peers */
    size_t n_listens, in_flight;
    struct map watched; /* URI -> number of subscribers */
    struct inbox inbox;
    int port;

    /* One answer is written at a time, and sent before the next begins. */
    struct buf out;
    struct json_doc doc;

    /* Stopping. */
    struct list carriers, old_carriers; /* old: ended by themselves while draining */
    size_t draining, closing;
    bool closing_carriers, running;
    bool freed, ending, ended;
    bool free_when_closed; /* server_close() was called; then this is told: */
    loop_fn *ended_fn;
    void *ended_ctx;
    bool stop_was_late; /* handlers still ran when the time of a stop was over */
    struct timer stop_timer;
    atomic_bool stop_asked;
    atomic_int wake_in; /* written to by pb_server_stop(); -1 before it is needed */
    int wake_out;
    struct stream *wake;
};

/* Something came from a client: the first thing makes the server ready. False when it is not, any
 * more. */
bool server_heard(struct pb_server *s);
/* The members of `capabilities` for this client, with braces. */
void server_capabilities(struct pb_server *s, struct buf *out, const struct envelope *env);
/* Puts "instructions", if there are any. */
void server_put_instructions(struct pb_server *s, struct json_out *o);
/* serverInfo as this revision knows it. */
struct span server_info(const struct pb_server *s, const struct revision *rev);
/* "supportedVersions" as a JSON array: all, or those of the modern era. */
void server_versions(struct json_out *o, const char *key, bool modern_only);

/* Goes on with pb_server_free() once nothing holds it up. */
void server_check_end(struct pb_server *s);

/* server_stop.c */
void server_stop_init(struct pb_server *s);
void server_stop_done(struct pb_server *s);
/* Stops gracefully; frees when stopped if free_when_closed. */
void server_begin_stop(struct pb_server *s);
/* Stops without giving time: calls are cancelled, carriers closed. */
void server_abandon(struct pb_server *s);
/* Hosts are closed, handlers have returned, nothing is on its way from other threads. */
bool server_is_over(struct pb_server *s);

/* server_tell.c */
void inbox_init(struct inbox *in);
void inbox_done(struct inbox *in);
/* Nobody has seen the lists yet that changed. */
void inbox_forget_lists(struct inbox *in);
bool inbox_posted(struct inbox *in);
