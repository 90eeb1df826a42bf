#include "redact.h"
#include "collect.h"
#include "finder.h"
#include "hub/spec/spec.h"

struct redact {
    struct wordlist words;
    struct finder *finder;
};

struct redact *redact_new(void)
{
    struct redact *r = NEW(struct redact);

    r->words.n_max = REDACT_WORDS_MAX;
    r->words.bytes_max = REDACT_BYTES_MAX;
    return r;
}

void redact_free(struct redact *r)
{
    if (!r)
        return;
    finder_free(r->finder);
    wordlist_done(&r->words);
    free(r);
}

static void on_secret(void *ctx, struct span secret, bool whole)
{
    (void)whole; /* here all are */
    wordlist_add_secret(ctx, secret, false);
}

void redact_add_spec(struct redact *r, const struct spec *s)
{
    collect_from_spec(&(struct collector){ on_secret, &r->words }, s);
    finder_free(r->finder);
    r->finder = finder_new(&r->words);
}

static void find_all(const struct redact *r, struct span text, bool cut, struct hits *out)
{
    size_t at = text.n;

    if (r->words.full) {
        hits_add(out, 0, text.n, HIT_VALUE);
        return;
    }
    finder_find(r->finder, text, out);
    if (cut)
        at = finder_find_cut(r->finder, text);
    if (at < text.n)
        hits_add(out, at, text.n, HIT_VALUE);
    hits_settle(out, text);
}

void redact_text(const struct redact *r, char *text, bool cut)
{
    struct span all = span_of(text);
    AUTO_HITS struct hits hits = { .steps = hits_steps(all.n) };
    size_t n = 0, at = 0;

    if (!r || !r->words.n || !all.n)
        return;
    find_all(r, all, cut, &hits);
    for (size_t i = 0; i < hits.n; i++) {
        const struct hit *h = &hits.v[i];

        memmove(text + n, text + at, h->from - at);
        n += h->from - at;
        for (const char *p = SPEC_MASKED; *p && n < h->end; p++)
            text[n++] = *p;
        at = h->end;
    }
    memmove(text + n, text + at, all.n - at);
    text[n + all.n - at] = '\0';
}

void redact_error(const struct redact *r, struct pb_error *err)
{
    redact_text(r, err->msg, strlen(err->msg) + 1 == sizeof err->msg);
}
