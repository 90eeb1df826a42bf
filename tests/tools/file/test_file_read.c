#include "file_rig.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

TEST(a_file_is_read_as_it_is)
{
    /* S3-63 */
    put_file("a", "one\ntwo\r\nthr\u00e9e");
    CHECK_STR(did("read_file", "{'filePath':'a'}"), "one\ntwo\r\nthr\u00e9e");
    put_file("empty", "");
    CHECK_STR(did("read_file", "{'filePath':'empty'}"), "[The file is empty.]");
}

TEST(a_range_of_lines_says_how_to_go_on)
{
    /* S3-63 */
    put_file("a", "1\n2\n3\n4\n5\n");
    CHECK_STR(did("read_file", "{'filePath':'a','offset':2,'limit':2}"),
              "2\n3\n[Lines 2 to 3; 4 bytes follow. Go on with offset=4.]\n");
    CHECK_STR(did("read_file", "{'filePath':'a','offset':4}"),
              "4\n5\n[These are the last 2 lines.]\n");
    CHECK_STR(did("read_file", "{'filePath':'a','offset':0}"), "1\n2\n3\n4\n5\n");
    CHECK_HAS(failed("read_file", "{'filePath':'a','offset':6}"),
              "ends before line 6: it has 5 lines");
    put_file("open", "1\n2");
    CHECK_HAS(failed("read_file", "{'filePath':'open','offset':3}"), "it has 2 lines");
    CHECK_STR(did("read_file", "{'filePath':'open','offset':2}"),
              "2\n[These are the last 1 lines.]\n");
}

TEST(the_last_lines_are_read_from_the_end)
{
    put_file("a", "1\n2\n3\n4\n5\n");
    CHECK_STR(did("read_file", "{'filePath':'a','offset':-2}"),
              "4\n5\n[These are the last 2 lines.]\n");
    CHECK_STR(did("read_file", "{'filePath':'a','offset':-4,'limit':2}"),
              "2\n3\n[Lines -4 to -3; 4 bytes follow. Go on with offset=-2.]\n");
    CHECK_STR(did("read_file", "{'filePath':'a','offset':-99}"),
              "1\n2\n3\n4\n5\n[These are the last 5 lines.]\n");
    put_file("open", "1\n2");
    CHECK_STR(did("read_file", "{'filePath':'open','offset':-1}"),
              "2\n[These are the last 1 lines.]\n");
}

/* A terabyte of which most is a hole: whoever reads all of it does not come back. HUGE names
 * another file, whose reading is only measured. */
TEST(the_end_of_a_huge_file_is_read_without_the_rest)
{
    const char *other = getenv("HUGE");
    struct timespec from, to;
    char arguments[512];
    int fd = open(in_work("huge"), O_WRONLY | O_CREAT, 0600);

    for (int i = 0; i < FILE_LOOK_BYTES; i++)
        CHECK(write(fd, "x", 1) == 1);
    if (pwrite(fd, "\nlast but one\nlast\n", 19, (off_t)1 << 40) != 19)
        TAP_SKIP("there are no such files on this file system");
    close(fd);
    CHECK_STR(did("read_file", "{'filePath':'huge','offset':-2}"),
              "last but one\nlast\n[These are the last 2 lines.]\n");
    if (!other)
        return;
    snprintf(arguments, sizeof arguments, "{'filePath':'%s','offset':-100}", other);
    clock_gettime(CLOCK_MONOTONIC, &from);
    did("read_file", arguments);
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("# %.3f ms for the last 100 lines of %s\n",
           (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6,
           other);
}

static void write_lines(const char *name, size_t n, size_t bytes)
{
    AUTO_BUF struct buf text = { 0 };

    for (size_t i = 0; i < n; i++) {
        memset(buf_reserve(&text, bytes), 'x', bytes);
        text.n += bytes;
        buf_byte(&text, '\n');
    }
    put_file(name, buf_cstr(&text));
}

static void write_characters(const char *name, size_t n)
{
    AUTO_BUF struct buf text = { 0 };

    while (n--)
        buf_str(&text, "\u20ac");
    put_file(name, buf_cstr(&text));
}

TEST(no_more_is_shown_than_a_model_can_take)
{
    const char *text;

    write_lines("many", FILE_READ_LINES, 1);
    CHECK(!strstr(did("read_file", "{'filePath':'many'}"), "Go on"));
    write_lines("many", FILE_READ_LINES + 1, 1);
    CHECK_HAS(did("read_file", "{'filePath':'many','limit':100000}"),
              "[Lines 1 to 2000; 2 bytes follow. Go on with offset=2001.]");
    write_lines("wide", 100, 999);
    text = did("read_file", "{'filePath':'wide'}");
    CHECK_HAS(text, "[Lines 1 to 40; 60000 bytes follow. Go on with offset=41.]");
    CHECK_HAS(did("read_file", "{'filePath':'wide','offset':-100}"), "Go on with offset=-60.]");
    write_lines("long", 1, FILE_READ_BYTES - 1);
    CHECK_INT(strlen(did("read_file", "{'filePath':'long'}")), FILE_READ_BYTES);
    write_lines("long", 2, FILE_READ_BYTES);
    text = did("read_file", "{'filePath':'long'}");
    CHECK_HAS(text, "[Line 1 is too long to be shown: it is cut here.]");
    CHECK_HAS(text, "Go on with offset=2.]");
    CHECK(strlen(text) < FILE_READ_BYTES + 200);
    write_characters("wide", FILE_READ_BYTES / 3 + 10);
    text = did("read_file", "{'filePath':'wide'}");
    CHECK_HAS(text, "\u20ac\n[Line 1 is too long");
    CHECK(!strstr(text, "UTF-8"));
}

TEST(what_is_no_text_is_told)
{
    int fd = open(in_work("p"), O_WRONLY | O_CREAT, 0600);

    CHECK(write(fd, "\x89PNG\r\n\x1a\n\0\0", 10) == 10);
    close(fd);
    CHECK_STR(did("read_file", "{'filePath':'p'}"),
              "[This is no text, but a PNG image of 10 bytes.]");
    put_file("latin", "caf\xe9\n");
    CHECK_HAS(did("read_file", "{'filePath':'latin'}"),
              "caf\xEF\xBF\xBD\n[Some bytes are no UTF-8");
}

TEST(several_files_are_read_by_one_call)
{
    put_file("a", "A\n");
    put_file("b", "B");
    CHECK_STR(did("read_file", "{'filePaths':['a','b']}"), "==> a <==\nA\n\n==> b <==\nB\n");
    CHECK_HAS(did("read_file", "{'filePaths':['a','nope']}"), "[Operation failed: there is no '");
    CHECK_HAS(failed("read_file", "{'filePaths':['no','nope']}"), "there is no '");
    /* S3-29 */
    CHECK_STR(failed("read_file", "{}"), "Missing required parameter: filePath");
    CHECK_HAS(failed("read_file", "{'filePath':''}"), "the path is empty");
    /* S3-164 */
    CHECK_HAS(failed("read_file", "{'filePath':'nope'}"), "Operation failed: there is no '");
    CHECK_HAS(failed("read_file", "{'filePath':'.'}"), "is a directory, not a file; list_dir");
}

TEST(the_files_of_one_call_have_a_bound)
{
    AUTO_BUF struct buf text = { 0 };

    put_file("a", "A\n");
    buf_str(&text, "{'filePaths':['a'");
    for (int i = 1; i < FILE_READ_FILES; i++)
        buf_str(&text, ",'a'");
    buf_str(&text, "]}");
    CHECK(!strstr(did("read_file", buf_cstr(&text)), "At most"));
    text.n -= 2;
    buf_str(&text, ",'a']}");
    CHECK_HAS(did("read_file", buf_cstr(&text)), "[At most 20 files are read by one call.]");
    write_lines("wide", 1, FILE_READ_BYTES - 1);
    CHECK_HAS(did("read_file", "{'filePaths':['wide','a']}"), "[No room is left in this answer");
}

/* Whatever would wait, never end, or give away more than it seems. */
TEST(only_files_are_read)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(at.sun_path, sizeof at.sun_path, "%s", in_work("s"));
    CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0);
    CHECK(mkfifo(in_work("pipe"), 0600) == 0);
    CHECK_HAS(failed("read_file", "{'filePath':'pipe'}"), "is a named pipe, not a file");
    CHECK_HAS(failed("read_file", "{'filePath':'s'}"), "is a socket, not a file");
    CHECK_HAS(failed("read_file", "{'filePath':'/dev/zero'}"), "is a character device");
    CHECK_HAS(failed("read_file", "{'filePath':'/proc/self/environ'}"), "made up by the kernel");
    CHECK_HAS(failed("read_file", "{'filePath':'/proc/self/cwd/x'}"), "Operation failed");
    CHECK_HAS(failed("read_file", "{'filePath':'/dev/fd/0'}"), "Operation failed");
    CHECK_HAS(failed("append_file", "{'filePath':'pipe','content':'x'}"), "is a named pipe");
    close(fd);
}

TEST(a_directory_is_listed_in_order_with_kinds_and_sizes)
{
    /* S3-64 */
    char want[512];

    put_file("b", "12345");
    put_file("a\nc", "");
    CHECK(mkdir(in_work("d"), 0755) == 0);
    CHECK(symlink("b", in_work("l")) == 0);
    CHECK(mkfifo(in_work("pipe"), 0600) == 0);
    snprintf(want, sizeof want,
             "%s: 5 entries\n\"a\\x0ac\" (0 bytes)\nb (5 bytes)\nd/\nl -> b\npipe (named pipe)\n",
             rig_work());
    CHECK_STR(did("list_dir", "{}"), want);
    snprintf(want, sizeof want, "%s: 5 entries\nb (5 bytes)\n…and 3 more: go on with offset=2\n",
             rig_work());
    CHECK_STR(did("list_dir", "{'offset':1,'limit':1}"), want);
    CHECK_HAS(failed("list_dir", "{'limit':1001}"), "may be 1 to 1000");
    CHECK_HAS(failed("list_dir", "{'offset':6}"), "has 5 entries");
    CHECK_HAS(failed("list_dir", "{'path':'b'}"), "is a file, not a directory");
    CHECK_HAS(did("get_file_info", "{'filePath':'b'}"),
              "kind: file\nsize: 5 bytes\ncontent: text\n");
    CHECK_HAS(did("get_file_info", "{'filePath':'l'}"), "kind: symbolic link\nleads to: b\n");
}

TEST(a_long_directory_is_shown_in_parts)
{
    char name[16];

    for (int i = 0; i < FILE_LIST_ENTRIES + 1; i++) {
        snprintf(name, sizeof name, "f%03d", i);
        put_file(name, "");
    }
    CHECK_HAS(did("list_dir", "{}"), "f099 (0 bytes)\n…and 1 more: go on with offset=100\n");
    CHECK_HAS(did("list_dir", "{'limit':101}"), "f100 (0 bytes)\n");
}
