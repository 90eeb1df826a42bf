/* grants.h - permissions that end by themselves: a conversation may use an operation for a while,
 * once or many times; or everything, until that is taken back. */
#pragma once
#include "io/io.h"
#include "json/json.h"

struct grants;

/* The loop's clock decides when one has ended. `more` is told when something is permitted that was
 * not before; it must not change them. */
struct grants *grants_new(struct pb_loop *loop, loop_fn *more, void *ctx);
void grants_free(struct grants *g);

struct grant {
    char id[ID_CHARS + 1];
    char *conversation, *operation; /* "server/tool"; a built-in's "tool.operation" */
    int64_t made_at, expires_at;    /* wall clock ms */
    uint64_t due;                   /* loop time */
    bool once;
    unsigned by; /* enum question_by: who gave it; it counts where they may answer */
    uint64_t used;
};
/* Permits it for `ms` (0: GRANT_MS), once or often. One for the same operation is replaced. S3-148
 * -PB_E_LIMIT past GRANTS_MAX. Borrowed. */
MUST_CHECK int grants_add(struct grants *g, const char *conversation, const char *operation,
                          uint64_t ms, bool once, unsigned by, const struct grant **out,
                          struct pb_error *err);
/* Is there one that is neither over nor used up, by one of these? S3-149 */
bool grants_allow(struct grants *g, const char *conversation, const char *operation, unsigned by);
/* The same, and it is used now. */
bool grants_use(struct grants *g, const char *conversation, const char *operation);
/* Everything in this conversation is permitted, or not any more. S3-150 -PB_E_LIMIT past
 * GRANTS_MAX. */
MUST_CHECK int grants_set_auto(struct grants *g, const char *conversation, bool on, unsigned by,
                               struct pb_error *err);
/* By one of these. */
bool grants_auto(const struct grants *g, const char *conversation, unsigned by);
bool grants_revoke(struct grants *g, const char *id);
/* How many there were. NULL: of all conversations. */
size_t grants_revoke_all(struct grants *g, const char *conversation);
/* As everybody is told of them: an object; and "grants" and "auto_approve" of one. */
void grant_write(struct json_out *o, const struct grant *one);
void grants_members(struct json_out *o, struct grants *g);
