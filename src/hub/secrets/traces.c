/* traces.c - the signs in a text at which it is worth to look closer, and what is looked for there.
 * The signs are found sixteen bytes at a time. */
#include "traces.h"
#include "hub/spec/spec.h"
#include "named.h"
#ifdef __SSE2__
#    include <emmintrin.h>
#endif

enum {
    USERINFO_MAX = 512, /* of a URL */
    BEARER_MIN = 16,
    AWS_ID_CHARS = 20,
    AWS_KEY_CHARS = 40,
    AWS_NEAR = 128,   /* bytes between both */
    SHAPE_NEAR = 256, /* within which a key shows that it is one */
};

/* ---- what is at a sign ---- */

/* Where what stands before the '@' begins; a password may have one, too. */
static size_t userinfo_start(struct span text, size_t at, struct scanned *s)
{
    size_t from = at, stop = at > USERINFO_MAX ? at - USERINFO_MAX : 0, mark = 0;

    while (from > stop && !strchr(" \t\r\n\"'<>/\\`", text.p[from - 1])) {
        from--;
        if (!mark && text.p[from] == ':')
            mark = from + 1;
        if (scanned_has(s, from)) { /* the one before has looked at the rest */
            mark = mark ? mark : s->mark;
            from = s->from > stop ? s->from : stop;
            break;
        }
    }
    *s = (struct scanned){ .from = from, .end = at, .mark = mark };
    return from;
}

/* "scheme://user:password@host" */
static void at_host(struct span text, size_t at, struct hits *out)
{
    size_t from = userinfo_start(text, at, &out->host);
    bool colon = out->host.mark > from;

    if (from < 3 || text.p[from - 1] != '/' || text.p[from - 2] != '/' || from == at)
        return;
    if (text.p[from - 3] != ':' && text.p[from - 3] != '\\') /* "https:\/\/", too */
        return;
    if (span_is(span_make(text.p + from, at - from), SPEC_MASKED))
        return;
    if (colon || mask_looks_like_key(span_make(text.p + from, at - from)))
        hits_add(out, from, at, HIT_NAME);
}

static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (c && strchr("-._~+/=", c));
}

/* "Bearer KEY" with no name before it. */
static void at_bearer(struct span text, size_t at, struct hits *out)
{
    static const char word[] = "Bearer ";
    size_t from = at + sizeof word - 1, end = from;
    bool digit = false;

    if (!span_starts(span_from(text, at), word))
        return;
    for (; end < text.n && is_token_char(text.p[end]); end++)
        digit |= text.p[end] >= '0' && text.p[end] <= '9';
    if (digit && end - from >= BEARER_MIN)
        hits_add(out, from, end, HIT_PATTERN);
}

/* Behind the word, if it stands within the next 64 bytes; 0: it does not. */
static size_t behind(struct span text, size_t at, const char *word)
{
    struct span rest = span_from(text, at);
    const char *p = memmem(rest.p, rest.n < 64 ? rest.n : 64, word, strlen(word));

    return p ? (size_t)(p - text.p) + strlen(word) : 0;
}

/* Where the word is next, or the text's end: looked for once. */
static size_t next_of(struct span text, size_t at, const char *word, struct scanned *s)
{
    if (!scanned_has(s, at)) {
        const char *p = memmem(text.p + at, text.n - at, word, strlen(word));

        *s = (struct scanned){ .from = at, .end = p ? (size_t)(p - text.p) : text.n };
    }
    return s->end;
}

/* "-----BEGIN RSA PRIVATE KEY-----" to its end; when that is missing, as far as it can be one. */
static void at_pem(struct span text, size_t at, struct hits *out)
{
    static const char begin[] = "-----BEGIN ", ends[] = "PRIVATE KEY-----", close[] = "-----END ";
    size_t end, tail;

    if (!span_starts(span_from(text, at), begin))
        return;
    end = behind(text, at, ends);
    if (!end)
        return;
    tail = next_of(text, end, close, &out->pem);
    if (tail < text.n) {
        end = behind(text, tail, ends);
        end = end ? end : tail;
    } else if (scanned_has(&out->pem_run, end)) {
        return; /* hidden with the one before */
    } else {
        out->pem_run.from = end;
        while (end < text.n && (is_token_char(text.p[end]) || strchr("\r\n\t \\:,", text.p[end])))
            end++;
        out->pem_run.end = end;
    }
    hits_add(out, at, end, HIT_PATTERN);
}

static bool is_aws_char(char c) { return is_token_char(c) && !strchr("-._~=", c); }

/* Exactly as long as such a key is, and of all kinds of characters. */
static bool is_aws_key(struct span s)
{
    bool upper = false, lower = false, digit = false;

    for (size_t i = 0; i < s.n; i++) {
        upper |= s.p[i] >= 'A' && s.p[i] <= 'Z';
        lower |= s.p[i] >= 'a' && s.p[i] <= 'z';
        digit |= s.p[i] >= '0' && s.p[i] <= '9';
    }
    return s.n == AWS_KEY_CHARS && upper && lower && digit;
}

/* The secret half stands beside the id, before it or after it. */
static void near_aws_id(struct span text, size_t from, size_t end, struct hits *out)
{
    size_t at = from > AWS_NEAR ? from - AWS_NEAR : 0;
    size_t stop = text.n - end > AWS_NEAR ? end + AWS_NEAR : text.n;

    while (at < stop) {
        size_t n = 0;

        while (at + n < text.n && at + n < stop + AWS_KEY_CHARS && is_aws_char(text.p[at + n]))
            n++;
        if (is_aws_key(span_make(text.p + at, n)))
            hits_add(out, at, at + n, HIT_PATTERN);
        at += n + 1;
    }
}

/* Where the characters end of which keys are. */
static size_t run_end(struct span text, size_t at, struct hits *out)
{
    if (!scanned_has(&out->run, at)) {
        out->run = (struct scanned){ .from = at, .end = at };
        while (out->run.end < text.n && is_token_char(text.p[out->run.end]))
            out->run.end++;
    }
    return out->run.end;
}

/* Keys may hold what they begin with. So that each is not read to the end of all, it is judged by
 * its beginning, and ends where its characters do. The parts of a JSON Web Token are apart. */
static struct span shape_near(struct span text, size_t at, struct hits *out)
{
    bool token = text.p[at] == '.' && span_starts(span_from(text, at + 1), "eyJ");
    size_t end = run_end(text, at, out), near = end;
    struct span found;

    if (token)
        return shape_around(text, at);
    if (near > at + SHAPE_NEAR)
        near = at + SHAPE_NEAR;
    hits_spend(out, near - at);
    found = shape_around(span_make(text.p, near), at);
    if (found.n && span_end(found) == text.p + near)
        found.n += end - near;
    return found;
}

static void at_shape(struct span text, size_t at, struct hits *out)
{
    struct span found;
    size_t from;

    if (!shape_may_be(text, at))
        return;
    found = shape_near(text, at, out);
    if (!found.n)
        return;
    from = (size_t)(found.p - text.p);
    hits_add(out, from, from + found.n, HIT_PATTERN);
    if (found.n == AWS_ID_CHARS && text.p[at] == 'A')
        near_aws_id(text, from, from + found.n, out);
}

static void at_dash(struct span text, size_t at, struct hits *out)
{
    size_t left = text.n - at - 1;

    at_shape(text, at, out);
    if (at && text.p[at - 1] == '-' && left > 1 && text.p[at + 1] != '-')
        named_option(text, at + 1, out);
    if (left >= 5 && at >= 4 && text.p[at + 1] == 'B')
        at_pem(text, at - 4, out);
}

/* An ASCII character that JSON could have written as it is: whoever escapes that may hide more. It
 * is nothing by itself, only a reason to read the strings. */
static void at_escape(struct span text, size_t at, struct hits *out)
{
    struct span rest = span_from(text, at);

    if (out->one && rest.n >= 6 && rest.p[2] == '0' && rest.p[3] == '0' && rest.p[4] >= '2' &&
        rest.p[4] <= '7')
        hits_add(out, at, at + 6, HIT_VALUE);
}

static void at_sign(struct span text, size_t at, struct hits *out)
{
    switch (text.p[at]) {
    case ':':
    case '=':
        named_value(text, at, out);
        break;
    case '@':
        at_host(text, at, out);
        break;
    case '-':
        at_dash(text, at, out);
        break;
    case 'B':
        at_bearer(text, at, out);
        break;
    case '\\':
        at_escape(text, at, out);
        break;
    default:
        at_shape(text, at, out);
    }
}

/* ---- signs ---- */

/* One that stands for itself, or the first of two. */
static bool is_sign(char c, char next)
{
    switch (c) {
    case ':':
    case '=':
    case '@':
    case '-':
    case '_':
    case '.':
        return true;
    case 'A':
        return next == 'K' || next == 'S' || next == 'I';
    case 'B':
        return next == 'e';
    case '\\':
        return next == 'u';
    default:
        return false;
    }
}

#ifdef __SSE2__
enum { STEP = 16 };

/* One bit for each sign of the 16 bytes at p, of which there are 17. */
static inline uint32_t signs_of(const char *p)
{
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i next = _mm_loadu_si128((const __m128i *)(const void *)(p + 1));
    __m128i sign, pair;

#    define IS(x, c) _mm_cmpeq_epi8(x, _mm_set1_epi8(c))
    sign = _mm_or_si128(_mm_or_si128(IS(v, ':'), IS(v, '=')), _mm_or_si128(IS(v, '@'), IS(v, '_')));
    /* '-' is 2D, '.' is 2E: one more is 2E, 2F, and these differ in the last bit only */
    sign = _mm_or_si128(
        sign, IS(_mm_or_si128(_mm_add_epi8(v, _mm_set1_epi8(1)), _mm_set1_epi8(1)), 0x2F));
    pair = _mm_and_si128(IS(v, 'A'),
                         _mm_or_si128(IS(next, 'K'), _mm_or_si128(IS(next, 'S'), IS(next, 'I'))));
    pair = _mm_or_si128(pair, _mm_and_si128(IS(v, 'B'), IS(next, 'e')));
    pair = _mm_or_si128(pair, _mm_and_si128(IS(v, '\\'), IS(next, 'u')));
#    undef IS
    return (uint32_t)_mm_movemask_epi8(_mm_or_si128(sign, pair));
}
#endif

void traces_find(struct span text, struct hits *out)
{
    size_t i = 0;

#ifdef __SSE2__
    for (; i + STEP < text.n; i += STEP)
        for (uint32_t signs = signs_of(text.p + i); signs; signs &= signs - 1) {
            at_sign(text, i + (size_t)__builtin_ctz(signs), out);
            if (hits_enough(out))
                return;
        }
#endif
    for (; i < text.n && !hits_enough(out); i++)
        if (is_sign(text.p[i], i + 1 < text.n ? text.p[i + 1] : 0))
            at_sign(text, i, out);
}
