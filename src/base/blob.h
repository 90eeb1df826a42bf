/* blob.h - immutable bytes with a reference count, for messages that outlive the read that
 * brought them: a request keeps the blob that its spans point into. Any thread may drop the last
 * reference: a tool that works on a thread of its own may end after its server. */
#pragma once
#include "buf.h"
#include "tally.h"
#include <stdatomic.h>

struct blob {
    _Atomic unsigned refs;
    size_t n;
    char *p;             /* terminated; the NUL is not counted */
    struct tally *tally; /* its memory is counted there; NULL: nowhere ... */
    size_t counted;      /* ... as so much */
};

/* Copies. */
struct blob *blob_new(struct span s);
/* Takes the memory of b, which is empty afterwards. */
struct blob *blob_take_buf(struct buf *b);
/* `counted` bytes, which are in the tally already, are taken off it at the blob's end. Once. */
void blob_set_tally(struct blob *b, struct tally *t, size_t counted);
struct blob *blob_ref(struct blob *b);
void blob_unref(struct blob *b);

static inline struct span blob_span(const struct blob *b) { return (struct span){ b->p, b->n }; }

AUTO_DEFINE(blob, blob_unref)
