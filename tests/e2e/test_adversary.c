/* The real program and those who mean it ill: other programs, web pages, servers, other users. */
#include "cli_rig.h"
#include "mcp/registry/registry.h"
#include <sys/un.h>

#define SECRET "s3cret-of-this-test"

/* ---- HTTP, byte for byte ---- */

static char reply[RIG_TEXT_MAX];

/* Sends a request and reads to the end of the connection into `reply`; its status. */
static int http_raw(const char *text)
{
    AUTO_CLOSE int fd = daemon_dial();
    size_t n = strlen(text), got = 0;
    ssize_t r;

    CHECK(send(fd, text, n, MSG_NOSIGNAL) == (ssize_t)n);
    while (got < sizeof reply - 1 && (r = recv(fd, reply + got, sizeof reply - 1 - got, 0)) > 0)
        got += (size_t)r;
    reply[got] = '\0';
    return strncmp(reply, "HTTP/1.1 ", 9) == 0 ? (int)strtol(reply + 9, NULL, 10) : 0;
}

struct ask {
    const char *method, *path, *host, *origin, *token, *head, *body;
};

static int http(struct ask q)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b, "%s %s HTTP/1.1\r\nConnection: close\r\n", q.method ? q.method : "GET", q.path);
    if (q.host)
        buf_printf(&b, "Host: %s\r\n", q.host);
    else
        buf_printf(&b, "Host: 127.0.0.1:%d\r\n", daemon_port());
    if (q.origin)
        buf_printf(&b, "Origin: %s\r\n", q.origin);
    if (q.token)
        buf_printf(&b, "Authorization: Bearer %s\r\n", q.token);
    buf_str(&b, q.head ? q.head : "");
    if (q.body)
        buf_printf(&b,
                   "Content-Type: application/json\r\n"
                   "Accept: application/json, text/event-stream\r\nContent-Length: %zu\r\n",
                   strlen(q.body));
    buf_printf(&b, "\r\n%s", q.body ? q.body : "");
    return http_raw(buf_cstr(&b));
}

#define INIT                                                                           \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"             \
    "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":" \
    "\"c\",\"version\":\"1\"}}}"

static const char *const routes[] = {
    "/mcp",      "/mcp/ex",          "/mcp/mode/full", "/sse",         "/mcp/sse",
    "/messages", "/mcp/ex/messages", "/mcp/nosuch",    "/mcp/mode/no", "/nosuch",
};

/* D9 D10 D20 E3 E11 E12: on every route, with and without a body. */
TEST(every_route_wants_the_right_host_origin_and_token)
{
    static const char *const hosts[] = { "evil.example", "localhost.evil:80",    "127.0.0.1.evil:1",
                                         "127.1",        "[::ffff:127.0.0.1]:1", "127.0.0.1:1" };
    static const char *const origins[] = { "null", "https://evil.example", "http://localhost.evil",
                                           "http://127.0.0.1:1" };

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(WORDS("--token", SECRET));
    for (size_t i = 0; i < ARRAY_LEN(routes); i++)
        for (int post = 0; post < 2; post++) {
            struct ask q = { .method = post ? "POST" : "GET",
                             .path = routes[i],
                             .body = post ? INIT : NULL };

            CHECK_INT(http(q), 401);
            CHECK(!strstr(reply, "Access-Control"));
            q.head = "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Host: localhost\r\n";
            q.token = "wrong";
            CHECK_INT(http(q), 401);
            q.token = SECRET "x";
            CHECK_INT(http(q), 401);
            q.token = SECRET;
            for (size_t k = 0; k < ARRAY_LEN(hosts); k++) {
                q.host = hosts[k];
                CHECK_INT(http(q), 403);
            }
            q.host = NULL;
            for (size_t k = 0; k < ARRAY_LEN(origins); k++) {
                q.origin = origins[k];
                CHECK_INT(http(q), 403);
                CHECK(!strstr(reply, "Access-Control"));
            }
        }
    CHECK_INT(http((struct ask){ .path = "/health" }), 200);
    CHECK(strstr(reply, "\r\n\r\n{\"status\":\"ok\"}\n") != NULL);
    CHECK(!strstr(reply, "Server:") && !strstr(reply, "0.1.0"));
    CHECK_INT(http((struct ask){ .path = "/health", .host = "evil.example" }), 403);
    CHECK_INT(http((struct ask){ .path = "/health", .origin = "https://evil.example" }), 403);
    CHECK_INT(http((struct ask){ .path = "/mcp",
                                 .method = "OPTIONS",
                                 .token = SECRET,
                                 .origin = "https://evil.example" }),
              403);
    rig_end();
}

/* D14 */
TEST(a_path_means_what_it_says_or_nothing)
{
    static const char *const nowhere[] = {
        "//mcp",           "/mcp/",           "/mcp/../mcp",
        "/mcp/%2e%2e/mcp", "/mcp/..;/mcp",    "/mcp%2fex",

        "/mcp/ex/",        "/mcp/ex/x",       "/mcp/ex%00",
        "/mcp/mode/",      "/mcp/mode/../ex", "/mcp/mode/full%00",
        "/mcp/mode/full/", "/mcp/mode/%",     "/MCP",
        "/mcp/EX",         "/mcpx",           "/mcp/mode/Full",
        "/mcp/\xc3\xa4",   "/mcp/mode/%ff",   "/health/",
        "/health%00",      "/mcp/token",      "/mcp//ex",
    };
    AUTO_BUF struct buf longest = { 0 };

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(WORDS("--token", SECRET));
    for (size_t i = 0; i < ARRAY_LEN(nowhere); i++) {
        int status = http((struct ask){ "POST", nowhere[i], .token = SECRET, .body = INIT });

        if (status != 404 && status != 400)
            TAP_FAIL("%s: %d", nowhere[i], status);
        if (strstr(reply, "/token") || strstr(reply, home))
            TAP_FAIL("%s tells too much: %s", nowhere[i], reply);
    }
    buf_str(&longest, "/mcp/");
    for (int i = 0; i < 12000; i++)
        buf_byte(&longest, 'a');
    CHECK_INT(http((struct ask){ "POST", buf_cstr(&longest), .token = SECRET, .body = INIT }), 404);
    CHECK(strlen(reply) < 1000); /* it is not said back */
    CHECK_INT(http((struct ask){ "POST", "/mcp/mode/%66ull", .token = SECRET, .body = INIT }), 200);
    rig_end();
}

/* D6: a handle is no credential, and belongs to the place where it was given. */
TEST(a_session_is_good_at_its_own_place_only)
{
    static const char *const places[] = { "/mcp/ex", "/mcp/mode/full", "/mcp/two" };
    char head[200];
    const char *at;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE ",\"two\":" EXAMPLE);
    rig_daemon(WORDS("--token", SECRET));
    CHECK_INT(http((struct ask){ "POST", "/mcp", .token = SECRET, .body = INIT }), 200);
    at = strcasestr(reply, "\r\nmcp-session-id:");
    CHECK(at != NULL);
    snprintf(head, sizeof head, "%.*s\r\n", (int)strcspn(at + 2, "\r"), at + 2);
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        struct ask q = { "POST", places[i], .token = SECRET, .head = head };

        q.body = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}";
        CHECK_INT(http(q), 404);
        q.method = "DELETE";
        q.body = NULL;
        CHECK_INT(http(q), 404);
    }
    CHECK_INT(http((struct ask){ "POST", "/mcp", .head = head,
                                 .body = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}" }),
              401);
    CHECK_INT(http((struct ask){ "POST", "/mcp", .token = SECRET, .head = head,
                                 .body = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}" }),
              200);
    rig_end();
}

TEST(the_daemon_cannot_be_ruled_over_http)
{
    static const char *const methods[] = { "patchbay/status", "patchbay/stop", "patchbay/server",
                                           "patchbay/reload" };
    char head[200], body[300];
    const char *at;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(WORDS("--token", SECRET));
    CHECK_INT(http((struct ask){ "POST", "/mcp", .token = SECRET, .body = INIT }), 200);
    at = strcasestr(reply, "\r\nmcp-session-id:");
    CHECK(at != NULL);
    snprintf(head, sizeof head, "%.*s\r\n", (int)strcspn(at + 2, "\r"), at + 2);
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        snprintf(body, sizeof body,
                 "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"%s\",\"params\":{"
                 "\"server\":\"ex\",\"control\":true}}",
                 methods[i]);
        http((struct ask){ "POST", "/mcp", .token = SECRET, .head = head, .body = body });
        CHECK_HAS(reply, "-32601");
    }
    CHECK_INT(RUN("status"), 0);
    rig_end();
}

TEST(nobody_listens_to_the_world_without_a_token)
{
    rig_begin();
    CHECK_INT(RUN("serve", "--port", "0", "--no-socket", "--no-token", "--host", "0.0.0.0"), 1);
    CHECK_HAS(err, "listening on 0.0.0.0 without a token");
    CHECK_INT(RUN("serve", "--port", "0", "--no-socket", "--no-token", "--host", "::"), 1);
    CHECK(RUN("serve", "--port", "0", "--no-socket", "--no-token", "--host", "127.evil.example") !=
          0);
    CHECK_INT(RUN("serve", "--port", "0", "--no-socket", "--token", ""), 1);
    rig_end();
}

/* ---- secrets ---- */

static const char *proc_text(long pid, const char *name)
{
    static char text[RIG_TEXT_MAX];
    char path[64];
    AUTO_CLOSE int fd = -1;
    size_t n = 0;
    ssize_t r;

    snprintf(path, sizeof path, "/proc/%ld/%s", pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    while ((r = read(fd, text + n, sizeof text - 1 - n)) > 0)
        n += (size_t)r;
    for (size_t i = 0; i < n; i++)
        if (!text[i])
            text[i] = ' ';
    text[n] = '\0';
    return text;
}

/* G14 S5 S16 */
TEST(the_token_is_nowhere_but_where_it_belongs)
{
    static const char *const verbs[][3] = {
        { "status", "--json" },
        { "list", "--json" },
        { "get", "ex", "--json" },
        { "logs", "ex" },
    };
    long child;

    for (int by_option = 0; by_option < 2; by_option++) {
        rig_begin();
        rig_config("\"ex\":{\"command\":\"$BUILD/patchbay-example-server\",\"env\":{"
                   "\"API_KEY\":\"k3y-of-this-test\"}}");
        if (!by_option)
            setenv("PATCHBAY_TOKEN", SECRET, 1);
        rig_daemon(by_option ? WORDS("--token", SECRET) : NULL);
        unsetenv("PATCHBAY_TOKEN");
        WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
        child = strtol(server_is("ex", "pid"), NULL, 10);
        CHECK(child > 0);
        CHECK(!strstr(proc_text(child, "environ"), SECRET));
        CHECK_HAS(proc_text(child, "environ"), "k3y-of-this-test");
        CHECK(!strstr(proc_text(child, "cmdline"), SECRET));
        CHECK(!strstr(proc_text(rig_daemon_program.pid, "environ"), SECRET));
        CHECK(!strstr(proc_text(rig_daemon_program.pid, "cmdline"), SECRET));
        CHECK_INT(http((struct ask){ "POST", "/mcp", .token = SECRET, .body = INIT }), 200);
        CHECK_INT(http((struct ask){ "POST", "/mcp", .token = "no", .body = INIT }), 401);
        CHECK(!strstr(reply, SECRET));
        for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
            run_with(NULL, WORDS(verbs[i][0], verbs[i][1], verbs[i][2]));
            if (strstr(out, SECRET) || strstr(err, SECRET) || strstr(out, "k3y-of") ||
                strstr(err, "k3y-of"))
                TAP_FAIL("'%s' tells: %s%s", verbs[i][0], out, err);
        }
        CHECK(!strstr(file_text("daemon.err"), SECRET));
        rig_end();
    }
}

/* A reference in a config is something else: whoever wrote it meant it. */
TEST(a_config_may_still_refer_to_the_token)
{
    rig_begin();
    rig_config("\"ex\":{\"command\":\"$BUILD/patchbay-example-server\",\"env\":{"
               "\"MINE\":\"${PATCHBAY_TOKEN}\"}}");
    setenv("PATCHBAY_TOKEN", SECRET, 1);
    rig_daemon(NULL);
    unsetenv("PATCHBAY_TOKEN");
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    CHECK_HAS(proc_text(strtol(server_is("ex", "pid"), NULL, 10), "environ"), "MINE=" SECRET);
    rig_end();
}

/* S1 S2 */
TEST(a_token_file_that_is_not_ours_alone_is_not_trusted)
{
    struct stat st;

    rig_begin();
    umask(0);
    CHECK_INT(mkfifo(in_home("token"), 0600), 0);
    CHECK_INT(RUN("serve", "--port", "0", "--no-socket"), 1);
    CHECK_HAS(err, "is no file");
    CHECK_INT(unlink(in_home("token")), 0);
    /* a link to a file that is not there: that file is not made */
    CHECK_INT(symlink(in_home("victim"), in_home("token")), 0);
    rig_daemon(NULL);
    CHECK_INT(access(in_home("victim"), F_OK), -1);
    CHECK_INT(lstat(in_home("token"), &st), 0);
    CHECK(S_ISREG(st.st_mode));
    CHECK_INT(st.st_mode & 07777, 0600);
    CHECK_INT(daemon_stop(SIGTERM), 0);
    if (geteuid() == 0) { /* only root can give a file away */
        CHECK_INT(chown(in_home("token"), 65534, 65534), 0);
        CHECK_INT(RUN("serve", "--port", "0", "--no-socket"), 1);
        CHECK_HAS(err, "is another user's");
    }
    rig_end();
}

TEST(what_is_written_is_for_its_owner_alone_whatever_the_umask)
{
    static const char *const paths[] = { "token", "run", "run/patchbay.sock", "cache" };
    struct stat st;
    DIR *d;

    rig_begin();
    umask(0);
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    WAIT_FOR(access(in_home("cache"), F_OK) == 0);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        CHECK_INT(stat(in_home(paths[i]), &st), 0);
        if (st.st_mode & 077)
            TAP_FAIL("%s has mode %o", paths[i], st.st_mode & 07777);
    }
    d = opendir(in_home("cache"));
    for (struct dirent *e; d && (e = readdir(d));) {
        CHECK_INT(fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW), 0);
        if (strcmp(e->d_name, "..") != 0)
            CHECK_INT(st.st_mode & 077, 0);
    }
    closedir(d);
    rig_end();
}

/* ---- children ---- */

TEST(a_server_inherits_three_descriptors_and_no_odd_signals)
{
    char path[64];
    long child;
    DIR *d;
    int n = 0;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE ",\"two\":" EXAMPLE);
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    WAIT_FOR(strcmp(server_is("two", "state"), "connected") == 0);
    rig_config("\"ex\":" EXAMPLE ",\"two\":" EXAMPLE ",\"late\":{\"command\":\"/bin/cat\"}");
    WAIT_FOR(strtol(server_is("late", "pid"), NULL, 10) > 0);
    child = strtol(member_of("servers", "late", "pid"), NULL, 10);
    snprintf(path, sizeof path, "/proc/%ld/fd", child);
    d = opendir(path);
    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    CHECK_INT(n, 3);
    CHECK_HAS(proc_text(child, "status"), "SigBlk:\t0000000000000000\n");
    CHECK_HAS(proc_text(child, "status"), "SigIgn:\t0000000000000000\n");
    rig_end();
}

/* ---- the socket ---- */

static int socket_open(void)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(to.sun_path, sizeof to.sun_path, "%s/run/patchbay.sock", home);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

/* Says this; what comes until `n` lines are there or it hangs up. */
static const char *socket_talk(int fd, const char *text, int n)
{
    static char heard[RIG_TEXT_MAX];
    size_t got = 0;

    send(fd, text, strlen(text), MSG_NOSIGNAL);
    while (n > 0 && got < sizeof heard - 1) {
        struct pollfd p = { .fd = fd, .events = POLLIN };

        CHECK(poll(&p, 1, RIG_END_MS) == 1);
        if (recv(fd, heard + got, 1, 0) != 1)
            break;
        n -= heard[got++] == '\n';
    }
    heard[got] = '\0';
    return heard;
}

TEST(only_who_asks_for_control_gets_it)
{
    int fd;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    fd = socket_open();
    CHECK_HAS(socket_talk(fd,
                          "{\"attach\":{}}\n" INIT "\n"
                          "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"patchbay/stop\"}\n",
                          3),
              "-32601");
    close(fd);
    CHECK_INT(RUN("status"), 0);
    rig_end();
}

TEST(a_first_line_is_short_strict_and_soon)
{
    static const char *const bad[] = {
        "x\n",
        "{}\n",
        "{\"attach\":[]}\n",
        "{\"attach\":{\"control\":\"true\"}}\n",
        "{\"attach\":{\"control\":false,\"control\":true}}\n",
        "{\"attach\":{\"server\":\"nosuch\"}}\n",
        "{\"attach\":{\"server\":\"ex\",\"mode\":\"full\"}}\n",
        "{\"attach\":{\"expose\":\"everything\"}}\n",
        "{\"attach\":{\"server\":\"ex\\u0000\"}}\n",
        INIT "\n",
    };
    enum { SILENT = 300 };
    static int silent[SILENT];
    AUTO_BUF struct buf huge = { 0 };
    int fd;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const char *heard;

        fd = socket_open();
        heard = socket_talk(fd, bad[i], 2); /* the answer, and the end */
        if (strncmp(heard, "{\"error\":\"", 10) != 0)
            TAP_FAIL("%s: %s", bad[i], heard);
        close(fd);
    }
    for (int i = 0; i < 100000; i++)
        buf_byte(&huge, 'a');
    fd = socket_open();
    CHECK(!strstr(socket_talk(fd, buf_cstr(&huge), 2), "attached"));
    close(fd);
    /* those who say nothing do not keep others out */
    for (int i = 0; i < SILENT; i++)
        silent[i] = socket_open();
    CHECK_INT(RUN("status"), 0);
    for (int i = 0; i < SILENT; i++)
        close(silent[i]);
    rig_end();
}

TEST(a_directory_that_others_write_to_is_no_place_for_a_socket)
{
    rig_begin();
    CHECK_INT(mkdir(in_home("run"), 0700), 0);
    CHECK_INT(chmod(in_home("run"), 0777), 0);
    CHECK(RUN("serve", "--port", "0") != 0);
    CHECK_HAS(err, "others may write to it");
    CHECK_INT(access(in_home("run/patchbay.sock"), F_OK), -1);
    CHECK_INT(chmod(in_home("run"), 0700), 0);
    if (geteuid() == 0) { /* another user who listens there */
        struct sockaddr_un to = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        CHECK_INT(chmod(home, 0755), 0);
        CHECK_INT(chown(in_home("run"), 65534, 65534), 0);
        CHECK(RUN("serve", "--port", "0") != 0);
        CHECK_HAS(err, "is another user's");
        snprintf(to.sun_path, sizeof to.sun_path, "%s/run/patchbay.sock", home);
        /* who is told to be the listener is who called listen() */
        CHECK_INT(bind(fd, (struct sockaddr *)&to, sizeof to), 0);
        CHECK_INT(seteuid(65534), 0);
        CHECK_INT(listen(fd, 5), 0);
        CHECK_INT(seteuid(0), 0);
        CHECK(RUN("status") != 0);
        CHECK_HAS(err, "is another user; it is not used");
        close(fd);
    }
    rig_end();
}

/* Both find the socket of one that was killed. */
TEST(of_two_daemons_that_start_at_once_one_remains_and_is_reached)
{
    rig_begin();
    rig_daemon(NULL);
    CHECK_INT(daemon_stop(SIGKILL), -SIGKILL);
    CHECK_INT(access(in_home("run/patchbay.sock"), F_OK), 0);
    for (int round = 0; round < 10; round++) {
        struct started s[3];
        int alive = 0;

        for (int i = 0; i < 3; i++)
            start_with(&s[i], NULL, WORDS("serve", "--port", "0"));
        for (int i = 0; i < 3; i++) {
            WAIT_FOR(strstr(so_far(s[i].e), "  socket") || strstr(so_far(s[i].e), "another"));
            alive += strstr(so_far(s[i].e), "  socket") != NULL;
        }
        CHECK_INT(alive, 1);
        CHECK_INT(RUN("status"), 0);
        for (int i = 0; i < 3; i++)
            kill(s[i].pid, SIGKILL);
        for (int i = 0; i < 3; i++)
            started_end(&s[i]);
    }
    rig_end();
}

/* ---- servers ---- */

#define SCRIPTED "{\"command\":\"$BUILD/tests/e2e/script_server\",\"args\":[\"$HOME/script\"]}"

static void script(const char *method, const char *result)
{
    char name[64];

    snprintf(name, sizeof name, "script/%s", method);
    write_file(in_home(name), result);
}

static void script_begin(const char *tools)
{
    rig_begin();
    CHECK_INT(mkdir(in_home("script"), 0700), 0);
    script("initialize",
           "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{"
           "\"name\":\"\\u001b]0;owned\\u0007\",\"version\":\"\\u202e1\"}}");
    script("tools_list", tools);
    rig_config("\"evil\":" SCRIPTED);
}

/* "ESC ]", "ESC P", U+009B, U+202E, U+061C, a tag and the bell in what a person sees. */
static void check_harmless(const char *what)
{
    static const char *const bad[] = { "\033]",    "\033P",        "\033[2J",
                                       "\xc2\x9b", "\xe2\x80\xae", "\a",
                                       "\b",       "\xd8\x9c",     "\xf3\xa0\x81\xa1" };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (strstr(out, bad[i]))
            TAP_FAIL("'%s' lets %zu through: %s", what, i, out);
}

TEST(a_malformed_answer_is_told_at_once_with_the_name_of_its_server)
{
    static const struct {
        const char *result, *why;
    } cases[] = {
        { "{},\"error\":{\"code\":1,\"message\":\"m\"}",
          "Server 'evil': the answer is malformed: an answer has a result or an error, not both" },
        { "{\"a\":1,\"a\":2}", "Server 'evil': the answer is no valid JSON: " },
        { "{", "Server 'evil': the answer is no valid JSON: " },
    };

    script_begin("{\"tools\":[{\"name\":\"ok\",\"inputSchema\":{\"type\":\"object\"}}]}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        script("tools_call", cases[i].result);
        CHECK_INT(RUN("call", "evil.ok"), 5);
        CHECK_HAS(err, cases[i].why);
    }
    rig_end();
}

/* C11 C17, ANSI deception */
TEST(nothing_that_a_server_says_moves_the_terminal)
{
/* Also as they are: JSON lets those above U+007F pass. */
#define ESCAPES                                                    \
    "\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202e\\b\xc2\x9b" \
    "31m\xe2\x80\xae\xd8\x9c\xf3\xa0\x81\xa1"
    static const char *const verbs[][4] = {
        { "tools", "evil" },
        { "tools" },
        { "list" },
        { "get", "evil" },
        { "call", "evil.ok" },
        { "call", "evil.no" },
        { "doctor", "evil" },
        { "logs", "evil" },
        { "resources", "evil" },
        { "prompt", "evil" },
        { "status" },
        { "tools", "--json" },
        { "list", "--json" },
        { "call", "evil.ok", "--json" },
        { "logs", "--json" },
        { "doctor", "--json" },
        { "status", "--json" },
    };

    script_begin("{\"tools\":[{\"name\":\"ok\",\"title\":\"" ESCAPES "\",\"description\":\"" ESCAPES
                 "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"" ESCAPES
                 "\":{\"description\":\"" ESCAPES "\"}}}},"
                 "{\"name\":\"" ESCAPES "\",\"inputSchema\":{\"type\":\"object\"}}]}");
    script("tools_call", "{\"content\":[{\"type\":\"text\",\"text\":\"" ESCAPES "\"}]}");
    script("stderr", "\033]0;owned\a\033[2J\xc2\x9b"
                     "31m\xe2\x80\xae\b\n");
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("evil", "state"), "connected") == 0);
    CHECK_STR(server_is("evil", "tools"), "1"); /* the one with a name */
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        run_on_terminal(WORDS(verbs[i][0], verbs[i][1], verbs[i][2]));
        check_harmless(verbs[i][0]);
    }
    run_on_terminal(WORDS("tools", "--", built("tests/e2e/script_server"), in_home("script")));
    check_harmless("tools --");
    snprintf(out, sizeof out, "%s", file_text("daemon.err"));
    check_harmless("serve");
    rig_end();
#undef ESCAPES
}

/* On a terminal it is the same JSON, with escapes. */
TEST(json_on_a_terminal_says_the_same_as_elsewhere)
{
    AUTO_JSON struct json_doc plain = { 0 }, shown = { 0 };
    AUTO_FREE char *elsewhere = NULL;

    script_begin("{\"tools\":[{\"name\":\"ok\",\"description\":\"\xc2\x9b \x7f \xe2\x80\xae "
                 "\xd8\x9c \xf3\xa0\x81\xa1 \xc3\xbc\",\"inputSchema\":{\"type\":\"object\"}}]}");
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("evil", "state"), "connected") == 0);
    CHECK_INT(RUN("tools", "--json"), 0);
    elsewhere = mem_dup(out);
    CHECK_HAS(elsewhere, "\xe2\x80\xae");
    CHECK_INT(run_on_terminal(WORDS("tools", "--json")), 0);
    CHECK_HAS(out, "\\u009b \\u007f \\u202e \\u061c \\udb40\\udc61 \xc3\xbc");
    CHECK_INT(json_parse(&plain, span_of(elsewhere), NULL, NULL), 0);
    CHECK_INT(json_parse(&shown, span_of(out), NULL, NULL), 0);
    CHECK(json_equal(json_root(&plain), json_root(&shown)));
    rig_end();
}

/* The file of a project comes with the project, from whoever wrote that. */
TEST(nothing_that_a_projects_file_says_moves_the_terminal)
{
#define ESCAPES "\\u001b]0;owned\\u0007\\u001b[2J\\u009b31m\\u202e\\b"
    static const char *const verbs[][5] = {
        { "get", "x", "--scope", "project" },
        { "get", "x", "--scope", "project", "--json" },
        { "list", "--config", ".mcp.json" },
        { "list", "--config", ".mcp.json", "--json" },
    };

    rig_begin();
    CHECK_INT(chdir(home), 0);
    write_file(in_home(".mcp.json"),
               "{\"mcpServers\":{\"x\":{\"command\":\"/no/" ESCAPES "\",\"args\":[\"" ESCAPES
               "\"],\"env\":{\"A" ESCAPES "\":\"" ESCAPES "\"},\"display_name\":\"" ESCAPES
               "\",\"cwd\":\"/" ESCAPES "\",\"disabled_tools\":[\"" ESCAPES "\"],\"" ESCAPES
               "\":1}}}");
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        run_on_terminal(WORDS(verbs[i][0], verbs[i][1], verbs[i][2], verbs[i][3], verbs[i][4]));
        CHECK(*out);
        check_harmless(verbs[i][0]);
    }
    rig_end();
#undef ESCAPES
}

/* A completed word is not quoted by the shell: pressing Enter would run it. */
TEST(no_name_of_a_server_becomes_a_command)
{
    script_begin(
        "{\"tools\":[{\"name\":\"good\",\"inputSchema\":{\"type\":\"object\",\"properties\":"
        "{\"fine\":{},\"$(touch pwned)\":{}}}},{\"name\":\"$(touch pwned)\"},"
        "{\"name\":\"`touch pwned`\"},{\"name\":\"a;touch pwned\"},{\"name\":\"a|b\"},"
        "{\"name\":\"a b\"},{\"name\":\"a'b\"},{\"name\":\"~root\"}]}");
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("evil", "tools"), "8") == 0);
    WAIT_FOR(RUN("completion", "--", "call", "evil.") == 0 && strstr(out, "evil.good"));
    CHECK(!strpbrk(out, "$`;|'~"));
    CHECK(!strstr(out, "touch"));
    CHECK_INT(RUN("completion", "--", "call", "evil.good", ""), 0);
    CHECK(!strpbrk(out, "$`;|"));
    CHECK_INT(access(in_home("pwned"), F_OK), -1);
    rig_end();
}

/* Y7: its list would have its own list in it, and that one again. */
TEST(a_hub_that_has_itself_among_its_servers_says_so)
{
    char text[512], before[64];

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(WORDS("--no-token"));
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    snprintf(before, sizeof before, "%s", server_is("ex", "tools"));
    snprintf(text, sizeof text, "\"ex\":" EXAMPLE ",\"self\":{\"url\":\"http://127.0.0.1:%d/mcp\"}",
             daemon_port());
    rig_config(text);
    WAIT_FOR(strstr(server_is("self", "message"), "it is this program itself"));
    CHECK_STR(server_is("self", "tools"), "0");
    CHECK_STR(server_is("ex", "tools"), before);
    CHECK_INT(RUN("call", "ex.echo", "text=1"), 0);
    rig_end();
}

/* One through the other: whoever comes second hears that the first is behind it. */
TEST(two_hubs_do_not_become_servers_of_each_other)
{
    char text[512];
    struct started second;
    int port;

    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(WORDS("--no-token"));
    snprintf(text, sizeof text,
             "{\"mcpServers\":{\"first\":{\"url\":\"http://127.0.0.1:%d/mcp\"}}}", daemon_port());
    write_file(in_home("second.json"), text);
    start_with(&second, NULL,
               WORDS("serve", "--port", "0", "--no-token", "--no-socket", "--no-record", "--config",
                     in_home("second.json")));
    WAIT_FOR(strstr(so_far(second.e), "http://127.0.0.1:"));
    port = (int)strtol(strstr(so_far(second.e), "http://127.0.0.1:") + 17, NULL, 10);
    snprintf(text, sizeof text, "http://127.0.0.1:%d/mcp", port);
    WAIT_FOR(RUN("tools", "--url", text) == 0 && strstr(out, "first__ex__echo"));
    snprintf(text, sizeof text,
             "\"ex\":" EXAMPLE ",\"second\":{\"url\":\"http://127.0.0.1:%d/mcp\"}", port);
    rig_config(text);
    WAIT_FOR(strstr(server_is("second", "message"), "or has it among its own servers"));
    kill(second.pid, SIGTERM);
    CHECK_INT(started_end(&second), 0);
    rig_end();
}
