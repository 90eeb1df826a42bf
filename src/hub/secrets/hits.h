/* hits.h - the parts of a text that are to be hidden. */
#pragma once
#include "base/base.h"

enum hit_why { HIT_VALUE, HIT_NAME, HIT_PATTERN };

struct hit {
    size_t from, end;
    enum hit_why why;
};

/* What a scan has seen already: from any place in it, it would end where it did. */
struct scanned {
    size_t from, end;
    size_t mark; /* what it looked for was there last, counted from 1; 0: nowhere */
};
static inline bool scanned_has(const struct scanned *s, size_t at)
{
    return s->from <= at && at < s->end;
}

/* Of one text. With nothing in it but `steps` it is empty and valid. */
struct hits {
    struct hit *v;
    size_t n, cap;
    size_t steps; /* that may still be taken: hits_steps() */
    bool one;     /* whoever asks wants to know whether there is any */
    bool full;    /* REDACT_HITS_MAX, or no step is left: all of the text is hidden */
    struct scanned header, host, run, pem, pem_run;
    bool pair_name, pair_value; /* {"name":"API_KEY", "value": were seen, in any order */
};

#define AUTO_HITS __attribute__((cleanup(hits_done)))
void hits_done(struct hits *h);
void hits_add(struct hits *h, size_t from, size_t end, enum hit_why why);
/* Whoever wrote a text may have made it so that some bytes are looked at again and again. What is
 * not bounded by itself is counted: a text may cost as much as its length allows. */
static inline size_t hits_steps(size_t n) { return REDACT_STEPS_MIN + n * REDACT_STEPS_EACH; }
static inline void hits_spend(struct hits *h, size_t steps)
{
    h->full |= h->steps < steps;
    h->steps -= h->steps < steps ? h->steps : steps;
}
/* What is looked for further would not be kept. */
static inline bool hits_enough(const struct hits *h) { return h->full || (h->one && h->n); }
/* In order, those that overlap as one, each from the beginning of a character to the end of one;
 * when it is full, one for all of the text. */
void hits_settle(struct hits *h, struct span text);
