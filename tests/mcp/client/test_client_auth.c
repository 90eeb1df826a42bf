/* A server that wants a token, and what a program sees of its refusals. */
#include "patchbay.h"
#include "tap.h"
#include <pthread.h>

struct told {
    int times, status;
    char challenge[256];
};

static void on_challenge(void *ctx, int status, const char *challenge)
{
    struct told *t = ctx;

    t->times++;
    t->status = status;
    snprintf(t->challenge, sizeof t->challenge, "%s", challenge ? challenge : "(none)");
}

struct place {
    struct pb_server *server;
    pthread_t thread;
    char url[64];
};

static void *run(void *ctx)
{
    struct place *p = ctx;

    pb_server_run(p->server, NULL);
    return NULL;
}

static void open_place(struct place *p)
{
    struct pb_http_options http = PB_HTTP_OPTIONS_INIT;
    struct pb_error err;

    http.token = "let-me-in";
    p->server = pb_server_new(NULL);
    if (pb_server_http(p->server, &http, &err) < 0)
        TAP_FAIL("listen: %s", err.msg);
    snprintf(p->url, sizeof p->url, "http://127.0.0.1:%d/mcp", pb_server_port(p->server));
    CHECK_INT(pthread_create(&p->thread, NULL, run, p), 0);
}

static void close_place(struct place *p)
{
    pb_server_stop(p->server);
    pthread_join(p->thread, NULL);
    pb_server_free(p->server);
}

TEST(a_refused_opening_tells_the_challenge)
{
    struct pb_client_options opts = PB_CLIENT_OPTIONS_INIT;
    struct pb_client *client = NULL;
    struct told told = { 0 };
    struct pb_error err = { 0 };
    struct place p;

    open_place(&p);
    opts.url = p.url;
    opts.on_challenge = on_challenge;
    opts.ctx = &told;
    CHECK_INT(pb_client_open(&client, &opts, &err), -PB_E_AUTH);
    CHECK(client == NULL);
    CHECK_INT(err.sys, 401);
    CHECK_HAS(err.msg, "401");
    CHECK_INT(told.times, 1);
    CHECK_INT(told.status, 401);
    CHECK_HAS(told.challenge, "Bearer");
    close_place(&p);
}

TEST(the_right_token_opens)
{
    static const char *const headers[] = { "Authorization: Bearer let-me-in", NULL };
    struct pb_client_options opts = PB_CLIENT_OPTIONS_INIT;
    struct pb_client *client = NULL;
    struct told told = { 0 };
    struct pb_error err;
    struct place p;

    open_place(&p);
    opts.url = p.url;
    opts.headers = headers;
    opts.on_challenge = on_challenge;
    opts.ctx = &told;
    if (pb_client_open(&client, &opts, &err) < 0)
        TAP_FAIL("open: %s", err.msg);
    CHECK_INT(pb_client_ping(client, &err), 0);
    CHECK_INT(told.times, 0);
    CHECK(pb_client_challenge(client) == NULL);
    pb_client_free(client);
    close_place(&p);
}
