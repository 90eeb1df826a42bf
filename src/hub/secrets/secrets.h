/* secrets.h - keys of servers, each in a file of its own: mcp_<uuid>.key, or mcp_<uuid>_<NAME>.key
 * for one of several. The directory is 0700, a file 0600, and links in it are not followed.
 * Blocking: not on the loop's thread. No message holds a key.
 *
 *   secrets.c      the files
 *   keys.c         the keys that one server wants
 *   collect.c      which texts around a server are secrets
 *   wordlist.c     what is looked for
 *   written.c      a secret in all ways to write it
 *   finder.c       words found in texts
 *   hits.c         what was found
 *   named.c        values whose names say that they are secrets
 *   traces.c       what is known by its surroundings or its shape
 *   redact.c       the secrets of one server, taken out of what it says
 *   vault.c        those of all, and what else must not be recorded
 *   scrub.c        a text without them
 *   scrub_json.c   JSON without them */
#pragma once
#include "base/base.h"
#include "keys.h"
#include "redact.h"
#include "vault.h"

/* A buffer whose bytes are overwritten before they are given back. It has room for the longest key
 * from the beginning, so that no copy stays behind where it grew. */
#define AUTO_SECRET __attribute__((cleanup(secret_done)))
void secret_done(struct buf *b);

/* Letters, digits, '_' and '-': it becomes part of a file's name. */
MUST_CHECK int secrets_check_name(struct span name, struct pb_error *err);

/* `name` NULL: the server's only key. Makes the directory; replaces a key that is there as a whole.
 * S1-41, S1-42, S1-46 */
MUST_CHECK int secrets_store(const char *dir, const char *uuid, const char *name, struct span key,
                             struct pb_error *err);
/* -PB_E_NOT_FOUND: there is none. `out` is secret_begin(). S1-43, S1-45 */
MUST_CHECK int secrets_load(const char *dir, const char *uuid, const char *name, struct buf *out,
                            struct pb_error *err);
/* One that is not there is no error. S1-44 */
MUST_CHECK int secrets_delete(const char *dir, const char *uuid, const char *name,
                              struct pb_error *err);
/* All keys of a server. */
MUST_CHECK int secrets_forget(const char *dir, const char *uuid, struct pb_error *err);

/* A file of the user's own, "~" at its beginning filled in, without white space around what it
 * holds. -PB_E_NOT_FOUND, and EACCES in err->sys, with the path. S1-47..49 */
MUST_CHECK int secrets_read_keyfile(const char *path, struct buf *out, struct pb_error *err);
