/* external.h - S4's five external_* tools, and two for prompts: the catalog for clients that would
 * rather ask than be shown. Each result is one text item that holds JSON; a failure is
 * {"error":CODE,...} in a result with isError. */
#pragma once
#include "gate/gate.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "mcp/serve/serve.h"

/* Puts their definitions into the catalog, in this group. */
void external_define(struct catalog *c, unsigned group);
/* Whose call it is: what it may see, and how the gate knows it. Borrowed until external_call()
 * returns. */
struct external_caller {
    const struct scope *scope;
    const char *mode; /* or NULL */
    enum order_face face;
};
/* Answers a tools/call of one of them; false: it is none. What the scope hides does not exist here
 * either. gate NULL: {"error":"no_client_manager"}. */
bool external_call(struct gate *gate, const struct external_caller *by, struct request *r,
                   struct span name, struct json arguments);
/* {content,mime_type} of a result of resources/read: S4-42. False: there is nothing in it. */
bool external_write_resource(struct json_out *o, struct json result, bool *is_error);
