/* written.c - the ways in which a secret is written by those who pass it on. */
#include "secrets.h"
#include "wordlist.h"
#include <stdio.h>

enum { CHAR_MAX_OUT = 12 }; /* bytes that one byte becomes at most: a pair of \uXXXX has four */

static const char upper_digits[] = "0123456789ABCDEF", lower_digits[] = "0123456789abcdef";

/* Appends the first character of `rest` in its way; tells how many bytes it has. */
struct way;
typedef size_t write_fn(struct buf *out, struct span rest, const struct way *way);

struct way {
    write_fn *fn;
    const char *chars;  /* which a way treats unlike others of its kind */
    const char *digits; /* of hex */
    const char *space;  /* instead of %20, and ... */
    const char *quote;  /* ... instead of ' */
};

static size_t write_plain(struct buf *out, struct span rest, const struct way *way)
{
    (void)way;
    buf_byte(out, rest.p[0]);
    return 1;
}

static void put_unit(struct buf *out, uint32_t unit, const char *digits)
{
    buf_str(out, "\\u");
    for (int shift = 12; shift >= 0; shift -= 4)
        buf_byte(out, digits[unit >> shift & 15]);
}

static uint32_t code_point(struct span rest, size_t n)
{
    static const unsigned char lead[] = { 0, 0x7F, 0x1F, 0x0F, 0x07 };
    uint32_t c = (unsigned char)rest.p[0] & lead[n];

    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)rest.p[i] & 0x3F);
    return c;
}

/* Every character as \uXXXX, those past U+FFFF as two. */
static size_t write_unit(struct buf *out, struct span rest, const struct way *way)
{
    size_t n = utf8_length((const uint8_t *)rest.p, (const uint8_t *)span_end(rest));
    uint32_t c = n ? code_point(rest, n) : 0xFFFD;

    if (c > 0xFFFF) {
        put_unit(out, 0xD800 + ((c - 0x10000) >> 10), way->digits);
        put_unit(out, 0xDC00 + ((c - 0x10000) & 0x3FF), way->digits);
    } else {
        put_unit(out, c, way->digits);
    }
    return n ? n : 1;
}

/* As little as JSON needs; `chars` more than that, "\x80" for all that is not ASCII. */
static size_t write_json(struct buf *out, struct span rest, const struct way *way)
{
    static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    unsigned char c = (unsigned char)rest.p[0];
    const char *at = c ? strchr(named, c) : NULL;

    if (at) {
        buf_byte(out, '\\');
        buf_byte(out, letters[at - named]);
    } else if (c == '/' && strchr(way->chars, '/')) {
        buf_str(out, "\\/");
    } else if (c < 0x20 || (c < 0x80 && strchr(way->chars, c)) ||
               (c >= 0x80 && strchr(way->chars, '\x80'))) {
        return write_unit(out, rest, way);
    } else {
        buf_byte(out, rest.p[0]);
    }
    return 1;
}

/* JSON in a string of JSON. */
static size_t write_json_twice(struct buf *out, struct span rest, const struct way *way)
{
    AUTO_SECRET struct buf once = { 0 };
    size_t n = write_json(&once, rest, way);

    for (size_t i = 0; i < once.n; i++)
        write_json(out, span_make(once.p + i, 1), way);
    return n;
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static void put_hex(struct buf *out, unsigned char c, const char *digits)
{
    buf_byte(out, digits[c >> 4]);
    buf_byte(out, digits[c & 15]);
}

static size_t write_url(struct buf *out, struct span rest, const struct way *way)
{
    char c = rest.p[0];

    if (c == ' ' && way->space) {
        buf_str(out, way->space);
    } else if (is_alnum(c) || (c && strchr(way->chars, c))) {
        buf_byte(out, c);
    } else {
        buf_byte(out, '%');
        put_hex(out, (unsigned char)c, way->digits);
    }
    return 1;
}

static size_t write_html(struct buf *out, struct span rest, const struct way *way)
{
    static const struct {
        char c;
        const char *name;
    } entities[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" } };
    char c = rest.p[0];

    if (c == '"' || c == '\'') {
        buf_str(out, c == '"' ? way->chars : way->quote);
        return 1;
    }
    for (size_t i = 0; i < ARRAY_LEN(entities); i++)
        if (c == entities[i].c) {
            buf_str(out, entities[i].name);
            return 1;
        }
    buf_byte(out, c);
    return 1;
}

static size_t write_hex(struct buf *out, struct span rest, const struct way *way)
{
    put_hex(out, (unsigned char)rest.p[0], way->digits);
    return 1;
}

/* clang-format off */
static const struct way ways[] = {
    { write_plain },
    { write_json,       "",                   lower_digits }, /* this and the one before: also of */
    { write_json,       "/",                  lower_digits }, /* a short secret */
    { write_json,       "<>&",                lower_digits },
    { write_json,       "<>&'+",              upper_digits },
    { write_json,       "\x80",               lower_digits },
    { write_json_twice, "",                   lower_digits },
    { write_unit,       NULL,                 lower_digits },
    { write_unit,       NULL,                 upper_digits },
    { write_url,        "-._~",               upper_digits },
    { write_url,        "-._~",               lower_digits },
    { write_url,        "-._~!*'()",          upper_digits },
    { write_url,        "-._~/",              upper_digits },
    { write_url,        "-._~!*'()/:;,?@&=+$#", upper_digits },
    { write_url,        "-._~",               upper_digits, "+" },
    { write_url,        "-._~",               lower_digits, "+" },
    { write_url,        "-._*",               upper_digits, "+" },
    { write_html,       "&quot;",             NULL, NULL, "&#39;" },
    { write_html,       "&quot;",             NULL, NULL, "&#x27;" },
    { write_html,       "&quot;",             NULL, NULL, "&apos;" },
    { write_html,       "&#34;",              NULL, NULL, "&#39;" },
    { write_html,       "\"",                 NULL, NULL, "'" },
    { write_hex,        NULL,                 lower_digits },
    { write_hex,        NULL,                 upper_digits },
};
/* clang-format on */
enum { WAYS_OF_SHORT = 2 };

/* ---- what of it counts ---- */

/* Bytes of a secret of n bytes that give it away: half of it. */
static size_t half_of(size_t n)
{
    size_t half = (n + 1) / 2;

    if (half < REDACT_GUESS_MIN)
        half = REDACT_GUESS_MIN;
    return half < n ? half : n;
}

static size_t clamp(size_t least, size_t n)
{
    if (least > REDACT_PIECE_MAX)
        least = REDACT_PIECE_MAX;
    if (least < REDACT_GUESS_MIN)
        least = REDACT_GUESS_MIN;
    return least < n ? least : n;
}

/* The fewest bytes that any half of it becomes; ends[i] is where byte i begins in what is written.
 */
static size_t least_of(const uint32_t *begins, size_t n)
{
    size_t half = half_of(n), least = SIZE_MAX;

    for (size_t i = 0; i + half <= n; i++)
        if (begins[i + half] - begins[i] < least)
            least = begins[i + half] - begins[i];
    return least;
}

static void add_in(struct wordlist *w, struct span secret, const struct way *way, bool pieces)
{
    AUTO_SECRET struct buf text = { 0 };
    AUTO_FREE uint32_t *begins = mem_alloc((secret.n + 1) * sizeof *begins);
    size_t at = 0;

    buf_reserve(&text, secret.n * CHAR_MAX_OUT); /* it leaves no copy behind where it grew */
    while (at < secret.n) {
        size_t from = text.n, n = way->fn(&text, span_from(secret, at), way);

        for (size_t i = 0; i < n; i++)
            begins[at++] = (uint32_t)from;
    }
    begins[at] = (uint32_t)text.n;
    wordlist_add(w, buf_span(&text), pieces ? clamp(least_of(begins, secret.n), text.n) : text.n);
}

/* Wherever it begins within what was encoded, the characters that are made of its bits alone. */
static void add_in_base64(struct wordlist *w, struct span secret, bool pieces)
{
    static const size_t mixed[] = { 0, 2, 3 };
    size_t least = (half_of(secret.n) * 8 - 8) / 6;

    for (size_t shift = 0; shift < ARRAY_LEN(mixed); shift++) {
        AUTO_SECRET struct buf plain = { 0 }, text = { 0 }, url = { 0 };
        size_t n = (secret.n + shift) * 8 / 6 - mixed[shift];

        buf_reserve(&plain, secret.n + shift);
        buf_reserve(&text, secret.n * 2 + 8);
        buf_reserve(&url, secret.n * 2 + 8);
        buf_add(&plain, "\0\0", shift);
        buf_add_span(&plain, secret);
        base64_encode(&text, buf_span(&plain));
        base64url_encode(&url, buf_span(&plain));
        wordlist_add(w, span_make(text.p + mixed[shift], n), pieces ? clamp(least, n) : n);
        wordlist_add(w, span_make(url.p + mixed[shift], n), pieces ? clamp(least, n) : n);
    }
}

/* The log writes a tab as a space, and other control characters not at all. */
static void add_line(struct wordlist *w, struct span line)
{
    AUTO_SECRET struct buf shown = { 0 };

    wordlist_add(w, line, line.n);
    buf_add_span(&shown, line);
    for (size_t i = 0; i < shown.n; i++)
        if (shown.p[i] == '\t')
            shown.p[i] = ' ';
    wordlist_add(w, buf_span(&shown), line.n);
}

/* Texts come line by line, and some keys have many. */
static void add_lines(struct wordlist *w, struct span secret)
{
    while (secret.n) {
        size_t n = 0;

        while (n < secret.n && secret.p[n] != '\n' && secret.p[n] != '\r')
            n++;
        add_line(w, span_make(secret.p, n));
        secret = span_from(secret, n < secret.n ? n + 1 : n);
    }
}

/* Quotes and backslashes: JSON in JSON in JSON writes them anew each time. */
static bool is_escaped(struct span secret)
{
    for (size_t i = 0; i < secret.n; i++)
        if (secret.p[i] == '"' || secret.p[i] == '\\' || (unsigned char)secret.p[i] < ' ')
            return true;
    return false;
}

void wordlist_add_secret(struct wordlist *w, struct span secret, bool pieces)
{
    size_t n = secret.n < REDACT_GUESS_MIN ? WAYS_OF_SHORT : ARRAY_LEN(ways);

    w->escaped |= is_escaped(secret);
    for (size_t i = 0; i < n && !w->full; i++)
        add_in(w, secret, &ways[i], pieces);
    if (!pieces)
        add_lines(w, secret);
    if (secret.n >= REDACT_GUESS_MIN)
        add_in_base64(w, secret, pieces);
}
