#include "base/base.h"
#include "temp_dir.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static int synced_directories; /* counted between file.c and the kernel */

int fsync(int fd)
{
    struct stat st;

    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        synced_directories++;
    return fdatasync(fd);
}

static mode_t mode_of(const char *path)
{
    struct stat st;

    CHECK_INT(lstat(path, &st), 0);
    return st.st_mode & 07777;
}

TEST(directories_are_made_as_far_as_they_are_missing)
{
    struct pb_error err;
    const char *deep = temp_path("a/b/c");
    AUTO_FREE char *path = mem_dup(deep);

    CHECK_INT(file_make_directories(path, &err), 0);
    CHECK_INT(mode_of(path), 0700);
    CHECK_INT(file_make_directories(path, &err), 0);
    CHECK_INT(rmdir(path), 0);
    CHECK_INT(rmdir(temp_path("a/b")), 0);
    CHECK_INT(rmdir(temp_path("a")), 0);
}

TEST(a_directory_that_cannot_be_made_is_named)
{
    struct pb_error err;

    CHECK(file_make_directories("/dev/null/x", &err) < 0);
    CHECK_HAS(err.msg, "/dev/null/x");
}

TEST(a_file_is_replaced_as_a_whole_and_a_link_is_not_followed)
{
    struct pb_error err;
    AUTO_FREE char *path = mem_dup(temp_path("f")), *other = mem_dup(temp_path("other"));
    char text[16] = "";
    AUTO_CLOSE int fd = -1;

    CHECK_INT(symlink(other, path), 0);
    CHECK_INT(file_replace(path, SPAN("one"), (struct file_how){ .durable = true }, &err), 0);
    CHECK_INT(synced_directories, 1);
    CHECK(access(other, F_OK) < 0);
    CHECK_INT(mode_of(path), 0600);
    CHECK_INT(file_replace(path, SPAN("two"),
                           (struct file_how){
                               .like = true, .mode = 0640, .uid = geteuid(), .gid = getegid() },
                           &err),
              0);
    CHECK_INT(mode_of(path), 0640);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK_INT(read(fd, text, sizeof text - 1), 3);
    CHECK_STR(text, "two");
    CHECK_INT(unlink(path), 0);
    CHECK_INT(rmdir(temp_root()), 0); /* nothing else was left there */
}

TEST(a_file_that_cannot_be_made_is_named)
{
    struct pb_error err;

    CHECK(file_replace("/dev/null/x", SPAN("one"), (struct file_how){ 0 }, &err) < 0);
    CHECK_HAS(err.msg, "/dev/null/x");
}

TEST(one_at_a_time_changes_files_of_a_directory)
{
    struct pb_error err;
    int first = -1, second = -1;

    CHECK_INT(file_lock_directory(temp_root(), 0, &first, &err), 0);
    CHECK_INT(file_lock_directory(temp_root(), 20, &second, &err), -PB_E_BUSY);
    CHECK_HAS(err.msg, "another program is changing files in '");
    CHECK_INT(second, -1);
    close(first);
    CHECK_INT(file_lock_directory(temp_root(), 0, &second, &err), 0);
    close(second);
    CHECK_INT(file_lock_directory(temp_path("nowhere"), 0, &second, &err), -PB_E_SYSTEM);
    CHECK_HAS(err.msg, "open the directory '");
}
