/* What happens from one end to the other: an agent with proxies, the hub, its
 * links, and servers that do what a test says, on a clock that stands still. */
#include "fixtures.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/registry/registry.h"
#include "mcp/serve/serve.h"

struct flow {
    struct hub_rig r;
    struct buf order; /* what was heard of the hub */
};

static void on_hub(void *ctx, const struct hub_event *e)
{
    struct flow *f = ctx;

    if (e->kind == EVENT_STATE)
        buf_printf(&f->order, "%s\n", link_state_name(e->state.to.state));
    else if (e->kind >= EVENT_CALL_STARTED)
        buf_printf(&f->order, "%s\n", hub_event_name(e->kind));
}

/* Options may have been changed since hub_rig_init(). */
static void flow_start(struct flow *f)
{
    hub_rig_start(&f->r);
    hub_listen(f->r.hub, &(struct hub_listener){ .event = on_hub, .ctx = f });
}

static void flow_done(struct flow *f)
{
    hub_rig_done(&f->r);
    buf_done(&f->order);
}

static size_t flow_tools(struct flow *f, struct proxy ***out)
{
    const struct proxy_caller caller = proxy_caller_of(f->r.hub);

    return proxies_of(hub_catalog(f->r.hub), &(struct scope){ 0 }, &caller, out);
}

struct answer {
    int count;
    enum proxy_outcome outcome;
    char text[256];
};

static void on_answer(void *ctx, const struct proxy_result *r)
{
    struct answer *a = ctx;

    a->count++;
    a->outcome = r->outcome;
    snprintf(a->text, sizeof a->text, "%.*s", SPAN_ARG(r->text));
}

/* ---- from the agent down and up ---- */

/* S0-1 */
TEST(an_agent_uses_every_tool_of_every_server_without_knowing_any_of_them)
{
    static const char *const servers[] = { "files", "git", "search" };
    static const char *const tools[] = { "one", "two", "three" };
    struct flow f = { 0 };
    struct proxy **all;
    size_t n;

    hub_rig_init(&f.r);
    flow_start(&f);
    for (size_t i = 0; i < ARRAY_LEN(servers); i++) {
        struct fake_server *s = fakes_add(&f.r.fakes, servers[i]);

        s->era = i % 2 ? PB_ERA_MODERN : PB_ERA_LEGACY;
        for (size_t k = 0; k < ARRAY_LEN(tools); k++)
            fake_tool(s, tools[k], FAKE_ECHO)->schema = "{\"type\":\"object\",\"x\":1.0}";
        hub_rig_begin(&f.r, servers[i], (struct rig_spec){ 0 });
    }
    fakes_settle(&f.r.fakes);
    n = flow_tools(&f, &all);
    CHECK_INT(n, 9);
    for (size_t i = 0; i < n; i++) {
        struct answer a = { 0 };
        char arguments[64];

        snprintf(arguments, sizeof arguments, "{\"no\":%zu}", i);
        CHECK_HAS(all[i]->definition, "\"inputSchema\":{\"type\":\"object\",\"x\":1.0}");
        proxy_call(all[i], arguments, 0, on_answer, &a, NULL);
        FAKES_UNTIL(&f.r.fakes, a.count);
        CHECK_INT(a.outcome, PROXY_SUCCESS);
        CHECK_STR(a.text, arguments);
        CHECK_STR(fakes_find(&f.r.fakes, all[i]->server)->last_args, arguments);
        proxy_free(all[i]);
    }
    free(all);
    flow_done(&f);
}

/* S0-12 */
TEST(a_call_goes_down_through_the_layers_and_its_facts_come_up_through_them)
{
    struct flow f = { 0 };
    struct fake_server *s;
    struct answer a = { 0 };
    struct proxy **all;

    hub_rig_init(&f.r);
    flow_start(&f);
    s = fakes_add(&f.r.fakes, "alpha");
    fake_tool(s, "hang", FAKE_HANG);
    hub_rig_begin(&f.r, "alpha", (struct rig_spec){ 0 });
    HUB_RIG_REACHES(&f.r, "alpha", LINK_CONNECTED);
    fakes_settle(&f.r.fakes);
    f.order.n = 0;
    CHECK_INT(flow_tools(&f, &all), 1);
    proxy_call(all[0], "{}", 0, on_answer, &a, NULL);
    CHECK_STR(buf_cstr(&f.order), "toolCallStarted\n"); /* told before the server has it */
    CHECK_INT(s->n_held, 0);
    fakes_settle(&f.r.fakes);
    CHECK_INT(s->n_held, 1);
    CHECK_INT(a.count, 0);
    fake_release(s, 0, "done");
    fakes_settle(&f.r.fakes);
    CHECK_STR(a.text, "done");
    CHECK_STR(buf_cstr(&f.order), "toolCallStarted\ntoolCallCompleted\n");
    proxy_free(all[0]);
    free(all);
    flow_done(&f);
}

/* ---- each server for itself ---- */

/* S0-2 */
TEST(each_server_connects_retries_and_logs_by_itself)
{
    struct flow f = { 0 };
    struct fake_server *good, *bad, *slow;

    hub_rig_init(&f.r);
    flow_start(&f);
    good = hub_rig_server(&f.r, "good");
    bad = hub_rig_server(&f.r, "bad");
    bad->connect = FAKE_CONNECT_FAIL;
    bad->connect_text = "nobody listens";
    slow = hub_rig_server(&f.r, "slow");
    slow->connect = FAKE_CONNECT_DELAY;
    slow->connect_ms = 6500;
    hub_rig_begin(&f.r, "good", (struct rig_spec){ 0 });
    hub_rig_begin(&f.r, "bad", (struct rig_spec){ 0 });
    hub_rig_begin(&f.r, "slow", (struct rig_spec){ 0 });
    fakes_settle(&f.r.fakes);
    fake_stderr(good, "only of good");
    hub_rig_pass(&f.r, 3500); /* 1 s and 2 s: the second attempt of three is over */
    CHECK_STR(fakes_states(&f.r.fakes, "good"), "idle>connecting connecting>connected");
    CHECK_STR(fakes_states(&f.r.fakes, "slow"), "idle>connecting");
    CHECK_INT(bad->connects, 3);
    CHECK_INT(hub_rig_state(&f.r, "bad"), LINK_RECONNECTING);
    hub_rig_pass(&f.r, 4000);
    CHECK_STR(fakes_states(&f.r.fakes, "slow"), "idle>connecting connecting>connected");
    CHECK_INT(good->connects, 1);
    CHECK_INT(slow->connects, 1);
    CHECK_INT(bad->connects, 4);
    CHECK_INT(fakes_count(&f.r.fakes, EVENT_LOG, "good", "only of good"), 1);
    CHECK_INT(fakes_count(&f.r.fakes, EVENT_LOG, NULL, "only of good"), 1);
    CHECK_INT(fakes_count(&f.r.fakes, EVENT_LOG, "good", "nobody listens"), 0);
    CHECK(link_log_count(hub_link(f.r.hub, "bad")) > link_log_count(hub_link(f.r.hub, "slow")));
    flow_done(&f);
}

/* S0-15 */
TEST(the_hub_owns_links_tells_tries_again_routes_and_limits)
{
    struct flow f = { 0 };
    struct fake_server *a, *b;
    struct fake_reply one = { 0 }, two = { 0 }, late = { 0 };
    struct pb_error err;

    hub_rig_init(&f.r);
    flow_start(&f);
    a = hub_rig_up(&f.r, "a", (struct rig_spec){ 0 });
    b = hub_rig_up(&f.r, "b", (struct rig_spec){ 0 });
    fake_tool(b, "hang", FAKE_HANG);
    CHECK_INT(hub_count(f.r.hub), 2);

    /* The same tool of two servers: each call goes to its own. */
    CHECK_INT(hub_rig_call(&f.r, "a", "echo", &one, NULL, &err), 0);
    CHECK_INT(hub_rig_call(&f.r, "b", "echo", &two, NULL, &err), 0);
    CHECK_INT(hub_rig_call(&f.r, "b", "hang", &late, NULL, &err), 0);
    fakes_settle(&f.r.fakes);
    CHECK_INT(a->calls, 1);
    CHECK_INT(b->calls, 2);
    CHECK(one.result && two.result);

    /* A lost one is tried again, and its neighbour's call runs on until its time is over. */
    fake_break(a, "gone");
    fakes_settle(&f.r.fakes);
    CHECK_INT(hub_rig_state(&f.r, "a"), LINK_RECONNECTING);
    hub_rig_pass(&f.r, 1000);
    CHECK_INT(hub_rig_state(&f.r, "a"), LINK_CONNECTED);
    CHECK_INT(late.count, 0);
    hub_rig_pass(&f.r, 30000);
    CHECK_INT(late.count, 1);
    CHECK_INT(fault_of(&late.err), FAULT_TIMEOUT);
    CHECK_INT(b->cancellations, 1);

    hub_rig_stop(&f.r); /* nothing of them is left */
    CHECK_INT(a->closes, a->connects);
    CHECK_INT(b->closes, b->connects);
    fake_reply_done(&one);
    fake_reply_done(&two);
    fake_reply_done(&late);
    hub_rig_done(&f.r);
    buf_done(&f.order);
}

/* ---- what takes too long, and what nobody wants any more ---- */

struct operation {
    const char *name;
    uint64_t limit_ms;
    /* Begins something that never ends by itself. */
    void (*begin)(struct hub_rig *r, struct fake_reply *a, uint64_t *id);
    void (*stop)(struct hub_rig *r, uint64_t id);
    bool (*over)(struct hub_rig *r, struct fake_reply *a);
};

static void begin_call_of(struct hub_rig *r, struct fake_reply *a, uint64_t *id, const char *method,
                          const char *params)
{
    struct call_spec spec = fixture_call("a", fake_on_reply, a);

    spec.method = method;
    spec.params = span_of(params);
    CHECK_INT(hub_call(r->hub, &spec, id, NULL), 0);
}

static void begin_tool(struct hub_rig *r, struct fake_reply *a, uint64_t *id)
{
    begin_call_of(r, a, id, "tools/call", "{\"name\":\"hang\",\"arguments\":{}}");
}

/* The one call that the server takes at a time is another. */
static void begin_waiting(struct hub_rig *r, struct fake_reply *a, uint64_t *id)
{
    struct spec *s = spec_ref((struct spec *)(uintptr_t)link_spec(hub_link(r->hub, "a")));
    static struct fake_reply first;

    s->max_calls = 1;
    begin_tool(r, &first, id);
    begin_tool(r, a, id);
    spec_unref(s);
}

static void begin_resource(struct hub_rig *r, struct fake_reply *a, uint64_t *id)
{
    begin_call_of(r, a, id, "resources/read", "{\"uri\":\"hang:\"}");
}

static void begin_prompt(struct hub_rig *r, struct fake_reply *a, uint64_t *id)
{
    begin_call_of(r, a, id, "prompts/get", "{\"name\":\"hang\"}");
}

static void stop_call(struct hub_rig *r, uint64_t id)
{
    CHECK(hub_cancel(r->hub, id, CALL_BY_USER));
}

static bool is_answered(struct hub_rig *r, struct fake_reply *a)
{
    (void)r;
    return a->count == 1;
}

/* The server is on its way, and does not come. */
static void begin_parked(struct hub_rig *r, struct fake_reply *a, uint64_t *id)
{
    struct fake_server *f = fakes_find(&r->fakes, "a");

    f->connect = FAKE_CONNECT_HANG;
    CHECK_INT(hub_restart(r->hub, "a", NULL), 0);
    fakes_settle(&r->fakes);
    begin_tool(r, a, id);
}

static void begin_connecting(struct hub_rig *r, struct fake_reply *a, uint64_t *id)
{
    (void)a, (void)id;
    fakes_find(&r->fakes, "a")->connect = FAKE_CONNECT_HANG;
    CHECK_INT(hub_restart(r->hub, "a", NULL), 0);
    HUB_RIG_REACHES(r, "a", LINK_CONNECTING);
}

/* Connected, but it never says what it has. */
static void begin_listing(struct hub_rig *r, struct fake_reply *a, uint64_t *id)
{
    (void)a, (void)id;
    fakes_find(&r->fakes, "a")->hang_list[LIST_TOOLS] = true;
    CHECK_INT(hub_restart(r->hub, "a", NULL), 0);
    HUB_RIG_REACHES(r, "a", LINK_CONNECTING);
    fakes_settle(&r->fakes);
}

static void begin_retrying(struct hub_rig *r, struct fake_reply *a, uint64_t *id)
{
    (void)a, (void)id;
    fakes_find(&r->fakes, "a")->connect = FAKE_CONNECT_FAIL;
    CHECK_INT(hub_restart(r->hub, "a", NULL), 0);
    HUB_RIG_REACHES(r, "a", LINK_RECONNECTING);
}

static void stop_connecting(struct hub_rig *r, uint64_t id)
{
    (void)id;
    CHECK_INT(hub_cancel_connect(r->hub, "a", NULL), 0);
}

static bool is_not_connecting(struct hub_rig *r, struct fake_reply *a)
{
    enum link_state s = hub_rig_state(r, "a");

    (void)a;
    return s == LINK_IDLE || link_is_failed(s);
}

/* clang-format off */
static const struct operation operations[] = {
    { "a tool call",                    30000, begin_tool,       stop_call,       is_answered },
    { "a call that waits in line",      30000, begin_waiting,    stop_call,       is_answered },
    { "a call that waits for a server", 10000, begin_parked,     stop_call,       is_answered },
    { "reading a resource",             30000, begin_resource,   stop_call,       is_answered },
    { "a prompt",                       30000, begin_prompt,     stop_call,       is_answered },
    { "connecting",                     10000, begin_connecting, stop_connecting, is_not_connecting },
    { "asking what there is",           10000, begin_listing,    stop_connecting, is_not_connecting },
    /* five attempts, after 1, 2, 4, 8 and 16 s */
    { "trying again",                   31000, begin_retrying,   stop_connecting, is_not_connecting },
};
/* clang-format on */

static bool hang_other(void *ctx, struct request *r)
{
    struct fake_server *f = ctx;

    if (!span_is(r->method, "resources/read") && !span_is(r->method, "prompts/get"))
        return fake_handle(ctx, r);
    fake_hold(f, NULL, r);
    return true;
}

static void operation_begin(const struct operation *o, struct hub_rig *r, struct fake_reply *a,
                            uint64_t *id)
{
    static struct provider provider;
    struct fake_server *f;

    hub_rig_init(r);
    r->opts.retry_initial = o->begin == begin_retrying;
    hub_rig_start(r);
    f = hub_rig_server(r, "a");
    provider = fake_provider;
    provider.handle = hang_other;
    server_set_provider(f->server, &provider, f);
    fake_tool(f, "hang", FAKE_HANG);
    fake_resource(f, "hang:", "");
    fake_prompt(f, "hang", "");
    hub_rig_begin(r, "a", (struct rig_spec){ 0 });
    HUB_RIG_REACHES(r, "a", LINK_CONNECTED);
    fakes_settle(&r->fakes);
    o->begin(r, a, id);
    fakes_settle(&r->fakes);
    if (o->over(r, a))
        TAP_FAIL("%s is over before it begins", o->name);
}

/* S0-6 */
TEST(whatever_takes_long_can_be_stopped_at_any_moment)
{
    for (size_t i = 0; i < ARRAY_LEN(operations); i++)
        for (uint64_t after = 0; after <= 800; after += 400) {
            const struct operation *o = &operations[i];
            struct hub_rig r;
            struct fake_reply a = { 0 };
            uint64_t id = 0;

            operation_begin(o, &r, &a, &id);
            loop_advance(r.fakes.loop, after);
            fakes_settle(&r.fakes);
            o->stop(&r, id);
            if (!o->over(&r, &a)) /* not later: now */
                TAP_FAIL("%s goes on though it was stopped after %d ms", o->name, (int)after);
            hub_rig_done(&r);
            fake_reply_done(&a);
        }
}

/* S0-6 */
TEST(whatever_takes_long_has_a_limit)
{
    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        const struct operation *o = &operations[i];
        struct hub_rig r;
        struct fake_reply a = { 0 };
        uint64_t id = 0;

        operation_begin(o, &r, &a, &id);
        hub_rig_pass(&r, o->limit_ms - 1);
        if (o->over(&r, &a))
            TAP_FAIL("%s ends before its time", o->name);
        hub_rig_pass(&r, 1);
        if (!o->over(&r, &a))
            TAP_FAIL("%s has no end", o->name);
        hub_rig_done(&r);
        fake_reply_done(&a);
    }
}

/* ---- what things carry ---- */

/* S0-57 S1-89 */
TEST(a_tool_is_known_by_its_name_with_a_description_and_its_schema)
{
    struct flow f = { 0 };
    struct fake_server *s;
    static const struct {
        const char *id, *name, *description, *schema;
    } tools[] = {
        { "github.create_issue", "create_issue", "", "{\"type\" : \"object\",\"n\":1.0}" },
        { "github.search", "search", "Finds \"things\"", "{\"type\":\"object\"}" },
    };
    const struct entry *e;
    const struct scope all = { 0 };
    AUTO_ARENA struct arena a = { 0 };

    hub_rig_init(&f.r);
    flow_start(&f);
    s = fakes_add(&f.r.fakes, "github");
    fake_tool(s, "search", FAKE_TEXT)->description = "Finds \"things\"";
    fake_tool(s, "create_issue", FAKE_TEXT)->schema = "{\"type\" : \"object\",\"n\":1.0}";
    hub_rig_begin(&f.r, "github", (struct rig_spec){ 0 });
    fakes_settle(&f.r.fakes);

    for (size_t i = 0; i < ARRAY_LEN(tools); i++) { /* under that name it is found */
        e = catalog_find(hub_catalog(f.r.hub), &all, LIST_TOOLS, span_of(tools[i].id), NULL);
        CHECK(e != NULL);
        CHECK_SPAN(e->name, tools[i].name);
        CHECK_SPAN(entry_description(e, &a), tools[i].description);
        CHECK_SPAN(entry_schema(e), tools[i].schema);
    }
    flow_done(&f);
}

/* S0-58 */
TEST(errors_say_which_server_which_tool_and_how_long)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a = { 0 };
    struct pb_error err = { 0 };
    uint64_t id = 0;

    hub_rig_init(&r);
    r.opts.retry_initial = false;
    hub_rig_start(&r);
    CHECK(hub_rig_call(&r, "nobody", "echo", &a, NULL, &err) < 0);
    CHECK_INT(fault_of(&err), FAULT_NO_SERVER);
    CHECK_HAS(err.msg, "'nobody'");

    f = hub_rig_server(&r, "alpha");
    fake_tool(f, "hang", FAKE_HANG);
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "nobody listens there";
    hub_rig_begin(&r, "alpha", (struct rig_spec){ .timeout_ms = 1500 });
    fakes_settle(&r.fakes);
    CHECK_HAS(link_last_error(hub_link(r.hub, "alpha"))->msg, "'alpha'");
    CHECK_HAS(link_last_error(hub_link(r.hub, "alpha"))->msg, "nobody listens there");
    CHECK(hub_rig_call(&r, "alpha", "hang", &a, NULL, &err) < 0);
    CHECK_INT(fault_of(&err), FAULT_NOT_CONNECTED);
    CHECK_HAS(err.msg, "'alpha'");

    f->connect = FAKE_CONNECT_OK;
    CHECK_INT(hub_connect(r.hub, "alpha", NULL), 0);
    HUB_RIG_REACHES(&r, "alpha", LINK_CONNECTED);
    CHECK_INT(hub_rig_call(&r, "alpha", "hang", &a, NULL, &err), 0);
    hub_rig_pass(&r, 1500);
    CHECK_INT(fault_of(&a.err), FAULT_TIMEOUT);
    CHECK_STR(a.err.msg, "Tool 'hang' on server 'alpha' timed out after 1.5s");
    CHECK_INT(hub_rig_call(&r, "alpha", "hang", &a, &id, &err), 0);
    CHECK(hub_cancel(r.hub, id, CALL_BY_USER));
    CHECK_INT(fault_of(&a.err), FAULT_CANCELLED);
    CHECK_STR(a.err.msg, "Tool 'hang' on server 'alpha' was cancelled");
    fake_reply_done(&a);
    hub_rig_done(&r);
}

/* S1-5 */
TEST(a_link_counts_its_calls_and_knows_how_long_they_take)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a = { 0 };
    struct link_facts facts;

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ 0 });
    fake_tool(f, "slow", FAKE_DELAY)->ms = 100;
    fake_tool(f, "bad", FAKE_ERROR);
    fake_tool(f, "hang", FAKE_HANG);
    link_facts(hub_link(r.hub, "a"), &facts);
    CHECK_INT(facts.calls + facts.failures + facts.in_flight, 0);
    CHECK(facts.latency_ms == 0);
    CHECK_INT(facts.last_used_at, 0);
    CHECK_INT(hub_rig_call(&r, "a", "slow", &a, NULL, NULL), 0);
    fakes_settle(&r.fakes);
    link_facts(hub_link(r.hub, "a"), &facts);
    CHECK_INT(facts.in_flight, 1);
    loop_advance(r.fakes.loop, 100);
    fakes_settle(&r.fakes);
    link_facts(hub_link(r.hub, "a"), &facts);
    CHECK_INT(facts.calls, 1);
    CHECK_INT(facts.in_flight, 0);
    CHECK(facts.latency_ms == 100);
    CHECK_INT(facts.last_used_at, loop_wall(r.fakes.loop));
    /* Half the time moves the average towards it; what fails is counted, not averaged. */
    f->tools[1].ms = 50;
    CHECK_INT(hub_rig_call(&r, "a", "slow", &a, NULL, NULL), 0);
    fakes_settle(&r.fakes);
    loop_advance(r.fakes.loop, 50);
    fakes_settle(&r.fakes);
    CHECK_INT(hub_rig_call(&r, "a", "bad", &a, NULL, NULL), 0);
    fakes_settle(&r.fakes);
    CHECK_INT(hub_rig_call(&r, "a", "hang", &a, NULL, NULL), 0);
    hub_rig_pass(&r, 30000);
    link_facts(hub_link(r.hub, "a"), &facts);
    CHECK_INT(facts.calls, 4);
    CHECK_INT(facts.failures, 2);
    CHECK(facts.latency_ms > 50 && facts.latency_ms < 100);
    fake_reply_done(&a);
    hub_rig_done(&r);
}

/* S4-3 */
TEST(a_connection_is_opened_once_and_kept_for_days)
{
    enum { STEP_S = 10, DAYS_S = 2 * 86400 };
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a = { 0 };

    hub_rig_init(&r);
    hub_rig_start(&r);
    f = hub_rig_up(&r, "a", (struct rig_spec){ 0 });
    for (int s = 0; s < DAYS_S; s += STEP_S) {
        loop_advance(r.fakes.loop, STEP_S * 1000);
        fakes_settle(&r.fakes);
    }
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, NULL), 0);
    fakes_settle(&r.fakes);
    CHECK(a.result != NULL);
    CHECK_INT(f->connects, 1);
    CHECK_INT(f->closes, 0);
    CHECK_INT(hub_disconnect(r.hub, "a", NULL), 0);
    fakes_settle(&r.fakes);
    CHECK_INT(f->closes, 1);
    CHECK_INT(hub_connect(r.hub, "a", NULL), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    hub_rig_stop(&r);
    CHECK_INT(f->closes, 2);
    fake_reply_done(&a);
    hub_rig_done(&r);
}
