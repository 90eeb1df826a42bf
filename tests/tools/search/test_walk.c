#include "tap.h"
#include "temp_dir.h"
#include "tools/search/search_impl.h"
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct outcome {
    struct buf text, trouble;
    uint64_t total, searched, binary;
};

static void outcome_done(struct outcome *o)
{
    buf_done(&o->text);
    buf_done(&o->trouble);
}

/* Everything that is found; query NULL: files. */
static struct outcome hunt(const char *path, const char *query, bool regex, unsigned threads,
                           size_t max)
{
    AUTO(pathglob) struct pathglob *all = NULL;
    struct matcher_wants w = { .query = span_of(query), .regex = regex };
    struct hunt h = { .threads = threads };
    struct outcome o = { 0 };
    struct matcher m = { 0 };
    struct pb_error err;
    struct root root;

    CHECK_INT(pathglob_new(&all, SPAN("*"), PATHGLOB_PEOPLE, NULL), 0);
    if ((query && matcher_init(&m, &w, &err) < 0) ||
        root_open(&root, temp_root(), path, false, &err) < 0)
        TAP_FAIL("%s", err.msg);
    h.root = &root;
    h.include = all;
    h.matcher = query ? &m : NULL;
    hunt_init(&h);
    CHECK_INT(hunt_run(&h), 0);
    CHECK_INT(h.open_dirs, 0);
    found_write(&h.found, &o.text, 0, max);
    o.total = h.found.total;
    o.searched = h.searched;
    o.binary = h.binary;
    buf_add_span(&o.trouble, buf_span(&h.trouble));
    buf_cstr(&o.text);
    buf_cstr(&o.trouble);
    matcher_done(&m);
    hunt_done(&h);
    root_done(&root);
    return o;
}

static void check_hunt(const char *path, const char *query, bool regex, const char *want)
{
    struct outcome o = hunt(path, query, regex, 0, 1000);

    CHECK_STR(buf_cstr(&o.text), want);
    outcome_done(&o);
}

/* S3-67, S3-68 */
TEST(files_and_lines_come_in_the_order_of_paths)
{
    mkdir(temp_path("d"), 0777);
    temp_file("d/b", "two\none\n");
    temp_file("a", "one two\nthree\none");
    temp_file(".hidden", "one");
    check_hunt(NULL, NULL, false, ".hidden\na\nd/b\n");
    check_hunt(NULL, "one", false, ".hidden:1: one\na:1: one two\na:3: one\nd/b:2: one\n");
    check_hunt("d", "one", false, "d/b:2: one\n");
    check_hunt("./d/", "one", false, "d/b:2: one\n");
    check_hunt("d/b", "one", false, "d/b:2: one\n");
    check_hunt("a", "t[wh]", true, "a:1: one two\na:2: three\n");
    check_hunt(NULL, "nothing", false, "");
}

static void find_nothing(const char *path, const char *why)
{
    struct pb_error err = { 0 };
    struct root root;

    CHECK(root_open(&root, temp_root(), path, false, &err) < 0);
    CHECK_HAS(err.msg, why);
    root_done(&root);
}

TEST(links_lead_nowhere_and_what_is_no_file_is_not_opened)
{
    struct sockaddr_un name = { .sun_family = AF_UNIX };
    int s = socket(AF_UNIX, SOCK_STREAM, 0);

    mkdir(temp_path("d"), 0777);
    mkdir(temp_path("out"), 0777);
    temp_file("out/secret", "one\n");
    temp_file("d/a", "one\n");
    CHECK(symlink("..", temp_path("d/loop")) == 0);
    CHECK(symlink("../out", temp_path("d/out")) == 0);
    CHECK(symlink("../out/secret", temp_path("d/link")) == 0);
    CHECK(mkfifo(temp_path("d/fifo"), 0666) == 0);
    snprintf(name.sun_path, sizeof name.sun_path, "%s", temp_path("d/socket"));
    CHECK(bind(s, (struct sockaddr *)&name, sizeof name) == 0);
    check_hunt("d", "one", false, "d/a:1: one\n");
    check_hunt("d", NULL, false, "d/a\nd/link\nd/loop\nd/out\n");
    find_nothing("d/fifo", "neither a directory nor a file");
    find_nothing("d/link", "neither a directory nor a file");
    find_nothing("nowhere", "no 'nowhere'");
    close(s);
}

TEST(binary_files_are_counted_and_other_bytes_are_searched)
{
    FILE *f = fopen(temp_path("bin"), "w");
    struct outcome o;

    CHECK(fwrite("one\0one", 1, 7, f) == 7 && fclose(f) == 0);
    temp_file("latin", "caf\xe9 one\nna\xefve\n");
    o = hunt(NULL, "one", false, 0, 10);
    CHECK_STR(buf_cstr(&o.text), "latin:1: caf\xef\xbf\xbd one\n");
    CHECK_INT(o.binary, 1);
    CHECK_INT(o.searched, 2);
    outcome_done(&o);
    check_hunt(NULL, "na.ve", true, "latin:2: na\xef\xbf\xbdve\n");
}

static void write_times(FILE *f, const char *text, size_t n)
{
    while (n--)
        CHECK(fputs(text, f) >= 0);
}

TEST(long_lines_and_large_files_are_searched_in_windows)
{
    FILE *f = fopen(temp_path("long"), "w");
    struct outcome o;

    write_times(f, "x", 300000);
    fputs("needle", f);
    write_times(f, "y", 300000);
    fputs("needle\nsecond needle\n", f);
    CHECK(fclose(f) == 0);
    f = fopen(temp_path("many"), "w");
    write_times(f, "a line of thirty two characters\n", 40000);
    fputs("the needle\nat the\nend", f);
    CHECK(fclose(f) == 0);
    o = hunt(NULL, "needle", false, 0, 10);
    CHECK_INT(o.total, 3); /* a line counts once */
    CHECK_HAS(buf_cstr(&o.text), "long:1: …x");
    CHECK_HAS(buf_cstr(&o.text), "needleyy");
    CHECK_HAS(buf_cstr(&o.text), "yyy…\nlong:2: second needle\nmany:40001: the needle\n");
    outcome_done(&o);
    check_hunt("many", "n[e]edle", true, "many:40001: the needle\n");
    check_hunt("many", "d(?=le)", true, "many:40001: the needle\n");
    check_hunt("many", "needle\nat", false, "many:40001: the needle\n");
    check_hunt("many", "nd$", true, "many:40003: end\n");
}

/* However the long lines lie: as many lines as there are with it. */
TEST(windows_have_room_for_lines_of_any_length)
{
    unsigned seed = 3;

    for (int round = 0; round < 40; round++) {
        FILE *f = fopen(temp_path("file"), "w");
        struct outcome o;
        int lines = 1 + rand_r(&seed) % 6, with = 0;

        for (int i = 0; i < lines; i++) {
            bool has = rand_r(&seed) % 2;

            write_times(f, "x", (size_t)rand_r(&seed) % (rand_r(&seed) % 2 ? 200000 : 100));
            fputs(has ? "needle" : "hay", f);
            write_times(f, "y", (size_t)rand_r(&seed) % (rand_r(&seed) % 2 ? 200000 : 100));
            fputs("\n", f);
            with += has;
        }
        CHECK(fclose(f) == 0);
        o = hunt(NULL, "needle", false, 0, 10);
        CHECK_INT(o.total, with);
        outcome_done(&o);
        o = hunt(NULL, "n[e]{2}d", true, 0, 10);
        CHECK_INT(o.total, with);
        outcome_done(&o);
    }
}

/* Text over two lines is found wherever windows end. */
TEST(a_text_of_several_lines_is_found_at_each_place)
{
    for (size_t before = SEARCH_READ_BYTES - 40; before < SEARCH_READ_BYTES + 8; before += 3) {
        FILE *f = fopen(temp_path("file"), "w");
        char want[64];

        write_times(f, "1234567\n", before / 8);
        write_times(f, "z", before % 8);
        fputs("one\ntwo\nthree\n", f);
        write_times(f, "1234567\n", 100000);
        CHECK(fclose(f) == 0);
        snprintf(want, sizeof want, "file:%zu: %.*sone\n", before / 8 + 1, (int)(before % 8),
                 "zzzzzzz");
        check_hunt(NULL, "one\ntwo\nth", false, want);
        check_hunt(NULL, "one\n", false, want);
    }
}

TEST(what_cannot_be_read_is_told_and_the_rest_is_searched)
{
    struct outcome o;

    mkdir(temp_path("shut"), 0777);
    temp_file("shut/a", "one\n");
    temp_file("closed", "one\n");
    temp_file("open", "one\n");
    if (geteuid() == 0 && setegid(65534) == 0)
        CHECK(chown(temp_root(), 65534, 65534) == 0 && seteuid(65534) == 0);
    CHECK(geteuid() != 0);
    if (chmod(temp_path("shut"), 0) < 0) { /* made by root: as root, then */
        CHECK(seteuid(0) == 0 && chmod(temp_path("shut"), 0) == 0 &&
              chmod(temp_path("closed"), 0) == 0);
        CHECK(seteuid(65534) == 0);
    } else {
        CHECK(chmod(temp_path("closed"), 0) == 0);
    }
    o = hunt(NULL, "one", false, 0, 10);
    CHECK_STR(buf_cstr(&o.text), "open:1: one\n");
    CHECK_HAS(buf_cstr(&o.trouble), "shut: Permission denied\n");
    CHECK_HAS(buf_cstr(&o.trouble), "closed: Permission denied\n");
    outcome_done(&o);
    if (getuid() == 0)
        CHECK(seteuid(0) == 0);
    CHECK(chmod(temp_path("shut"), 0700) == 0);
}

TEST(ten_thousand_files_are_found_in_the_same_order_by_any_number_of_threads)
{
    struct outcome one, eight;

    for (int i = 0; i < 10000; i++) {
        char name[64];

        snprintf(name, sizeof name, "d%d", i % 100);
        if (i < 100)
            CHECK(mkdir(temp_path(name), 0777) == 0);
        snprintf(name, sizeof name, "d%d/f%d", i % 100, i);
        temp_file(name, i % 3 ? "needle\nneedle\n" : "hay\n");
    }
    one = hunt(NULL, "needle", false, 1, 1000000);
    eight = hunt(NULL, "needle", false, 8, 1000000);
    CHECK_INT(one.total, 2 * 6666);
    CHECK_INT(eight.total, 2 * 6666);
    CHECK_INT(count_lines(buf_span(&one.text)), SEARCH_KEPT_MAX);
    CHECK_STR(buf_cstr(&eight.text), buf_cstr(&one.text));
    outcome_done(&one);
    outcome_done(&eight);
    one = hunt(NULL, NULL, false, 1, 1000000);
    eight = hunt(NULL, NULL, false, 8, 1000000);
    CHECK_INT(count_lines(buf_span(&one.text)), 10000);
    CHECK_STR(buf_cstr(&eight.text), buf_cstr(&one.text));
    outcome_done(&one);
    outcome_done(&eight);
}

/* The first are kept, whatever comes in which order. */
TEST(of_too_many_results_the_first_by_path_are_kept)
{
    struct search_found f = { 0 };
    AUTO_BUF struct buf out = { 0 };

    for (int i = 0; i < 5 * SEARCH_KEPT_MAX; i++) {
        int number = (int)(((long)i * 7919) % (5 * SEARCH_KEPT_MAX));
        struct found_file file = { 0 };
        char name[32];

        snprintf(name, sizeof name, "%08d", number);
        file.path = mem_dup(name);
        found_add(&f, &file, 0);
        CHECK(f.n <= 2 * SEARCH_KEPT_MAX + 1);
    }
    found_sort(&f);
    CHECK_INT(f.total, 5 * SEARCH_KEPT_MAX);
    CHECK_INT(f.results, SEARCH_KEPT_MAX);
    CHECK_INT(found_write(&f, &out, SEARCH_KEPT_MAX - 1, 10), 1);
    CHECK_STR(buf_cstr(&out), "00009999\n");
    found_done(&f);
}

TEST(what_lies_too_deep_is_told)
{
    int dir = open(temp_root(), O_RDONLY | O_DIRECTORY);
    struct outcome o;

    for (int i = 0; i < SEARCH_DEPTH_MAX + 5; i++) {
        int next;

        CHECK(mkdirat(dir, "d", 0777) == 0);
        next = openat(dir, "d", O_RDONLY | O_DIRECTORY);
        close(dir);
        dir = next;
        close(openat(dir, "f", O_WRONLY | O_CREAT, 0666));
    }
    close(dir);
    o = hunt(NULL, NULL, false, 0, 1000);
    CHECK_INT(o.total, SEARCH_DEPTH_MAX - 1);
    CHECK_HAS(buf_cstr(&o.trouble), "too deep");
    outcome_done(&o);
}

/* More directories than may be open at a time: each of a wide and deep tree is seen. */
TEST(many_directories_are_seen_with_few_open)
{
    struct outcome o;
    char name[160];

    for (int chain = 0; chain < 40; chain++) {
        size_t at = (size_t)snprintf(name, sizeof name, "c%d", chain);

        CHECK(mkdir(temp_path(name), 0777) == 0);
        for (int i = 0; i < 60; i++) {
            at += (size_t)snprintf(name + at, sizeof name - at, "/d");
            CHECK(mkdir(temp_path(name), 0777) == 0);
        }
        snprintf(name + at, sizeof name - at, "/f");
        temp_file(name, "one\n");
    }
    o = hunt(NULL, "one", false, 8, 1000);
    CHECK_INT(o.total, 40);
    outcome_done(&o);
}

static atomic_bool over;
static void *change(void *ctx)
{
    const char *top = ctx;
    char a[256], b[256];

    snprintf(a, sizeof a, "%s/d", top);
    snprintf(b, sizeof b, "%s/e", top);
    while (!over) {
        char file[300];

        rename(a, b);
        snprintf(file, sizeof file, "%s/x", top);
        if (symlink("/", a) == 0)
            unlink(a);
        mkdir(file, 0777);
        rmdir(file);
        rename(b, a);
    }
    return NULL;
}

TEST(a_tree_that_changes_meanwhile_is_searched_without_leaving_it)
{
    char top[128];
    pthread_t t;

    snprintf(top, sizeof top, "%s", temp_root());
    mkdir(temp_path("d"), 0777);
    temp_file("d/a", "one\n");
    temp_file("stays", "one\n");
    CHECK(pthread_create(&t, NULL, change, top) == 0);
    for (int i = 0; i < 300; i++) {
        struct outcome o = hunt(NULL, "one", false, 4, 1000);

        CHECK_HAS(buf_cstr(&o.text), "stays:1: one\n");
        CHECK(o.total <= 3);
        outcome_done(&o);
    }
    over = true;
    pthread_join(t, NULL);
}

TEST(an_expression_that_takes_too_long_is_told_with_its_file)
{
    FILE *f = fopen(temp_path("bad"), "w");
    struct outcome o;

    write_times(f, "a", 50);
    CHECK(fclose(f) == 0);
    temp_file("good", "ab\n");
    o = hunt(NULL, "^(a+)+[bc]$", true, 0, 10);
    CHECK_STR(buf_cstr(&o.text), "good:1: ab\n");
    CHECK_HAS(buf_cstr(&o.trouble), "bad: the expression takes too long");
    outcome_done(&o);
}
