/* regex.h - regular expressions as people write them to search in files (Perl's, by PCRE2), for
 * many bytes on several threads. `pattern.h` is for the expressions of schemas and rules. */
#pragma once
#include "base/base.h"

struct regex;

enum regex_flags {
    REGEX_NOCASE = 1,
    REGEX_LITERAL = 2, /* the text is what is looked for, not an expression */
};
/* -PB_E_INVALID tells what is wrong and at which character; -PB_E_LIMIT: it is too large. */
MUST_CHECK int regex_new(struct regex **out, struct span text, unsigned flags,
                         struct pb_error *err);
void regex_free(struct regex *r);
AUTO_DEFINE(regex, regex_free)

/* The memory of a matcher, for one thread. A zeroed one is valid. */
struct regex_run {
    void *data, *context, *stack;
};
void regex_run_done(struct regex_run *run);

/* The first match in the subject, which need not be UTF-8: where it is not, a character is a byte.
 * ^ and $ are the ends of lines. 1 with *hit, or 0; -PB_E_LIMIT when REGEX_STEPS_MAX did not
 * suffice. Threads may share r. */
int regex_find(const struct regex *r, struct span subject, struct regex_run *run, struct span *hit);

/* Would each match within a line be found in several lines together, too, at the same place? Else
 * they must be searched one by one. What is found together may reach over the end of a line. */
bool regex_takes_lines(const struct regex *r);

/* Texts of which each match has one, ASCII and as long as possible; 0: none are known. With *nocase
 * their case does not matter. Borrowed from r. */
size_t regex_required(const struct regex *r, struct span out[static REGEX_REQUIRED_MAX],
                      bool *nocase);
