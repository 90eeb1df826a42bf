/* scrub.h - a text without its secrets. */
#pragma once
#include "finder.h"
#include "json/json.h"

struct scrub_options {
    const struct finder *finder;
    bool all;               /* nothing of it may be shown */
    struct json_out *where; /* may be NULL: see vault_redact() */
};
/* False: the text is as it was. */
bool scrub(const struct scrub_options *o, struct buf *text);

/* ---- for the files of this noun ---- */

/* A container that is being read. */
struct scrub_level {
    bool object;
    bool secret;      /* its name says that all in it is */
    bool of_schemas;  /* its members are named as what they describe: "properties" */
    bool named_value; /* its "name" or "key" says that its "value" is */
    bool looked;      /* ahead, for such a name */
    struct span key;  /* of the member that is read, decoded and without secrets */
    size_t index;     /* of the element that is read */
};

struct scrub_run {
    const struct scrub_options *o;
    struct arena arena;
    /* Where we are; of JSON in a string the string is the place. */
    struct scrub_level levels[JSON_DEPTH_MAX];
    unsigned depth, nest, told_depth;
    size_t steps; /* that may still be taken: hits_steps() */
    unsigned told;
    uint64_t more;
    char at[REDACT_AT_MAX]; /* the last place told, and why */
    enum hit_why why;
};

/* Would anything be found? Quick. Takes from the steps. */
bool scrub_suspects(const struct finder *f, struct span text, size_t *steps);
/* Appends the text to `out` if anything is found in it; false: nothing was, and nothing appended.
 */
bool scrub_text(struct scrub_run *r, struct span text, struct buf *out);
/* The same for a text that may be JSON as a whole (scrub_json.c); *is_json tells. */
bool scrub_json(struct scrub_run *r, struct span text, struct buf *out, bool *is_json);
/* Notes that something was hidden here. */
void scrub_tell(struct scrub_run *r, enum hit_why why);
