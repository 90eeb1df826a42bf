/* Links to real processes and real HTTP, as the spec says. */
#include "hub/link/link.h"
#include "hub/link_kit.h"
#include "hub/spec/spec.h"
#include <errno.h>
#include <signal.h>

/* A link made by the real opener. Takes the spec. */
static void real_kit(struct link_kit *k, struct spec *spec)
{
    kit_init(k);
    spec_unref(k->spec);
    k->spec = spec;
    k->opts.open = NULL;
    kit_link(k);
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

static void connect_real(struct link_kit *k, enum link_state want)
{
    struct pb_error err;

    CHECK_INT(link_connect(k->link, 0, &err), 0);
    FAKES_WAIT(&k->fakes, link_is_terminal(link_state(k->link)));
    if (link_state(k->link) != want)
        TAP_FAIL("state %s: %s", link_state_name(link_state(k->link)), kit_message_of_state(k));
}

static void done_real(struct link_kit *k)
{
    link_close(TAKE(k->link), CALL_SHUTDOWN, kit_gone, k);
    FAKES_WAIT(&k->fakes, k->gone);
    kit_done(k);
}

static pid_t pid_of(struct link_kit *k)
{
    struct link_facts facts;

    link_facts(k->link, &facts);
    return facts.pid;
}

/* S0-37 S1-13 S1-65 */
TEST(a_command_that_does_not_exist_is_named)
{
    struct link_kit k;

    real_kit(&k, spec_stdio("alpha", "/nonexistent/tool", NULL, NULL));
    connect_real(&k, LINK_ERROR);
    CHECK_HAS(kit_message_of_state(&k),
              "Cannot connect to server 'alpha': Failed to spawn /nonexistent/tool: ");
    CHECK_HAS(kit_message_of_state(&k), "o such file");
    done_real(&k);
}

/* S0-37 S4-93 */
TEST(a_real_server_is_started_called_and_stopped)
{
    struct link_kit k;
    struct fake_reply a;
    struct link_status s;
    pid_t pid;

    real_kit(&k, example());
    connect_real(&k, LINK_CONNECTED);
    link_status(k.link, &s);
    CHECK_INT(s.tools, 4);
    pid = pid_of(&k);
    CHECK(pid > 0);
    kit_call_with(&k, &a, "echo",
                  &(struct call_spec){
                      .params = SPAN("{\"name\":\"echo\",\"arguments\":{\"text\":\"hi\"}}") });
    FAKES_WAIT(&k.fakes, a.count);
    CHECK(a.result);
    CHECK_HAS(a.result, "hi");
    fake_reply_done(&a);
    link_disconnect(k.link);
    FAKES_WAIT(&k.fakes, link_settled(k.link));
    CHECK_INT(kill(pid, 0), -1);
    CHECK_INT(errno, ESRCH);
    connect_real(&k, LINK_CONNECTED); /* and once more */
    CHECK(pid_of(&k) != pid);
    done_real(&k);
}

/* S4-131 */
TEST(a_server_that_is_killed_fails_its_calls_and_is_disconnected)
{
    struct link_kit k;
    struct fake_reply a;
    struct link_facts facts;

    real_kit(&k, example());
    connect_real(&k, LINK_CONNECTED);
    kill(pid_of(&k), SIGSTOP); /* so that it does not answer first */
    kit_call(&k, &a, "echo");
    kill(pid_of(&k), SIGKILL);
    FAKES_WAIT(&k.fakes, a.count);
    CHECK_INT(fault_of(&a.err), FAULT_NOT_CONNECTED);
    CHECK_HAS(a.err.msg, "was killed by signal 9");
    CHECK_INT(link_state(k.link), LINK_DISCONNECTED);
    CHECK_HAS(kit_message_of_state(&k), "Server 'alpha' went away: ");
    link_facts(k.link, &facts);
    CHECK(facts.crashed);
    done_real(&k);
}

TEST(a_server_that_ends_at_once_is_quoted_with_its_last_lines)
{
    struct link_kit k;

    real_kit(&k, script("echo first >&2; echo 'missing API key' >&2; exit 7"));
    connect_real(&k, LINK_ERROR);
    CHECK_HAS(kit_message_of_state(&k), "exited with status 7");
    CHECK_HAS(kit_message_of_state(&k), "stderr: first missing API key");
    CHECK(fakes_count(&k.fakes, EVENT_LOG, "alpha", "missing API key") >= 1);
    CHECK_HAS(fakes_json(&k.fakes, EVENT_LOG, "alpha", "\"source\":\"stderr\""),
              "\"message\":\"missing API key\"");
    done_real(&k);
}

TEST(a_child_gets_the_variables_of_its_spec_and_the_marker)
{
    struct link_kit k;

    kit_init(&k);
    spec_unref(k.spec);
    k.spec = spec_stdio("alpha", "sh",
                        (const char *const[]){ "-c", "echo \"$WHO and $MARK\" >&2; exit 1", NULL },
                        (const char *const[]){ "WHO=me", NULL });
    k.opts.open = NULL;
    k.opts.marker = "MARK=ours";
    kit_link(&k);
    connect_real(&k, LINK_ERROR);
    CHECK_HAS(kit_message_of_state(&k), "stderr: me and ours");
    done_real(&k);
}

TEST(a_server_that_never_answers_is_given_up_and_killed)
{
    struct link_kit k;
    struct pb_error err;
    pid_t pid;

    real_kit(&k, script("trap '' TERM; while read l; do :; done; while :; do read l; done"));
    CHECK_INT(link_connect(k.link, 0, &err), 0);
    loop_turn(k.fakes.loop, false);
    pid = pid_of(&k);
    CHECK(pid > 0);
    loop_advance(k.fakes.loop, 10000);
    CHECK_INT(link_state(k.link), LINK_ERROR);
    CHECK_HAS(kit_message_of_state(&k), "no answer within 10s");
    while (!link_settled(k.link)) { /* stdin closed, SIGTERM, SIGKILL: each has its time */
        loop_advance(k.fakes.loop, 500);
        loop_turn(k.fakes.loop, false);
    }
    CHECK_INT(kill(pid, 0), -1);
    done_real(&k);
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
    struct link_kit k;

    real_kit(&k, script(asks));
    connect_real(&k, LINK_CONNECTED);
    FAKES_WAIT(&k.fakes, fakes_count(&k.fakes, EVENT_LOG, NULL, "\\\"id\\\":\\\"p\\\"") == 1);
    CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, NULL,
                          "\"capabilities\":{\"roots\":{\"listChanged\":true},\"sampling\":{},"
                          "\"elicitation\":{\"form\":{},\"url\":{}}}"),
              1);
    CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, NULL, "\"id\":\"r\",\"result\":{\"roots\":[]}"), 1);
    CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, NULL,
                          "\"id\":\"s\",\"error\":{\"code\":-32601,"
                          "\"message\":\"sampling/createMessage: not implemented\"}"),
              1);
    CHECK_INT(link_state(k.link), LINK_CONNECTED);
    done_real(&k);
}

TEST(the_owner_may_answer_a_question_of_no_call)
{
    struct link_kit k;

    real_kit(&k, script(asks));
    k.takes_questions = true;
    connect_real(&k, LINK_CONNECTED);
    FAKES_WAIT(&k.fakes, k.n_asked == 2);
    CHECK_STR(k.asked[0], "roots/list");
    CHECK_STR(k.asked[1], "sampling/createMessage");
    link_answer(k.questions[0], SPAN("{\"roots\":[{\"uri\":\"file:///here\"}]}"));
    FAKES_WAIT(&k.fakes, fakes_count(&k.fakes, EVENT_LOG, NULL, "file:///here") == 1);
    link_refuse(k.questions[1], -1, "not today");
    FAKES_WAIT(&k.fakes, fakes_count(&k.fakes, EVENT_LOG, NULL, "not today") == 1);
    done_real(&k);
}

/* S0-37 */
TEST(a_spec_with_a_url_connects_over_http)
{
    static const bool guesses[] = { false, true };

    for (size_t i = 0; i < ARRAY_LEN(guesses); i++) {
        struct link_kit k;
        struct pb_http_options o = PB_HTTP_OPTIONS_INIT;
        struct fake_reply a;
        struct pb_error err;
        char url[64];

        kit_init(&k);
        fake_tool(k.f, "echo", FAKE_ECHO);
        CHECK_INT(pb_server_http(k.f->server, &o, &err), 0);
        snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", pb_server_port(k.f->server));
        spec_unref(k.spec);
        k.spec = spec_http("alpha", url);
        k.spec->guess_sse = guesses[i];
        k.opts.open = NULL;
        kit_link(&k);
        connect_real(&k, LINK_CONNECTED);
        kit_call(&k, &a, "echo");
        FAKES_WAIT(&k.fakes, a.count);
        CHECK(a.result);
        CHECK_HAS(a.result, "{\\\"a\\\":1}");
        fake_reply_done(&a);
        done_real(&k);
    }
}

TEST(a_url_where_nobody_listens_says_so)
{
    struct link_kit k;
    struct link_facts facts;

    real_kit(&k, spec_http("alpha", "http://127.0.0.1:1/mcp"));
    connect_real(&k, LINK_ERROR);
    CHECK_HAS(kit_message_of_state(&k), "Cannot connect to server 'alpha': ");
    CHECK_HAS(kit_message_of_state(&k), "127.0.0.1:1");
    link_facts(k.link, &facts);
    CHECK(!facts.crashed);
    done_real(&k);
}
