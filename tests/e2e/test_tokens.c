/* Tokens that may do less than the daemon's own, through the real program. */
#include "rest_http.h"
#include <sys/stat.h>

/* Makes a token; good until the eighth call after it. */
static const char *make(const char *name, const char *may)
{
    static char tokens[8][64];
    static int at;

    at = (at + 1) % 8;
    CHECK_INT(RUN("token", "add", name, "--may", may), 0);
    snprintf(tokens[at], sizeof tokens[at], "%.*s", (int)strcspn(out, "\n"), out);
    CHECK_INT(strlen(tokens[at]), ID_CHARS);
    CHECK_HAS(err, "it is not shown again");
    return tokens[at];
}

/* The status of an answer, `out` its beginning. */
static int ask(const char *token, const char *method, const char *path, const char *body)
{
    const char *host = strstr(file_text("daemon.err"), "127.0.0.1:");
    AUTO_BUF struct buf request = { 0 }, answer = { 0 };
    AUTO_CLOSE int fd = daemon_dial();
    ssize_t n;

    buf_printf(&request,
               "%s %s HTTP/1.1\r\nHost: %.*s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n"
               "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
               "Content-Length: %zu\r\n\r\n%s",
               method, path, (int)strcspn(host, "/"), host, token, strlen(body), body);
    CHECK_INT(send(fd, request.p, request.n, MSG_NOSIGNAL), request.n);
    while ((n = recv(fd, buf_reserve(&answer, 65536), 65536, 0)) > 0) {
        answer.n += (size_t)n;
        if (strstr(path, "events") && memmem(answer.p, answer.n, "\r\n\r\n", 4))
            break; /* it never ends */
    }
    snprintf(out, sizeof out, "%s", buf_cstr(&answer));
    return answer.n > 12 ? (int)strtol(answer.p + 9, NULL, 10) : 0;
}

#define PING \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}"
#define NEW_SERVER "{\"name\":\"x\",\"entry\":{\"command\":\"touch\",\"args\":[\"/nowhere\"]}}"

TEST(a_token_may_do_what_it_was_made_for)
{
    static const struct {
        const char *method, *path, *body;
        int mcp, read, all;
    } cases[] = {
        { "POST", "/mcp", PING, 200, 403, 200 },
        { "POST", "/mcp/ex", PING, 200, 403, 200 },
        { "GET", "/api/servers", "", 403, 200, 200 },
        { "GET", "/api/settings", "", 403, 200, 200 },
        { "GET", "/api/events", "", 403, 200, 200 },
        { "GET", "/metrics", "", 403, 200, 200 },
        { "HEAD", "/api/status", "", 403, 200, 200 },
        { "GET", "/api/none-such", "", 403, 404, 404 },
        { "POST", "/api/servers?dry_run=true", NEW_SERVER, 403, 403, 200 },
        { "POST", "/api/servers/test", "{\"entry\":{\"command\":\"true\"}}", 403, 403, 200 },
        { "POST", "/api/mcp-clients/connect", "{\"name\":\"no\",\"command\":\"\"}", 403, 403, 400 },
        { "PATCH", "/api/settings", "{\"health_s\":9}", 403, 403, 200 },
        { "POST", "/api/mcp-tools/call", "{\"tool\":\"ex/echo\",\"arguments\":{\"text\":\"a\"}}",
          403, 403, 200 },
        { "GET", "/api/calls", "", 403, 200, 200 },
        { "GET", "/api/store", "", 403, 200, 200 },
        { "GET", "/api/questions", "", 403, 200, 200 },
        { "GET", "/api/grants", "", 403, 200, 200 },
        { "GET", "/api/policy", "", 403, 200, 200 },
        { "DELETE", "/api/calls?before=1", "", 403, 403, 200 },
        { "POST", "/api/questions/none/answer", "{\"choice\":\"approve\"}", 403, 403, 404 },
        { "POST", "/api/grants", "{\"conversation\":\"c\",\"operation\":\"a/b\"}", 403, 403, 201 },
        { "DELETE", "/api/grants", "", 403, 403, 200 },
        { "PUT", "/api/auto-approve", "{\"conversation\":\"c\",\"on\":false}", 403, 403, 200 },
        { "PUT", "/api/policy", "{\"rules\":[]}", 403, 403, 200 },
        { "DELETE", "/api/servers/none", "", 403, 403, 404 },
        { "POST", "/api/none-such", "{}", 403, 403, 404 },
        { "GET", "/", "", 200, 200, 200 },
        { "GET", "/openapi.json", "", 200, 200, 200 },
        { "GET", "/health", "", 200, 200, 200 },
    };
    const char *mcp, *read, *all;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    mcp = make("claude", "mcp");
    read = make("grafana", "read");
    start(NULL);
    BECOMES("ex", "connected");
    all = make("me", "all"); /* the running daemon takes it, too */
    WAIT_FOR(ask(all, "GET", "/api/status", "") == 200);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int got = ask(mcp, cases[i].method, cases[i].path, cases[i].body);

        if (got == 403 && cases[i].mcp == 403 && strcmp(cases[i].method, "HEAD") != 0)
            CHECK_HAS(out, "patchbay token add NAME --may ");
        if (got != cases[i].mcp)
            TAP_FAIL("mcp: %s %s: %d", cases[i].method, cases[i].path, got);
        got = ask(read, cases[i].method, cases[i].path, cases[i].body);
        if (got != cases[i].read)
            TAP_FAIL("read: %s %s: %d", cases[i].method, cases[i].path, got);
        got = ask(all, cases[i].method, cases[i].path, cases[i].body);
        if (got != cases[i].all)
            TAP_FAIL("all: %s %s: %d", cases[i].method, cases[i].path, got);
    }
    CHECK_INT(ask("secret", "GET", "/api/status", ""), 200); /* the daemon's own */
    CHECK_INT(ask("wrong", "GET", "/api/status", ""), 401);
    CHECK_INT(ask(read, "DELETE", "/api/servers/ex", ""), 403);
    CHECK_HAS(out, "this token may not change anything; 'patchbay token add NAME --may all'");
    rig_end();
}

TEST(a_token_that_is_removed_opens_nothing)
{
    struct stat st;
    const char *one;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    start(NULL);
    one = make("one", "all");
    WAIT_FOR(ask(one, "GET", "/api/status", "") == 200);
    CHECK_INT(stat(in_home("tokens"), &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    CHECK(!strstr(file_text("tokens"), one));
    CHECK_INT(RUN("token", "list"), 0);
    CHECK_HAS(out, "one");
    CHECK_HAS(out, "all");
    CHECK_INT(RUN("token", "list", "--json"), 0);
    CHECK_STR(member("tokens.0.name"), "one");
    CHECK_STR(member("tokens.0.may"), "all");
    CHECK(!strstr(out, "sha256"));
    CHECK_INT(RUN("token", "rm", "one"), 0);
    WAIT_FOR(ask(one, "GET", "/api/status", "") == 401);
    CHECK_INT(RUN("token", "rm", "one"), 1);
    CHECK_HAS(err, "there is no token 'one'");
    CHECK_INT(RUN("token", "list"), 0);
    CHECK_HAS(out, "No tokens but the daemon's own");

    /* A file that cannot be read opens nothing, and the daemon goes on. */
    one = make("two", "read");
    WAIT_FOR(ask(one, "GET", "/api/status", "") == 200);
    write_file(in_home("tokens"), "{\"tokens\":[{]}");
    WAIT_FOR(ask(one, "GET", "/api/status", "") == 401);
    CHECK_HAS(file_text("daemon.err"), "only the daemon's own token is taken: ");
    CHECK_INT(RUN("token", "list"), 1);
    CHECK_INT(ask("secret", "GET", "/api/status", ""), 200);
    rig_end();
}

TEST(the_command_line_says_what_it_wants)
{
    rig_begin();
    CHECK_INT(RUN("token", "add", "a"), 1);
    CHECK_HAS(err, "--may says what it may do: mcp, read or all");
    CHECK_INT(RUN("token", "add", "a", "--may", "most"), 1);
    CHECK_INT(RUN("token", "add", "--may", "mcp"), 1);
    CHECK_HAS(err, "give the token's name");
    CHECK_INT(RUN("token", "add", "a b", "--may", "mcp"), 1);
    CHECK_HAS(err, "the name of a token has");
    CHECK_INT(RUN("token", "list", "a"), 1);
    CHECK_INT(RUN("token", "make", "a"), 1);
    CHECK_HAS(err, "'make' is none of add, list and rm");
    CHECK_STR(file_text("tokens"), "");
    make("a", "mcp");
    CHECK_INT(RUN("token", "add", "a", "--may", "all"), 1);
    CHECK_HAS(err, "there is a token 'a' already");
    rig_end();
}
