/* describe.h - one tool or prompt, with all that its server says of it. */
#pragma once
#include "definition.h"

/* "server.tool" of the hub, or one of the server that the command line names. Exit codes; --json
 * prints the definition as it is. */
int describe_tool(const struct cli *cli, const char *item);
int describe_prompt(const struct cli *cli, const char *item);
/* "(name, other?)": what a prompt takes; "" when that is nothing. */
void describe_arguments(struct buf *out, struct json prompt);
