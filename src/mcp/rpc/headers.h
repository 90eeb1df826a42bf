/* headers.h - the HTTP header rules of the modern era, both ways: Mcp-Name and Mcp-Param-*
 * mirror parts of the body, so that intermediaries can route without parsing. */
#pragma once
#include "json/json.h"

/* The spelling of a value in a header: as it is when printable ASCII without blanks at the ends
 * and not looking like the encoded form; else =?base64?...?=. */
void header_encode(struct buf *out, struct span value);
/* The value behind a header; false for non-canonical base64 or bad UTF-8 inside the markers. The
 * result may point into `text` or into the arena. */
bool header_decode(struct span text, struct span *out, struct arena *arena);

/* One property that is mirrored: the header's name (without "Mcp-Param-") and where its value
 * lies in the arguments. */
struct header_param {
    struct span header;      /* in the arena of the list */
    const struct span *path; /* decoded keys from the root of the arguments */
    size_t depth;
    enum json_type type; /* JSON_STRING, JSON_NUMBER (integer), JSON_TRUE (boolean) */
};

struct header_params {
    struct header_param *items;
    size_t n;
    struct arena arena;
};

/* Collects the x-mcp-header annotations of an input schema. -PB_E_INVALID, naming the culprit, when
 * one breaks the rules (bad token, twice, wrong type, not reachable by properties alone): such a
 * tool must not be offered. A schema without annotations gives n = 0. */
MUST_CHECK int header_params_read(struct header_params *out, struct span schema,
                                  struct pb_error *err);
void header_params_done(struct header_params *p);

/* Client: appends "Mcp-Param-X: value" lines, each as one terminated string in `arena`, to be sent
 * with these arguments; absent and null ones have none. `emit` gets each. */
MUST_CHECK int header_params_write(const struct header_params *p, struct json arguments,
                                   struct arena *arena, void (*emit)(void *ctx, const char *line),
                                   void *ctx, struct pb_error *err);
/* Server: do the headers say what the arguments say? Integers compare as numbers. The text names
 * the header. */
MUST_CHECK int header_params_check(const struct header_params *p, struct json arguments,
                                   struct span (*header)(void *ctx, const char *name), void *ctx,
                                   struct pb_error *err);
