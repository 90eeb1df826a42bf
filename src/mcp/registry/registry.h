/* registry.h - the tools, resources, templates and prompts that a program registered, and the
 * provider that answers with them: lists, calls, reads, prompts, completion, tasks. */
#pragma once
#include "mcp/serve/serve.h"
#include "params.h"

struct registry;

/* Running calls are told that they are cancelled, and their answers are dropped. */
void registry_free(struct registry *reg);

/* Its ctx is the registry. */
extern const struct provider registry_provider;
