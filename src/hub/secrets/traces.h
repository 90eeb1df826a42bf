/* traces.h - secrets that are known by what stands around them, or by how they look. */
#pragma once
#include "hits.h"

/* Adds what is found: values of names that promise secrets, users and passwords in URLs, and keys
 * of well known services. The text may be anything, JSON as it is written included: of that all is
 * found which makes it worth to be read as JSON when `out` wants one only. */
void traces_find(struct span text, struct hits *out);
