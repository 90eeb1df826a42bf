/* The life of a server: its states, its hosts, and its graceful end. */
#include "fake_host.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#define RPC(rest) "{\"jsonrpc\":\"2.0\"," rest "}"
#define CALL(id, tool) \
    RPC("\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool "\"}")

/* A transport that drains and closes when the test says so. */
struct mock {
    struct fake *fake;
    bool lazy; /* waits for finish_drain() */
    size_t drained, closed;
    loop_fn *fn;
    void *ctx;
};

static void finish_drain(void *ctx)
{
    struct mock *m = ctx;
    loop_fn *fn = TAKE(m->fn);

    if (fn)
        fn(m->ctx);
}

static void mock_drain(void *host, loop_fn *fn, void *ctx)
{
    struct mock *m = host;

    m->drained++;
    m->fn = fn;
    m->ctx = ctx;
    if (!m->lazy)
        loop_defer(m->fake->loop, finish_drain, m);
}

struct closing {
    loop_fn *fn;
    void *ctx;
};

static void mock_is_closed(void *ctx)
{
    struct closing *c = ctx;

    c->fn(c->ctx);
    free(c);
}

static void mock_close(void *host, loop_fn *fn, void *ctx)
{
    struct mock *m = host;
    struct closing *c = NEW(struct closing);

    m->closed++;
    *c = (struct closing){ fn, ctx };
    peer_close(TAKE(m->fake->peer));
    loop_defer(m->fake->loop, mock_is_closed, c);
}

static const struct carrier_ops mock_ops = { mock_drain, mock_close };

static void turn(struct fake *f, int times)
{
    while (times--)
        loop_turn(f->loop, false);
}

static void end_without_peer(struct fake *f)
{
    pb_server_free(f->server);
    loop_free(f->loop);
    fake_forget(f);
}

/* S2-10 S2-91 */
TEST(a_server_goes_from_created_to_closed)
{
    struct fake f;
    struct mock m = { .fake = &f };
    struct pb_error err;

    fake_start(&f, PEER_STDIO, NULL);
    CHECK_STR(server_state(f.server), "created");
    server_add_carrier(f.server, &mock_ops, &m);
    CHECK_STR(server_state(f.server), "initializing");
    fake_say(&f, RPC("\"id\":1,\"method\":\"ping\""));
    CHECK_STR(server_state(f.server), "ready");
    pb_server_stop(f.server);
    CHECK_STR(server_state(f.server), "ready"); /* the loop does it */
    m.lazy = true;
    turn(&f, 2);
    CHECK_STR(server_state(f.server), "closing");
    CHECK_INT(pb_server_run(f.server, &err), -PB_E_CLOSED);
    CHECK_INT(m.drained, 1);
    CHECK_INT(m.closed, 0);
    finish_drain(&m);
    CHECK_INT(m.closed, 1);
    turn(&f, 2);
    CHECK_STR(server_state(f.server), "closed");
    end_without_peer(&f);
}

/* S2-54 S2-92 */
TEST(a_stop_cancels_and_answers_the_calls_in_flight)
{
    struct fake f;
    struct mock m = { .fake = &f };

    fake_start(&f, PEER_STDIO, NULL);
    server_add_carrier(f.server, &mock_ops, &m);
    fake_say(&f, CALL("1", "hold"));
    fake_say(&f, CALL("2", "hold"));
    pb_server_stop(f.server);
    turn(&f, 4);
    CHECK_INT(f.n_sent, 2);
    CHECK_STR(f.sent[0].text,
              RPC("\"id\":1,\"error\":{\"code\":-32603,\"message\":\"Request cancelled\"}"));
    CHECK_INT(f.n_cancelled, 2);
    CHECK_INT(f.why, CANCEL_SHUTDOWN);
    CHECK_STR(server_state(f.server), "closed");
    end_without_peer(&f);
}

/* S2-54 S2-74 */
TEST(handlers_that_still_run_get_five_seconds)
{
    struct fake f;
    struct mock m = { .fake = &f };

    for (int settles = 0; settles < 2; settles++) {
        fake_start(&f, PEER_STDIO, NULL);
        m = (struct mock){ .fake = &f };
        server_add_carrier(f.server, &mock_ops, &m);
        f.running = 1;
        pb_server_stop(f.server);
        turn(&f, 3);
        CHECK_INT(m.drained, 1);
        CHECK_STR(server_state(f.server), "closing");
        loop_advance(f.loop, 4999);
        CHECK_INT(m.closed, 0);
        if (settles) {
            f.running = 0;
            server_drained(f.server);
        } else {
            loop_advance(f.loop, 1);
            f.running = 0;
        }
        CHECK_INT(m.closed, 1);
        turn(&f, 2);
        CHECK_STR(server_state(f.server), "closed");
        end_without_peer(&f);
    }
}

/* S2-54 */
TEST(a_transport_that_does_not_drain_is_closed_after_five_seconds)
{
    struct fake f;
    struct mock m = { .fake = &f, .lazy = true };

    fake_start(&f, PEER_STDIO, NULL);
    server_add_carrier(f.server, &mock_ops, &m);
    pb_server_stop(f.server);
    turn(&f, 3);
    loop_advance(f.loop, MCP_STOP_MS - 1);
    CHECK_INT(m.closed, 0);
    loop_advance(f.loop, 1);
    CHECK_INT(m.closed, 1);
    turn(&f, 2);
    CHECK_STR(server_state(f.server), "closed");
    end_without_peer(&f);
}

TEST(nothing_new_is_begun_while_stopping)
{
    struct fake f;
    struct mock m = { .fake = &f, .lazy = true };

    fake_start(&f, PEER_STDIO, NULL);
    server_add_carrier(f.server, &mock_ops, &m);
    pb_server_stop(f.server);
    turn(&f, 2);
    FAKE_ANSWERS_WITH(&f, CALL("1", "echo"),
                      "\"code\":-32000,\"message\":\"The server is stopping\"");
    finish_drain(&m);
    turn(&f, 2);
    end_without_peer(&f);
}

/* S2-93 S2-11 */
TEST(the_end_of_the_only_transport_ends_the_run)
{
    struct fake f;
    struct mock m = { .fake = &f }, other = { .fake = &f };
    struct pb_error err;

    fake_start(&f, PEER_STDIO, NULL);
    server_add_carrier(f.server, &mock_ops, &m);
    server_add_carrier(f.server, &mock_ops, &other);
    server_carrier_ended(f.server, &other);
    turn(&f, 2);
    CHECK_STR(server_state(f.server), "initializing");
    server_carrier_ended(f.server, &m);
    CHECK_STR(server_state(f.server), "closed");
    CHECK_INT(m.drained + m.closed + other.drained + other.closed, 0); /* they ended themselves */

    /* It may be served again. */
    server_add_carrier(f.server, &mock_ops, &m);
    CHECK_STR(server_state(f.server), "initializing");
    pb_server_stop(f.server);
    CHECK_INT(pb_server_run(f.server, &err), 0);
    CHECK_STR(server_state(f.server), "closed");
    CHECK_INT(m.closed, 1);
    end_without_peer(&f);
}

TEST(the_time_to_stop_counts_from_the_end_of_input)
{
    struct fake f;
    struct mock m = { .fake = &f, .lazy = true };
    uint64_t since;

    fake_start(&f, PEER_STDIO, NULL);
    server_add_carrier(f.server, &mock_ops, &m);
    since = loop_now(f.loop);
    loop_advance(f.loop, 1000);
    server_carrier_ending(f.server, &m, since);
    CHECK_STR(server_state(f.server), "closing");
    loop_advance(f.loop, MCP_STOP_MS - 1001);
    CHECK_INT(m.closed, 0);
    loop_advance(f.loop, 1);
    CHECK_INT(m.closed, 1);
    turn(&f, 2);
    end_without_peer(&f);
}

/* S2-10: the last of its states */
TEST(a_server_that_cannot_be_run_is_in_error_and_stays_so)
{
    struct fake f;
    struct mock m = { .fake = &f };
    struct rlimit none = { 0, 0 }, before;
    struct pb_error err;

    fake_start(&f, PEER_STDIO, NULL);
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &before), 0);
    none.rlim_max = before.rlim_max;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &none), 0); /* no pipe to be woken by */
    server_add_carrier(f.server, &mock_ops, &m);
    CHECK_INT(pb_server_run(f.server, &err), -PB_E_SYSTEM);
    CHECK_STR(server_state(f.server), "error");
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &before), 0);
    CHECK_INT(pb_server_run(f.server, &err), -PB_E_CLOSED);
    CHECK_HAS(err.msg, "in state 'error'");
    end_without_peer(&f);
}

TEST(a_run_needs_something_to_serve)
{
    struct pb_server *s = pb_server_new(NULL);
    struct pb_error err;

    CHECK_INT(pb_server_run(s, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "nothing is served");
    pb_server_free(s);
    pb_server_free(NULL);
}

TEST(a_listen_stream_ends_with_a_response_at_the_stop)
{
    struct fake f;
    struct mock m = { .fake = &f };

    fake_start(&f, PEER_STATELESS, NULL);
    server_add_carrier(f.server, &mock_ops, &m);
    fake_say(&f, RPC("\"id\":9,\"method\":\"subscriptions/listen\",\"params\":{\"notifications\":{"
                     "\"toolsListChanged\":true},\"_meta\":" FAKE_META "}"));
    fake_forget(&f);
    pb_server_stop(f.server);
    turn(&f, 4);
    CHECK_HAS(fake_heard(&f), "\"id\":9,\"result\":{\"resultType\":\"complete\"");
    CHECK_HAS(fake_heard(&f), "\"" META_SUBSCRIPTION_ID "\":9");
    end_without_peer(&f);
}

/* ---- a run on the real clock -------------------------------------------------------------- */

struct real {
    struct pb_server *server;
    struct fake fake;
    struct mock mock;
};

static void start_real(struct real *r)
{
    *r = (struct real){ .server = pb_server_new(NULL) };
    r->fake.loop = pb_server_loop(r->server);
    r->fake.server = r->server;
    r->fake.caps = "";
    server_set_provider(r->server, &fake_provider, &r->fake);
    r->fake.peer = peer_new(r->server, PEER_STDIO, &fake_peer_ops, &r->fake);
    r->mock.fake = &r->fake;
    server_add_carrier(r->server, &mock_ops, &r->mock);
}

static void *stop_it(void *ctx)
{
    pb_server_stop(ctx);
    return NULL;
}

/* S2-11 S2-91 */
TEST(run_returns_when_another_thread_stops_it)
{
    struct real r;
    struct pb_error err;
    pthread_t t;

    start_real(&r);
    CHECK_INT(pthread_create(&t, NULL, stop_it, r.server), 0);
    CHECK_INT(pb_server_run(r.server, &err), 0);
    pthread_join(t, NULL);
    CHECK_STR(server_state(r.server), "closed");
    pb_server_free(r.server);
}

static void raise_it(void *ctx) { raise(*(int *)ctx); }

TEST(signals_stop_it_gracefully)
{
    static int signals[] = { SIGTERM, SIGINT };

    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        struct real r;
        struct pb_error err;

        start_real(&r);
        fake_say(&r.fake, CALL("1", "hold"));
        CHECK_INT(loop_post(r.fake.loop, raise_it, &signals[i], &err), 0);
        CHECK_INT(pb_server_run(r.server, &err), 0);
        CHECK_HAS(fake_heard(&r.fake), "Request cancelled");
        CHECK_STR(server_state(r.server), "closed");
        fake_forget(&r.fake);
        pb_server_free(r.server);
    }
}

static struct pb_server *in_handler;
static void stop_in_handler(int signo)
{
    (void)signo;
    pb_server_stop(in_handler);
}

TEST(stop_may_be_called_in_a_signal_handler)
{
    struct sigaction act = { .sa_handler = stop_in_handler };
    static int usr1 = SIGUSR1;
    struct real r;
    struct pb_error err;

    start_real(&r);
    in_handler = r.server;
    CHECK_INT(sigaction(SIGUSR1, &act, NULL), 0);
    CHECK_INT(loop_post(r.fake.loop, raise_it, &usr1, &err), 0);
    CHECK_INT(pb_server_run(r.server, &err), 0);
    CHECK_STR(server_state(r.server), "closed");
    pb_server_free(r.server);
}

TEST(a_server_can_be_freed_while_it_serves)
{
    struct real r;

    start_real(&r);
    fake_say(&r.fake, CALL("1", "hold"));
    pb_server_log(r.server, PB_LOG_ERROR, NULL, "\"on its way\"");
    pb_server_free(r.server);
    CHECK_INT(r.mock.closed, 1);
    CHECK_INT(r.fake.n_cancelled, 1);
    fake_forget(&r.fake);
}

static void on_ended(void *ctx) { (*(int *)ctx)++; }

TEST(closing_stops_gracefully_frees_and_tells_when_nothing_is_left)
{
    struct fake f;
    struct mock m = { .fake = &f, .lazy = true };
    int ended = 0;

    fake_start(&f, PEER_STDIO, NULL);
    server_add_carrier(f.server, &mock_ops, &m);
    fake_say(&f, CALL("1", "hold"));
    server_close(f.server, on_ended, &ended);
    CHECK_INT(f.n_sent, 1); /* the call is answered, the transport gets its time */
    turn(&f, 4);
    CHECK_INT(m.drained, 1);
    CHECK_INT(m.closed, 0);
    CHECK_INT(ended, 0);
    finish_drain(&m);
    turn(&f, 4);
    CHECK_INT(m.closed, 1);
    CHECK_INT(ended, 1);
    loop_free(f.loop);
    fake_forget(&f);
}

TEST(a_server_that_served_nothing_or_has_stopped_can_be_closed)
{
    for (int stopped = 0; stopped < 2; stopped++) {
        struct fake f;
        struct mock m = { .fake = &f };
        int ended = 0;

        fake_start(&f, PEER_STDIO, NULL);
        if (stopped) {
            server_add_carrier(f.server, &mock_ops, &m);
            pb_server_stop(f.server);
            turn(&f, 4);
            CHECK_STR(server_state(f.server), "closed");
        }
        server_close(f.server, on_ended, &ended);
        CHECK_INT(ended, 0); /* never inside the call */
        turn(&f, 4);
        CHECK_INT(ended, 1);
        loop_free(f.loop);
        fake_forget(&f);
    }
}

TEST(a_title_may_change_while_it_serves)
{
    struct fake f;

    fake_start(&f, PEER_STDIO, NULL);
    server_set_title(f.server, "First");
    server_set_title(f.server, "Second");
    fake_say(&f, RPC("\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                     "\"2025-11-25\"}"));
    CHECK_HAS(f.sent[0].text, "\"title\":\"Second\"");
    CHECK(!strstr(f.sent[0].text, "First"));
    fake_end(&f);
}

static void *tell_much(void *ctx)
{
    for (int i = 0; i < 200; i++) {
        server_list_changed(ctx, "tools");
        pb_server_resource_updated(ctx, "test://a");
        pb_server_log(ctx, PB_LOG_WARNING, "thread", "not JSON");
    }
    return NULL;
}

TEST(any_thread_may_tell_the_clients)
{
    struct real r;
    pthread_t threads[4];
    size_t logs = 0, updates = 0, changes = 0;

    start_real(&r);
    fake_say(&r.fake, RPC("\"id\":1,\"method\":\"initialize\""));
    fake_say(&r.fake,
             RPC("\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"test://a\"}"));
    fake_forget(&r.fake);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_INT(pthread_create(&threads[i], NULL, tell_much, r.server), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    turn(&r.fake, 2);
    for (size_t i = 0; i < r.fake.n_sent; i++) {
        logs += strstr(r.fake.sent[i].text, "\"data\":\"not JSON\"") != NULL;
        updates += strstr(r.fake.sent[i].text, "resources/updated") != NULL;
        changes += strstr(r.fake.sent[i].text, "tools/list_changed") != NULL;
    }
    CHECK_INT(logs, 800);
    CHECK_INT(updates, 800);
    CHECK_INT(changes, 1);
    fake_forget(&r.fake);
    pb_server_free(r.server);
}

static void count_drops(void *ctx, enum pb_log_level level, const char *line)
{
    (void)level;
    *(size_t *)ctx += strstr(line, "one was dropped") != NULL;
}

TEST(what_waits_to_be_told_is_bounded)
{
    struct real r;
    size_t drops = 0;

    start_real(&r);
    pb_log_to(count_drops, &drops, PB_LOG_DEBUG);
    for (int i = 0; i < LOOP_POSTS_MAX; i++)
        pb_server_resource_updated(r.server, "test://a");
    CHECK_INT(drops, 0);
    pb_server_resource_updated(r.server, "test://a");
    pb_server_log(r.server, PB_LOG_ERROR, NULL, "1");
    CHECK_INT(drops, 2);
    turn(&r.fake, 1);
    pb_server_log(r.server, PB_LOG_ERROR, NULL, "1");
    CHECK_INT(drops, 2);
    pb_log_to(NULL, NULL, PB_LOG_DEBUG);
    pb_server_free(r.server);
}

TEST(options_have_defaults_and_old_programs_a_shorter_struct)
{
    struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;
    const struct pb_server_options *o;
    struct pb_server *s = pb_server_new(NULL);

    o = server_options(s);
    CHECK_STR(o->name, "Patchbay");
    CHECK_STR(o->version, PB_VERSION);
    CHECK_INT(o->tool_timeout_ms, 60000);
    CHECK_INT(o->page_items, 1000);
    CHECK_INT(server_max_request(s), 10485760);
    pb_server_free(s);

    opts.size = offsetof(struct pb_server_options, tool_timeout_ms);
    opts.name = "old";
    opts.tool_timeout_ms = 7;
    s = pb_server_new(&opts);
    CHECK_STR(server_options(s)->name, "old");
    CHECK_INT(server_options(s)->tool_timeout_ms, 60000);
    server_set_port(s, 7);
    CHECK_INT(server_port(s), 7);
    pb_server_free(s);
}
