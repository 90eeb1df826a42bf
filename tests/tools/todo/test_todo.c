/* What the operations do to a list of todos, and the rules that hold for it. */
#include "tap.h"
#include "tools/todo/todo_impl.h"
#include "json/json.h"

static struct todo_list list;
static struct todo_errors errors;
static int64_t now = 1000000;
static bool autofix;

static void change(todo_change_fn *fn, const char *items)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct todo_by by = { now, "tester", "call-1", autofix };

    buf_done(&errors.text);
    errors = (struct todo_errors){ 0 };
    CHECK_INT(json_parse(&doc, span_of(items), NULL, NULL), 0);
    fn(&list, json_root(&doc), &by, &errors);
}

static void done(void)
{
    todo_list_done(&list);
    buf_done(&errors.text);
}

/* What is wrong with this list as a whole; "" when nothing is. */
static const char *wrong(const char *items)
{
    todo_list_done(&list);
    change(todo_replace, items);
    return buf_cstr(&errors.text);
}

static const char *told(void)
{
    static char text[65536];
    AUTO_BUF struct buf out = { 0 };

    todo_list_tell(&out, &list);
    snprintf(text, sizeof text, "%s", buf_cstr(&out));
    return text;
}

TEST(a_list_that_is_written_is_the_list)
{
    /* S3-45, S3-52, S3-53 */
    CHECK_STR(wrong("[{\"id\":1,\"title\":\"Read the code\",\"description\":\"all\",\"status\":"
                    "\"completed\"},{\"id\":2,\"title\":\"Write it\",\"status\":\"in-progress\","
                    "\"priority\":\"critical\",\"dependencies\":[1],\"canRunParallel\":true,"
                    "\"parallelGroup\":\"g\",\"progress\":0.25},{\"id\":3,\"title\":\"Ship\","
                    "\"status\":\"blocked\",\"blockedReason\":\"no key\"}]"),
              "");
    CHECK_INT(list.n, 3);
    CHECK_STR(told(), "1 of 3 completed (33 %), 1 in progress, 0 not started, 1 blocked.\n\n"
                      "[1] Read the code (completed)\n    all\n"
                      "[2] Write it (in-progress, critical, 25 %, can run in parallel, group g)\n"
                      "    after: 1\n[3] Ship (blocked)\n    blocked: no key");
    done();
}

TEST(other_spellings_of_a_member_are_understood_but_not_two_at_once)
{
    CHECK_STR(wrong("[{\"title\":\"a\",\"status\":\"blocked\",\"blocked_reason\":\"x\","
                    "\"can_run_parallel\":true,\"parallel_group\":\"g\"}]"),
              "");
    CHECK_STR(list.v[0].blocked_reason, "x");
    CHECK_STR(list.v[0].parallel_group, "g");
    CHECK(list.v[0].can_run_parallel);
    CHECK_STR(wrong("[{\"title\":\"a\",\"blocked_reason\":\"x\",\"blockedReason\":\"y\"}]"),
              "- todoList[0]: blockedReason is there in two spellings\n");
    done();
}

TEST(only_one_may_be_in_progress)
{
    /* S3-49, S3-55 */
    const char *two = "[{\"id\":1,\"title\":\"a\",\"status\":\"in-progress\"},{\"id\":2,\"title\":"
                      "\"b\",\"status\":\"in-progress\"}]";

    CHECK_STR(wrong(two), "- Only one todo may be in-progress at a time, and these are: 1, 2\n");
    autofix = true;
    CHECK_STR(wrong(two), "");
    CHECK_INT(list.v[0].status, TODO_IN_PROGRESS);
    CHECK_INT(list.v[1].status, TODO_NOT_STARTED);
    change(todo_update, "[{\"id\":2,\"status\":\"in-progress\"}]");
    CHECK_INT(errors.n, 0);
    CHECK_INT(list.v[1].status, TODO_NOT_STARTED);
    done();
}

TEST(completed_todos_cannot_be_left_out)
{
    /* S3-56 */
    wrong("[{\"id\":1,\"title\":\"Done one\",\"status\":\"completed\"},{\"id\":2,\"title\":\"b\"},"
          "{\"id\":3,\"title\":\"Done too\",\"status\":\"completed\"}]");
    change(todo_replace, "[{\"id\":2,\"title\":\"b\"}]");
    CHECK_STR(buf_cstr(&errors.text),
              "- Cannot delete completed todos. The following completed todos are missing:\n"
              "  - Todo 1: Done one\n  - Todo 3: Done too\n"
              "Completed work must not be deleted: write the list with them.\n");
    done();
}

TEST(dependencies_must_exist)
{
    /* S3-57 */
    CHECK_STR(wrong("[{\"id\":5,\"title\":\"a\",\"dependencies\":[10]}]"),
              "- Todo 5 depends on non-existent todo 10\n");
    done();
}

TEST(two_that_depend_on_each_other_are_two_errors)
{
    /* S3-58, S3-61 */
    wrong("[{\"id\":3,\"title\":\"a\",\"dependencies\":[4]},{\"id\":4,\"title\":\"b\","
          "\"dependencies\":[3]},{\"id\":5,\"title\":\"leads there\",\"dependencies\":[3]}]");
    CHECK_INT(errors.n, 2);
    CHECK_STR(buf_cstr(&errors.text),
              "- Todo 3 has circular dependency (indirectly depends on itself)\n"
              "- Todo 4 has circular dependency (indirectly depends on itself)\n");
    CHECK_STR(wrong("[{\"id\":1,\"title\":\"a\",\"dependencies\":[1]}]"),
              "- Todo 1 has circular dependency (depends on itself)\n");
    CHECK_STR(wrong("[{\"id\":1,\"title\":\"a\"},{\"id\":2,\"title\":\"b\",\"dependencies\":[1]},"
                    "{\"id\":3,\"title\":\"c\",\"dependencies\":[1,2]}]"),
              "");
    done();
}

TEST(a_blocked_one_says_why)
{
    /* S3-59 */
    CHECK_STR(wrong("[{\"id\":7,\"title\":\"a\",\"status\":\"blocked\"}]"),
              "- Todo 7 is blocked but has no blockedReason\n");
    CHECK_STR(wrong("[{\"id\":7,\"title\":\"a\",\"status\":\"blocked\",\"blockedReason\":\"\"}]"),
              "- Todo 7 is blocked but has no blockedReason\n");
    done();
}

TEST(progress_is_from_0_to_1)
{
    /* S3-60 */
    CHECK_STR(wrong("[{\"id\":1,\"title\":\"a\",\"progress\":1.5},{\"id\":2,\"title\":\"b\","
                    "\"progress\":-0.1},{\"id\":3,\"title\":\"c\",\"progress\":0},{\"id\":4,"
                    "\"title\":\"d\",\"progress\":1}]"),
              "- Todo 1 has progress 1.5, which is not within 0.0-1.0\n"
              "- Todo 2 has progress -0.1, which is not within 0.0-1.0\n");
    done();
}

TEST(all_errors_are_told_together)
{
    /* S3-61 */
    wrong("[{\"id\":1,\"title\":\"kept\",\"status\":\"completed\"}]");
    change(todo_replace,
           "[{\"id\":2,\"title\":\"a\",\"status\":\"blocked\",\"progress\":2,\"dependencies\":[9]},"
           "{\"id\":3,\"title\":\"b\",\"status\":\"in-progress\"},{\"id\":4,\"status\":"
           "\"in-progress\"},{\"id\":3,\"title\":\"again\"}]");
    CHECK_STR(buf_cstr(&errors.text),
              "- There are two todos with the id 3\n"
              "- Only one todo may be in-progress at a time, and these are: 3, 4\n"
              "- Todo 2 is blocked but has no blockedReason\n"
              "- Todo 2 has progress 2, which is not within 0.0-1.0\n"
              "- Todo 4 has no title\n"
              "- Todo 2 depends on non-existent todo 9\n"
              "- Cannot delete completed todos. The following completed todos are missing:\n"
              "  - Todo 1: kept\nCompleted work must not be deleted: write the list with them.\n");
    CHECK_INT(errors.n, 7);
    done();
}

TEST(words_that_are_no_states_are_refused)
{
    /* S3-48 */
    CHECK_STR(wrong("[{\"id\":1,\"title\":\"a\",\"status\":\"done\",\"priority\":\"urgent\"}]"),
              "- todoList[0]: status must be one of not-started, in-progress, completed, blocked\n"
              "- todoList[0]: priority must be one of low, medium, high, critical\n");
    CHECK_STR(wrong("[7,{\"id\":0,\"title\":[]}]"),
              "- todoList[0]: a todo must be an object, not a number\n"
              "- todoList[1]: id must be a whole number from 1 to 1000000000\n"
              "- todoList[1]: title must be a text without NUL characters, not an array\n");
    done();
}

TEST(an_update_changes_only_what_it_names)
{
    /* S3-46, S3-62 */
    wrong("[{\"id\":1,\"title\":\"a\",\"description\":\"d\"},{\"id\":2,\"title\":\"b\"}]");
    now += 5000;
    change(todo_update, "[{\"id\":1,\"status\":\"in-progress\"}]");
    CHECK_INT(errors.n, 0);
    CHECK_STR(list.v[0].description, "d");
    CHECK_INT(list.v[0].status, TODO_IN_PROGRESS);
    CHECK_INT(list.v[0].updated_ms, now);
    CHECK_INT(list.v[0].created_ms, now - 5000);
    CHECK_INT(list.v[1].updated_ms, now - 5000);
    change(todo_update, "[{\"id\":2,\"fields\":{\"title\":\"bb\",\"priority\":\"low\"}}]");
    CHECK_INT(errors.n, 0);
    CHECK_STR(list.v[1].title, "bb");
    change(todo_update, "[{\"id\":9,\"title\":\"x\"},{\"title\":\"y\"}]");
    CHECK_STR(buf_cstr(&errors.text),
              "- There is no todo 9; the operation read shows which there are, add makes new ones\n"
              "- todoUpdates[1]: an update must be an object with the id of a todo\n");
    change(todo_update, "[]");
    CHECK_INT(errors.n, 1);
    done();
}

TEST(what_is_added_gets_the_next_ids_and_the_rest_stays)
{
    /* S3-47 */
    wrong("[{\"id\":1,\"title\":\"a\",\"status\":\"completed\"},{\"id\":7,\"title\":\"b\"}]");
    change(todo_append, "[{\"title\":\"c\"},{\"id\":1,\"title\":\"d\",\"status\":\"completed\"}]");
    CHECK_INT(errors.n, 0);
    CHECK_INT(list.n, 4);
    CHECK_INT(list.v[0].status, TODO_COMPLETED);
    CHECK_INT(list.v[2].id, 8);
    CHECK_INT(list.v[2].status, TODO_NOT_STARTED);
    CHECK_INT(list.v[3].id, 9);
    change(todo_append, "[]");
    CHECK_INT(errors.n, 1);
    done();
}

TEST(each_todo_knows_who_changed_it_last)
{
    wrong("[{\"id\":1,\"title\":\"a\"}]");
    CHECK_STR(list.v[0].by, "tester");
    CHECK_STR(list.v[0].call, "call-1");
    now += 1000; /* written again as it was: nobody has changed it */
    change(todo_replace, "[{\"id\":1,\"title\":\"a\",\"updatedBy\":\"forged\",\"updatedAt\":1}]");
    CHECK_INT(errors.n, 0);
    CHECK_INT(list.v[0].updated_ms, now - 1000);
    CHECK_STR(list.v[0].by, "tester");
    done();
}

TEST(when_all_is_done_there_may_be_new_work)
{
    /* S3-3 */
    wrong("[{\"id\":1,\"title\":\"a\",\"status\":\"completed\"}]");
    CHECK_STR(told(), "1 of 1 completed (100 %), 0 in progress, 0 not started, 0 blocked.\n\n"
                      "[1] a (completed)\n\nAll todos are completed: you are ready for new work. "
                      "Use the operation add for it.");
    CHECK(!strstr(told(), "summary"));
    wrong("[{\"id\":1,\"title\":\"a\",\"status\":\"completed\"},{\"id\":2,\"title\":\"b\"}]");
    CHECK(!strstr(told(), "new work"));
    done();
}

static char *many(size_t n, const char *more)
{
    struct buf text = { 0 };

    buf_byte(&text, '[');
    for (size_t i = 0; i < n; i++)
        buf_printf(&text, "%s{\"title\":\"t\"%s}", i ? "," : "", more);
    buf_byte(&text, ']');
    return buf_take(&text);
}

TEST(a_list_holds_so_many_and_no_more)
{
    AUTO_FREE char *most = many(TODO_ITEMS_MAX, ""), *more = many(TODO_ITEMS_MAX + 1, "");
    AUTO_FREE char *bad = many(TODO_ITEMS_MAX, ",\"progress\":7");

    CHECK_STR(wrong(most), "");
    CHECK_INT(list.n, TODO_ITEMS_MAX);
    change(todo_append, "[{\"title\":\"x\"}]");
    CHECK_STR(buf_cstr(&errors.text), "- A list holds at most 500 todos\n");
    CHECK_STR(wrong(more), "- A list holds at most 500 todos\n");
    wrong(bad);
    CHECK_INT(errors.n, TODO_ITEMS_MAX);
    CHECK(errors.text.n < (size_t)100 * TODO_ERRORS_TOLD);
    done();
}

static const char *wrong_title(size_t n)
{
    AUTO_BUF struct buf text = { 0 };

    buf_str(&text, "[{\"title\":\"");
    for (size_t i = 0; i < n; i++)
        buf_byte(&text, 'x');
    buf_str(&text, "\"}]");
    return wrong(buf_cstr(&text));
}

TEST(a_title_is_so_long_and_no_longer)
{
    CHECK_STR(wrong_title(TODO_TITLE_MAX), "");
    CHECK_STR(wrong_title(TODO_TITLE_MAX + 1), "- todoList[0]: title is longer than 1024 bytes\n");
    done();
}

TEST(a_list_that_was_written_reads_back_the_same)
{
    AUTO_BUF struct buf text = { 0 }, again = { 0 };
    AUTO_TODOS struct todo_list back = { 0 };
    struct pb_error err;

    wrong("[{\"id\":4,\"title\":\"\\\"a\\\" \\n\\u00e4\",\"description\":\"d\",\"status\":"
          "\"blocked\",\"blockedReason\":\"r\",\"priority\":\"low\",\"progress\":0.1},{\"id\":9,"
          "\"title\":\"b\",\"dependencies\":[4],\"canRunParallel\":true,\"parallelGroup\":\"g\"}]");
    todo_list_write(&text, &list, "c");
    CHECK_INT(todo_list_read(&back, buf_span(&text), &err), 0);
    todo_list_write(&again, &back, "c");
    CHECK_STR(buf_cstr(&again), buf_cstr(&text));
    done();
}

TEST(its_calls_run_one_at_a_time)
{
    /* S3-22 */
    size_t n = 0;

    for (const struct tool_operation *op = todo_tool.operations; op->run; op++, n++)
        CHECK(op->flags & TOOL_SERIAL);
    CHECK_INT(n, 4);
}
