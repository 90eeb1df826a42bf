/* script_server.c - an MCP server on stdio that says what files say: a request tools/list is
 * answered with the result in DIR/tools_list, and on stderr it first says what is in DIR/stderr.
 * What has no file is unknown. If there is DIR/heard, every line that it hears is added there. libc
 * only. */
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

static void answer(const char *dir, const char *line)
{
    char id[256], method[256];
    const char *text;

    if (!*member(line, "\"id\":", ",}", id, sizeof id) ||
        !*member(line, "\"method\":\"", "\"", method, sizeof method))
        return;
    for (char *p = method; *p; p++)
        if (*p == '/')
            *p = '_';
    text = text_of(dir, method);
    if (text)
        printf("{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n", id, text);
    else
        printf(
            "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":-32601,\"message\":\"no %s\"}}\n",
            id, method);
    fflush(stdout);
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
        answer(argv[1], line);
    }
    return 0;
}
