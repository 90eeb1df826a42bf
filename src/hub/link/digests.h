/* digests.h - what the items of a list are, whatever order their members stand in and whatever
 * space is between them: the SHA-512 of each one's canonical JSON (RFC 8785; numbers as they are
 * written). Pure; any thread. */
#pragma once
#include "json/json.h"

struct digests {
    size_t n;
    uint8_t (*v)[SHA512_BYTES]; /* by place in the array */
    struct buf canonical;       /* what they are of, one after the other; may be let go */
    size_t *ends;               /* of each of them in it */
};

/* Of a list as a server wrote it, the first CATALOG_SERVER_ITEMS_MAX of its items; none of what is
 * no array. `out` is empty before. */
void digests_of(struct digests *out, struct span array);
/* The canonical text of one; empty when it was let go. */
struct span digests_text(const struct digests *d, size_t i);
/* Keeps the digests only. */
void digests_let_go(struct digests *d);
void digests_done(struct digests *d);
/* Appends the canonical text of one definition; of what is no JSON, itself. */
void definition_canonical(struct buf *out, struct span text);
