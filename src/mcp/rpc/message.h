/* message.h - one received JSON-RPC message with the bytes it came in.
 *
 * The server side tapes everything but refuses duplicate keys at every depth: what is decided on
 * is what is executed. A message is made by a transport, handed to peer_receive(), and lives as
 * long as the request that it asks for. */
#pragma once
#include "era.h"
#include "rpc.h"

struct message {
    struct blob *bytes;
    struct json_doc doc;
    struct arena arena;
    struct rpc rpc;
    /* The modern claim: params._meta names a protocol version that is a string. */
    bool claims_modern;
    struct span claimed_version; /* decoded; "" without a claim */
};

/* Takes the reference to `bytes`. Never NULL: text that is no JSON gives a message whose rpc is
 * RPC_INVALID with RPC_PARSE_ERROR and a reason (bad UTF-8 is told apart from bad grammar). */
struct message *message_new(struct blob *take_bytes);
/* One element of a batch as a message of its own; shares the bytes. */
struct message *message_of_element(const struct message *batch, struct json element);
void message_free(struct message *m);
AUTO_DEFINE(message, message_free)
