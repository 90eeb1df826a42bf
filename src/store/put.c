/* put.c - what the loop hands to the writing thread: chunks of entries, of which each has only what
 * differs from the one before. The thread takes a whole chunk at once. */
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
    if (s->waiting)
        writer_wake(s);
    pthread_mutex_unlock(&s->mu);
}

/* ---- what an entry has ---- */

/* An entry before it is in the buffer. Of texts and objects only those are set that it has. */
struct packing {
    struct put_entry e;
    struct entry_process process;
    size_t held;
    const char *text[TEXT_COUNT];
    uint16_t text_size[TEXT_COUNT]; /* with its NUL; 0: there is none */
    struct entry_object object[RECORD_OBJECTS];
};

static size_t text_size(const char *text, size_t max)
{
    return text ? utf8_cut(span_make(text, strnlen(text, max + 1)), max).n + 1 : 0;
}

static void pack_texts(struct packing *p, const struct record *r, const struct store *s,
                       const struct last_put *last)
{
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        const char *text =
            *(const char *const *)(const void *)((const char *)r + record_text_at[i]);
        const char *was = last->text[i] ? s->filling->bytes + last->text[i] : NULL;

        if (text == was || (text && was && strcmp(text, was) == 0))
            continue;
        p->e.has |= HAS_TEXT(i);
        p->text[i] = text;
        p->text_size[i] =
            (uint16_t)text_size(text, i == TEXT_NOTE ? STORE_NOTE_MAX : STORE_WORD_MAX);
        p->e.size += (uint32_t)sizeof *p->text_size + p->text_size[i];
    }
}

static bool is_same(const struct object_bytes *b, const struct entry_object *was,
                    const struct put_chunk *in, size_t at)
{
    if (!b->bytes.p || !was->there)
        return !b->bytes.p && !was->there;
    if (was->blob)
        return was->blob == b->blob && was->p == b->bytes.p && was->n == b->bytes.n;
    return was->n == b->bytes.n && memcmp(in->bytes + at, b->bytes.p, was->n) == 0;
}

/* Short bytes are copied, long ones are held, by each record that has them. */
static void pack_object(struct packing *p, size_t i, const struct object_bytes *b, bool same)
{
    struct entry_object *o = &p->object[i];

    if (same && b->bytes.n <= STORE_COPY_MAX)
        return;
    p->e.has |= HAS_OBJECT(i);
    p->e.size += (uint32_t)sizeof *o;
    *o = (struct entry_object){ .p = b->bytes.p, .n = b->bytes.n, .same = same };
    o->there = b->bytes.p;
    if (o->n <= STORE_COPY_MAX) {
        p->e.size += (uint32_t)o->n;
        return;
    }
    o->blob = b->blob ? blob_ref(b->blob) : blob_new(b->bytes);
    if (!b->blob)
        o->p = o->blob->p;
    p->held += o->blob->n;
}

static void pack_objects(struct packing *p, const struct record *r, const struct store *s,
                         const struct last_put *last)
{
    static const struct object_bytes none;
    const struct object_bytes *const objects[RECORD_OBJECTS] = { &r->arguments, &r->result,
                                                                 &r->definition };

    for (size_t i = 0; i < RECORD_OBJECTS; i++) {
        const struct object_bytes *b = r->detail == RECORD_ALL ? objects[i] : &none;

        pack_object(p, i, b, is_same(b, &last->object[i], s->filling, last->object_at[i]));
    }
}

/* With mu held: the chunk is looked at. */
static void pack(struct packing *p, const struct record *r, const struct store *s,
                 const struct last_put *last)
{
    p->e.size = sizeof p->e;
    p->e.has = 0;
    p->held = 0;
    p->process = (struct entry_process){ r->pid, r->process_us };
    if (memcmp(&p->process, &last->process, sizeof p->process) != 0) {
        p->e.has |= HAS_PROCESS;
        p->e.size += (uint32_t)sizeof p->process;
    }
    pack_texts(p, r, s, last);
    pack_objects(p, r, s, last);
    p->e.size = (p->e.size + 7) & ~UINT32_C(7);
}

static char *put_bytes(char *at, const void *p, size_t n)
{
    if (n)
        memcpy(at, p, n);
    return at + n;
}

/* With mu held. `last` becomes what is said of the places that it is put to. */
static void append(struct store *s, const struct packing *p, struct last_put *last)
{
    uint32_t texts = p->e.has & HAS_TEXTS, objects = p->e.has & HAS_OBJECTS;
    struct put_chunk *c = s->filling;
    char *at = put_bytes(c->bytes + c->n, &p->e, sizeof p->e);

    if (p->e.has & HAS_PROCESS) {
        at = put_bytes(at, &p->process, sizeof p->process);
        last->process = p->process;
    }
    EACH_BIT(i, objects / HAS_OBJECT(0))
    {
        at = put_bytes(at, &p->object[i], sizeof p->object[i]);
        last->object[i] = p->object[i];
    }
    EACH_BIT(i, texts)
    {
        uint16_t n = p->text_size[i];

        at = put_bytes(at, &n, sizeof n);
        last->text[i] = n ? (size_t)(at - c->bytes) : 0;
        at = put_bytes(at, p->text[i], n ? n - 1u : 0);
        if (n)
            *at++ = '\0';
    }
    EACH_BIT(i, objects / HAS_OBJECT(0))
    if (p->object[i].there && !p->object[i].blob) {
        last->object_at[i] = (size_t)(at - c->bytes);
        at = put_bytes(at, p->object[i].p, p->object[i].n);
    }
    c->n += p->e.size;
}

/* ---- and back, on the writing thread ---- */

static const char *take(const char *at, void *to, size_t n)
{
    memcpy(to, at, n);
    return at + n;
}

static const char *open_texts(const char *at, uint32_t texts, struct parts *p)
{
    EACH_BIT(i, texts)
    {
        uint16_t n;

        at = take(at, &n, sizeof n);
        p->text[i] = n ? span_make(at, n - 1u) : (struct span){ 0 };
        at += n;
    }
    return at;
}

uint32_t entry_open(const struct put_entry *e, struct parts *p)
{
    struct entry_object o[RECORD_OBJECTS];
    const char *at = (const char *)(e + 1);
    uint32_t objects = (e->has & HAS_OBJECTS) / HAS_OBJECT(0), new = e->has;

    if (e->has & HAS_PROCESS)
        at = take(at, &p->process, sizeof p->process);
    EACH_BIT(i, objects)
    {
        at = take(at, &o[i], sizeof o[i]);
        if (o[i].same)
            new &= ~HAS_OBJECT(i);
    }
    at = open_texts(at, e->has & HAS_TEXTS, p);
    EACH_BIT(i, objects)
    {
        p->object[i] = (struct span){ 0 };
        if (o[i].there)
            p->object[i] = span_make(o[i].blob ? o[i].p : at, o[i].n);
        at += o[i].blob ? 0 : o[i].n;
    }
    return new;
}

size_t entry_release(const struct put_entry *e)
{
    const char *at =
        (const char *)(e + 1) + (e->has & HAS_PROCESS ? sizeof(struct entry_process) : 0);
    size_t held = 0;

    for (int n = __builtin_popcount(e->has & HAS_OBJECTS); n; n--) {
        struct entry_object o;

        at = take(at, &o, sizeof o);
        held += o.blob ? o.blob->n : 0;
        blob_unref(o.blob);
    }
    return held;
}

/* ---- chunks ---- */

/* With mu held, as those below. */
static void chunk_add(struct store *s)
{
    struct put_chunk *c = s->spare ? TAKE(s->spare) : mem_alloc(sizeof *c);

    c->next = NULL;
    c->n = 0;
    if (s->filling)
        s->filling->next = c;
    else
        s->waiting = c;
    s->filling = c;
    s->last = (struct last_put){ 0 };
}

struct put_chunk *chunks_take(struct store *s)
{
    s->filling = NULL;
    return TAKE(s->waiting);
}

void chunk_give(struct store *s, struct put_chunk *c)
{
    if (s->spare)
        free(c);
    else
        s->spare = c;
}

/* ---- into a chunk ---- */

/* While nothing can be written, what waits is kept as far as it would be otherwise; the rest is
 * lost at once, and nobody is told to wait. */
static bool has_room(const struct store *s, size_t size, size_t held)
{
    return s->queued + size <= (s->failed ? STORE_QUEUE_BYTES : STORE_QUEUE_HARD) &&
           s->held + held <= (s->failed ? STORE_HELD_BYTES : STORE_HELD_HARD);
}

static void release(const struct packing *p)
{
    EACH_BIT(i, (p->e.has & HAS_OBJECTS) / HAS_OBJECT(0))
    blob_unref(p->object[i].blob);
}

/* With mu held. */
static void count(struct store *s, const struct packing *p)
{
    s->queued += p->e.size;
    s->held += p->held;
    if (!s->failed && (s->queued >= STORE_QUEUE_BYTES || s->held >= STORE_HELD_BYTES))
        s->full = true;
    if ((s->waiting != s->filling || p->held) && s->mood == WRITER_GATHERS)
        pthread_cond_signal(&s->more);
}

/* With mu held. What does not fit into the chunk is told anew, in the next one. */
static void fit(struct store *s, struct packing *p, const struct record *r, struct last_put *last)
{
    if (!s->filling)
        chunk_add(s);
    pack(p, r, s, last);
    if (s->filling->n + p->e.size <= STORE_CHUNK_BYTES)
        return;
    release(p);
    chunk_add(s);
    pack(p, r, s, last);
}

/* False: there is no room. `last` is what came before it, if it is told as the difference. */
static bool hand_over(struct store *s, const struct put_entry *e, const struct record *r,
                      struct last_put *last)
{
    struct packing p;
    bool sleeps;

    p.e = *e;
    pthread_mutex_lock(&s->mu);
    fit(s, &p, r, last);
    if (e->kind == ENTRY_RECORD && !has_room(s, p.e.size, p.held)) {
        pthread_mutex_unlock(&s->mu);
        release(&p);
        return false;
    }
    append(s, &p, last);
    count(s, &p);
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
    struct put_entry e = { .kind = ENTRY_RECORD, .detail = (uint8_t)r->detail };

    if (r->detail == RECORD_NONE || s->closing)
        return;
    e.queued_us = r->queued_us;
    e.started_us = r->started_us;
    e.ended_us = r->ended_us;
    if (!uuid_read(span_of(r->uuid), e.uuid))
        id_random(e.uuid, sizeof e.uuid);
    if (!hand_over(s, &e, r, &s->last))
        s->lost++;
    else if (!timer_running(&s->tidy))
        timer_start_weak(&s->tidy, STORE_TIDY_MS);
}

bool store_is_full(const struct store *s) { return s->full; }

void store_pin(struct store *s, const char *name, struct span bytes)
{
    struct record r = { .note = name, .arguments.bytes = bytes };

    if (s->closing)
        return;
    if (!bytes.n)
        r.arguments.bytes.p = NULL;
    hand_over(s, &(struct put_entry){ .kind = ENTRY_PIN }, &r, &(struct last_put){ 0 });
}

void store_forget(struct store *s, int64_t before_us, store_done_fn *fn, void *ctx)
{
    struct put_entry e = { .kind = ENTRY_FORGET };

    if (store_refuses(s, fn, ctx))
        return;
    e.forget = NEW(struct forget);
    *e.forget = (struct forget){ .before_us = before_us, .fn = fn, .ctx = ctx, .s = s };
    hand_over(s, &e, &(struct record){ 0 }, &(struct last_put){ 0 });
    loop_hold(s->loop);
}
