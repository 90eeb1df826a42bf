/* Searching as a person and a client of MCP do it: through the program. */
#include "cli_rig.h"

static void make_files(void)
{
    CHECK(mkdir(in_home("tree"), 0777) == 0 && mkdir(in_home("tree/src"), 0777) == 0);
    temp_file("tree/src/a.c", "int main(void)\n{\n    return Needle(1);\n}\n");
    temp_file("tree/src/b.h", "int needle(int x);\n");
    temp_file("tree/.gitignore", "*.o\n");
    temp_file("tree/src/a.o", "needle\n");
}

/* S3-67 */
TEST(file_search_finds_files_by_a_pattern)
{
    rig_begin();
    make_files();
    CHECK_INT(RUN("call", "file_search", "query=tree/**/*.{c,h}"), 0);
    CHECK_HAS(out, "tree/src/a.c\ntree/src/b.h\n\nResults 1 to 2 of 2: files that match");
    CHECK_INT(RUN("call", "file_search", "query=a.*", "path=tree", "ignored:=true"), 0);
    CHECK_HAS(out, "tree/src/a.c\ntree/src/a.o\n");
    CHECK_INT(RUN("call", "file_operations", "operation=file_search", "query=*.h"), 0);
    CHECK_HAS(out, "tree/src/b.h\n");
    CHECK_INT(RUN("call", "file_search", "query=*.{c,h}", "maxResults:=1"), 0);
    CHECK_HAS(out, "tree/src/a.c\n\nResults 1 to 1 of 2");
    CHECK_HAS(out, "get_search_results and offset=1");
    CHECK_INT(RUN("call", "file_search", "query=*.{c,h}", "maxResults:=1", "offset:=1"), 0);
    CHECK_HAS(out, "tree/src/b.h\n\nResults 2 to 2 of 2");
    CHECK_INT(RUN("call", "file_search", "query=nothing"), 0);
    CHECK_HAS(out, "No files that match 'nothing'.");
    CHECK_INT(RUN("call", "file_search", "query=[a"), 5);
    CHECK_INT(RUN("call", "file_search", "query=*", "path=nowhere"), 5);
    CHECK_HAS(out, "There is no 'nowhere' in ");
    CHECK_INT(RUN("call", "file_search", "query=*", "maxResults:=0"), 5);
    CHECK_HAS(out, "maxResults must be 1 or more, not 0");
    rig_end();
}

/* S3-68 */
TEST(grep_search_finds_text_and_expressions)
{
    rig_begin();
    make_files();
    CHECK_INT(RUN("call", "grep_search", "query=needle", "path=tree"), 0);
    CHECK_HAS(out, "tree/src/a.c:3:     return Needle(1);\ntree/src/b.h:1: int needle(int x);\n\n");
    CHECK_HAS(out, "Results 1 to 2 of 2");
    CHECK_INT(RUN("call", "grep_search", "query=Needle", "path=tree"), 0);
    CHECK_HAS(out, "Results 1 to 1 of 1");
    CHECK_INT(RUN("call", "grep_search", "query=needle", "path=tree", "caseSensitive:=true"), 0);
    CHECK_HAS(out, "Results 1 to 1 of 1");
    CHECK_INT(
        RUN("call", "grep_search", "query=^int \\w+\\(", "isRegexp:=true", "includePattern=*.h"),
        0);
    CHECK_HAS(out, "tree/src/b.h:1: int needle(int x);\n");
    CHECK_HAS(out, "Results 1 to 1 of 1");
    CHECK_INT(RUN("call", "grep_search", "query=^int \\w+\\("), 0);
    CHECK_HAS(out, "No lines with");
    CHECK_INT(RUN("call", "grep_search", "query=int (", "isRegexp:=true"), 5);
    CHECK_HAS(
        out,
        "'int (' is no usable regular expression: missing closing parenthesis, at character 5");
    rig_end();
}

/* S3-66 */
TEST(get_search_results_gives_the_last_results_again_by_page)
{
    rig_begin();
    make_files();
    rig_daemon(NULL);
    CHECK_INT(RUN("call", "get_search_results"), 5);
    CHECK_HAS(out, "Nothing was searched in this conversation yet");
    CHECK_INT(RUN("call", "grep_search", "query=int", "path=tree", "maxResults:=1"), 0);
    CHECK_HAS(out, "tree/src/a.c:1: int main(void)\n\nResults 1 to 1 of 2");
    temp_file("tree/src/b.h", "changed since\n");
    CHECK_INT(RUN("call", "get_search_results", "offset:=1"), 0);
    CHECK_HAS(
        out,
        "tree/src/b.h:1: int needle(int x);\n\nResults 2 to 2 of 2: lines with 'int' in tree.");
    CHECK_INT(RUN("call", "get_search_results", "offset:=5"), 0);
    CHECK_HAS(out, "none from offset 5 on");
    rig_end();
}

/* A file so large that nobody can wait for its end, of which nothing is on the disk. */
static void make_endless(void)
{
    int fd = open(in_home("endless"), O_WRONLY | O_CREAT, 0666);

    CHECK(fd >= 0);
    for (int i = 0; i < 2048; i++)
        CHECK(write(fd, "0123456\n", 8) == 8);
    CHECK(ftruncate(fd, (off_t)1 << 42) == 0);
    close(fd);
}

TEST(ctrl_c_ends_a_search_in_the_middle)
{
    for (int daemon = 0; daemon < 2; daemon++) {
        struct started s;

        rig_begin();
        make_endless();
        if (daemon)
            rig_daemon(NULL);
        start_with(&s, NULL, WORDS("call", "grep_search", "query=needle"));
        WAIT_FOR(strstr(so_far(s.e), "Searching"));
        kill(s.pid, SIGINT);
        CHECK_INT(started_end(&s), 130);
        CHECK_HAS(err, "cancelled");
        CHECK_STR(out, "");
        rig_end(); /* also the daemon ends, which waits for searches */
    }
}
