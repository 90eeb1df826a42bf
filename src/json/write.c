#include "write.h"
#include "number.h"
#include "scan.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { DEPTH_MAX = 3 * 64 };

struct json_out json_out(struct buf *b) { return (struct json_out){ .b = b }; }

void json_escape(struct buf *b, uint32_t c)
{
    static const char shorts[0x20] = {
        ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
    };

    if (c == '"' || c == '\\') {
        buf_byte(b, '\\');
        buf_byte(b, (char)c);
    } else if (c < 0x20 && shorts[c]) {
        buf_byte(b, '\\');
        buf_byte(b, shorts[c]);
    } else if (c < 0x20 || (c >= 0xD800 && c <= 0xDFFF)) {
        buf_printf(b, "\\u%04" PRIx32, c);
    } else {
        utf8_append(b, c);
    }
}

/* From the first character on that needs a look. */
static void quote_rest(struct buf *b, const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        const uint8_t *stop;
        size_t n = utf8_length(p, end);

        if (n > 1)
            buf_add(b, p, n);
        else
            json_escape(b, n ? *p : 0xFFFD);
        p += n ? n : 1;
        stop = scan_plain(p, end);
        buf_add(b, p, (size_t)(stop - p));
        p = stop;
    }
}

void json_quote(struct buf *b, struct span s)
{
    const uint8_t *p = (const uint8_t *)s.p, *end = (const uint8_t *)span_end(s);
    size_t plain = (size_t)(scan_plain(p, end) - p);
    char *at = buf_reserve(b, s.n + 2);

    at[0] = '"';
    if (plain)
        memcpy(at + 1, p, plain);
    b->n += plain + 1;
    if (plain < s.n)
        quote_rest(b, p + plain, end);
    buf_byte(b, '"');
}

static bool bit_get(const uint64_t bits[3], int i) { return bits[i / 64] >> (i % 64) & 1; }

static void bit_set(uint64_t bits[3], int i, bool on)
{
    uint64_t bit = UINT64_C(1) << (i % 64);

    bits[i / 64] = on ? bits[i / 64] | bit : bits[i / 64] & ~bit;
}

/* The comma before a value. */
static void separate(struct json_out *o, bool keyed)
{
    int in = o->depth - 1;

    if (in < 0) {
        assert(!keyed && "a key outside of an object");
        return;
    }
    assert(bit_get(o->object, in) == keyed && "a member needs a key, an item has none");
    if (bit_get(o->filled, in))
        buf_byte(o->b, ',');
    bit_set(o->filled, in, true);
}

static void before(struct json_out *o, const char *key)
{
    separate(o, key != NULL);
    if (key) {
        json_quote(o->b, span_of(key));
        buf_byte(o->b, ':');
    }
}

static void begin(struct json_out *o, const char *key, bool object)
{
    before(o, key);
    assert(o->depth < DEPTH_MAX);
    bit_set(o->object, o->depth, object);
    bit_set(o->filled, o->depth, false);
    o->depth++;
    buf_byte(o->b, object ? '{' : '[');
}

void json_begin_object(struct json_out *o, const char *key) { begin(o, key, true); }

void json_begin_array(struct json_out *o, const char *key) { begin(o, key, false); }

void json_end(struct json_out *o)
{
    assert(o->depth > 0 && "nothing is open");
    o->depth--;
    buf_byte(o->b, bit_get(o->object, o->depth) ? '}' : ']');
}

void json_put_span(struct json_out *o, const char *key, struct span s)
{
    before(o, key);
    json_quote(o->b, s);
}

void json_put_str(struct json_out *o, const char *key, const char *s)
{
    json_put_span(o, key, span_of(s));
}

void json_put_str_opt(struct json_out *o, const char *key, const char *s)
{
    if (s)
        json_put_str(o, key, s);
}

void json_put_fmt(struct json_out *o, const char *key, const char *fmt, ...)
{
    AUTO_FREE char *text = NULL;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    text = mem_alloc((size_t)(n < 0 ? 0 : n) + 1);
    text[0] = '\0';
    if (n > 0) {
        va_start(ap, fmt);
        vsnprintf(text, (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    json_put_str(o, key, text);
}

void json_put_int(struct json_out *o, const char *key, int64_t v)
{
    before(o, key);
    if (v < 0)
        buf_byte(o->b, '-');
    buf_uint(o->b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void json_put_uint(struct json_out *o, const char *key, uint64_t v)
{
    before(o, key);
    buf_uint(o->b, v);
}

/* The digits from the right; those behind the point that say nothing are left away. */
void json_put_scaled(struct json_out *o, const char *key, int64_t v, unsigned places)
{
    uint64_t whole = v < 0 ? -(uint64_t)v : (uint64_t)v;
    char text[32], *end = text + sizeof text, *at = end;
    bool fraction = false;

    for (unsigned i = 0; i < places; i++, whole /= 10) {
        fraction |= whole % 10 != 0;
        if (fraction)
            *--at = (char)('0' + whole % 10);
    }
    if (fraction)
        *--at = '.';
    before(o, key);
    if (v < 0)
        buf_byte(o->b, '-');
    buf_uint(o->b, whole);
    buf_add(o->b, at, (size_t)(end - at));
}

void json_put_double(struct json_out *o, const char *key, double v)
{
    char text[NUMBER_CHARS] = "null";

    if (isfinite(v))
        number_print(text, v);
    before(o, key);
    buf_str(o->b, text);
}

void json_put_bool(struct json_out *o, const char *key, bool v)
{
    before(o, key);
    buf_str(o->b, v ? "true" : "false");
}

void json_put_null(struct json_out *o, const char *key)
{
    before(o, key);
    buf_str(o->b, "null");
}

void json_put_raw(struct json_out *o, const char *key, struct span json)
{
    if (!json.n)
        return;
    before(o, key);
    buf_add_span(o->b, json);
}

void json_put_raw_key(struct json_out *o, struct span key, struct span json)
{
    if (!json.n)
        return;
    separate(o, true);
    json_quote(o->b, key);
    buf_byte(o->b, ':');
    buf_add_span(o->b, json);
}
