#include "spare.h"
#include "limits.h"
#include "mem.h"
#include <pthread.h>
#include <stdbool.h>

#if defined(__SANITIZE_ADDRESS__) && !defined(SPARE_OFF)
#    define SPARE_OFF
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) && !defined(SPARE_OFF)
#        define SPARE_OFF
#    endif
#endif

#ifdef SPARE_OFF
static const bool is_off = true;
#else
static const bool is_off = false;
#endif

enum { SIZES = SPARE_MOST / SPARE_STEP };
_Static_assert(SPARE_MOST % SPARE_STEP == 0, "sizes are rounded up to steps");

struct spare {
    struct spare *next;
};

struct spare_sizes {
    size_t bytes;
    struct spare *of[SIZES]; /* by size: up to 64 bytes, up to 128, ... */
};

/* One pointer: so little room the loader has even for a library that is loaded late. */
static _Thread_local struct spare_sizes *mine __attribute__((tls_model("initial-exec")));
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key; /* without one nothing is kept */

static void spares_free(void *ctx)
{
    struct spare_sizes *s = ctx;

    mine = NULL;
    for (size_t i = 0; i < SIZES; i++)
        while (s->of[i]) {
            struct spare *gone = s->of[i];

            s->of[i] = gone->next;
            free(gone);
        }
    free(s);
}

static void make_key(void) { has_key = pthread_key_create(&key, spares_free) == 0; }

/* NULL: there are none, and there can be none. */
static struct spare_sizes *begin(void)
{
    struct spare_sizes *s;

    pthread_once(&once, make_key);
    if (!has_key)
        return NULL;
    s = NEW(struct spare_sizes);
    if (pthread_setspecific(key, s) != 0)
        free(TAKE(s));
    return mine = s;
}

/* What is not kept is not counted either, so that a program costs the same with and without. */
static void *fresh(size_t n) { return is_off ? mem_alloc_uncounted(n) : mem_alloc(n); }

void *spare_take(size_t n)
{
    size_t i = (n - 1) / SPARE_STEP;
    struct spare *p;

    if (n - 1 >= SPARE_MOST)
        return fresh(n);
    if (!mine || !mine->of[i])
        return fresh((i + 1) * SPARE_STEP);
    p = mine->of[i];
    mine->of[i] = p->next;
    mine->bytes -= (i + 1) * SPARE_STEP;
    return p;
}

static bool keep(void *p, size_t n)
{
    size_t i = (n - 1) / SPARE_STEP, size = (i + 1) * SPARE_STEP;
    struct spare *one = p;

    if (is_off || n - 1 >= SPARE_MOST || (!mine && !begin()) || mine->bytes + size > SPARE_BYTES)
        return false;
    one->next = mine->of[i];
    mine->of[i] = one;
    mine->bytes += size;
    return true;
}

void spare_give(void *p, size_t n)
{
    if (p && !keep(p, n))
        free(p);
}
