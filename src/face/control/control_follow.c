/* control_follow.c - somebody reads what is recorded, or what is asked, as it comes: first what
 * there is, then what is new, until the request is cancelled. */
#include "control_impl.h"
#include "gate/gate.h"

struct record_follower {
    struct request *r;
    struct gate *gate;
    struct arena arena;
    struct call_query query; /* its strings are in the arena */
    bool records;            /* else questions only */
    struct store_read *read;
    struct timer look;
    bool stale, begun; /* there may be more; the first page was told */
    uint64_t last;     /* all up to this number were told */
};

static void unfollow(struct request *r, enum cancel_reason why)
{
    struct record_follower *f = r->work;

    (void)why;
    gate_unlisten(f->gate, f);
    timer_stop(&f->look);
    if (f->read)
        store_cancel(f->read);
    arena_done(&f->arena);
    free(f);
}

/* ---- questions ---- */

struct question_list {
    struct json_out *o;
};

static void put_question(void *ctx, const struct question *q)
{
    struct question_list *l = ctx;

    question_write(l->o, NULL, q);
}

static void write_questions(struct json_out *o, const char *key, const struct gate *g)
{
    json_begin_array(o, key);
    gate_each_question(g, put_question, &(struct question_list){ o });
    json_end(o);
}

/* Telling may end the request, and with it f. */
static void on_question(void *ctx, const struct question *q, bool over)
{
    struct record_follower *f = ctx;
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    question_write(&o, "question", q);
    json_put_bool(&o, "over", over);
    json_end(&o);
    request_mention(f->r, "notifications/patchbay/question", buf_span(&b));
}

/* ---- records ---- */

/* Of a page, which is in order of numbers, those that are new. */
static size_t count_new(const struct record_follower *f, const struct call_page *p)
{
    size_t n = 0;

    if (!f->begun)
        return p->n;
    while (n < p->n && p->v[n].no > f->last)
        n++;
    return n;
}

static void on_page(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct record_follower *f = ctx;
    struct call_page fresh = { 0 };
    bool missed;

    f->read = NULL;
    if (err && (err->code == PB_E_BUSY || err->code == PB_E_TIMEOUT)) { /* it will not stay so */
        f->stale = true;
        timer_start_weak(&f->look, CONTROL_FOLLOW_MS);
        return;
    }
    if (err) {
        struct request *r = f->r;

        unfollow(r, CANCEL_SHUTDOWN);
        r->work = NULL;
        r->cancel = NULL;
        control_refuse(r, err);
        return;
    }
    fresh.v = p->v;
    fresh.n = count_new(f, p);
    missed = f->begun && fresh.n == p->n && p->next > f->last + 1;
    if (p->n && p->v[0].no > f->last)
        f->last = p->v[0].no;
    else if (!p->n && p->next > f->last)
        f->last = p->next;
    timer_start_weak(&f->look, CONTROL_FOLLOW_MS);
    if (f->begun && !fresh.n)
        return;
    f->begun = true;
    f->query.limit = STORE_PAGE_MAX;
    json_begin_object(&o, NULL);
    control_write_records(&o, "calls", &fresh);
    if (missed)
        json_put_bool(&o, "missed", true);
    json_end(&o);
    request_notify(f->r, "notifications/patchbay/records", buf_span(&b));
}

static void look(struct record_follower *f)
{
    f->stale = false;
    f->read = store_find(gate_store(f->gate), &f->query, on_page, f);
}

/* Who does not read is not told more: it is looked again a while later. */
static void on_timer(void *ctx)
{
    struct record_follower *f = ctx;

    if (!f->stale || f->read)
        return;
    if (peer_congested(f->r->peer))
        timer_start_weak(&f->look, CONTROL_FOLLOW_MS);
    else
        look(f);
}

static void on_recorded(void *ctx)
{
    struct record_follower *f = ctx;

    f->stale = true;
    if (!f->read && !timer_running(&f->look))
        timer_start_weak(&f->look, 0);
}

/* ---- both ---- */

static struct record_follower *follow(struct hosts *s, struct request *r, bool records)
{
    struct gate *g = hosts_gate(s);
    struct record_follower *f;
    struct pb_error err;

    if (!gate_can_listen(g)) {
        fail(&err, PB_E_BUSY, "%d follow what happens already; end one of them first",
             GATE_LISTENERS_MAX);
        control_refuse(r, &err);
        return NULL;
    }
    f = NEW(struct record_follower);
    f->r = r;
    f->gate = g;
    f->records = records;
    timer_init(&f->look, hosts_loop(s), on_timer, f);
    r->work = f;
    r->cancel = unfollow;
    gate_listen(g, &(struct gate_listener){ .question = on_question,
                                            .recorded = records ? on_recorded : NULL,
                                            .ctx = f });
    return f;
}

static void tell_questions(struct hosts *s, struct request *r)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    write_questions(&o, "questions", hosts_gate(s));
    json_end(&o);
    request_notify(r, "notifications/patchbay/questions", buf_span(&b));
}

void control_follow_records(struct hosts *s, struct request *r, const struct control_query *q)
{
    struct record_follower *f = control_need_store(s, r) ? follow(s, r, true) : NULL;

    if (!f)
        return;
    f->query = q->q;
#define X(member, help) \
    f->query.member = q->q.member ? arena_dup(&f->arena, span_of(q->q.member)) : NULL;
    CALL_FILTERS(X)
#undef X
    look(f);
    tell_questions(s, r); /* last: it may be gone */
}

void control_questions(struct hosts *s, struct request *r)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct control_params p;

    if (!control_read_params(r, &p, &a))
        return;
    if (p.follow) {
        if (follow(s, r, false))
            tell_questions(s, r);
        return;
    }
    json_begin_object(&o, NULL);
    write_questions(&o, "questions", hosts_gate(s));
    json_end(&o);
    request_reply(r, buf_span(&b));
}
