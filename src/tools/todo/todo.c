/* todo.c - the tool todo_operations. */
#include "hub/spec/spec.h"
#include "todo_impl.h"

/* ---- what is kept between calls ---- */

struct todo_state {
    bool autofix;
};

static void *open_state(struct kit *k)
{
    struct todo_state *s = NEW(struct todo_state);

    s->autofix = kit_settings(k) && kit_settings(k)->todo_autofix;
    return s;
}

/* ---- answers ---- */

static int answer(struct tool_call *c, const struct todo_list *l)
{
    AUTO_BUF struct buf text = { 0 }, json = { 0 };

    todo_list_tell(&text, l);
    pb_reply_bytes(c->call, text.p, text.n);
    todo_list_write(&json, l, c->conversation);
    return pb_reply_structured(c->call, buf_cstr(&json));
}

static int refuse(struct tool_call *c, struct todo_errors *e)
{
    AUTO_BUF struct buf text = buf_move(&e->text);

    if (e->n > TODO_ERRORS_TOLD)
        buf_printf(&text, "- and %zu more\n", e->n - TODO_ERRORS_TOLD);
    if (text.n)
        text.n--; /* the last line feed */
    return pb_fail(c->call, "The todo list was not changed (%zu %s):\n%s", e->n,
                   e->n == 1 ? "error" : "errors", buf_cstr(&text));
}

/* ---- operations ---- */

static int read_todos(struct tool_call *c)
{
    AUTO_TODO_FILE struct todo_file f = { .lock = -1 };
    AUTO_TODOS struct todo_list l = { 0 };
    struct pb_error err;

    todo_file_init(&f, kit_home(c->kit), c->conversation);
    if (todo_file_load(&f, &l, &err) < 0)
        return pb_fail(c->call, "Operation failed: %s", err.msg);
    return answer(c, &l);
}

static int change(struct tool_call *c, const char *param, todo_change_fn *fn)
{
    const struct todo_state *s = c->state;
    const struct todo_by by = { c->now_ms, c->client, c->id, s->autofix };
    AUTO_TODO_FILE struct todo_file f = { .lock = -1 };
    AUTO_TODOS struct todo_list l = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct todo_errors e = { 0 };
    struct pb_error err;

    if (json_parse(&doc, span_of(pb_arg_json(c->call, param)),
                   &(struct json_opts){ .unique_depth = JSON_ALL }, &err) < 0)
        return pb_fail(c->call, "%s: %s", param, err.msg);
    todo_file_init(&f, kit_home(c->kit), c->conversation);
    if (todo_file_lock(&f, &err) < 0 || todo_file_load(&f, &l, &err) < 0)
        return pb_fail(c->call, "Operation failed: %s", err.msg);
    fn(&l, json_root(&doc), &by, &e);
    if (e.n)
        return refuse(c, &e);
    if (todo_file_save(&f, &l, &err) < 0)
        return pb_fail(c->call, "Operation failed: %s", err.msg);
    return answer(c, &l);
}

static int write_todos(struct tool_call *c) { return change(c, "todoList", todo_replace); }

static int update_todos(struct tool_call *c) { return change(c, "todoUpdates", todo_update); }

static int add_todos(struct tool_call *c) { return change(c, "newTodos", todo_append); }

/* ---- rows ---- */

#define TODO_MEMBERS                                                                           \
    { .name = "title",                                                                         \
      .type = PB_STRING,                                                                       \
      .flags = PB_OPTIONAL,                                                                    \
      .description = "What is to be done, in three to seven words" },                          \
        { .name = "description",                                                               \
          .type = PB_STRING,                                                                   \
          .flags = PB_OPTIONAL,                                                                \
          .description = "All that is needed to do it: context, files, what counts as done" }, \
        { .name = "status",                                                                    \
          .type = PB_STRING,                                                                   \
          .flags = PB_OPTIONAL,                                                                \
          .description = "not-started, in-progress (one at a time), completed or blocked" },   \
        { .name = "priority",                                                                  \
          .type = PB_STRING,                                                                   \
          .flags = PB_OPTIONAL,                                                                \
          .description = "low, medium, high or critical" },                                    \
        { .name = "dependencies",                                                              \
          .type = PB_ARRAY,                                                                    \
          .of = &(const struct pb_param){ .type = PB_INT },                                    \
          .flags = PB_OPTIONAL,                                                                \
          .description = "Ids of todos that come before it" },                                 \
        { .name = "canRunParallel",                                                            \
          .type = PB_BOOL,                                                                     \
          .flags = PB_OPTIONAL,                                                                \
          .description = "It can be done beside others" },                                     \
        { .name = "parallelGroup",                                                             \
          .type = PB_STRING,                                                                   \
          .flags = PB_OPTIONAL,                                                                \
          .description = "Those of one group can be done at the same time" },                  \
        { .name = "progress",                                                                  \
          .type = PB_DOUBLE,                                                                   \
          .flags = PB_OPTIONAL,                                                                \
          .description = "How far it is, 0.0 to 1.0" },                                        \
    {                                                                                          \
        .name = "blockedReason", .type = PB_STRING, .flags = PB_OPTIONAL,                      \
        .description = "What it waits for; needed when it is blocked"                          \
    }

static const struct pb_param numbered[] = {
    { .name = "id", .type = PB_INT, .flags = PB_OPTIONAL, .description = "From 1" },
    TODO_MEMBERS,
    { 0 },
};
static const struct pb_param unnumbered[] = { TODO_MEMBERS, { 0 } };

#define LIST_OF(properties) \
    &(const struct pb_param) { .type = PB_OBJECT, .of = (properties) }

static const struct pb_param write_params[] = {
    { .name = "todoList",
      .type = PB_ARRAY,
      .of = LIST_OF(numbered),
      .description = "The whole list; those that are completed must stay in it" },
    { 0 },
};
static const struct pb_param update_params[] = {
    { .name = "todoUpdates",
      .type = PB_ARRAY,
      .of = LIST_OF(numbered),
      .description = "For each todo its id, and what changes" },
    { 0 },
};
static const struct pb_param add_params[] = {
    { .name = "newTodos",
      .type = PB_ARRAY,
      .of = LIST_OF(unnumbered),
      .description = "What comes to the list; ids are given by themselves" },
    { 0 },
};

static const struct tool_operation operations[] = {
    { .name = "read",
      .help = "the list, and how far it is",
      .flags = PB_READ_ONLY | PB_CLOSED_WORLD | TOOL_SERIAL | TOOL_FULL_NAME,
      .run = read_todos,
      .display = "Reading todos" },
    { .name = "write",
      .help = "a list instead of the one that is there",
      .params = write_params,
      .flags = PB_IDEMPOTENT | PB_CLOSED_WORLD | TOOL_SERIAL | TOOL_FULL_NAME,
      .run = write_todos,
      .display = "Writing todos" },
    { .name = "update",
      .help = "changes of some todos; all others stay as they are",
      .params = update_params,
      .flags = PB_ADDITIVE | PB_CLOSED_WORLD | TOOL_SERIAL | TOOL_FULL_NAME,
      .run = update_todos,
      .display = "Updating todos" },
    { .name = "add",
      .help = "more todos behind those that are there; new work after all is completed, too",
      .params = add_params,
      .flags = PB_ADDITIVE | PB_CLOSED_WORLD | TOOL_SERIAL | TOOL_FULL_NAME,
      .run = add_todos,
      .display = "Adding todos" },
    { 0 },
};

static const struct tool_spelling spellings[] = {
    { "todos", "todoList" },
    { "todos", "newTodos" },
    { "updates", "todoUpdates" },
    { 0 },
};

const struct tool todo_tool = {
    .name = "todo_operations",
    .title = "Todos",
    .help =
        "The list of what is to be done in this conversation, and how far it is.\n\n"
        "Use it for work of several steps, when somebody asks for several things at once, and when "
        "people should see how far the work is. Do not use it for a single simple task, for mere "
        "conversation, or for a short example.\n\n"
        "Mark a todo in-progress before you begin with it, and completed at once when it is done: "
        "never several together, never later. Only one is in-progress at a time. Update the list "
        "often; what you write in plain text changes nothing in it.",
    .icon = "list.clipboard",
    .group = TOOLS_TODO,
    .family = &(const struct tool_family){ open_state, free },
    .spellings = spellings,
    .operations = operations,
};
