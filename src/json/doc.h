/* doc.h - reading: a checked text as a tape of values.
 *
 * json_parse() accepts exactly RFC 8259: valid UTF-8, one value, no trailing commas, no
 * comments, no BOM, depth up to JSON_DEPTH_MAX. An escaped lone surrogate is legal and relayed as
 * written; decoding shows it as U+FFFD. Texts up to 4 GiB - 1.
 *
 * `keep_depth` bounds the tape, not the check: containers that lie at that depth (the root is
 * depth 0) are checked to the end but recorded as one value whose inside is not taped. To look
 * into such a value, parse its json_text() again. So a 10 MB result costs one scan and a handful
 * of tape entries. json_get(), json_first() and json_len() of such a value assert. A tape has at
 * most JSON_NODES_MAX entries, one for each value and one for each key: who reads only some levels
 * of what others wrote says so, lest a large text be refused.
 *
 * `unique_depth` refuses duplicate keys (compared after unescaping) in objects at depths below
 * it: 0 checks none, 1 only the root object, JSON_ALL every object. It reaches containers that
 * keep_depth does not tape as well; keys of objects that are open there count as entries. */
#pragma once
#include "base/base.h"

enum json_type {
    JSON_NONE, /* absent: what json_get() gives for a key that is not there */
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

enum { JSON_ALL = 0x7fffffff };

/* One tape entry. For the functions below, which are inline because a message is asked for its
 * parts dozens of times; the meaning of `info` is the business of tape.h. */
struct json_node {
    uint32_t start, end; /* bytes of the text, quotes and brackets included */
    uint32_t next;       /* the entry after this value and all that is in it */
    uint32_t info;       /* the type in the lowest three bits */
};

/* A zeroed struct json_doc is valid. Reuse it: the tape's memory is kept between parses. */
struct json_doc {
    struct json_node *nodes;
    uint32_t n, cap;
    struct span text; /* borrowed: must stay where it is while values are used */
};

struct json_opts {
    int keep_depth;   /* 0 means JSON_ALL */
    int unique_depth; /* 0 means none */
};

/* A value: a place on a tape. Pass it by value; it borrows from the doc. A zeroed one is
 * JSON_NONE. */
struct json {
    const struct json_doc *doc;
    uint32_t at;
};

#define AUTO_JSON __attribute__((cleanup(json_doc_done)))

/* On failure -PB_E_INVALID and a text such as "line 1, column 8: expected ':' after a key"; the
 * doc is then empty. -PB_E_LIMIT past the depth, the entries or 4 GiB. opts may be NULL. */
MUST_CHECK int json_parse(struct json_doc *doc, struct span text, const struct json_opts *opts,
                          struct pb_error *err);
void json_doc_done(struct json_doc *doc);
/* Gives the tape back if it has grown past `keep` bytes; the doc is empty afterwards. */
void json_doc_trim(struct json_doc *doc, size_t keep);
struct json json_root(const struct json_doc *doc);

static inline enum json_type json_type(struct json v)
{
    return v.doc ? (enum json_type)(v.doc->nodes[v.at].info & 7) : JSON_NONE;
}
static inline bool json_is(struct json v, enum json_type t) { return json_type(v) == t; }
/* "null", "boolean", "number", "string", "array", "object"; "nothing" for JSON_NONE. */
const char *json_type_name(struct json v);
/* The same with its article, for messages: "a string", "an object", "null". */
const char *json_type_phrase(struct json v);

/* The value as it was written, quotes and brackets included. Empty for JSON_NONE. */
static inline struct span json_text(struct json v)
{
    const struct json_node *n;

    if (!v.doc)
        return (struct span){ 0 };
    n = &v.doc->nodes[v.at];
    return span_make(v.doc->text.p + n->start, n->end - n->start);
}

/* Children of a taped container; JSON_NONE when there is none or v is no such container. Of
 * members with the same key the first is found. */
struct json json_get_span(struct json object, struct span key);
/* Several at once, in one walk: `which` tells the number of a key, and out[i] becomes the value of
 * number i; n or more: a key that is not asked for. */
typedef size_t json_which_fn(struct span key);
void json_get_all(struct json object, json_which_fn *which, size_t n, struct json *out);
/* Inline: the length of a literal is known when it is compiled. */
static inline struct json json_get(struct json object, const char *key)
{
    return json_get_span(object, span_of(key));
}
struct json json_item(struct json array, size_t i);
/* Elements of an array, members of an object; 0 for the rest. */
size_t json_len(struct json v);
struct json json_first(struct json container);
struct json json_next(struct json child);
/* The key of a member reached by json_first()/json_next()/json_get(), as written, without its
 * quotes. json_key_str() decodes it. */
struct span json_key(struct json member);
struct span json_key_str(struct json member, struct arena *arena);
bool json_key_is_span(struct json member, struct span key);
static inline bool json_key_is(struct json member, const char *key)
{
    return json_key_is_span(member, span_of(key));
}

#define JSON_FOREACH(v, container) \
    for (struct json v = json_first(container); json_type(v) != JSON_NONE; (v) = json_next(v))

/* A string's characters: a range of the text when nothing is escaped, else decoded into the
 * arena. May hold NUL bytes. Empty for anything but a string. */
struct span json_str(struct json string, struct arena *arena);
/* The same, terminated, in the arena; NULL for anything but a string or if it holds a NUL. */
char *json_cstr(struct json string, struct arena *arena);
/* Is it this string, after unescaping? */
bool json_str_is_span(struct json v, struct span s);
static inline bool json_str_is(struct json v, const char *s)
{
    return json_str_is_span(v, span_of(s));
}
bool json_bool(struct json v, bool fallback);

/* Whole numbers exactly, or failure; 3.0 and 3e2 are whole. Never rounds. */
MUST_CHECK int json_int(struct json v, int64_t *out, struct pb_error *err);
MUST_CHECK int json_uint(struct json v, uint64_t *out, struct pb_error *err);
/* The nearest double; -PB_E_LIMIT when it is out of range. */
MUST_CHECK int json_double(struct json v, double *out, struct pb_error *err);

/* Equality as JSON Schema means it: 1 equals 1.0, key order does not matter. Fully taped values
 * only; both may be of different docs. */
bool json_equal(struct json a, struct json b);

/* The same value in one spelling: no white space, keys sorted by their decoded bytes, strings
 * with minimal escapes, numbers as written. For digests. Fully taped values only. */
void json_canonical(struct buf *out, struct json v);

/* "line 3, column 14" of a byte offset, for messages about files. */
void json_position(struct span text, size_t offset, unsigned *line, unsigned *column);
