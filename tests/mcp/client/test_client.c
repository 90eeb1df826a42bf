/* test_client.c - what programs see of a client: pb_client_* against servers of ours. */
#include "mcp/client_rig.h"
#include <pthread.h>
#include <stdatomic.h>

/* ---- a server of ours, on a thread of its own ---- */

struct host {
    struct pb_server *server;
    pthread_t thread;
    char url[64];
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int began, cancelled; /* calls of the tool that waits */
};

static void host_count(struct host *h, int *what)
{
    pthread_mutex_lock(&h->lock);
    ++*what;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->lock);
}

static void host_await(struct host *h, const int *what, int want)
{
    pthread_mutex_lock(&h->lock);
    while (*what < want)
        pthread_cond_wait(&h->changed, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

static int run_echo(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_text(call, "%s", pb_arg_string(call, "text"));
}

static int run_steps(struct pb_call *call, void *ctx)
{
    (void)ctx;
    for (int i = 1; i <= 3; i++)
        pb_call_progress(call, i, 3, i == 2 ? "half way" : NULL);
    return pb_reply_text(call, "done");
}

static int run_wait(struct pb_call *call, void *ctx)
{
    struct host *h = ctx;

    host_count(h, &h->began);
    if (pb_call_wait(call, 60000))
        host_count(h, &h->cancelled);
    return pb_reply_text(call, "waited");
}

static int run_ask(struct pb_call *call, void *ctx)
{
    const char *answer;
    int rc = pb_ask_form(call, "name", "Who?",
                         "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}",
                         &answer);

    (void)ctx;
    return rc < 0 ? rc : pb_reply_text(call, "%s", answer);
}

static int run_touch(struct pb_call *call, void *ctx)
{
    struct host *h = ctx;

    pb_server_resource_updated(h->server, "mem:a");
    return pb_reply_text(call, "touched");
}

static int read_a(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_resource(call, pb_call_uri(call), "text/plain", "A");
}

static int get_hello(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_message(call, "user", pb_arg_string(call, "who"));
}

static void fill(struct host *h)
{
    static const struct pb_param text[] = { { "text", PB_STRING }, { 0 } };
    static const struct pb_prompt_arg who[] = { { "who", NULL, true }, { 0 } };
    const struct pb_tool tools[] = {
        { .name = "echo", .params = text, .run = run_echo }, { .name = "steps", .run = run_steps },
        { .name = "wait", .run = run_wait, .ctx = h },       { .name = "ask", .run = run_ask },
        { .name = "touch", .run = run_touch, .ctx = h },
    };
    const struct pb_resource a = { .uri = "mem:a", .name = "a", .read = read_a };
    const struct pb_prompt hello = { .name = "hello", .args = who, .get = get_hello };
    struct pb_error err;

    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (pb_server_add_tool(h->server, &tools[i], &err) < 0)
            TAP_FAIL("%s", err.msg);
    CHECK_INT(pb_server_add_resource(h->server, &a, &err), 0);
    CHECK_INT(pb_server_add_prompt(h->server, &hello, &err), 0);
}

static void *host_main(void *ctx)
{
    struct host *h = ctx;

    pb_server_run(h->server, NULL);
    return NULL;
}

static void host_start(struct host *h)
{
    struct pb_http_options http = PB_HTTP_OPTIONS_INIT;

    *h = (struct host){ .server = pb_server_new(NULL) };
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->changed, NULL);
    fill(h);
    CHECK_INT(pb_server_http(h->server, &http, NULL), 0);
    snprintf(h->url, sizeof h->url, "http://127.0.0.1:%d/mcp", pb_server_port(h->server));
    CHECK_INT(pthread_create(&h->thread, NULL, host_main, h), 0);
}

static void host_stop(struct host *h)
{
    pb_server_stop(h->server);
    pthread_join(h->thread, NULL);
    pb_server_free(h->server);
}

/* ---- eras and transports: all of them give the same ---- */

static const struct {
    const char *name;
    enum pb_transport transport;
    bool memory;
    const char *protocol;
} ways[] = {
    { "modern over HTTP", PB_TRANSPORT_HTTP, false, "2026-07-28" },
    { "2025-11-25 over HTTP", PB_TRANSPORT_HTTP, false, "2025-11-25" },
    { "2025-06-18 over HTTP", PB_TRANSPORT_HTTP, false, "2025-06-18" },
    { "2025-03-26 over HTTP", PB_TRANSPORT_HTTP, false, "2025-03-26" },
    { "2024-11-05 over HTTP+SSE", PB_TRANSPORT_SSE, false, "2024-11-05" },
    { "modern in memory", PB_TRANSPORT_AUTO, true, "2026-07-28" },
    { "2025-11-25 in memory", PB_TRANSPORT_AUTO, true, "2025-11-25" },
};

struct seen {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char notes[4096];
    struct pb_question *question;
    char asked[512];
    int progressed;
    char progress[256];
    struct pb_error why;
    bool closed;
};

static void seen_init(struct seen *s)
{
    *s = (struct seen){ 0 };
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
}

static void on_notification(void *ctx, const char *method, const char *params)
{
    struct seen *s = ctx;

    pthread_mutex_lock(&s->lock);
    rig_append(s->notes, sizeof s->notes, span_of(method), span_of(params));
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void on_question(void *ctx, struct pb_question *q, const char *method, const char *params)
{
    struct seen *s = ctx;

    pthread_mutex_lock(&s->lock);
    s->question = q;
    snprintf(s->asked, sizeof s->asked, "%s %s", method, params);
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void on_progress(void *ctx, double progress, double total, const char *message)
{
    struct seen *s = ctx;
    size_t n = strlen(s->progress);

    s->progressed++;
    snprintf(s->progress + n, sizeof s->progress - n, "%g/%g %s\n", progress, total,
             message ? message : "-");
}

static struct pb_client *connect_way(struct host *h, size_t i, struct seen *s)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct pb_client *client = NULL;
    char sse[64];
    struct pb_error err;

    o.protocol = ways[i].protocol;
    o.transport = ways[i].transport;
    if (ways[i].memory)
        o.server = h->server;
    else
        o.url = h->url;
    if (ways[i].transport == PB_TRANSPORT_SSE) {
        snprintf(sse, sizeof sse, "http://127.0.0.1:%d/sse", pb_server_port(h->server));
        o.url = sse;
    }
    if (s) {
        o.on_notification = on_notification;
        o.on_question = on_question;
        o.can_elicit = true;
        o.ctx = s;
    }
    if (pb_client_open(&client, &o, &err) < 0)
        TAP_FAIL("%s: %s", ways[i].name, err.msg);
    return client;
}

static void check_text(struct pb_client *client, const char *tool, const char *args,
                       const char *want)
{
    struct pb_result *result = NULL;
    struct pb_error err;
    char *text;

    if (pb_client_call(client, tool, args, NULL, &result, &err) < 0)
        TAP_FAIL("%s: %s", tool, err.msg);
    text = pb_result_text(result);
    CHECK_STR(text, want);
    free(text);
    pb_result_free(result);
}

TEST(the_same_calls_work_in_every_era_and_over_every_transport)
{
    struct host h;

    host_start(&h);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct pb_client *client = connect_way(&h, i, NULL);
        struct pb_result *result = NULL;
        struct pb_error err;
        char *text;

        CHECK_STR(pb_client_protocol(client), ways[i].protocol);
        CHECK_HAS(pb_client_server(client), "\"serverInfo\":{\"name\":");
        CHECK_HAS(pb_client_server(client), "\"capabilities\":{");
        check_text(client, "echo", "{\"text\":\"Zo\xc3\xab\"}", "Zo\xc3\xab");
        CHECK_INT(pb_client_list(client, "tools", &result, &err), 0);
        CHECK_HAS(pb_result_json(result, NULL), "[{\"name\":\"echo\"");
        pb_result_free(result);
        CHECK_INT(pb_client_list(client, "resourceTemplates", &result, &err), 0);
        CHECK_STR(pb_result_json(result, NULL), "[]");
        pb_result_free(result);
        CHECK_INT(pb_client_read(client, "mem:a", &result, &err), 0);
        text = pb_result_text(result);
        CHECK_STR(text, "A");
        free(text);
        pb_result_free(result);
        CHECK_INT(pb_client_prompt(client, "hello", "{\"who\":\"you\"}", &result, &err), 0);
        text = pb_result_text(result);
        CHECK_STR(text, "you");
        free(text);
        pb_result_free(result);
        CHECK_INT(pb_client_ping(client, &err), 0);
        CHECK_INT(pb_client_notify(client, "notifications/mine", "{\"x\":1}", &err), 0);
        CHECK_INT(pb_client_call(client, "nope", "{}", NULL, &result, &err), -PB_E_REMOTE);
        CHECK_INT(err.sys, -32602);
        CHECK_HAS(err.msg, "nope");
        pb_client_free(client);
    }
    host_stop(&h);
}

TEST(progress_arrives_before_the_answer_in_every_era)
{
    struct host h;

    host_start(&h);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct pb_client *client = connect_way(&h, i, NULL);
        struct pb_request_options o = PB_REQUEST_OPTIONS_INIT;
        struct pb_result *result = NULL;
        struct seen s = { 0 };

        o.on_progress = on_progress;
        o.ctx = &s;
        CHECK_INT(pb_client_call(client, "steps", "{}", &o, &result, NULL), 0);
        CHECK_STR(s.progress, strcmp(ways[i].protocol, "2024-11-05") == 0
                                  ? "1/3 -\n2/3 -\n3/3 -\n" /* it had no messages */
                                  : "1/3 -\n2/3 half way\n3/3 -\n");
        pb_result_free(result);
        pb_client_free(client);
    }
    host_stop(&h);
}

TEST(changes_of_a_resource_are_told_in_every_era)
{
    struct host h;

    host_start(&h);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct pb_error err;
        struct seen s;
        struct pb_client *client;

        seen_init(&s);
        client = connect_way(&h, i, &s);
        if (pb_client_subscribe(client, "mem:a", &err) < 0)
            TAP_FAIL("%s: %s", ways[i].name, err.msg);
        check_text(client, "touch", "{}", "touched");
        pthread_mutex_lock(&s.lock);
        while (!strstr(s.notes, "notifications/resources/updated {\"uri\":\"mem:a\"}\n"))
            pthread_cond_wait(&s.changed, &s.lock);
        pthread_mutex_unlock(&s.lock);
        CHECK_INT(pb_client_unsubscribe(client, "mem:a", &err), 0);
        pb_client_free(client);
    }
    host_stop(&h);
}

static void *ask_the_tool(void *ctx)
{
    check_text(ctx, "ask", "{}", "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}");
    return NULL;
}

TEST(a_question_may_be_answered_from_any_thread_in_every_era)
{
    struct host h;

    host_start(&h);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct seen s;
        struct pb_client *client;
        pthread_t caller;

        if (strcmp(ways[i].protocol, "2025-06-18") < 0)
            continue; /* those could not ask */
        seen_init(&s);
        client = connect_way(&h, i, &s);
        pthread_create(&caller, NULL, ask_the_tool, client);
        pthread_mutex_lock(&s.lock);
        while (!s.question)
            pthread_cond_wait(&s.changed, &s.lock);
        pthread_mutex_unlock(&s.lock);
        CHECK_HAS(s.asked, "elicitation/create {");
        CHECK_HAS(s.asked, "\"message\":\"Who?\"");
        pb_question_answer(s.question, "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}");
        pthread_join(caller, NULL);
        pb_client_free(client);
    }
    host_stop(&h);
}

/* ---- many at once ---- */

static void *call_ten_times(void *ctx)
{
    for (int i = 0; i < 10; i++) {
        char args[64], want[32];

        snprintf(want, sizeof want, "%d-%lu", i, (unsigned long)pthread_self());
        snprintf(args, sizeof args, "{\"text\":\"%s\"}", want);
        check_text(ctx, "echo", args, want);
    }
    return NULL;
}

TEST(a_hundred_threads_may_use_one_client)
{
    struct host h;

    host_start(&h);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct pb_client *client = connect_way(&h, i, NULL);
        pthread_t threads[100];

        for (size_t t = 0; t < ARRAY_LEN(threads); t++)
            CHECK_INT(pthread_create(&threads[t], NULL, call_ten_times, client), 0);
        for (size_t t = 0; t < ARRAY_LEN(threads); t++)
            pthread_join(threads[t], NULL);
        pb_client_free(client);
    }
    host_stop(&h);
}

TEST(clients_come_and_go)
{
    struct host h;

    host_start(&h);
    for (int i = 0; i < 50; i++)
        pb_client_free(connect_way(&h, (size_t)i % ARRAY_LEN(ways), NULL));
    host_stop(&h);
}

/* ---- without waiting, cancelling, freeing ---- */

struct ended {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int count;
    struct pb_error err;
    char *json;
};

static void on_result(void *ctx, const struct pb_result *result, const struct pb_error *err)
{
    struct ended *e = ctx;

    pthread_mutex_lock(&e->lock);
    e->count++;
    if (err)
        e->err = *err;
    else
        e->json = mem_dup(pb_result_json(result, NULL));
    pthread_cond_signal(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static void ended_init(struct ended *e)
{
    *e = (struct ended){ 0 };
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->changed, NULL);
}

static void ended_wait(struct ended *e)
{
    pthread_mutex_lock(&e->lock);
    while (!e->count)
        pthread_cond_wait(&e->changed, &e->lock);
    pthread_mutex_unlock(&e->lock);
}

TEST(a_request_may_be_sent_and_cancelled_from_any_thread_in_every_era)
{
    struct host h;

    host_start(&h);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct pb_client *client = connect_way(&h, i, NULL);
        struct ended e;
        uint64_t id = 0;

        ended_init(&e);
        CHECK_INT(pb_client_send(client, "tools/call",
                                 "{\"name\":\"echo\",\"arguments\":{\"text\":"
                                 "\"x\"}}",
                                 NULL, on_result, &e, NULL, NULL),
                  0);
        ended_wait(&e);
        CHECK_HAS(e.json, "\"text\":\"x\"");
        free(e.json);
        ended_init(&e);
        CHECK_INT(pb_client_send(client, "tools/call", "{\"name\":\"wait\"}", NULL, on_result, &e,
                                 &id, NULL),
                  0);
        host_await(&h, &h.began, (int)i + 1);
        pb_client_cancel(client, id);
        pb_client_cancel(client, id);
        pb_client_cancel(client, 123456);
        ended_wait(&e);
        CHECK_INT(e.err.code, PB_E_CANCELLED);
        host_await(&h, &h.cancelled, (int)i + 1); /* the handler has heard of it */
        pb_client_free(client);
        CHECK_INT(e.count, 1);
    }
    host_stop(&h);
}

struct canceller {
    struct host *h;
    struct pb_client *client;
    atomic_uint_fast64_t id;
    int began;
};

static void on_sent(void *ctx, uint64_t id)
{
    struct canceller *c = ctx;

    atomic_store(&c->id, id);
}

static void *cancel_it(void *ctx)
{
    struct canceller *c = ctx;

    host_await(c->h, &c->h->began, c->began);
    pb_client_cancel(c->client, atomic_load(&c->id));
    return NULL;
}

TEST(a_request_that_one_thread_waits_for_may_be_cancelled_by_another)
{
    struct host h;

    host_start(&h);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct canceller c = { .h = &h, .client = connect_way(&h, i, NULL), .began = (int)i + 1 };
        struct pb_request_options opts = PB_REQUEST_OPTIONS_INIT;
        struct pb_result *result = NULL;
        pthread_t thread;

        opts.on_sent = on_sent;
        opts.ctx = &c;
        CHECK_INT(pthread_create(&thread, NULL, cancel_it, &c), 0);
        CHECK_INT(
            pb_client_request(c.client, "tools/call", "{\"name\":\"wait\"}", &opts, &result, NULL),
            -PB_E_CANCELLED);
        pthread_join(thread, NULL);
        host_await(&h, &h.cancelled, (int)i + 1);
        pb_client_free(c.client);
    }
    host_stop(&h);
}

/* What a program has that was compiled before on_sent was there. */
struct older_options {
    size_t size;
    uint32_t timeout_ms;
    pb_progress_fn *on_progress;
    enum pb_log_level log_level;
    bool wants_log;
    void *ctx;
};

TEST(options_of_a_request_are_not_read_past_their_size)
{
    struct host h;

    host_start(&h);
    for (size_t i = 0; i < 2 * ARRAY_LEN(ways); i++) {
        struct pb_client *client = connect_way(&h, i / 2, NULL);
        struct older_options *o = mem_zero(sizeof *o);
        struct pb_result *result = NULL;

        o->size = i % 2 ? sizeof *o : 0;
        CHECK_INT(pb_client_call(client, "steps", "{}", (const void *)o, &result, NULL), 0);
        pb_result_free(result);
        free(o);
        pb_client_free(client);
    }
    host_stop(&h);
}

TEST(freeing_a_client_ends_what_is_in_flight)
{
    struct host h;

    host_start(&h);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct pb_client *client = connect_way(&h, i, NULL);
        struct ended e[5];

        for (size_t n = 0; n < ARRAY_LEN(e); n++) {
            ended_init(&e[n]);
            CHECK_INT(pb_client_send(client, "tools/call", "{\"name\":\"wait\"}", NULL, on_result,
                                     &e[n], NULL, NULL),
                      0);
        }
        pb_client_free(client);
        for (size_t n = 0; n < ARRAY_LEN(e); n++) {
            CHECK_INT(e[n].count, 1);
            CHECK_INT(e[n].err.code, PB_E_CANCELLED);
        }
    }
    host_stop(&h);
}

TEST(a_question_may_outlive_its_client)
{
    struct host h;
    struct seen s;
    struct ended e;
    struct pb_client *client;

    host_start(&h);
    seen_init(&s);
    ended_init(&e);
    client = connect_way(&h, 0, &s);
    CHECK_INT(
        pb_client_send(client, "tools/call", "{\"name\":\"ask\"}", NULL, on_result, &e, NULL, NULL),
        0);
    pthread_mutex_lock(&s.lock);
    while (!s.question)
        pthread_cond_wait(&s.changed, &s.lock);
    pthread_mutex_unlock(&s.lock);
    pb_client_free(client);
    CHECK_INT(e.err.code, PB_E_CANCELLED);
    pb_question_answer(s.question, "{\"action\":\"accept\"}");
    host_stop(&h);
}

struct suicide {
    struct ended e;
    struct pb_client *client;
};

static void free_inside(void *ctx, const struct pb_result *result, const struct pb_error *err)
{
    struct suicide *x = ctx;

    pb_client_free(x->client);
    on_result(&x->e, result, err);
}

TEST(a_client_may_be_freed_by_its_own_callback)
{
    struct host h;

    host_start(&h);
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct suicide x = { .client = connect_way(&h, i, NULL) };

        ended_init(&x.e);
        CHECK_INT(pb_client_send(x.client, "tools/list", NULL, NULL, free_inside, &x, NULL, NULL),
                  0);
        ended_wait(&x.e);
        CHECK_INT(x.e.err.code, PB_OK);
        free(x.e.json);
    }
    host_stop(&h);
}

/* ---- on a loop of the program's ---- */

struct looped {
    struct pb_loop *loop;
    struct pb_client *client;
    struct pb_error err;
    int called;
    struct ended e;
};

static void on_list(void *ctx, const struct pb_result *result, const struct pb_error *err)
{
    struct looped *x = ctx;

    on_result(&x->e, result, err);
    pb_client_free(x->client);
}

static void on_opened(void *ctx, struct pb_client *client, const struct pb_error *err)
{
    struct looped *x = ctx;
    struct pb_result *result;
    struct pb_error wrong;

    x->called++;
    x->client = client;
    if (err) {
        x->err = *err;
        return;
    }
    /* Here nothing can be waited for. */
    CHECK_INT(pb_client_request(client, "tools/list", NULL, NULL, &result, &wrong), -PB_E_INVALID);
    CHECK_INT(pb_client_send(client, "tools/list", NULL, NULL, on_list, x, NULL, NULL), 0);
}

TEST(a_client_may_live_on_a_loop_of_the_program)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct looped x = { .loop = pb_loop_new() };
    struct pb_client *waiting = NULL;
    struct host h;

    host_start(&h);
    ended_init(&x.e);
    o.url = h.url;
    o.loop = x.loop;
    CHECK_INT(pb_client_open(&waiting, &o, &x.err), -PB_E_INVALID); /* this is the loop's thread */
    CHECK_HAS(x.err.msg, "pb_client_start");
    CHECK_INT(pb_client_start(&o, on_opened, &x, NULL), 0);
    CHECK_INT(x.called, 0);
    pb_loop_run(x.loop);
    CHECK_INT(x.called, 1);
    CHECK_HAS(x.e.json, "echo");
    free(x.e.json);
    pb_loop_free(x.loop);
    host_stop(&h);
}

TEST(a_failed_start_is_told_once)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct looped x = { .loop = pb_loop_new() };
    static const char *const args[] = { "-c", "exit 3", NULL };

    o.loop = x.loop;
    o.command = "/nonexistent";
    CHECK(pb_client_start(&o, on_opened, &x, NULL) < 0);
    CHECK_INT(x.called, 0);
    o.command = "sh";
    o.args = args;
    CHECK_INT(pb_client_start(&o, on_opened, &x, NULL), 0);
    pb_loop_run(x.loop);
    CHECK_INT(x.called, 1);
    CHECK(!x.client);
    CHECK_INT(x.err.code, PB_E_CLOSED);
    CHECK_HAS(x.err.msg, "exited with status 3");
    pb_loop_free(x.loop);
}

TEST(what_cannot_be_opened_leaves_nothing_behind)
{
    struct pb_client *client = (struct pb_client *)&client;
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct pb_error err;

    CHECK_INT(pb_client_open(&client, &o, &err), -PB_E_INVALID);
    o.size = 0;
    CHECK_INT(pb_client_open(&client, &o, &err), -PB_E_INVALID);
    o.size = sizeof o;
    o.command = "/nonexistent";
    CHECK_INT(pb_client_open(&client, &o, &err), -PB_E_SYSTEM);
    CHECK_HAS(err.msg, "Failed to spawn /nonexistent");
    o.command = NULL;
    o.url = "ftp://127.0.0.1/";
    CHECK_INT(pb_client_open(&client, &o, &err), -PB_E_INVALID);
    o.url = "http://127.0.0.1:1/";
    CHECK_INT(pb_client_open(&client, &o, &err), -PB_E_CLOSED);
    CHECK(client == (struct pb_client *)&client);
    pb_client_free(NULL);
}

TEST(the_end_of_a_server_is_told)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct pb_client *client = NULL;
    struct pb_result *result = NULL;
    struct rig_script script;
    struct pb_error err;

    o = rig_script(&script, "while read -r l; do legacy || { echo bye >&2; exit 9; }; done");
    CHECK_INT(pb_client_open(&client, &o, &err), 0);
    CHECK_INT(pb_client_request(client, "tools/list", NULL, NULL, &result, &err), -PB_E_CLOSED);
    CHECK_HAS(err.msg, "exited with status 9; stderr: bye");
    CHECK(!result);
    pb_client_free(client);
    free(script.text);
}
