/* tokens.h - tokens beside the daemon's own: each has a name and may do one thing. They are kept as
 * digests, in a file of JSON: {"tokens":[{"name","may","sha256","created"}]}. */
#pragma once
#include "json/json.h"

/* What a request needs, and what a token may, as bits. */
enum token_may {
    TOKEN_MCP = 1,  /* what MCP clients ask for; no program is started that is not configured */
    TOKEN_READ = 2, /* what REST tells, and its events */
    TOKEN_REST = 4, /* what REST changes */
    TOKEN_ALL = TOKEN_MCP | TOKEN_READ | TOKEN_REST,
};
/* "mcp", "read", "all" */
const char *token_may_name(enum token_may may);
bool token_may_parse(const char *word, enum token_may *out);

struct token {
    char *name; /* of letters, digits, '_', '-' and '.' */
    enum token_may may;
    uint8_t digest[SHA256_BYTES];
    int64_t created;              /* seconds since 1970 */
    char principal[ID_CHARS + 1]; /* the same for the same token */
};
struct tokens {
    struct token *v; /* in the order in which they were made */
    size_t n;
};

struct tokens *tokens_new(void);
void tokens_free(struct tokens *t);
AUTO_DEFINE(tokens, tokens_free)
/* An empty text has none. -PB_E_INVALID says what is wrong with it; *out is not touched then. */
MUST_CHECK int tokens_parse(struct tokens **out, struct span text, struct pb_error *err);
void tokens_write(struct buf *out, const struct tokens *t);
/* -PB_E_INVALID: the name is taken or no name; -PB_E_LIMIT past TOKENS_MAX. */
MUST_CHECK int tokens_add(struct tokens *t, struct span name, enum token_may may,
                          const uint8_t digest[static SHA256_BYTES], int64_t created,
                          struct pb_error *err);
bool tokens_remove(struct tokens *t, const char *name);
/* Which one this is, NULL: none. Takes the same time whichever it is. */
const struct token *tokens_find(const struct tokens *t, struct span token);
