/* redact.h - the secrets that a server was given, and how they are taken out of what it says:
 * servers like to print them. A secret is found as it is, line by line, and as JSON, URLs and
 * base64 write it. One that is shorter than REDACT_MIN stays: it would be found everywhere. */
#pragma once
#include "hub/spec/spec.h"

struct redact;

struct redact *redact_new(void);
/* Overwrites the secrets. */
void redact_free(struct redact *r);
AUTO_DEFINE(redact, redact_free)

/* All secrets of a spec with its keys in it (keys_apply()): what its login names, and what looks
 * like one in variables (also those that a program may inherit), headers, arguments and the URL.
 * Nothing of the spec is kept. */
void redact_add_spec(struct redact *r, const struct spec *s);
/* Puts "***" in their place; the text only ever gets shorter. `cut`: it was longer, so that a
 * secret may begin at its end. Past REDACT_WORDS_MAX or REDACT_BYTES_MAX nothing of the text is
 * left. NULL has no secrets. */
void redact_text(const struct redact *r, char *text, bool cut);
/* The same for the text of an error, which is cut where its room ends. */
void redact_error(const struct redact *r, struct pb_error *err);
