/* Where a path is: relative to what, inside or outside, and what is refused on the way. */
#include "../without_call.h"
#include "temp_dir.h"
#include "tools/kit/kit.h"
#include <errno.h>
#include <fcntl.h>

static struct pb_error err;

static int find_in(struct tool_place *p, const char *directory, const char *path)
{
    struct tool_call c = { .directory = directory, .person = true };

    return place_find(p, &c, path, &err);
}

TEST(paths_are_cleaned_and_known_to_be_inside_or_outside)
{
    /* S3-146 S3-147 */
    static const struct {
        const char *path, *is; /* $: the working directory */
        bool inside;
    } cases[] = {
        { "x", "$/x", true },
        { "./a//b/../x/.", "$/a/x", true },
        { ".", "$", true },
        { "a/..", "$", true },
        { "../conv-123-other/x", "$-other/x", false },
        { "..", "/", false },
        { "../../../../../../x", "/x", false },
        { "/etc/hosts", "/etc/hosts", false },
        { "//etc///hosts/", "/etc/hosts", false },
        { "/", "/", false },
        { "~user", "$/~user", true },
    };
    char directory[128], want[256];

    snprintf(directory, sizeof directory, "%s/conv-123", temp_root());
    CHECK(mkdir(directory, 0755) == 0);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_PLACE struct tool_place p;

        CHECK_INT(find_in(&p, directory, cases[i].path), 0);
        snprintf(want, sizeof want, "%s%s", *cases[i].is == '$' ? directory : "",
                 cases[i].is + (*cases[i].is == '$'));
        if (strcmp(cases[i].path, "..") == 0)
            snprintf(want, sizeof want, "%s", temp_root());
        CHECK_STR(p.path, want);
        CHECK_INT(p.inside, cases[i].inside);
    }
}

TEST(a_tilde_is_the_home_and_everything_is_inside_the_root)
{
    AUTO_PLACE struct tool_place p, q;

    setenv("HOME", "/somebody", 1);
    CHECK_INT(find_in(&p, "/", "~/x"), 0);
    CHECK_STR(p.path, "/somebody/x");
    CHECK(p.inside);
    CHECK_INT(find_in(&q, "/", "/"), 0);
    CHECK_STR(q.below, ".");
}

TEST(a_path_that_cannot_be_one_is_refused)
{
    AUTO_FREE char *big = mem_alloc(5001);
    struct tool_place p;

    memset(big, 'x', 5000);
    big[5000] = '\0';
    CHECK(find_in(&p, temp_root(), big) == -PB_E_LIMIT);
    CHECK(find_in(&p, temp_root(), "") == -PB_E_INVALID);
    CHECK(find_in(&p, temp_root(), NULL) == -PB_E_INVALID);
    CHECK(find_in(&p, temp_path("nope"), "x") < 0);
    CHECK_HAS(err.msg, "open the working directory");
}

/* A text has an end; what failed is still told. */
TEST(a_long_path_leaves_room_for_what_is_wrong_with_it)
{
    char path[4000];
    AUTO_PLACE struct tool_place p;
    struct stat st;
    int fd;

    memset(path, 0, sizeof path);
    for (int i = 0; i < 300; i++)
        memcpy(path + (size_t)i * 10, "something/", 10);
    CHECK_INT(find_in(&p, temp_root(), path), 0);
    CHECK_INT(place_open(&p, PLACE_FILE, &fd, &st, &err), -PB_E_NOT_FOUND);
    CHECK_HAS(err.msg, "there is no '/tmp/patchbay");
    CHECK_HAS(err.msg, "/something'");
}

struct lure {
    const char *link, *to, *path, *says;
};

TEST(what_leads_out_of_the_directory_is_refused_and_told)
{
    static const struct lure lures[] = {
        { "file", "/etc/hostname", "file", "to '/etc/hostname'; if that is meant, ask for" },
        { "dir", "/etc", "dir/hostname", "to '/etc/hostname'" },
        { "up", "../outside", "up/secret", "/outside/secret'; if" },
        { "deep/up", "../../outside", "deep/up", "/outside'; if" },
        { "loop", "loop", "loop", "symbolic links" },
        { "dangling", "/nowhere/at/all", "dangling", "to '/nowhere/at/all'" },
    };
    char work[128], at[256];
    struct stat st;
    int fd, dir;
    const char *name;

    snprintf(work, sizeof work, "%s/work", temp_root());
    snprintf(at, sizeof at, "%s/deep", work);
    CHECK(mkdir(work, 0755) == 0 && mkdir(at, 0755) == 0);
    CHECK(mkdir(temp_path("outside"), 0755) == 0);
    temp_file("outside/secret", "secret");
    for (size_t i = 0; i < ARRAY_LEN(lures); i++) {
        AUTO_PLACE struct tool_place p, child;
        char below[128];

        snprintf(at, sizeof at, "%s/%s", work, lures[i].link);
        CHECK(symlink(lures[i].to, at) == 0);
        CHECK_INT(find_in(&p, work, lures[i].path), 0);
        CHECK(place_open(&p, PLACE_FILE | PLACE_DIRECTORY, &fd, &st, &err) < 0);
        CHECK_HAS(err.msg, lures[i].says);
        snprintf(below, sizeof below, "%s/new/file", lures[i].path);
        CHECK_INT(find_in(&child, work, below), 0);
        CHECK(place_enter(&child, true, &dir, &name, &err) < 0);
    }
    CHECK(access(temp_path("outside/secret/new"), F_OK) < 0 &&
          access(temp_path("outside/new"), F_OK) < 0);
}

TEST(a_link_that_stays_inside_is_followed_and_outside_any)
{
    AUTO_PLACE struct tool_place p, q;
    struct stat st;
    char work[128];
    int fd;

    snprintf(work, sizeof work, "%s/work", temp_root());
    CHECK(mkdir(work, 0755) == 0);
    temp_file("work/a", "text");
    CHECK(symlink("./a", temp_path("work/l")) == 0);
    CHECK_INT(find_in(&p, work, "l"), 0);
    CHECK_INT(place_open(&p, PLACE_FILE, &fd, &st, &err), 0);
    CHECK_INT(st.st_size, 4);
    close(fd);
    CHECK(symlink("work/a", temp_path("from-outside")) == 0);
    CHECK_INT(find_in(&q, work, "../from-outside"), 0);
    CHECK_INT(place_open(&q, PLACE_FILE, &fd, &st, &err), 0);
    close(fd);
}

TEST(the_usual_directory_is_made_for_ourselves_alone)
{
    struct tool_call c = { .directory = temp_path("home/work"),
                           .own_directory = true,
                           .person = true };
    AUTO_PLACE struct tool_place p;

    CHECK_INT(place_find(&p, &c, "x", &err), 0);
    CHECK_INT(temp_mode(c.directory), 0700);
}

/* Nothing is opened by its name instead. */
TEST(a_kernel_without_openat2_is_told_of)
{
    struct tool_place p;

    TAP_SKIP_UNDER_VALGRIND("does not know seccomp");
    CHECK(without_call(SYS_openat2, ENOSYS) == 0);
    CHECK_INT(find_in(&p, temp_root(), "x"), -PB_E_UNSUPPORTED);
    CHECK_HAS(err.msg, "Linux 5.6");
}
