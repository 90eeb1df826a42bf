#include "base/base.h"
#include "tap.h"
#include <pthread.h>

enum { THREADS = 4, EACH = 20000, SIZE = 16 };

struct work {
    struct tally *tally;
    struct blob *shared;
    struct blob *blobs[EACH];
};

static void *drop_all(void *ctx)
{
    struct work *w = ctx;

    for (int i = 0; i < EACH; i++) {
        blob_unref(w->blobs[i]);
        blob_unref(w->shared);
    }
    return NULL;
}

/* Tools on threads of their own may end after their server: what they let go of is counted in one
 * tally, and the calls of one batch share a blob. */
TEST(blobs_may_be_dropped_on_any_thread)
{
    struct tally *tally = tally_new();
    struct blob *shared = blob_new(SPAN("shared"));
    AUTO_FREE struct work *works = mem_zero(THREADS * sizeof *works);
    pthread_t threads[THREADS];

    for (int t = 0; t < THREADS; t++) {
        works[t].tally = tally;
        works[t].shared = shared;
        for (int i = 0; i < EACH; i++) {
            works[t].blobs[i] = blob_new(SPAN("own"));
            tally->bytes += SIZE;
            blob_set_tally(works[t].blobs[i], tally, SIZE);
            blob_ref(shared);
        }
    }
    for (int t = 0; t < THREADS; t++)
        CHECK_INT(pthread_create(&threads[t], NULL, drop_all, &works[t]), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    CHECK_INT(tally->bytes, 0);
    CHECK_INT(tally->refs, 1);
    CHECK_INT(shared->refs, 1);
    blob_unref(shared);
    tally_unref(tally);
}
