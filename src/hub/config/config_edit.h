/* config_edit.h - changing config.json of the home directory: one member is put in, replaced or
 * taken out, and every other byte of the file stays as it was. Written to a new file, 0600, that
 * takes the old one's place; an existing file keeps its mode, and a symbolic link stays one.
 * Whoever else changes the file this way at the same time waits. Nothing is written when nothing
 * would change. Blocking: not on the loop's thread.
 *
 *   config_edit.c        the changes that there are
 *   config_edit_text.c   a text of which one member changes
 *   config_edit_file.c   reading, locking and replacing the file */
#pragma once
#include "config.h"

/* `entry` is the JSON object of a server under "mcpServers". Makes file and directories (0700) when
 * they are missing. An entry of that name in another shape of the file goes. */
MUST_CHECK int config_save_server(const char *path, const char *name, struct span entry,
                                  struct pb_error *err);
/* -PB_E_NOT_FOUND says in which other file it is, if it is known. Looks in every shape. */
MUST_CHECK int config_remove_server(const char *path, const char *name, struct pb_error *err);
/* The same, and the keys that it has in the directory of secrets.h go, too. S1-63 */
MUST_CHECK int config_forget_server(const char *path, const char *secrets, const char *name,
                                    struct pb_error *err);
/* Sets one member of a server's entry, in whichever shape it is; `value` empty: takes it out. */
MUST_CHECK int config_set_member(const char *path, const char *name, const char *member,
                                 struct span value, struct pb_error *err);
/* Puts a text into a list of a server's entry (on), or takes it out; a list that is empty then goes
 * too. Several spellings of the list's name may be in use: the first of `members` (NULL-ended) that
 * is there is changed, else the first is made. */
MUST_CHECK int config_list_member(const char *path, const char *name, const char *const *members,
                                  const char *text, bool on, struct pb_error *err);
/* The same for a member of "modes". */
MUST_CHECK int config_save_mode(const char *path, const char *id, struct span mode,
                                struct pb_error *err);
/* One member of "settings"; `value` empty: takes it out. */
MUST_CHECK int config_set_setting(const char *path, const char *name, struct span value,
                                  struct pb_error *err);
/* A rule, JSON, for "policy": before the others or behind them. Whether it is one is for the caller
 * to know. */
MUST_CHECK int config_add_rule(const char *path, struct span rule, bool first,
                               struct pb_error *err);
/* The one with this number, from 1, is taken out, if it is `seen` (JSON; p NULL: whichever).
 * -PB_E_NOT_FOUND: the file has none; -PB_E_BUSY: it is another, somebody has changed them. */
MUST_CHECK int config_remove_rule(const char *path, size_t number, struct span seen,
                                  struct pb_error *err);
/* The whole of "policy", the rules about calls, in the place of `seen` (JSON; p NULL: of whatever
 * there is). -PB_E_BUSY: that is not what the file has. */
MUST_CHECK int config_save_policy(const char *path, struct span policy, struct span seen,
                                  struct pb_error *err);

/* What edits have read and written since config_edits_begin(), as digests; for programs in which
 * one thread makes them. Who vouches for a file vouches for these bytes, and not for what somebody
 * else writes in between. */
struct config_edits {
    size_t n;                          /* of those that changed the file */
    char before[2 * SHA256_BYTES + 1]; /* what the first one found; "": no file */
    char after[2 * SHA256_BYTES + 1];  /* what the last one wrote */
    bool mixed;                        /* somebody else has changed it between two of them */
};
void config_edits_begin(void);
const struct config_edits *config_edits(void);

/* The line on which the file defines the server, in whichever shape. -PB_E_NOT_FOUND: it does not,
 * or there is no file. */
MUST_CHECK int config_find_server(const char *path, const char *name, unsigned *line,
                                  struct pb_error *err);
