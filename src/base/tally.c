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
    t->refs++;
    return t;
}

void tally_unref(struct tally *t)
{
    if (t && --t->refs == 0)
        free(t);
}
