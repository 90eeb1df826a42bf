/* schema_parts.h - what the files of the schema checker share; nobody else includes it.
 *
 * A schema text is taped once. walk (schema.c) finds every schema object in it and makes a
 * struct sub of each; then each sub gets its keywords compiled (schema_keywords.c) with the
 * references resolved (schema_ref.c). Checking (schema_check.c, schema_apply.c) only reads what
 * was compiled, so that one schema serves many threads; it remembers a failure as a place and a
 * keyword, and the text is made once, at the end (schema_text.c).
 *
 *   schema.c            a text to a compiled schema; checking a value with it
 *   schema_keywords.c   the table of keywords, and what each compiles to
 *   schema_ref.c        references, inside the one document
 *   schema_uri.c        references as URIs
 *   schema_names.c      sorted names of members
 *   schema_pattern.c    regular expressions
 *   schema_check.c      applying a schema to a value; keywords about a value itself
 *   schema_apply.c      keywords that apply other schemas
 *   schema_number.c     multiples, exactly
 *   schema_text.c       what does not fit and where, in words */
#pragma once
#include "doc.h"
#include "number.h"
#include "pattern.h"
#include "schema.h"
#include "tape.h"
#include <stdarg.h>

struct compiler;
struct check;
struct place;
struct failure;
struct text;
struct kw;

/* ---- Numbers (schema_number.c) ----------------------------------------------------------- */

enum { MULTIPLE_DIGITS_MAX = 400 }; /* more than any double has */

/* Exactly; the divisor is above 0 and has at most MULTIPLE_DIGITS_MAX digits. */
bool number_is_multiple(struct span number, struct span divisor);
/* The same bytes for the same number, however it is written. */
void number_bytes(struct span number, struct buf *out);

/* ---- Names: a sorted list of keys (schema_names.c) --------------------------------------- */

struct name {
    struct span key;
    uint32_t order; /* its place in the schema */
};

struct names {
    struct name *list; /* by length, then bytes */
    uint32_t n;
};

/* Sorts, and drops what is there twice. */
void names_sort(struct names *names);
const struct name *names_find(const struct names *names, struct span key);

/* ---- The compiled schema ----------------------------------------------------------------- */

/* The root, and every schema below it with an $id of its own. */
struct resource {
    struct span uri; /* absolute if it could be made so; without fragment */
    struct sub *root;
    struct map dynamic; /* $dynamicAnchor names, to subs */
    bool legacy;        /* its $schema names a draft before 2020-12 */
    struct resource *next;
};

/* One schema object or boolean. */
struct sub {
    const struct kw *kws;
    uint32_t n;
    uint32_t at;             /* its node in the schema text */
    const struct sub *alias; /* a lone $ref: where it leads */
    struct resource *resource;
    bool tracks; /* has unevaluatedItems or unevaluatedProperties */
};

struct sub_list {
    struct sub **list;
    uint32_t n;
};

/* properties, patternProperties and additionalProperties of one schema */
struct members {
    struct names names;
    struct sub **subs; /* by order of names */
    const struct pattern **patterns;
    struct sub **pattern_subs;
    uint32_t n_patterns;
    struct sub *rest; /* may be NULL */
};

/* prefixItems and items; in old drafts items and additionalItems */
struct elements {
    struct sub_list first;
    struct sub *rest; /* may be NULL */
};

struct contains {
    struct sub *sub;
    uint64_t min, max;
};

struct condition {
    struct sub *test, *yes, *no; /* yes and no may be NULL */
};

/* dependentSchemas, dependentRequired and dependencies: per trigger one of both */
struct depends {
    struct names triggers;
    struct sub **subs;
    struct names *required;
};

struct dynamic {
    struct sub *sub;  /* where a plain $ref would lead */
    struct span name; /* empty: nothing dynamic about it */
};

#define TYPE(t) (1u << JSON_##t)
enum { TYPE_INTEGER = 1 << 8 }; /* beside the bits of enum json_type */

/* One keyword of one sub, ready to be applied. */
struct kw {
    const struct keyword *row;
    union {
        bool flag;
        uint64_t count;
        uint32_t types;
        struct json value; /* in the schema text */
        const struct pattern *pattern;
        const struct sub *sub;
        struct sub_list subs;
        struct names names;
        const struct members *members;
        const struct elements *elements;
        const struct contains *contains;
        const struct condition *condition;
        const struct depends *depends;
        struct dynamic dynamic;
    };
};

/* Where the schemas lie in a keyword's value. */
enum shape {
    SHAPE_NONE,
    SHAPE_ONE,
    SHAPE_LIST,
    SHAPE_MAP,
    SHAPE_ONE_OR_LIST, /* the list only in old drafts */
    SHAPE_MIXED_MAP,   /* schemas and arrays of strings */
    SHAPE_OLD,         /* one, and only in old drafts */
};

/* The order of application in one sub: what is cheap and says most first, unevaluated* last.
 * Each row that is applied has its own. */
enum rank {
    RANK_FALSE,
    RANK_TYPE,
    RANK_CONST,
    RANK_ENUM,
    RANK_MINIMUM,
    RANK_MAXIMUM,
    RANK_EXCLUSIVE_MINIMUM,
    RANK_EXCLUSIVE_MAXIMUM,
    RANK_MULTIPLE_OF,
    RANK_MIN_LENGTH,
    RANK_MAX_LENGTH,
    RANK_PATTERN,
    RANK_MIN_ITEMS,
    RANK_MAX_ITEMS,
    RANK_MIN_PROPERTIES,
    RANK_MAX_PROPERTIES,
    RANK_REQUIRED,
    RANK_DEPENDENT_REQUIRED,
    RANK_PROPERTY_NAMES,
    RANK_MEMBERS,
    RANK_ELEMENTS,
    RANK_UNIQUE_ITEMS,
    RANK_CONTAINS,
    RANK_REF,
    RANK_RECURSIVE_REF,
    RANK_DYNAMIC_REF,
    RANK_DEPENDENCIES,
    RANK_DEPENDENT_SCHEMAS,
    RANK_ALL_OF,
    RANK_IF,
    RANK_ANY_OF,
    RANK_ONE_OF,
    RANK_NOT,
    RANK_UNEVALUATED, /* from here on */
    RANK_UNEVALUATED_ITEMS = RANK_UNEVALUATED,
    RANK_UNEVALUATED_PROPERTIES,
    RANK_COUNT
};

/* What keyword_find() knows about a keyword. */
struct keyword {
    const char *name;
    enum shape shape;
    enum rank rank;
    uint32_t on; /* bits of the types it says something about */
    /* Fills k from the keyword's value v in the schema object `in`; sets k->row to NULL when
     * there is nothing to apply. NULL: the keyword only means something to others. */
    int (*compile)(struct compiler *c, struct kw *k, struct json v, struct json in);
    int (*check)(struct check *c, const struct kw *k, struct place *p);
    void (*say)(struct text *t, const struct failure *f);
};

const struct keyword *keyword_find(struct json member);
/* What a schema that is just `false` applies. */
extern const struct kw keyword_false;

struct schema {
    char *text;
    struct json_doc doc;
    struct arena arena;
    struct sub *root;
    struct sub **subs; /* all of them, by their place in the text */
    size_t n_subs;
    struct resource *resources;
    struct map patterns; /* by their text */
    bool dynamic;        /* has a $dynamicRef */
};

/* ---- Compiling --------------------------------------------------------------------------- */

struct compiler {
    struct schema *s;
    struct pb_error *err;
    struct sub **by_node; /* per node of the text; NULL: no schema there */
    struct sub **subs;    /* in order of discovery */
    size_t n_subs, cap;
    const struct sub *now; /* whose keywords are being compiled */
    size_t pattern_bytes, uri_bytes;
    struct map uris;    /* uri to resource */
    struct map anchors; /* "uri#name" to sub */
    struct map indexed; /* node and key to node: see get_child() */
    struct buf scratch; /* for keys of these maps */
};

/* -PB_E_INVALID with the place of v in the schema. */
int refuse(struct compiler *c, struct json v, const char *fmt, ...) PRINTF(3, 4);
/* Finds the schemas in v, which lies in the resource. (schema.c) */
MUST_CHECK int schema_walk(struct compiler *c, struct json v, struct resource *in);
/* The sub of a schema that the walk has found. */
struct sub *schema_sub(struct compiler *c, struct json v);

/* $id, $anchor and $dynamicAnchor of the schema v, whose sub is s; may change s->resource.
 * (schema_ref.c) */
MUST_CHECK int ref_declare(struct compiler *c, struct sub *s, struct json v);
/* Where $ref or $dynamicRef `ref` of c->now leads. *name, if not NULL, becomes the anchor name
 * when the target was made by $dynamicAnchor. */
MUST_CHECK int ref_resolve(struct compiler *c, struct json ref, struct sub **out,
                           struct span *name);
/* The value of a hexadecimal digit, or -1. (schema_uri.c) */
int hex_digit(char c);
/* Absolute form of `ref` seen from `base` (RFC 3986, 5.2), without fragment. (schema_uri.c) */
void uri_resolve(struct buf *out, struct span base, struct span ref);

/* ---- Checking ---------------------------------------------------------------------------- */

/* Why a value is refused. Says all there is to say without the value still being looked at. */
struct failure {
    const struct kw *k;
    struct json where;
    uint64_t got, also;
};

enum check_limit { CHECK_NO_LIMIT, CHECK_DEPTH, CHECK_STEPS, CHECK_PATTERN };

struct check {
    const struct schema *s;
    uint64_t steps; /* left */
    struct arena arena;
    struct pattern_run run;
    struct failure why;
    struct failure first; /* of the first alternative, when why is an anyOf or oneOf */
    enum check_limit limit;
    struct json limit_at;
};

/* Which members or elements of one value some keyword has looked at. */
struct seen {
    uint64_t *bits, small;
    size_t n;
};

/* One schema being applied to one value. The chain of places is the dynamic scope. */
struct place {
    const struct place *up;
    const struct sub *sub;
    struct json v;
    struct seen *seen; /* NULL: nobody asks */
    uint32_t depth;
    enum json_type type;
};

/* All of these return 0, -PB_E_INVALID (c->why is set) or -PB_E_LIMIT. (schema_check.c) */
int check_apply(struct check *c, const struct place *up, const struct sub *s, struct json v,
                struct seen *seen);
int check_spend(struct check *c, struct json v, uint64_t steps);
int check_miss(struct check *c, const struct kw *k, struct json where, uint64_t got);
/* The characters of a string or key, decoded if they must be. 0 or -PB_E_LIMIT. */
int check_chars(struct check *c, struct json string, struct span *out);
/* 1 or 0 or -PB_E_LIMIT */
int check_matches(struct check *c, const struct pattern *pattern, struct json string);

/* The checks of the keyword table; assertions in schema_check.c ... */
typedef int check_fn(struct check *c, const struct kw *k, struct place *p);
check_fn check_false, check_type, check_const, check_enum, check_minimum, check_maximum,
    check_exclusive_minimum, check_exclusive_maximum, check_multiple_of, check_min_length,
    check_max_length, check_pattern, check_min_items, check_max_items, check_min_properties,
    check_max_properties, check_unique_items;
/* ... and applicators and what looks at keys in schema_apply.c. */
check_fn check_required, check_dependent, check_property_names, check_members, check_elements,
    check_contains, check_ref, check_dynamic_ref, check_all_of, check_if, check_any_of,
    check_one_of, check_not, check_unevaluated_items, check_unevaluated_properties;

/* A set of numbers below n; v is only for the message. */
int seen_init(struct check *c, struct seen *s, size_t n, struct json v);
void seen_mark(struct seen *s, size_t i);
void seen_mark_all(struct seen *s);
bool seen_has(const struct seen *s, size_t i);
void seen_merge(struct seen *to, const struct seen *from);

/* The key of a member as a string value. */
static inline struct json member_name(struct json member)
{
    return (struct json){ member.doc, member.at - 1 };
}

/* ---- Telling (schema_text.c) ------------------------------------------------------------- */

/* "/user/age" of a value or key below root; `name` when it is root itself. Cut to fit. */
struct text {
    char *p;
    size_t n, cap;
};
void text_add(struct text *t, const char *fmt, ...) PRINTF(2, 3);
void text_addv(struct text *t, const char *fmt, va_list ap) PRINTF(2, 0);
void text_path(struct text *t, struct json root, struct json v, const char *name);
void text_end(struct text *t);
int check_tell(const struct check *c, struct json root, struct pb_error *err);

typedef void say_fn(struct text *t, const struct failure *f);
say_fn say_false, say_type, say_const, say_enum, say_minimum, say_maximum, say_exclusive_minimum,
    say_exclusive_maximum, say_multiple_of, say_min_length, say_max_length, say_pattern,
    say_min_items, say_max_items, say_min_properties, say_max_properties, say_required,
    say_dependent, say_members, say_elements, say_unique_items, say_contains, say_any_of,
    say_one_of, say_not;
