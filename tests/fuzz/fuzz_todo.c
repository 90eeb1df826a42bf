/* fuzz_todo.c - a list of todos from disk, and what a caller sends: the first line is the file, the
 * rest a list of todos, of updates or of new ones. What is accepted holds all rules, and can be
 * read again as it was written. */
#include "tools/todo/todo_impl.h"
#include "json/json.h"

static void check_kept(const struct todo_list *l)
{
    AUTO_TODOS struct todo_list back = { 0 };
    AUTO_BUF struct buf text = { 0 }, again = { 0 }, told = { 0 };
    struct pb_error err;

    todo_list_tell(&told, l);
    todo_list_write(&text, l, "c");
    if (todo_list_read(&back, buf_span(&text), &err) < 0)
        __builtin_trap();
    todo_list_write(&again, &back, "c");
    if (!span_eq(buf_span(&text), buf_span(&again)))
        __builtin_trap();
}

static void try_change(struct span file, struct json items, todo_change_fn *fn, bool autofix)
{
    AUTO_TODOS struct todo_list l = { 0 };
    struct todo_by by = { 1763300000000, "fuzz", "call", autofix };
    struct todo_errors e = { 0 };
    struct pb_error err;

    if (!file.n || todo_list_read(&l, file, &err) == 0) {
        fn(&l, items, &by, &e);
        if (!e.n)
            check_kept(&l);
    }
    buf_done(&e.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span all = span_make((const char *)data, size);
    const char *line = size ? memchr(data, '\n', size) : NULL;
    struct span file = line ? span_make(all.p, (size_t)(line - all.p)) : all;
    AUTO_JSON struct json_doc doc = { 0 };

    if (json_parse(&doc, line ? span_from(all, file.n + 1) : SPAN("[]"),
                   &(struct json_opts){ .unique_depth = JSON_ALL }, NULL) < 0)
        return 0;
    for (int autofix = 0; autofix < 2; autofix++) {
        try_change(file, json_root(&doc), todo_replace, autofix);
        try_change(file, json_root(&doc), todo_update, autofix);
        try_change(file, json_root(&doc), todo_append, autofix);
    }
    return 0;
}
