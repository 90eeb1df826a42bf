/* fuzz_headers.c - header values and schema annotations. The input up to the first NUL is a schema,
 * what follows are arguments; and all of it is a value. What a client spells, a server must read
 * back as the same; what it mirrors, a server must find right. */
#include "mcp/rpc/headers.h"
#include "mcp/rpc/rpc.h"
#include <stdint.h>

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

struct sent {
    struct map lines; /* name -> terminated value */
};

static void fits_a_header(const char *line)
{
    for (; *line; line++)
        MUST((unsigned char)*line >= 0x20 && (unsigned char)*line < 0x7f);
}

static void check_value(struct span value)
{
    AUTO_ARENA struct arena arena = { 0 };
    AUTO_BUF struct buf line = { 0 };
    struct span back;

    if (header_decode(value, &back, &arena))
        MUST(back.n <= value.n || back.p == value.p);
    if (!utf8_valid(value))
        return;
    header_encode(&line, value);
    fits_a_header(buf_cstr(&line));
    MUST(header_decode(buf_span(&line), &back, &arena));
    MUST(span_eq(back, value));
}

static void note(void *ctx, const char *line)
{
    struct sent *s = ctx;
    size_t n = strcspn(line, ":");

    fits_a_header(line);
    MUST(line[n] == ':' && line[n + 1] == ' ');
    MUST(span_starts(span_of(line), "Mcp-Param-") && n > 10);
    MUST(!map_put(&s->lines, span_make(line, n), (char *)(uintptr_t)(line + n + 2)));
}

static struct span find(void *ctx, const char *name)
{
    const struct sent *s = ctx;

    return span_of(map_get(&s->lines, span_of(name)));
}

static void check_mirror(const struct header_params *p, struct json arguments)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct sent sent = { 0 };
    struct pb_error err;

    if (header_params_write(p, arguments, &arena, note, &sent, &err) == 0)
        MUST(header_params_check(p, arguments, find, &sent, &err) == 0);
    map_done(&sent.lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct span text = { (const char *)data, n };
    AUTO_JSON struct json_doc doc = { 0 };
    const char *cut = n ? memchr(data, '\0', n) : NULL;
    struct span schema = cut ? span_make(text.p, (size_t)(cut - text.p)) : text;
    struct json_opts unique = { .unique_depth = JSON_ALL };
    struct header_params p;
    struct pb_error err;

    check_value(text);
    if (header_params_read(&p, schema, &err) < 0)
        return 0;
    for (size_t i = 0; i < p.n; i++)
        MUST(p.items[i].depth > 0 && p.items[i].header.n > 0);
    if (cut && json_parse(&doc, span_from(text, schema.n + 1), &unique, NULL) == 0)
        check_mirror(&p, json_root(&doc));
    header_params_done(&p);
    return 0;
}
