/* client_stdio.c - a program that starts `patchbay mcp` and talks to it, in both eras. */
#include "client.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

enum { LEFT_MAX = 4096 };

static pid_t left[LEFT_MAX];
static unsigned n_left;

unsigned clients_reap(void)
{
    for (unsigned i = 0; i < n_left;)
        if (waitpid(left[i], NULL, WNOHANG) == left[i])
            left[i] = left[--n_left];
        else
            i++;
    return n_left;
}

static void hear_lines(void *ctx)
{
    struct client *c = ctx;
    struct chan *pipe = c->pipe;
    char *end;

    while (c->pipe == pipe && pipe->rx.n && (end = memchr(pipe->rx.p, '\n', pipe->rx.n))) {
        size_t n = (size_t)(end - pipe->rx.p);
        AUTO_FREE char *line = mem_dupn(pipe->rx.p, n);

        buf_consume(&pipe->rx, n + 1);
        if (c->state == CLIENT_OPENING && strstr(line, "\"hello\"")) {
            chan_say(pipe,
                     SPAN("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"));
            client_ready(c);
        }
        client_heard(c, NULL, span_make(line, n));
    }
}

static const char *words_file(const struct client *c)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/mcp.%u", hub.dir, c->no);
    return path;
}

/* What `patchbay mcp` said on stderr is the reason. */
static void on_ended(void *ctx)
{
    struct client *c = ctx;
    AUTO_CLOSE int fd = open(words_file(c), O_RDONLY | O_CLOEXEC);
    char words[500], why[600];
    ssize_t n = fd >= 0 ? read(fd, words, sizeof words - 1) : 0;

    words[n > 0 ? n : 0] = '\0';
    snprintf(why, sizeof why, "its pipe has ended: %s", words);
    c->pipe = NULL;
    if (strstr(words, "the daemon does not answer")) {
        figures.late++; /* within five seconds, which may be few on a machine that others use */
        client_go(c);
    } else {
        client_lost(c, why);
    }
}

static void stdio_say(struct client *c, struct call *call, struct span message)
{
    (void)call;
    if (!c->pipe)
        return;
    chan_say(c->pipe, message);
    chan_say(c->pipe, SPAN("\n"));
}

static void stdio_open(struct client *c)
{
    static const struct chan_events events = { hear_lines, on_ended };
    AUTO_BUF struct buf b = { 0 };
    AUTO_CLOSE int words = open(words_file(c), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int in[2], out[2];

    if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
        return;
    c->pid = hub_spawn((const char *const[]){ "patchbay", "mcp", NULL }, in[0], out[1], words);
    close(in[0]);
    close(out[1]);
    c->pipe = chan_new(out[0], in[1], &events, c);
    if (c->kind->modern) {
        client_ready(c);
        return;
    }
    client_put_hello(c, &b);
    stdio_say(c, NULL, buf_span(&b));
}

/* A pump between two descriptors ends by itself when one is closed. */
static void stdio_leave(struct client *c, bool rude)
{
    if (rude && c->pid)
        kill(c->pid, SIGKILL);
    if (c->pipe)
        chan_close(TAKE(c->pipe));
    clients_reap();
    if (c->pid && n_left < LEFT_MAX)
        left[n_left++] = c->pid;
    c->pid = 0;
}

static void stdio_mishap(struct client *c) { c->pipe->deaf_until = now() + among(2500); }

const struct client_kind kind_stdio = {
    .name = "stdio",
    .version = "2025-06-18",
    .open = stdio_open,
    .say = stdio_say,
    .leave = stdio_leave,
    .mishap = stdio_mishap,
};
const struct client_kind kind_stdio_modern = {
    .name = "modern stdio",
    .modern = true,
    .version = "2026-07-28",
    .open = stdio_open,
    .say = stdio_say,
    .leave = stdio_leave,
    .mishap = stdio_mishap,
};
