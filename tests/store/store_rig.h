/* store_rig.h - a store in a directory of the test's own, and its answers waited for. */
#pragma once
#include "cid.h"
#include "manual_clock.h"
#include "store/store.h"
#include "tap.h"
#include "temp_dir.h"

enum { RIG_PAGE_MAX = 1024 };

struct rig {
    struct manual_clock clock;
    struct pb_loop *loop;
    struct store *s;
    struct store_options o;
    int changes, drains;
    struct pb_error change; /* the last one; code 0: it can write again */
};

/* What a page held, kept after its arena is gone. */
struct rig_page {
    size_t n;
    uint64_t next, total;
    struct call_record v[RIG_PAGE_MAX];
    struct arena arena;
    struct pb_error err;
    bool done;
};

static inline void rig_on_change(void *ctx, const struct pb_error *err)
{
    struct rig *rig = ctx;

    rig->changes++;
    rig->change = err ? *err : (struct pb_error){ 0 };
}

static inline void rig_on_drained(void *ctx) { ((struct rig *)ctx)->drains++; }

static inline struct store_options *rig_init(struct rig *rig)
{
    *rig = (struct rig){ 0 };
    manual_clock_init(&rig->clock);
    rig->loop = loop_new(&rig->clock.clock);
    loop_hold(rig->loop); /* a turn waits for the writing thread */
    rig->o = (struct store_options){ .loop = rig->loop, .dir = temp_path("records"), .ctx = rig };
    rig->o.changed = rig_on_change;
    rig->o.drained = rig_on_drained;
    return &rig->o;
}

static inline void rig_open(struct rig *rig)
{
    struct pb_error err = { 0 };

    if (store_open(&rig->s, &rig->o, &err) < 0)
        TAP_FAIL("store_open: %s", err.msg);
}

static inline void rig_new(struct rig *rig)
{
    rig_init(rig);
    rig_open(rig);
}

static inline void rig_set(void *ctx) { *(bool *)ctx = true; }

static inline void rig_turn_until(struct rig *rig, const bool *done)
{
    while (!*done)
        loop_turn(rig->loop, true);
}

static inline void rig_close(struct rig *rig)
{
    bool closed = false;

    store_close(rig->s, rig_set, &closed);
    rig_turn_until(rig, &closed);
    rig->s = NULL;
}

static inline void rig_done(struct rig *rig)
{
    if (rig->s)
        rig_close(rig);
    loop_release(rig->loop);
    loop_free(rig->loop);
}

struct rig_wait {
    bool done;
    struct pb_error err;
};

static inline void rig_on_done(void *ctx, const struct pb_error *err)
{
    struct rig_wait *w = ctx;

    w->done = true;
    w->err = err ? *err : (struct pb_error){ 0 };
}

/* The error, whose code is 0 when there is none. */
static inline struct pb_error rig_sync(struct rig *rig)
{
    struct rig_wait w = { 0 };

    store_sync(rig->s, rig_on_done, &w);
    rig_turn_until(rig, &w.done);
    return w.err;
}

static inline struct pb_error rig_forget(struct rig *rig, int64_t before_us)
{
    struct rig_wait w = { 0 };

    store_forget(rig->s, before_us, rig_on_done, &w);
    rig_turn_until(rig, &w.done);
    return w.err;
}

static inline const char *rig_keep(struct rig_page *p, const char *s)
{
    return s ? arena_dup(&p->arena, span_of(s)) : NULL;
}

static inline void rig_on_page(void *ctx, const struct call_page *from, const struct pb_error *err)
{
    struct rig_page *p = ctx;

    p->done = true;
    p->err = err ? *err : (struct pb_error){ 0 };
    if (err)
        return;
    CHECK(from->n <= RIG_PAGE_MAX);
    p->n = from->n;
    p->next = from->next;
    p->total = from->total;
    for (size_t i = 0; i < from->n; i++) {
        struct call_record *r = &p->v[i];
        const char **texts[] = {
            &r->r.uuid,  &r->r.source,      &r->r.face,         &r->r.method,       &r->r.caller,
            &r->r.run,   &r->r.server,      &r->r.conversation, &r->r.tool,         &r->r.status,
            &r->r.note,  &r->r.parent,      &r->r.question,     &r->r.answered_by,  &r->r.rule,
            &r->r.trace, &r->arguments_cid, &r->result_cid,     &r->definition_cid, &r->redacted
        };

        *r = from->v[i];
        for (size_t k = 0; k < ARRAY_LEN(texts); k++)
            *texts[k] = rig_keep(p, *texts[k]);
    }
}

/* The same page is used again and again. */
static inline struct rig_page *rig_find(struct rig *rig, struct call_query q)
{
    static struct rig_page p;

    arena_done(&p.arena);
    memset(&p, 0, sizeof p);
    CHECK(store_find(rig->s, &q, rig_on_page, &p) != NULL);
    rig_turn_until(rig, &p.done);
    return &p;
}

static inline struct rig_page *rig_get(struct rig *rig, const char *uuid)
{
    static struct rig_page p;

    arena_done(&p.arena);
    memset(&p, 0, sizeof p);
    CHECK(store_get(rig->s, uuid, rig_on_page, &p) != NULL);
    rig_turn_until(rig, &p.done);
    return &p;
}

struct rig_object {
    struct buf bytes;
    struct pb_error err;
    bool done;
};

static inline void rig_on_object(void *ctx, struct span bytes, const struct pb_error *err)
{
    struct rig_object *o = ctx;

    o->done = true;
    o->err = err ? *err : (struct pb_error){ 0 };
    buf_add_span(&o->bytes, bytes);
}

static inline struct rig_object *rig_object(struct rig *rig, const char *cid)
{
    static struct rig_object o;

    buf_done(&o.bytes);
    o = (struct rig_object){ 0 };
    CHECK(store_object(rig->s, cid, rig_on_object, &o) != NULL);
    rig_turn_until(rig, &o.done);
    return &o;
}

struct rig_stats {
    struct store_stats st;
    struct pb_error err;
    bool done;
};

static inline void rig_on_stats(void *ctx, const struct store_stats *st, const struct pb_error *err)
{
    struct rig_stats *o = ctx;

    o->done = true;
    o->err = err ? *err : (struct pb_error){ 0 };
    if (st)
        o->st = *st;
}

static inline struct store_stats rig_stats(struct rig *rig)
{
    struct rig_stats o = { 0 };

    CHECK(store_stats(rig->s, rig_on_stats, &o) != NULL);
    rig_turn_until(rig, &o.done);
    CHECK_INT(o.err.code, 0);
    return o.st;
}

static inline struct object_bytes rig_bytes(const char *text)
{
    return (struct object_bytes){ .bytes = span_of(text) };
}

/* A call as most are; its uuid is made of its number. */
static inline struct record rig_call(unsigned i)
{
    static char uuid[8][UUID_CHARS + 1];
    char *u = uuid[i % 8];

    snprintf(u, UUID_CHARS + 1, "00000000-0000-4000-8000-%012x", i);
    return (struct record){ .uuid = u,
                            .source = "mcp_client",
                            .face = "mcp_server",
                            .method = "tools/call",
                            .caller = "someone",
                            .server = "files",
                            .tool = "read",
                            .status = "success",
                            .queued_us = 1000000 + i,
                            .started_us = 1000010 + i,
                            .ended_us = 1000020 + i,
                            .arguments = rig_bytes("{\"path\":\"/a\"}"),
                            .result = rig_bytes("{\"text\":\"hello world\"}") };
}

static inline void rig_put(struct rig *rig, unsigned from, unsigned n)
{
    for (unsigned i = from; i < from + n; i++) {
        struct record r = rig_call(i);

        store_put(rig->s, &r);
        while (store_is_full(rig->s))
            loop_turn(rig->loop, true);
    }
}
