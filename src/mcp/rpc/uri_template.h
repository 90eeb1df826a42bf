/* uri_template.h - RFC 6570 templates, read backwards: which values of the variables give this URI?
 *
 * Understood: literals, {x}, {+x} (may hold reserved characters), {/x}, {/x*} (one or more
 * segments) and, at the end only, {?x,y} (each may be absent, in any order). No regular expression
 * is involved (CVE-2026-0621): what a match may cost is counted in steps, and whoever asks says how
 * many there are. Where more than one reading fits, earlier variables take as much as they can. */
#pragma once
#include "json/json.h"

struct uri_template;

/* -PB_E_INVALID tells what is wrong with it; -PB_E_LIMIT past MCP_TEMPLATE_PARTS_MAX or
 * MCP_URI_BYTES_MAX. */
MUST_CHECK int uri_template_new(struct uri_template **out, struct span text, struct pb_error *err);
void uri_template_free(struct uri_template *t);
AUTO_DEFINE(uri_template, uri_template_free)

/* Appends {"x":"value",...}, percent-decoded. False, with nothing appended, when the URI does not
 * fit: also when a value is no UTF-8 or holds a NUL after decoding. Takes what it has cost from
 * *steps: one for a look at the template's first and last literal, after that about one for each
 * byte of the URI and literal of the template. When there are not enough the answer is false and
 * *steps 0; MCP_TEMPLATE_STEPS_MAX are enough for all but templates that were made to cost. */
bool uri_template_match(const struct uri_template *t, struct span uri, size_t *steps,
                        struct buf *out);
