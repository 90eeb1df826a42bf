/* todo_write.c - a list as JSON, for the file and for consoles, and as text for a model. */
#include "todo_impl.h"

struct counts {
    size_t of[TODO_STATUSES];
    size_t percent;
};

static struct counts count(const struct todo_list *l)
{
    struct counts c = { 0 };

    for (size_t i = 0; i < l->n; i++)
        c.of[l->v[i].status]++;
    c.percent = l->n ? c.of[TODO_COMPLETED] * 100 / l->n : 0;
    return c;
}

/* ---- JSON ---- */

static void write_depends(struct json_out *o, const struct todo *t)
{
    if (!t->n_depends)
        return;
    json_begin_array(o, "dependencies");
    for (size_t i = 0; i < t->n_depends; i++)
        json_put_int(o, NULL, t->depends[i]);
    json_end(o);
}

static void write_todo(struct json_out *o, const struct todo *t)
{
    json_begin_object(o, NULL);
    json_put_int(o, "id", t->id);
    json_put_str(o, "title", t->title);
    json_put_str(o, "description", t->description ? t->description : "");
    json_put_str(o, "status", todo_status_words[t->status]);
    if (t->priority)
        json_put_str(o, "priority", todo_priority_words[t->priority]);
    write_depends(o, t);
    if (t->can_run_parallel)
        json_put_bool(o, "canRunParallel", true);
    json_put_str_opt(o, "parallelGroup", t->parallel_group);
    if (t->has_progress)
        json_put_double(o, "progress", t->progress);
    json_put_str_opt(o, "blockedReason", t->blocked_reason);
    json_put_seconds(o, "createdAt", t->created_ms);
    json_put_seconds(o, "updatedAt", t->updated_ms);
    json_put_str_opt(o, "updatedBy", t->by);
    json_put_str_opt(o, "updatedIn", t->call);
    json_end(o);
}

void todo_list_write(struct buf *out, const struct todo_list *l, const char *conversation)
{
    struct json_out o = json_out(out);
    struct counts c = count(l);

    json_begin_object(&o, NULL);
    json_put_str(&o, "conversation", conversation);
    json_begin_array(&o, "todos");
    for (size_t i = 0; i < l->n; i++)
        write_todo(&o, &l->v[i]);
    json_end(&o);
    json_begin_object(&o, "progress");
    json_put_uint(&o, "total", l->n);
    json_put_uint(&o, "completed", c.of[TODO_COMPLETED]);
    json_put_uint(&o, "inProgress", c.of[TODO_IN_PROGRESS]);
    json_put_uint(&o, "notStarted", c.of[TODO_NOT_STARTED]);
    json_put_uint(&o, "blocked", c.of[TODO_BLOCKED]);
    json_put_uint(&o, "percent", c.percent);
    json_end(&o);
    json_end(&o);
}

/* ---- text ---- */

static void tell_depends(struct buf *out, const struct todo *t)
{
    for (size_t i = 0; i < t->n_depends; i++)
        buf_printf(out, "%s%lld", i ? ", " : "\n    after: ", (long long)t->depends[i]);
}

static void tell_todo(struct buf *out, const struct todo *t)
{
    buf_printf(out, "\n[%lld] %s (%s", (long long)t->id, t->title, todo_status_words[t->status]);
    if (t->priority)
        buf_printf(out, ", %s", todo_priority_words[t->priority]);
    if (t->has_progress)
        buf_printf(out, ", %d %%", (int)(t->progress * 100 + 0.5));
    if (t->can_run_parallel)
        buf_str(out, ", can run in parallel");
    if (t->parallel_group)
        buf_printf(out, ", group %s", t->parallel_group);
    buf_byte(out, ')');
    if (t->description)
        buf_printf(out, "\n    %s", t->description);
    tell_depends(out, t);
    if (t->blocked_reason)
        buf_printf(out, "\n    blocked: %s", t->blocked_reason);
}

/* S3-3: what is done is done; nobody asked for a summary. */
void todo_list_tell(struct buf *out, const struct todo_list *l)
{
    struct counts c = count(l);

    if (!l->n) {
        buf_str(out,
                "There are no todos in this conversation. The operations write and add make some.");
        return;
    }
    buf_printf(out,
               "%zu of %zu completed (%zu %%), %zu in progress, %zu not started, %zu blocked.\n",
               c.of[TODO_COMPLETED], l->n, c.percent, c.of[TODO_IN_PROGRESS],
               c.of[TODO_NOT_STARTED], c.of[TODO_BLOCKED]);
    for (size_t i = 0; i < l->n; i++)
        tell_todo(out, &l->v[i]);
    if (c.of[TODO_COMPLETED] == l->n)
        buf_str(
            out,
            "\n\nAll todos are completed: you are ready for new work. Use the operation add for it.");
}
