/* Proxies and whom they ask: a double of the hub that records what it was asked and answers what
 * the test says. */
#include "base/base.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "io/io.h"
#include "mcp/client/client.h"
#include "patchbay.h"
#include "tap.h"
#include "json/json.h"

struct double_hub {
    struct pb_loop *loop;
    const char *result;    /* what a call gives, or ... */
    struct pb_error error; /* ... how it fails: in the reply, or ... */
    bool refuses;          /* ... at once */
    bool hangs;            /* never answers by itself */
    int calls, cancels;
    uint64_t last_cancelled;
    struct call_spec asked; /* the last one; its texts are copied: */
    char server[64], method[64], params[256], subject[64];
    uint64_t timeout_ms;
};

static void answer(void *ctx)
{
    struct double_hub *d = ctx;
    struct client_reply r = { 0 };

    if (d->result)
        r.result = span_of(d->result);
    else
        r.err = &d->error;
    d->asked.reply(d->asked.ctx, &r);
}

static int on_call(void *ctx, const struct call_spec *spec, uint64_t *id, struct pb_error *err)
{
    struct double_hub *d = ctx;

    d->calls++;
    d->asked = *spec;
    d->timeout_ms = spec->timeout_ms;
    snprintf(d->server, sizeof d->server, "%s", spec->server);
    snprintf(d->method, sizeof d->method, "%s", spec->method);
    snprintf(d->params, sizeof d->params, "%.*s", SPAN_ARG(spec->params));
    snprintf(d->subject, sizeof d->subject, "%.*s", SPAN_ARG(spec->subject));
    if (d->refuses)
        return fail_copy(err, &d->error);
    *id = 40 + (uint64_t)d->calls;
    if (!d->hangs)
        loop_defer(d->loop, answer, d);
    return 0;
}

static bool on_cancel(void *ctx, uint64_t id, enum call_cancel why)
{
    struct double_hub *d = ctx;

    CHECK_INT(why, CALL_BY_USER);
    d->cancels++;
    d->last_cancelled = id;
    fault_fail(&d->error, FAULT_CANCELLED, "cancelled");
    loop_defer(d->loop, answer, d);
    return true;
}

struct rig {
    struct double_hub hub;
    struct catalog *catalog;
    struct proxy *proxy;
    int told;
    enum proxy_outcome outcome;
    char text[256];
};

static struct proxy_caller caller_of(struct rig *r)
{
    return (struct proxy_caller){ on_call, on_cancel, &r->hub, r->hub.loop };
}

/* A catalog with one server that has one tool, and the proxy of it. */
static void begin(struct rig *r)
{
    const struct spec spec = { .name = "github" };
    const struct scope everything = { 0 };
    struct proxy_caller caller;
    struct proxy **all;
    bool changed;

    *r = (struct rig){ 0 };
    r->hub.loop = loop_new(NULL);
    r->catalog = catalog_new();
    CHECK_INT(
        catalog_set(r->catalog, &spec, LIST_TOOLS,
                    SPAN("[{\"name\":\"search\",\"description\":\"Finds\",\"inputSchema\":{}}]"),
                    &changed, NULL),
        0);
    caller = caller_of(r);
    CHECK_INT(proxies_of(r->catalog, &everything, &caller, &all), 1);
    r->proxy = all[0];
    free(all);
}

static void end(struct rig *r)
{
    proxy_free(r->proxy);
    catalog_free(r->catalog);
    loop_free(r->hub.loop);
}

static void on_result(void *ctx, const struct proxy_result *result)
{
    struct rig *r = ctx;

    r->told++;
    r->outcome = result->outcome;
    snprintf(r->text, sizeof r->text, "%.*s", SPAN_ARG(result->text));
}

static uint64_t ask(struct rig *r, const char *arguments, uint64_t timeout_ms)
{
    int before = r->told;
    uint64_t id = 99;

    proxy_call(r->proxy, arguments, timeout_ms, on_result, r, &id);
    CHECK_INT(r->told, before); /* never inside */
    while (r->told == before && !r->hub.hangs)
        loop_turn(r->hub.loop, false);
    return id;
}

/* S0-94 S0-111 S0-120 */
TEST(a_proxy_carries_the_names_and_the_definition_of_its_tool)
{
    struct rig r;

    begin(&r);
    CHECK_STR(r.proxy->server, "github");
    CHECK_STR(r.proxy->name, "search");
    CHECK_STR(r.proxy->description, "Finds");
    CHECK_STR(r.proxy->definition,
              "{\"name\":\"search\",\"description\":\"Finds\",\"inputSchema\":{}}");
    CHECK_INT(r.proxy->max_retries, 1);
    end(&r);
    proxy_free(NULL);
}

/* S0-114 S0-173 */
TEST(a_call_is_routed_and_its_text_comes_back)
{
    struct rig r;
    uint64_t id;

    begin(&r);
    r.hub.result = "{\"content\":[{\"type\":\"text\",\"text\":\"mock result\"}]}";
    id = ask(&r, "{\"q\":\"x\", \"n\":1.0}", 1234);
    CHECK_INT(id, 41);
    CHECK_INT(r.told, 1);
    CHECK_INT(r.outcome, PROXY_SUCCESS);
    CHECK_STR(r.text, "mock result");
    CHECK_INT(r.hub.calls, 1);
    CHECK_STR(r.hub.server, "github");
    CHECK_STR(r.hub.method, "tools/call");
    CHECK_STR(r.hub.subject, "search");
    CHECK_STR(r.hub.params, "{\"name\":\"search\",\"arguments\":{\"q\":\"x\", \"n\":1.0}}");
    CHECK_INT(r.hub.timeout_ms, 1234);
    end(&r);
}

/* S0-112 */
TEST(no_arguments_are_an_empty_object)
{
    static const char *const nothing[] = { "", "{}", "  ", NULL };

    for (size_t i = 0; i < ARRAY_LEN(nothing); i++) {
        struct rig r;

        begin(&r);
        r.hub.result = "{\"content\":[]}";
        ask(&r, nothing[i], 0);
        CHECK_INT(r.outcome, PROXY_SUCCESS);
        CHECK_STR(r.hub.params, "{\"name\":\"search\",\"arguments\":{}}");
        CHECK_STR(r.text, "");
        end(&r);
    }
}

/* S0-113 */
TEST(arguments_that_are_no_object_reach_nobody)
{
    static const char *const bad[] = { "nonsense", "[1]",
                                       "3",        "null",
                                       "\"{}\"",   "{",
                                       "{\"a\":}", "{\"a\":1,\"a\":2}",
                                       "{} {}",    "{\"a\":{\"b\":1,\"b\":2}}" };
    struct rig r;

    begin(&r);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK_INT(ask(&r, bad[i], 0), 0);
        CHECK_INT(r.outcome, PROXY_BAD_ARGUMENTS);
        CHECK_STR(r.text, "Invalid JSON arguments");
    }
    CHECK_INT(r.hub.calls, 0);
    end(&r);
}

struct outcome_case {
    enum fault fault;
    enum pb_code code; /* without a fault */
    const char *message;
    uint64_t timeout_ms;
    enum proxy_outcome want;
    const char *text;
};

static void check_outcomes(const struct outcome_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (int at_once = 0; at_once < 2; at_once++) {
            struct rig r;

            begin(&r);
            if (cases[i].fault)
                fault_fail(&r.hub.error, cases[i].fault, "%s", cases[i].message);
            else
                fail(&r.hub.error, cases[i].code, "%s", cases[i].message);
            r.hub.refuses = at_once;
            CHECK_INT(ask(&r, "{}", cases[i].timeout_ms), at_once ? 0 : 41);
            CHECK_INT(r.told, 1);
            CHECK_INT(r.outcome, cases[i].want);
            CHECK_STR(r.text, cases[i].text);
            end(&r);
        }
    }
}

#define ADVICE(t)                                         \
    "Tool 'search' on server 'github' timed out after " t \
    ". Try a simpler request or break into steps."

/* S0-117 S0-146 */
TEST(a_timeout_is_advice_to_try_something_simpler)
{
    static const struct outcome_case cases[] = {
        { FAULT_TIMEOUT, 0, "Tool 'search' on server 'github' timed out after 30s", 0, PROXY_RETRY,
          ADVICE("30s") },
        { FAULT_TIMEOUT, 0, "Tool 'search' on server 'github' timed out after 100ms.", 0,
          PROXY_RETRY, ADVICE("100ms") },
        { FAULT_TIMEOUT, 0, "no answer", 100, PROXY_RETRY, ADVICE("100ms") },
        { FAULT_TIMEOUT, 0, "no answer", 0, PROXY_RETRY, ADVICE("30s") },
        { FAULT_NONE, PB_E_TIMEOUT, "no answer", 120000, PROXY_RETRY, ADVICE("2m") },
    };

    check_outcomes(cases, ARRAY_LEN(cases));
}

/* S0-115 S0-116 S0-118 S0-119 */
TEST(every_failure_has_its_outcome)
{
    static const struct outcome_case cases[] = {
        { FAULT_CANCELLED, 0, "stopped", 0, PROXY_CANCELLED, "" },
        { FAULT_NONE, PB_E_CANCELLED, "stopped", 0, PROXY_CANCELLED, "" },
        { FAULT_NOT_CONNECTED, 0, "gone", 0, PROXY_DISCONNECTED, "github" },
        { FAULT_NO_SERVER, 0, "unknown", 0, PROXY_DISCONNECTED, "github" },
        { FAULT_DISABLED, 0, "off", 0, PROXY_DISCONNECTED, "github" },
        { FAULT_CONNECT, 0, "Connection refused", 0, PROXY_FAILED,
          "Tool 'search' on server 'github' failed: Connection refused" },
        { FAULT_CALL, 0, "Tool execution failed", 0, PROXY_FAILED, "Tool execution failed" },
        { FAULT_BUSY, 0, "too many calls", 0, PROXY_FAILED, "too many calls" },
        { FAULT_NONE, PB_E_AUTH, "log in", 0, PROXY_FAILED, "log in" },
    };

    check_outcomes(cases, ARRAY_LEN(cases));
}

TEST(a_tool_that_says_it_failed_has_failed_with_its_words)
{
    struct rig r;

    begin(&r);
    r.hub.result = "{\"content\":[{\"type\":\"text\",\"text\":\"no such repo\"}],\"isError\":true}";
    ask(&r, "{}", 0);
    CHECK_INT(r.outcome, PROXY_FAILED);
    CHECK_STR(r.text, "no such repo");
    end(&r);
}

/* S0-96 S0-147 */
TEST(a_cancellation_reaches_the_call)
{
    struct rig r;
    uint64_t id;

    begin(&r);
    r.hub.hangs = true;
    id = ask(&r, "{}", 0);
    CHECK_INT(id, 41);
    CHECK_INT(r.told, 0);
    proxy_cancel(r.proxy, id);
    CHECK_INT(r.hub.cancels, 1);
    CHECK_INT(r.hub.last_cancelled, 41);
    while (!r.told)
        loop_turn(r.hub.loop, false);
    CHECK_INT(r.outcome, PROXY_CANCELLED);
    proxy_cancel(r.proxy, 0); /* nothing to cancel */
    CHECK_INT(r.hub.cancels, 1);
    end(&r);
}

/* S0-8 */
TEST(a_proxy_survives_reconnection_and_a_call_survives_its_proxy)
{
    struct rig r;

    begin(&r);
    CHECK(catalog_drop(r.catalog, "github")); /* the catalog's tool is gone, the proxy is not */
    r.hub.result = "{\"content\":[{\"type\":\"text\",\"text\":\"again\"}]}";
    proxy_call(r.proxy, "{}", 0, on_result, &r, NULL);
    proxy_free(TAKE(r.proxy));
    while (!r.told)
        loop_turn(r.hub.loop, false);
    CHECK_STR(r.text, "again");
    end(&r);
}

TEST(a_filter_chooses_which_proxies_there_are)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO(filter) struct filter *f = NULL;
    struct proxy_caller caller;
    struct proxy **all;
    struct rig r;

    begin(&r);
    caller = caller_of(&r);
    CHECK_INT(json_parse(&doc, SPAN("{\"servers\":[\"other\"]}"), NULL, NULL), 0);
    CHECK_INT(filter_parse(&f, json_root(&doc), NULL), 0);
    CHECK_INT(proxies_of(r.catalog, &(struct scope){ .filter = f }, &caller, &all), 0);
    free(all);
    end(&r);
}
