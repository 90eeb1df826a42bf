/* home_server.h - a server of this process, on a thread of its own, reached over HTTP or HTTP+SSE.
 */
#pragma once
/* No test uses all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "base/base.h"
#include "patchbay.h"
#include "tap.h"
#include <pthread.h>
#include <semaphore.h>

enum { BIG = 6 * 1024 * 1024 }; /* bytes that the tool "big" answers */

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
