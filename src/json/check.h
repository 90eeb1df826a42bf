/* check.h - text that is only checked. */
#pragma once
#include "lex.h"

/* p is at the opening bracket of a container that lies at `depth`. Gives the place behind its
 * closing bracket, or NULL. Keeps nothing and does not recurse. */
const uint8_t *check_container(struct lex *l, const uint8_t *p, int depth);
