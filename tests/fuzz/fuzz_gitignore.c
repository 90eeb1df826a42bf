/* fuzz_gitignore.c - rules that anybody may have written, and in the last line a path: a rule added
 * at the end that is the path itself decides, and the same negated takes it back. */
#include "tools/search/search_impl.h"
#include <stdint.h>

static int decides(struct span rules, const char *more, struct span path)
{
    AUTO_BUF struct buf b = { 0 };
    AUTO(ignore) struct ignore *i = NULL;
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    size_t name = slash ? (size_t)(slash + 1 - path.p) : 0;
    int as_file, as_directory;

    buf_add_span(&b, rules);
    if (more) {
        buf_printf(&b, "\n%s/", more);
        buf_add_span(&b, path);
        buf_byte(&b, '\n');
    }
    i = ignore_new(buf_span(&b), "");
    if (!i)
        return -1;
    as_file = ignore_decides(i, path, name, false);
    as_directory = ignore_decides(i, path, name, true);
    if (as_file < -1 || as_file > 1 || as_directory < -1 || as_directory > 1)
        __builtin_trap();
    return as_file;
}

static bool is_plain(struct span path)
{
    for (size_t i = 0; i < path.n; i++)
        if (strchr("*?[]\\ \r\n", path.p[i])) /* and NUL */
            return false;
    return path.n > 0 && path.p[0] != '/' && path.p[path.n - 1] != '/';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span all = span_make((const char *)data, size);
    const char *line = size ? memrchr(data, '\n', size) : NULL;
    struct span rules = line ? span_make(all.p, (size_t)(line - all.p)) : (struct span){ 0 };
    struct span path = line ? span_from(all, rules.n + 1) : all;
    size_t lines = rules.n ? count_lines(rules) : 0;

    decides(rules, NULL, path);
    if (is_plain(path) && lines < SEARCH_IGNORE_RULES_MAX - 2 &&
        (decides(rules, "", path) != 1 || decides(rules, "!", path) != 0))
        __builtin_trap();
    return 0;
}
