/* todo_read.c - todos from JSON. The file is read with the same table as what callers send, so that
 * nothing can be stored that could not be read again. */
#include "todo_impl.h"
#include <stdio.h>

const char *const todo_status_words[] = { "not-started", "in-progress", "completed", "blocked",
                                          NULL };
const char *const todo_priority_words[] = { "", "low", "medium", "high", "critical", NULL };

/* ---- the list ---- */

void todo_list_done(struct todo_list *l)
{
    free(l->v);
    arena_done(&l->arena);
    *l = (struct todo_list){ 0 };
}

struct todo *todo_list_add(struct todo_list *l)
{
    if (l->n >= TODO_ITEMS_MAX)
        return NULL;
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->v = mem_resize(l->v, l->cap * sizeof *l->v);
    }
    l->v[l->n] = (struct todo){ 0 };
    return &l->v[l->n++];
}

struct todo *todo_list_find(const struct todo_list *l, int64_t id)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->v[i].id == id)
            return &l->v[i];
    return NULL;
}

void todo_errors_add(struct todo_errors *e, const char *fmt, ...)
{
    va_list ap;

    if (e->n++ >= TODO_ERRORS_TOLD)
        return;
    buf_str(&e->text, "- ");
    va_start(ap, fmt);
    buf_vprintf(&e->text, fmt, ap);
    va_end(ap);
    buf_byte(&e->text, '\n');
}

/* ---- one todo ---- */

struct todo_reading {
    const char *name; /* of the todo */
    const char *key;  /* of the member */
    struct arena *arena;
    struct todo_errors *errors;
};

typedef bool member_fn(const struct todo_reading *r, struct json v, void *to, size_t max);

static bool refuse(const struct todo_reading *r, struct json v, const char *wanted)
{
    todo_errors_add(r->errors, "%s: %s must be %s, not %s", r->name, r->key, wanted,
                    json_type_phrase(v));
    return false;
}

static bool read_text(const struct todo_reading *r, struct json v, void *to, size_t max)
{
    const char *text;

    if (json_is(v, JSON_NULL)) {
        *(const char **)to = NULL;
        return true;
    }
    text = json_cstr(v, r->arena);
    if (!text)
        return refuse(r, v, "a text without NUL characters");
    if (strlen(text) > max) {
        todo_errors_add(r->errors, "%s: %s is longer than %zu bytes", r->name, r->key, max);
        return false;
    }
    *(const char **)to = *text ? text : NULL;
    return true;
}

static bool read_id(const struct todo_reading *r, struct json v, void *to, size_t max)
{
    int64_t id;

    if (json_int(v, &id, NULL) < 0 || id < 1 || id > (int64_t)max) {
        todo_errors_add(r->errors, "%s: %s must be a whole number from 1 to %zu", r->name, r->key,
                        max);
        return false;
    }
    *(int64_t *)to = id;
    return true;
}

static bool read_word(const struct todo_reading *r, struct json v, const char *const *words,
                      size_t *to)
{
    AUTO_BUF struct buf known = { 0 };

    for (size_t i = 0; words[i]; i++) {
        if (json_str_is(v, words[i])) {
            *to = i;
            return true;
        }
        buf_printf(&known, "%s%s", known.n ? ", " : "", words[i]);
    }
    todo_errors_add(r->errors, "%s: %s must be one of %s", r->name, r->key, buf_cstr(&known));
    return false;
}

static bool read_status(const struct todo_reading *r, struct json v, void *to, size_t max)
{
    size_t word;

    (void)max;
    if (!read_word(r, v, todo_status_words, &word))
        return false;
    *(enum todo_status *)to = (enum todo_status)word;
    return true;
}

static bool read_priority(const struct todo_reading *r, struct json v, void *to, size_t max)
{
    (void)max;
    if (json_is(v, JSON_NULL)) {
        *(size_t *)to = 0;
        return true;
    }
    return read_word(r, v, todo_priority_words, to);
}

static bool read_bool(const struct todo_reading *r, struct json v, void *to, size_t max)
{
    (void)max;
    if (!json_is(v, JSON_TRUE) && !json_is(v, JSON_FALSE))
        return refuse(r, v, "true or false");
    *(bool *)to = json_is(v, JSON_TRUE);
    return true;
}

static bool read_progress(const struct todo_reading *r, struct json v, void *to, size_t max)
{
    struct todo *t = CONTAINER_OF(to, struct todo, progress);

    (void)max;
    t->has_progress = !json_is(v, JSON_NULL);
    t->progress = 0;
    if (t->has_progress && json_double(v, &t->progress, NULL) < 0)
        return refuse(r, v, "a number from 0.0 to 1.0");
    return true;
}

static bool read_depends(const struct todo_reading *r, struct json v, void *to, size_t max)
{
    struct todo *t = CONTAINER_OF(to, struct todo, depends);
    size_t n = 0;

    if (!json_is(v, JSON_ARRAY) && !json_is(v, JSON_NULL))
        return refuse(r, v, "a list of ids");
    if (json_len(v) > max) {
        todo_errors_add(r->errors, "%s: it has more than %zu dependencies", r->name, max);
        return false;
    }
    t->depends = arena_alloc(r->arena, (json_len(v) + 1) * sizeof *t->depends);
    JSON_FOREACH(id, v)
        if (!read_id(r, id, &t->depends[n++], TODO_ID_MAX))
            return false;
    t->n_depends = n;
    return true;
}

static bool read_time(const struct todo_reading *r, struct json v, void *to, size_t max)
{
    double seconds;

    (void)max;
    if (json_double(v, &seconds, NULL) < 0 || seconds < 0 || seconds > TODO_SECONDS_MAX)
        return refuse(r, v, "a time in seconds");
    *(int64_t *)to = (int64_t)(seconds * 1000 + 0.5);
    return true;
}

/* The second spelling is the one of those who write with underscores. */
static const struct {
    const char *key, *other;
    member_fn *read;
    size_t at, max;
    bool ours; /* only what we wrote ourselves is believed */
} members[] = {
#define AT(member) offsetof(struct todo, member)
    /* clang-format off */
    { "id",             NULL,               read_id,       AT(id),               TODO_ID_MAX,      false },
    { "title",          NULL,               read_text,     AT(title),            TODO_TITLE_MAX,   false },
    { "description",    NULL,               read_text,     AT(description),      TODO_TEXT_MAX,    false },
    { "status",         NULL,               read_status,   AT(status),           0,                false },
    { "priority",       NULL,               read_priority, AT(priority),         0,                false },
    { "dependencies",   NULL,               read_depends,  AT(depends),          TODO_DEPENDS_MAX, false },
    { "canRunParallel", "can_run_parallel", read_bool,     AT(can_run_parallel), 0,                false },
    { "parallelGroup",  "parallel_group",   read_text,     AT(parallel_group),   TODO_TITLE_MAX,   false },
    { "progress",       NULL,               read_progress, AT(progress),         0,                false },
    { "blockedReason",  "blocked_reason",   read_text,     AT(blocked_reason),   TODO_TEXT_MAX,    false },
    { "createdAt",      NULL,               read_time,     AT(created_ms),       0,                true },
    { "updatedAt",      NULL,               read_time,     AT(updated_ms),       0,                true },
    { "updatedBy",      NULL,               read_text,     AT(by),               TODO_TEXT_MAX,    true },
    { "updatedIn",      NULL,               read_text,     AT(call),             TODO_TEXT_MAX,    true },
/* clang-format on */
#undef AT
};

static bool read_members(struct todo *t, struct json from, const char *name, bool ours,
                         struct arena *a, struct todo_errors *e)
{
    bool ok = true;

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        struct todo_reading r = { name, members[i].key, a, e };
        struct json v = json_get(from, members[i].key);
        struct json other =
            members[i].other ? json_get(from, members[i].other) : (struct json){ 0 };

        if (members[i].ours && !ours)
            continue;
        if (!json_is(v, JSON_NONE) && !json_is(other, JSON_NONE)) {
            todo_errors_add(e, "%s: %s is there in two spellings", name, members[i].key);
            ok = false;
            continue;
        }
        if (json_is(v, JSON_NONE))
            v = other;
        if (!json_is(v, JSON_NONE))
            ok &= members[i].read(&r, v, (char *)t + members[i].at, members[i].max);
    }
    return ok;
}

bool todo_read(struct todo *t, struct json from, const char *name, struct arena *a,
               struct todo_errors *e)
{
    if (!json_is(from, JSON_OBJECT)) {
        todo_errors_add(e, "%s: a todo must be an object, not %s", name, json_type_phrase(from));
        return false;
    }
    return read_members(t, from, name, false, a, e);
}

/* ---- the file ---- */

static int read_all(struct todo_list *l, struct json todos, struct pb_error *err)
{
    struct todo_errors e = { 0 };
    size_t at = 0;

    JSON_FOREACH(v, todos) {
        struct todo *t = todo_list_add(l);
        char name[32];

        snprintf(name, sizeof name, "todos[%zu]", at++);
        if (!t)
            todo_errors_add(&e, "it has more than %d todos", TODO_ITEMS_MAX);
        else if (!json_is(v, JSON_OBJECT))
            todo_errors_add(&e, "%s is no object", name);
        else if (read_members(t, v, name, true, &l->arena, &e) && (!t->id || !t->title))
            todo_errors_add(&e, "%s has no id or no title", name);
        if (e.n)
            break;
    }
    if (!e.n)
        todo_check(l, &e);
    if (e.n)
        fail(err, PB_E_INVALID, "%.*s", (int)strcspn(buf_cstr(&e.text) + 2, "\n"), e.text.p + 2);
    buf_done(&e.text);
    return e.n ? -(int)PB_E_INVALID : 0;
}

int todo_list_read(struct todo_list *l, struct span text, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json todos;
    int rc = json_parse(&doc, text, &(struct json_opts){ .unique_depth = JSON_ALL }, err);

    if (rc < 0)
        return rc;
    todos = json_get(json_root(&doc), "todos");
    if (!json_is(todos, JSON_ARRAY))
        return fail(err, PB_E_INVALID, "it has no list \"todos\"");
    return read_all(l, todos, err);
}
