#include "era.h"

/* clang-format off */
const struct revision mcp_revisions[] = {
    /* date          era         batch  struct elicit url    header priming */
    { "2026-07-28", ERA_MODERN, false, true,  true,  true,  true,  false },
    { "2025-11-25", ERA_LEGACY, false, true,  true,  true,  true,  true  },
    { "2025-06-18", ERA_LEGACY, false, true,  true,  false, true,  false },
    { "2025-03-26", ERA_LEGACY, true,  false, false, false, false, false },
    { "2024-11-05", ERA_LEGACY, false, false, false, false, false, false },
    { NULL,         ERA_UNKNOWN, false, false, false, false, false, false },
};
/* clang-format on */

static const char *const level_names[] = { "debug", "info",     "notice", "warning",
                                           "error", "critical", "alert",  "emergency" };

const struct revision *revision_find(struct span date)
{
    for (const struct revision *r = mcp_revisions; r->date; r++)
        if (span_is(date, r->date))
            return r;
    return NULL;
}

bool version_claims_modern(struct span date)
{
    static const char shape[] = "dddd-dd-dd";

    if (date.n != sizeof shape - 1)
        return false;
    for (size_t i = 0; i < date.n; i++)
        if (shape[i] == 'd' ? date.p[i] < '0' || date.p[i] > '9' : date.p[i] != '-')
            return false;
    return span_cmp(date, SPAN(MCP_NEWEST_MODERN)) >= 0;
}

bool log_level_parse(struct span name, enum pb_log_level *out)
{
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++)
        if (span_is(name, level_names[i])) {
            *out = (enum pb_log_level)i;
            return true;
        }
    return false;
}

const char *log_level_name(enum pb_log_level level)
{
    return (size_t)level < ARRAY_LEN(level_names) ? level_names[level] : NULL;
}
