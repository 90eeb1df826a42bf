#include "vault.h"
#include "collect.h"
#include "finder.h"
#include "scrub.h"
#include "secrets.h"
#include <pthread.h>
#include <stdatomic.h>

/* As it came; how it is written is found out by the thread that looks for it. */
struct kept_secret {
    bool whole;
    size_t n;
    char text[];
};

/* What was known at one moment. */
struct snapshot {
    atomic_uint refs;
    struct finder *finder;
    bool full;
};

struct vault {
    pthread_mutex_t lock; /* over these, and held for a few lines only */
    struct kept_secret **secrets;
    size_t n, cap;
    bool full;
    atomic_uint_fast64_t version;
    size_t in_now; /* of the secrets, those in ... */
    struct snapshot *now;

    pthread_mutex_t making; /* of a new snapshot; taken before the lock */
    struct wordlist words;  /* of the first `written` secrets */
    size_t written;
};

static void snapshot_unref(struct snapshot *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) > 1)
        return;
    finder_free(s->finder);
    free(s);
}

void vault_free(struct vault *v)
{
    if (!v)
        return;
    snapshot_unref(v->now);
    wordlist_done(&v->words);
    for (size_t i = 0; i < v->n; i++) {
        explicit_bzero(v->secrets[i]->text, v->secrets[i]->n);
        free(v->secrets[i]);
    }
    free(v->secrets);
    pthread_mutex_destroy(&v->lock);
    pthread_mutex_destroy(&v->making);
    free(v);
}

/* ---- coming in ---- */

static bool is_kept(const struct vault *v, struct span secret, bool whole)
{
    for (size_t i = 0; i < v->n; i++) {
        const struct kept_secret *k = v->secrets[i];

        if (k->n == secret.n && k->whole <= whole && memcmp(k->text, secret.p, k->n) == 0)
            return true;
    }
    return false;
}

static void keep(struct vault *v, struct span secret, bool whole)
{
    struct kept_secret *k;

    if (v->full || is_kept(v, secret, whole))
        return;
    atomic_fetch_add(&v->version, 1);
    if (v->n == VAULT_SECRETS_MAX) {
        v->full = true;
        return;
    }
    if (v->n == v->cap) {
        v->cap = v->cap ? v->cap * 2 : 16;
        v->secrets = mem_resize(v->secrets, v->cap * sizeof(struct kept_secret *));
    }
    k = mem_alloc(sizeof *k + secret.n);
    k->whole = whole;
    k->n = secret.n;
    memcpy(k->text, secret.p, secret.n);
    v->secrets[v->n++] = k;
}

static void on_secret(void *ctx, struct span secret, bool whole)
{
    struct vault *v = ctx;

    pthread_mutex_lock(&v->lock);
    keep(v, secret, whole);
    pthread_mutex_unlock(&v->lock);
}

struct vault *vault_new(void)
{
    struct vault *v = NEW(struct vault);

    pthread_mutex_init(&v->lock, NULL);
    pthread_mutex_init(&v->making, NULL);
    v->words.n_max = UINT32_MAX;
    v->words.bytes_max = VAULT_BYTES_MAX;
    collect_from_environment(&(struct collector){ on_secret, v }, NULL);
    return v;
}

void vault_add(struct vault *v, struct span secret)
{
    if (v)
        collect_value(&(struct collector){ on_secret, v }, secret);
}

void vault_add_spec(struct vault *v, const struct spec *s)
{
    if (v)
        collect_from_spec(&(struct collector){ on_secret, v }, s);
}

/* ---- looking ---- */

/* Secrets that came meanwhile; what is pointed to stays where it is. */
static struct kept_secret **take_new(struct vault *v, size_t *n)
{
    struct kept_secret **fresh;

    pthread_mutex_lock(&v->lock);
    *n = v->n - v->written;
    fresh = mem_alloc((*n + 1) * sizeof(struct kept_secret *));
    if (*n)
        memcpy(fresh, v->secrets + v->written, *n * sizeof(struct kept_secret *));
    pthread_mutex_unlock(&v->lock);
    return fresh;
}

static void make_snapshot(struct vault *v)
{
    struct snapshot *s = NEW(struct snapshot), *old;
    struct kept_secret **fresh;
    size_t n;

    pthread_mutex_lock(&v->making);
    fresh = take_new(v, &n);
    for (size_t i = 0; i < n; i++)
        wordlist_add_secret(&v->words, span_make(fresh[i]->text, fresh[i]->n), !fresh[i]->whole);
    free(fresh);
    v->written += n;
    atomic_init(&s->refs, 1);
    s->finder = finder_new(&v->words);
    s->full = v->words.full;
    pthread_mutex_lock(&v->lock);
    s->full |= v->full;
    old = v->now;
    v->now = s;
    v->in_now = v->written;
    pthread_mutex_unlock(&v->lock);
    pthread_mutex_unlock(&v->making);
    snapshot_unref(old);
}

static struct snapshot *take_snapshot(struct vault *v)
{
    for (;;) {
        struct snapshot *s = NULL;

        pthread_mutex_lock(&v->lock);
        if (v->now && v->in_now == v->n && v->now->full >= v->full) {
            s = v->now;
            atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
        }
        pthread_mutex_unlock(&v->lock);
        if (s)
            return s;
        make_snapshot(v);
    }
}

uint64_t vault_version(void *vault) { return atomic_load(&((struct vault *)vault)->version); }

bool vault_redact(void *vault, struct buf *text, struct json_out *where)
{
    struct snapshot *s;
    bool changed;

    if (!text->n)
        return false;
    s = take_snapshot(vault);
    changed =
        scrub(&(struct scrub_options){ .finder = s->finder, .all = s->full, .where = where }, text);
    snapshot_unref(s);
    return changed;
}
