#include "file_rig.h"
#include <fcntl.h>

TEST(a_file_is_made_with_its_directories_and_not_overwritten)
{
    /* S3-72 S3-80 */
    CHECK_HAS(did("create_file", "{'filePath':'a/b/c.txt','content':'x\\ny'}"), "Created '");
    CHECK_STR(file_is("a/b/c.txt"), "x\ny");
    CHECK_HAS(failed("create_file", "{'filePath':'a/b/c.txt','content':'z'}"),
              "exists already. overwrite=true replaces it");
    CHECK_STR(file_is("a/b/c.txt"), "x\ny");
    CHECK_HAS(did("create_file", "{'filePath':'a/b/c.txt','content':'z','overwrite':true}"),
              "Replaced '");
    CHECK_STR(file_is("a/b/c.txt"), "z");
    CHECK_INT(names_in(in_work("a/b")), 1);
    CHECK_HAS(failed("create_file", "{'filePath':'a/b','content':''}"), "is a directory");
    CHECK_HAS(failed("create_file", "{'filePath':'.','content':''}"), "everything here begins");
    CHECK_HAS(failed("create_file", "{'filePath':'a/b/c.txt/d','content':''}"), "is no directory");
}

TEST(a_file_is_written_and_appended_to)
{
    did("write_file", "{'filePath':'a','content':'one\\n'}");
    did("append_file", "{'filePath':'a','content':'two\\n'}");
    did("append_file", "{'filePath':'new','content':'x'}");
    CHECK_STR(file_is("a"), "one\ntwo\n");
    CHECK_HAS(did("get_file_info", "{'filePath':'new'}"), "size: 1 bytes");
    CHECK_INT(names_in(rig_work()), 2);
}

TEST(what_was_there_keeps_its_mode_and_its_line_ends)
{
    put_file("a", "one\r\ntwo\r\n");
    CHECK(chmod(in_work("a"), 04751) == 0);
    did("replace_string", "{'filePath':'a','oldString':'one\\ntwo','newString':'1\\n2\\n3'}");
    CHECK_STR(file_is("a"), "1\r\n2\r\n3\r\n");
    did("append_file", "{'filePath':'a','content':'4\\n'}");
    did("insert_edit", "{'filePath':'a','lineNumber':1,'newText':'0'}");
    CHECK_STR(file_is("a"), "0\r\n1\r\n2\r\n3\r\n4\r\n");
    CHECK_INT(temp_mode(in_work("a")), 0751); /* never more than that */
}

TEST(a_text_is_replaced_where_it_is_once)
{
    /* S3-73 */
    put_file("a", "x = 1\ny = 1\n  z = 2\n");
    did("replace_string", "{'filePath':'a','oldString':'y = 1','newString':'y = 3'}");
    CHECK_STR(file_is("a"), "x = 1\ny = 3\n  z = 2\n");
    CHECK_HAS(failed("replace_string", "{'filePath':'a','oldString':' = ','newString':''}"),
              "found 3 times");
    CHECK_HAS(failed("replace_string", "{'filePath':'a','oldString':' = ','newString':''}"),
              "expected 1: at line 1, 2, 3. Take more");
    did("replace_string",
        "{'filePath':'a','oldString':' = ','newString':': ','expectedReplacements':3}");
    CHECK_STR(file_is("a"), "x: 1\ny: 3\n  z: 2\n");
    CHECK_HAS(failed("replace_string", "{'filePath':'a','oldString':'z: 2\\n\\n','newString':''}"),
              "near line 3, but spaces or what follows differ. There is:\n      z: 2");
    CHECK_HAS(failed("replace_string", "{'filePath':'a','oldString':'q','newString':''}"),
              "found 0 times");
    CHECK_HAS(failed("replace_string", "{'filePath':'a','oldString':'','newString':'q'}"),
              "oldString is empty");
    CHECK_HAS(failed("replace_string", "{'filePath':'b','oldString':'a','newString':'q'}"),
              "create_file makes it");
    CHECK_STR(file_is("a"), "x: 1\ny: 3\n  z: 2\n");
}

TEST(several_replacements_are_all_made_or_none)
{
    /* S3-74 */
    put_file("a", "one two\n");
    CHECK_HAS(failed("multi_replace_string",
                     "{'filePath':'a','replacements':[{'oldString':'one','newString':'1'},"
                     "{'oldString':'three','newString':'3'}]}"),
              "replacement 2, and so none: oldString was found 0 times");
    CHECK_STR(file_is("a"), "one two\n");
    did("multi_replace_string",
        "{'filePath':'a','replacements':[{'oldString':'one','newString':'1'},"
        "{'old_string':'1 two','new_string':'3'}]}");
    CHECK_STR(file_is("a"), "3\n");
    CHECK_STR(failed("multi_replace_string", "{'filePath':'a','replacements':[{'oldString':'3'}]}"),
              "Missing required parameter: replacements[0].newString");
    CHECK_HAS(failed("multi_replace_string", "{'filePath':'a','replacements':[]}"), "is empty");
}

TEST(the_number_of_replacements_has_a_bound)
{
    AUTO_BUF struct buf text = { 0 };

    put_file("a", "x");
    buf_str(&text, "{'filePath':'a','replacements':[");
    for (int i = 0; i < FILE_REPLACEMENTS_MAX; i++)
        buf_printf(&text, "%s{'oldString':'x','newString':'x'}", i ? "," : "");
    buf_str(&text, "]}");
    CHECK_HAS(did("multi_replace_string", buf_cstr(&text)), "Replaced 1000 occurrences");
    text.n -= 2;
    buf_str(&text, ",{'oldString':'x','newString':'x'}]}");
    CHECK_HAS(failed("multi_replace_string", buf_cstr(&text)), "At most 1000 replacements");
}

/* A short text for each of which a long one comes. */
TEST(what_a_file_becomes_has_a_bound)
{
    enum { TIMES = 16, EACH = FILE_EDIT_BYTES / TIMES };
    AUTO_BUF struct buf text = { 0 };
    AUTO_FREE char *filled = mem_zero(EACH + 1);

    memset(filled, 'z', EACH);
    put_file("a", "xxxxxxxxxxxxxxxx");
    buf_printf(&text,
               "{'filePath':'a','oldString':'x','newString':'%sz','expectedReplacements':16}",
               filled);
    CHECK_HAS(failed("replace_string", buf_cstr(&text)), "would have more than 16777216 bytes");
    CHECK_STR(file_is("a"), "xxxxxxxxxxxxxxxx");
    text.n = 0;
    buf_printf(&text, "{'filePath':'a','oldString':'x','newString':'%s','expectedReplacements':16}",
               filled);
    did("replace_string", buf_cstr(&text));
    CHECK_HAS(did("get_file_info", "{'filePath':'a'}"), "size: 16777216 bytes");
}

TEST(lines_are_inserted_and_replaced_by_number)
{
    /* S3-75 */
    static const struct {
        const char *was, *operation, *line, *text, *is;
    } cases[] = {
        { "1\n2\n", "insert", "1", "0", "0\n1\n2\n" },
        { "1\n2\n", "insert", "3", "3\\n", "1\n2\n3\n" },
        { "1\n2", "insert", "3", "3", "1\n2\n3" },
        { "1\n2", "insert", "2", "x", "1\nx\n2" },
        { "", "insert", "1", "x", "x\n" },
        { "1\n2\n", "replace", "2", "b\\nc", "1\nb\nc\n" },
        { "1\n2", "replace", "2", "b", "1\nb" },
        { "1\n2\n", "replace", "1", "", "2\n" },
    };
    char arguments[256];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        put_file("a", cases[i].was);
        snprintf(arguments, sizeof arguments,
                 "{'filePath':'a','lineNumber':%s,'newText':'%s','insertOperation':'%s'}",
                 cases[i].line, cases[i].text, cases[i].operation);
        did(i % 2 ? "insert_edit" : "insert_at_line", arguments);
        CHECK_STR(file_is("a"), cases[i].is);
    }
    put_file("a", "1\n");
    CHECK_HAS(failed("insert_edit", "{'filePath':'a','lineNumber':3,'newText':''}"),
              "has 1 lines; lineNumber is 3, and may be 1 to 2");
    CHECK_HAS(failed("insert_edit", "{'filePath':'a','lineNumber':0,'newText':''}"), "may be 1");
}

TEST(files_are_renamed_without_losing_others)
{
    /* S3-76 */
    put_file("a", "A");
    put_file("b", "B");
    CHECK_HAS(failed("rename_file", "{'oldPath':'a','newPath':'b'}"),
              "exists already; overwrite=true replaces it");
    CHECK_STR(file_is("b"), "B");
    did("rename_file", "{'oldPath':'a','newPath':'b','overwrite':true}");
    CHECK_STR(file_is("b"), "A");
    did("rename_file", "{'oldPath':'b','newPath':'d/e/f'}");
    CHECK_STR(file_is("d/e/f"), "A");
    did("rename_file", "{'oldPath':'d','newPath':'moved'}");
    CHECK_STR(file_is("moved/e/f"), "A");
    CHECK_HAS(failed("rename_file", "{'oldPath':'moved','newPath':'moved/in/it'}"), "into itself");
    CHECK_HAS(failed("rename_file", "{'oldPath':'nope','newPath':'x/y'}"), "there is no '");
    CHECK(!is_there("x"));
}

TEST(files_and_empty_directories_are_deleted)
{
    /* S3-77 */
    did("create_directory", "{'path':'d/e'}");
    CHECK_HAS(did("create_directory", "{'path':'d/e'}"), "is there already");
    put_file("d/f", "");
    CHECK(symlink("/etc", in_work("l")) == 0);
    CHECK_HAS(failed("delete_file", "{'filePath':'d'}"), "a directory with something in it");
    did("delete_file", "{'filePath':'d/f'}");
    did("delete_file", "{'filePath':'d/e'}");
    did("delete_file", "{'filePath':'d'}");
    did("delete_file", "{'filePath':'l'}");
    CHECK(!is_there("d") && !is_there("l") && access("/etc", F_OK) == 0);
    CHECK_HAS(failed("delete_file", "{'filePath':'d'}"), "there is no '");
    CHECK_HAS(failed("delete_file", "{'filePath':'.'}"), "everything here begins");
    put_file("file", "");
    CHECK_HAS(failed("create_directory", "{'path':'file'}"), "exists already, and is a file");
}

static void fill(char *out, size_t n, const char *pattern, const char *name)
{
    const char *at = strstr(pattern, "%s");

    snprintf(out, n, "%.*s%s%s", (int)(at - pattern), pattern, name, at + 2);
}

/* Names that lead out, for every operation that takes one. */
TEST(nothing_outside_is_touched_through_a_link)
{
    static const char *const calls[][2] = {
        { "read_file", "{'filePath':'%s/secret'}" },
        { "list_dir", "{'path':'%s'}" },
        { "get_file_info", "{'filePath':'%s/secret'}" },
        { "create_file", "{'filePath':'%s/new','content':'x'}" },
        { "create_file", "{'filePath':'%s/secret','content':'x','overwrite':true}" },
        { "write_file", "{'filePath':'%s/secret','content':'x'}" },
        { "append_file", "{'filePath':'%s/secret','content':'x'}" },
        { "replace_string", "{'filePath':'%s/secret','oldString':'CANARY','newString':'x'}" },
        { "insert_edit", "{'filePath':'%s/secret','lineNumber':1,'newText':'x'}" },
        { "rename_file", "{'oldPath':'%s/secret','newPath':'mine'}" },
        { "rename_file", "{'oldPath':'own','newPath':'%s/new'}" },
        { "delete_file", "{'filePath':'%s/secret'}" },
        { "create_directory", "{'path':'%s/new'}" },
        { "apply_patch",
          "{'patchContent':'--- /dev/null\\n+++ b/%s/new\\n@@ -0,0 +1 @@\\n+x\\n'}" },
        { "apply_patch", "{'patchContent':'--- /dev/null\\n+++ b/new\\n@@ -0,0 +1 @@\\n+x\\n',"
                         "'targetDirectory':'%s'}" },
    };
    static const char *const names[] = { "out", "d/out" };
    char arguments[256];

    put_file("own", "mine");
    CHECK(mkdir(in_work("d"), 0755) == 0 && mkdir(temp_path("outside"), 0755) == 0);
    temp_file("outside/secret", "CANARY");
    CHECK(symlink("../outside", in_work("out")) == 0);
    CHECK(symlink(temp_path("outside"), in_work("d/out")) == 0);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        for (size_t k = 0; k < ARRAY_LEN(names); k++) {
            fill(arguments, sizeof arguments, calls[i][1], names[k]);
            CHECK(!strstr(failed(calls[i][0], arguments), "CANARY"));
        }
    CHECK_STR(temp_read(temp_path("outside/secret")), "CANARY");
    CHECK_INT(names_in(temp_path("outside")), 1);
    /* The link itself is not written through, but may go. */
    CHECK(symlink("own", in_work("l")) == 0);
    CHECK_HAS(failed("write_file", "{'filePath':'l','content':'x'}"),
              "is a symbolic link to 'own'");
    CHECK_STR(file_is("own"), "mine");
}
