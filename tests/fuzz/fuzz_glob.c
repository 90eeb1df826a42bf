/* fuzz_glob.c - a pattern for paths in the first line, a path in the second: nothing takes more
 * steps than pattern x path, a text without wildcards matches itself, and a star in front of
 * what matches a name changes nothing. */
#include "tools/search/search_impl.h"
#include <stdint.h>

static void check_steps(const struct pathglob *g, size_t pattern, struct span path)
{
    uint64_t steps = 0;
    bool first = pathglob_match(g, path, &steps);

    if (steps > (pattern + 4) * (path.n + 1) * SEARCH_ALTERNATIVES_MAX ||
        first != pathglob_match(g, path, NULL))
        __builtin_trap();
}

static bool is_literal(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr("*?[]{}\\/,", s.p[i]))
            return false;
    return s.n > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span all = span_make((const char *)data, size);
    const char *line = size ? memchr(data, '\n', size) : NULL;
    struct span pattern = line ? span_make(all.p, (size_t)(line - all.p)) : all;
    struct span path = line ? span_from(all, pattern.n + 1) : SPAN("a/b.c");
    AUTO(pathglob) struct pathglob *git = NULL, *people = NULL;
    struct pb_error err;

    if (pathglob_new(&git, pattern, PATHGLOB_GIT, &err) < 0)
        __builtin_trap();
    check_steps(git, pattern.n, path);
    if (pathglob_new(&people, pattern, PATHGLOB_PEOPLE, &err) < 0)
        return 0;
    check_steps(people, pattern.n, path);
    if (is_literal(pattern) && pattern.n <= SEARCH_GLOB_MAX &&
        (!pathglob_match(git, pattern, NULL) || !pathglob_match(people, pattern, NULL)))
        __builtin_trap();
    return 0;
}
