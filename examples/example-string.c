/* example-string.c - work on text. Positions and lengths count characters, not bytes: the text is
 * UTF-8. */
#include "example.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

struct job {
    struct pb_call *call;
    const char *input, *pattern, *replacement;
    FILE *out; /* what is replied */
};

/* The bytes of the character at s. JSON is valid UTF-8, so the first byte tells. */
static size_t char_bytes(const char *s)
{
    unsigned char c = (unsigned char)*s;

    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

static size_t count_chars(const char *s)
{
    size_t n = 0;

    for (; *s; s += char_bytes(s))
        n++;
    return n;
}

static const char *skip_chars(const char *s, int64_t n)
{
    for (; n > 0 && *s; n--)
        s += char_bytes(s);
    return s;
}

static int length(struct job *j)
{
    char json[64];
    size_t n = count_chars(j->input);

    snprintf(json, sizeof json, "{\"result\":%zu}", n);
    pb_reply_text(j->call, "%zu", n);
    return pb_reply_structured(j->call, json);
}

static void map_case(struct job *j, wint_t (*map)(wint_t))
{
    mbstate_t in = { 0 }, out = { 0 };
    char bytes[16];
    wchar_t c;
    size_t n;

    for (const char *s = j->input; *s; s += n) {
        n = mbrtowc(&c, s, char_bytes(s), &in);
        if (n == (size_t)-1 || n == (size_t)-2) {
            n = char_bytes(s); /* not a character of the locale: as it is */
            fwrite(s, 1, n, j->out);
            in = (mbstate_t){ 0 };
            continue;
        }
        fwrite(bytes, 1, wcrtomb(bytes, (wchar_t)map((wint_t)c), &out), j->out);
    }
}

static int uppercase(struct job *j)
{
    map_case(j, towupper);
    return 0;
}

static int lowercase(struct job *j)
{
    map_case(j, towlower);
    return 0;
}

static int trim(struct job *j)
{
    const char *s = j->input + strspn(j->input, " \t\r\n\v\f"), *end = s + strlen(s);

    while (end > s && isspace((unsigned char)end[-1]))
        end--;
    fwrite(s, 1, (size_t)(end - s), j->out);
    return 0;
}

static int need_pattern(struct job *j)
{
    if (!j->pattern || !*j->pattern)
        return pb_fail(j->call, "this operation needs a pattern that is not empty");
    return 0;
}

static int split(struct job *j)
{
    char *json = NULL;
    size_t size;
    FILE *list;
    int rc = need_pattern(j);

    if (rc < 0)
        return rc;
    list = open_memstream(&json, &size);
    if (!list)
        return pb_fail(j->call, "out of memory");
    fputs("{\"result\":[", list);
    for (const char *s = j->input;;) {
        const char *end = strstr(s, j->pattern);
        size_t n = end ? (size_t)(end - s) : strlen(s);

        fprintf(j->out, "%.*s\n", (int)n, s);
        write_json_string(list, s, n);
        if (!end)
            break;
        putc(',', list);
        s = end + strlen(j->pattern);
    }
    fputs("]}", list);
    fclose(list);
    pb_reply_structured(j->call, json);
    free(json);
    return 0;
}

static int replace(struct job *j)
{
    int rc = need_pattern(j);

    if (rc < 0)
        return rc;
    for (const char *s = j->input;;) {
        const char *end = strstr(s, j->pattern);

        fwrite(s, 1, end ? (size_t)(end - s) : strlen(s), j->out);
        if (!end)
            return 0;
        fputs(j->replacement ? j->replacement : "", j->out);
        s = end + strlen(j->pattern);
    }
}

static int contains(struct job *j)
{
    bool yes;
    int rc = need_pattern(j);

    if (rc < 0)
        return rc;
    yes = strstr(j->input, j->pattern) != NULL;
    pb_reply_text(j->call, "%s", yes ? "true" : "false");
    return pb_reply_structured(j->call, yes ? "{\"result\":true}" : "{\"result\":false}");
}

static int reverse(struct job *j)
{
    const char *end = j->input + strlen(j->input);

    while (end > j->input) {
        const char *s = end - 1;

        while (((unsigned char)*s & 0xc0) == 0x80)
            s--;
        fwrite(s, 1, (size_t)(end - s), j->out);
        end = s;
    }
    return 0;
}

/* From start (0 is the first character) up to but without end; both are kept inside the text. */
static int substring(struct job *j)
{
    int64_t start = pb_arg_int(j->call, "start");
    int64_t end = pb_arg_has(j->call, "end") ? pb_arg_int(j->call, "end") : INT64_MAX;
    const char *from;

    if (start < 0 || end < start)
        return pb_fail(j->call, "start must not be negative, nor end before start");
    from = skip_chars(j->input, start);
    fwrite(from, 1, (size_t)(skip_chars(from, end - start) - from), j->out);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(struct job *j);
    bool replies; /* by itself; else what it wrote is the reply */
} operations[] = {
    { "length", length, true },        { "uppercase", uppercase, false },
    { "lowercase", lowercase, false }, { "trim", trim, false },
    { "split", split, true },          { "replace", replace, false },
    { "contains", contains, true },    { "reverse", reverse, false },
    { "substring", substring, false },
};

static const char *const operation_names[] = { "length",    "uppercase", "lowercase", "trim",
                                               "split",     "replace",   "contains",  "reverse",
                                               "substring", NULL };

static int run_operation(struct job *j, const char *name, char **text, size_t *n)
{
    int rc = -1;

    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (strcmp(operations[i].name, name) != 0)
            continue;
        rc = operations[i].run(j);
        fflush(j->out);
        if (rc == 0 && !operations[i].replies)
            rc = reply_result(j->call, *text, *n);
        else if (rc == 0 && *n)
            rc = pb_reply_bytes(j->call, *text, *n - 1); /* without the last line end */
    }
    return rc;
}

static int run(struct pb_call *call, void *ctx)
{
    struct job j = { .call = call,
                     .input = pb_arg_string(call, "input"),
                     .pattern = pb_arg_string(call, "pattern"),
                     .replacement = pb_arg_string(call, "replacement") };
    char *text = NULL;
    size_t n;
    int rc;

    (void)ctx;
    j.out = open_memstream(&text, &n);
    if (!j.out)
        return pb_fail(call, "out of memory");
    rc = run_operation(&j, pb_arg_string(call, "operation"), &text, &n);
    fclose(j.out);
    free(text);
    return rc;
}

static const struct pb_param params[] = {
    { "operation", PB_ONE_OF, "what to do", .options = operation_names },
    { "input", PB_STRING, "the text to work on" },
    { "pattern", PB_STRING, "split, replace, contains: the text to look for", PB_OPTIONAL },
    { "replacement", PB_STRING, "replace: what to put there", PB_OPTIONAL },
    { "start", PB_INT, "substring: the first character, counted from 0", PB_OPTIONAL },
    { "end", PB_INT, "substring: the character after the last", PB_OPTIONAL },
    { 0 },
};

const struct pb_tool string_tool = {
    .name = "string",
    .title = "Text",
    .description = "Measures, changes, searches and cuts text",
    .params = params,
    .flags = PB_READ_ONLY | PB_IDEMPOTENT | PB_CLOSED_WORLD | PB_ON_LOOP,
    .run = run,
};
