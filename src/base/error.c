#include "error.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static PRINTF(4, 0) void set(struct pb_error *err, enum pb_code code, int sys, const char *fmt,
                             va_list ap)
{
    err->code = code;
    err->sys = sys;
    vsnprintf(err->msg, sizeof err->msg, fmt, ap);
}

int fail(struct pb_error *err, enum pb_code code, const char *fmt, ...)
{
    va_list ap;

    if (err) {
        va_start(ap, fmt);
        set(err, code, 0, fmt, ap);
        va_end(ap);
    }
    return -(int)code;
}

/* GNU's gives the text, which need not be where it was asked to be; POSIX' writes it there. */
const char *system_text(int sys, char *room, size_t n)
{
#ifdef __GLIBC__
    return strerror_r(sys, room, n);
#else
    return strerror_r(sys, room, n) == 0 ? room : "an unknown error";
#endif
}

int fail_sys(struct pb_error *err, int sys, const char *fmt, ...)
{
    va_list ap;
    char why[96];
    size_t n;

    if (err) {
        va_start(ap, fmt);
        set(err, PB_E_SYSTEM, sys, fmt, ap);
        va_end(ap);
        n = strlen(err->msg);
        snprintf(err->msg + n, sizeof err->msg - n, ": %s", system_text(sys, why, sizeof why));
    }
    return -(int)PB_E_SYSTEM;
}

int fail_in(struct pb_error *err, const char *fmt, ...)
{
    struct pb_error was;
    va_list ap;
    size_t n;

    if (!err)
        return -(int)PB_E_INVALID;
    was = *err;
    va_start(ap, fmt);
    set(err, was.code, was.sys, fmt, ap);
    va_end(ap);
    n = strlen(err->msg);
    snprintf(err->msg + n, sizeof err->msg - n, ": %s", was.msg);
    return -(int)err->code;
}

int fail_copy(struct pb_error *err, const struct pb_error *from)
{
    if (err)
        *err = *from;
    return -(int)from->code;
}
