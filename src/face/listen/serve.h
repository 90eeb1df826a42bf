/* serve.h - the hub over HTTP: one listener, the guard in front of every route, and behind it
 * /mcp, /mcp/<server>, /mcp/mode/<mode>, /sse and /mcp/sse with their message paths, /health, and
 * what rest.h answers. */
#pragma once
#include "face/caller/caller.h"
#include "face/host/host.h"

struct serve;

struct serve_options {
    const char *host; /* NULL: 127.0.0.1 */
    int port;         /* 0: any free one */
    const char *token;
    const char *allowed_hosts, *allowed_origins;
};
MUST_CHECK int serve_start(struct serve **out, struct hosts *hosts, const struct serve_options *o,
                           struct pb_error *err);
int serve_port(const struct serve *s);
/* Tokens beside the one of the options, instead of those that were; takes them. What was opened
 * with one that is not there any more, or may less, ends: streams, sessions and calls. Without a
 * token of its own it wants none. */
void serve_set_tokens(struct serve *s, struct tokens *take_tokens);
/* control_facts.config_error is not what it was. */
void serve_config_changed(struct serve *s);
/* Answers what it is answering, up to MCP_FLUSH_MS; then closes, frees, runs fn (may be NULL). */
void serve_close(struct serve *s, loop_fn *fn, void *ctx);
