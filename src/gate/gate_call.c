/* gate_call.c - orders under way. One to which no rule can apply goes straight on; when nothing is
 * recorded either, the hub has it as it came. */
#include "gate_impl.h"
#include "mcp/rpc/rpc.h"

bool gate_must_stop(const struct gate *g, const struct order *o, const struct tool_look *look,
                    struct pb_error *err)
{
    if (g->closing) {
        call_fail(err, CALL_SHUTDOWN, &o->call, o->call.server, 0);
        return true;
    }
    if (!g->store || !g->down || g->go_on || look->detail == RECORD_NONE)
        return false;
    fault_fail(err, FAULT_UNRECORDED,
               "calls are not made while they cannot be recorded: %s; settings.record_failure "
               "\"go_on\" lets them go on",
               g->why_down.msg);
    return true;
}

int gate_execute(struct gate *g, const struct order_walk *w, struct held_order *held,
                 uint64_t *out_id, struct pb_error *err)
{
    AUTO_BUF struct buf params = { 0 };
    const struct order *o = w->order;
    struct call_spec spec = o->call;
    struct pb_error why;
    char uuid[UUID_CHARS + 1];
    struct run *r;
    int rc;

    if (order_is_own(o)) {
        if (!spec.uuid) {
            id_uuid(uuid);
            spec.uuid = uuid;
        }
        own_params(&params, o, spec.uuid);
        spec.params = buf_span(&params);
        spec.plain = false;
    } else if (o->trace.n && !o->trace_told) {
        trace_put(&params, spec.params, o->trace);
        spec.params = buf_span(&params);
        spec.plain = false;
    }
    if (!held && !gate_records(g, w->look))
        return gate_send(g, w, &spec, out_id, err);
    r = run_new(g, o, w->look, w->verdict.rule, w->granted ? "grant" : NULL);
    r->held = held;
    spec.ended = run_ended;
    spec.ended_ctx = r;
    if (held)
        spec.uuid = held->uuid;
    rc = gate_send(g, w, &spec, out_id, &why);
    if (rc < 0) {
        r->told = true;
        run_ended(r, &(struct call_end){ .reply = &(struct client_reply){ .err = &why },
                                         .uuid = spec.uuid });
        if (err)
            *err = why;
    }
    return rc;
}

static int stop(struct gate *g, const struct order *o, const struct order_walk *w,
                struct pb_error *err)
{
    gate_record_stop(g, o, w->look, NULL, w->verdict.rule,
                     fault_of(&w->err) == FAULT_DENIED ? "denied" : "failed", &w->err);
    return fail_copy(err, &w->err);
}

static int hold_back(const struct order_walk *w, enum held_for why, uint64_t *out_id,
                     struct pb_error *err)
{
    struct pb_error refused;
    int rc = gate_hold_back(w->g, w->order, w, why, out_id, &refused);

    if (rc == 0)
        return 0;
    gate_record_stop(w->g, w->order, w->look, NULL, w->verdict.rule, "failed", &refused);
    return fail_copy(err, &refused);
}

static int walk(struct gate *g, const struct order *o, uint64_t *out_id, struct pb_error *err)
{
    AUTO_WALK struct order_walk w = { .g = g, .order = o };
    enum step_says says = STEP_PASS;

    w.look = gate_look(g, o);
    if (gate_must_stop(g, o, w.look, err))
        return -(int)err->code;
    /* What is held back is known by the catalog alone, and may be from one moment to the next. */
    if (w.look->concerned || order_is_own(o) || hub_holds_call(g->hub, &o->call, NULL))
        says = steps_walk(&w);
    if (says == STEP_STOP)
        return stop(g, o, &w, err);
    if (says == STEP_ASK)
        return hold_back(&w, HELD_ANSWER, out_id, err);
    if (gate_records(g, w.look) && store_is_full(g->store))
        return hold_back(&w, HELD_ROOM, out_id, err);
    if (w.granted)
        order_use_grant(g, o);
    return gate_execute(g, &w, NULL, out_id, err);
}

int gate_call(struct gate *g, const struct order *o, uint64_t *out_id, struct pb_error *err)
{
    struct own_order own = { 0 };
    int rc;

    /* People are shown names, and grants are found by them, up to the first NUL. */
    if (o->call.subject.n && memchr(o->call.subject.p, '\0', o->call.subject.n))
        return fail(err, PB_E_INVALID, "a name or URI with a NUL in it is none");
    rc = walk(g, own_read(g, o, &own), out_id, err);
    own_order_done(&own);
    return rc;
}

bool gate_cancel(struct gate *g, uint64_t id, enum call_cancel why)
{
    struct held_order *h = held_find(g, id);
    struct pb_error err;

    if (!held_is_id(id))
        return hub_cancel(g->hub, id, why);
    if (!h)
        return false;
    if (h->why == HELD_OVER)
        return hub_cancel(g->hub, h->sent, why);
    call_fail(&err, why, &h->order.call, h->order.call.server, h->order.call.timeout_ms);
    held_fail(h, &err, why == CALL_TIMED_OUT ? "timeout" : "cancelled");
    return true;
}

bool gate_cancel_uuid(struct gate *g, const char *uuid, enum call_cancel why)
{
    struct held_order *h = held_of_uuid(g, uuid);

    return h ? gate_cancel(g, h->id, why) : hub_cancel_uuid(g->hub, uuid, why);
}

bool gate_has_call(const struct gate *g, const char *uuid)
{
    return held_of_uuid(g, uuid) || hub_has_call(g->hub, uuid);
}

void gate_hold(struct gate *g, uint64_t id, bool held)
{
    struct held_order *h = held_find(g, id);

    if (!held_is_id(id))
        hub_hold(g->hub, id, held);
    else if (h && h->why == HELD_OVER)
        hub_hold(g->hub, h->sent, held);
    else if (h)
        h->congested = held;
}

enum era gate_call_era(const struct gate *g, uint64_t id)
{
    struct held_order *h = held_find(g, id);

    if (!held_is_id(id))
        return hub_call_era(g->hub, id);
    return h && h->why == HELD_OVER ? hub_call_era(g->hub, h->sent) : ERA_UNKNOWN;
}

void gate_caller_left(struct gate *g, const char *caller)
{
    held_drop_caller(g, caller);
    hub_caller_left(g->hub, caller);
}
