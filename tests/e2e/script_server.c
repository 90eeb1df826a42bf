/* script_server.c - an MCP server on stdio that says what files say: a request tools/list is
 * answered with the result in DIR/tools_list, and on stderr it first says what is in DIR/stderr.
 * What has no file is unknown. Behind an answer it says what is in DIR/says, once. If there is
 * DIR/heard, every line that it hears is added there. If there is DIR/asks, a tools/call (or the
 * method in DIR/asks_at) first asks the client that (DIR/asks_method with these params, or
 * elicitation/create), and fails if it is refused. libc only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20 };

/* The value of a member, as written up to one of `ends`; "" when it is not there. */
static const char *member(const char *line, const char *key, const char *ends, char *out, size_t n)
{
    const char *p = strstr(line, key);
    size_t len = p ? strcspn(p + strlen(key), ends) : 0;

    snprintf(out, n, "%.*s", (int)len, p ? p + strlen(key) : "");
    return out;
}

static const char *text_of(const char *dir, const char *name)
{
    static char text[TEXT_MAX];
    char path[4096];
    FILE *f;
    size_t n;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "re");
    if (!f)
        return NULL;
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    return text;
}

/* "tools_list": the method of a request as the name of a file. */
static const char *file_of(const char *line, char *out, size_t n)
{
    member(line, "\"method\":\"", "\"", out, n);
    for (char *p = out; *p; p++)
        if (*p == '/')
            *p = '_';
    return out;
}

static void answer(const char *dir, const char *line)
{
    char id[256], method[256];
    const char *text;

    if (!*member(line, "\"id\":", ",}", id, sizeof id) || !*file_of(line, method, sizeof method))
        return;
    text = text_of(dir, method);
    if (text)
        printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, text);
    else
        printf(
            "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":\"no %s\"}}\n",
            id, method);
    fflush(stdout);
}

/* Once: the file goes. */
static void say(const char *dir)
{
    const char *text = text_of(dir, "says");
    char path[4096];

    if (!text)
        return;
    snprintf(path, sizeof path, "%s/says", dir);
    remove(path);
    printf("%s\n", text);
    fflush(stdout);
}

/* The id of the call that waits for the answer to our question, and the file with its result. */
static char waiting[256], waiting_for[256];

static int asks_at(const char *dir, const char *line)
{
    const char *text = text_of(dir, "asks_at");
    char method[256];

    snprintf(method, sizeof method, "\"method\":\"%s\"", text ? text : "tools/call");
    return strstr(line, method) != NULL;
}

static int begins_to_ask(const char *dir, const char *line)
{
    char params[4096], method[256] = "elicitation/create";
    const char *text = asks_at(dir, line) ? text_of(dir, "asks") : NULL;

    if (!text)
        return 0;
    snprintf(params, sizeof params, "%s", text);
    text = text_of(dir, "asks_method");
    if (text)
        snprintf(method, sizeof method, "%s", text);
    member(line, "\"id\":", ",}", waiting, sizeof waiting);
    file_of(line, waiting_for, sizeof waiting_for);
    printf("{\"jsonrpc\":\"2.0\",\"id\":\"question\",\"method\":\"%s\",\"params\":%s}\n", method,
           params);
    fflush(stdout);
    return 1;
}

static int is_told(const char *dir, const char *line)
{
    const char *text;

    if (!strstr(line, "\"id\":\"question\"") || !*waiting)
        return 0;
    text = text_of(dir, waiting_for);
    if (strstr(line, "\"error\":"))
        text = "{\"content\":[{\"type\":\"text\",\"text\":\"nobody told me\"}],\"isError\":true}";
    printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", waiting, text);
    fflush(stdout);
    waiting[0] = '\0';
    return 1;
}

static void witness(const char *dir, const char *line)
{
    char path[4096];
    FILE *f;

    snprintf(path, sizeof path, "%s/heard", dir);
    f = fopen(path, "r+e");
    if (!f)
        return;
    fseek(f, 0, SEEK_END);
    fputs(line, f);
    fclose(f);
}

int main(int argc, char **argv)
{
    static char line[TEXT_MAX];
    const char *words;

    if (argc < 2)
        return 1;
    words = text_of(argv[1], "stderr");
    if (words)
        fprintf(stderr, "%s", words);
    while (fgets(line, sizeof line, stdin)) {
        witness(argv[1], line);
        if (!is_told(argv[1], line) && !begins_to_ask(argv[1], line))
            answer(argv[1], line);
        say(argv[1]);
    }
    return 0;
}
