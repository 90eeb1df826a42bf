/* bench_http.c - the HTTP server alone: what one request and one idle connection cost.
 *
 *   bench_http serve [PORT]         answers POST /mcp with 110 bytes, opens a stream at /stream;
 *                                   on a line or the end of stdin: one JSON line of what it cost
 *   bench_http idle PORT N PATH     makes N connections that each send one request for PATH and
 *                                   then do nothing, until stdin ends
 *
 * tests/bench/http.sh drives both with wrk. */
#include "io/http/http.h"
#include "io/io.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>

static const char answer[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"echo: "
    "hello\"}],\"isError\":false}}       ";

struct bench {
    struct pb_loop *loop;
    struct http_server *server;
    struct stream *in;
    unsigned long long requests;
    double cpu_us; /* at the last report */
};

static void on_request(void *ctx, struct http_request *r)
{
    struct bench *b = ctx;
    struct span body = { answer, sizeof answer - 1 };

    b->requests++;
    if (span_is(http_path(r), "/stream")) {
        struct span prime = SPAN("id: 1\ndata:\n\n");

        http_begin(r, 200, "Content-Type: text/event-stream\r\n");
        http_write(r, &prime, 1);
        return;
    }
    http_reply(r, 200, "Content-Type: application/json\r\n", &body, 1);
}

static long rss_kb(void)
{
    AUTO_FREE char *line = NULL;
    FILE *f = fopen("/proc/self/status", "re");
    size_t cap = 0;
    long kb = 0;

    while (f && getline(&line, &cap, f) > 0)
        if (!strncmp(line, "VmRSS:", 6))
            kb = strtol(line + 6, NULL, 10);
    if (f)
        fclose(f);
    return kb;
}

static double cpu_us(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void report(struct bench *b)
{
    double now = cpu_us();

    printf("{\"requests\":%llu,\"cpu_us_per_request\":%.2f,\"rss_kb\":%ld,\"connections\":%zu}\n",
           b->requests, b->requests ? (now - b->cpu_us) / (double)b->requests : 0, rss_kb(),
           http_server_connections(b->server));
    fflush(stdout);
    b->cpu_us = now;
    b->requests = 0;
}

static void on_line(void *ctx, struct span bytes)
{
    (void)bytes;
    report(ctx);
}

static void on_end(void *ctx)
{
    struct bench *b = ctx;

    report(b);
    stream_close(b->in, NULL, NULL);
    http_server_close(b->server, NULL, NULL);
}

static int serve(int port)
{
    static const struct stream_events events = { .data = on_line, .eof = on_end };
    struct bench b = { .loop = loop_new(NULL) };
    struct http_server_options opts = { .port = port, .handler = on_request, .ctx = &b };
    struct pb_error err;

    if (http_server_new(&b.server, b.loop, &opts, &err) < 0 ||
        stream_open(&b.in, b.loop, 0, true, &events, &b, &err) < 0) {
        fprintf(stderr, "%s\n", err.msg);
        return 1;
    }
    stream_read(b.in, true);
    printf("{\"port\":%d,\"rss_kb\":%ld}\n", http_server_port(b.server), rss_kb());
    fflush(stdout);
    loop_run(b.loop);
    loop_free(b.loop);
    return 0;
}

static int idle(int port, int n, const char *path)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    char text[512], byte;
    int len = snprintf(text, sizeof text,
                       "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: text/event-stream\r\n"
                       "MCP-Protocol-Version: 2025-11-25\r\nUser-Agent: node\r\n"
                       "Mcp-Session-Id: 0123456789abcdef0123456789abcdef\r\n\r\n",
                       path, port);

    for (int i = 0; i < n; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);

        if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0 ||
            send(fd, text, (size_t)len, 0) != len || recv(fd, text + len, 64, 0) <= 0) {
            perror("connection");
            return 1;
        }
    }
    printf("%d connections\n", n);
    fflush(stdout);
    while (read(0, &byte, 1) > 0)
        continue;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 2 && !strcmp(argv[1], "serve"))
        return serve(argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0);
    if (argc == 5 && !strcmp(argv[1], "idle"))
        return idle((int)strtol(argv[2], NULL, 10), (int)strtol(argv[3], NULL, 10), argv[4]);
    fprintf(stderr, "bench_http serve [PORT] | idle PORT N PATH\n");
    return 1;
}
