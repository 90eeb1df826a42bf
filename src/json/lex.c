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
        struct span begins;
        const char *why;
    } texts[] = {
        { SPAN_CONST("]"), "expected a value before ']'; the last item has no comma after it" },
        { SPAN_CONST("}"), "expected a value before '}'" },
        { SPAN_CONST("/"), "expected a value; JSON has no comments" },
        { SPAN_CONST("'"), "expected a value; strings need double quotes" },
        { SPAN_CONST("+"), "expected a value; a number has no plus sign" },
        { SPAN_CONST("."), "expected a value; a number begins with a digit" },
        { SPAN_CONST("\xEF\xBB\xBF"), "expected a value; a byte order mark is not allowed" },
    };
    size_t left = (size_t)(l->end - at);

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct span begins = texts[i].begins;

        if (left >= begins.n && !memcmp(at, begins.p, begins.n))
            return lex_refuse(l, at, texts[i].why);
    }
    return lex_refuse(l, at, "expected a value");
}

const uint8_t *lex_refuse_key(struct lex *l, const uint8_t *at)
{
    if (lex_peek(at, l->end) == '}')
        return lex_refuse(l, at, "expected a key; the last member has no comma after it");
    return lex_refuse(l, at, "expected a key in double quotes");
}

const uint8_t *lex_refuse_after(struct lex *l, const uint8_t *at, uint8_t close)
{
    return lex_refuse(l, at,
                      close == '}' ? "expected ',' or '}' after a member"
                                   : "expected ',' or ']' after an item");
}

const uint8_t *lex_refuse_deep(struct lex *l, const uint8_t *at)
{
    _Static_assert(JSON_DEPTH_MAX == 128, "the text below says so");
    lex_refuse(l, at, "nested deeper than 128 levels");
    l->code = PB_E_LIMIT;
    return NULL;
}

const uint8_t *lex_refuse_many(struct lex *l, const uint8_t *at)
{
    _Static_assert(JSON_NODES_MAX == 1000000, "the text below says so");
    lex_refuse(l, at, "more than 1000000 values and keys");
    l->code = PB_E_LIMIT;
    return NULL;
}

static bool is_hex(uint8_t c)
{
    return lex_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/* The backslash, the byte behind it and what that asks for. */
static inline const uint8_t *escape_end(struct lex *l, const uint8_t *slash)
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

const uint8_t *lex_string_rest(struct lex *l, const uint8_t *open, const uint8_t *p, bool *escaped)
{
    const uint8_t *end = l->end;

    for (;;) {
        p = scan_plain(p, end);
        if (p == end)
            return lex_refuse(l, open, "a string that does not end");
        if (*p == '"')
            return p + 1;
        if (*p == '\\') {
            *escaped = true;
            p = escape_end(l, p);
            if (!p)
                return NULL;
        } else if (*p < 0x20) {
            return lex_refuse(l, p, "a control character in a string; write it as an escape");
        } else {
            p = scan_utf8(p, end);
            if (p < end && *p >= 0x80)
                return lex_refuse(l, p, "not UTF-8");
        }
    }
}
