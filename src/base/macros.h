/* macros.h - the few house macros, and names for the attributes we rely on. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define PRINTF(fmt, args)               __attribute__((format(printf, fmt, args)))
#define MUST_CHECK                      __attribute__((warn_unused_result))
#define ARRAY_LEN(a)                    (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* AUTO(t): run t_free() on every way out of the scope; the type declares it with AUTO_DEFINE.
 * TAKE(p): hand p on and leave NULL behind. */
#define AUTO(type) __attribute__((cleanup(type##_autofree)))
#define AUTO_DEFINE(type, fn)                           \
    static inline void type##_autofree(struct type **p) \
    {                                                   \
        if (*p)                                         \
            fn(*p);                                     \
    }
#define TAKE(p)                    \
    __extension__({                \
        __typeof__(p) take_ = (p); \
        (p) = NULL;                \
        take_;                     \
    })

#define AUTO_FREE __attribute__((cleanup(auto_free)))
static inline void auto_free(void *p) { free(*(void **)p); }

#define AUTO_CLOSE __attribute__((cleanup(auto_close)))
static inline void auto_close(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}
