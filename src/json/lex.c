#include "lex.h"

const uint8_t *lex_refuse(struct lex *l, const uint8_t *at, const char *why)
{
    l->at = at;
    l->why = why;
    l->code = PB_E_INVALID;
    return NULL;
}

const uint8_t *lex_refuse_value(struct lex *l, const uint8_t *at)
{
    static const struct {
        uint8_t byte;
        const char *why;
    } texts[] = {
        { ']', "expected a value before ']'; the last item has no comma after it" },
        { '}', "expected a value before '}'" },
        { '/', "expected a value; JSON has no comments" },
        { '\'', "expected a value; strings need double quotes" },
        { '+', "expected a value; a number has no plus sign" },
        { '.', "expected a value; a number begins with a digit" },
        { 0xEF, "expected a value; a byte order mark is not allowed" },
    };

    for (size_t i = 0; at < l->end && i < ARRAY_LEN(texts); i++)
        if (*at == texts[i].byte)
            return lex_refuse(l, at, texts[i].why);
    return lex_refuse(l, at, "expected a value");
}

static bool is_hex(uint8_t c)
{
    return lex_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

const uint8_t *lex_escape(struct lex *l, const uint8_t *slash)
{
    const uint8_t *p = slash + 1;

    switch (lex_peek(p, l->end)) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return p + 1;
    case 'u':
        p++;
        for (int i = 0; i < 4; i++, p++)
            if (!is_hex(lex_peek(p, l->end)))
                return lex_refuse(l, slash, "\\u needs four hex digits");
        return p;
    default:
        return lex_refuse(l, slash, "no such escape in JSON");
    }
}
