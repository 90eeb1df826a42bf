/* spec_names.h - names that say that their values are secrets. One list, read in two ways: in a
 * config, which people write for themselves, a name counts that has such a word anywhere in it; in
 * what servers and clients say, where "max_tokens" and "author" abound, one that ends with it. */
#pragma once
#include "base/base.h"

/* "GITHUB_TOKEN", "X-Auth-Header", "TOKENIZER": anywhere. */
bool name_hints(struct span name);

enum name_claim {
    NAME_PLAIN,
    NAME_DOUBTFUL, /* the value decides: "key", "auth" */
    NAME_WORDS,    /* what it is for text is none for numbers: "pass" also counts tests */
    NAME_SECRET,
};
/* "password", "apiKey", "AWS_SECRET_ACCESS_KEY", "db-password2", "tokenValue": at the end, in any
 * spelling. Not "next_page_token", "public_key", "token_count". Any thread. */
enum name_claim name_claims(struct span name);
/* May name_claims() say more than NAME_PLAIN of a name that ends where this text does? Quick, and
 * seldom wrong. */
bool name_may_claim(struct span text);
