/* vault.h - all secrets that the program knows, and how they are kept out of what it writes down.
 * Nothing that is recorded is written before this has seen it. A secret stays for as long as the
 * program runs: what was said before it was changed may be recorded after.
 *
 * Secrets come from any thread; texts are looked at on any other. What is found in a text:
 *
 *   by value     what the vault knows, and what is half of it, in the ways people write it: as it
 *                is, in JSON, URLs, HTML, base64 and hex
 *   by name      what JSON, variables, options, headers and URLs call a password or a key
 *   by pattern   keys of well known services, JSON Web Tokens, private keys */
#pragma once
#include "hub/spec/spec.h"
#include "json/json.h"

struct vault;

/* Knows what looks like a secret in our own environment. */
struct vault *vault_new(void);
/* Overwrites the secrets. Nobody uses it any more. */
void vault_free(struct vault *v);
AUTO_DEFINE(vault, vault_free)

/* One that is known to be a secret: a token, a key that was just given. Shorter than REDACT_MIN it
 * stays in texts. Copied; v may be NULL. */
void vault_add(struct vault *v, struct span secret);
/* All of a spec with its keys in it (keys_apply()), as redact_add_spec(). v may be NULL. */
void vault_add_spec(struct vault *v, const struct spec *s);

/* Puts "***" in the place of secrets. JSON stays JSON (a number becomes a string), UTF-8 stays
 * UTF-8. Appends {"at":"/json/pointer","why":"value"|"name"|"pattern"} to `where`, which is in an
 * array or NULL, for each place, at most REDACT_TOLD_MAX and then {"more":N}; of text that is no
 * JSON "at" is "". False: the text is as it was. Past VAULT_SECRETS_MAX or VAULT_BYTES_MAX
 * nothing of the text is left. `vault` is a struct vault: this is what a store
 * calls. */
bool vault_redact(void *vault, struct buf *text, struct json_out *where);
/* Another number whenever the vault knows more. Any thread; what vault_redact() says from then on
 * is by what this number stands for, or by more. */
uint64_t vault_version(void *vault);
