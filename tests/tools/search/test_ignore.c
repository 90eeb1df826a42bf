#include "tap.h"
#include "temp_dir.h"
#include "tools/search/search_impl.h"
#include <fcntl.h>
#include <sys/stat.h>

static int decides(const char *rules, const char *path, bool directory)
{
    AUTO(ignore) struct ignore *i = ignore_new(span_of(rules), "");
    const char *slash = strrchr(path, '/');

    return i ? ignore_decides(i, span_of(path), slash ? (size_t)(slash + 1 - path) : 0, directory)
             : -1;
}

TEST(rules_are_read_as_git_reads_them)
{
    static const struct {
        const char *rules, *path;
        bool directory;
        int want;
    } cases[] = {
        { "a\n", "a", false, 1 },
        { "a\n", "x/a", false, 1 },
        { "/a\n", "x/a", false, -1 },
        { "x/a\n", "x/a", false, 1 },
        { "x/a\n", "y/x/a", false, -1 },
        { "a/\n", "a", false, -1 },
        { "a/\n", "a", true, 1 },
        { "*.o\n!keep.o\n", "keep.o", false, 0 },
        { "!keep.o\n*.o\n", "keep.o", false, 1 },
        { "# a\n", "# a", false, -1 },
        { "\\# a\n", "# a", false, 1 },
        { "\\!a\n", "!a", false, 1 },
        { "a  \n", "a", false, 1 },
        { "a\\ \n", "a ", false, 1 },
        { "a\r\n", "a", false, 1 },
        { "a", "a", false, 1 },
        { "\xef\xbb\xbf"
          "a\n",
          "a", false, 1 },
        { "**/b\n", "x/y/b", false, 1 },
        { "x/**\n", "x", true, -1 },
        { "x/**\n", "x/y/z", false, 1 },
        { "x/**/b\n", "x/b", false, 1 },
        { "x/**/b\n", "x/y/z/b", false, 1 },
        { "x/*\n", "x/y/z", false, -1 },
        { "x/[a-c]\n", "x/b", false, 1 },
        { "[a\n", "[a", false, -1 },
        { "\n\n  \n", "x", false, -1 },
        { "/\n", "x", true, -1 },
        { "!\n", "x", false, -1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (decides(cases[i].rules, cases[i].path, cases[i].directory) != cases[i].want)
            TAP_FAIL("%s and %s", cases[i].rules, cases[i].path);
}

/* ---- against git itself ---- */

static unsigned seed, tree;
static const char *one_of(const char *const *v, size_t n) { return v[(size_t)rand_r(&seed) % n]; }

static const char *const names[] = { "a",  "b",   "ab",  "abc", "x.o",  "y.c",      "#a",
                                     "!b", "a b", "[a]", ".h",  "c\\d", "\xc3\xa9", "a " };

static void make_tree(int dir, int depth)
{
    for (int i = 0; i < 4; i++) {
        const char *name = one_of(names, ARRAY_LEN(names));
        int fd;

        if (depth && rand_r(&seed) % 2) {
            if (mkdirat(dir, name, 0777) < 0)
                continue;
            fd = openat(dir, name, O_RDONLY | O_DIRECTORY);
            make_tree(fd, depth - 1);
        } else {
            fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL, 0666);
        }
        if (fd >= 0)
            close(fd);
    }
}

static void put_rule(struct buf *out)
{
    static const char *const parts[] = { "a",           "b",    "c",   "/",   "/",   "*",
                                         "**",          "**/",  "/**", "?",   "x.o", ".c",
                                         "[a-c]",       "[!a]", "[",   "]",   "\\",  " ",
                                         "!",           "#",    "ab",  "abc", "\\ ", "\xc3\xa9",
                                         "[[:alpha:]]", "[]-]", "*.o", "-" };
    int n = 1 + rand_r(&seed) % 4;

    if (rand_r(&seed) % 6 == 0)
        buf_byte(out, '!');
    while (n--)
        buf_str(out, one_of(parts, ARRAY_LEN(parts)));
    buf_str(out, rand_r(&seed) % 8 ? "\n" : "\r\n");
}

static void write_rules(int dir, const char *name, int most)
{
    AUTO_BUF struct buf b = { 0 };
    AUTO_CLOSE int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0666);

    if (fd < 0)
        return;
    for (int n = rand_r(&seed) % most; n >= 0; n--)
        put_rule(&b);
    CHECK(write(fd, b.p, b.n) == (ssize_t)b.n);
}

/* What a search sees, and what git says is there: tracked by nobody, ignored by no rule. */
static void list_ours(const char *top, struct buf *out)
{
    AUTO(pathglob) struct pathglob *all = NULL;
    struct hunt h = { 0 };
    struct pb_error err;
    struct root root;

    CHECK_INT(pathglob_new(&all, SPAN("*"), PATHGLOB_PEOPLE, NULL), 0);
    if (root_open(&root, top, NULL, false, &err) < 0)
        TAP_FAIL("%s", err.msg);
    h.root = &root;
    h.include = all;
    hunt_init(&h);
    CHECK_INT(hunt_run(&h), 0);
    for (size_t i = 0; i < h.found.n; i++)
        buf_printf(out, "%s\n", h.found.files[i].path);
    hunt_done(&h);
    root_done(&root);
}

static void run_git(const char *top, const char *out, const char *const *argv)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0666);

        setenv("HOME", top, 1);
        setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
        unsetenv("XDG_CONFIG_HOME");
        if (fd < 0 || dup2(fd, 1) < 0 || chdir(top) < 0)
            _exit(126);
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        TAP_SKIP("there is no git here");
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        TAP_FAIL("git in %s ended with %d", top, status);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *sorted(const char *text)
{
    static char copy[1 << 16], out[1 << 16];
    char *lines[4096];
    size_t n = 0, at = 0;

    snprintf(copy, sizeof copy, "%s", text);
    for (char *p = copy, *lf; (lf = strchr(p, '\n')) && n < ARRAY_LEN(lines); p = lf + 1) {
        *lf = '\0';
        lines[n++] = p;
    }
    qsort(lines, n, sizeof *lines, by_text);
    *out = '\0';
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%s\n", lines[i]);
    return out;
}

static void compare(const char *top, const char *sub)
{
    static const char *const list[] = { "git", "ls-files", "-z", "-o", "--exclude-standard", NULL };
    AUTO_BUF struct buf ours = { 0 }, theirs = { 0 }, place = { 0 };
    AUTO_FREE char *expect = NULL;
    AUTO_CLOSE int fd = -1;

    buf_printf(&place, "%s/%s", top, sub);
    run_git(buf_cstr(&place), temp_path("listed"), list);
    list_ours(buf_cstr(&place), &ours);
    fd = open(temp_path("listed"), O_RDONLY);
    CHECK_INT(file_read(fd, "listed", 1 << 16, &theirs, NULL), 0);
    for (size_t i = 0; i < theirs.n; i++)
        theirs.p[i] = theirs.p[i] ? theirs.p[i] : '\n';
    expect = mem_dup(sorted(buf_cstr(&theirs)));
    if (strcmp(sorted(buf_cstr(&ours)), expect) != 0)
        TAP_FAIL("seed of the tree %u: ours\n%s\ngit's\n%s", tree, sorted(buf_cstr(&ours)), expect);
}

TEST(what_is_left_out_of_random_trees_is_what_git_leaves_out)
{
    static const char *const init[] = { "git", "init", "-q", NULL };

    TAP_SKIP_UNDER_VALGRIND("makes hundreds of processes slow");
    for (int round = 0; round < 60; round++) {
        const char *top;
        int dir, sub;

        seed = tree = (unsigned)round + 1;
        temp_clean();
        top = temp_path("tree");
        CHECK(mkdir(top, 0777) == 0);
        run_git(top, temp_path("listed"), init);
        dir = open(top, O_RDONLY | O_DIRECTORY);
        make_tree(dir, 3);
        write_rules(dir, ".gitignore", 8);
        write_rules(dir, ".git/info/exclude", 3);
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            sub = openat(dir, names[i], O_RDONLY | O_DIRECTORY);
            if (sub < 0)
                continue;
            if (rand_r(&seed) % 2)
                write_rules(sub, ".gitignore", 4);
            close(sub);
        }
        compare(top, ".");
        close(dir);
    }
}

/* The search begins below the top: rules of directories above count. */
TEST(rules_of_directories_above_the_search_count)
{
    AUTO_BUF struct buf ours = { 0 };
    static const char *const init[] = { "git", "init", "-q", NULL };

    CHECK(mkdir(temp_path("top"), 0777) == 0 && mkdir(temp_path("top/src"), 0777) == 0 &&
          mkdir(temp_path("top/src/x"), 0777) == 0);
    run_git(temp_path("top"), temp_path("listed"), init);
    temp_file("top/.gitignore", "*.o\n/src/x/no\n/x/yes\n");
    temp_file("top/src/.gitignore", "!a.o\n");
    temp_file("top/src/x/a.o", "");
    temp_file("top/src/x/b.o", "");
    temp_file("top/src/x/no", "");
    temp_file("top/src/x/yes", "");
    compare(temp_path("top"), "src/x");
    list_ours(temp_path("top/src/x"), &ours);
    CHECK_STR(buf_cstr(&ours), "a.o\nyes\n");
}

TEST(rules_have_bounds)
{
    AUTO_BUF struct buf b = { 0 };
    AUTO(ignore) struct ignore *i = NULL;

    for (int n = 0; n < SEARCH_IGNORE_RULES_MAX; n++)
        buf_str(&b, "a\n");
    buf_str(&b, "!a\n");
    i = ignore_new(buf_span(&b), "");
    CHECK_INT(ignore_decides(i, SPAN("a"), 0, false), 1); /* the last was not read */
}
