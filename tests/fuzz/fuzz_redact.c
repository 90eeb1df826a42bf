/* fuzz_redact.c - what is recorded without secrets: JSON stays JSON, UTF-8 stays UTF-8, no known
 * secret is left, a second look finds nothing by value, and little is added. Bytes of the input
 * from 0xF0 on stand for secrets, in several ways to write them. An input that begins with 0x01 is
 * repeated, and what it costs is looked at. */
#include "hub/secrets/secrets.h"
#include "json/json.h"
#include <stdint.h>
#include <time.h>

enum { AGAIN = 1, AGAIN_BYTES = 1048576, AGAIN_SECONDS = 5 };

static const char *const canaries[] = {
    "correct-horse-battery-9",
    "p4ss/w\"rd+\\x",
    "31415926535897",
    "Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5MA==",
};

static struct vault *the_vault(void)
{
    static struct vault *v;

    if (!v) {
        clearenv();
        v = vault_new();
        for (size_t i = 0; i < ARRAY_LEN(canaries); i++)
            vault_add(v, span_of(canaries[i]));
    }
    return v;
}

static void put_canary(struct buf *out, uint8_t c)
{
    struct span s = span_of(canaries[c % ARRAY_LEN(canaries)]);
    AUTO_BUF struct buf quoted = { 0 };

    switch (c >> 2 & 3) {
    case 0:
        buf_add_span(out, s);
        break;
    case 1:
        json_quote(&quoted, s);
        buf_add(out, quoted.p + 1, quoted.n - 2);
        break;
    case 2:
        base64_encode(out, s);
        break;
    default:
        json_quote(out, s);
    }
}

static bool is_json(struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return json_parse(&doc, text, NULL, NULL) == 0;
}

static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What follows the first byte, again and again: a text that makes it look at bytes again and again
 * would take minutes. */
static int check_cost(const uint8_t *data, size_t n)
{
    AUTO_BUF struct buf text = { 0 };
    double from;

    while (n && text.n < AGAIN_BYTES)
        buf_add(&text, (const char *)data, n);
    from = cpu_seconds();
    vault_redact(the_vault(), &text, NULL);
    if (cpu_seconds() - from > AGAIN_SECONDS)
        abort();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    AUTO_BUF struct buf text = { 0 }, told = { 0 }, before = { 0 };
    struct json_out where = json_out(&told);
    bool json, utf8, changed;

    if (n && data[0] == AGAIN)
        return check_cost(data + 1, n - 1);
    for (size_t i = 0; i < n; i++)
        if (data[i] >= 0xF0)
            put_canary(&text, data[i]);
        else
            buf_byte(&text, (char)data[i]);
    buf_add_span(&before, buf_span(&text));
    json = is_json(buf_span(&text));
    utf8 = utf8_valid(buf_span(&text));
    json_begin_array(&where, NULL);
    changed = vault_redact(the_vault(), &text, &where);
    json_end(&where);
    if ((json && !is_json(buf_span(&text))) || (utf8 && !utf8_valid(buf_span(&text))))
        abort();
    if (!is_json(buf_span(&told)) || changed != (told.n > 2))
        abort();
    if (!changed && !span_eq(buf_span(&text), buf_span(&before)))
        abort();
    for (size_t i = 0; i < ARRAY_LEN(canaries); i++)
        if (text.n && memmem(text.p, text.n, canaries[i], strlen(canaries[i])))
            abort();
    /* a control character that is written anew has six bytes, a number two quotes and stars */
    if (text.n > before.n * 6 + 8)
        abort();
    return 0;
}
