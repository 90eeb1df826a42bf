/* rpc.h - JSON-RPC 2.0: telling messages apart, and writing them.
 *
 * Ids stay as they were written: a string or an integer, echoed byte for byte, so that no parser
 * on the way can round or respell them.
 *
 *   rpc.c             telling messages apart, and writing them
 *   message.c         one message, owned, with its tape
 *   era.c             the revisions, and what each has; log levels
 *   headers.c         values in HTTP headers
 *   header_list.c     headers to be sent, each once
 *   header_schema.c   which arguments of a tool are mirrored in headers
 *   question_kind.c   what a server can ask of a client
 *   result_text.c     a result in words for a person
 *   state.c           what a client keeps for us, signed
 *   trace.c           W3C trace context
 *   uri_template.c    RFC 6570, matched backwards
 *   url.c             origins, and relative URLs */
#pragma once
#include "era.h"
#include "header_list.h"
#include "headers.h"
#include "memory.h"
#include "question_kind.h"
#include "result_text.h"
#include "state.h"
#include "trace.h"
#include "uri_template.h"
#include "url.h"
#include "json/json.h"

enum rpc_code {
    RPC_PARSE_ERROR = -32700,
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL_ERROR = -32603,
    /* MCP, legacy */
    RPC_SERVER_ERROR = -32000, /* HTTP-level refusals of the reference servers */
    RPC_SESSION_NOT_FOUND = -32001,
    RPC_RESOURCE_NOT_FOUND = -32002,
    RPC_URL_ELICITATION_REQUIRED = -32042,
    /* MCP, modern */
    RPC_HEADER_MISMATCH = -32020,
    RPC_MISSING_CAPABILITY = -32021,
    RPC_UNSUPPORTED_VERSION = -32022,
};

enum rpc_kind {
    RPC_INVALID, /* `code` and `why` say what is wrong; `id` is there if it could be read */
    RPC_REQUEST,
    RPC_NOTIFICATION,
    RPC_RESPONSE, /* `result` */
    RPC_ERROR,    /* `error`, an object */
    RPC_BATCH,    /* the root is an array */
};

struct rpc {
    enum rpc_kind kind;
    bool answers;       /* an object without a method: an answer, or meant as one */
    struct span id;     /* as written, quotes included; empty when there is none */
    struct span method; /* decoded */
    struct json params; /* object or array; JSON_NONE when absent or null */
    struct json result, error;
    int code;
    const char *why;
};

/* Classifies a parsed value. Nothing fails: what is no message is RPC_INVALID. `arena` holds a
 * method that had escapes. */
void rpc_read(struct rpc *out, struct json v, struct arena *arena);

/* Is this a legal id: a string, or an integer as written, within RPC_ID_BYTES_MAX? */
bool rpc_id_valid(struct json id);

/* Searches the head of a message that cannot be parsed for its id. Empty when not found. */
struct span rpc_id_peek(struct span head);
/* The same, but empty for what has a method in its head: that one answers nobody. */
struct span rpc_answer_peek(struct span head);

/* The text before and after a result: parts {head, result, "}"}. `id` as written. */
void rpc_write_result_head(struct buf *out, struct span id);
#define RPC_RESULT_TAIL SPAN("}")
/* `data` is JSON or empty. An empty id writes null. */
void rpc_write_error(struct buf *out, struct span id, int code, struct span message,
                     struct span data);
/* `params` is JSON or empty. An empty id makes a notification. */
void rpc_write_request(struct buf *out, struct span id, const char *method, struct span params);

/* The rest of the room. */
#include "message.h"
