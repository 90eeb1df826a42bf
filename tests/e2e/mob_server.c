/* mob_server.c - a small MCP server (legacy era, stdio) that behaves as its first argument says:
 * honest, or in one of the ways in which servers go wrong. Its second argument is its name. libc
 * only: hundreds of it are started at once. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *name;

static bool has(const char *line, const char *word) { return strstr(line, word) != NULL; }

/* The id as it was written. */
static const char *id_of(const char *line, char *out, size_t n)
{
    const char *p = strstr(line, "\"id\":");
    size_t len;

    if (!p)
        return NULL;
    p += 5;
    len = strcspn(p, ",}");
    snprintf(out, n, "%.*s", (int)(len < n ? len : n - 1), p);
    return out;
}

static void result(const char *id, const char *text)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, text);
    fflush(stdout);
}

static void error(const char *id, int code, const char *text)
{
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":\"%s\"}}\n", id, code,
           text);
    fflush(stdout);
}

/* The number in "n":17, which callers put into their arguments. */
static long number(const char *line)
{
    const char *p = strstr(line, "\"n\":");

    return p ? strtol(p + 4, NULL, 10) : -1;
}

static void answer(const char *line, const char *id)
{
    char text[256];

    if (has(line, "\"initialize\""))
        result(id, "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{"
                   "\"listChanged\":true}},\"serverInfo\":{\"name\":\"mob\",\"version\":\"1\"}}");
    else if (has(line, "\"tools/list\""))
        result(id, "{\"tools\":[{\"name\":\"who\",\"inputSchema\":{\"type\":\"object\"}}]}");
    else if (has(line, "\"tools/call\"")) {
        snprintf(text, sizeof text, "{\"content\":[{\"type\":\"text\",\"text\":\"%s %ld\"}]}", name,
                 number(line));
        result(id, text);
    } else if (has(line, "\"ping\""))
        result(id, "{}");
    else
        error(id, -32601, "Method not found");
}

/* ---- ways to go wrong ---------------------------------------------------------------------- */

static void honest(const char *line, const char *id) { answer(line, id); }

static void silent(const char *line, const char *id)
{
    (void)line;
    (void)id;
}

static void twice(const char *line, const char *id)
{
    answer(line, id);
    if (has(line, "\"tools/call\""))
        result(id, "{\"content\":[{\"type\":\"text\",\"text\":\"a lie\"}]}");
    result("424242", "{}");
}

static void midline(const char *line, const char *id)
{
    if (!has(line, "\"tools/call\"")) {
        answer(line, id);
        return;
    }
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[{\"type\":\"te", id);
    fflush(stdout);
    _exit(3);
}

static void flood_stderr(const char *line, const char *id)
{
    for (int i = 0; i < 2000; i++)
        fprintf(stderr, "%s %d: the same complaint over and over, and nobody who reads it\n", name,
                i);
    answer(line, id);
}

static void flood_notifications(const char *line, const char *id)
{
    for (int i = 0; i < 2000; i++)
        printf("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\",\"params\":{}}\n",
               i % 2 ? "tools/list_changed" : "message");
    fflush(stdout);
    answer(line, id);
}

static void endless_cursor(const char *line, const char *id)
{
    static unsigned page;
    char text[200];

    if (!has(line, "\"tools/list\"")) {
        answer(line, id);
        return;
    }
    snprintf(text, sizeof text,
             "{\"tools\":[{\"name\":\"t%u\",\"inputSchema\":{\"type\":\"object\"}}],\"nextCursor\":"
             "\"%u\"}",
             page, page);
    page++;
    result(id, text);
}

/* Never answers a call. */
static void stuck(const char *line, const char *id)
{
    if (!has(line, "\"tools/call\""))
        answer(line, id);
}

/* Progress, before the answer; and the answer is what it was asked. */
static void talkative(const char *line, const char *id)
{
    const char *token = strstr(line, "\"progressToken\":");

    if (has(line, "\"tools/call\"") && token) {
        token += strlen("\"progressToken\":");
        for (int i = 1; i <= 2; i++)
            printf("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                   "\"progressToken\":%.*s,\"progress\":%d,\"total\":2,\"message\":\"step %d\"}}\n",
                   (int)strcspn(token, ",}"), token, i, i);
    }
    answer(line, id);
}

static const struct kind {
    const char *name;
    void (*heard)(const char *line, const char *id);
    bool ignores_term, stays, has_child, child_leaves;
} kinds[] = {
    { "honest", honest, 0, 0, 0, 0 },         { "silent", silent, 0, 0, 0, 0 },
    { "twice", twice, 0, 0, 0, 0 },           { "midline", midline, 0, 0, 0, 0 },
    { "stderr", flood_stderr, 0, 0, 0, 0 },   { "notify", flood_notifications, 0, 0, 0, 0 },
    { "cursor", endless_cursor, 0, 0, 0, 0 }, { "noterm", honest, true, true, 0, 0 },
    { "grandchild", honest, 0, 0, true, 0 },  { "setsid", honest, 0, 0, true, true },
    { "stuck", stuck, 0, 0, 0, 0 },           { "talkative", talkative, 0, 0, 0, 0 },
};

static void ignore_term(void)
{
    sigaction(SIGTERM, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
}

/* A process that keeps our pipes and does not want to end. */
static void leave_child(const struct kind *k)
{
    if (fork() != 0)
        return;
    if (k->child_leaves)
        setsid();
    ignore_term();
    for (;;)
        pause();
}

/* A name with a slash is a file that gets every line that is heard. */
static void witness(const char *line)
{
    FILE *f = strchr(name, '/') ? fopen(name, "a") : NULL;

    if (!f)
        return;
    fputs(line, f);
    fclose(f);
}

int main(int argc, char **argv)
{
    const struct kind *k = kinds;
    char *line = NULL, id[256];
    size_t room = 0;

    if (argc < 3)
        return 2;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(argv[1], kinds[i].name) == 0)
            k = &kinds[i];
    name = argv[2];
    if (k->ignores_term)
        ignore_term();
    if (k->has_child)
        leave_child(k);
    while (getline(&line, &room, stdin) > 0) {
        witness(line);
        if (id_of(line, id, sizeof id))
            k->heard(line, id);
    }
    while (k->stays)
        pause();
    free(line);
    return 0;
}
