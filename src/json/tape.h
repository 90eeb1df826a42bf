/* tape.h - the tape's own layout, for the files of this room only.
 *
 * Values lie in the order of the text. A member of an object is two entries: its key (a string
 * with NODE_NAME), then its value (with NODE_KEYED). A container is followed by its children and
 * knows where they end. */
#pragma once
#include "doc.h"
#include <assert.h>

enum {
    NODE_TYPE = 7,         /* mask of enum json_type */
    NODE_ESCAPED = 1 << 3, /* a string with at least one backslash */
    NODE_OPAQUE = 1 << 4,  /* a container whose inside was checked but not taped */
    NODE_KEYED = 1 << 5,   /* a member's value: its key is the entry before */
    NODE_LAST = 1 << 6,    /* no sibling follows */
    NODE_NAME = 1 << 7,    /* a key */
    NODE_COUNT_SHIFT = 8,  /* above: the number of children */
};

_Static_assert(JSON_NODES_MAX < 1 << (32 - NODE_COUNT_SHIFT), "a number of children fits");

_Static_assert(sizeof(struct json_node) == 16, "a tape is as small as it can be");

static inline const struct json_node *node_of(struct json v) { return &v.doc->nodes[v.at]; }

static inline enum json_type node_type(const struct json_node *n)
{
    return (enum json_type)(n->info & NODE_TYPE);
}

/* A string's characters as written, without the quotes. */
static inline struct span node_inside(const struct json_doc *doc, const struct json_node *n)
{
    return (struct span){ doc->text.p + n->start + 1, n->end - n->start - 2 };
}
