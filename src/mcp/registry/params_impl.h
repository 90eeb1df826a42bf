/* params_impl.h - how a list of parameters is kept; for the params*.c files only.
 *
 *   params.c         typed parameters, and their JSON Schema
 *   params_apply.c   arguments made to fit them */
#pragma once
#include "params.h"

struct param {
    const char *name; /* NULL for the element of an array */
    struct span key;
    enum pb_type type;
    const char *description, *header;
    bool optional;        /* may be absent, with or without a fallback */
    struct span fallback; /* normalised JSON; empty: none */
    bool open;            /* an object or array that takes any content */
    struct param *of;     /* one element, or the properties */
    size_t n_of;
    const char *const *options;
    size_t n_options;
};

struct params {
    struct arena arena;
    struct param root; /* PB_OBJECT */
};

/* Where in the arguments we are; lives on the stack of the walk. */
struct argument_place {
    const struct argument_place *up;
    const char *key; /* NULL: an element */
    size_t index;
};

enum { PLACE_CHARS = 128 };

/* "user.tags[2]"; long paths lose their head, because the end tells more. */
void place_print(const struct argument_place *at, char out[static PLACE_CHARS]);

/* Appends what v (JSON_NONE: absent) becomes as a value of p. */
MUST_CHECK int param_write(const struct param *p, struct json v, struct buf *out,
                           const struct argument_place *at, struct pb_error *err);
