/* fake_wire.h - a wire to a fake server that can fail, hang, speak on stderr and break. */
#pragma once
#include "fake_types.h"
#include "mcp/rpc/rpc.h"
#include "mcp/wire/wire.h"

struct fake_wire {
    struct wire wire;
    struct list link;
    struct fake_server *f;
    struct memory_end *end; /* NULL: not there yet, or not any more */
    enum fake_connect how;
    struct timer timer;
    bool over;
};

static inline struct fake_wire *fake_wire_of(struct wire *w)
{
    return CONTAINER_OF(w, struct fake_wire, wire);
}

static inline void fake_wire_message(void *ctx, struct span message)
{
    struct fake_wire *w = ctx;
    struct blob *bytes = blob_new(message);

    w->wire.events->message(w->wire.ctx, bytes, 0, 0);
    blob_unref(bytes);
}

/* The process is gone. */
static inline void fake_wire_break(struct fake_wire *w, const char *why)
{
    struct wire_fault fault = { 0 };

    if (w->over)
        return;
    w->over = true;
    timer_stop(&w->timer);
    if (w->end)
        memory_close(TAKE(w->end));
    fail(&fault.err, PB_E_CLOSED, "%s", why);
    w->wire.events->closed(w->wire.ctx, &fault);
}

static inline void fake_wire_closed(void *ctx) { fake_wire_break(ctx, "the server has ended"); }

static inline int fake_wire_dial(struct fake_wire *w, struct pb_error *err)
{
    static const struct memory_events events = { fake_wire_message, fake_wire_closed };

    return memory_connect(w->f->server, &w->end, &events, w, err);
}

static inline void fake_say_on(struct fake_wire *w, const char *line)
{
    w->wire.events->stderr_line(w->wire.ctx, span_of(line));
}

static inline void fake_keep_words(struct fake_server *f, const char *line)
{
    if (f->words.n)
        buf_byte(&f->words, '\n');
    buf_str(&f->words, line);
}

static inline void fake_wire_timer(void *ctx)
{
    struct fake_wire *w = ctx;
    struct pb_error err;

    if (w->how == FAKE_CONNECT_DELAY)
        w->how = w->f->connect_then;
    if (w->how == FAKE_CONNECT_HANG)
        return;
    if (w->how == FAKE_CONNECT_FAIL) {
        fake_wire_break(w, w->f->connect_text ? w->f->connect_text : "connection refused");
        return;
    }
    if (w->how == FAKE_CONNECT_DIE) {
        fake_keep_words(w->f, w->f->connect_text);
        fake_say_on(w, w->f->connect_text);
        fake_wire_break(w, "the server exited with status 1");
        return;
    }
    CHECK_INT(fake_wire_dial(w, &err), 0);
    w->wire.ready = true;
    w->wire.events->opened(w->wire.ctx);
}

static inline int fake_wire_send(struct wire *wire, const struct wire_out *m, struct pb_error *err)
{
    struct fake_wire *w = fake_wire_of(wire);

    if (w->over)
        return fail(err, PB_E_CLOSED, "the server has ended");
    if (w->how == FAKE_CONNECT_DIE)
        timer_start(&w->timer, 0);
    else
        memory_send(w->end, &m->text, 1);
    return 0;
}

static inline void fake_wire_close(struct wire *wire, loop_fn *fn, void *ctx)
{
    struct fake_wire *w = fake_wire_of(wire);

    timer_stop(&w->timer);
    if (w->end)
        memory_close(TAKE(w->end));
    w->f->closes++;
    list_remove(&w->link);
    loop_free_later(wire->loop, w, free);
    if (fn)
        loop_defer(wire->loop, fn, ctx);
}

static inline pid_t fake_wire_pid(const struct wire *wire)
{
    (void)wire;
    return 4242;
}

static inline void fake_wire_words(const struct wire *wire, struct buf *out)
{
    buf_add_span(out, buf_span(&fake_wire_of((struct wire *)(uintptr_t)wire)->f->words));
}

static const struct wire_ops fake_wire_ops = {
    .kind = WIRE_MEMORY,
    .send = fake_wire_send,
    .close = fake_wire_close,
    .pid = fake_wire_pid,
    .last_words = fake_wire_words,
};

static inline enum fake_connect fake_behaviour(struct fake_server *f)
{
    if (f->connect_fails) {
        f->connect_fails--;
        return FAKE_CONNECT_FAIL;
    }
    return f->custom ? f->custom(f) : f->connect;
}

static inline int fake_wire_open(struct wire **out, struct pb_loop *l,
                                 const struct pb_client_options *opts,
                                 const struct wire_events *events, void *ctx, struct pb_error *err)
{
    struct fake_server *f = opts->ctx;
    enum fake_connect how = fake_behaviour(f);
    struct fake_wire *w;

    if (how == FAKE_CONNECT_FAIL)
        return fail(err, PB_E_CLOSED, "%s",
                    f->connect_text ? f->connect_text : "connection refused");
    w = NEW(struct fake_wire);
    w->wire = (struct wire){ &fake_wire_ops, events, ctx, l, opts, true };
    w->f = f;
    w->how = how;
    timer_init(&w->timer, l, fake_wire_timer, w);
    list_append(&f->wires, &w->link);
    if (how == FAKE_CONNECT_OK)
        CHECK_INT(fake_wire_dial(w, err), 0);
    if (how == FAKE_CONNECT_HANG || how == FAKE_CONNECT_DELAY)
        w->wire.ready = false;
    if (how == FAKE_CONNECT_DELAY)
        timer_start(&w->timer, f->connect_ms);
    *out = &w->wire;
    return 0;
}
