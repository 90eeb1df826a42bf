/* todo_check.c - the rules that hold for a list. All that is wrong is told together: a model that
 * learns of one mistake at a time asks as often as it has made some. */
#include "todo_impl.h"

static size_t place_of(const struct map *ids, int64_t id)
{
    uint64_t key = (uint64_t)id;

    return (size_t)(uintptr_t)map_get(ids, map_u64(&key)); /* from 1; 0: there is none */
}

static void check_ids(const struct todo_list *l, struct map *ids, struct todo_errors *e)
{
    for (size_t i = 0; i < l->n; i++) {
        uint64_t key = (uint64_t)l->v[i].id;

        if (place_of(ids, l->v[i].id))
            todo_errors_add(e, "There are two todos with the id %lld", (long long)l->v[i].id);
        else
            map_put(ids, map_u64(&key), (void *)(uintptr_t)(i + 1));
    }
}

/* S3-55 */
static void check_in_progress(const struct todo_list *l, struct todo_errors *e)
{
    AUTO_BUF struct buf ids = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].status == TODO_IN_PROGRESS && n++ < TODO_ERRORS_TOLD)
            buf_printf(&ids, "%s%lld", ids.n ? ", " : "", (long long)l->v[i].id);
    if (n > 1)
        todo_errors_add(e, "Only one todo may be in-progress at a time, and these are: %s",
                        buf_cstr(&ids));
}

static void check_one(const struct todo *t, struct todo_errors *e)
{
    long long id = t->id;

    if (!t->title)
        todo_errors_add(e, "Todo %lld has no title", id);
    if (t->status == TODO_BLOCKED && !t->blocked_reason) /* S3-59 */
        todo_errors_add(e, "Todo %lld is blocked but has no blockedReason", id);
    if (t->has_progress && !(t->progress >= 0 && t->progress <= 1)) /* S3-60 */
        todo_errors_add(e, "Todo %lld has progress %g, which is not within 0.0-1.0", id,
                        t->progress);
}

/* ---- what depends on what ---- */

struct todo_walk {
    const struct todo_list *list;
    const struct map *ids;
    bool *seen;
    size_t *next, n; /* still to be looked at */
};

static void walk_from(struct todo_walk *w, const struct todo *t)
{
    for (size_t i = 0; i < t->n_depends; i++) {
        size_t at = place_of(w->ids, t->depends[i]);

        if (at && !w->seen[at - 1]) {
            w->seen[at - 1] = true;
            w->next[w->n++] = at - 1;
        }
    }
}

/* Does the way along what it depends on lead back to it? One that only leads into a circle is not
 * to blame for it. */
static bool is_in_circle(struct todo_walk *w, size_t at)
{
    memset(w->seen, 0, w->list->n * sizeof *w->seen);
    w->n = 0;
    walk_from(w, &w->list->v[at]);
    while (w->n && !w->seen[at])
        walk_from(w, &w->list->v[w->next[--w->n]]);
    return w->seen[at];
}

static bool depends_on(const struct todo *t, int64_t id)
{
    for (size_t i = 0; i < t->n_depends; i++)
        if (t->depends[i] == id)
            return true;
    return false;
}

static void check_depends(const struct todo_list *l, const struct map *ids, struct todo_errors *e)
{
    AUTO_FREE bool *seen = mem_zero((l->n + 1) * sizeof *seen);
    AUTO_FREE size_t *next = mem_zero((l->n + 1) * sizeof *next);
    struct todo_walk w = { l, ids, seen, next, 0 };

    for (size_t i = 0; i < l->n; i++) {
        const struct todo *t = &l->v[i];

        for (size_t k = 0; k < t->n_depends; k++)
            if (!place_of(ids, t->depends[k])) /* S3-57 */
                todo_errors_add(e, "Todo %lld depends on non-existent todo %lld", (long long)t->id,
                                (long long)t->depends[k]);
        if (depends_on(t, t->id))
            todo_errors_add(e, "Todo %lld has circular dependency (depends on itself)",
                            (long long)t->id);
        else if (is_in_circle(&w, i)) /* S3-58, S3-61 */
            todo_errors_add(e, "Todo %lld has circular dependency (indirectly depends on itself)",
                            (long long)t->id);
    }
}

void todo_check(const struct todo_list *l, struct todo_errors *e)
{
    struct map ids = { 0 };

    check_ids(l, &ids, e);
    check_in_progress(l, e);
    for (size_t i = 0; i < l->n; i++)
        check_one(&l->v[i], e);
    check_depends(l, &ids, e);
    map_done(&ids);
}

void todo_fix_progress(struct todo_list *l, const struct todo_by *by)
{
    bool any = false;

    for (size_t i = 0; i < l->n; i++) {
        struct todo *t = &l->v[i];

        if (t->status != TODO_IN_PROGRESS)
            continue;
        if (any) {
            t->status = TODO_NOT_STARTED;
            t->updated_ms = by->now_ms;
        }
        any = true;
    }
}
