/* test_wire_held.c - servers that are not read from for a while, because those who wait for their
 * answers cannot take them: nothing is lost by it, also when the server dies meanwhile. */
#include "io/http/http.h"
#include "io/http/http_conn.h"
#include "mcp/client/client.h"
#include "mcp/client_rig.h"
#include "mcp/registry/registry.h"
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { CALLS = 3 };

/* Answers three calls in one write, and is gone. */
static const char dies_after_three[] =
    "while read -r l; do legacy && continue\n"
    "case $l in *tools/call*) ;; *) continue;; esac\n"
    "if [ -z \"$a\" ]; then a=$l; continue; fi\n"
    "if [ -z \"$b\" ]; then b=$l; continue; fi\n"
    "c=$l; all=$(for l in \"$a\" \"$b\" \"$c\"; do n=$((n+1)); ok \"{\\\"n\\\":$n}\"; done)\n"
    "printf '%s\\n' \"$all\"; exit 7; done\n";

enum kind { OVER_STDIO, OVER_SOCKET, KINDS };

struct held_rig {
    struct rig r;
    pid_t pid;
    struct answer answers[CALLS];
    uint64_t ids[CALLS];
    bool holds_others; /* the first answer makes those who wait for the others stop reading */
};

static pid_t spawn_on(int fd, const char *script)
{
    pid_t pid = fork();

    if (pid == 0) {
        dup2(fd, 0);
        dup2(fd, 1);
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    CHECK(pid > 0);
    close(fd);
    return pid;
}

static void open_server(struct held_rig *h, enum kind kind)
{
    struct rig_script s;
    struct pb_client_options o = rig_script(&s, dies_after_three);
    int ends[2];

    *h = (struct held_rig){ 0 };
    rig_init(&h->r, true);
    if (kind == OVER_SOCKET) {
        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
        h->pid = spawn_on(ends[0], s.text);
        o = (struct pb_client_options)PB_CLIENT_OPTIONS_INIT;
        o.fd = ends[1];
    }
    rig_open_well(&h->r, &o);
    if (kind == OVER_STDIO)
        h->pid = client_pid(h->r.client);
    free(s.text);
}

static void hold(struct held_rig *h, int from, bool on)
{
    for (int i = from; i < CALLS; i++)
        client_hold(h->r.client, h->ids[i], on);
}

static void on_reply(void *ctx, const struct client_reply *reply)
{
    struct held_rig *h = ctx;

    answer_reply(&h->answers[0], reply);
    if (h->holds_others)
        hold(h, 1, true);
}

static void call_three(struct held_rig *h)
{
    struct client_request_spec first = {
        .method = "tools/call", .params = SPAN("{\"name\":\"x\"}"), .reply = on_reply, .ctx = h
    };
    struct pb_error err;

    CHECK_INT(client_request(h->r.client, &first, &h->ids[0], &err), 0);
    for (int i = 1; i < CALLS; i++)
        h->ids[i] = rig_send(&h->r, &h->answers[i], "tools/call", "{\"name\":\"x\"}");
}

/* It is dead, and there was time to notice. */
static void until_dead(struct held_rig *h)
{
    siginfo_t info;

    CHECK_INT(waitid(P_PID, (id_t)h->pid, &info, WEXITED | WNOWAIT), 0);
    for (int i = 0; i < 4; i++) {
        for (int turn = 0; turn < 20; turn++)
            loop_turn(h->r.loop, false);
        loop_advance(h->r.loop, CHILD_LINGER_MS);
    }
}

static void check_end(struct held_rig *h, enum kind kind)
{
    RIG_UNTIL(&h->r, h->r.closed); /* the rig sees to it that this is once */
    for (int i = 0; i < 20; i++)
        loop_turn(h->r.loop, false);
    for (int i = 0; i < CALLS; i++) {
        char want[32];

        snprintf(want, sizeof want, "{\"n\":%d}", i + 1);
        CHECK_INT(h->answers[i].count, 1);
        CHECK_STR(h->answers[i].result, want);
        answer_done(&h->answers[i]);
    }
    CHECK_HAS(h->r.why.msg, kind == OVER_STDIO ? "exited with status 7" : "ended the connection");
    rig_done(&h->r);
    if (kind == OVER_SOCKET)
        CHECK_INT(waitpid(h->pid, NULL, 0), h->pid);
}

TEST(what_a_server_sent_before_it_died_comes_when_it_is_read_from_again)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct held_rig h;

        open_server(&h, (enum kind)kind);
        call_three(&h);
        hold(&h, 0, true);
        until_dead(&h);
        for (int i = 0; i < CALLS; i++)
            CHECK_INT(h.answers[i].count, 0);
        CHECK(!h.r.closed);
        hold(&h, 0, false);
        check_end(&h, (enum kind)kind);
    }
}

TEST(what_was_read_before_a_server_was_held_comes_although_it_died)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct held_rig h;

        open_server(&h, (enum kind)kind);
        h.holds_others = true;
        call_three(&h);
        RIG_UNTIL(&h.r, h.answers[0].count);
        CHECK_INT(h.answers[1].count + h.answers[2].count, 0);
        CHECK(!h.r.closed);
        until_dead(&h);
        hold(&h, 1, false);
        check_end(&h, (enum kind)kind);
    }
}

/* ---- servers over HTTP ---- */

enum { LARGE = 30 << 20 };

/* A result of this size. */
static char *large_answer(const char *id)
{
    struct buf b = { 0 };

    buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"t\":\"", id);
    memset(buf_reserve(&b, LARGE), 'x', LARGE);
    b.n += LARGE;
    buf_str(&b, "\"}}");
    return buf_take(&b);
}

static void answer_json(struct web *w, struct http_request *r, const char *method, const char *id)
{
    AUTO_FREE char *text = NULL;

    (void)w;
    if (web_legacy(r, method, id))
        return;
    if (strcmp(method, "tools/call") != 0) {
        web_result(r, id, "{}", NULL);
        return;
    }
    text = large_answer(id);
    web_reply(r, 200, WEB_JSON, text);
}

static void answer_stream(struct web *w, struct http_request *r, const char *method, const char *id)
{
    AUTO_FREE char *text = NULL;

    if (strcmp(method, "tools/call") != 0) {
        answer_json(w, r, method, id);
        return;
    }
    text = large_answer(id);
    http_begin(r, 200, WEB_SSE);
    web_event(r, text);
    http_end(r);
}

/* The transport of 2024-11-05: all answers on one stream. */
static void answer_old(struct web *w, struct http_request *r, const char *method, const char *id)
{
    AUTO_FREE char *text = NULL;
    AUTO_BUF struct buf b = { 0 };

    if (span_is(http_method(r), "GET")) {
        web_stream(w, r);
        w->held = r;
        web_write(r, "event: endpoint\ndata: /messages\n\n");
        return;
    }
    if (!span_is(http_path(r), "/messages")) {
        web_reply(r, 405, NULL, "");
        return;
    }
    web_reply(r, 202, NULL, "");
    if (strcmp(method, "tools/call") == 0)
        text = large_answer(id);
    else if (*id)
        buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}", id,
                   strcmp(method, "initialize") == 0 ? WEB_WELCOME : "{}");
    if (text || b.n)
        web_event(w->held, text ? text : buf_cstr(&b));
}

static void turns(struct rig *r)
{
    for (int i = 0; i < 300; i++)
        loop_turn(r->loop, false);
}

TEST(the_answer_of_a_server_over_http_stays_with_it_while_nobody_can_take_it)
{
    static const struct {
        void (*answer)(struct web *w, struct http_request *r, const char *method, const char *id);
        bool others; /* each answer has a connection of its own: those of others come */
    } cases[] = { { answer_json, true }, { answer_stream, true }, { answer_old, false } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
        struct site s = { 0 };
        struct answer a;
        uint64_t id;

        o.era = PB_ERA_LEGACY;
        site_open(&s, false, cases[i].answer, &o);
        id = rig_send(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
        client_hold(s.r.client, id, true);
        RIG_UNTIL(&s.r, strstr(s.w.log, "tools/call"));
        turns(&s.r);
        CHECK_INT(a.count, 0);
        CHECK(s.w.server->unread > LARGE / 2);
        if (cases[i].others)
            RIG_RESULT(&s.r, "ping", NULL, "{}");
        CHECK(s.w.server->unread > LARGE / 2);
        client_hold(s.r.client, id, false);
        RIG_UNTIL(&s.r, a.count);
        CHECK(a.result && strlen(a.result) == LARGE + strlen("{\"t\":\"\"}"));
        CHECK_INT(s.w.server->unread, 0);
        answer_done(&a);
        RIG_RESULT(&s.r, "ping", NULL, "{}");
        site_done(&s);
    }
}

/* It is over for its client: the connection is not kept for ever. */
TEST(a_held_call_over_http_can_be_cancelled)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct site s = { 0 };
    struct answer a;
    uint64_t id;

    o.era = PB_ERA_LEGACY;
    site_open(&s, false, answer_stream, &o);
    id = rig_send(&s.r, &a, "tools/call", "{\"name\":\"x\"}");
    client_hold(s.r.client, id, true);
    RIG_UNTIL(&s.r, strstr(s.w.log, "tools/call"));
    turns(&s.r);
    client_cancel(s.r.client, id, "enough");
    RIG_UNTIL(&s.r, s.w.server->unread == 0);
    CHECK_INT(a.count, 1);
    CHECK_INT(a.err.code, PB_E_CANCELLED);
    RIG_RESULT(&s.r, "ping", NULL, "{}");
    site_done(&s);
}
