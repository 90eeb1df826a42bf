/* todo_impl.h - one list of todos.
 *
 *   todo.c          the tool: its words, its operations
 *   todo_read.c     JSON to todos: what callers send, and what the file holds
 *   todo_change.c   write, update and add, on a list in memory
 *   todo_check.c    the rules that hold for a list
 *   todo_write.c    a list as JSON, and as text for a model
 *   todo_file.c     the list of a conversation on disk */
#pragma once
#include "todo.h"

enum todo_status {
    TODO_NOT_STARTED,
    TODO_IN_PROGRESS,
    TODO_COMPLETED,
    TODO_BLOCKED,
    TODO_STATUSES,
};
/* As they are written, in the order of the enum; NULL ends them. The first priority is none. */
extern const char *const todo_status_words[];
extern const char *const todo_priority_words[];

/* Texts are in the arena of the list. NULL, 0 and false: not said. */
struct todo {
    int64_t id;
    const char *title, *description;
    enum todo_status status;
    size_t priority; /* of todo_priority_words; 0: none */
    int64_t *depends;
    size_t n_depends;
    bool can_run_parallel;
    const char *parallel_group;
    double progress;
    bool has_progress;
    const char *blocked_reason;
    /* Kept by itself. */
    int64_t created_ms, updated_ms;
    const char *by, *call; /* who changed it last, and in which call */
};

struct todo_list {
    struct todo *v;
    size_t n, cap;
    struct arena arena;
};
void todo_list_done(struct todo_list *l);
#define AUTO_TODOS __attribute__((cleanup(todo_list_done)))
/* Room for one more; NULL: there are TODO_ITEMS_MAX. It is zeroed. */
struct todo *todo_list_add(struct todo_list *l);
struct todo *todo_list_find(const struct todo_list *l, int64_t id);

/* All that is wrong, a line each; of very many the first are told and the others counted. */
struct todo_errors {
    struct buf text; /* "- Todo 1 …\n" */
    size_t n;
};
void todo_errors_add(struct todo_errors *e, const char *fmt, ...) PRINTF(2, 3);

/* ---- todo_read.c ---- */

/* Takes the members that `from` has over into `t`, all others stay. `name` is what to call it in
 * errors: "Todo 3", "newTodos[0]". False: something was wrong with it. */
bool todo_read(struct todo *t, struct json from, const char *name, struct arena *a,
               struct todo_errors *e);
/* What todo_list_write() has written. The text names what is wrong with it. */
MUST_CHECK int todo_list_read(struct todo_list *l, struct span text, struct pb_error *err);

/* ---- todo_change.c: each changes l, which nobody keeps when there is an error ---- */

/* Who changes it. */
struct todo_by {
    int64_t now_ms;
    const char *client, *call;
    bool autofix; /* of several in progress all but the first become not-started */
};
typedef void todo_change_fn(struct todo_list *l, struct json items, const struct todo_by *by,
                            struct todo_errors *e);
todo_change_fn todo_replace, todo_update, todo_append;

/* ---- todo_check.c ---- */

/* Each error in words; none: the list is as it must be. */
void todo_check(const struct todo_list *l, struct todo_errors *e);
void todo_fix_progress(struct todo_list *l, const struct todo_by *by);

/* ---- todo_write.c ---- */

void todo_list_write(struct buf *out, const struct todo_list *l, const char *conversation);
void todo_list_tell(struct buf *out, const struct todo_list *l);

/* ---- todo_file.c: blocking ---- */

struct todo_file {
    char *dir, *path;
    const char *conversation; /* borrowed */
    int lock;                 /* -1: it is only read */
};
void todo_file_init(struct todo_file *f, const char *home, const char *conversation);
void todo_file_done(struct todo_file *f);
#define AUTO_TODO_FILE __attribute__((cleanup(todo_file_done)))
/* Until todo_file_done() nobody else changes it. -PB_E_BUSY: another does, for too long. */
MUST_CHECK int todo_file_lock(struct todo_file *f, struct pb_error *err);
/* Nothing there: an empty list. */
MUST_CHECK int todo_file_load(const struct todo_file *f, struct todo_list *l, struct pb_error *err);
MUST_CHECK int todo_file_save(const struct todo_file *f, const struct todo_list *l,
                              struct pb_error *err);
