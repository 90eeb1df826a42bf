/* bench_rpc - how many microseconds and calls per second a server needs for `echo`, and the same
 * for the least that could do the job (the floors), so that figures become ratios.
 *
 *   bench_rpc floor-stdio                        a blocking server: read, find the id, write
 *   bench_rpc floor-http PORT                    an epoll server without checks
 *   bench_rpc floor-relay COMMAND ARG...         moves bytes to and from it, and looks at none
 *   bench_rpc stdio CALLS DEPTH COMMAND ARG...   starts it and keeps DEPTH calls in flight
 *   bench_rpc http CALLS CLIENTS PORT[/PATH] COMMAND ARG...   starts it; one connection per client
 *   bench_rpc start COMMAND ARG...               until it has listed its tools; and its memory then
 *
 * The last three print one JSON line. Loopback only; every loop is bounded by CALLS and LIMIT_S. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_S = 60, BUFFER = 1 << 16, CLIENTS_MAX = 256, WARM_UP = 1000 };

static const char INIT[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                           "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":"
                           "{\"name\":\"bench\",\"version\":\"1\"}}}";
static const char CALL[] = "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"tools/call\",\"params\":{"
                           "\"name\":\"echo\",\"arguments\":{\"text\":\"hello\"}}}";

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static double now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t w = write(fd, p, n);

        if (w < 0 && errno != EINTR)
            die("write");
        if (w > 0)
            p += w, n -= (size_t)w;
    }
}

/* ---- floors ---- */

static long find_id(const char *p)
{
    const char *id = strstr(p, "\"id\":");

    return id ? strtol(id + 5, NULL, 10) : -1;
}

static size_t answer(char *out, size_t cap, const char *request)
{
    return (size_t)snprintf(out, cap,
                            "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"content\":[{\"type\":"
                            "\"text\",\"text\":\"hello\"}]}}",
                            find_id(request));
}

static int floor_stdio(void)
{
    static char in[BUFFER + 1], out[BUFFER];
    size_t have = 0;
    ssize_t n;

    while ((n = read(0, in + have, BUFFER - have)) > 0) {
        char *line = in, *end;
        size_t made = 0;

        have += (size_t)n;
        in[have] = '\0';
        while ((end = memchr(line, '\n', (size_t)(in + have - line)))) {
            *end = '\0';
            if (strstr(line, "\"id\":") && made < sizeof out - 512) {
                made += answer(out + made, sizeof out - made, line);
                out[made++] = '\n';
            }
            line = end + 1;
        }
        write_all(1, out, made);
        have -= (size_t)(line - in);
        memmove(in, line, have);
    }
    return 0;
}

static int listen_on(int port)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)port) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 512))
        die("listen");
    return fd;
}

static void floor_http(int port)
{
    int listener = listen_on(port), ep = epoll_create1(EPOLL_CLOEXEC), on = 1;
    struct epoll_event e = { .events = EPOLLIN, .data.fd = listener }, events[64];
    static char in[BUFFER + 1], body[512], out[1024];

    epoll_ctl(ep, EPOLL_CTL_ADD, listener, &e);
    for (;;) {
        int n = epoll_wait(ep, events, 64, -1);

        for (int i = 0; i < n; i++) {
            int fd = events[i].data.fd;
            ssize_t got;
            size_t size;
            int head;

            if (fd == listener) {
                e.data.fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                setsockopt(e.data.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                epoll_ctl(ep, EPOLL_CTL_ADD, e.data.fd, &e);
                continue;
            }
            got = read(fd, in, BUFFER);
            if (got <= 0) {
                close(fd);
                continue;
            }
            in[got] = '\0';
            size = answer(body, sizeof body, in);
            head = snprintf(out, sizeof out,
                            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                            "Content-Length: %zu\r\n\r\n%s",
                            size, body);
            write_all(fd, out, (size_t)head);
        }
    }
}

/* ---- what is measured ---- */

static double *took;
static long done;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double cpu_of(pid_t pid)
{
    char path[64], text[1024], *p;
    unsigned long user = 0, system = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    p = strrchr(text, ')');
    for (int field = 2; p && field < 14; field++)
        p = strchr(p + 1, ' ');
    if (p) {
        user = strtoul(p, &p, 10);
        system = strtoul(p, NULL, 10);
    }
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static void report(double seconds, double cpu)
{
    qsort(took, (size_t)done, sizeof *took, by_value);
    printf("{\"calls\":%ld,\"p50_us\":%.1f,\"p99_us\":%.1f,\"calls_per_s\":%.0f,"
           "\"cpu_us_per_call\":%.2f}\n",
           done, took[done / 2] * 1e6, took[done * 99 / 100] * 1e6, (double)done / seconds,
           cpu * 1e6 / (double)done);
}

static pid_t start(char **command, int *in, int *out)
{
    int a[2], b[2];
    pid_t pid;

    if (pipe2(a, O_CLOEXEC) || pipe2(b, O_CLOEXEC))
        die("pipe");
    pid = fork();
    if (pid == 0) {
        int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(a[0], 0);
        dup2(b[1], 1);
        dup2(quiet, 2);
        execvp(command[0], command);
        _exit(127);
    }
    close(a[0]);
    close(b[1]);
    *in = a[1];
    *out = b[0];
    return pid;
}

static void stop(pid_t pid)
{
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
}

/* Returns how many answers came: messages with an id. A mark that is cut in two by the read is
 * found when its end comes. */
static long read_answers(int fd)
{
    static const char mark[] = "\"id\":";
    static char in[BUFFER];
    static size_t kept;
    ssize_t n = read(fd, in + kept, sizeof in - kept);
    char *p = in, *end;
    long found = 0;

    if (n <= 0)
        die("the server ended");
    end = in + kept + n;
    for (char *at; (at = memmem(p, (size_t)(end - p), mark, sizeof mark - 1)) != NULL; found++)
        p = at + sizeof mark - 1;
    kept = (size_t)(end - p) < sizeof mark - 2 ? (size_t)(end - p) : sizeof mark - 2;
    memmove(in, end - kept, kept);
    return found;
}

static int bench_stdio(long calls, long depth, char **command)
{
    int in, out;
    pid_t pid = start(command, &in, &out);
    double *sent = calloc((size_t)(calls + WARM_UP), sizeof *sent), begin = 0, cpu = 0;
    long asked = 0, answered = 0, total = calls + WARM_UP;

    took = calloc((size_t)calls, sizeof *took);
    write_all(in, INIT, sizeof INIT - 1);
    write_all(in, "\n", 1);
    while (read_answers(out) < 1)
        continue;
    while (answered < total) {
        char text[BUFFER];
        size_t n = 0;
        long got;
        double t;

        for (; asked < total && asked - answered < depth && n < sizeof text - 512; asked++) {
            n += (size_t)snprintf(text + n, sizeof text - n, CALL, asked + 1);
            text[n++] = '\n';
            sent[asked] = now();
        }
        write_all(in, text, n);
        got = read_answers(out);
        t = now();
        for (; got > 0; got--, answered++) {
            if (answered == WARM_UP) {
                begin = t;
                cpu = cpu_of(pid);
            }
            if (answered >= WARM_UP)
                took[done++] = t - sent[answered];
        }
    }
    report(now() - begin, cpu_of(pid) - cpu);
    close(in);
    stop(pid);
    free(sent);
    return 0;
}

static int floor_relay(char **command)
{
    static char bytes[BUFFER];
    int in, out;
    pid_t pid = start(command, &in, &out);
    struct pollfd p[] = { { .fd = 0, .events = POLLIN }, { .fd = out, .events = POLLIN } };

    while (poll(p, 2, -1) >= 0) {
        for (int i = 0; i < 2; i++) {
            ssize_t n = p[i].revents ? read(p[i].fd, bytes, sizeof bytes) : 1;

            if (n <= 0) {
                stop(pid);
                return 0;
            }
            if (p[i].revents)
                write_all(i ? 1 : in, bytes, (size_t)n);
        }
    }
    return 1;
}

static long resident_kb(pid_t pid)
{
    char path[64], line[256];
    long kb = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, "VmRSS:", 6))
            kb = strtol(line + 6, NULL, 10);
    if (f)
        fclose(f);
    return kb;
}

static int bench_start(char **command)
{
    static const char LIST[] = "\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
                               "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
    double begin = now(), took_s;
    int in, out;
    pid_t pid = start(command, &in, &out);
    long answers = 0;

    write_all(in, INIT, sizeof INIT - 1);
    write_all(in, LIST, sizeof LIST - 1);
    while (answers < 2)
        answers += read_answers(out);
    took_s = now() - begin;
    printf("{\"ms\":%.1f,\"rss_kb\":%ld}\n", took_s * 1e3, resident_kb(pid));
    close(in);
    stop(pid);
    return 0;
}

/* Where HTTP goes to. */
static int port;
static const char *path = "/mcp";

static int dial(void)
{
    struct sockaddr_in a = { .sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons((uint16_t)port) };
    int on = 1;

    for (double until = now() + 5; now() < until;) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            return fd;
        }
        close(fd);
        poll(NULL, 0, 10);
    }
    die("connect");
    return -1;
}

static void post(int fd, const char *session, const char *body)
{
    char text[2048];
    int n =
        snprintf(text, sizeof text,
                 "POST %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json"
                 "\r\nAccept: application/json, text/event-stream\r\n%s%s%s"
                 "Content-Length: %zu\r\n\r\n%s",
                 path, port, *session ? "Mcp-Session-Id: " : "", session,
                 *session ? "\r\nMCP-Protocol-Version: 2025-06-18\r\n" : "", strlen(body), body);

    write_all(fd, text, (size_t)n);
}

/* One answer per connection is on its way, small enough to come in one piece or soon after. */
static size_t read_reply(int fd, char *text, size_t cap)
{
    size_t have = 0;

    for (;;) {
        ssize_t n = read(fd, text + have, cap - 1 - have);
        char *end, *length;

        if (n <= 0)
            die("the server closed the connection");
        have += (size_t)n;
        text[have] = '\0';
        end = strstr(text, "\r\n\r\n");
        length = strcasestr(text, "content-length:");
        if (end && length && have >= (size_t)(end + 4 - text) + strtoul(length + 15, NULL, 10))
            return have;
    }
}

static void open_session(int fd, char *session, size_t cap)
{
    static char text[BUFFER];
    char *id;

    post(fd, "", INIT);
    read_reply(fd, text, sizeof text);
    id = strcasestr(text, "mcp-session-id:");
    if (id) {
        id += strspn(id + 15, " ") + 15;
        snprintf(session, cap, "%.*s", (int)strcspn(id, "\r\n"), id);
    }
}

static int bench_http(long calls, int clients, char **command)
{
    static char sessions[CLIENTS_MAX][128], text[BUFFER];
    int in, out, ep = epoll_create1(EPOLL_CLOEXEC), fds[CLIENTS_MAX];
    pid_t pid = start(command, &in, &out);
    double sent[CLIENTS_MAX], begin = 0, cpu = 0;
    long asked = 0, answered = 0, total = calls + WARM_UP;
    char body[256];

    if (clients < 1 || clients > CLIENTS_MAX)
        return 2;
    took = calloc((size_t)calls, sizeof *took);
    for (int i = 0; i < clients; i++) {
        struct epoll_event e = { .events = EPOLLIN, .data.u32 = (uint32_t)i };

        fds[i] = dial();
        open_session(fds[i], sessions[i], sizeof sessions[i]);
        epoll_ctl(ep, EPOLL_CTL_ADD, fds[i], &e);
        snprintf(body, sizeof body, CALL, ++asked);
        sent[i] = now();
        post(fds[i], sessions[i], body);
    }
    while (answered < total) {
        struct epoll_event events[CLIENTS_MAX];
        int n = epoll_wait(ep, events, CLIENTS_MAX, LIMIT_S * 1000);

        for (int k = 0; k < n && answered < total; k++) {
            uint32_t i = events[k].data.u32;
            double t;

            read_reply(fds[i], text, sizeof text);
            if (!strstr(text, "hello"))
                die("a wrong answer");
            t = now();
            if (answered++ == WARM_UP) {
                begin = t;
                cpu = cpu_of(pid);
            }
            if (answered > WARM_UP)
                took[done++] = t - sent[i];
            snprintf(body, sizeof body, CALL, ++asked);
            sent[i] = now();
            post(fds[i], sessions[i], body);
        }
    }
    report(now() - begin, cpu_of(pid) - cpu);
    stop(pid);
    return 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
    alarm(LIMIT_S * 2);
    if (!strcmp(mode, "floor-stdio"))
        return floor_stdio();
    if (!strcmp(mode, "floor-http") && argc > 2)
        floor_http((int)strtol(argv[2], NULL, 10));
    if (!strcmp(mode, "floor-relay") && argc > 2)
        return floor_relay(argv + 2);
    if (!strcmp(mode, "start") && argc > 2)
        return bench_start(argv + 2);
    if (!strcmp(mode, "stdio") && argc > 4)
        return bench_stdio(strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10), argv + 4);
    if (!strcmp(mode, "http") && argc > 5) {
        char *rest;

        port = (int)strtol(argv[4], &rest, 10);
        path = *rest ? rest : path;
        return bench_http(strtol(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10), argv + 5);
    }
    fprintf(stderr, "bench_rpc: see the comment at the top of its source\n");
    return 2;
}
