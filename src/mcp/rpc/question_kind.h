/* question_kind.h - what a server can ask of a client. A client says which kinds it answers; a set
 * of them is a mask with the bit 1U << kind for each. */
#pragma once
#include "json/json.h"

enum question_kind {
    QUESTION_FORM,
    QUESTION_URL,
    QUESTION_MODEL,
    QUESTION_MODEL_TOOLS, /* the model may call tools */
    QUESTION_ROOTS,
    QUESTION_KINDS
};

/* `params` may be JSON_NONE. QUESTION_KINDS: nothing that a client can be asked. */
enum question_kind question_kind_of(struct span method, struct json params);
const char *question_method(enum question_kind kind);
/* All that are asked with this method. */
unsigned question_kinds_of(struct span method);
