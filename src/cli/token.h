/* token.h - what HTTP clients of the daemon must send: where it comes from, and who must not see
 * it. */
#pragma once
#include "face/caller/caller.h"
#include "hub_flags.h"

/* First of all: takes PATCHBAY_TOKEN out of the environment, so that neither a server nor anybody
 * who looks at our process sees it. What a config says about ${PATCHBAY_TOKEN} is still filled in:
 * this is the config_request.env for that. */
void token_hide(void);
/* Puts it back, for a program that becomes what it was started as. */
void token_show(void);
const char *token_env(void *ctx, const char *name);

/* The token of a daemon that says where it has it from; empty: it cannot be known here. */
MUST_CHECK int token_of(const char *from, struct buf *out, struct pb_error *err);
/* The address at which the console opens with this token (may be empty). It is in the fragment,
 * which a browser keeps to itself. */
void token_link(struct buf *out, const char *url, const char *token);

/* Further tokens: "tokens" in the home directory, readable by the user only. A file that is not
 * there has none. */
char *token_list_path(const struct cli *cli);
MUST_CHECK int token_list_read(const char *path, struct tokens **out, struct pb_error *err);
/* fn changes them; less than 0: and nothing is kept. One at a time, whoever else wants to. */
typedef int token_change_fn(void *ctx, struct tokens *t, struct pb_error *err);
MUST_CHECK int token_list_change(const char *path, token_change_fn *fn, void *ctx,
                                 struct pb_error *err);

/* --token, PATCHBAY_TOKEN, the file "token" of the home directory, or a new one that is kept there.
 * *from: which it was. */
MUST_CHECK int token_find(const struct cli *cli, struct buf *out, struct buf *from,
                          struct pb_error *err);
