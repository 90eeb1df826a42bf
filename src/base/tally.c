#include "tally.h"
#include "mem.h"

struct tally *tally_new(void)
{
    struct tally *t = NEW(struct tally);

    t->refs = 1;
    return t;
}

struct tally *tally_ref(struct tally *t)
{
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

void tally_unref(struct tally *t)
{
    if (t && atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) == 1)
        free(t);
}
