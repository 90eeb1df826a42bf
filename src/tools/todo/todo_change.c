/* todo_change.c - what the operations do to a list. Whatever changes carries the time, and who did
 * it. */
#include "todo_impl.h"
#include <stdio.h>

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static bool same(const struct todo *a, const struct todo *b)
{
    return same_text(a->title, b->title) && same_text(a->description, b->description) &&
           a->status == b->status && a->priority == b->priority && a->n_depends == b->n_depends &&
           (!a->n_depends || !memcmp(a->depends, b->depends, a->n_depends * sizeof *a->depends)) &&
           a->can_run_parallel == b->can_run_parallel &&
           same_text(a->parallel_group, b->parallel_group) && a->progress == b->progress &&
           a->has_progress == b->has_progress && same_text(a->blocked_reason, b->blocked_reason);
}

static void sign(struct todo *t, const struct todo_by *by, struct arena *a)
{
    t->updated_ms = by->now_ms;
    if (!t->created_ms)
        t->created_ms = by->now_ms;
    t->by = by->client ? arena_dup(a, span_of(by->client)) : NULL;
    t->call = by->call ? arena_dup(a, span_of(by->call)) : NULL;
}

static int64_t highest_id(const struct todo_list *l)
{
    int64_t id = 0;

    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].id > id)
            id = l->v[i].id;
    return id;
}

/* Those without an id get the next ones, in their order. */
static void number(struct todo_list *l, struct todo_errors *e)
{
    int64_t id = highest_id(l);

    for (size_t i = 0; i < l->n; i++)
        if (!l->v[i].id)
            l->v[i].id = ++id;
    if (id > TODO_ID_MAX)
        todo_errors_add(e, "The highest id is %d already; write the list with lower ones",
                        TODO_ID_MAX);
}

static bool add_one(struct todo_list *l, struct json item, const char *name, struct todo_errors *e)
{
    struct todo *t = todo_list_add(l);

    if (!t) {
        todo_errors_add(e, "A list holds at most %d todos", TODO_ITEMS_MAX);
        return false;
    }
    todo_read(t, item, name, &l->arena, e);
    return true;
}

static void add_all(struct todo_list *l, struct json items, const char *what, struct todo_errors *e)
{
    size_t at = 0;

    JSON_FOREACH(item, items) {
        char name[48];

        snprintf(name, sizeof name, "%s[%zu]", what, at++);
        if (!add_one(l, item, name, e))
            break;
    }
}

static void finish(struct todo_list *l, const struct todo_by *by, struct todo_errors *e)
{
    if (by->autofix)
        todo_fix_progress(l, by);
    if (!e->n)
        todo_check(l, e);
}

/* S3-56: what is done stays, so that nobody does it again. */
static void check_completed_stay(const struct todo_list *old, const struct todo_list *l,
                                 struct todo_errors *e)
{
    AUTO_BUF struct buf gone = { 0 };

    for (size_t i = 0; i < old->n; i++)
        if (old->v[i].status == TODO_COMPLETED && !todo_list_find(l, old->v[i].id))
            buf_printf(&gone, "  - Todo %lld: %s\n", (long long)old->v[i].id, old->v[i].title);
    if (gone.n)
        todo_errors_add(e,
                        "Cannot delete completed todos. The following completed todos are "
                        "missing:\n%sCompleted work must not be deleted: write the list with them.",
                        buf_cstr(&gone));
}

void todo_replace(struct todo_list *l, struct json items, const struct todo_by *by,
                  struct todo_errors *e)
{
    struct todo_list old = *l;

    *l = (struct todo_list){ .arena = old.arena };
    old.arena = (struct arena){ 0 };
    add_all(l, items, "todoList", e);
    number(l, e);
    finish(l, by, e);
    check_completed_stay(&old, l, e);
    for (size_t i = 0; i < l->n; i++) {
        const struct todo *was = todo_list_find(&old, l->v[i].id);

        if (was)
            l->v[i].created_ms = was->created_ms;
        if (!was || !same(&l->v[i], was)) {
            sign(&l->v[i], by, &l->arena);
        } else {
            l->v[i].updated_ms = was->updated_ms;
            l->v[i].by = was->by;
            l->v[i].call = was->call;
        }
    }
    todo_list_done(&old);
}

static struct todo *meant(struct todo_list *l, struct json item, const char *name,
                          struct todo_errors *e)
{
    struct todo *t;
    int64_t id;

    if (!json_is(item, JSON_OBJECT) || json_int(json_get(item, "id"), &id, NULL) < 0) {
        todo_errors_add(e, "%s: an update must be an object with the id of a todo", name);
        return NULL;
    }
    t = todo_list_find(l, id);
    if (!t)
        todo_errors_add(e,
                        "There is no todo %lld; the operation read shows which there are, add "
                        "makes new ones",
                        (long long)id);
    return t;
}

/* What changes stands beside the id, or in an object "fields". */
void todo_update(struct todo_list *l, struct json items, const struct todo_by *by,
                 struct todo_errors *e)
{
    size_t at = 0;

    JSON_FOREACH(item, items) {
        struct json fields = json_get(item, "fields");
        struct todo *t, was;
        char name[48];

        snprintf(name, sizeof name, "todoUpdates[%zu]", at++);
        t = meant(l, item, name, e);
        if (!t)
            continue;
        was = *t;
        snprintf(name, sizeof name, "Todo %lld", (long long)t->id);
        todo_read(t, item, name, &l->arena, e);
        if (!json_is(fields, JSON_NONE))
            todo_read(t, fields, name, &l->arena, e);
        if (t->id != was.id)
            todo_errors_add(e, "Todo %lld: its id cannot be changed", (long long)was.id);
        if (t->status == TODO_COMPLETED && was.status != TODO_COMPLETED && t->has_progress)
            t->progress = 1;
        if (t->status != TODO_BLOCKED && was.status == TODO_BLOCKED)
            t->blocked_reason = NULL;
        if (!same(t, &was))
            sign(t, by, &l->arena);
    }
    if (!at)
        todo_errors_add(e, "todoUpdates is empty: it is a list of {id, and what changes}");
    finish(l, by, e);
}

void todo_append(struct todo_list *l, struct json items, const struct todo_by *by,
                 struct todo_errors *e)
{
    size_t before = l->n;

    add_all(l, items, "newTodos", e);
    if (l->n == before && !e->n)
        todo_errors_add(e, "newTodos is empty: it is a list of {title, description}");
    for (size_t i = before; i < l->n; i++) {
        l->v[i].id = 0; /* ids are ours to give */
        sign(&l->v[i], by, &l->arena);
    }
    number(l, e);
    finish(l, by, e);
}
