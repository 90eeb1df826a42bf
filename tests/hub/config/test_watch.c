/* Files as people change them: replaced, edited in place, made, removed, with their directories. */
#include "hub/config/config.h"
#include "hub/config/watch.h"
#include "manual_clock.h"
#include "temp_dir.h"
#include <fcntl.h>

struct rig {
    struct manual_clock clock;
    struct pb_loop *loop;
    struct watch *watch;
    int told;
    bool free_when_told;
};

static void on_changed(void *ctx)
{
    struct rig *r = ctx;

    r->told++;
    if (r->free_when_told)
        watch_free(TAKE(r->watch));
}

static void begin(struct rig *r, const char *const *paths)
{
    struct pb_error err;

    *r = (struct rig){ 0 };
    manual_clock_init(&r->clock);
    r->loop = loop_new(&r->clock.clock);
    if (watch_files(&r->watch, r->loop, paths, on_changed, r, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

#define BEGIN(r, ...) begin(r, (const char *const[]){ __VA_ARGS__, NULL })

static void end(struct rig *r)
{
    watch_free(r->watch);
    loop_free(r->loop);
}

/* The kernel has told of a change by the time the call that made it returns, so a few turns hear
 * everything; directories that appear on the way take one more each. */
static void hear(struct rig *r)
{
    for (int i = 0; i < 8; i++)
        loop_turn(r->loop, false);
}

/* How often it is told of what was done since the last time. */
static int told(struct rig *r)
{
    int before = r->told;

    hear(r);
    loop_advance(r->loop, WATCH_QUIET_MS);
    hear(r);
    loop_advance(r->loop, WATCH_QUIET_MS);
    return r->told - before;
}

static void append(const char *path, const char *text)
{
    FILE *f = fopen(path, "a");

    CHECK(f != NULL);
    fputs(text, f);
    fclose(f);
}

static void replace(const char *path, const char *text)
{
    const char *temp = temp_path("new.tmp");

    temp_write(temp, text);
    CHECK_INT(rename(temp, path), 0);
}

/* The loop was held up, longer than changes are waited for, and then heard of one more first. */
TEST(a_loop_that_comes_late_goes_on_watching)
{
    char *path = mem_dup(temp_path("late.json"));
    struct rig r;

    temp_write(path, "{}");
    BEGIN(&r, path);
    append(path, " ");
    hear(&r);
    append(path, " ");
    r.clock.now += 10 * WATCH_QUIET_MAX_MS;
    CHECK_INT(told(&r), 1);
    append(path, " ");
    CHECK_INT(told(&r), 1);
    end(&r);
    free(path);
}

TEST(every_way_of_changing_a_file_is_told_once)
{
    const char *path = temp_path("config.json");
    struct rig r;

    temp_write(path, "{}");
    BEGIN(&r, path);
    CHECK_INT(told(&r), 0);
    append(path, " ");
    CHECK_INT(told(&r), 1);
    temp_write(path, "{}"); /* in place */
    CHECK_INT(told(&r), 1);
    replace(path, "{}");
    CHECK_INT(told(&r), 1);
    replace(path, "[]"); /* the new file is watched as the old one was */
    CHECK_INT(told(&r), 1);
    append(path, " ");
    CHECK_INT(told(&r), 1);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(told(&r), 1);
    temp_write(path, "{}");
    CHECK_INT(told(&r), 1);
    CHECK_INT(rename(path, temp_path("away.json")), 0);
    CHECK_INT(told(&r), 1);
    CHECK_INT(told(&r), 0);
    end(&r);
}

TEST(an_edit_that_leaves_size_and_time_as_they_were_is_told)
{
    const char *path = temp_path("config.json");
    struct timespec times[2];
    struct stat st;
    struct rig r;

    temp_write(path, "aa");
    CHECK_INT(stat(path, &st), 0);
    times[0] = st.st_atim;
    times[1] = st.st_mtim;
    BEGIN(&r, path);
    temp_write(path, "bb");
    CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
    CHECK_INT(told(&r), 1);
    end(&r);
}

TEST(what_is_known_already_is_not_told)
{
    const char *path = temp_path("config.json");
    struct timespec times[2];
    struct stat st;
    struct rig r;

    temp_write(path, "aa");
    BEGIN(&r, path);
    replace(path, "bb");
    watch_seen(r.watch); /* before the events were heard */
    CHECK_INT(told(&r), 0);
    replace(path, "cc");
    hear(&r);
    watch_seen(r.watch); /* and after */
    CHECK_INT(told(&r), 0);
    replace(path, "dd");
    watch_seen(r.watch);
    append(path, "d"); /* by somebody else, before all is quiet */
    CHECK_INT(told(&r), 1);
    watch_seen(r.watch); /* nothing had happened */
    CHECK_INT(told(&r), 0);
    CHECK_INT(stat(path, &st), 0);
    times[0] = st.st_atim;
    times[1] = st.st_mtim;
    temp_write(path, "eee");
    CHECK_INT(utimensat(AT_FDCWD, path, times, 0), 0);
    CHECK_INT(told(&r), 1);
    end(&r);
}

TEST(other_files_of_the_directory_are_nobodys_business)
{
    const char *path = temp_path("config.json");
    struct rig r;

    temp_write(path, "{}");
    BEGIN(&r, path);
    temp_write(temp_path("config.json.tmp"), "x");
    temp_write(temp_path("other"), "x");
    CHECK_INT(unlink(temp_path("other")), 0);
    CHECK_INT(told(&r), 0);
    end(&r);
}

TEST(changes_that_follow_each_other_are_told_when_they_settle)
{
    const char *a = temp_path("a.json"), *b = temp_path("b.json");
    struct rig r;

    BEGIN(&r, a, b);
    for (int i = 0; i < 5; i++) {
        temp_write(a, "x");
        temp_write(b, "y");
        hear(&r);
        loop_advance(r.loop, WATCH_QUIET_MS - 1);
        CHECK_INT(r.told, 0);
    }
    loop_advance(r.loop, 1);
    CHECK_INT(r.told, 1);
    CHECK_INT(told(&r), 0);
    end(&r);
}

TEST(a_file_that_never_settles_is_told_all_the_same)
{
    const char *path = temp_path("busy.json");
    struct rig r;

    BEGIN(&r, path);
    for (int ms = 0; ms < WATCH_QUIET_MAX_MS; ms += WATCH_QUIET_MS / 2) {
        CHECK_INT(r.told, 0);
        append(path, "x");
        hear(&r);
        loop_advance(r.loop, WATCH_QUIET_MS / 2);
    }
    CHECK_INT(r.told, 1);
    end(&r);
}

TEST(directories_that_are_not_there_yet_are_waited_for)
{
    const char *dir = temp_path("x"), *deep = temp_path("x/y/z"), *path = temp_path("x/y/z/c.json");
    struct rig r;

    temp_path("");
    BEGIN(&r, path);
    CHECK_INT(mkdir(dir, 0700), 0);
    CHECK_INT(told(&r), 0); /* no file yet, so nothing to tell */
    CHECK_INT(mkdir(temp_path("x/y"), 0700), 0);
    CHECK_INT(mkdir(deep, 0700), 0);
    temp_write(path, "{}"); /* all before the loop could look */
    CHECK_INT(told(&r), 1);
    append(path, " ");
    CHECK_INT(told(&r), 1);
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(deep), 0);
    CHECK_INT(told(&r), 1);
    CHECK_INT(mkdir(deep, 0700), 0);
    hear(&r);
    temp_write(path, "{}");
    CHECK_INT(told(&r), 1);
    end(&r);
}

TEST(a_directory_that_is_swapped_for_another_is_followed)
{
    const char *dir = temp_path("conf"), *other = temp_path("conf.new");
    const char *path = temp_path("conf/c.json");
    struct rig r;

    CHECK_INT(mkdir(dir, 0700), 0);
    CHECK_INT(mkdir(other, 0700), 0);
    temp_write(path, "old");
    temp_write(temp_path("conf.new/c.json"), "new one");
    BEGIN(&r, path);
    CHECK_INT(rename(dir, temp_path("conf.old")), 0);
    CHECK_INT(told(&r), 1);
    CHECK_INT(rename(other, dir), 0);
    CHECK_INT(told(&r), 1);
    append(path, " ");
    CHECK_INT(told(&r), 1);
    append(temp_path("conf.old/c.json"), " ");
    CHECK_INT(told(&r), 0);
    end(&r);
}

TEST(a_file_behind_symbolic_links_is_watched_where_it_is)
{
    const char *link = temp_path("config.json"), *real = temp_path("dotfiles/real.json");
    struct rig r;

    CHECK_INT(mkdir(temp_path("dotfiles"), 0700), 0);
    temp_write(real, "{}");
    temp_write(temp_path("dotfiles/two.json"), "{ }");
    CHECK_INT(symlink("dotfiles/real.json", link), 0);
    BEGIN(&r, link);
    append(real, " ");
    CHECK_INT(told(&r), 1);
    CHECK_INT(unlink(link), 0);
    CHECK_INT(symlink("dotfiles/two.json", link), 0);
    CHECK_INT(told(&r), 1);
    append(temp_path("dotfiles/two.json"), " ");
    CHECK_INT(told(&r), 1);
    append(real, " ");
    CHECK_INT(told(&r), 0);
    end(&r);
}

TEST(links_that_lead_in_a_circle_do_no_harm)
{
    const char *path = temp_path("circle.json");
    struct rig r;

    CHECK_INT(symlink("circle.json", path), 0);
    BEGIN(&r, path);
    CHECK_INT(unlink(path), 0);
    temp_write(path, "{}");
    CHECK_INT(told(&r), 1);
    end(&r);
}

TEST(a_watch_may_be_freed_by_what_it_tells_and_with_news_on_their_way)
{
    const char *path = temp_path("config.json");
    struct rig r;

    BEGIN(&r, path);
    r.free_when_told = true;
    temp_write(path, "{}");
    CHECK_INT(told(&r), 1);
    CHECK(r.watch == NULL);
    end(&r);

    BEGIN(&r, path);
    append(path, " ");
    hear(&r);
    append(path, " ");
    end(&r);
    CHECK_INT(r.told, 0);
}
