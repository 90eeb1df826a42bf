/* The daemon's socket: who gets in, and what the first line may be. */
#include "face/host/host.h"
#include "face/host_rig.h"
#include "face/listen/attach.h"
#include "face/listen/listen.h"
#include "face/rest/rest.h"
#include "temp_dir.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { GUESTS_MAX = 1024 }; /* of attach.c */

struct door {
    struct hub_rig hub;
    struct attach *attach;
    char path[256];
    bool closed;
};

static void door_open(struct door *d)
{
    struct pb_error err;

    rig_init(&d->hub, NULL);
    fake_tool(rig_server(&d->hub, "alpha"), "echo", FAKE_ECHO);
    rig_start(&d->hub);
    snprintf(d->path, sizeof d->path, "%s", temp_path("run/patchbay.sock"));
    d->closed = false;
    if (attach_listen(&d->attach, d->hub.hosts, d->path, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

static void on_closed(void *ctx) { ((struct door *)ctx)->closed = true; }

static void door_close(struct door *d)
{
    attach_close(d->attach, on_closed, d);
    CHECK(!d->closed); /* never from inside the call */
    fakes_settle(&d->hub.fakes);
    CHECK(d->closed);
    rig_done(&d->hub);
}

struct guest {
    struct door *door;
    int fd;
    char text[16384];
    size_t n;
    bool over;
};

static int dial(const char *path)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static void guest_open(struct door *d, struct guest *g)
{
    *g = (struct guest){ .door = d, .fd = dial(d->path) };
    CHECK(g->fd >= 0);
    fakes_settle(&d->hub.fakes);
}

static void guest_listen(struct guest *g)
{
    ssize_t n;

    fakes_settle(&g->door->hub.fakes);
    while ((n = recv(g->fd, g->text + g->n, sizeof g->text - 1 - g->n, 0)) > 0)
        g->n += (size_t)n;
    g->over |= n == 0 || (n < 0 && errno != EAGAIN);
    g->text[g->n] = '\0';
}

static void guest_say(struct guest *g, const char *text)
{
    CHECK_INT(send(g->fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
    for (int i = 0; i < 20; i++)
        guest_listen(g);
}

static void guest_close(struct guest *g)
{
    close(g->fd);
    fakes_settle(&g->door->hub.fakes);
}

#define ATTACHED "{\"attached\":{\"version\":\"" PB_VERSION "\"}}\n"
#define INIT                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":" \
    "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
#define LIST "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n"

TEST(the_first_line_chooses_what_is_shown)
{
    static const struct {
        const char *line, *has, *lacks;
    } cases[] = {
        { "{\"attach\":{}}\n", "\"alpha__echo\"", "external_" },
        { "{\"attach\":{\"server\":\"alpha\"}}\n", "\"name\":\"echo\"", "alpha__" },
        { "{\"attach\":{\"mode\":\"full\"}}\n", "\"alpha__echo\"", "external_" },
        { "{\"attach\":{\"expose\":\"external\"}}\n", "external_list_servers", "alpha__" },
        { " {\"attach\": {\"unknown\": 1}, \"more\": 2}\r\n", "\"alpha__echo\"", "external_" },
    };
    struct door d;

    door_open(&d);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct guest g;

        guest_open(&d, &g);
        guest_say(&g, cases[i].line);
        CHECK_STR(g.text, ATTACHED);
        guest_say(&g, INIT LIST);
        CHECK_HAS(g.text, cases[i].has);
        CHECK(!strstr(g.text, cases[i].lacks));
        guest_close(&g);
    }
    door_close(&d);
}

/* A client need not wait for the answer to its first line. */
TEST(bytes_behind_the_first_line_are_not_lost)
{
    static const char all[] = "{\"attach\":{}}\n" INIT LIST;
    struct door d;
    struct guest g;

    door_open(&d);
    guest_open(&d, &g);
    guest_say(&g, all);
    CHECK_HAS(g.text, ATTACHED "{\"jsonrpc\":\"2.0\",\"id\":1,");
    CHECK_HAS(g.text, "\"alpha__echo\"");
    guest_close(&g);
    guest_open(&d, &g);
    for (const char *p = all; *p; p++) {
        CHECK_INT(send(g.fd, p, 1, MSG_NOSIGNAL), 1);
        guest_listen(&g);
    }
    CHECK_HAS(g.text, "\"alpha__echo\"");
    guest_close(&g);
    door_close(&d);
}

TEST(control_is_for_those_who_ask_for_it)
{
    static const char status[] = "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"patchbay/status\"}\n";
    struct door d;
    struct guest g;

    door_open(&d);
    guest_open(&d, &g);
    guest_say(&g, "{\"attach\":{\"control\":true}}\n");
    guest_say(&g, status);
    CHECK_HAS(g.text, "\"pid\":");
    guest_close(&g);
    guest_open(&d, &g);
    guest_say(&g, "{\"attach\":{}}\n");
    guest_say(&g, status);
    CHECK_HAS(g.text, "-32601");
    guest_close(&g);
    door_close(&d);
}

TEST(a_first_line_that_is_wrong_is_refused_with_the_reason)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        { "hello\n", "the first line: " },
        { "\n", "the first line: " },
        { "[]\n", "the first line: " },
        { "{}\n", "attach" },
        { "{\"attach\":7}\n", "attach" },
        { "{\"attach\":{\"server\":7}}\n", "server" },
        { "{\"attach\":{\"control\":\"yes\"}}\n", "control" },
        { "{\"attach\":{},\"attach\":{\"control\":true}}\n", "already has" },
        { "{\"attach\":{\"server\":\"a\",\"server\":\"alpha\"}}\n", "already has" },
        { "{\"attach\":{\"server\":\"gamma\"}}\n", "there is no server 'gamma'" },
        { "{\"attach\":{\"mode\":\"many\"}}\n", "many" },
        { "{\"attach\":{\"expose\":\"all\"}}\n", "all" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", "attach" },
        { "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "the first line: " },
        { "\xff\xfe\n", "the first line: " },
    };
    struct door d;

    door_open(&d);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct guest g;

        guest_open(&d, &g);
        guest_say(&g, cases[i].line);
        CHECK_HAS(g.text, "{\"error\":\"");
        CHECK_HAS(g.text, cases[i].says);
        CHECK(g.over);
        guest_close(&g);
    }
    door_close(&d);
}

/* A first line of exactly this many bytes, line end and all. */
static void check_length(struct door *d, size_t n, bool fits)
{
    char line[ATTACH_LINE_MAX + 1024];
    struct guest g;

    memset(line, ' ', sizeof line);
    memcpy(line, "{\"attach\":{}}", 13);
    line[n - 1] = '\n';
    line[n] = '\0';
    guest_open(d, &g);
    guest_say(&g, line);
    if (fits)
        CHECK_STR(g.text, ATTACHED);
    else
        CHECK_STR(g.text, "{\"error\":\"the first line is too long\"}\n");
    CHECK(g.over == !fits);
    guest_close(&g);
}

TEST(a_first_line_may_have_so_many_bytes_and_no_more)
{
    struct door d;

    door_open(&d);
    check_length(&d, 14, true);
    check_length(&d, ATTACH_LINE_MAX, true);
    check_length(&d, ATTACH_LINE_MAX + 1, false);
    check_length(&d, ATTACH_LINE_MAX + 1000, false);
    door_close(&d);
}

TEST(a_first_line_that_does_not_come_is_not_waited_for)
{
    struct guest silent, slow, quick;
    struct door d;

    door_open(&d);
    guest_open(&d, &silent);
    guest_open(&d, &slow);
    guest_open(&d, &quick);
    guest_say(&quick, "{\"attach\":{}}\n");
    guest_say(&slow, "{\"attach\"");
    loop_advance(d.hub.fakes.loop, ATTACH_MS - 1);
    guest_say(&slow, ":");
    guest_listen(&silent);
    CHECK(!silent.over && !slow.over);
    loop_advance(d.hub.fakes.loop, 1);
    guest_listen(&silent);
    guest_listen(&slow);
    CHECK_STR(silent.text, "{\"error\":\"no first line in time\"}\n");
    CHECK_STR(slow.text, "{\"error\":\"no first line in time\"}\n");
    CHECK(silent.over && slow.over);
    guest_say(&quick, INIT LIST); /* is a client, not a guest any more */
    CHECK_HAS(quick.text, "\"alpha__echo\"");
    guest_close(&silent);
    guest_close(&slow);
    guest_close(&quick);
    door_close(&d);
}

TEST(guests_may_leave_at_any_time)
{
    static const char *const said[] = { "", "{", "{\"attach\":{}}\n", "{\"attach\":{}}\n" INIT };
    struct door d;

    door_open(&d);
    for (size_t i = 0; i < ARRAY_LEN(said); i++) {
        struct guest g;

        guest_open(&d, &g);
        if (*said[i])
            CHECK_INT(send(g.fd, said[i], strlen(said[i]), MSG_NOSIGNAL), strlen(said[i]));
        guest_close(&g);
    }
    check_length(&d, 14, true);
    door_close(&d);
}

TEST(guests_are_told_when_the_daemon_stops)
{
    struct door d;
    struct guest g;

    door_open(&d);
    guest_open(&d, &g);
    attach_close(d.attach, on_closed, &d);
    guest_listen(&g);
    CHECK_STR(g.text, "{\"error\":\"the daemon is stopping\"}\n");
    CHECK(g.over && d.closed);
    CHECK_INT(access(d.path, F_OK), -1);
    close(g.fd);
    rig_done(&d.hub);
}

TEST(so_many_may_wait_at_the_door_and_no_more)
{
    enum { EXTRA = 8 };
    struct rlimit files;
    int fds[GUESTS_MAX + EXTRA], closed = 0;
    struct door d;

    CHECK_INT(getrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_max < 4 * GUESTS_MAX)
        TAP_SKIP("this needs more descriptors than there may be");
    files.rlim_cur = 4 * GUESTS_MAX;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &files), 0);
    door_open(&d);
    for (int i = 0; i < GUESTS_MAX + EXTRA; i++) {
        fds[i] = dial(d.path);
        CHECK(fds[i] >= 0);
        fakes_settle(&d.hub.fakes);
    }
    for (int i = 0; i < GUESTS_MAX + EXTRA; i++) {
        char c;

        closed += recv(fds[i], &c, 1, 0) == 0;
        if (i == GUESTS_MAX - 1)
            CHECK_INT(closed, 0);
    }
    CHECK_INT(closed, EXTRA);
    for (int i = 0; i < GUESTS_MAX + EXTRA; i++)
        close(fds[i]);
    for (int i = 0; i < 100; i++)
        fakes_settle(&d.hub.fakes);
    check_length(&d, 14, true); /* there is room again */
    door_close(&d);
}

/* Who cannot be let in for want of a descriptor is reported again at once, for ever: it is looked
 * after a while later. */
TEST(the_door_rests_when_descriptors_run_out)
{
    struct rlimit was, few;
    int fds[256], n = 0;
    struct door d;
    struct guest g = { .door = &d };

    TAP_SKIP_UNDER_VALGRIND("keeps descriptors for itself");
    door_open(&d);
    g.fd = dial(d.path);
    CHECK(g.fd >= 0);
    CHECK_INT(getrlimit(RLIMIT_NOFILE, &was), 0);
    few = was;
    few.rlim_cur = 256;
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (n < 256 && (fds[n] = dup(g.fd)) >= 0)
        n++;
    fakes_settle(&d.hub.fakes);
    while (n)
        close(fds[--n]);
    guest_say(&g, "{\"attach\":{}}\n");
    CHECK_STR(g.text, "");
    loop_advance(d.hub.fakes.loop, HTTP_ACCEPT_RETRY_MS - 1);
    guest_listen(&g);
    CHECK_STR(g.text, "");
    loop_advance(d.hub.fakes.loop, 1);
    for (int i = 0; i < 20; i++)
        guest_listen(&g);
    CHECK_STR(g.text, ATTACHED);
    CHECK_INT(setrlimit(RLIMIT_NOFILE, &was), 0);
    guest_close(&g);
    door_close(&d);
}

/* ---- the file ---- */

TEST(the_socket_is_for_its_owner_alone_and_goes_with_the_daemon)
{
    struct door d;

    door_open(&d);
    CHECK_INT(temp_mode(d.path), 0600);
    CHECK_INT(temp_mode(temp_path("run")), 0700);
    door_close(&d);
    CHECK_INT(access(d.path, F_OK), -1);
}

TEST(one_daemon_at_a_time)
{
    struct attach *second = NULL;
    struct pb_error err;
    struct door d;

    door_open(&d);
    CHECK_INT(attach_listen(&second, d.hub.hosts, d.path, &err), -PB_E_BUSY);
    CHECK_HAS(err.msg, "another patchbay is running and listens on '");
    CHECK_HAS(err.msg, "'; 'patchbay status' tells more");
    check_length(&d, 14, true); /* the first is not disturbed */
    door_close(&d);
}

TEST(a_socket_that_nobody_listens_on_is_replaced)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct door d;

    CHECK_INT(mkdir(temp_path("run"), 0700), 0);
    snprintf(to.sun_path, sizeof to.sun_path, "%s", temp_path("run/patchbay.sock"));
    CHECK_INT(bind(fd, (struct sockaddr *)&to, sizeof to), 0);
    close(fd);
    door_open(&d);
    check_length(&d, 14, true);
    door_close(&d);
}

TEST(what_is_in_the_way_and_no_socket_is_left_alone)
{
    struct attach *a = NULL;
    struct pb_error err;
    struct hub_rig rig;

    rig_init(&rig, NULL);
    mkdir(temp_path("run"), 0700);
    temp_write(temp_path("run/patchbay.sock"), "precious");
    CHECK_INT(attach_listen(&a, rig.hosts, temp_path("run/patchbay.sock"), &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "is in the way and no socket; remove it");
    CHECK_STR(temp_read(temp_path("run/patchbay.sock")), "precious");
    rig_done(&rig);
}

TEST(a_path_that_is_too_long_says_what_to_set)
{
    struct attach *a = NULL;
    char path[200];
    struct pb_error err;
    struct hub_rig rig;
    int fd;

    rig_init(&rig, NULL);
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    CHECK_INT(attach_listen(&a, rig.hosts, path, &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "the socket's path is longer than the 107 bytes that are possible; set "
                       "XDG_RUNTIME_DIR or PATCHBAY_HOME to something shorter");
    CHECK_INT(attach_connect(&fd, path, &(struct host_scope){ 0 }, &err), -PB_E_LIMIT);
    rig_done(&rig);
}

/* Somebody else, to whom the file was opened by mistake. */
TEST(another_user_is_not_let_in)
{
    struct door d;
    int status;
    pid_t pid;

    if (geteuid() != 0)
        TAP_SKIP("only root can be somebody else");
    door_open(&d);
    CHECK_INT(chmod(d.path, 0666), 0);
    CHECK_INT(chmod(temp_path("run"), 0755), 0);
    CHECK_INT(chmod(temp_path(""), 0755), 0);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct pollfd p = { .fd = setuid(65534) == 0 ? dial(d.path) : -1, .events = POLLIN };
        char c;

        if (p.fd < 0)
            _exit(2);
        if (send(p.fd, "{\"attach\":{}}\n", 14, MSG_NOSIGNAL) < 0)
            _exit(0);
        poll(&p, 1, 10000);
        _exit(recv(p.fd, &c, 1, 0) <= 0 ? 0 : 1);
    }
    while (waitpid(pid, &status, WNOHANG) == 0)
        fakes_settle(&d.hub.fakes);
    CHECK(WIFEXITED(status));
    CHECK_INT(WEXITSTATUS(status), 0);
    door_close(&d);
}

/* ---- the other end ---- */

/* attach_connect() in a process of its own, while the loop turns here: its code, negated. */
static int connect_code(struct door *d, const struct host_scope *scope)
{
    pid_t pid;
    int status;

    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        struct pb_error err;
        int fd;

        _exit(-attach_connect(&fd, d->path, scope, &err));
    }
    while (waitpid(pid, &status, WNOHANG) == 0)
        fakes_settle(&d->hub.fakes);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(a_client_hears_why_it_is_not_attached)
{
    struct pb_error err;
    struct door d;
    int fd;

    door_open(&d);
    CHECK_INT(connect_code(&d, &(struct host_scope){ 0 }), 0);
    CHECK_INT(connect_code(&d, &(struct host_scope){ .server = "alpha" }), 0);
    CHECK_INT(connect_code(&d, &(struct host_scope){ .expose = HOST_EXTERNAL, .control = true }),
              0);
    CHECK_INT(connect_code(&d, &(struct host_scope){ .server = "gamma" }), PB_E_NOT_FOUND);
    CHECK_INT(connect_code(&d, &(struct host_scope){ .mode = "many" }), PB_E_NOT_FOUND);
    door_close(&d);
    CHECK_INT(attach_connect(&fd, d.path, &(struct host_scope){ 0 }, &err), -PB_E_CLOSED);
    CHECK_HAS(err.msg, "no daemon listens on '");
}
