/* registries.h - the door of the room `registries`: servers that others have published, found by
 * words. Two registries are known; they are asked in parallel, and one that fails does not hide
 * what the other has found. Nothing that they say is trusted: it is shown, and it is run only after
 * a person has seen the command and saved it. Loop thread. */
#pragma once
#include "io/io.h"

enum registry_source { REGISTRY_OFFICIAL, REGISTRY_SMITHERY, REGISTRY_COUNT };
/* "official", "smithery"; NULL past the last. */
const char *registry_name(unsigned i);

struct registry_question {
    /* Where each is, without a slash at the end; NULL: where the public one is. */
    const char *urls[REGISTRY_COUNT];
    unsigned which;     /* 1 << REGISTRY_…: who is asked */
    const char *search; /* words; or */
    const char *name;   /* one server of Smithery, of which more is to be known */
};

struct registry_answer {
    /* JSON: an array of {"name","source","title"?,"description"?,"add"?}, those of the official one
     * first, each name once; "add" is what `patchbay add` takes. */
    struct span results;
    const struct pb_error *failed[REGISTRY_COUNT]; /* NULL: it has answered, or was not asked */
};

struct registry_search;
typedef void registry_fn(void *ctx, const struct registry_answer *a);

/* fn once, when all who were asked have answered or failed; what it is given is good until it
 * returns, and the search is freed after it. -PB_E_INVALID: the words are too long. */
MUST_CHECK int registry_ask(struct registry_search **out, struct pb_loop *loop,
                            const struct registry_question *q, registry_fn *fn, void *ctx,
                            struct pb_error *err);
/* fn is not called any more. */
void registry_cancel(struct registry_search *s);
