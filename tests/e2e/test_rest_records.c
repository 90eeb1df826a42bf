/* What the real program keeps of calls, and who is asked before they go on, over REST. */
#include "cid.h"
#include "rest_http.h"
#include "store/store.h"

#define UUID_A "0af1e2d3-0000-4000-8000-00000000000a"
#define UUID_B "0af1e2d3-0000-4000-8000-00000000000b"

static void start_recording(void)
{
    start(NULL);
    BECOMES("ex", "connected");
}

static int object(const char *cid)
{
    char path[256];

    snprintf(path, sizeof path, "/api/objects/%s", cid);
    return http_plain("GET", path, "");
}

static const char *kept(const char *name)
{
    static char copies[4][CID_CHARS + 1];
    static int at;
    char *to = copies[at++ % 4];

    snprintf(to, sizeof copies[0], "%s", member(name));
    return to;
}

/* S4-53 S4-55 S4-104 S4-105 S4-106 S4-107 S4-108 S4-179 S4-180 */
TEST(a_call_through_rest_is_recorded_and_its_result_is_in_the_store)
{
    const char *arguments, *result;
    char cid[CID_CHARS + 1];

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    start_recording();
    CHECK_INT(http("POST", "/api/mcp-tools/call",
                   "{\"tool\":\"ex/echo\",\"arguments\":{\"text\":\"kept words\"},\"id\":\"" UUID_A
                   "\"}"),
              200);
    for (int round = 0; round < 2; round++) {
        CHECK_INT(http("GET", "/api/calls", ""), 200);
        CHECK_STR(member("recorded"), "true");
        CHECK_STR(member("total"), "1");
        CHECK_STR(member("recent.0.id"), UUID_A);
        CHECK_STR(member("recent.0.source"), "mcp_client");
        CHECK_STR(member("recent.0.face"), "rest");
        CHECK_STR(member("recent.0.status"), "success");
        CHECK_STR(member("recent.0.server"), "ex");
        CHECK_STR(member("recent.0.name"), "ex/echo");
        CHECK(strtod(member("recent.0.process_pid"), NULL) > 1);
        arguments = kept("recent.0.arguments_cid");
        result = kept("recent.0.result_cid");
        CHECK_INT(http("GET", "/api/calls/" UUID_A, ""), 200);
        CHECK_STR(member("arguments"), "{\"text\":\"kept words\"}");
        CHECK_STR(member("result.content.0.text"), "kept words");
        CHECK_STR(member("definition.name"), "echo");
        CHECK_INT(object(result), 200);
        CHECK_HAS(out, "kept words");
        cid_of(span_of(out), cid);
        CHECK_STR(cid, result);
        CHECK_INT(object(arguments), 200);
        CHECK_STR(out, "{\"text\":\"kept words\"}");
        CHECK_INT(http("GET", "/api/calls?text=kept", ""), 200);
        CHECK_STR(member("recent.0.id"), UUID_A);
        if (round)
            break;
        /* A record that was shown outlives the program, however it ends. */
        CHECK_INT(daemon_stop(SIGKILL), -SIGKILL);
        start_recording();
    }
    rig_end();
}

/* S4-109 */
TEST(a_failed_call_is_recorded_with_what_went_wrong)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE ",\"stuck\":" MOB("stuck"));
    start_recording();
    BECOMES("stuck", "connected");
    CHECK_INT(http("POST", "/api/mcp-tools/call",
                   "{\"tool\":\"stuck/who\",\"timeout_s\":0.05,\"id\":\"" UUID_A "\"}"),
              504);
    CHECK_INT(http("POST", "/api/mcp-tools/call",
                   "{\"tool\":\"ex/calculator\",\"arguments\":{\"expression\":\"1/0\"},\"id\":"
                   "\"" UUID_B "\"}"),
              502);
    CHECK_INT(http("GET", "/api/calls/" UUID_A, ""), 200);
    CHECK_STR(member("status"), "timeout");
    CHECK_STR(member("source"), "mcp_client");
    CHECK_HAS(member("note"), "timed out after");
    CHECK_INT(http("GET", "/api/calls/" UUID_B, ""), 200);
    CHECK_STR(member("status"), "failed");
    CHECK_HAS(member("note"), "division by zero");
    CHECK_HAS(member("result.message"), "division by zero");
    CHECK_STR(member("arguments"), "{\"expression\":\"1/0\"}");
    CHECK_INT(http("DELETE", "/api/calls?before=99999999999", ""), 200);
    CHECK_INT(http("GET", "/api/store", ""), 200);
    CHECK_STR(member("calls"), "0");
    rig_end();
}

/* Sends a call and does not wait for its answer. */
static int call_later(const char *body)
{
    AUTO_BUF struct buf request = { 0 };
    int fd = daemon_dial();

    buf_printf(&request,
               "POST /api/mcp-tools/call HTTP/1.1\r\nHost: localhost:%d\r\nAuthorization: Bearer "
               "secret\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
               daemon_port(), strlen(body), body);
    CHECK_INT(send(fd, request.p, request.n, MSG_NOSIGNAL), request.n);
    return fd;
}

/* Of a PUT whose answer nobody reads yet. */
static int put_later(const char *path, const char *body)
{
    AUTO_BUF struct buf request = { 0 };
    int fd = daemon_dial();

    buf_printf(&request,
               "PUT %s HTTP/1.1\r\nHost: localhost:%d\r\nAuthorization: Bearer secret\r\n"
               "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
               path, daemon_port(), strlen(body), body);
    CHECK_INT(send(fd, request.p, request.n, MSG_NOSIGNAL), request.n);
    return fd;
}

TEST(of_two_who_save_rules_at_once_one_is_told_so)
{
    enum { AT_ONCE = 8 };
    char body[256], answer[4096];
    int fds[AT_ONCE], saved = 0, told = 0;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    start_recording();
    CHECK_INT(http("GET", "/api/policy", ""), 200);
    for (int i = 0; i < AT_ONCE; i++) {
        snprintf(body, sizeof body,
                 "{\"version\":\"%s\",\"rules\":[{\"action\":\"ask\",\"tool\":\"t%d\"}]}",
                 member("version"), i);
        fds[i] = put_later("/api/policy", body);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        ssize_t n = recv(fds[i], answer, sizeof answer - 1, 0);

        answer[n > 0 ? n : 0] = '\0';
        saved += strstr(answer, "HTTP/1.1 200") != NULL;
        told += strstr(answer, "\"policy_changed\"") != NULL;
        close(fds[i]);
    }
    CHECK_INT(saved, 1);
    CHECK_INT(told, AT_ONCE - 1);
    rig_end();
}

/* Its server starts when there is a file "go". */
#define SLOW                                                                                     \
    "{\"command\":\"sh\",\"args\":[\"-c\",\"while [ ! -e $HOME/go ]; do sleep 0.05; done; exec " \
    "$BUILD/patchbay-example-server\"],\"start\":\"lazy\",\"timeout_s\":60}"

TEST(rules_that_change_while_a_server_starts_count_for_what_waits_for_it)
{
    static const struct {
        const char *action, *status, *says;
    } rows[] = { { "deny", "HTTP/1.1 403", "denied" },
                 { "ask", "HTTP/1.1 403", "the rules have changed while server" },
                 { "allow", "HTTP/1.1 200", "hi" } };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_CLOSE int fd = -1;
        char body[256], answer[8192];
        ssize_t n;

        rig_begin();
        rig_config("\"ex\":" SLOW);
        write_file(in_home("go"), "");
        CHECK_INT(RUN("tools", "ex"), 0); /* what it has is known from now on */
        CHECK_INT(unlink(in_home("go")), 0);
        start(NULL);
        fd = call_later("{\"tool\":\"ex/echo\",\"arguments\":{\"text\":\"hi\"},\"id\":\"" UUID_A
                        "\"}");
        BECOMES("ex", "connecting");
        snprintf(body, sizeof body,
                 "{\"rules\":[{\"action\":\"%s\",\"tool\":\"echo\",\"reason\":\"denied\"}]}",
                 rows[i].action);
        CHECK_INT(http("PUT", "/api/policy", body), 200);
        write_file(in_home("go"), "");
        n = recv(fd, answer, sizeof answer - 1, 0);
        CHECK(n > 0);
        answer[n] = '\0';
        CHECK_HAS(answer, rows[i].status);
        CHECK_HAS(answer, rows[i].says);
        CHECK_INT(http("GET", "/api/calls/" UUID_A, ""), 200);
        CHECK_STR(member("status"), i == 2 ? "success" : "denied");
        rig_end();
    }
}

TEST(rules_are_saved_and_count_at_once)
{
    AUTO_FREE char *before = NULL;
    char path[128], answer[4096];
    AUTO_CLOSE int fd = -1;
    ssize_t n;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    start_recording();
    before = mem_dup(file_text("config.json"));
    CHECK_INT(http("PUT", "/api/policy", "{\"rules\":[{\"action\":\"ask\",\"tols\":\"echo\"}]}"),
              400);
    CHECK_HAS(member("message"), "rules[0].tols: there is no such condition");
    CHECK_STR(file_text("config.json"), before);
    CHECK_INT(http("PUT", "/api/policy",
                   "{\"rules\":[{\"name\":\"careful\",\"action\":\"ask\",\"tool\":\"echo\"}]}"),
              200);
    CHECK_STR(member("rules.0.name"), "careful");
    CHECK_HAS(file_text("config.json"), "\"careful\"");
    CHECK_HAS(file_text("config.json"), "\"ex\"");
    CHECK_INT(http("POST", "/api/explain", "{\"tool\":\"ex/echo\"}"), 200);
    CHECK_STR(member("outcome"), "ask");

    fd =
        call_later("{\"tool\":\"ex/echo\",\"arguments\":{\"text\":\"hi\",\"password\":\"hunter22\"}"
                   ",\"id\":\"" UUID_A "\"}");
    WAIT_FOR(http("GET", "/api/questions", "") == 200 && *member("questions.0.id"));
    CHECK_STR(member("questions.0.arguments.password"), "***");
    snprintf(path, sizeof path, "/api/questions/%s/answer", member("questions.0.id"));
    CHECK_INT(http("POST", path, "{\"choice\":\"deny\",\"reason\":\"no thanks\"}"), 200);
    CHECK_INT(http("POST", path, "{\"choice\":\"approve\"}"), 404);
    n = recv(fd, answer, sizeof answer - 1, 0);
    CHECK(n > 0);
    answer[n] = '\0';
    CHECK_HAS(answer, "HTTP/1.1 403");
    CHECK_HAS(answer, "no thanks");
    CHECK_INT(http("GET", "/api/calls/" UUID_A, ""), 200);
    CHECK_STR(member("status"), "denied");
    CHECK_STR(member("rule"), "careful");
    CHECK_STR(member("redacted.0.at"), "/password");
    CHECK_STR(member("arguments.password"), "***");
    CHECK_INT(http("POST", "/api/policy/dry-run", "{\"policy\":{\"rules\":[]}}"), 200);
    CHECK_STR(member("calls"), "1");
    CHECK_STR(member("changed"), "1");
    CHECK_STR(member("examples.0.was"), "ask");
    CHECK_STR(member("examples.0.now"), "allow");
    rig_end();
}
