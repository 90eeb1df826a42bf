#include "blob.h"
#include "limits.h"
#include "mem.h"
#include "spare.h"

struct blob *blob_new(struct span s)
{
    struct blob *b = spare_take(sizeof *b + s.n + 1);

    *b = (struct blob){ .refs = 1, .n = s.n, .p = (char *)(b + 1) };
    if (s.n)
        memcpy(b->p, s.p, s.n);
    b->p[s.n] = '\0';
    return b;
}

/* Short ones are copied: one block that is kept is less than two, of which one is not. */
struct blob *blob_take_buf(struct buf *src)
{
    struct blob *b;

    if (sizeof *b + src->n < SPARE_MOST) {
        b = blob_new(buf_span(src));
        buf_done(src);
        return b;
    }
    b = spare_take(sizeof *b);
    *b = (struct blob){ .refs = 1, .n = src->n };
    b->p = buf_take(src);
    return b;
}

void blob_set_tally(struct blob *b, struct tally *t, size_t counted)
{
    b->tally = tally_ref(t);
    b->counted = counted;
}

struct blob *blob_ref(struct blob *b)
{
    atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
    return b;
}

void blob_unref(struct blob *b)
{
    /* Nobody else has the only reference: no need to lock the bus for it. */
    if (!b || (atomic_load_explicit(&b->refs, memory_order_acquire) != 1 &&
               atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1))
        return;
    if (b->tally)
        atomic_fetch_sub_explicit(&b->tally->bytes, b->counted, memory_order_relaxed);
    tally_unref(b->tally);
    if (b->p == (char *)(b + 1)) {
        spare_give(b, sizeof *b + b->n + 1);
        return;
    }
    free(b->p);
    spare_give(b, sizeof *b);
}
