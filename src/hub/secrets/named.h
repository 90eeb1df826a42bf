/* named.h - values that are secrets because of their names, in text of any kind. */
#pragma once
#include "hits.h"

/* A ':' or '=' at `at`: what follows, if the name before it promises a secret. */
void named_value(struct span text, size_t at, struct hits *out);
/* The name of an option begins at `at`, behind "--", and its value is the next word. */
void named_option(struct span text, size_t at, struct hits *out);
/* Has it been hidden before, or is it only a place to put one? */
bool named_is_hidden(struct span value);
/* A path where a password could be: "pwd" is both. */
bool named_is_directory(struct span name, struct span value);
