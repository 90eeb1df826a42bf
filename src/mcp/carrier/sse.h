/* sse.h - HTTP+SSE, the transport of 2024-11-05: a GET is the stream of everything that the
 * server says, and its first event tells where the client's messages are to be POSTed. The session
 * lives as long as the stream. While a client does not read (STREAM_QUEUE_HIGH) the requests that
 * it posts are not answered, and its calls are held, as on stdio. */
#pragma once
#include "endpoint.h"
#include "io/http/http.h"

struct sse_carrier;

/* `streams` must outlive it. `messages_path` is told to clients. */
struct sse_carrier *sse_carrier_new(struct pb_server *server, struct carrier_streams *streams,
                                    const char *messages_path);
/* The stream's path, and the one for messages. */
void sse_carrier_open(struct sse_carrier *h, struct http_request *r, const char *principal);
void sse_carrier_post(struct sse_carrier *h, struct http_request *r, const char *principal);
/* fn runs once, not from in here, when no request is being answered any more. */
void sse_carrier_drain(struct sse_carrier *h, loop_fn *fn, void *ctx);
/* Ends all streams; freed at the end of the turn. */
void sse_carrier_free(struct sse_carrier *h);
