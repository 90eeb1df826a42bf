/* explain.c - where a call would stop, and why: the steps, walked without executing anything. */
#include "gate_impl.h"

static const char *const outcomes[] = {
    [STEP_PASS] = "pass", [STEP_STOP] = "stop", [STEP_ASK] = "ask"
};

static void write_step(struct json_out *o, const struct order_walk *w, const char *name,
                       enum step_says says)
{
    json_begin_object(o, NULL);
    json_put_str(o, "step", name);
    json_put_str(o, "says", outcomes[says]);
    if (says == STEP_STOP)
        json_put_str(o, "reason", w->err.msg);
    else if (says == STEP_ASK)
        json_put_str_opt(o, "reason", w->verdict.reason);
    if (says != STEP_PASS && w->verdict.rule)
        json_put_str(o, "rule", w->verdict.rule);
    json_end(o);
}

void gate_explain(struct gate *g, const struct gate_dry *d, struct json_out *o, const char *key)
{
    const struct order said = { .call = { .server = d->server,
                                          .method = "tools/call",
                                          .subject = d->tool,
                                          .caller = "",
                                          .client = d->client },
                                .face = d->face,
                                .scope = d->scope,
                                .mode = d->mode,
                                .conversation = d->conversation,
                                .arguments = d->arguments };
    struct own_order own = { 0 };
    const struct order *order = own_read(g, &said, &own);
    struct order_walk w = { .g = g, .order = order, .look = gate_look(g, order), .anew = true };
    struct order_walk whole = w; /* what one step says another may overrule */
    enum step_says all = steps_walk(&whole), says = STEP_PASS;
    const char *name;

    json_begin_object(o, key);
    json_begin_array(o, "steps");
    for (size_t i = 0; says != STEP_STOP && step_at(i, &w, &name, &says); i++)
        write_step(o, &w, name, says);
    json_end(o);
    json_put_str(o, "outcome", all == STEP_PASS ? "allow" : all == STEP_ASK ? "ask" : "deny");
    json_put_str_opt(o, "rule", w.verdict.rule);
    json_put_str_opt(o, "reason", all == STEP_STOP ? w.err.msg : w.verdict.reason);
    json_put_bool(o, "recorded", gate_records(g, w.look));
    json_end(o);
    own_order_done(&own);
}
