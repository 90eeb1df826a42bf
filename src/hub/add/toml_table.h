/* toml_table.h - what was read of a TOML text: tables in tables, in an arena. Inside toml*.c only.
 */
#pragma once
#include "base/base.h"

enum toml_made {
    TOML_IMPLIED, /* by a name that goes through it; may be opened once by a header */
    TOML_HEADER,  /* by [its.name] */
    TOML_DOTTED,  /* by a.b = 1: only keys of the same table add to it */
    TOML_CLOSED,  /* { … }: complete as it stands */
};

struct toml_member {
    struct toml_member *next;
    struct span key;          /* in the arena */
    struct toml_table *table; /* NULL: a value */
    struct span json;         /* of a value */
};

struct toml_table {
    struct toml_member *first, **end;
    enum toml_made made;
    unsigned depth;
};

struct toml_text {
    struct arena arena;
    struct toml_table *root;
    size_t n_keys;
};

void toml_text_init(struct toml_text *t);
struct toml_table *toml_table_new(struct toml_text *t, enum toml_made made, unsigned depth);
/* The errors of these do not know the line. */
MUST_CHECK int toml_put(struct toml_text *t, struct toml_table *in, struct span key,
                        struct span json, struct pb_error *err);
/* The table that a key of a name leads through, made when it is not there. */
MUST_CHECK int toml_enter(struct toml_text *t, struct toml_table **in, struct span key,
                          enum toml_made made, struct pb_error *err);
/* [name]: the table that the name leads to is opened; it may be once. */
MUST_CHECK int toml_open(struct toml_table *table, struct pb_error *err);
void toml_write(struct buf *out, const struct toml_table *t);
