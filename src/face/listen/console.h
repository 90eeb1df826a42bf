/* console.h - the page for people: /, and the files it is made of. They are inside the program, the
 * same for everybody and hold no secret, so no token is wanted for them: a browser could not send
 * one with the address that a person types. What the page then asks of REST wants one. */
#pragma once
#include "io/http/http.h"
#include "mcp/carrier/carrier.h"

/* Was it built in? */
bool console_there(void);
/* Is it for us to answer at this path? */
bool console_owns(struct span path);
/* Answers r. `v` is what the guard said. */
void console_handle(struct http_request *r, const struct guard_verdict *v);
