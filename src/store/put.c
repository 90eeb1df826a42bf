/* put.c - what the loop hands to the writing thread: entries, one behind the other in a buffer. The
 * thread takes the whole buffer at once. */
#include "store_impl.h"

#define AT(name) offsetof(struct record, name)
const size_t record_text_at[TEXT_COUNT] = {
    [CALL_SOURCE - CALL_SOURCE] = AT(source),
    [CALL_FACE - CALL_SOURCE] = AT(face),
    [CALL_METHOD - CALL_SOURCE] = AT(method),
    [CALL_CALLER - CALL_SOURCE] = AT(caller),
    [CALL_RUN - CALL_SOURCE] = AT(run),
    [CALL_CONVERSATION - CALL_SOURCE] = AT(conversation),
    [CALL_SERVER - CALL_SOURCE] = AT(server),
    [CALL_TOOL - CALL_SOURCE] = AT(tool),
    [CALL_STATUS - CALL_SOURCE] = AT(status),
    [CALL_ANSWERED_BY - CALL_SOURCE] = AT(answered_by),
    [CALL_RULE - CALL_SOURCE] = AT(rule),
    [TEXT_NOTE] = AT(note),
    [TEXT_QUESTION] = AT(question),
    [TEXT_TRACE] = AT(trace),
    [TEXT_UUID] = AT(uuid),
    [TEXT_PARENT] = AT(parent),
};

void writer_wake(struct store *s)
{
    if (s->mood != WRITER_WORKS)
        pthread_cond_signal(&s->more);
}

/* At the end of the turn: what was put meanwhile is one batch. */
static void on_turn_end(void *ctx)
{
    struct store *s = ctx;

    s->waking = false;
    pthread_mutex_lock(&s->mu);
    if (s->waiting.n)
        writer_wake(s);
    pthread_mutex_unlock(&s->mu);
}

static size_t text_size(const char *text, size_t max)
{
    return text ? utf8_cut(span_make(text, strnlen(text, max + 1)), max).n + 1 : 0;
}

/* The header, and how long all of it is. Objects that are long are held. */
static size_t measure(struct put_entry *e, const struct record *r)
{
    const struct object_bytes *const objects[RECORD_OBJECTS] = { &r->arguments, &r->result,
                                                                 &r->definition };
    size_t size = sizeof *e;

    for (size_t i = 0; i < TEXT_COUNT; i++) {
        const char *text =
            *(const char *const *)(const void *)((const char *)r + record_text_at[i]);

        e->text[i] = (uint16_t)text_size(text, i == TEXT_NOTE ? STORE_NOTE_MAX : STORE_WORD_MAX);
        size += e->text[i];
    }
    for (size_t i = 0; i < RECORD_OBJECTS; i++) {
        struct entry_object *o = &e->object[i];

        if (!objects[i]->bytes.p || r->detail != RECORD_ALL)
            continue;
        *o = (struct entry_object){ .p = objects[i]->bytes.p, .n = objects[i]->bytes.n };
        o->there = true;
        if (o->n <= STORE_COPY_MAX)
            size += o->n;
        else
            o->blob = objects[i]->blob ? blob_ref(objects[i]->blob) : blob_new(objects[i]->bytes);
        if (o->blob && !objects[i]->blob)
            o->p = o->blob->p;
    }
    return (size + 7) & ~(size_t)7;
}

size_t entry_held(const struct put_entry *e)
{
    size_t n = 0;

    for (size_t i = 0; i < RECORD_OBJECTS; i++)
        n += e->object[i].blob ? e->object[i].blob->n : 0;
    return n;
}

void entry_release(const struct put_entry *e)
{
    for (size_t i = 0; i < RECORD_OBJECTS; i++)
        blob_unref(e->object[i].blob);
}

/* While nothing can be written, what waits is kept as far as it would be otherwise; the rest is
 * lost at once, and nobody is told to wait. */
static bool has_room(const struct store *s, size_t size, size_t held)
{
    return s->queued + size <= (s->failed ? STORE_QUEUE_BYTES : STORE_QUEUE_HARD) &&
           s->held + held <= (s->failed ? STORE_HELD_BYTES : STORE_HELD_HARD);
}

static void copy(const struct put_entry *e, const struct record *r, char *at)
{
    memcpy(at, e, sizeof *e);
    at += sizeof *e;
    for (size_t i = 0; i < TEXT_COUNT; i++)
        if (e->text[i]) {
            memcpy(at, *(const char *const *)(const void *)((const char *)r + record_text_at[i]),
                   e->text[i] - 1u);
            at[e->text[i] - 1] = '\0';
            at += e->text[i];
        }
    for (size_t i = 0; i < RECORD_OBJECTS; i++)
        if (e->object[i].n && !e->object[i].blob) {
            memcpy(at, e->object[i].p, e->object[i].n);
            at += e->object[i].n;
        }
}

/* False: there is no room. */
static bool hand_over(struct store *s, struct put_entry *e, const struct record *r)
{
    size_t held = entry_held(e);
    bool much, sleeps;

    pthread_mutex_lock(&s->mu);
    if (e->kind == ENTRY_RECORD && !has_room(s, e->size, held)) {
        pthread_mutex_unlock(&s->mu);
        return false;
    }
    copy(e, r, buf_reserve(&s->waiting, e->size));
    s->waiting.n += e->size;
    s->queued += e->size;
    s->held += held;
    much = s->waiting.n >= STORE_GATHER_BYTES || held;
    if (!s->failed && (s->queued >= STORE_QUEUE_BYTES || s->held >= STORE_HELD_BYTES))
        s->full = true;
    if (much && s->mood == WRITER_GATHERS)
        pthread_cond_signal(&s->more);
    sleeps = s->mood == WRITER_SLEEPS;
    pthread_mutex_unlock(&s->mu);
    s->puts++;
    if (sleeps && !s->waking) {
        s->waking = true;
        loop_defer(s->loop, on_turn_end, s);
    }
    return true;
}

void store_put(struct store *s, const struct record *r)
{
    struct put_entry e;

    if (r->detail == RECORD_NONE || s->closing)
        return;
    memset(&e, 0, sizeof e);
    e.kind = ENTRY_RECORD;
    e.detail = (uint8_t)r->detail;
    e.queued_us = r->queued_us;
    e.started_us = r->started_us;
    e.ended_us = r->ended_us;
    e.pid = r->pid;
    e.process_us = r->process_us;
    e.size = (uint32_t)measure(&e, r);
    if (!hand_over(s, &e, r)) {
        entry_release(&e);
        s->lost++;
    } else if (!timer_running(&s->tidy)) {
        timer_start_weak(&s->tidy, STORE_TIDY_MS);
    }
}

bool store_is_full(const struct store *s) { return s->full; }

void store_pin(struct store *s, const char *name, struct span bytes)
{
    struct record r = { .note = name, .arguments.bytes = bytes };
    struct put_entry e = { .kind = ENTRY_PIN };

    if (s->closing)
        return;
    if (!bytes.n)
        r.arguments.bytes.p = NULL;
    e.size = (uint32_t)measure(&e, &r);
    hand_over(s, &e, &r);
}

void store_forget(struct store *s, int64_t before_us, store_done_fn *fn, void *ctx)
{
    struct record r = { 0 };
    struct put_entry e = { .kind = ENTRY_FORGET, .size = sizeof e };

    if (store_refuses(s, fn, ctx))
        return;
    e.forget = NEW(struct forget);
    *e.forget = (struct forget){ .before_us = before_us, .fn = fn, .ctx = ctx, .s = s };
    e.size = (uint32_t)measure(&e, &r);
    hand_over(s, &e, &r);
    loop_hold(s->loop);
}
