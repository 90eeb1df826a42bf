#include "gate_impl.h"
#include <stdio.h>

/* ---- what is known of a tool ---- */

const char *order_run(const struct order *o)
{
    return o->conversation ? o->conversation : o->call.caller ? o->call.caller : "";
}

/* A prompt and a tool may have the same name. */
void order_operation(struct buf *out, const struct order *o)
{
    if (strcmp(o->call.method, "tools/call") != 0)
        buf_printf(out, "%s ", o->call.method);
    if (o->call.server && !order_is_own(o))
        buf_printf(out, "%s/", o->call.server);
    buf_add_span(out, o->call.subject);
}

bool order_granted(struct gate *g, const struct order *o, unsigned by)
{
    AUTO_BUF struct buf operation = { 0 };

    order_operation(&operation, o);
    return grants_auto(g->grants, order_run(o), by) ||
           grants_allow(g->grants, order_run(o), buf_cstr(&operation), by);
}

void order_use_grant(struct gate *g, const struct order *o)
{
    AUTO_BUF struct buf operation = { 0 };

    order_operation(&operation, o);
    if (!grants_auto(g->grants, order_run(o), ~0U))
        grants_use(g->grants, order_run(o), buf_cstr(&operation));
}

/* What only helps with one (completing a word, looking after a task) is neither asked about nor
 * recorded; it may be denied. */
static bool order_is_call(const struct order *o)
{
    static const char *const methods[] = { "tools/call", "resources/read", "prompts/get" };

    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (strcmp(o->call.method, methods[i]) == 0)
            return true;
    return false;
}

static struct policy_subject subject_of(const struct order *o, const struct tool_look *look,
                                        int64_t now_ms)
{
    return (struct policy_subject){ .method = o->call.method,
                                    .server = o->call.server,
                                    .tool = o->call.subject,
                                    .client = o->call.client,
                                    .mode = o->mode,
                                    .face = o->face,
                                    .annotations = look->annotations,
                                    .arguments = o->arguments,
                                    .now_ms = now_ms };
}

/* By its own name, whatever the spec's lists say of it and whether it is held back or not. */
static const struct entry *entry_of(const struct gate *g, const struct order *o)
{
    struct scope one = {
        .server = o->call.server, .all_groups = true, .disabled_too = true, .held_too = true
    };

    if (strcmp(o->call.method, "tools/call") != 0 || !o->call.server)
        return NULL;
    return catalog_find(hub_catalog(g->hub), &one, LIST_TOOLS, o->call.subject, NULL);
}

/* What its server's spec says, else the settings. */
static enum record_detail detail_of(const struct gate *g, const struct order *o)
{
    const struct link *l = o->call.server ? hub_link(g->hub, o->call.server) : NULL;

    if (!order_is_call(o))
        return RECORD_NONE;
    for (const char *const *r = l ? link_spec(l)->record : NULL; r && *r; r++) {
        const char *at = strrchr(*r, '=');
        AUTO_FREE char *glob = mem_dupn(*r, (size_t)(at - *r));

        for (unsigned i = 0; i <= RECORD_NONE && glob_match(glob, o->call.subject); i++)
            if (strcmp(at + 1, record_detail_name((enum record_detail)i)) == 0)
                return (enum record_detail)i;
    }
    return g->detail;
}

static struct tool_look *look_new(struct gate *g, const struct order *o)
{
    const struct entry *e = entry_of(g, o);
    struct tool_look *l = NEW(struct tool_look);
    struct policy_subject s;

    if (e)
        l->definition = blob_new(e->text);
    l->detail = detail_of(g, o);
    l->annotations = policy_annotations(l->definition ? blob_span(l->definition) : SPAN(""));
    s = subject_of(o, l, 0);
    l->concerned = policy_concerns(g->policy, &s);
    return l;
}

static void look_free(struct tool_look *l)
{
    if (!l)
        return;
    if (l->definition)
        blob_unref(l->definition);
    free(l);
}

const struct tool_look *gate_look(struct gate *g, const struct order *o)
{
    AUTO_BUF struct buf key = { 0 };
    struct tool_look *l;

    buf_byte(&key, (char)('a' + o->face));
    buf_str(&key, o->call.method);
    buf_byte(&key, '\n');
    buf_str(&key, o->call.server ? o->call.server : "");
    buf_byte(&key, '\n');
    buf_add_span(&key, o->call.subject);
    l = map_get(&g->looks, buf_span(&key));
    if (l)
        return l;
    l = look_new(g, o);
    if (key.n > GATE_LOOK_BYTES) {
        look_free(g->odd);
        return g->odd = l;
    }
    if (g->looks.n >= GATE_LOOKS_MAX)
        gate_forget_looks(g);
    map_put(&g->looks, buf_span(&key), l);
    return l;
}

void gate_forget_looks(struct gate *g)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &g->looks)
        look_free(slot->value);
    map_done(&g->looks);
    g->looks = (struct map){ 0 };
    look_free(TAKE(g->odd));
}

/* ---- the steps ---- */

/* Whoever asks has looked the name up before it made an order of it; what has waited may be gone.
 */
static enum step_says resolve(struct order_walk *w)
{
    const struct order *o = w->order;
    const struct link *l = o->call.server ? hub_link(w->g->hub, o->call.server) : NULL;
    const struct entry *e;

    if (!w->anew)
        return STEP_PASS;
    if (!l) {
        fault_fail(&w->err, FAULT_NO_SERVER, "there is no server '%s'",
                   o->call.server ? o->call.server : "");
        return STEP_STOP;
    }
    if (strcmp(o->call.method, "tools/call") != 0 ||
        !catalog_knows(hub_catalog(w->g->hub), o->call.server))
        return STEP_PASS;
    e = entry_of(w->g, o);
    if (e && e->enabled)
        return STEP_PASS;
    fault_fail(&w->err, FAULT_NO_TOOL,
               e ? "tool '%.*s' of server '%s' is disabled"
                 : "there is no tool '%.*s' on server '%s'",
               SPAN_ARG(o->call.subject), o->call.server);
    return STEP_STOP;
}

static enum step_says mode(struct order_walk *w)
{
    const struct order *o = w->order;
    const struct entry *e;
    struct scope scope;

    /* Of ours it is known only now which operation is meant. */
    if ((!w->anew && !order_is_own(o)) || !o->scope)
        return STEP_PASS;
    e = entry_of(w->g, o);
    scope = *o->scope;
    scope.held_too = true; /* that is the next one's */
    if (!e || scope_shows(hub_catalog(w->g->hub), &scope, e))
        return STEP_PASS;
    fault_fail(&w->err, FAULT_NO_TOOL, "the mode '%s' does not show the tool '%.*s' of server '%s'",
               o->mode ? o->mode : "", SPAN_ARG(e->name), o->call.server);
    return STEP_STOP;
}

/* What is not what was approved is not called, however its name was found. */
static enum step_says definition(struct order_walk *w)
{
    return hub_holds_call(w->g->hub, &w->order->call, &w->err) ? STEP_STOP : STEP_PASS;
}

/* What exactly is asked about: the same order at another time has the same digest as long as
 * nothing of it, of its tool and of the rules is different. */
static void set_digest(struct order_walk *w)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf text = { 0 };
    const struct order *o = w->order;
    struct json_out out = json_out(&text);
    uint8_t digest[SHA256_BYTES];
    /* What is very long is the same when its bytes are: who chose it does not choose our time. */
    bool readable = o->arguments.n <= GATE_CANONICAL_MAX &&
                    json_parse(&doc, o->arguments.n ? o->arguments : SPAN("{}"), NULL, NULL) == 0;

    json_begin_array(&out, NULL);
    json_put_str(&out, NULL, order_face_name(o->face));
    json_put_str(&out, NULL, o->call.caller ? o->call.caller : "");
    json_put_str(&out, NULL, o->call.method);
    json_put_str(&out, NULL, o->call.server ? o->call.server : "");
    json_put_span(&out, NULL, o->call.subject);
    json_put_span(&out, NULL, w->look->definition ? blob_span(w->look->definition) : SPAN(""));
    json_put_str(&out, NULL, policy_version(w->g->policy));
    json_end(&out);
    if (readable)
        json_canonical(&text, json_root(&doc));
    else
        buf_add_span(&text, o->arguments);
    sha256(buf_span(&text), digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(w->digest + 2 * i, 3, "%02x", digest[i]);
}

static enum step_says rules(struct order_walk *w)
{
    const struct order *o = w->order;
    struct policy_subject s;

    if (!w->look->concerned)
        return STEP_PASS;
    s = subject_of(o, w->look, loop_wall(w->g->loop));
    policy_decide(w->g->policy, &s, &w->verdict);
    switch (w->verdict.action) {
    case POLICY_DENY:
        fault_fail(&w->err, FAULT_DENIED, "the rule '%s' does not allow '%.*s' of server '%s'%s%s",
                   w->verdict.rule ? w->verdict.rule : "default", SPAN_ARG(o->call.subject),
                   o->call.server, w->verdict.reason ? ": " : "",
                   w->verdict.reason ? w->verdict.reason : "");
        return STEP_STOP;
    case POLICY_ASK:
        return order_is_call(o) ? STEP_ASK : STEP_PASS;
    default:
        return STEP_PASS;
    }
}

/* What a program does outside the working directory a person has to have allowed: by a rule that
 * says so, by a permission, or now. */
static enum step_says authorisation(struct order_walk *w)
{
    if (w->verdict.action == POLICY_ASK || (w->verdict.action == POLICY_ALLOW && w->verdict.rule) ||
        !own_needs_permission(w->g, w->order, &w->reason))
        return STEP_PASS;
    w->verdict = (struct policy_verdict){ .action = POLICY_ASK,
                                          .rule = "authorisation",
                                          .reason = buf_cstr(&w->reason),
                                          .by = ASK_ANYBODY };
    return STEP_ASK;
}

/* What was permitted for a while, or for this very order, is not asked. */
static enum step_says permission(struct order_walk *w)
{
    if (w->verdict.action != POLICY_ASK || !order_is_call(w->order))
        return STEP_PASS;
    set_digest(w);
    if (w->approved && strcmp(w->approved, w->digest) == 0)
        return STEP_PASS;
    w->granted = order_granted(w->g, w->order, w->verdict.by);
    return w->granted ? STEP_PASS : STEP_ASK;
}

/* A step that asks is overruled by the next when that knows the answer. */
static const struct gate_step {
    const char *name;
    enum step_says (*take)(struct order_walk *w);
    bool may_overrule;
    bool own; /* only for tools of our own */
} steps[] = {
    { "resolve", resolve, false, false },
    { "mode", mode, false, false },
    { "definition", definition, false, false },
    { "policy", rules, false, false },
    { "authorisation", authorisation, false, true },
    { "permission", permission, true, false },
};

void order_walk_done(struct order_walk *w) { buf_done(&w->reason); }

bool step_at(size_t i, struct order_walk *w, const char **name, enum step_says *says)
{
    if (i >= ARRAY_LEN(steps))
        return false;
    *name = steps[i].own && !order_is_own(w->order) ? NULL : steps[i].name;
    *says = steps[i].take(w);
    return true;
}

enum step_says steps_walk(struct order_walk *w)
{
    enum step_says says = STEP_PASS;

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        enum step_says one = steps[i].take(w);

        if (one == STEP_STOP) {
            w->step = steps[i].name;
            return STEP_STOP;
        }
        if (one == STEP_ASK || steps[i].may_overrule) {
            says = one;
            w->step = steps[i].name;
        }
    }
    return says;
}
