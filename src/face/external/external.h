/* external.h - S4's five external_* tools, and two for prompts: the catalog for clients that would
 * rather ask than be shown. Each result is one text item that holds JSON; a failure is
 * {"error":CODE,...} in a result with isError. */
#pragma once
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "mcp/serve/serve.h"

/* Puts their definitions into the catalog, in this group. */
void external_define(struct catalog *c, unsigned group);
/* Answers a tools/call of one of them; false: it is none. What the scope hides does not exist here
 * either. hub NULL: {"error":"no_client_manager"}. */
bool external_call(struct hub *hub, const struct scope *scope, struct request *r, struct span name,
                   struct json arguments);
/* {content,mime_type} of a result of resources/read: S4-42. False: there is nothing in it. */
bool external_write_resource(struct json_out *o, struct json result, bool *is_error);
