/* test_kills.c - servers that are killed at random while they are asked: every call is answered
 * once, with a result of the right server or with an error, and nobody waits for ever. The number
 * of kills is KILLS in the environment, 1000 otherwise. */
#include "base/base.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/warden/warden.h"
#include "io/io.h"
#include "mcp/client/client.h"
#include "patchbay.h"
#include "program.h"
#include "json/json.h"

enum { SERVERS = 16, IN_FLIGHT = 8, KILLS_DEFAULT = 1000, STALL_MS = 20000 };

struct slot; /* a place that always has one call under way */

struct field {
    struct pb_loop *loop;
    struct hub *hub;
    long kills, wanted, results, errors, calls;
    uint64_t seed, last_answer;
    bool stopping, closed;
    struct slot {
        struct field *f;
        int server;
        long n;
        bool waiting;
    } slots[SERVERS * IN_FLIGHT];
};

static uint64_t next_random(struct field *f)
{
    f->seed = f->seed * 6364136223846793005u + 1442695040888963407u;
    return f->seed >> 33;
}

static void name_of(int server, char out[static 16]) { snprintf(out, 16, "s%d", server); }

static void ask(struct slot *s);

static void again(void *ctx)
{
    struct slot *s = ctx;

    if (!s->f->stopping)
        ask(s);
}

static void on_reply(void *ctx, const struct client_reply *reply)
{
    struct slot *s = ctx;
    struct field *f = s->f;
    char want[64];

    CHECK(s->waiting); /* answered once */
    s->waiting = false;
    f->last_answer = now_ms();
    if (reply->err) {
        f->errors++;
        CHECK(reply->err->msg[0] != '\0');
        loop_after(f->loop, 1, again, s);
        return;
    }
    snprintf(want, sizeof want, "\"s%d %ld\"", s->server, s->n);
    CHECK(memmem(reply->result.p, reply->result.n, want, strlen(want)) != NULL);
    f->results++;
    again(s);
}

static void ask(struct slot *s)
{
    char server[16], params[96];
    struct call_spec spec = { .method = "tools/call", .subject = SPAN("who"), .caller = "" };
    struct pb_error err;
    uint64_t id;

    name_of(s->server, server);
    s->n++;
    snprintf(params, sizeof params, "{\"name\":\"who\",\"arguments\":{\"n\":%ld}}", s->n);
    spec.server = server;
    spec.params = span_of(params);
    spec.reply = on_reply;
    spec.ctx = s;
    s->waiting = true;
    s->f->calls++;
    if (hub_call(s->f->hub, &spec, &id, &err) < 0) {
        s->waiting = false;
        s->f->errors++;
        loop_after(s->f->loop, 1, again, s);
    }
}

static void kill_one(struct field *f)
{
    struct link_facts facts;
    char name[16];
    struct link *l;

    name_of((int)(next_random(f) % SERVERS), name);
    l = hub_link(f->hub, name);
    link_facts(l, &facts);
    if (link_state(l) != LINK_CONNECTED || facts.pid <= 0)
        return;
    kill(facts.pid, next_random(f) % 2 ? SIGKILL : SIGTERM);
    f->kills++;
}

static void add_servers(struct field *f, const char *mark)
{
    const char *env[] = { mark, NULL };

    for (int i = 0; i < SERVERS; i++) {
        char name[16];
        struct spec *spec;
        struct pb_error err;

        name_of(i, name);
        spec = spec_stdio(name, built("tests/e2e/mob_server"),
                          (const char *const[]){ "honest", name, NULL }, env);
        if (hub_add(f->hub, spec, &err) < 0 || hub_connect(f->hub, name, &err) < 0)
            TAP_FAIL("%s", err.msg);
        spec_unref(spec);
    }
}

static void on_closed(void *ctx) { ((struct field *)ctx)->closed = true; }

static void on_while_over(void *ctx) { *(bool *)ctx = true; }

static void turn_a_while(struct field *f)
{
    struct timer timer;
    bool over = false;

    timer_init(&timer, f->loop, on_while_over, &over);
    timer_start(&timer, 1 + next_random(f) % 4);
    while (!over)
        loop_turn(f->loop, true);
    if (now_ms() - f->last_answer > STALL_MS)
        TAP_FAIL("no answer for %d ms, after %ld kills", STALL_MS, f->kills);
}

static bool anybody_waits(const struct field *f)
{
    for (size_t i = 0; i < ARRAY_LEN(f->slots); i++)
        if (f->slots[i].waiting)
            return true;
    return false;
}

TEST(servers_killed_at_random_lose_no_answer_and_hang_no_caller)
{
    struct hub_options o = HUB_OPTIONS_INIT;
    struct field *f = NEW(struct field);
    const char *kills = getenv("KILLS");
    char mark[64], id[ID_CHARS + 1];
    struct pb_error err;

    id_new(id);
    snprintf(mark, sizeof mark, "MOB_MARK=%s", id);
    f->wanted = kills ? strtol(kills, NULL, 10) : KILLS_DEFAULT;
    f->seed = 4711;
    f->loop = loop_new(NULL);
    loop_hold(f->loop);
    o.loop = f->loop;
    o.reconnect = (struct retry_policy){ RETRY_AT_ONCE, 1000000000, 0, false };
    o.restart_max = 1000000000;
    o.health_ms = 0;
    f->hub = hub_new(&o);
    CHECK_INT(warden_reap_on(f->loop, &err), 0);
    add_servers(f, mark);
    for (size_t i = 0; i < ARRAY_LEN(f->slots); i++) {
        f->slots[i] = (struct slot){ .f = f, .server = (int)(i % SERVERS) };
        ask(&f->slots[i]);
    }
    f->last_answer = now_ms();
    while (f->kills < f->wanted) {
        kill_one(f);
        turn_a_while(f);
    }
    f->stopping = true;
    while (anybody_waits(f))
        turn_a_while(f);
    CHECK_INT(f->results + f->errors, f->calls);
    printf("# %ld kills, %ld calls: %ld results, %ld errors\n", f->kills, f->calls, f->results,
           f->errors);
    CHECK(f->results > f->wanted);
    hub_close(f->hub, on_closed, f);
    while (!f->closed)
        loop_turn(f->loop, true);
    no_process_left(mark, 1000);
    loop_release(f->loop);
    loop_free(f->loop);
    free(f);
}
