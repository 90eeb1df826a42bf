/* uri_template.h - RFC 6570 templates, read backwards: which values of the variables give this URI?
 *
 * Understood: literals, {x}, {+x} (may hold reserved characters), {/x}, {/x*} (one or more
 * segments) and, at the end only, {?x,y} (each may be absent, in any order). No regular expression
 * is involved: time is at most parts x length, whatever the text (CVE-2026-0621). Where more than
 * one reading fits, earlier variables take as much as they can. */
#pragma once
#include "json/json.h"

struct uri_template;

/* -PB_E_INVALID tells what is wrong with it; -PB_E_LIMIT past MCP_TEMPLATE_PARTS_MAX or
 * MCP_URI_BYTES_MAX. */
MUST_CHECK int uri_template_new(struct uri_template **out, struct span text, struct pb_error *err);
void uri_template_free(struct uri_template *t);
AUTO_DEFINE(uri_template, uri_template_free)

/* Appends {"x":"value",...}, percent-decoded. False, with nothing appended, when the URI does not
 * fit: also when a value is no UTF-8 or holds a NUL after decoding. */
bool uri_template_match(const struct uri_template *t, struct span uri, struct buf *out);

/* Does it have such a variable? */
bool uri_template_has(const struct uri_template *t, struct span name);
