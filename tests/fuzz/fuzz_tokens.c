/* fuzz_tokens.c - the file of tokens. What is read is written and read back as the same, and
 * nothing that was not meant to open does. */
#include "face/caller/caller.h"
#include "face/caller/tokens.h"
#include <stdint.h>

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(tokens) struct tokens *t = NULL, *back = NULL;
    AUTO_BUF struct buf text = { 0 }, again = { 0 };
    struct pb_error err = { 0 };

    if (tokens_parse(&t, span_make((const char *)data, size), &err) < 0) {
        MUST(err.msg[0] && !t);
        return 0;
    }
    for (size_t i = 0; i < t->n; i++)
        MUST(*token_may_name(t->v[i].may) && strlen(t->v[i].principal) == ID_CHARS);
    tokens_write(&text, t);
    MUST(tokens_parse(&back, buf_span(&text), &err) == 0 && back->n == t->n);
    tokens_write(&again, back);
    MUST(span_eq(buf_span(&text), buf_span(&again)));
    MUST(!tokens_find(t, SPAN("nobody has this one")));
    while (back->n)
        MUST(tokens_remove(back, back->v[0].name));
    return 0;
}
