/* The list of a conversation on disk. */
#include "tap.h"
#include "temp_dir.h"
#include "tools/todo/todo_impl.h"
#include "json/json.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

static int append(const char *home, const char *conversation, const char *items,
                  struct pb_error *err)
{
    AUTO_TODO_FILE struct todo_file f = { .lock = -1 };
    AUTO_TODOS struct todo_list l = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct todo_errors e = { 0 };
    int rc;

    CHECK_INT(json_parse(&doc, span_of(items), NULL, NULL), 0);
    todo_file_init(&f, home, conversation);
    rc = todo_file_lock(&f, err);
    if (rc == 0)
        rc = todo_file_load(&f, &l, err);
    if (rc < 0)
        return rc;
    todo_append(&l, json_root(&doc), &(struct todo_by){ .now_ms = 1 }, &e);
    CHECK_INT(e.n, 0);
    return todo_file_save(&f, &l, err);
}

static size_t count(const char *home, const char *conversation)
{
    AUTO_TODO_FILE struct todo_file f = { .lock = -1 };
    AUTO_TODOS struct todo_list l = { 0 };
    struct pb_error err;

    todo_file_init(&f, home, conversation);
    if (todo_file_load(&f, &l, &err) < 0)
        TAP_FAIL("%s", err.msg);
    return l.n;
}

TEST(each_conversation_has_a_list_of_its_own_that_only_we_may_read)
{
    /* S3-62 */
    const char *home = temp_root();
    AUTO_TODO_FILE struct todo_file f = { .lock = -1 };
    struct pb_error err;
    struct stat st;

    CHECK_INT(append(home, "../../a", "[{\"title\":\"x\"}]", &err), 0);
    CHECK_INT(append(home, "b", "[{\"title\":\"x\"},{\"title\":\"y\"}]", &err), 0);
    CHECK_INT(count(home, "../../a"), 1);
    CHECK_INT(count(home, "b"), 2);
    CHECK_INT(count(home, "c"), 0);
    todo_file_init(&f, home, "../../a");
    CHECK(stat(f.path, &st) == 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK(stat(f.dir, &st) == 0);
    CHECK_INT(st.st_mode & 0777, 0700);
    temp_clean();
}

/* Processes, as a daemon and a command line without one are. */
TEST(whoever_writes_at_once_loses_nothing)
{
    enum { WRITERS = 4, EACH = 20 };
    const char *home = temp_root();
    pid_t pids[WRITERS];

    fflush(stdout);
    for (size_t i = 0; i < WRITERS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            struct pb_error err;

            for (size_t n = 0; n < EACH; n++)
                while (append(home, "c", "[{\"title\":\"x\"}]", &err) == -(int)PB_E_BUSY)
                    ;
            _exit(0);
        }
    }
    for (size_t i = 0; i < WRITERS; i++) {
        int status;

        CHECK(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
    }
    CHECK_INT(count(home, "c"), WRITERS * EACH);
    temp_clean();
}

TEST(who_waits_too_long_for_another_is_told)
{
    const char *home = temp_root();
    AUTO_TODO_FILE struct todo_file f = { .lock = -1 };
    struct pb_error err;

    todo_file_init(&f, home, "c");
    CHECK_INT(todo_file_lock(&f, &err), 0);
    CHECK_INT(append(home, "c", "[{\"title\":\"x\"}]", &err), -PB_E_BUSY);
    CHECK_HAS(err.msg, "another program is changing files in");
    temp_clean();
}

static void damage(const char *home, const char *text, const char *says)
{
    AUTO_TODO_FILE struct todo_file f = { .lock = -1 };
    AUTO_BUF struct buf now = { 0 };
    AUTO_CLOSE int fd = -1;
    struct pb_error err;

    todo_file_init(&f, home, "c");
    CHECK_INT(file_replace(f.path, span_of(text), (struct file_how){ 0 }, &err), 0);
    CHECK_INT(append(home, "c", "[{\"title\":\"x\"}]", &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "is damaged");
    CHECK_HAS(err.msg, strrchr(f.path, '/'));
    CHECK_HAS(err.msg, says);
    fd = open(f.path, O_RDONLY | O_CLOEXEC);
    CHECK_INT(file_read(fd, f.path, 10000, &now, &err), 0);
    CHECK_STR(buf_cstr(&now), text);
}

TEST(a_damaged_file_is_named_and_left_as_it_is)
{
    const char *home = temp_root();
    struct pb_error err;

    CHECK_INT(append(home, "c", "[{\"title\":\"x\"}]", &err), 0);
    damage(home, "{\"todos\":[", "expected");
    damage(home, "", "expected");
    damage(home, "[]", "it has no list \"todos\"");
    damage(home, "{\"todos\":[3]}", "todos[0] is no object");
    damage(home, "{\"todos\":[{\"id\":1}]}", "todos[0] has no id or no title");
    damage(home, "{\"todos\":[{\"id\":1,\"title\":\"a\",\"dependencies\":[2]}]}",
           "Todo 1 depends on non-existent todo 2");
    temp_clean();
}

TEST(a_list_that_would_be_too_large_is_not_written)
{
    const char *home = temp_root();
    AUTO_BUF struct buf items = { 0 };
    struct pb_error err;

    for (size_t i = 0; i < 300; i++) {
        buf_str(&items, i ? ",{\"title\":\"x\",\"description\":\""
                          : "[{\"title\":\"x\",\"description\":\"");
        for (size_t n = 0; n < TODO_TEXT_MAX; n++)
            buf_byte(&items, 'y');
        buf_str(&items, "\"}");
    }
    buf_byte(&items, ']');
    CHECK_INT(append(home, "c", buf_cstr(&items), &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "larger than 4194304 bytes");
    CHECK_INT(count(home, "c"), 0);
    temp_clean();
}

static size_t lists_in(const char *home)
{
    AUTO_BUF struct buf path = { 0 };
    struct dirent *d;
    size_t n = 0;
    DIR *dir;

    buf_printf(&path, "%s/todos", home);
    dir = opendir(buf_cstr(&path));
    CHECK(dir != NULL);
    while ((d = readdir(dir)) != NULL)
        n += strstr(d->d_name, ".json") != NULL;
    closedir(dir);
    return n;
}

TEST(of_too_many_lists_the_oldest_goes)
{
    const char *home = temp_root();
    AUTO_BUF struct buf path = { 0 };
    struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
    struct pb_error err;

    CHECK_INT(append(home, "newest", "[{\"title\":\"x\"}]", &err), 0);
    for (int i = 1; i < TODO_LISTS_MAX; i++) {
        AUTO_CLOSE int fd = -1;

        path.n = 0;
        buf_printf(&path, "%s/todos/%d.json", home, i);
        fd = open(buf_cstr(&path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        CHECK(fd >= 0);
        if (i == 77)
            futimens(fd, old);
    }
    CHECK_INT(lists_in(home), TODO_LISTS_MAX);
    CHECK_INT(append(home, "newest", "[{\"title\":\"y\"}]", &err), 0); /* it is there already */
    CHECK_INT(lists_in(home), TODO_LISTS_MAX);
    CHECK_INT(append(home, "one more", "[{\"title\":\"x\"}]", &err), 0);
    CHECK_INT(lists_in(home), TODO_LISTS_MAX);
    path.n = 0;
    buf_printf(&path, "%s/todos/77.json", home);
    CHECK(access(buf_cstr(&path), F_OK) < 0);
    CHECK_INT(count(home, "newest"), 2);
    temp_clean();
}
