/* definition.h - what a server says of one tool or prompt. */
#pragma once
#include "reach.h"

/* A zeroed one is empty and valid. */
struct definition {
    struct pb_result *result;
    struct json_doc doc;
    struct json entry;     /* as the hub lists it; JSON_NONE: there is no hub */
    struct json item;      /* as the server wrote it; JSON_NONE: it is not known */
    struct json input;     /* the schema of its arguments, in `schema` if that is there */
    struct schema *schema; /* NULL: there is none, or it is no usable one */
};
void definition_done(struct definition *d);
#define AUTO_DEFINITION __attribute__((cleanup(definition_done)))

/* "tool" or "prompt" of the hub. An exit code; what is not CLI_OK has been told. */
MUST_CHECK int definition_find(struct definition *d, struct reach *s, const char *kind,
                               const char *item);
/* The same, and nothing is told when there is none. */
bool definition_look(struct definition *d, struct reach *s, const char *kind, const char *item);
/* The same, of which the server was asked now: for who finds that what is remembered does not do.
 */
MUST_CHECK int definition_refresh(struct definition *d, struct reach *s, const char *kind,
                                  const char *item);
/* Is it what the server said once? */
bool definition_is_old(const struct definition *d);
/* One of the "tools" or "prompts" of one server, by its own name. That it is not listed is no
 * error. */
MUST_CHECK int definition_ask(struct definition *d, struct pb_client *client, const char *list,
                              const char *name, struct pb_error *err);
