#include "tools.h"
#include "tools/file/file.h"
#include "tools/plain/plain.h"

/* In this order they are listed, on every request: S3-141, S3-142. */
static const struct tool *const table[] = {
    &think_tool,
    &file_tool,
    NULL,
};

/* clang-format off */
static const struct {
    const char *name;
    enum tool_group group;
} groups[] = {
    { "plain",    TOOLS_PLAIN },
    { "file",     TOOLS_FILE },
};
/* clang-format on */

void tools_new(const struct tools_options *o)
{
    kit_new(&(struct kit_options){ o->gate, o->home, o->directory, table });
}

static bool is_operation_of(const struct tool *t, struct span name)
{
    for (const struct tool_operation *op = t->operations; op->run; op++)
        if (op->name && span_is(name, op->name))
            return true;
    return false;
}

bool tools_named(struct span name)
{
    if (span_starts(name, SPEC_OWN) && name.n > strlen(SPEC_OWN) &&
        strchr("./:", name.p[strlen(SPEC_OWN)]))
        name = span_from(name, strlen(SPEC_OWN) + 1);
    for (const struct tool *const *t = table; *t; t++) {
        size_t n = strlen((*t)->name);

        if (span_is(name, (*t)->name) || is_operation_of(*t, name) ||
            (span_starts(name, (*t)->name) && name.n > n && name.p[n] == '.' &&
             is_operation_of(*t, span_from(name, n + 1))))
            return true;
    }
    return false;
}

unsigned tools_group(struct span name)
{
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        if (span_is(name, groups[i].name))
            return groups[i].group;
    return 0;
}

void tools_write_groups(struct buf *out, unsigned bits)
{
    bool any = false;

    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        if (bits & groups[i].group) {
            buf_printf(out, "%s%s", any ? "," : "", groups[i].name);
            any = true;
        }
}
