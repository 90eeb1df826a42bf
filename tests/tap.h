/* tap.h - the whole test harness. TEST() registers itself; each test runs in its own process, so
 * that a crash, a leak or a hang is one "not ok" line, never the end of the run. Output is TAP,
 * which meson reads. Run one test: ./test_json_doc NAME */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAP_MAX = 512, TAP_TIMEOUT_S = 60 };

static struct {
    const char *name;
    void (*run)(void);
} tap_tests[TAP_MAX];
static int tap_count;

#define TEST(fn)                                                \
    static void fn(void);                                       \
    __attribute__((constructor)) static void tap_add_##fn(void) \
    {                                                           \
        tap_tests[tap_count].name = #fn;                        \
        tap_tests[tap_count++].run = fn;                        \
    }                                                           \
    static void fn(void)

#define TAP_FAIL(...)                            \
    do {                                         \
        printf("# %s:%d: ", __FILE__, __LINE__); \
        printf(__VA_ARGS__);                     \
        putchar('\n');                           \
        fflush(stdout);                          \
        _exit(1);                                \
    } while (0)
#define CHECK(cond)                       \
    do {                                  \
        if (!(cond))                      \
            TAP_FAIL("CHECK(%s)", #cond); \
    } while (0)
#define CHECK_INT(a, b)                                        \
    do {                                                       \
        long long a_ = (long long)(a), b_ = (long long)(b);    \
        if (a_ != b_)                                          \
            TAP_FAIL("%s is %lld, expected %lld", #a, a_, b_); \
    } while (0)
#define CHECK_STR(a, b)                                                            \
    do {                                                                           \
        const char *a_ = (a), *b_ = (b);                                           \
        if (!a_ || strcmp(a_, b_))                                                 \
            TAP_FAIL("%s is \"%s\", expected \"%s\"", #a, a_ ? a_ : "(null)", b_); \
    } while (0)
#define CHECK_HAS(a, part)                                                            \
    do {                                                                              \
        const char *a_ = (a), *b_ = (part);                                           \
        if (!a_ || !strstr(a_, b_))                                                   \
            TAP_FAIL("%s is \"%s\", which lacks \"%s\"", #a, a_ ? a_ : "(null)", b_); \
    } while (0)
/* A struct span against a C string. */
#define CHECK_SPAN(a, b)                                                          \
    do {                                                                          \
        __typeof__(a) a_ = (a);                                                   \
        const char *b_ = (b);                                                     \
        if (a_.n != strlen(b_) || (a_.n && memcmp(a_.p, b_, a_.n)))               \
            TAP_FAIL("%s is \"%.*s\", expected \"%s\"", #a, (int)a_.n, a_.p, b_); \
    } while (0)

/* What a test needs is not on this machine: it is reported as skipped, never as passed. */
/* Long runs by hand say how long they may take. */
static inline unsigned tap_timeout_s(void)
{
    const char *s = getenv("TAP_TIMEOUT_S");
    unsigned slower = getenv("UNDER_VALGRIND") ? 20 : 1;

    return slower * (s ? (unsigned)strtoul(s, NULL, 10) : TAP_TIMEOUT_S);
}

enum { TAP_SKIPPED = 77 };
#define TAP_SKIP(...)        \
    do {                     \
        printf("# ");        \
        printf(__VA_ARGS__); \
        putchar('\n');       \
        fflush(stdout);      \
        _exit(TAP_SKIPPED);  \
    } while (0)

/* For what valgrind does to a program: it keeps descriptors for itself, and does not know every
 * system call. */
#define TAP_SKIP_UNDER_VALGRIND(why)   \
    do {                               \
        if (getenv("UNDER_VALGRIND"))  \
            TAP_SKIP("valgrind " why); \
    } while (0)

/* 1 passed, 0 failed, TAP_SKIPPED. */
static int tap_run(void (*run)(void))
{
    int status;
    pid_t pid;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        alarm(tap_timeout_s());
        run();
        exit(0); /* exit, not _exit: LeakSanitizer checks on the way out */
    }
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        printf("# killed by signal %d\n", WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) == TAP_SKIPPED)
        return TAP_SKIPPED;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : NULL;
    int failed = 0;

    printf("1..%d\n", tap_count);
    for (int i = 0; i < tap_count; i++) {
        int other = only && strcmp(only, tap_tests[i].name);
        int ok = other ? TAP_SKIPPED : tap_run(tap_tests[i].run);

        printf("%s %d - %s%s\n", ok ? "ok" : "not ok", i + 1, tap_tests[i].name,
               ok == TAP_SKIPPED ? " # SKIP" : "");
        failed += !ok;
    }
    return failed != 0;
}
