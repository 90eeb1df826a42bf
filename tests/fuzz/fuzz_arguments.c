/* fuzz_arguments - a schema on the first line, a call on the second, and on each line after it one
 * more word. Whatever is accepted is one object that does not break the schema; whatever is refused says why.
 * What is told of a tool with this schema ends, whatever the schema is. */
#include "cli/arguments.h"
#include "cli/example.h"
#include "cli/signature.h"
#include "json/json.h"

enum { WORDS_MAX = 16 };

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

/* No file is read, and nobody types. */
static void forget_files(char *text)
{
    for (; *text; text++)
        if (*text == '@')
            *text = 'a';
}

static size_t split(char *text, char **words)
{
    size_t n = 0;

    for (char *rest = text, *word; n < WORDS_MAX && (word = strsep(&rest, "\n"));)
        if (strcmp(word, "-") != 0)
            words[n++] = word;
    return n;
}

static void check_written(const struct buf *out, const struct schema *schema)
{
    AUTO_JSON struct json_doc doc = { 0 };

    MUST(json_parse(&doc, buf_span(out), &(struct json_opts){ .unique_depth = JSON_ALL }, NULL) ==
         0);
    MUST(json_is(json_root(&doc), JSON_OBJECT));
    /* What takes too long to check is left to the server. */
    MUST(!schema || schema_check(schema, json_root(&doc), NULL) != -(int)PB_E_INVALID);
}

static void check_words(char *const *words, size_t n, const struct schema *schema)
{
    AUTO_ARGUMENTS struct arguments a = { 0 };
    AUTO_BUF struct buf out = { 0 };
    struct pb_error err = { 0 };
    const char *tool = NULL;
    int rc = n ? arguments_read_call(&a, words[0], &tool, &err) : 0;

    if (rc == 0 && n > 1)
        rc = arguments_read(&a, words + 1, (int)n - 1, false, &err);
    if (rc == 0)
        rc = arguments_write(&a, schema, &out, &err);
    if (rc < 0)
        MUST(err.code && err.msg[0]);
    else
        check_written(&out, schema);
}

/* As a description does: of the steps that the signature leaves the example is made. */
static void check_told(struct schema *schema)
{
    AUTO_BUF struct buf signature = { 0 };
    AUTO_BUF struct buf bounds = { 0 };
    AUTO_BUF struct buf example = { 0 };
    struct definition d = { .schema = schema, .input = schema_root(schema) };
    int left = TELL_STEPS_MAX;
    struct wanted_from from = { schema, &left };

    signature_write(&signature, "tool", from, d.input);
    signature_bounds(&bounds, from, d.input);
    if (example_write(&example, &d, &(struct example_call){ "tool", "", &left }))
        MUST(span_starts(buf_span(&example), "patchbay call tool"));
    MUST(left >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = mem_dupn((const char *)data, size);
    struct schema *schema = NULL;
    char *words[WORDS_MAX];
    size_t n;

    forget_files(text);
    n = split(text, words);
    if (n && schema_compile(&schema, span_of(words[0]), NULL) < 0)
        schema = NULL;
    if (schema)
        check_told(schema);
    check_words(words + 1, n ? n - 1 : 0, schema);
    schema_free(schema);
    return 0;
}
