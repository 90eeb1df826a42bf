/* batch.c - entries that the writing thread has taken, to rows: as many in one transaction as may
 * be, and again from where it began when that failed. */
#include "store_impl.h"

static const struct put_entry *entry_at(const struct put_chunk *c, size_t at)
{
    return (const struct put_entry *)(const void *)(c->bytes + at);
}

/* NULL: there are no more. A chunk begins without what was said before it. */
static const struct put_entry *next_entry(struct writer *w)
{
    while (w->at == w->chunk->n && w->chunk->next) {
        w->chunk = w->chunk->next;
        w->at = 0;
    }
    if (w->at == 0) {
        w->parts = (struct parts){ 0 };
        calls_forget(w);
    }
    return w->at < w->chunk->n ? entry_at(w->chunk, w->at) : NULL;
}

/* Back to what is not committed, and to what the record before it says. */
static void rewind_batch(struct writer *w)
{
    w->chunk = w->batch;
    w->parts = (struct parts){ 0 };
    for (w->at = 0; w->at < w->begun; w->at += entry_at(w->chunk, w->at)->size)
        if (entry_at(w->chunk, w->at)->kind == ENTRY_RECORD)
            entry_open(entry_at(w->chunk, w->at), &w->parts);
}

static void forget_note(struct writer *w, struct forget *f)
{
    struct forget **at = &w->forgets;

    while (*at)
        at = &(*at)->next;
    *at = f;
}

/* What is known by its bytes was looked at by somebody who knew less. */
static void heed_secrets(struct writer *w)
{
    const struct store_options *o = &w->s->o;
    uint64_t version = o->redact_version ? o->redact_version(o->redact_ctx) : 0;

    if (version == w->redact_version)
        return;
    w->redact_version = version;
    words_forget(w);
    objects_forget_known(w);
    calls_forget(w);
}

static int write_entries(struct writer *w, struct pb_error *err)
{
    const struct put_entry *e;
    int rc = 0;

    while (rc == 0 && w->rows < STORE_COMMIT_ROWS && w->bytes < STORE_COMMIT_BYTES &&
           (e = next_entry(w))) {
        heed_secrets(w);
        if (e->kind == ENTRY_RECORD)
            rc = call_put(w, e, err);
        else if (e->kind == ENTRY_PIN)
            rc = pin_put(w, e, err);
        else
            e->forget->last_no = w->now.last_no;
        w->at += e->size;
        w->rows++;
        w->bytes += e->size;
    }
    w->written += (int64_t)w->bytes;
    return rc;
}

/* With mu held. */
static bool has_room_again(const struct store *s)
{
    return s->full && s->queued < STORE_QUEUE_BYTES / 2 && s->held < STORE_HELD_BYTES / 2;
}

struct passed {
    size_t bytes, entries, held, records;
};

static void pass_entries(struct writer *w, size_t to, struct passed *p)
{
    for (const struct put_entry *e; w->begun < to; w->begun += e->size) {
        e = entry_at(w->batch, w->begun);
        p->bytes += e->size;
        p->entries++;
        p->records += e->kind == ENTRY_RECORD;
        p->held += entry_release(e);
        if (e->kind == ENTRY_FORGET)
            forget_note(w, e->forget);
    }
}

/* Entries up to w->at are done with: written, or given up. */
static void pass(struct writer *w, bool lost)
{
    struct store *s = w->s;
    struct put_chunk *done = w->batch;
    struct passed p = { 0 };

    for (; w->batch != w->chunk; w->batch = w->batch->next, w->begun = 0)
        pass_entries(w, w->batch->n, &p);
    pass_entries(w, w->at, &p);
    if (w->at == w->chunk->n) {
        w->batch = w->chunk = w->chunk->next;
        w->begun = w->at = 0;
    }
    pthread_mutex_lock(&s->mu);
    while (done != w->batch) {
        struct put_chunk *c = done;

        done = c->next;
        chunk_give(s, c);
    }
    s->queued -= p.bytes;
    s->held -= p.held;
    s->done += p.entries;
    s->gone += lost ? p.records : 0;
    if (s->failed && !lost) {
        s->failed = false;
        s->news = true;
    }
    if (s->watchers || s->news || has_room_again(s))
        store_tell(s);
    pthread_mutex_unlock(&s->mu);
}

int batch_write(struct writer *w, struct pb_error *err)
{
    int rc = writer_begin(w, err);

    if (rc == 0)
        rc = write_entries(w, err);
    if (rc == 0)
        rc = writer_commit(w, err);
    if (rc == 0) {
        pass(w, false);
        return 0;
    }
    writer_rollback(w);
    rewind_batch(w);
    return rc;
}

void batch_lose(struct writer *w)
{
    while (next_entry(w))
        w->at = w->chunk->n;
    pass(w, true);
}
