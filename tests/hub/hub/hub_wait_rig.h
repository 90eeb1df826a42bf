/* hub_wait_rig.h - a hub on a thread of its own, and what to connect it to: real processes, and a
 * server of this process behind real HTTP. */
#pragma once
#include "base/base.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "io/io.h"
#include "mcp/client_rig.h"
#include "patchbay.h"
#include "json/json.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

enum { BIG = 6 * 1024 * 1024 }; /* bytes that the tool "big" answers */

/* ---- a server of this process, reached over HTTP or HTTP+SSE ---- */

struct home {
    struct pb_server *server;
    pthread_t thread;
    char mcp[64], sse[64];
    sem_t slow_began;
};

static inline int run_echo(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_text(call, "%s", pb_arg_json(call, NULL));
}

static inline int run_many(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_reply_text(call, "one");
    pb_reply_image(call, "PNG", 3, "image/png");
    return pb_reply_text(call, "three");
}

static inline int run_broken(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_fail_rpc(call, -32050, "it broke", "{\"part\":7}");
}

static inline int run_sad(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_fail(call, "no such city");
}

static inline int run_slow(struct pb_call *call, void *ctx)
{
    struct home *h = ctx;

    sem_post(&h->slow_began);
    pb_call_wait(call, 50000);
    return pb_reply_text(call, "at last");
}

static inline int run_big(struct pb_call *call, void *ctx)
{
    AUTO_FREE char *text = mem_alloc(BIG);

    (void)ctx;
    memset(text, 'z', BIG);
    return pb_reply_bytes(call, text, BIG);
}

static inline int read_note(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_resource(call, pb_call_uri(call), "text/plain", "remember the milk");
}

static inline void *home_main(void *ctx)
{
    pb_server_run(((struct home *)ctx)->server, NULL);
    return NULL;
}

static inline void home_start(struct home *h)
{
    const char *any = "{\"type\":\"object\"}";
    const struct pb_tool tools[] = {
        { .name = "echo", .description = "Gives back", .input_schema = any, .run = run_echo },
        { .name = "many", .run = run_many },
        { .name = "broken", .run = run_broken },
        { .name = "sad", .run = run_sad },
        { .name = "slow", .run = run_slow, .ctx = h },
        { .name = "big", .run = run_big },
    };
    const struct pb_resource note = {
        .uri = "note://1",
        .name = "note",
        .mime_type = "text/plain",
        .read = read_note,
    };
    struct pb_http_options http = PB_HTTP_OPTIONS_INIT;
    struct pb_error err;

    *h = (struct home){ .server = pb_server_new(NULL) };
    sem_init(&h->slow_began, 0, 0);
    for (size_t i = 0; i < ARRAY_LEN(tools); i++)
        if (pb_server_add_tool(h->server, &tools[i], &err) < 0)
            TAP_FAIL("%s", err.msg);
    CHECK_INT(pb_server_add_resource(h->server, &note, &err), 0);
    CHECK_INT(pb_server_http(h->server, &http, &err), 0);
    snprintf(h->mcp, sizeof h->mcp, "http://127.0.0.1:%d/mcp", pb_server_port(h->server));
    snprintf(h->sse, sizeof h->sse, "http://127.0.0.1:%d/sse", pb_server_port(h->server));
    CHECK_INT(pthread_create(&h->thread, NULL, home_main, h), 0);
}

static inline void home_stop(struct home *h)
{
    pb_server_stop(h->server);
    pthread_join(h->thread, NULL);
    pb_server_free(h->server);
    sem_destroy(&h->slow_began);
}

/* ---- a hub, and what to connect it to ---- */

static inline struct hub_thread *hub_begin(void)
{
    struct hub_options o = HUB_OPTIONS_INIT;
    struct hub_thread *t;
    struct pb_error err;

    o.retry_initial = false;
    if (hub_thread_start(&t, &o, &err) < 0)
        TAP_FAIL("%s", err.msg);
    return t;
}

static inline int join(struct hub_thread *t, struct spec *s, struct pb_error *err)
{
    int rc = hub_wait_connect(t, s, err);

    spec_unref(s);
    return rc;
}

static inline void join_well(struct hub_thread *t, struct spec *s)
{
    struct pb_error err;

    if (join(t, s, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

static inline struct spec *example(const char *name)
{
    const char *path = getenv("EXAMPLE_SERVER");

    return spec_stdio(name, path ? path : "./patchbay-example-server", NULL, NULL);
}

/* A shell script with the functions of rig_sh. */
static inline struct spec *shell(const char *name, const char *body)
{
    AUTO_BUF struct buf b = { 0 };
    const char *args[] = { "-c", NULL, NULL };

    buf_str(&b, rig_sh);
    buf_str(&b, body);
    args[1] = buf_cstr(&b);
    return spec_stdio(name, "sh", args, NULL);
}

/* `cases` answers what comes after the handshake. */
static inline struct spec *script(const char *name, const char *cases)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b, "while read -r l; do legacy || case $l in %s esac; done", cases);
    return shell(name, buf_cstr(&b));
}

static inline char *servers_of(struct hub_thread *t)
{
    char *json = NULL;

    CHECK_INT(hub_wait_servers(t, &json, NULL), 0);
    return json;
}

/* The status that list_servers shows. */
static inline void check_status(struct hub_thread *t, const char *name, const char *want)
{
    AUTO_FREE char *json = servers_of(t);
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b, "\"%s\":{\"status\":\"%s", name, want);
    CHECK_HAS(json, buf_cstr(&b));
}

static inline void check_tools(struct hub_thread *t, const char *part, bool there)
{
    AUTO_FREE char *json = NULL;

    CHECK_INT(hub_wait_tools(t, NULL, &json, NULL), 0);
    if (!strstr(json, part) == there)
        TAP_FAIL("%s: %s %s", json, there ? "lacks" : "has", part);
}

#define CHECK_CALL(t, id, arguments, part)                        \
    do {                                                          \
        AUTO_FREE char *result_ = NULL;                           \
        struct pb_error err_;                                     \
        if (hub_wait_call(t, id, arguments, &result_, &err_) < 0) \
            TAP_FAIL("%s: %s", id, err_.msg);                     \
        CHECK_HAS(result_, part);                                 \
    } while (0)
#define CHECK_NO_CALL(t, id, arguments, fault)                       \
    do {                                                             \
        char *result_ = NULL;                                        \
        struct pb_error err_ = { 0 };                                \
        CHECK(hub_wait_call(t, id, arguments, &result_, &err_) < 0); \
        CHECK_INT(fault_of(&err_), fault);                           \
    } while (0)

struct ask_pid {
    struct hub_thread *t;
    const char *name;
    pid_t pid;
};

static inline void look_at_pid(struct waiter *w, void *ctx)
{
    struct ask_pid *a = ctx;
    struct link_facts facts;

    link_facts(hub_link(hub_thread_hub(a->t), a->name), &facts);
    a->pid = facts.pid;
    waiter_done(w, NULL, NULL, NULL);
}

static inline pid_t pid_of(struct hub_thread *t, const char *name)
{
    struct ask_pid a = { t, name, 0 };

    CHECK_INT(loop_wait(hub_thread_loop(t), look_at_pid, &a, 0, NULL, NULL), 0);
    return a.pid;
}

/* Until something is as it should be, which takes as long as it takes. */
#define UNTIL(cond)                                                    \
    do {                                                               \
        while (!(cond))                                                \
            nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL); \
    } while (0)
