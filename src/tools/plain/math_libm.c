#include "plain_impl.h"
#include <pthread.h>

static struct {
    struct libm libm;
    struct pb_error err;
    int rc;
} found;

static void find(void) { found.rc = libm_find(&found.libm, &found.err); }

const struct libm *math_libm(struct pb_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find);
    if (found.rc == 0)
        return &found.libm;
    fail_copy(err, &found.err);
    return NULL;
}
