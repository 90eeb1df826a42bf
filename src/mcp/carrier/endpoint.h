/* endpoint.h - Streamable HTTP at one path: sessions and streams for the legacy era, a request
 * a POST for the modern one. The body decides which; the headers are cross-checked.
 *
 * An endpoint is put behind any HTTP listener: whoever routes asks its guard first, and hands the
 * request over. */
#pragma once
#include "io/http/http.h"
#include "mcp/rpc/rpc.h"
#include "stream.h"

struct endpoint;

/* `streams` are those of the whole listener, and must outlive it. */
struct endpoint *endpoint_new(struct pb_server *server, struct carrier_streams *streams,
                              const char *principal, bool json_only);
/* Answers r, now or later. `principal` is the guard's, and must outlive the endpoint. */
void endpoint_handle(struct endpoint *e, struct http_request *r, const char *principal);
/* Streams that wait for news end now; fn runs, once and not from in here, when nothing is being
 * answered any more. */
void endpoint_drain(struct endpoint *e, loop_fn *fn, void *ctx);
/* Ends all sessions, cancels all requests; freed at the end of the turn. */
void endpoint_free(struct endpoint *e);

/* An answer that is a JSON-RPC error; `id` as written or empty. `headers`: more lines, or NULL. */
void endpoint_refuse(struct http_request *r, int status, const char *headers, struct span id,
                     int code, const char *why);
/* Does what it asks for come with a message? */
bool endpoint_takes_body(const struct http_request *r);
/* The checks of every POST that brings a message: 415 and 400 are answered here, and NULL comes
 * back. 400 also when a header of the protocol comes more than once. */
struct message *endpoint_read(struct http_request *r);
