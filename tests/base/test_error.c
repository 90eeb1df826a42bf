#include "base/base.h"
#include "tap.h"
#include <errno.h>

TEST(a_failure_carries_its_code_and_its_text)
{
    struct pb_error err = { .sys = 7 };

    CHECK_INT(fail(&err, PB_E_LIMIT, "%d is too many", 5), -PB_E_LIMIT);
    CHECK_INT(err.code, PB_E_LIMIT);
    CHECK_INT(err.sys, 0);
    CHECK_STR(err.msg, "5 is too many");
    CHECK_INT(fail(NULL, PB_E_BUSY, "nobody looks"), -PB_E_BUSY);
}

TEST(a_failure_of_the_system_names_its_reason)
{
    struct pb_error err;

    CHECK_INT(fail_sys(&err, ENOENT, "open '%s'", "x"), -PB_E_SYSTEM);
    CHECK_INT(err.sys, ENOENT);
    CHECK_STR(err.msg, "open 'x': No such file or directory");
    CHECK_INT(fail_sys(NULL, EPERM, "nobody looks"), -PB_E_SYSTEM);
}

TEST(context_is_put_in_front_and_keeps_the_code)
{
    struct pb_error err;

    fail_sys(&err, EPERM, "inner");
    CHECK_INT(fail_in(&err, "outer %d", 1), -PB_E_SYSTEM);
    CHECK_INT(err.sys, EPERM);
    CHECK_STR(err.msg, "outer 1: inner: Operation not permitted");
}

TEST(long_texts_are_cut_and_stay_terminated)
{
    struct pb_error err;
    char text[600];

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    fail(&err, PB_E_INVALID, "%s", text);
    CHECK_INT(strlen(err.msg), sizeof err.msg - 1);
    fail_in(&err, "%s", text);
    CHECK_INT(strlen(err.msg), sizeof err.msg - 1);
    fail_sys(&err, ENOENT, "%s", text);
    CHECK_INT(strlen(err.msg), sizeof err.msg - 1);
    fail_in(&err, "in front");
    CHECK(strncmp(err.msg, "in front: xxx", 13) == 0);
}

TEST(errors_are_copied_whole)
{
    struct pb_error from = { PB_E_REMOTE, -32601, "no such method" }, to = { 0 };

    CHECK_INT(fail_copy(&to, &from), -PB_E_REMOTE);
    CHECK_INT(to.sys, -32601);
    CHECK_STR(to.msg, "no such method");
    CHECK_INT(fail_copy(NULL, &from), -PB_E_REMOTE);
}
