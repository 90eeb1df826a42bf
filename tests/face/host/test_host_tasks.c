/* Tasks of modern servers, through a host: under ids of ours, for the client that started them. */
#include "face/host/host.h"
#include "face/host_rig.h"
#include "face/relay_rig.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/link/link_impl.h"
#include "hub/spec/spec.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/peer_impl.h"
#include "mcp/serve/serve.h"

#define TASKS     "\"extensions\":{\"" EXT_TASKS "\":{}}"
#define WITH      "{" TASKS "}"
#define NOT_FOUND "\"error\":{\"code\":-32602,\"message\":\"Task not found\"}"
#define OWN       "the server's 1\\u00e9/\\\""

/* A server with the tool "job", which becomes the task `own`, and what it says about it. */
struct job_server {
    struct fake_server *f;
    const char *made;   /* the result of job */
    const char *said;   /* the result of tasks/get */
    size_t asked;       /* about tasks */
    char heard[4096];   /* "method params" of the newest of that */
    bool told_of_tasks; /* did it say that the client can follow them? */
};

struct task_rig {
    struct hub_rig rig;
    struct job_server alpha, beta;
};

#define TASK(own, more)                              \
    "{\"resultType\":\"complete\",\"taskId\":\"" own \
    "\",\"status\":\"working\",\"ttlMs\":null" more "}"

static bool about_tasks(struct fake_server *f, struct request *r)
{
    struct job_server *s = f->user;
    AUTO_BUF struct buf params = { 0 };

    if (!span_starts(r->method, "tasks/"))
        return false;
    JSON_FOREACH(member, r->params)
        if (!json_key_is(member, "_meta"))
            buf_printf(&params, " %.*s=%.*s", SPAN_ARG(json_key(member)),
                       SPAN_ARG(json_text(member)));
    s->asked++;
    s->told_of_tasks = r->env.has_tasks;
    snprintf(s->heard, sizeof s->heard, "%.*s%s", SPAN_ARG(r->method), buf_cstr(&params));
    request_reply(r, span_is(r->method, "tasks/get") ? span_of(s->said) : SPAN("{}"));
    return true;
}

static void run_job(struct fake_server *f, struct fake_tool *t, struct request *r)
{
    struct job_server *s = f->user;

    (void)t;
    s->told_of_tasks = r->env.has_tasks;
    request_reply(r, span_of(s->made));
}

static void add_server(struct task_rig *t, struct job_server *s, const char *name, bool has_tasks)
{
    s->f = rig_server(&t->rig, name);
    s->f->user = s;
    s->f->era = PB_ERA_MODERN;
    s->f->has_tasks = has_tasks;
    s->f->other = about_tasks;
    s->made = "{\"resultType\":\"task\",\"taskId\":\"" OWN "\",\"status\":\"working\",\"ttlMs\":7}";
    s->said = TASK(OWN, "");
    fake_tool(s->f, "job", FAKE_RUN)->run = run_job;
    fake_resource(s->f, "x://one", "text");
}

static void task_rig_open_as(struct task_rig *t, enum spec_instance instance)
{
    *t = (struct task_rig){ 0 };
    rig_init(&t->rig, NULL);
    add_server(t, &t->alpha, "alpha", true);
    add_server(t, &t->beta, "beta", false);
    rig_spec_of(&t->rig, "alpha")->instance = instance;
    rig_start(&t->rig);
    rig_modes(&t->rig,
              "{\"only-beta\":{\"filter\":{\"servers\":[\"beta\"]}},\"all\":{\"filter\":\"all\"}}");
}

static void task_rig_open(struct task_rig *t) { task_rig_open_as(t, SPEC_SHARED); }

static void task_rig_close(struct task_rig *t) { rig_done(&t->rig); }

static void open_at(struct task_rig *t, struct down *d, const struct host_scope *scope)
{
    down_open_at(d, &t->rig, scope, PEER_STDIO, ERA_MODERN, WITH);
}

static void open_client(struct task_rig *t, struct down *d) { open_at(t, d, NULL); }

/* Sends it and returns the answer. */
static const char *ask(struct task_rig *t, struct down *d, const char *method, const char *params)
{
    size_t had = d->n;

    down_request(d, 1, method, params, "");
    FAKES_UNTIL(&t->rig.fakes, d->n > had);
    return down_last(d);
}

/* The JSON string `"taskId":...` of an answer, or of params, says. */
static const char *id_of(const char *answer, struct buf *out)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json root, id;

    out->n = 0;
    CHECK_INT(json_parse(&doc, span_of(answer), NULL, NULL), 0);
    root = json_root(&doc);
    id = json_get(json_get(root, "result"), "taskId");
    if (json_is(id, JSON_NONE))
        id = json_get(json_get(root, "params"), "taskId");
    if (!json_is(id, JSON_STRING))
        TAP_FAIL("it has no taskId: %s", answer);
    buf_add_span(out, json_text(id));
    return buf_cstr(out);
}

/* Members of params that name this task, a JSON string. */
static const char *naming(const char *id, const char *more)
{
    static struct buf out;

    out.n = 0;
    buf_printf(&out, "\"taskId\":%s,%s", id, more);
    return buf_cstr(&out);
}

static const char *start(struct task_rig *t, struct down *d, const char *tool, struct buf *id)
{
    AUTO_BUF struct buf params = { 0 };

    buf_printf(&params, "\"name\":\"%s\",\"arguments\":{},", tool);
    return id_of(ask(t, d, "tools/call", buf_cstr(&params)), id);
}

TEST(a_task_is_followed_under_an_id_of_ours)
{
    AUTO_BUF struct buf id = { 0 }, again = { 0 };
    struct task_rig t;
    struct down d;

    task_rig_open(&t);
    open_client(&t, &d);
    start(&t, &d, "alpha__job", &id);
    CHECK(t.alpha.told_of_tasks);
    CHECK_HAS(down_last(&d), "\"resultType\":\"task\"");
    CHECK_HAS(down_last(&d), "\"status\":\"working\",\"ttlMs\":7");
    CHECK(!strstr(down_last(&d), "the server's"));

    CHECK_STR(id_of(ask(&t, &d, "tasks/get", naming(buf_cstr(&id), "\"more\":[1.0],")), &again),
              buf_cstr(&id));
    CHECK_STR(t.alpha.heard, "tasks/get taskId=\"the server's 1\xc3\xa9/\\\"\" more=[1.0]");
    CHECK(t.alpha.told_of_tasks);
    CHECK_HAS(down_last(&d), "\"resultType\":\"complete\"");
    CHECK_HAS(down_last(&d), "\"ttlMs\":null");
    CHECK(!strstr(down_last(&d), "the server's"));

    CHECK_HAS(ask(&t, &d, "tasks/update",
                  naming(buf_cstr(&id), "\"inputResponses\":{\"q\":{\"action\" : 1.0}},")),
              "\"resultType\":\"complete\"");
    CHECK_STR(t.alpha.heard, "tasks/update taskId=\"the server's 1\xc3\xa9/\\\"\" "
                             "inputResponses={\"q\":{\"action\" : 1.0}}");
    CHECK_HAS(ask(&t, &d, "tasks/cancel", naming(buf_cstr(&id), "")),
              "\"resultType\":\"complete\"");
    CHECK_STR(t.alpha.heard, "tasks/cancel taskId=\"the server's 1\xc3\xa9/\\\"\"");
    CHECK_INT(t.alpha.asked, 3);
    CHECK_INT(t.beta.asked, 0);
    down_close(&d);
    task_rig_close(&t);
}

static void check_unknown(struct task_rig *t, struct down *d, const char *id)
{
    static const char *const methods[] = { "tasks/get", "tasks/update", "tasks/cancel" };
    size_t asked = t->alpha.asked + t->beta.asked;

    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        CHECK_HAS(ask(t, d, methods[i], naming(id, "\"inputResponses\":{},")), NOT_FOUND);
    CHECK_INT(t->alpha.asked + t->beta.asked, asked);
}

TEST(nobody_sees_the_tasks_of_another_client)
{
    AUTO_BUF struct buf id = { 0 }, same = { 0 };
    struct task_rig t;
    struct down a, b;

    task_rig_open(&t);
    open_client(&t, &a);
    open_client(&t, &b);
    start(&t, &a, "alpha__job", &id);
    start(&t, &b, "alpha__job", &same); /* the server gives both the same one */
    CHECK(strcmp(buf_cstr(&id), buf_cstr(&same)) != 0);
    check_unknown(&t, &b, buf_cstr(&id));
    check_unknown(&t, &a, buf_cstr(&same));
    CHECK_HAS(ask(&t, &a, "tasks/get", naming(buf_cstr(&id), "")), "\"working\"");
    down_close(&a);
    down_close(&b);
    task_rig_close(&t);
}

TEST(clients_over_stateless_http_are_told_apart_by_their_names)
{
    AUTO_BUF struct buf id = { 0 };
    struct task_rig t;
    struct down d;

    task_rig_open(&t);
    down_open(&d, &t.rig, PEER_STATELESS, ERA_MODERN, WITH);
    d.name = "one";
    start(&t, &d, "alpha__job", &id);
    d.name = "two";
    check_unknown(&t, &d, buf_cstr(&id));
    d.name = "one";
    CHECK_HAS(ask(&t, &d, "tasks/get", naming(buf_cstr(&id), "")), "\"working\"");
    down_close(&d);
    task_rig_close(&t);
}

TEST(an_id_that_we_did_not_write_is_nobodys)
{
    static const char *const made_up[] = { "\"\"",        "\".\"",     "\"the server's 1\"",
                                           "\"a.b\"",     "\"YQ.YQ\"", "\"alpha\\n1\"",
                                           "\"\\u0000.\"" };
    AUTO_BUF struct buf id = { 0 }, changed = { 0 };
    struct task_rig t;
    struct down d;

    task_rig_open(&t);
    open_client(&t, &d);
    start(&t, &d, "alpha__job", &id);
    for (size_t i = 0; i < ARRAY_LEN(made_up); i++)
        check_unknown(&t, &d, made_up[i]);
    for (size_t i = 1; i + 1 < id.n; i++) {
        changed.n = 0;
        buf_add_span(&changed, buf_span(&id));
        changed.p[i] = changed.p[i] == 'A' ? 'B' : 'A';
        CHECK_HAS(ask(&t, &d, "tasks/get", naming(buf_cstr(&changed), "")), NOT_FOUND);
        down_forget(&d);
    }
    CHECK_INT(t.alpha.asked, 0);
    CHECK_HAS(ask(&t, &d, "tasks/get", "\"taskId\":7,"),
              "\"code\":-32602,\"message\":\"taskId: expected a string, got number\"");
    CHECK_HAS(ask(&t, &d, "tasks/cancel", ""), "\"code\":-32602");
    down_close(&d);
    task_rig_close(&t);
}

TEST(a_task_goes_with_its_server)
{
    AUTO_BUF struct buf id = { 0 };
    struct task_rig t;
    struct pb_error err;
    struct down d;

    task_rig_open(&t);
    open_client(&t, &d);
    start(&t, &d, "alpha__job", &id);
    CHECK_INT(hub_remove(t.rig.hub, "alpha", &err), 0);
    fakes_settle(&t.rig.fakes);
    check_unknown(&t, &d, buf_cstr(&id));
    down_close(&d);
    task_rig_close(&t);
}

TEST(a_task_is_seen_only_where_its_server_is)
{
    static const struct {
        struct host_scope scope;
        bool seen;
    } rows[] = {
        { { .server = "alpha" }, true },        { { .mode = "all" }, true },
        { { .server = "beta" }, false },        { { .mode = "only-beta" }, false },
        { { .expose = HOST_EXTERNAL }, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf id = { 0 };
        struct task_rig t;
        struct down d;

        task_rig_open(&t);
        down_open(&d, &t.rig, PEER_STATELESS, ERA_MODERN, WITH);
        start(&t, &d, "alpha__job", &id);
        down_close(&d);
        down_open_at(&d, &t.rig, &rows[i].scope, PEER_STATELESS, ERA_MODERN, WITH);
        if (rows[i].seen)
            CHECK_HAS(ask(&t, &d, "tasks/get", naming(buf_cstr(&id), "")), "\"working\"");
        else
            check_unknown(&t, &d, buf_cstr(&id));
        down_close(&d);
        task_rig_close(&t);
    }
}

/* ---- who has tasks ------------------------------------------------------------------------ */

TEST(tasks_are_announced_where_a_server_has_them)
{
    static const struct {
        struct host_scope scope;
        bool announced;
    } rows[] = {
        { { 0 }, true },
        { { .server = "alpha" }, true },
        { { .mode = "all" }, true },
        { { .server = "beta" }, false },
        { { .mode = "only-beta" }, false },
        { { .expose = HOST_EXTERNAL }, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct task_rig t;
        struct down d;

        task_rig_open(&t);
        open_at(&t, &d, &rows[i].scope);
        ask(&t, &d, "server/discover", "");
        CHECK_HAS(down_last(&d), "\"capabilities\"");
        CHECK(!strstr(down_last(&d), EXT_TASKS) == !rows[i].announced);
        down_close(&d);
        task_rig_close(&t);
    }
}

TEST(a_legacy_client_hears_nothing_of_tasks)
{
    struct task_rig t;
    struct down d;

    task_rig_open(&t);
    down_open(&d, &t.rig, PEER_STDIO, ERA_LEGACY, "{" TASKS ",\"tasks\":{\"list\":{}}}");
    CHECK_HAS(ask(&t, &d, "tasks/get", "\"taskId\":\"x\","), "\"code\":-32601");
    ask(&t, &d, "tools/call", "\"name\":\"alpha__job\",\"task\":{\"ttl\":1},");
    CHECK(!t.alpha.told_of_tasks);
    CHECK_HAS(down_last(&d), "\"isError\":true"); /* this server makes one all the same */
    CHECK(!strstr(down_last(&d), "taskId"));
    down_close(&d);
    task_rig_close(&t);
}

TEST(a_client_that_does_not_say_so_has_no_tasks)
{
    static const char *const methods[] = { "tasks/get", "tasks/update", "tasks/cancel" };
    AUTO_BUF struct buf id = { 0 };
    struct task_rig t;
    struct down d;

    task_rig_open(&t);
    open_client(&t, &d);
    start(&t, &d, "alpha__job", &id);
    d.caps = "{}";
    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        CHECK_HAS(ask(&t, &d, methods[i], naming(buf_cstr(&id), "")),
                  "\"code\":-32021,\"message\":\"Missing required client capability\",\"data\":{"
                  "\"requiredCapabilities\":{" TASKS "}}");
    ask(&t, &d, "tools/call", "\"name\":\"alpha__job\",");
    CHECK(!t.alpha.told_of_tasks);
    CHECK_HAS(down_last(&d), "\"isError\":true");
    CHECK(!strstr(down_last(&d), "taskId"));
    down_close(&d);
    task_rig_close(&t);
}

/* ---- what servers may say ----------------------------------------------------------------- */

#define ELICIT(params) \
    ",\"inputRequests\":{\"q\":{\"method\":\"elicitation/create\",\"params\":" params "}}"

TEST(a_task_asks_only_what_its_client_can_be_asked)
{
    static const struct {
        const char *caps, *said;
        bool passes;
    } rows[] = {
        { "{" TASKS ",\"elicitation\":{}}", TASK(OWN, ELICIT("{\"message\" : \"m\"}")), true },
        { "{" TASKS ",\"elicitation\":{\"url\":{}}}",
          TASK(OWN, ELICIT("{\"mode\":\"url\",\"url\":\"https://a/\"}")), true },
        { WITH, TASK(OWN, ELICIT("{\"message\":\"m\"}")), false },
        { WITH, TASK(OWN, ",\"input\\u0052equests\":{\"q\":{\"method\":\"roots/list\"}}"), false },
        { "{" TASKS ",\"elicitation\":{}}",
          TASK(OWN, ELICIT("{\"mode\":\"url\",\"url\":\"https://a/\"}")), false },
        { "{" TASKS ",\"elicitation\":{\"url\":{}}}",
          TASK(OWN, ELICIT("{\"mode\":\"url\",\"url\":\"javascript:1\"}")), false },
        { "{" TASKS ",\"elicitation\":{\"form\":{},\"url\":{}}}",
          TASK(OWN, ELICIT("{\"mode\":\"form\",\"mode\":\"url\",\"url\":\"file:///\"}")), false },
        { "{" TASKS ",\"elicitation\":{}}", TASK(OWN, ",\"inputRequests\":[1]"), false },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf id = { 0 };
        struct task_rig t;
        struct down d;

        task_rig_open(&t);
        open_client(&t, &d);
        start(&t, &d, "alpha__job", &id);
        d.caps = rows[i].caps;
        t.alpha.said = rows[i].said;
        ask(&t, &d, "tasks/get", naming(buf_cstr(&id), ""));
        if (rows[i].passes) {
            CHECK_HAS(down_last(&d), strstr(rows[i].said, "\"inputRequests"));
        } else {
            CHECK_HAS(down_last(&d), "\"error\":{\"code\":-32000");
            CHECK(!strstr(down_last(&d), "equests\":"));
        }
        down_close(&d);
        task_rig_close(&t);
    }
}

TEST(a_server_speaks_of_the_task_that_it_was_asked_for)
{
    static const char *const lies[] = {
        TASK("another", ""),
        "{\"resultType\":\"complete\",\"status\":\"working\"}",
        "{\"resultType\":\"complete\",\"taskId\":7}",
        "{\"resultType\":\"task\",\"taskId\":\"" OWN "\"}",
        "{\"resultType\":\"input_required\",\"taskId\":\"" OWN "\",\"requestState\":\"s\"}",
    };
    AUTO_BUF struct buf id = { 0 };
    struct task_rig t;
    struct down d;

    task_rig_open(&t);
    open_client(&t, &d);
    start(&t, &d, "alpha__job", &id);
    for (size_t i = 0; i < ARRAY_LEN(lies); i++) {
        t.alpha.said = lies[i];
        CHECK_HAS(ask(&t, &d, "tasks/get", naming(buf_cstr(&id), "")),
                  "\"error\":{\"code\":-32000");
        CHECK(!strstr(down_last(&d), "\"result\":"));
    }
    down_close(&d);
    task_rig_close(&t);
}

/* The id of a server at the bound of RELAY_TASK_ID_MAX, one past it and far past it; and none. */
TEST(the_id_of_a_task_has_a_bound)
{
    static const struct {
        size_t n;
        bool fits;
    } rows[] = {
        { 1, true },
        { RELAY_TASK_ID_MAX, true },
        { RELAY_TASK_ID_MAX + 1, false },
        { 100 * RELAY_TASK_ID_MAX, false },
        { 0, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_BUF struct buf id = { 0 }, own = { 0 }, made = { 0 }, said = { 0 };
        struct task_rig t;
        struct down d;

        for (size_t k = 0; k < rows[i].n; k++)
            buf_byte(&own, 'x');
        buf_printf(&made, "{\"resultType\":\"task\",\"taskId\":\"%s\"}", buf_cstr(&own));
        buf_printf(&said, "{\"resultType\":\"complete\",\"taskId\":\"%s\"}", buf_cstr(&own));
        task_rig_open(&t);
        t.alpha.made = buf_cstr(&made);
        t.alpha.said = buf_cstr(&said);
        open_client(&t, &d);
        if (rows[i].fits) {
            start(&t, &d, "alpha__job", &id);
            CHECK_HAS(ask(&t, &d, "tasks/get", naming(buf_cstr(&id), "")), buf_cstr(&id));
        } else {
            ask(&t, &d, "tools/call", "\"name\":\"alpha__job\",");
            CHECK_HAS(down_last(&d), "\"isError\":true");
            CHECK_HAS(down_last(&d), "the id of the task");
        }
        down_close(&d);
        task_rig_close(&t);
    }
}

TEST(a_legacy_server_makes_no_task_by_its_result)
{
    struct task_rig t;
    struct down d;

    task_rig_open(&t);
    open_client(&t, &d);
    t.alpha.f->era = PB_ERA_LEGACY;
    fake_break(t.alpha.f, "gone");
    for (int i = 0; i < 10; i++) {
        loop_advance(t.rig.fakes.loop, 1000);
        fakes_settle(&t.rig.fakes);
    }
    CHECK_INT(link_era(rig_link(&t.rig, "alpha")), ERA_LEGACY);
    ask(&t, &d, "tools/call", "\"name\":\"alpha__job\",");
    CHECK_HAS(down_last(&d), "\"isError\":true");
    CHECK(!strstr(down_last(&d), "taskId"));
    down_close(&d);
    task_rig_close(&t);
}

/* As they are in the result of a call that was no task. */
TEST(the_uris_in_the_result_of_a_task_are_those_that_the_client_may_ask_for)
{
    AUTO_BUF struct buf id = { 0 };
    struct task_rig t;
    struct down d;
    const char *done =
        TASK(OWN, ",\"result\":{\"content\":[{\"type\":\"resource_link\",\"uri\":\"x://one\"},"
                  "{\"type\":\"text\",\"text\":\"x://one\"}],\"n\":1.0}");

    task_rig_open(&t);
    open_client(&t, &d);
    t.beta.said = t.alpha.said = done;
    start(&t, &d, "beta__job", &id); /* alpha came first: its URI is as it is */
    ask(&t, &d, "tasks/get", naming(buf_cstr(&id), ""));
    CHECK_HAS(down_last(&d), "{\"type\":\"text\",\"text\":\"x://one\"}],\"n\":1.0}");
    CHECK(!strstr(down_last(&d), "\"uri\":\"x://one\""));
    CHECK_HAS(down_last(&d), "\"uri\":\"");
    start(&t, &d, "alpha__job", &id);
    CHECK_HAS(ask(&t, &d, "tasks/get", naming(buf_cstr(&id), "")), "\"uri\":\"x://one\"");
    down_close(&d);
    task_rig_close(&t);
}

/* ---- being told --------------------------------------------------------------------------- */

/* Opens a stream for this task; returns what is acknowledged. */
static const char *listen_for(struct task_rig *t, struct down *d, const char *id)
{
    AUTO_BUF struct buf params = { 0 };
    size_t had = d->n;

    buf_printf(&params, "\"notifications\":{\"toolsListChanged\":true,\"taskIds\":[%s]},", id);
    down_request(d, 77, "subscriptions/listen", buf_cstr(&params), "");
    FAKES_UNTIL(&t->rig.fakes, d->n > had);
    fakes_settle(&t->rig.fakes);
    return d->sent[had];
}

static void hang_up(struct task_rig *t, struct down *d)
{
    down_say(d, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                "\"requestId\":77}}");
    fakes_settle(&t->rig.fakes);
}

/* The server tells of its task; so many messages come of it. */
static size_t tell(struct task_rig *t, struct down *d, const char *own, const char *task)
{
    size_t had = d->n;

    listen_task_changed(t->alpha.f->server, span_of(own), span_of(task));
    fakes_settle(&t->rig.fakes);
    return d->n - had;
}

#define OWN_TEXT "the server's 1\xc3\xa9/\""

TEST(who_listens_for_a_task_is_told_of_it_under_our_id)
{
    AUTO_BUF struct buf id = { 0 }, told = { 0 };
    struct task_rig t;
    struct down d;

    task_rig_open(&t);
    open_client(&t, &d);
    start(&t, &d, "alpha__job", &id);
    CHECK_HAS(listen_for(&t, &d, buf_cstr(&id)), "\"taskIds\":[");
    CHECK_HAS(down_last(&d), buf_cstr(&id));
    CHECK_INT(t.alpha.f->tasks_watched, 1);
    CHECK_INT(tell(&t, &d, OWN_TEXT, TASK(OWN, ",\"n\":1.0")), 1);
    CHECK_HAS(down_last(&d), "\"method\":\"notifications/tasks\"");
    CHECK_HAS(down_last(&d), "\"" META_SUBSCRIPTION_ID "\":77");
    CHECK_HAS(down_last(&d), "\"ttlMs\":null,\"n\":1.0}");
    CHECK_STR(id_of(down_last(&d), &told), buf_cstr(&id));
    CHECK(!strstr(down_last(&d), "the server's"));
    hang_up(&t, &d);
    CHECK_INT(t.alpha.f->tasks_unwatched, 1);
    CHECK_INT(tell(&t, &d, OWN_TEXT, TASK(OWN, "")), 0);
    down_close(&d);
    task_rig_close(&t);
}

TEST(nobody_is_told_of_the_tasks_of_another_client)
{
    AUTO_BUF struct buf id = { 0 };
    struct task_rig t;
    struct down a, b;

    task_rig_open(&t);
    open_client(&t, &a);
    open_client(&t, &b);
    start(&t, &a, "alpha__job", &id);
    CHECK(!strstr(listen_for(&t, &b, buf_cstr(&id)), "taskIds"));
    CHECK_INT(t.alpha.f->tasks_watched, 0);
    listen_for(&t, &a, buf_cstr(&id));
    CHECK_INT(tell(&t, &b, OWN_TEXT, TASK(OWN, "")), 0);
    CHECK_INT(tell(&t, &a, OWN_TEXT, TASK(OWN, "")), 1);
    down_close(&a);
    down_close(&b);
    task_rig_close(&t);
}

/* Both listen, each for a task of its own, and one process has them. */
TEST(of_two_tasks_of_one_process_each_client_is_told_of_its_own)
{
    static const char *const made[] = {
        "{\"resultType\":\"task\",\"taskId\":\"t0\",\"status\":\"working\",\"ttlMs\":7}",
        "{\"resultType\":\"task\",\"taskId\":\"t1\",\"status\":\"working\",\"ttlMs\":7}",
    };
    struct buf id[2] = { { 0 }, { 0 } };
    AUTO_BUF struct buf told = { 0 };
    struct task_rig t;
    struct down d[2];

    task_rig_open(&t);
    for (int k = 0; k < 2; k++) {
        open_client(&t, &d[k]);
        t.alpha.made = made[k];
        start(&t, &d[k], "alpha__job", &id[k]);
        listen_for(&t, &d[k], buf_cstr(&id[k]));
        down_forget(&d[k]);
    }
    CHECK_INT(tell(&t, &d[0], "t1", TASK("t1", "")), 0);
    CHECK_INT(d[1].n, 1);
    CHECK_STR(id_of(down_last(&d[1]), &told), buf_cstr(&id[1]));
    CHECK_INT(tell(&t, &d[0], "t0", TASK("t0", "")), 1);
    CHECK_INT(d[1].n, 1);
    CHECK_STR(id_of(down_last(&d[0]), &told), buf_cstr(&id[0]));
    for (int k = 0; k < 2; k++) {
        down_close(&d[k]);
        buf_done(&id[k]);
    }
    task_rig_close(&t);
}

/* A server gives both of them the same id, and one hangs up: the other is told on. */
TEST(each_client_is_told_under_its_own_id)
{
    static const enum spec_instance kinds[] = { SPEC_SHARED, SPEC_PER_CLIENT };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        struct buf id[2] = { { 0 }, { 0 } };
        AUTO_BUF struct buf told = { 0 };
        struct task_rig t;
        struct down d[2];

        task_rig_open_as(&t, kinds[i]);
        for (int k = 0; k < 2; k++) {
            open_client(&t, &d[k]);
            start(&t, &d[k], "alpha__job", &id[k]);
            listen_for(&t, &d[k], buf_cstr(&id[k]));
        }
        down_forget(&d[1]);
        CHECK_INT(tell(&t, &d[0], OWN_TEXT, TASK(OWN, "")), 1);
        CHECK_INT(d[1].n, 1);
        for (int k = 0; k < 2; k++)
            CHECK_STR(id_of(down_last(&d[k]), &told), buf_cstr(&id[k]));
        hang_up(&t, &d[0]);
        CHECK_INT(tell(&t, &d[0], OWN_TEXT, TASK(OWN, "")), 0);
        CHECK_INT(d[1].n, 2);
        down_close(&d[0]);
        down_close(&d[1]);
        buf_done(&id[0]);
        buf_done(&id[1]);
        task_rig_close(&t);
    }
}

TEST(a_client_that_listens_at_two_hosts_is_told_at_the_other_when_it_leaves_one)
{
    AUTO_BUF struct buf id = { 0 };
    struct task_rig t;
    struct down all, one;

    task_rig_open(&t);
    down_open(&all, &t.rig, PEER_STATELESS, ERA_MODERN, WITH);
    down_open_at(&one, &t.rig, &(struct host_scope){ .server = "alpha" }, PEER_STATELESS,
                 ERA_MODERN, WITH);
    start(&t, &all, "alpha__job", &id);
    listen_for(&t, &all, buf_cstr(&id));
    listen_for(&t, &one, buf_cstr(&id));
    down_forget(&all);
    CHECK_INT(tell(&t, &one, OWN_TEXT, TASK(OWN, "")), 1);
    CHECK_INT(all.n, 1);
    peer_exchange_gone(one.peer, &one);
    fakes_settle(&t.rig.fakes);
    CHECK_INT(tell(&t, &all, OWN_TEXT, TASK(OWN, "")), 1);
    down_close(&all);
    down_close(&one);
    task_rig_close(&t);
}

TEST(what_a_client_cannot_be_asked_is_not_told_either)
{
    AUTO_BUF struct buf id = { 0 };
    struct task_rig t;
    struct down d;

    task_rig_open(&t);
    open_client(&t, &d);
    start(&t, &d, "alpha__job", &id);
    listen_for(&t, &d, buf_cstr(&id));
    CHECK_INT(tell(&t, &d, OWN_TEXT, TASK(OWN, ELICIT("{\"message\":\"m\"}"))), 0);
    hang_up(&t, &d);
    d.caps = "{" TASKS ",\"elicitation\":{}}";
    listen_for(&t, &d, buf_cstr(&id));
    CHECK_INT(tell(&t, &d, OWN_TEXT, TASK(OWN, ELICIT("{\"message\":\"m\"}"))), 1);
    CHECK_HAS(down_last(&d), "\"inputRequests\":{\"q\":{");
    down_close(&d);
    task_rig_close(&t);
}

TEST(a_server_that_comes_back_is_asked_to_tell_again)
{
    AUTO_BUF struct buf id = { 0 };
    struct task_rig t;
    struct down d;

    task_rig_open(&t);
    open_client(&t, &d);
    start(&t, &d, "alpha__job", &id);
    listen_for(&t, &d, buf_cstr(&id));
    fake_break(t.alpha.f, "gone");
    for (int i = 0; i < 10; i++) {
        loop_advance(t.rig.fakes.loop, 1000);
        fakes_settle(&t.rig.fakes);
    }
    CHECK_INT(link_state(rig_link(&t.rig, "alpha")), LINK_CONNECTED);
    CHECK_INT(t.alpha.f->tasks_watched, 2);
    down_forget(&d);
    CHECK_INT(tell(&t, &d, OWN_TEXT, TASK(OWN, "")), 1);
    CHECK_HAS(down_last(&d), "notifications/tasks");
    down_close(&d);
    task_rig_close(&t);
}

/* The streams of clients end after what they listen for. */
TEST(a_server_can_go_while_its_task_is_listened_for)
{
    AUTO_BUF struct buf id = { 0 };
    struct task_rig t;
    struct pb_error err;
    struct down d;

    task_rig_open(&t);
    open_client(&t, &d);
    start(&t, &d, "alpha__job", &id);
    listen_for(&t, &d, buf_cstr(&id));
    CHECK_INT(hub_remove(t.rig.hub, "alpha", &err), 0);
    fakes_settle(&t.rig.fakes);
    hang_up(&t, &d);
    down_close(&d);
    task_rig_close(&t);
}

/* MCP_SUBSCRIPTIONS_MAX */
TEST(so_many_tasks_of_a_server_are_listened_for_and_no_more)
{
    struct task_rig t;
    struct link *l;

    task_rig_open(&t);
    l = rig_link(&t.rig, "alpha");
    for (int on = 1; on >= 0; on--) {
        for (unsigned i = 0; i < MCP_SUBSCRIPTIONS_MAX + 10; i++) {
            char id[32];

            snprintf(id, sizeof id, "t%u", i);
            link_watch_task(l, "somebody", span_of(id), on);
            CHECK(l->tasks.keys.n <= MCP_SUBSCRIPTIONS_MAX);
        }
        CHECK_INT(l->tasks.keys.n, on ? MCP_SUBSCRIPTIONS_MAX : 0);
        CHECK_INT(link_watches_tasks(l), on);
    }
    task_rig_close(&t);
}
