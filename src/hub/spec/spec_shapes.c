#include "spec_shapes.h"
#include "spec_tails.h"
#include <pthread.h>

enum { JWT_PART_MIN = 8 };

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
#define DIGITS  "0123456789"

/* clang-format off */
static const struct key_shape {
    const char *prefix;
    const char *chars; /* that follow; NULL: only shape_begins() knows it */
    size_t min;        /* so many of them, */
    size_t digits;     /* and so many of these are digits: words with dashes have none */
} shapes[] = {
    { "sk-",             LETTERS DIGITS "_-",  20, 2 },
    { "sk_live_",        LETTERS DIGITS,       16, 0 },
    { "sk_test_",        LETTERS DIGITS,       16, 0 },
    { "rk_live_",        LETTERS DIGITS,       16, 0 },
    { "rk_test_",        LETTERS DIGITS,       16, 0 },
    { "whsec_",          LETTERS DIGITS "+/=", 24, 1 },
    { "sk_",             NULL,                  0, 0 },
    { "pk_",             NULL,                  0, 0 },
    { "rk_",             NULL,                  0, 0 },
    { "ghp_",            LETTERS DIGITS,       20, 1 },
    { "gho_",            LETTERS DIGITS,       20, 1 },
    { "ghu_",            LETTERS DIGITS,       20, 1 },
    { "ghs_",            LETTERS DIGITS,       20, 1 },
    { "ghr_",            LETTERS DIGITS,       20, 1 },
    { "github_pat_",     LETTERS DIGITS "_",   22, 1 },
    { "glpat-",          LETTERS DIGITS "_-.", 20, 0 },
    { "gldt-",           LETTERS DIGITS "_-",  20, 0 },
    { "xoxb-",           LETTERS DIGITS "-",   10, 2 },
    { "xoxp-",           LETTERS DIGITS "-",   10, 2 },
    { "xoxa-",           LETTERS DIGITS "-",   10, 2 },
    { "xoxe-",           LETTERS DIGITS "-",   10, 2 },
    { "xoxr-",           LETTERS DIGITS "-",   10, 2 },
    { "xoxs-",           LETTERS DIGITS "-",   10, 2 },
    { "xapp-",           LETTERS DIGITS "-",   10, 2 },
    { "AKIA",            LETTERS DIGITS,       16, 1 },
    { "ASIA",            LETTERS DIGITS,       16, 1 },
    { "AIza",            LETTERS DIGITS "_-",  35, 1 },
    { "ya29.",           LETTERS DIGITS "_-.", 20, 1 },
    { "eyJ",             NULL,                  0, 0 },
    { "hf_",             LETTERS DIGITS,       30, 0 },
    { "npm_",            LETTERS DIGITS,       30, 1 },
    { "ntn_",            LETTERS DIGITS,       30, 1 },
    { "shpat_",          LETTERS DIGITS,       20, 1 },
    { "lin_api_",        LETTERS DIGITS,       20, 1 },
    { "gsk_",            LETTERS DIGITS,       30, 1 },
    { "r8_",             LETTERS DIGITS,       30, 1 },
    { "xai-",            LETTERS DIGITS,       40, 1 },
    { "pypi-",           LETTERS DIGITS "_-",  50, 1 },
    { "dop_v1_",         LETTERS DIGITS,       40, 1 },
    { "SG.",             LETTERS DIGITS "_-.", 40, 1 },
    { "AGE-SECRET-KEY-", LETTERS DIGITS,       40, 1 },
};
/* clang-format on */

bool shape_begins(struct span s)
{
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        if (s.n > strlen(shapes[i].prefix) + 4 && span_starts(s, shapes[i].prefix))
            return true;
    return false;
}

/* ---- in a text ---- */

static struct tails tails;
static pthread_once_t tails_made = PTHREAD_ONCE_INIT;

static void make_tails(void)
{
    for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
        if (shapes[i].chars)
            tails_add(&tails, span_of(shapes[i].prefix));
}

static bool is_jwt_dot(struct span text, size_t at)
{
    return text.p[at] == '.' && span_starts(span_from(text, at + 1), "eyJ");
}

bool shape_may_be(struct span text, size_t at)
{
    pthread_once(&tails_made, make_tails);
    if (text.p[at] == 'A' || is_jwt_dot(text, at))
        return true;
    return at + 1 >= TAIL_CHARS && tails_have(&tails, text.p + at + 1);
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* Not in the middle of a word: "task-list" holds no "sk-". In JSON as it is written "\n" may stand
 * before it. */
static bool begins_word(struct span text, size_t at)
{
    return !at || !is_word(text.p[at - 1]) ||
           (at > 1 && text.p[at - 2] == '\\' && strchr("bfnrt", text.p[at - 1]));
}

static size_t run_of(struct span text, const char *chars)
{
    size_t n = 0;

    while (n < text.n && text.p[n] && strchr(chars, text.p[n]))
        n++;
    return n;
}

static struct span match(const struct key_shape *s, struct span text, size_t from)
{
    struct span rest = span_from(text, from);
    size_t n = strlen(s->prefix), body, digits = 0;

    if (!s->chars || !span_starts(rest, s->prefix) || !begins_word(text, from))
        return (struct span){ 0 };
    body = run_of(span_from(rest, n), s->chars);
    for (size_t i = n; i < n + body; i++)
        digits += rest.p[i] >= '0' && rest.p[i] <= '9';
    if (body < s->min || digits < s->digits)
        return (struct span){ 0 };
    return span_make(rest.p, n + body);
}

/* eyJ….eyJ….…, of which the third part may be empty. */
static struct span match_jwt(struct span text, size_t dot)
{
    static const char chars[] = LETTERS DIGITS "_-";
    size_t from = dot, end = dot + 1;

    while (from && text.p[from - 1] && strchr(chars, text.p[from - 1]))
        from--;
    /* what was written "\n" before it begins with a letter too many */
    while (from < dot && !span_starts(span_from(text, from), "eyJ"))
        from++;
    end += run_of(span_from(text, end), chars);
    if (dot - from < JWT_PART_MIN || end - dot <= JWT_PART_MIN)
        return (struct span){ 0 };
    if (end < text.n && text.p[end] == '.')
        end += 1 + run_of(span_from(text, end + 1), chars);
    return span_make(text.p + from, end - from);
}

struct span shape_around(struct span text, size_t at)
{
    struct span found = { 0 };

    if (is_jwt_dot(text, at))
        return match_jwt(text, at);
    for (size_t i = 0; i < ARRAY_LEN(shapes) && !found.n; i++) {
        size_t n = text.p[at] == 'A' ? 1 : strlen(shapes[i].prefix);

        if (at + 1 >= n)
            found = match(&shapes[i], text, at + 1 - n);
    }
    return found;
}
