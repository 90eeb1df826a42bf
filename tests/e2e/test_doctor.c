/* Each way in which a server does not come up has its words and its next step: the same in the
 * doctor, in lists and in JSON. Real processes, real sockets, a real TLS server; all on loopback.
 */
#include "cli_rig.h"

/* ---- servers that answer wrongly ---- */

static pid_t web_pid;

/* Answers every request alike, until it is ended. */
static void serve_alike(int listener, const char *answer)
{
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        char request[4096];

        if (fd < 0)
            continue;
        if (recv(fd, request, sizeof request, 0) > 0 &&
            send(fd, answer, strlen(answer), MSG_NOSIGNAL) > 0) {
            shutdown(fd, SHUT_WR);
            while (recv(fd, request, sizeof request, 0) > 0)
                ;
        }
        close(fd);
    }
}

static int web_start(const char *answer)
{
    int port, fd = loopback_bind(&port);

    CHECK(listen(fd, 16) == 0);
    fflush(stdout);
    web_pid = fork();
    if (web_pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        serve_alike(fd, answer);
    }
    close(fd);
    return port;
}

static void web_stop(void)
{
    CHECK(kill(web_pid, SIGKILL) == 0 && waitpid(web_pid, NULL, 0) == web_pid);
    web_pid = 0;
}

/* A server of openssl's, whose certificate is for another host, with itself as its authority. */
static int tls_start(void)
{
    static const char *const make[] = { "openssl",
                                        "req",
                                        "-x509",
                                        "-newkey",
                                        "ec",
                                        "-pkeyopt",
                                        "ec_paramgen_curve:prime256v1",
                                        "-nodes",
                                        "-days",
                                        "2",
                                        "-subj",
                                        "/CN=elsewhere.example",
                                        "-keyout",
                                        "key.pem",
                                        "-out",
                                        "cert.pem",
                                        NULL };
    int e = open(in_home("tls.out"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    CHECK(chdir(home) == 0);
    CHECK_INT(run_other(make, NULL), 0);
    fflush(stdout);
    web_pid = fork();
    if (web_pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(null, 0);
        dup2(e, 1);
        dup2(e, 2);
        execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", "cert.pem",
               "-key", "key.pem", "-www", NULL);
        _exit(127);
    }
    close(e);
    close(null);
    WAIT_FOR(strstr(file_text("tls.out"), "ACCEPT 127.0.0.1:") &&
             strchr(strstr(file_text("tls.out"), "ACCEPT 127.0.0.1:"), '\n'));
    return (int)strtol(strstr(file_text("tls.out"), "ACCEPT 127.0.0.1:") + 17, NULL, 10);
}

/* ---- what is said about them ---- */

/* "$P" in the config and the words is the port. */
static const char *with_port(const char *text, int port)
{
    static char filled[4][2048];
    static int at;
    size_t n = 0;

    at = (at + 1) % 4;
    for (; *text; text++) {
        if (strncmp(text, "$P", 2) == 0) {
            n += (size_t)snprintf(filled[at] + n, sizeof filled[at] - n, "%d", port);
            text++;
        } else {
            filled[at][n++] = *text;
        }
    }
    filled[at][n] = '\0';
    return filled[at];
}

/* In the doctor, and the same in the list and its JSON. */
static void check_said(const char *problem, const char *next, int status)
{
    CHECK_INT(RUN("doctor"), status);
    CHECK_HAS(out, problem);
    CHECK_HAS(out, "\n       next:     ");
    CHECK_HAS(out, next);
    CHECK_STR(server_is("s", "problem"), problem);
    CHECK_HAS(server_is("s", "next_step"), next);
}

static void check_web(const char *answer, const char *problem, const char *next, int status)
{
    int port = web_start(answer);

    rig_config(with_port("\"s\":{\"url\":\"http://127.0.0.1:$P/mcp\"}", port));
    check_said(problem, next, status);
    web_stop();
}

/* ---- programs ---- */

TEST(the_doctor_names_the_first_thing_that_is_wrong_and_what_to_do)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE ",\"gone\":{\"command\":\"/no/such/program\"},"
               "\"off\":{\"command\":\"cat\",\"enabled\":false},"
               "\"dir\":{\"command\":\"cat\",\"cwd\":\"/no/such/dir\"}");
    CHECK_INT(RUN("doctor", "ex"), 0);
    CHECK_HAS(out, "  ok   command   ");
    CHECK_HAS(out, "  ok   protocol  2026-07-28 (modern era)\n  ok   tools     4\n");
    CHECK_INT(RUN("doctor", "gone"), 4);
    CHECK_HAS(out,
              "  FAIL command   there is no program '/no/such/program', or not the interpreter "
              "that its first line names\n       next:     correct \"command\" at ");
    CHECK_INT(RUN("doctor", "dir"), 4);
    CHECK_HAS(out, "  FAIL command   its directory '/no/such/dir' cannot be entered\n"
                   "       next:     make the directory, or change \"cwd\" at ");
    CHECK_INT(RUN("doctor", "off"), 0);
    CHECK_HAS(out, "  off  config    it is disabled\n       next:     patchbay enable off\n");
    CHECK_INT(RUN("doctor", "exx"), 1);
    CHECK_STR(err, "patchbay: there is no server 'exx'; did you mean 'ex'?\n");
    CHECK_INT(RUN("doctor", "ex", "gone", "--json"), 4);
    CHECK_STR(member("servers.0.ok"), "true");
    CHECK_STR(member("servers.1.checks.1.check"), "command");
    CHECK_STR(member("servers.1.checks.1.ok"), "false");
    rig_end();
}

TEST(what_people_forget_to_install_is_named)
{
    static const struct {
        const char *command, *next;
    } cases[] = {
        { "npx", "install Node.js, which brings npx" },
        { "node", "install Node.js" },
        { "uvx", "install uv, which brings uvx" },
        { "python", "install Python, or write python3" },
        { "no-such-program-anywhere",
          "install 'no-such-program-anywhere', or write its full path into the config" },
    };
    char config[200], problem[200];

    rig_begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(config, sizeof config,
                 "\"s\":{\"command\":\"%s\",\"env\":{\"PATH\":\"$HOME/none\"}}", cases[i].command);
        snprintf(problem, sizeof problem, "there is no program '%s' in PATH", cases[i].command);
        rig_config(config);
        check_said(problem, cases[i].next, 4);
    }
    rig_end();
}

TEST(a_program_that_may_not_be_run_and_one_for_another_machine_are_told_apart)
{
    char problem[4200], next[4200];

    rig_begin();
    rig_config("\"s\":{\"command\":\"$HOME/tool\"}");
    write_file(in_home("tool"), "#!/bin/sh\n");
    snprintf(problem, sizeof problem, "'%s' may not be run: permission denied", in_home("tool"));
    snprintf(next, sizeof next, "make it executable: chmod +x %s", in_home("tool"));
    if (geteuid() != 0 || access(in_home("tool"), X_OK) != 0)
        check_said(problem, next, 4);
    /* the head of an ELF file for a processor that does not exist */
    write_file(in_home("tool"), "\177ELF\2\1\1");
    CHECK(chmod(in_home("tool"), 0700) == 0);
    snprintf(problem, sizeof problem, "'%s' is no program for this machine", in_home("tool"));
    check_said(problem, "install a build for this machine's processor", 4);
    rig_end();
}

TEST(a_variable_that_is_not_set_is_named_when_its_server_fails)
{
    rig_begin();
    unsetenv("NO_SUCH_KEY");
    rig_config("\"s\":{\"command\":\"sh\",\"args\":[\"-c\",\"exit 1\"],"
               "\"env\":{\"KEY\":\"${NO_SUCH_KEY}\"}}");
    check_said("the variable ${NO_SUCH_KEY} is not set",
               "set it where patchbay is started, or write a default: ${NAME:-value}", 4);
    rig_end();
}

/* As npm, Node.js and Python say it. */
TEST(what_stderr_says_is_understood)
{
    static const struct {
        const char *said, *problem, *next;
    } cases[] = {
        { "npm error code E404\\nnpm error 404 Not Found - GET it\\n",
          "npm knows no package of this name", "correct the package's name in \"args\" at " },
        { "npm ERR! code E404\\n", "npm knows no package of this name",
          "a private one wants npm's login" },
        { "{\\n  code: MODULE_NOT_FOUND,\\n}\\n", "Node.js does not find a file or module",
          "in a checkout run 'npm install' and its build first" },
        { "python3: No module named nosuch\\n", "Python does not find a module",
          "install it for this Python, or run the server with uvx" },
        { "I cannot\\n", "it ended before it answered",
          "run it by hand and read its messages; its environment comes from \"env\"" },
    };
    char config[400];

    rig_begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(config, sizeof config,
                 "\"s\":{\"command\":\"sh\",\"args\":[\"-c\",\"printf '%s' >&2; exit 1\"]}",
                 cases[i].said);
        rig_config(config);
        check_said(cases[i].problem, cases[i].next, 4);
    }
    rig_end();
}

/* The program is started twice, because the first may have ended for being asked something new. */
TEST(stderr_is_shown_as_lines_and_once)
{
    char *at;

    rig_begin();
    rig_config(
        "\"s\":{\"command\":\"sh\",\"args\":[\"-c\",\"echo one >&2; echo two >&2; exit 3\"]}");
    CHECK_INT(RUN("doctor"), 4);
    CHECK_HAS(out, "  FAIL connect   it ended before it answered\n"
                   "                 the server exited with status 3\n"
                   "       next:     run it by hand");
    at = strstr(out, "       | one\n       | two\n");
    CHECK(at != NULL);
    CHECK_STR(at, "       | one\n       | two\n\n1 failed\n");
    *at = '\0';
    CHECK(!strstr(out, "one"));
    rig_end();
}

TEST(a_program_that_talks_on_stdout_is_quoted)
{
    rig_begin();
    rig_config("\"s\":{\"command\":\"sh\",\"args\":[\"-c\",\"echo Listening on port 3000; read x; "
               "exit 1\"]}");
    check_said("it writes to stdout what is not MCP", "let it log to stderr", 4);
    CHECK_HAS(server_is("s", "message"), "stdout is not MCP (\"Listening on port 3000\")");
    CHECK_INT(RUN("doctor"), 4);
    CHECK_HAS(out,
              "stdout is not MCP (\"Listening on port 3000\"): the server exited with status 1");
    /* a line that is too long is not cut: half of a secret would not be known for one */
    rig_config("\"s\":{\"command\":\"sh\",\"args\":[\"-c\",\"printf %0300d 7; echo; exit 1\"]}");
    CHECK_INT(RUN("doctor"), 4);
    CHECK_HAS(out, "stdout is not MCP (\"a long line\")");
    /* a greeting before the first message is forgiven */
    rig_config("\"s\":{\"command\":\"sh\",\"args\":[\"-c\",\"echo Welcome; exec "
               "$BUILD/patchbay-example-server\"]}");
    CHECK_INT(RUN("doctor"), 0);
    rig_end();
}

TEST(what_is_no_mcp_server_is_recognised)
{
    rig_begin();
    rig_config("\"s\":{\"command\":\"cat\"}");
    check_said("it answers, but refuses MCP's handshake", "is it an MCP server? run it by hand", 4);
    rig_end();
}

TEST(a_slow_start_is_given_the_time_that_is_asked_for)
{
    rig_begin();
    rig_config("\"s\":" MOB("silent"));
    CHECK_INT(RUN("doctor", "--timeout", "0.3"), 4);
    CHECK_HAS(out, "  FAIL connect   it runs, but did not answer in time\n"
                   "                 the server did not answer within 300 ms\n"
                   "       next:     a first start may download for long: try again, or raise "
                   "settings.connect_s; is it an MCP server?\n");
    CHECK_INT(RUN("doctor", "--timeout", "soon"), 1);
    CHECK_HAS(err, "--timeout is a number of seconds up to 3600, or as 300ms or 5m, not 'soon'");
    CHECK_INT(RUN("doctor", "--timeout", "0"), 1);
    CHECK_HAS(err, "--timeout is a number of seconds up to 3600, or as 300ms or 5m, not '0'");
    rig_end();
}

/* ---- addresses ---- */

#define ANSWER(status, headers) "HTTP/1.1 " status "\r\nContent-Length: 0\r\n" headers "\r\n"

TEST(what_http_says_is_understood)
{
    static const struct {
        const char *answer, *problem, *next;
        int status;
    } cases[] = {
        { ANSWER("301 Moved", "Location: http://127.0.0.1/x\r\n"),
          "it sends us to another address, where no login would be safe",
          "write that address into \"url\" at ", 4 },
        { ANSWER("401 No", ""), "it wants a login", "put an \"Authorization\" header into ", 3 },
        { ANSWER("403 No", ""), "it knows who asks, and refuses",
          "ask its operator for the right, or change the login in \"headers\" at ", 3 },
        { ANSWER("404 No", ""), "it has nothing at this path", "often it is /mcp or /sse", 4 },
        { ANSWER("405 No", ""), "it takes no MCP at this path", "correct the path of \"url\"", 4 },
        { ANSWER("500 Oh", ""), "the server itself is in trouble", "come back later", 4 },
        { ANSWER("503 Oh", ""), "the server itself is in trouble", "come back later", 4 },
        { "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
          "a web page answers, not an MCP server",
          "the server's documentation names the address for MCP", 4 },
    };

    rig_begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_web(cases[i].answer, cases[i].problem, cases[i].next, cases[i].status);
    check_web(cases[0].answer, cases[0].problem, cases[0].next, 4);
    CHECK_HAS(server_is("s", "message"), "Couldn't connect"); /* it is gone by now */
    rig_end();
}

TEST(a_redirect_tells_where_it_leads)
{
    int port;

    rig_begin();
    port = web_start(ANSWER("308 Moved", "Location: http://127.0.0.1/other\r\n"));
    rig_config(with_port("\"s\":{\"url\":\"http://127.0.0.1:$P/mcp\"}", port));
    CHECK_INT(RUN("doctor"), 4);
    CHECK_HAS(out,
              "HTTP 308: the server redirects to http://127.0.0.1/other, which is not followed");
    web_stop();
    rig_end();
}

TEST(an_address_where_nobody_listens_is_told)
{
    int port, fd;

    rig_begin();
    fd = loopback_bind(&port);
    rig_config(with_port("\"s\":{\"url\":\"http://127.0.0.1:$P/mcp\"}", port));
    check_said(with_port("nobody listens at 127.0.0.1:$P", port),
               "start the server, or correct \"url\" at ", 4);
    close(fd);
    rig_end();
}

/* A label of more than 63 letters is refused by the resolver itself: nobody is asked. */
#define LABEL "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

TEST(a_name_without_an_address_is_told)
{
    rig_begin();
    rig_config("\"s\":{\"url\":\"http://" LABEL ".invalid/mcp\"}");
    check_said("no address is known for " LABEL ".invalid", "correct the host in \"url\" at ", 4);
    rig_end();
}

TEST(troubles_with_tls_are_told_apart)
{
    int port;

    rig_begin();
    unsetenv("SSL_CERT_FILE");
    port = tls_start();
    rig_config(with_port("\"s\":{\"url\":\"https://127.0.0.1:$P/mcp\"}", port));
    check_said("its certificate is signed by nobody whom this machine trusts",
               "name a file of them in SSL_CERT_FILE", 4);
    setenv("SSL_CERT_FILE", in_home("cert.pem"), 1);
    check_said(with_port("its certificate is for another host than 127.0.0.1:$P", port),
               "that the certificate names", 4);
    rig_config(with_port("\"s\":{\"url\":\"http://127.0.0.1:$P/mcp\"}", port));
    CHECK_INT(RUN("doctor"), 4);
    CHECK_HAS(out, with_port("127.0.0.1:$P ", port));
    CHECK_HAS(out, "write https:// instead of http:// into \"url\" at ");
    web_stop();
    port = web_start(ANSWER("200 OK", ""));
    rig_config(with_port("\"s\":{\"url\":\"https://127.0.0.1:$P/mcp\"}", port));
    check_said(with_port("127.0.0.1:$P does not speak TLS", port),
               "write http:// instead of https:// into \"url\" at ", 4);
    web_stop();
    unsetenv("SSL_CERT_FILE");
    rig_end();
}
