/* A server that leaves a process behind, in a session of its own, with real processes: it goes when
 * the server goes, not only when the program ends. */
#include "base/base.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/warden/warden.h"
#include "hub/warden/warden_impl.h"
#include "io/io.h"
#include "patchbay.h"
#include "tap.h"
#include "json/json.h"
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>

struct rig {
    struct pb_loop *loop;
    struct link *link;
    pid_t left; /* what the server left behind, as it says on its stderr */
    bool closed;
};

static void on_event(void *ctx, const struct hub_event *e)
{
    struct rig *r = ctx;

    if (e->kind == EVENT_LOG && strncmp(e->log->text, "left ", 5) == 0)
        r->left = (pid_t)strtol(e->log->text + 5, NULL, 10);
}

static void on_listed(void *ctx, struct link *l, enum list_kind kind, struct span array)
{
    (void)ctx;
    (void)l;
    (void)kind;
    (void)array;
}

static void on_closed(void *ctx) { ((struct rig *)ctx)->closed = true; }

static struct pb_loop *new_loop(void)
{
    struct pb_loop *l = loop_new(NULL);
    struct pb_error err;

    CHECK_INT(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    CHECK_INT(warden_reap_on(l, &err), 0);
    return l;
}

/* `then` is what the shell becomes after it has left its process behind. */
static void begin(struct rig *r, struct pb_loop *loop, const char *then)
{
    AUTO_BUF struct buf script = { 0 };
    struct link_options opts = {
        .connect_ms = 20000, .call_ms = 20000, .event = on_event, .listed = on_listed, .ctx = r
    };
    struct pb_error err;
    struct spec *spec;

    TAP_SKIP_UNDER_VALGRIND("shows /proc the environment that it was started with itself");
    *r = (struct rig){ .loop = loop };
    buf_printf(&script, "setsid sleep 1000 >/dev/null </dev/null & echo left $! >&2; %s", then);
    spec = spec_stdio("leaver", "/bin/sh", (const char *const[]){ "-c", buf_cstr(&script), NULL },
                      (const char *const[]){ NULL });
    opts.loop = r->loop;
    r->link = link_new(&opts, spec);
    spec_unref(spec);
    CHECK_INT(link_connect(r->link, 0, &err), 0);
}

static void nothing(void *ctx) { (void)ctx; }

static void turn(struct rig *r)
{
    loop_after(r->loop, 1, nothing, NULL);
    loop_turn(r->loop, true);
}

/* Gone and reaped: by us, who adopted it. */
static void turn_until_gone(struct rig *r)
{
    while (kill(r->left, 0) == 0)
        turn(r);
    CHECK_INT(errno, ESRCH);
}

static void end(struct rig *r)
{
    link_close(r->link, CALL_SHUTDOWN, on_closed, r);
    while (!r->closed)
        turn(r);
}

TEST(what_a_server_left_behind_goes_when_it_is_disconnected)
{
    const char *server = getenv("EXAMPLE_SERVER");
    AUTO_BUF struct buf exec = { 0 };
    struct rig r;

    if (!server)
        TAP_SKIP("EXAMPLE_SERVER does not say where the example server is");
    buf_printf(&exec, "exec '%s'", server);
    begin(&r, new_loop(), buf_cstr(&exec));
    while (link_state(r.link) == LINK_CONNECTING)
        turn(&r);
    CHECK_INT(link_state(r.link), LINK_CONNECTED);
    while (!r.left || getsid(r.left) != r.left) /* it is a process like others, and may be late */
        turn(&r);
    CHECK_INT(kill(r.left, 0), 0);
    link_disconnect(r.link);
    turn_until_gone(&r);
    end(&r);
    loop_free(r.loop);
}

TEST(what_a_server_left_behind_goes_when_it_crashes)
{
    struct rig r;

    begin(&r, new_loop(), "exit 3");
    while (link_state(r.link) == LINK_CONNECTING || !r.left)
        turn(&r);
    CHECK_INT(link_state(r.link), LINK_ERROR);
    turn_until_gone(&r);
    end(&r);
    loop_free(r.loop);
}

/* One link is closed while another server of the same program runs on. */
TEST(only_the_processes_of_that_server_go)
{
    struct rig a, b;

    begin(&a, new_loop(), "exit 3");
    begin(&b, a.loop, "exec sleep 1000"); /* never shakes hands: it stays in "connecting" */
    while (!a.left || !b.left)
        turn(&a);
    turn_until_gone(&a);
    CHECK_INT(kill(b.left, 0), 0);
    link_cancel_connect(b.link);
    turn_until_gone(&b);
    end(&a);
    end(&b);
    loop_free(a.loop);
}
