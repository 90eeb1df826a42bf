#include "check.h"

/* What no byte is equal to. */
enum { NO_BYTE = 0x100 };

static HOT const uint8_t *check_key(struct lex *l, const uint8_t *p)
{
    const uint8_t *name;
    bool escaped;

    if (RARE(lex_next(&p, l->end) != '"'))
        return lex_refuse_key(l, p);
    return lex_key(l, p, &name, &escaped);
}

/* c is the byte at p. */
static HOT const uint8_t *check_scalar(struct lex *l, const uint8_t *p, uint8_t c)
{
    bool escaped;

    if (c == '"')
        return lex_string(l, p, &escaped);
    if (lex_is_digit(c) || c == '-')
        return lex_number(l, p);
    if (c == 't')
        return lex_literal(l, p, "true", 4);
    if (c == 'f')
        return lex_literal(l, p, "false", 5);
    if (c == 'n')
        return lex_literal(l, p, "null", 4);
    return lex_refuse_value(l, p);
}

const uint8_t *check_container(struct lex *l, const uint8_t *p, int depth)
{
    const uint8_t *const end = l->end;
    uint8_t outer[JSON_DEPTH_MAX] = { 0 }; /* the closing brackets of the containers around */
    unsigned close = NO_BYTE;
    uint8_t c;
    int open = 0;

    do {
        c = lex_next(&p, end);
        if ((c | 0x20) == '{') { /* both brackets */
            if (RARE(depth + open == JSON_DEPTH_MAX))
                return lex_refuse_deep(l, p);
            outer[open++] = (uint8_t)close;
            close = c + 2u; /* '[' and ']', '{' and '}' are two apart */
            p++;
            if (lex_next(&p, end) != close) {
                if (close == '}' && RARE(!(p = check_key(l, p))))
                    return NULL;
                continue;
            }
        } else if (RARE(!(p = check_scalar(l, p, c)))) {
            return NULL;
        }
        while ((c = lex_next(&p, end)) == close) {
            p++;
            if (--open == 0)
                return p;
            close = outer[open];
        }
        if (RARE(c != ','))
            return lex_refuse_after(l, p, (uint8_t)close);
        p++;
        if (close == '}' && RARE(!(p = check_key(l, p))))
            return NULL;
    } while (true);
}
