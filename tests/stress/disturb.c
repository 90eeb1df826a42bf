/* disturb.c - what happens to servers, to the config and to the hub's door while all others talk.
 */
#include "stress.h"
#include <signal.h>

enum { STOPPED_MAX = 8, STOP_MS = 2500 };

static struct server *any_victim(void)
{
    for (int i = 0; i < 100; i++) {
        struct server *s = &servers[among(options.servers)];

        if (!s->role->calm)
            return s;
    }
    return NULL;
}

/* ---- processes ---- */

static pid_t stopped[STOPPED_MAX];

static void wake(void *ctx)
{
    pid_t *p = ctx;

    if (*p)
        kill(*p, SIGCONT);
    *p = 0;
}

static void kill_one(void)
{
    pid_t pid = servers_victim();

    if (!pid)
        return;
    kill(pid, one_in(4) ? SIGTERM : SIGKILL);
    figures.kills++;
}

static void stop_one(void)
{
    for (int i = 0; i < STOPPED_MAX; i++) {
        if (stopped[i])
            continue;
        stopped[i] = servers_victim();
        if (stopped[i])
            kill(stopped[i], SIGSTOP);
        figures.stops++;
        later(100 + among(STOP_MS), wake, &stopped[i]);
        return;
    }
}

void disturb_no_more(void)
{
    for (int i = 0; i < STOPPED_MAX; i++) {
        later_forget(&stopped[i]);
        wake(&stopped[i]);
    }
    for (unsigned i = 0; i < options.servers; i++)
        servers[i].absent = false;
    servers_write_config(CONFIG_PLAIN);
}

/* ---- the config ---- */

static void edit_config(void)
{
    struct server *s = any_victim();

    if (!s)
        return;
    switch (among(4)) {
    case 0:
        s->absent = !s->absent;
        break;
    case 1:
        s->version++;
        break;
    default:
        break; /* white space only */
    }
    servers_write_config(CONFIG_AIRY);
    figures.edits++;
}

/* ---- by REST ---- */

static void switch_one(void)
{
    static const char *const verbs[] = { "restart",    "disable", "enable", "reconnect",
                                         "disconnect", "connect", "enable" };
    struct server *s = any_victim();
    char path[200];

    if (!s)
        return;
    snprintf(path, sizeof path, "/api/servers/%s/%s", s->name, verbs[among(ARRAY_LEN(verbs))]);
    web_send(&(struct web_order){ .method = "POST", .path = path, .body = SPAN("{}") });
    figures.switches++;
}

/* A call of somebody, at a server where calls may fail. */
static void on_calls(void *ctx, int status, struct span body)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    char path[200];

    (void)ctx;
    if (status != 200 || json_parse(&doc, body, NULL, NULL) < 0)
        return;
    JSON_FOREACH(call, json_get(json_root(&doc), "calls")) {
        struct span server = json_str(json_get(call, "server"), &a);

        if (span_has(server, SPAN("calm")) || !one_in(3))
            continue;
        snprintf(path, sizeof path, "/api/calls/%.*s/cancel",
                 SPAN_ARG(json_str(json_get(call, "id"), &a)));
        web_send(&(struct web_order){ .method = "POST", .path = path, .body = SPAN("{}") });
        figures.cancels++;
        return;
    }
}

static void cancel_one(void)
{
    static const struct web_events events = { .done = on_calls };

    web_send(
        &(struct web_order){ .method = "GET", .path = "/api/calls?limit=1", .events = &events });
}

static void reload(void)
{
    web_send(&(struct web_order){ .method = "POST", .path = "/api/reload", .body = SPAN("{}") });
}

/* ---- at the door ---- */

static void on_refused(void *ctx, int status, struct span body)
{
    (void)ctx;
    (void)body;
    if (status != 401 && status != 429 && status != 0)
        broken(LAW_PRIVATE, "a wrong token was answered %d", status);
}

static void knock(void)
{
    static const struct web_events events = { .done = on_refused };

    web_send(
        &(struct web_order){ .method = "POST",
                             .path = one_in(2) ? "/mcp" : "/api/servers",
                             .token = "wrong",
                             .body = SPAN("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"),
                             .events = &events });
}

void disturb_something(void)
{
    unsigned dice = among(100);

    if (dice < 30)
        kill_one();
    else if (dice < 45)
        stop_one();
    else if (dice < 60)
        edit_config();
    else if (dice < 80)
        switch_one();
    else if (dice < 85)
        cancel_one();
    else if (dice < 90)
        reload();
    else
        knock();
}
