/* server_talk.c - what a message means: the handshake of both eras, lists, calls, answers. */
#include "server.h"
#include <stdlib.h>
#include <string.h>

enum { IDLE_MS = 400, ANSWERED_MAX = 1024, EXTRA_MAX = 5 };

static uint64_t idle_at;

/* ---- plain answers ---- */

static void answer(outlet to, struct slice id, bool quoted, const char *member, const char *value)
{
    struct text t = { 0 };

    text_printf(&t, "{\"jsonrpc\":\"2.0\",\"id\":%s%.*s%s,\"%s\":%s}", quoted ? "\"" : "",
                SLICE_ARG(id), quoted ? "\"" : "", member, value);
    outlet_say(to, t.p, t.n, true);
    free(t.p);
}

#define CAPABILITIES                                                                           \
    "\"capabilities\":{\"tools\":{\"listChanged\":true},\"resources\":{\"listChanged\":true}," \
    "\"prompts\":{\"listChanged\":true},\"logging\":{}}"
#define INFO "{\"name\":\"stress\",\"version\":\"1\"}"

static const char initialized[] =
    "{\"protocolVersion\":\"2025-06-18\"," CAPABILITIES ",\"serverInfo\":" INFO "}";
static const char discovered[] =
    "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"]," CAPABILITIES
    ",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":" INFO "},\"ttlMs\":0,"
    "\"cacheScope\":\"private\"}";

static const char *list_of(struct slice method)
{
    static struct text t;

    t.n = 0;
    text_printf(&t, "{%s",
                self.modern ? "\"resultType\":\"complete\",\"ttlMs\":0,"
                              "\"cacheScope\":\"private\","
                            : "");
    if (slice_is(method, "tools/list")) {
        /* A list that changes has each time other tools behind those that are called. */
        uint32_t extra = self.kind->idle ? among(EXTRA_MAX) : 0;

        text_printf(&t, "\"tools\":[");
        for (const struct act *a = acts; a->name; a++)
            text_printf(&t, "%s{\"name\":\"%s\",\"inputSchema\":{\"type\":\"object\"}}",
                        a == acts ? "" : ",", a->name);
        for (uint32_t i = 0; i < extra; i++)
            text_printf(&t, ",{\"name\":\"extra%u\",\"inputSchema\":{\"type\":\"object\"}}",
                        among(100) * EXTRA_MAX + i);
        text_printf(&t, "]}");
    } else if (slice_is(method, "resources/list")) {
        text_printf(&t, "\"resources\":[{\"uri\":\"stress://%s/about\",\"name\":\"about\"}]}",
                    self.name);
    } else if (slice_is(method, "resources/templates/list")) {
        text_printf(&t,
                    "\"resourceTemplates\":[{\"uriTemplate\":\"stress://%s/{canary}\",\"name\":"
                    "\"any\"}]}",
                    self.name);
    } else if (slice_is(method, "prompts/list")) {
        text_printf(&t, "\"prompts\":[{\"name\":\"greet\"}]}");
    } else {
        return NULL;
    }
    return t.p;
}

/* ---- calls ---- */

static const struct act *act_of(struct slice name)
{
    for (const struct act *a = acts; a->name; a++)
        if (slice_is(name, a->name))
            return a;
    return acts;
}

/* Everybody writes whom he means beside the canary. */
static void check_address(const struct job *j, struct slice params)
{
    struct slice to = slice_get(slice_get(params, "arguments"), "to");

    if (to.p && !slice_is(to, self.name))
        violation("wrong-server %s meant %.*s", j->canary, SLICE_ARG(to));
}

static void call(outlet from, uint64_t session, struct slice id, struct slice method,
                 struct slice params)
{
    struct job *j = job_new(from, session, id, params);

    if (!j)
        return;
    check_address(j, params);
    j->act = slice_is(method, "tools/call") ? act_of(slice_get(params, "name")) : acts;
    if (self.kind->evil && self.kind->evil(j))
        return;
    job_step(j);
}

static void request(outlet from, uint64_t session, struct slice id, struct slice method,
                    struct slice params)
{
    static const char unknown[] = "{\"code\":-32601,\"message\":\"Method not found\"}";
    bool quoted = id.p[-1] == '"';
    const char *list = list_of(method);

    if (list)
        answer(from, id, quoted, "result", list);
    else if (slice_is(method, "initialize") && !self.modern)
        answer(from, id, quoted, "result", initialized);
    else if (slice_is(method, "server/discover") && self.modern)
        answer(from, id, quoted, "result", discovered);
    else if (slice_is(method, "ping") || slice_is(method, "logging/setLevel"))
        answer(from, id, quoted, "result", "{}");
    else if (slice_is(method, "tools/call") || slice_is(method, "resources/read") ||
             slice_is(method, "prompts/get"))
        call(from, session, id, method, params);
    else
        answer(from, id, quoted, "error", unknown);
}

/* ---- answers to what we asked ---- */

static void heard_answer(struct slice id, struct slice message)
{
    static char answered[ANSWERED_MAX][32];
    static unsigned at;
    int which;
    struct job *j;

    for (unsigned i = 0; i < ANSWERED_MAX; i++)
        if (slice_is(id, answered[i]))
            violation("answered-twice question %s of %s", answered[i], self.name);
    snprintf(answered[at++ % ANSWERED_MAX], sizeof answered[0], "%.*s", SLICE_ARG(id));
    j = job_of_question(id, &which);
    if (j)
        job_answered(j, which, message);
}

static void cancelled(uint64_t session, struct slice params)
{
    struct slice id = slice_get(params, "requestId");
    struct job *j = id.p ? job_find(session, id) : NULL;

    if (!j)
        return;
    if (self.kind->cancelled)
        self.kind->cancelled(j);
    else
        job_free(j);
}

/* ---- from outside ---- */

void talk_heard(outlet from, uint64_t session, struct slice message)
{
    struct slice id = slice_get(message, "id"), method = slice_get(message, "method");
    struct slice params = slice_get(message, "params");

    if (method.p && id.p)
        request(from, session, id, method, params);
    else if (slice_is(method, "notifications/cancelled"))
        cancelled(session, params);
    else if (id.p && !method.p)
        heard_answer(id, message);
}

static void drop_if_of(struct job *j, void *ctx)
{
    if (j->out == *(outlet *)ctx)
        job_free(j);
}

void talk_gone(outlet which) { job_each(drop_if_of, &which); }

static void find_soonest(struct job *j, void *ctx)
{
    uint64_t *soonest = ctx;

    if (j->wake && j->wake < *soonest)
        *soonest = j->wake;
}

int talk_patience(void)
{
    uint64_t soonest = self.kind->idle ? idle_at : UINT64_MAX;

    job_each(find_soonest, &soonest);
    if (soonest == UINT64_MAX)
        return -1;
    return soonest <= self.now ? 0 : (int)(soonest - self.now);
}

static void step_if_due(struct job *j, void *ctx)
{
    (void)ctx;
    if (j->wake && j->wake <= self.now)
        job_step(j);
}

void talk_tick(void)
{
    job_each(step_if_due, NULL);
    if (self.kind->idle && self.now >= idle_at) {
        idle_at = self.now + IDLE_MS;
        self.kind->idle();
    }
}
