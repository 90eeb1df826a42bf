/* Links to real processes and real HTTP, as the spec says. */
#include "hub/link/link.h"
#include "hub/link_rig.h"
#include "hub/spec/spec.h"
#include <errno.h>
#include <signal.h>

/* A link made by the real opener. Takes the spec. */
static void real_rig(struct link_rig *rig, struct spec *spec)
{
    link_rig_init(rig);
    spec_unref(rig->spec);
    rig->spec = spec;
    rig->opts.open = NULL;
    link_rig_make(rig);
}

static struct spec *example(void)
{
    const char *path = getenv("EXAMPLE_SERVER");

    if (!path)
        TAP_SKIP("EXAMPLE_SERVER names no server");
    return spec_stdio("alpha", path, NULL, NULL);
}

static struct spec *script(const char *text)
{
    return spec_stdio("alpha", "sh", (const char *const[]){ "-c", text, NULL }, NULL);
}

static void connect_real(struct link_rig *rig, enum link_state want)
{
    struct pb_error err;

    CHECK_INT(link_connect(rig->link, 0, &err), 0);
    FAKES_WAIT(&rig->fakes, link_is_terminal(link_state(rig->link)));
    if (link_state(rig->link) != want)
        TAP_FAIL("state %s: %s", link_state_name(link_state(rig->link)),
                 link_rig_message_of_state(rig));
}

static void done_real(struct link_rig *rig)
{
    link_close(TAKE(rig->link), CALL_SHUTDOWN, link_rig_gone, rig);
    FAKES_WAIT(&rig->fakes, rig->gone);
    link_rig_done(rig);
}

static pid_t pid_of(struct link_rig *rig)
{
    struct link_facts facts;

    link_facts(rig->link, &facts);
    return facts.pid;
}

/* S1-13 S1-65 */
TEST(a_command_that_does_not_exist_is_named)
{
    struct link_rig rig;

    real_rig(&rig, spec_stdio("alpha", "/nonexistent/tool", NULL, NULL));
    connect_real(&rig, LINK_ERROR);
    CHECK_HAS(link_rig_message_of_state(&rig),
              "Cannot connect to server 'alpha': Failed to spawn /nonexistent/tool: ");
    CHECK_HAS(link_rig_message_of_state(&rig), "o such file");
    done_real(&rig);
}

/* S4-93 */
TEST(a_real_server_is_started_called_and_stopped)
{
    struct link_rig rig;
    struct fake_reply a;
    struct link_status s;
    pid_t pid;

    real_rig(&rig, example());
    connect_real(&rig, LINK_CONNECTED);
    link_status(rig.link, &s);
    CHECK_INT(s.tools, 4);
    pid = pid_of(&rig);
    CHECK(pid > 0);
    link_rig_call_with(&rig, &a, "echo",
                       &(struct call_spec){
                           .params = SPAN("{\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"}}") });
    FAKES_WAIT(&rig.fakes, a.count);
    CHECK(a.result);
    CHECK_HAS(a.result, "hi");
    fake_reply_done(&a);
    link_disconnect(rig.link);
    FAKES_WAIT(&rig.fakes, link_is_clear(rig.link));
    CHECK_INT(kill(pid, 0), -1);
    CHECK_INT(errno, ESRCH);
    connect_real(&rig, LINK_CONNECTED); /* and once more */
    CHECK(pid_of(&rig) != pid);
    done_real(&rig);
}

/* S4-131 */
TEST(a_server_that_is_killed_fails_its_calls_and_is_disconnected)
{
    struct link_rig rig;
    struct fake_reply a;
    struct link_facts facts;

    real_rig(&rig, example());
    connect_real(&rig, LINK_CONNECTED);
    kill(pid_of(&rig), SIGSTOP); /* so that it does not answer first */
    link_rig_call(&rig, &a, "echo");
    kill(pid_of(&rig), SIGKILL);
    FAKES_WAIT(&rig.fakes, a.count);
    CHECK_INT(fault_of(&a.err), FAULT_NOT_CONNECTED);
    CHECK_HAS(a.err.msg, "was killed by signal 9");
    CHECK_INT(link_state(rig.link), LINK_DISCONNECTED);
    CHECK_HAS(link_rig_message_of_state(&rig), "Server 'alpha' went away: ");
    link_facts(rig.link, &facts);
    CHECK(facts.crashed);
    done_real(&rig);
}

TEST(a_server_that_ends_at_once_is_quoted_with_its_last_lines)
{
    struct link_rig rig;

    real_rig(&rig, script("echo first >&2; echo 'missing API key' >&2; exit 7"));
    connect_real(&rig, LINK_ERROR);
    CHECK_HAS(link_rig_message_of_state(&rig), "exited with status 7");
    CHECK_HAS(link_rig_message_of_state(&rig), "stderr: first missing API key");
    CHECK(fakes_count(&rig.fakes, EVENT_LOG, "alpha", "missing API key") >= 1);
    CHECK_HAS(fakes_json(&rig.fakes, EVENT_LOG, "alpha", "\"source\":\"stderr\""),
              "\"message\":\"missing API key\"");
    done_real(&rig);
}

TEST(a_child_gets_the_variables_of_its_spec_and_the_marker)
{
    struct link_rig rig;

    link_rig_init(&rig);
    spec_unref(rig.spec);
    rig.spec = spec_stdio(
        "alpha", "sh", (const char *const[]){ "-c", "echo \"$WHO and $MARK\" >&2; exit 1", NULL },
        (const char *const[]){ "WHO=me", NULL });
    rig.opts.open = NULL;
    rig.opts.marker = "MARK=ours";
    link_rig_make(&rig);
    connect_real(&rig, LINK_ERROR);
    CHECK_HAS(link_rig_message_of_state(&rig), "stderr: me and ours");
    done_real(&rig);
}

TEST(a_server_that_never_answers_is_given_up_and_killed)
{
    struct link_rig rig;
    struct pb_error err;
    pid_t pid;

    real_rig(&rig, script("trap '' TERM; while read l; do :; done; while :; do read l; done"));
    CHECK_INT(link_connect(rig.link, 0, &err), 0);
    loop_turn(rig.fakes.loop, false);
    pid = pid_of(&rig);
    CHECK(pid > 0);
    loop_advance(rig.fakes.loop, 10000);
    CHECK_INT(link_state(rig.link), LINK_ERROR);
    CHECK_HAS(link_rig_message_of_state(&rig), "no answer within 10s");
    while (!link_is_clear(rig.link)) { /* stdin closed, SIGTERM, SIGKILL: each has its time */
        loop_advance(rig.fakes.loop, 500);
        loop_turn(rig.fakes.loop, false);
    }
    CHECK_INT(kill(pid, 0), -1);
    done_real(&rig);
}

/* A legacy server that asks as soon as it may, and says on stderr what it hears. */
static const char asks[] =
    "while read -r l; do case $l in"
    " *server/discover*) echo '{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32601,"
    "\"message\":\"no\"}}' | sed \"s/\\\"x\\\"/$(echo $l | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/')/\";;"
    " *'\"initialize\"'*) echo \"$l\" >&2; id=$(echo \"$l\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/');"
    " echo '{\"jsonrpc\":\"2.0\",\"id\":'$id',\"result\":{\"protocolVersion\":\"2025-06-18\","
    "\"capabilities\":{},\"serverInfo\":{\"name\":\"sh\",\"version\":\"1\"}}}';;"
    " *notifications/initialized*) echo '{\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"roots/list\"}';"
    " echo '{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"sampling/createMessage\",\"params\":{}}';"
    " echo '{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}';;"
    " *) echo \"$l\" >&2;; esac; done";

TEST(questions_while_nobody_calls_get_the_plain_answers)
{
    struct link_rig rig;

    real_rig(&rig, script(asks));
    connect_real(&rig, LINK_CONNECTED);
    FAKES_WAIT(&rig.fakes, fakes_count(&rig.fakes, EVENT_LOG, NULL, "\\\"id\\\":\\\"p\\\"") == 1);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, NULL,
                          "\"capabilities\":{\"roots\":{\"listChanged\":true},\"sampling\":{},"
                          "\"elicitation\":{\"form\":{},\"url\":{}}}"),
              1);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, NULL, "\"id\":\"r\",\"result\":{\"roots\":[]}"),
              1);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, NULL,
                          "\"id\":\"s\",\"error\":{\"code\":-32601,"
                          "\"message\":\"sampling/createMessage: not implemented\"}"),
              1);
    CHECK_INT(link_state(rig.link), LINK_CONNECTED);
    done_real(&rig);
}

TEST(the_owner_may_answer_a_question_of_no_call)
{
    struct link_rig rig;

    real_rig(&rig, script(asks));
    rig.takes_questions = true;
    connect_real(&rig, LINK_CONNECTED);
    FAKES_WAIT(&rig.fakes, rig.n_asked == 2);
    CHECK_STR(rig.asked[0], "roots/list");
    CHECK_STR(rig.asked[1], "sampling/createMessage");
    link_answer(rig.questions[0], SPAN("{\"roots\":[{\"uri\":\"file:///here\"}]}"));
    FAKES_WAIT(&rig.fakes, fakes_count(&rig.fakes, EVENT_LOG, NULL, "file:///here") == 1);
    link_refuse(rig.questions[1], -1, "not today");
    FAKES_WAIT(&rig.fakes, fakes_count(&rig.fakes, EVENT_LOG, NULL, "not today") == 1);
    done_real(&rig);
}

TEST(a_spec_with_a_url_connects_over_http)
{
    static const bool guesses[] = { false, true };

    for (size_t i = 0; i < ARRAY_LEN(guesses); i++) {
        struct link_rig rig;
        struct pb_http_options o = PB_HTTP_OPTIONS_INIT;
        struct fake_reply a;
        struct pb_error err;
        char url[64];

        link_rig_init(&rig);
        fake_tool(rig.f, "echo", FAKE_ECHO);
        CHECK_INT(pb_server_http(rig.f->server, &o, &err), 0);
        snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", pb_server_port(rig.f->server));
        spec_unref(rig.spec);
        rig.spec = spec_http("alpha", url);
        rig.spec->guess_sse = guesses[i];
        rig.opts.open = NULL;
        link_rig_make(&rig);
        connect_real(&rig, LINK_CONNECTED);
        link_rig_call(&rig, &a, "echo");
        FAKES_WAIT(&rig.fakes, a.count);
        CHECK(a.result);
        CHECK_HAS(a.result, "{\\\"a\\\":1}");
        fake_reply_done(&a);
        done_real(&rig);
    }
}

TEST(a_url_where_nobody_listens_says_so)
{
    struct link_rig rig;
    struct link_facts facts;

    real_rig(&rig, spec_http("alpha", "http://127.0.0.1:1/mcp"));
    connect_real(&rig, LINK_ERROR);
    CHECK_HAS(link_rig_message_of_state(&rig), "Cannot connect to server 'alpha': ");
    CHECK_HAS(link_rig_message_of_state(&rig), "127.0.0.1:1");
    link_facts(rig.link, &facts);
    CHECK(!facts.crashed);
    done_real(&rig);
}
