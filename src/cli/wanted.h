/* wanted.h - what a schema wants of a value, as far as a person can be told it or typing be fitted
 * to it: the kinds it takes, in its own order; the members of an object; the items of an array.
 * References and alternatives are looked into, at most WANTED_STEPS_MAX of them. What is not
 * understood here is left to schema_check(). */
#pragma once
#include "cli.h"

enum wanted_kind {
    WANTED_ANY, /* it does not say */
    WANTED_CONST,
    WANTED_ENUM,
    WANTED_NULL,
    WANTED_BOOLEAN,
    WANTED_INTEGER,
    WANTED_NUMBER,
    WANTED_STRING,
    WANTED_ARRAY,
    WANTED_OBJECT,
};

struct wanted_one {
    struct json place; /* the schema that says it */
    enum wanted_kind kind;
};

struct wanted {
    struct wanted_one list[WANTED_KINDS_MAX];
    size_t n;
    bool more; /* than are in the list */
};

/* Where it is looked, passed by value. */
struct wanted_from {
    const struct schema *schema; /* NULL: references lead nowhere */
    int *left; /* steps for all that is looked for, counted down; NULL: any number of looks */
};
/* Are there no steps left? Then nothing more is found. */
bool wanted_is_over(struct wanted_from from);
/* Text of the schema that was told counts as well: a schema can repeat it as it likes. */
void wanted_told(struct wanted_from from, size_t bytes);

void wanted_of(struct wanted *out, struct wanted_from from, struct json place);
bool wanted_takes(struct wanted_from from, struct json place, enum wanted_kind kind);
/* A keyword of the schema at `place`, or of what it refers to: "description", "default". */
struct json wanted_word(struct wanted_from from, struct json place, const char *keyword);

/* The schema of a member; JSON_NONE: it is not named. */
struct json wanted_member(struct wanted_from from, struct json place, struct span key);
/* Each member that is named: `fn` with its key and its schema. */
typedef void wanted_member_fn(void *ctx, struct span key, struct json place);
void wanted_members(struct wanted_from from, struct json place, wanted_member_fn *fn, void *ctx,
                    struct arena *a);
bool wanted_requires(struct wanted_from from, struct json place, struct span key);
/* May it be seen by nobody: a password, or "writeOnly"? One alternative that says so is enough. */
bool wanted_is_secret(struct wanted_from from, struct json place);
/* Does it refuse every member that it does not name? */
bool wanted_is_closed(struct wanted_from from, struct json place);
/* The values it can be chosen from: those of "enum", or of "oneOf" or "anyOf" if each is a schema
 * with "const"; JSON_NONE: it is no choice. */
struct json wanted_choices(struct wanted_from from, struct json place);
/* Of an array, the schema of the item number `i`; JSON_NONE: anything. */
struct json wanted_item(struct wanted_from from, struct json place, size_t i);
