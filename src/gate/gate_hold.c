/* gate_hold.c - orders that wait: for a person who says yes or no, or for the store, which has too
 * much to write. Everything an order needs is kept here; when it may go on, it walks the steps
 * again from the first. */
#include "gate_impl.h"
#include <stdio.h>

#define HELD_BIT (UINT64_C(1) << 63)

bool held_is_id(uint64_t id) { return id & HELD_BIT; }

struct held_order *held_find(const struct gate *g, uint64_t id)
{
    return held_is_id(id) ? table_get(&g->by_id, id & ~HELD_BIT) : NULL;
}

struct held_order *held_of_uuid(const struct gate *g, const char *uuid)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &g->held) {
        struct held_order *h = CONTAINER_OF(pos, struct held_order, at);

        if (strcmp(h->uuid, uuid) == 0)
            return h;
    }
    return NULL;
}

/* ---- the question ---- */

/* Telling the caller may end what it asked for, and with it h: whoever goes on with h has taken it
 * out of by_id before. */
static void question_over(struct held_order *h)
{
    bool tell = h->asked_caller;

    if (!h->asked)
        return;
    h->asked = h->asked_caller = false;
    timer_stop(&h->timer);
    map_del(&h->g->by_question, span_of(h->q.id));
    gate_tell(h->g, &h->q, true);
    if (tell)
        h->order.ask_over(h->order.call.ctx, &h->q);
}

static void on_expired(void *ctx)
{
    AUTO_BUF struct buf text = { 0 };
    struct held_order *h = ctx;
    struct pb_error err;

    if (h->why != HELD_ANSWER) {
        gate_cancel(h->g, h->id, CALL_TIMED_OUT);
        return;
    }
    duration_text(&text, (uint64_t)(h->q.expires_at - h->q.asked_at));
    fault_fail(&err, FAULT_DENIED, "nobody has allowed it within %s (%s)", buf_cstr(&text),
               h->q.text);
    held_fail(h, &err, "expired");
}

/* What a person needs to see of the arguments; a secret among them is none of it. */
static const char *shown_arguments(struct held_order *h)
{
    AUTO_BUF struct buf text = { 0 };
    struct span all = h->order.arguments;

    if (all.n > QUESTION_ARGUMENTS_MAX) {
        struct json_out o = json_out(&text);

        json_put_fmt(&o, NULL, "%zu bytes, too many to be shown", all.n);
    } else {
        buf_add_span(&text, all.n ? all : SPAN("{}"));
        if (h->g->redact)
            h->g->redact(h->g->redact_ctx, &text, NULL);
    }
    return arena_dup(&h->arena, buf_span(&text));
}

/* A name or a URI may hold a secret, too, and what moves a terminal. */
static const char *shown_text(struct held_order *h, struct buf *text)
{
    char *shown;

    if (h->g->redact)
        h->g->redact(h->g->redact_ctx, text, NULL);
    shown = arena_dup(&h->arena, utf8_cut(buf_span(text), QUESTION_TEXT_MAX));
    text_make_printable(shown);
    return shown;
}

static const char *question_text(struct held_order *h, const struct policy_verdict *v)
{
    AUTO_BUF struct buf text = { 0 };
    const struct order *o = &h->order;

    buf_str(&text, o->call.client && *o->call.client ? o->call.client : "A client");
    buf_str(&text, " wants to use ");
    order_operation(&text, o);
    if (v->reason)
        buf_printf(&text, ": %s", v->reason);
    return shown_text(h, &text);
}

static const char *question_tool(struct held_order *h)
{
    AUTO_BUF struct buf text = { 0 };

    buf_add_span(&text, h->order.call.subject);
    return shown_text(h, &text);
}

/* Short, because people type it. */
static const char *question_id(struct held_order *h)
{
    char id[ID_CHARS + 1];

    do {
        id_new(id);
        id[8] = '\0';
    } while (map_get(&h->g->by_question, span_of(id)));
    return arena_dup(&h->arena, span_of(id));
}

static void prepare_question(struct held_order *h, const struct order_walk *w)
{
    const struct order *o = &h->order;

    memcpy(h->digest, w->digest, sizeof h->digest);
    h->q = (struct question){
        .id = question_id(h),
        .kind = "approval",
        .text = question_text(h, &w->verdict),
        .reason = w->verdict.reason ? arena_dup(&h->arena, span_of(w->verdict.reason)) : NULL,
        .rule = arena_dup(&h->arena, span_of(w->verdict.rule ? w->verdict.rule : "default")),
        .uuid = h->uuid,
        .server = o->call.server ? o->call.server : "",
        .tool = question_tool(h),
        .method = o->call.method,
        .caller = o->call.client ? o->call.client : "",
        .run = order_run(o),
        .face = order_face_name(o->face),
        .digest = h->digest,
        .by = w->verdict.by,
        .asked_at = loop_wall(h->g->loop),
    };
    h->ask_ms = w->verdict.ask_ms ? w->verdict.ask_ms : h->g->ask_ms;
    h->q.expires_at = h->q.asked_at + (int64_t)h->ask_ms;
    h->q.arguments = shown_arguments(h);
    h->fresh = true;
}

/* A sign of life. What the server says later must be more than this. */
static void beat(struct held_order *h)
{
    AUTO_BUF struct buf text = { 0 };
    struct json_out o = json_out(&text);

    if (h->why != HELD_ANSWER || !h->order.call.wants_progress || !h->order.call.progress)
        return;
    h->beats += 1e-6;
    json_begin_object(&o, NULL);
    json_put_str(&o, "progressToken", "held");
    json_put_double(&o, "progress", h->beats);
    json_put_fmt(&o, "message",
                 "waiting for an answer to question %s: %s ('patchbay answer %s approve', or deny)",
                 h->q.id, h->q.text, h->q.id);
    json_end(&o);
    h->order.call.progress(h->order.call.ctx, buf_span(&text));
}

/* Asking the caller may end what it asked for. */
static void put_question(struct held_order *h)
{
    struct gate *g = h->g;
    uint64_t id = h->id;
    bool taken;

    h->fresh = false;
    h->asked = true;
    map_put(&g->by_question, span_of(h->q.id), h);
    timer_start(&h->timer, h->ask_ms);
    if (!timer_running(&g->beat))
        timer_start_weak(&g->beat, GATE_BEAT_MS);
    gate_tell(g, &h->q, false);
    if (!(h->q.by & ASK_CLIENT) || !h->order.ask)
        return;
    taken = h->order.ask(h->order.call.ctx, &h->q);
    h = held_find(g, id);
    if (h)
        h->asked_caller = taken && h->asked;
}

/* How many there are. */
static size_t held_ids(const struct gate *g, uint64_t **out)
{
    struct list *pos, *safe;
    size_t n = 0;

    *out = mem_alloc((g->n_held + 1) * sizeof **out);
    LIST_FOREACH(pos, safe, &g->held)
        (*out)[n++] = CONTAINER_OF(pos, struct held_order, at)->id;
    return n;
}

/* A beat may end the order that it is for, and others; those that are left are found by number. */
static void on_beat(void *ctx)
{
    struct gate *g = ctx;
    AUTO_FREE uint64_t *ids = NULL;
    size_t n = held_ids(g, &ids);

    for (size_t i = 0; i < n; i++) {
        struct held_order *h = held_find(g, ids[i]);

        if (h && h->asked)
            beat(h);
    }
    if (g->n_held)
        timer_start_weak(&g->beat, GATE_BEAT_MS);
}

void gate_hold_init(struct gate *g) { timer_init(&g->beat, g->loop, on_beat, g); }

/* ---- life ---- */

static const char *keep(struct held_order *h, const char *text)
{
    return text ? arena_dup(&h->arena, span_of(text)) : NULL;
}

static struct span keep_span(struct held_order *h, struct span s)
{
    return s.n ? span_make(arena_dup(&h->arena, s), s.n) : s;
}

static void copy_order(struct held_order *h, const struct order *o)
{
    struct call_spec *c = &h->order.call;

    h->order = *o;
    h->params = blob_new(o->call.params);
    c->params = blob_span(h->params);
    c->server = keep(h, c->server);
    c->method = keep(h, c->method);
    c->caller = keep(h, c->caller);
    c->origin = keep(h, c->origin);
    c->client = keep(h, c->client);
    c->caps = keep(h, c->caps);
    c->subject = keep_span(h, c->subject);
    c->uuid = h->uuid;
    h->order.mode = keep(h, o->mode);
    h->order.conversation = keep(h, o->conversation);
    h->order.directory = keep(h, o->directory);
    h->order.parent = keep(h, o->parent);
    h->order.trace = keep_span(h, o->trace);
    if (o->arguments_blob)
        blob_ref(o->arguments_blob);
    else
        h->order.arguments = keep_span(h, o->arguments);
}

static size_t bytes_of(const struct held_order *h) { return h->params->n + h->order.arguments.n; }

/* The id leads nowhere from now on. */
void held_free(struct held_order *h)
{
    struct gate *g = h->g;

    table_del(&g->by_id, h->id & ~HELD_BIT);
    question_over(h);
    timer_stop(&h->timer);
    if (!list_empty(&h->at)) {
        list_remove(&h->at);
        g->n_held--;
        g->held_bytes -= bytes_of(h);
    }
    blob_unref(h->params);
    if (h->order.arguments_blob)
        blob_unref(h->order.arguments_blob);
    arena_done(&h->arena);
    free(h);
}

void held_fail(struct held_order *h, const struct pb_error *err, const char *status)
{
    struct call_spec to = h->order.call;
    struct pb_error why = *err;

    gate_record_stop(h->g, &h->order, gate_look(h->g, &h->order), h, NULL, status, &why);
    held_free(h);
    to.reply(to.ctx, &(struct client_reply){ .err = &why });
}

/* Those for which a person is waited; all when `of` is NULL. */
static size_t count_asking(const struct gate *g, const struct order *of)
{
    struct list *pos, *safe;
    size_t n = 0;

    LIST_FOREACH(pos, safe, &g->held) {
        const struct held_order *h = CONTAINER_OF(pos, struct held_order, at);

        n += h->why == HELD_ANSWER && (!of || strcmp(order_run(&h->order), order_run(of)) == 0);
    }
    return n;
}

/* ---- going on ---- */

static void deny(struct held_order *h)
{
    struct pb_error err;

    fault_fail(&err, FAULT_DENIED, "%s has not allowed it%s%s", h->answered_by,
               h->denied_why ? ": " : "", h->denied_why ? h->denied_why : "");
    held_fail(h, &err, "denied");
}

static void execute(struct held_order *h, const struct order_walk *w)
{
    struct gate *g = h->g;
    struct pb_error err;

    /* Before, so that what its listeners do to it finds the call. */
    list_remove(&h->at);
    g->n_held--;
    g->held_bytes -= bytes_of(h);
    timer_stop(&h->timer);
    if (gate_execute(g, w, h, &h->sent, &err) < 0) {
        struct call_spec to = h->order.call;

        held_free(h); /* it has been recorded */
        to.reply(to.ctx, &(struct client_reply){ .err = &err });
        return;
    }
    h->why = HELD_OVER;
    if (h->congested)
        hub_hold(g->hub, h->sent, true);
}

static void go_on(struct held_order *h)
{
    struct gate *g = h->g;
    AUTO_WALK struct order_walk w = { .g = g,
                                      .order = &h->order,
                                      .look = gate_look(g, &h->order),
                                      .approved = h->approved ? h->digest : NULL,
                                      .anew = true };

    if (h->denied) {
        deny(h);
        return;
    }
    if (gate_must_stop(g, &h->order, w.look, &w.err)) {
        held_fail(h, &w.err, "failed");
        return;
    }
    switch (steps_walk(&w)) {
    case STEP_STOP:
        held_fail(h, &w.err, fault_of(&w.err) == FAULT_DENIED ? "denied" : "failed");
        break;
    case STEP_ASK: /* it is not what was asked about any more */
        h->why = HELD_ANSWER;
        h->approved = false;
        h->answered_by = NULL;
        timer_stop(&h->timer);
        prepare_question(h, &w); /* and is put by who walks through all that is due */
        break;
    default:
        if (w.granted) {
            order_use_grant(g, &h->order);
            h->answered_by = "grant";
        }
        execute(h, &w);
    }
}

static void ask(struct held_order *h)
{
    struct gate *g = h->g;
    uint64_t id = h->id;

    put_question(h);
    h = held_find(g, id);
    if (h && h->asked)
        beat(h);
}

/* Answers come from anywhere; what follows from them begins here, where nobody is in the middle of
 * something. Each step may end others: the first that has something to do is looked for anew. */
static struct held_order *next_due(struct gate *g)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &g->held) {
        struct held_order *h = CONTAINER_OF(pos, struct held_order, at);

        if (h->fresh || h->why == HELD_READY)
            return h;
    }
    return NULL;
}

/* Telling a caller that it need not answer may end others: they are found by number. */
static void go_on_if_granted(struct gate *g)
{
    AUTO_FREE uint64_t *ids = NULL;
    size_t n = held_ids(g, &ids);

    g->granted = false;
    for (size_t i = 0; i < n; i++) {
        struct held_order *h = held_find(g, ids[i]);

        if (!h || !h->asked || !order_granted(g, &h->order, h->q.by))
            continue;
        h->why = HELD_READY;
        question_over(h);
    }
}

static void on_turn_end(void *ctx)
{
    struct gate *g = ctx;
    struct held_order *h;

    while (!g->closing) {
        if (g->granted)
            go_on_if_granted(g);
        h = next_due(g);
        if (!h)
            break;
        if (h->fresh)
            ask(h);
        else
            go_on(h);
    }
    g->walking = false;
    if (g->freed)
        free(g);
}

static void walk_soon(struct gate *g)
{
    if (g->walking)
        return;
    g->walking = true;
    loop_defer(g->loop, on_turn_end, g);
}

void held_more_granted(void *ctx)
{
    struct gate *g = ctx;

    if (list_empty(&g->held))
        return;
    g->granted = true;
    walk_soon(g);
}

void held_go_on(struct gate *g)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &g->held) {
        struct held_order *h = CONTAINER_OF(pos, struct held_order, at);

        if (h->why == HELD_ROOM)
            h->why = HELD_READY;
    }
    if (!list_empty(&g->held))
        walk_soon(g);
}

static int check_room(const struct gate *g, const struct order *o, enum held_for why,
                      struct pb_error *err)
{
    if (g->held_bytes + o->call.params.n + o->arguments.n > GATE_HELD_BYTES_MAX)
        return fault_fail(err, FAULT_BUSY, "calls that wait hold %d bytes already",
                          GATE_HELD_BYTES_MAX);
    if (why != HELD_ANSWER)
        return g->n_held < GATE_ROOM_MAX
                   ? 0
                   : fault_fail(err, FAULT_BUSY, "%d calls wait until others are recorded already",
                                GATE_ROOM_MAX);
    if (count_asking(g, NULL) >= GATE_HELD_MAX)
        return fault_fail(err, FAULT_BUSY,
                          "%d calls wait for an answer already; 'patchbay "
                          "questions' shows them",
                          GATE_HELD_MAX);
    if (count_asking(g, o) >= GATE_HELD_CALLER_MAX)
        return fault_fail(err, FAULT_BUSY, "%d calls of this client wait for an answer already",
                          GATE_HELD_CALLER_MAX);
    return 0;
}

/* Waiting for room is part of the call's time. */
static uint64_t room_ms(struct held_order *h)
{
    const struct link *l = hub_link(h->g->hub, h->order.call.server);

    if (!h->order.call.timeout_ms)
        h->order.call.timeout_ms = l ? link_call_ms(l) : MCP_CALL_MS;
    return h->order.call.timeout_ms;
}

int gate_hold_back(struct gate *g, const struct order *o, const struct order_walk *w,
                   enum held_for why, uint64_t *out_id, struct pb_error *err)
{
    int rc = check_room(g, o, why, err);
    struct held_order *h;

    if (rc < 0)
        return rc;
    h = NEW(struct held_order);
    h->g = g;
    h->id = ++g->last_held | HELD_BIT;
    h->why = why;
    h->queued_ms = loop_wall(g->loop);
    if (o->call.uuid)
        memcpy(h->uuid, o->call.uuid, UUID_CHARS);
    else
        id_uuid(h->uuid);
    copy_order(h, o);
    timer_init(&h->timer, g->loop, on_expired, h);
    list_append(&g->held, &h->at);
    g->n_held++;
    g->held_bytes += bytes_of(h);
    table_put(&g->by_id, h->id & ~HELD_BIT, h);
    if (why == HELD_ANSWER) {
        prepare_question(h, w);
        walk_soon(g);
    } else {
        timer_start(&h->timer, room_ms(h));
    }
    *out_id = h->id;
    return 0;
}

void held_end_all(struct gate *g)
{
    while (!list_empty(&g->held)) {
        struct held_order *h = CONTAINER_OF(g->held.next, struct held_order, at);
        struct pb_error err;

        call_fail(&err, CALL_SHUTDOWN, &h->order.call, h->order.call.server, 0);
        held_fail(h, &err, "cancelled");
    }
}

static struct held_order *first_of_caller(const struct gate *g, const char *caller)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &g->held) {
        struct held_order *h = CONTAINER_OF(pos, struct held_order, at);

        if (h->order.call.caller && strcmp(h->order.call.caller, caller) == 0)
            return h;
    }
    return NULL;
}

/* What ending one ends besides is not known: the next is looked for from the start. */
void held_drop_caller(struct gate *g, const char *caller)
{
    struct held_order *h;

    while (*caller && (h = first_of_caller(g, caller)) != NULL)
        gate_cancel(g, h->id, CALL_BY_USER);
}

/* ---- answers ---- */

void gate_each_question(const struct gate *g, void (*fn)(void *ctx, const struct question *q),
                        void *ctx)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &g->held) {
        struct held_order *h = CONTAINER_OF(pos, struct held_order, at);

        if (h->asked)
            fn(ctx, &h->q);
    }
}

const struct question *gate_question(const struct gate *g, const char *id)
{
    const struct held_order *h = map_get(&g->by_question, span_of(id));

    return h ? &h->q : NULL;
}

static int grant(struct held_order *h, const struct question_answer *a, struct pb_error *err)
{
    AUTO_BUF struct buf operation = { 0 };

    order_operation(&operation, &h->order);
    return grants_add(h->g->grants, order_run(&h->order), buf_cstr(&operation), a->grant_ms,
                      a->grant_once, (unsigned)a->by, NULL, err);
}

int gate_answer(struct gate *g, const char *id, const struct question_answer *a,
                struct pb_error *err)
{
    struct held_order *h = map_get(&g->by_question, span_of(id));
    int rc;

    if (!h)
        return fail(err, PB_E_NOT_FOUND,
                    "there is no question '%s' (any more): it was answered, or its call has ended",
                    id);
    if (!(h->q.by & (unsigned)a->by))
        return fail(err, PB_E_INVALID, "question '%s' cannot be answered from here (%s)", id,
                    question_by_name(a->by));
    if (a->choice == CHOICE_GRANT) {
        rc = grant(h, a, err);
        if (rc < 0)
            return rc;
    }
    h->answered_by = keep(h, a->who ? a->who : question_by_name(a->by));
    h->denied = a->choice == CHOICE_DENY;
    /* One that counts once is for this order, which uses it up. */
    h->approved = !h->denied && !(a->choice == CHOICE_GRANT && a->grant_once);
    h->denied_why = keep(h, a->reason);
    h->why = HELD_READY;
    walk_soon(g);
    question_over(h); /* last: it may be gone */
    return 0;
}
