/* Files that are changed together, by several at once, and where the file system helps little. */
#include "../without_call.h"
#include "file_rig.h"
#include <errno.h>
#include <pthread.h>
#include <sys/xattr.h>

static struct pb_error err;

static void read_change(struct file_change *ch, const char *name)
{
    struct tool_call c = { .directory = rig_work(), .person = true };
    struct tool_place p;

    CHECK_INT(place_find(&p, &c, name, &err), 0);
    CHECK_INT(change_read(ch, &p, true, &err), 0);
}

static void read_change_to(struct file_change *ch, const char *name, const char *text)
{
    read_change(ch, name);
    ch->gone = !text;
    buf_str(&ch->text, text ? text : "");
}

/* Three that go well and one that does not: somebody changes the last before its turn. */
static void check_all_or_none(void)
{
    struct file_change v[4];

    put_file("a", "A");
    put_file("b", "B");
    put_file("d", "D");
    read_change_to(&v[0], "a", "A2");
    read_change_to(&v[1], "b", NULL);
    read_change_to(&v[2], "sub/c", "C2");
    read_change_to(&v[3], "d", "D2");
    put_file("d", "somebody else's");
    CHECK_INT(changes_apply(v, 4, &err), -PB_E_BUSY);
    CHECK_HAS(err.msg, "was changed by somebody else");
    CHECK_STR(file_is("a"), "A");
    CHECK_STR(file_is("b"), "B");
    CHECK_STR(file_is("d"), "somebody else's");
    CHECK(!is_there("sub/c"));
    CHECK_INT(names_in(rig_work()), 4);
    CHECK_INT(names_in(in_work("sub")), 0);
    for (int i = 0; i < 4; i++)
        change_done(&v[i]);
    read_change_to(&v[0], "a", "A2");
    read_change_to(&v[1], "b", NULL);
    read_change_to(&v[2], "sub/c", "C2");
    CHECK_INT(changes_apply(v, 3, &err), 0);
    CHECK_STR(file_is("a"), "A2");
    CHECK_STR(file_is("sub/c"), "C2");
    CHECK_INT(names_in(rig_work()), 3);
    for (int i = 0; i < 3; i++)
        change_done(&v[i]);
}

TEST(files_change_together_or_not_at_all) { check_all_or_none(); }

TEST(they_do_so_where_the_file_system_cannot_exchange_names)
{
    TAP_SKIP_UNDER_VALGRIND("does not know seccomp");
    CHECK(without_call(SYS_renameat2, EINVAL) == 0);
    check_all_or_none();
    CHECK_HAS(failed("rename_file", "{'oldPath':'a','newPath':'d'}"), "exists already");
    did("rename_file", "{'oldPath':'a','newPath':'e'}");
    CHECK_STR(file_is("e"), "A2");
}

TEST(what_came_into_being_meanwhile_is_left_alone)
{
    struct file_change ch;

    read_change_to(&ch, "new", "ours");
    put_file("new", "theirs");
    CHECK_INT(changes_apply(&ch, 1, &err), -PB_E_BUSY);
    CHECK_STR(file_is("new"), "theirs");
    CHECK_INT(names_in(rig_work()), 1);
    change_done(&ch);
}

TEST(a_disk_that_is_full_leaves_what_was_there)
{
    struct file_change ch;

    put_file("a", "A");
    read_change_to(&ch, "a", "A2");
    TAP_SKIP_UNDER_VALGRIND("does not know seccomp");
    CHECK(without_call(SYS_fsync, ENOSPC) == 0);
    CHECK_INT(changes_apply(&ch, 1, &err), -PB_E_SYSTEM);
    CHECK_HAS(err.msg, "No space left");
    CHECK_STR(file_is("a"), "A");
    CHECK_INT(names_in(rig_work()), 1);
    change_done(&ch);
}

TEST(what_people_noted_on_a_file_stays)
{
    char value[8] = "";

    put_file("a", "A");
    if (setxattr(in_work("a"), "user.note", "kept", 5, 0) < 0)
        TAP_SKIP("there are no attributes on this file system");
    did("write_file", "{'filePath':'a','content':'B'}");
    CHECK_INT(getxattr(in_work("a"), "user.note", value, sizeof value), 5);
    CHECK_STR(value, "kept");
}

TEST(a_file_that_is_too_large_is_not_changed)
{
    put_file("big", "");
    CHECK(truncate(in_work("big"), FILE_EDIT_BYTES + 1) == 0);
    CHECK_HAS(failed("append_file", "{'filePath':'big','content':'x'}"),
              "has 16777217 bytes; files of up to 16777216 bytes");
    CHECK(truncate(in_work("big"), FILE_EDIT_BYTES) == 0);
    CHECK_HAS(failed("append_file", "{'filePath':'big','content':'x'}"), "would have 16777217");
    CHECK(truncate(in_work("big"), FILE_EDIT_BYTES - 1) == 0);
    did("append_file", "{'filePath':'big','content':'x'}");
}

enum { WRITERS = 4, LINES = 25 };

static void *append_lines(void *ctx)
{
    struct rig_call r;

    (void)ctx;
    rig_begin(&r, "append_file", "{'filePath':'log','content':'line\\n'}");
    for (int i = 0; i < LINES;) {
        i += r.c.op->run(&r.c) == 0; /* it may have been too much in a row: once more */
        rig_forget(&r);
    }
    rig_end(&r);
    return NULL;
}

TEST(nobody_loses_what_another_has_written)
{
    /* S3-23 */
    pthread_t threads[WRITERS];

    rig_work();
    for (int i = 0; i < WRITERS; i++)
        CHECK(pthread_create(&threads[i], NULL, append_lines, NULL) == 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(strlen(file_is("log")), WRITERS * LINES * 5);
    CHECK_INT(names_in(rig_work()), 1);
}
