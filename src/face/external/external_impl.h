/* external_impl.h - what the files of the external_* tools share.
 *
 *   external.c        the seven tools: their definitions, and which one is called
 *   external_list.c   those that list
 *   external_ask.c    those that ask a server */
#pragma once
#include "external.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "mcp/serve/serve.h"

/* One call of one of the tools. */
struct external {
    struct gate *gate;
    struct hub *hub;    /* the gate's */
    struct scope scope; /* without built-ins */
    const struct external_caller *by;
    struct request *r;
    struct arena *arena;       /* of the message */
    struct span server, named; /* "server"; "tool", "prompt" or "uri"; p NULL: not given */
    struct json arguments;     /* object or JSON_NONE */
};

/* external.c: the answers. `json` is the text that the one item holds. */
void external_reply(struct request *r, struct span json, bool is_error);
/* {"error":code, key:value, "message":…}; key and message may be NULL. */
void external_fail(struct request *r, const char *code, const char *key, struct span value,
                   const char *message);

/* external_list.c */
void external_list_servers(struct external *x);
void external_list_tools(struct external *x);
void external_list_resources(struct external *x);
void external_list_prompts(struct external *x);

/* external_ask.c: those that ask a server. */
void external_call_tool(struct external *x);
void external_read_resource(struct external *x);
void external_get_prompt(struct external *x);
