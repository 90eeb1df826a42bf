/* Somebody swaps what is on the way to a file, between a directory and a link to another place, and
 * files for each other, while every operation runs. Whatever comes of it: what lies at the other
 * place is never read, changed or added to. RACE=10000000 runs it for longer. */
#include "file_rig.h"
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

enum { RACE_CALLS = 2000 };
#define CANARY "CANARY-that-nobody-may-see"

static atomic_bool over;
static atomic_ullong swaps;

/* d is now the directory, now the link. */
static void swap_once(int dir)
{
    CHECK(syscall(SYS_renameat2, dir, "d", dir, "link", RENAME_EXCHANGE) == 0);
    atomic_fetch_add(&swaps, 1);
}

static void *swap_directory(void *ctx)
{
    while (!atomic_load(&over))
        swap_once(*(int *)ctx);
    return NULL;
}

/* In the directory x is now a file, now a link to the canary, now nothing. */
static void *swap_file(void *ctx)
{
    int dir = *(int *)ctx;

    while (!atomic_load(&over)) {
        int made = openat(dir, "fresh", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

        CHECK(made >= 0 && write(made, "text\n", 5) == 5);
        close(made);
        CHECK(renameat(dir, "fresh", dir, "x") == 0);
        CHECK(symlinkat("../outside/secret", dir, "lure") == 0);
        CHECK(renameat(dir, "lure", dir, "x") == 0);
        atomic_fetch_add(&swaps, 2);
    }
    return NULL;
}

static const char *const calls[][2] = {
    { "read_file", "{'filePath':'d/secret'}" },
    { "read_file", "{'filePath':'x'}" },
    { "list_dir", "{'path':'d'}" },
    { "get_file_info", "{'filePath':'d/secret'}" },
    { "write_file", "{'filePath':'d/secret','content':'ours\\n'}" },
    { "write_file", "{'filePath':'x','content':'ours\\n'}" },
    { "create_file", "{'filePath':'d/new','content':'ours\\n','overwrite':true}" },
    { "append_file", "{'filePath':'x','content':'a'}" },
    { "replace_string", "{'filePath':'d/secret','oldString':'ours','newString':'ours'}" },
    { "insert_edit", "{'filePath':'d/secret','lineNumber':1,'newText':'ours',"
                     "'insertOperation':'replace'}" },
    { "create_directory", "{'path':'d/made/deep'}" },
    { "delete_file", "{'filePath':'d/made/deep'}" },
    { "rename_file", "{'oldPath':'d/new','newPath':'d/new2','overwrite':true}" },
    { "rename_file", "{'oldPath':'d/secret','newPath':'d/secret2'}" },
    { "rename_file", "{'oldPath':'d/secret2','newPath':'d/secret'}" },
    { "delete_file", "{'filePath':'d/new2'}" },
    { "apply_patch", "{'patchContent':'--- a/d/secret\\n+++ b/d/secret\\n@@ -1 +1 @@\\n-ours\\n"
                     "+ours\\n'}" },
    { "apply_patch", "{'targetDirectory':'d','patchContent':'--- /dev/null\\n+++ b/patched\\n@@ "
                     "-0,0 +1 @@\\n+ours\\n'}" },
    { "delete_file", "{'filePath':'d/patched'}" },
};

static void check_outside(void)
{
    CHECK_INT(names_in(temp_path("outside")), 2);
    CHECK_STR(temp_read(temp_path("outside/secret")), CANARY "\n");
    CHECK_INT(names_in(temp_path("outside/made")), 1);
}

TEST(nothing_outside_is_reached_while_the_way_is_swapped)
{
    const char *wanted = getenv("RACE");
    unsigned long n = wanted ? strtoul(wanted, NULL, 10) : RACE_CALLS,
                  did_it[ARRAY_LEN(calls)] = { 0 };
    struct rig_call r[ARRAY_LEN(calls)];
    pthread_t threads[2];
    int dir = open(rig_work(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    CHECK(mkdir(temp_path("outside"), 0755) == 0 && mkdir(temp_path("outside/made"), 0755) == 0 &&
          mkdir(temp_path("outside/made/deep"), 0755) == 0);
    temp_file("outside/secret", CANARY "\n");
    CHECK(mkdir(in_work("d"), 0755) == 0 && symlink("../outside", in_work("link")) == 0);
    put_file("d/secret", "ours\n");
    for (size_t i = 0; i < ARRAY_LEN(calls); i++)
        rig_begin(&r[i], calls[i][0], calls[i][1]);
    CHECK(pthread_create(&threads[0], NULL, swap_directory, &dir) == 0);
    CHECK(pthread_create(&threads[1], NULL, swap_file, &dir) == 0);
    for (unsigned long i = 0; i < n; i++) {
        struct rig_call *one = &r[i % ARRAY_LEN(calls)];

        /* Else most calls would be made while d is the link: those that fail are the fastest. */
        if (i % 2)
            swap_once(dir);
        did_it[i % ARRAY_LEN(calls)] += one->c.op->run(&one->c) == 0;
        if (memmem(one->call.out.p, one->call.out.n, CANARY, strlen(CANARY)))
            TAP_FAIL("%s read it", one->c.op->name);
        rig_forget(one);
        if (i % 100000 == 0)
            check_outside();
    }
    atomic_store(&over, true);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    close(dir);
    check_outside();
    printf("# %lu calls, %llu swaps; done:", n, atomic_load(&swaps));
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        printf(" %s %lu", calls[i][0], did_it[i]);
        rig_end(&r[i]);
    }
    printf("\n");
}
