/* Patches of many files: all of it, or nothing. */
#include "file_rig.h"

#define PATCH(text) "{'patchContent':'" text "'}"
#define CHANGE_A    "--- a/a\\n+++ b/a\\n@@ -1 +1 @@\\n-A\\n+A2\\n"

TEST(a_patch_changes_makes_renames_and_deletes)
{
    /* S3-78 */
    put_file("a", "A\n");
    put_file("b", "B\n");
    put_file("c", "C\n");
    CHECK(chmod(in_work("c"), 0740) == 0);
    CHECK_STR(did("apply_patch",
                  PATCH(CHANGE_A "--- a/b\\n+++ /dev/null\\n@@ -1 +0,0 @@\\n-B\\n"
                                 "diff --git a/c b/d/c2\\nrename from c\\nrename to d/c2\\n"
                                 "--- a/c\\n+++ b/d/c2\\n@@ -1 +1,2 @@\\n C\\n+more\\n"
                                 "--- /dev/null\\n+++ b/e/new\\n@@ -0,0 +1 @@\\n+N\\n")),
              "changed a (+1 -1)\ndeleted b (+0 -1)\nrenamed c -> d/c2 (+1 -0)\n"
              "created e/new (+1 -0)\n");
    CHECK_STR(file_is("a"), "A2\n");
    CHECK_STR(file_is("d/c2"), "C\nmore\n");
    CHECK_INT(temp_mode(in_work("d/c2")), 0740);
    CHECK_STR(file_is("e/new"), "N\n");
    CHECK(!is_there("b") && !is_there("c"));
    CHECK_INT(names_in(rig_work()), 3);
}

TEST(a_patch_that_does_not_fit_changes_nothing)
{
    put_file("a", "A\n");
    put_file("b", "B\n");
    CHECK_HAS(failed("apply_patch", PATCH(CHANGE_A "--- a/b\\n+++ b/b\\n@@ -1 +1 @@\\n-X\\n+Y\\n")),
              "b': the hunk '@@ -1 +1 @@' does not fit\nexpected:\n    X\nfound at line 1:\n    B\n"
              "No file was changed.");
    CHECK_STR(file_is("a"), "A\n");
    CHECK_HAS(failed("apply_patch", PATCH(CHANGE_A "--- a/x\\n+++ b/x\\n@@ -1 +1 @@\\n-X\\n+Y\\n")),
              "is to be changed, but is not there");
    CHECK_HAS(
        failed("apply_patch", PATCH(CHANGE_A "--- /dev/null\\n+++ b/b\\n@@ -0,0 +1 @@\\n+Y\\n")),
        "exists already");
    CHECK_HAS(failed("apply_patch", PATCH("--- a/b\\n+++ /dev/null\\n@@ -0,0 +0,0 @@\\n")),
              "holds more than the patch takes out");
    CHECK_HAS(
        failed("apply_patch", PATCH(CHANGE_A "--- a/z\\n+++ /dev/null\\n@@ -1 +0,0 @@\\n-B\\n")),
        "is to be deleted, but is not there");
    CHECK_STR(file_is("a"), "A\n");
    CHECK_STR(file_is("b"), "B\n");
}

TEST(a_dry_run_writes_nothing)
{
    put_file("a", "A\n");
    CHECK_HAS(did("apply_patch", "{'dry_run':true,'patchContent':'" CHANGE_A
                                 "--- /dev/null\\n+++ b/d/x\\n@@ -0,0 +1 @@\\n+Y\\n'}"),
              "Nothing was written (dry_run). Would be done:\nchanged a (+1 -1)\ncreated d/x");
    CHECK_STR(file_is("a"), "A\n");
    CHECK(!is_there("d"));
}

TEST(parts_about_the_same_file_come_one_after_the_other)
{
    put_file("a", "A\n");
    did("apply_patch", PATCH(CHANGE_A "--- a/a\\n+++ b/a\\n@@ -1 +1 @@\\n-A2\\n+A3\\n"));
    CHECK_STR(file_is("a"), "A3\n");
    did("apply_patch", PATCH("--- a/a\\n+++ /dev/null\\n@@ -1 +0,0 @@\\n-A3\\n"
                             "--- /dev/null\\n+++ b/a\\n@@ -0,0 +1 @@\\n+again\\n"
                             "--- /dev/null\\n+++ b/t\\n@@ -0,0 +1 @@\\n+t\\n"
                             "--- a/t\\n+++ /dev/null\\n@@ -1 +0,0 @@\\n-t\\n"));
    CHECK_STR(file_is("a"), "again\n");
    CHECK_INT(names_in(rig_work()), 1);
}

TEST(a_patch_stays_in_its_directory)
{
    static const char *const names[] = { "../x", "/etc/x", "d/../../x", "~/x", "." };
    char arguments[200];

    CHECK(mkdir(in_work("d"), 0755) == 0);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(arguments, sizeof arguments,
                 "{'patchContent':'--- /dev/null\\n+++ b/%s\\n@@ -0,0 +1 @@\\n+Y\\n'}", names[i]);
        CHECK_HAS(failed("apply_patch", arguments), "No file was changed.");
    }
    CHECK_HAS(failed("apply_patch", "{'targetDirectory':'d','patchContent':'--- /dev/null\\n+++ "
                                    "b/../x\\n@@ -0,0 +1 @@\\n+Y\\n'}"),
              "leads out of '");
    did("apply_patch", "{'targetDirectory':'d','patchContent':'--- /dev/null\\n+++ b/x\\n@@ -0,0 "
                       "+1 @@\\n+Y\\n'}");
    CHECK_STR(file_is("d/x"), "Y\n");
    CHECK_HAS(failed("apply_patch", PATCH("rubbish")), "there is no unified diff in it");
}

/* As many as there is room for, and one more. */
TEST(the_files_of_a_patch_have_a_bound_together)
{
    enum { MOST = FILE_PATCH_BYTES / FILE_EDIT_BYTES };
    AUTO_BUF struct buf text = { 0 };
    char name[8];

    buf_str(&text, "{'dry_run':true,'patchContent':'");
    for (int i = 0; i <= MOST; i++) {
        snprintf(name, sizeof name, "f%d", i);
        put_file(name, "A\n");
        CHECK(truncate(in_work(name), FILE_EDIT_BYTES) == 0);
        buf_printf(&text, "--- a/%s\\n+++ b/%s\\n@@ -1 +1 @@\\n-A\\n+B\\n", name, name);
        if (i == MOST - 1) {
            buf_str(&text, "'}");
            CHECK_HAS(did("apply_patch", buf_cstr(&text)), "changed f3 (+1 -1)");
            text.n -= 2;
        }
    }
    buf_str(&text, "'}");
    CHECK_HAS(failed("apply_patch", buf_cstr(&text)), "have more than 67108864 bytes together");
}
