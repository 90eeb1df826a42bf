/* spec_shapes.h - keys of well known services, which say by their first characters what they are.
 */
#pragma once
#include "base/base.h"

/* Does it begin as one of them does, whatever follows? For configs, where a key is a value of its
 * own. */
bool shape_begins(struct span s);

/* The key that stands in a text around one of its bytes, `at`, which is the last of the beginning
 * by which it is known, or in a JSON Web Token the dot before its second part; or in front of it as
 * "AKIA" and "AIza" are. Empty: there is none. Any thread. */
struct span shape_around(struct span text, size_t at);
/* May there be one, by the three bytes that end at `at`? Quick, and seldom wrong. */
bool shape_may_be(struct span text, size_t at);
