/* The canary walk: secrets of many shapes and lengths, in all ways to write them, in all places of
 * what is recorded. Nothing of one is left, nor half of it. */
#include "hub/secrets/secrets.h"
#include "tap.h"
#include "json/json.h"

enum { CANARIES = 50, CANARY_MAX = 400 };

/* ---- canaries ---- */

/* Always the same numbers, so that what fails once fails again. */
static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void make_canary(struct buf *out, int no)
{
    static const char *const kinds[] = {
        "abcdefghijklmnopqrstuvwxyz0123456789",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        "0123456789abcdef",
        "0123456789",
        "abcXYZ019!#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \"",
        "abc \xc3\xa9\xc3\xbc\xe4\xb8\xad",
    };
    static const int lengths[] = { 8, 9, 12, 15, 16, 20, 24, 32, 40, 64, 100, 333 };
    const char *kind = kinds[no % (int)ARRAY_LEN(kinds)];
    int n = lengths[no % (int)ARRAY_LEN(lengths)];
    uint32_t state = (uint32_t)no * 7919u + 17u;
    struct span chars = span_of(kind);

    out->n = 0;
    while ((int)out->n < n) {
        size_t at = next_random(&state) % chars.n;
        size_t size;

        while (at && ((unsigned char)chars.p[at] & 0xC0) == 0x80)
            at--;
        size = utf8_length((const uint8_t *)chars.p + at, (const uint8_t *)span_end(chars));
        if (chars.p[at] != ' ' || (out->n && (int)out->n < n - 1))
            buf_add(out, chars.p + at, size);
    }
}

/* ---- ways to write them, by other means than the program's own ---- */

typedef void encode_fn(struct buf *out, struct span s);

static void as_is(struct buf *out, struct span s) { buf_add_span(out, s); }

static void as_json(struct buf *out, struct span s)
{
    AUTO_BUF struct buf quoted = { 0 };

    json_quote(&quoted, s);
    buf_add(out, quoted.p + 1, quoted.n - 2);
}

static void as_json_slashes(struct buf *out, struct span s)
{
    AUTO_BUF struct buf once = { 0 };

    as_json(&once, s);
    for (size_t i = 0; i < once.n; i++)
        buf_printf(out, once.p[i] == '/' ? "\\%c" : "%c", once.p[i]);
}

static void as_json_twice(struct buf *out, struct span s)
{
    AUTO_BUF struct buf once = { 0 };

    as_json(&once, s);
    as_json(out, buf_span(&once));
}

static void put_units(struct buf *out, struct span s, bool upper)
{
    for (size_t i = 0; i < s.n;) {
        size_t n = utf8_length((const uint8_t *)s.p + i, (const uint8_t *)span_end(s));
        const unsigned char *p = (const unsigned char *)s.p + i;
        unsigned c = n == 1   ? p[0]
                     : n == 2 ? (p[0] & 31u) << 6 | (p[1] & 63u)
                              : (p[0] & 15u) << 12 | (p[1] & 63u) << 6 | (p[2] & 63u);

        buf_printf(out, upper ? "\\u%04X" : "\\u%04x", c);
        i += n;
    }
}
static void as_units(struct buf *out, struct span s) { put_units(out, s, false); }
static void as_upper_units(struct buf *out, struct span s) { put_units(out, s, true); }

static void put_url(struct buf *out, struct span s, const char *fmt, const char *keep, bool plus)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c == ' ' && plus)
            buf_byte(out, '+');
        else if ((c < 128 && strchr(keep, c)) || (c >= '0' && c <= '9') ||
                 ((c | 32) >= 'a' && (c | 32) <= 'z'))
            buf_byte(out, s.p[i]);
        else
            buf_printf(out, *fmt == 'X' ? "%%%02X" : "%%%02x", c);
    }
}
static void as_url(struct buf *out, struct span s) { put_url(out, s, "X", "-._~", false); }
static void as_lower_url(struct buf *out, struct span s) { put_url(out, s, "x", "-._~", false); }
static void as_form(struct buf *out, struct span s) { put_url(out, s, "X", "-._~", true); }
static void as_script_url(struct buf *out, struct span s)
{
    put_url(out, s, "X", "-._~!*'()", false);
}

static void as_html(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.n; i++) {
        static const char marks[] = "&<>\"'";
        static const char *const names[] = { "&amp;", "&lt;", "&gt;", "&quot;", "&#39;" };
        const char *at = s.p[i] ? strchr(marks, s.p[i]) : NULL;

        buf_add_span(out, at ? span_of(names[at - marks]) : span_make(s.p + i, 1));
    }
}

static void as_hex(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        buf_printf(out, "%02x", (unsigned char)s.p[i]);
}

static void as_upper_hex(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        buf_printf(out, "%02X", (unsigned char)s.p[i]);
}

static void put_base64(struct buf *out, struct span s, const char *before, size_t line)
{
    AUTO_BUF struct buf plain = { 0 }, text = { 0 };

    buf_str(&plain, before);
    buf_add_span(&plain, s);
    buf_str(&plain, "and more");
    base64_encode(&text, buf_span(&plain));
    for (size_t i = 0; i < text.n; i++) {
        if (line && i && i % line == 0)
            buf_byte(out, '\n');
        buf_byte(out, text.p[i]);
    }
}
static void as_base64(struct buf *out, struct span s) { put_base64(out, s, "", 0); }
static void as_base64_1(struct buf *out, struct span s) { put_base64(out, s, "x", 0); }
static void as_base64_2(struct buf *out, struct span s) { put_base64(out, s, "us", 0); }
static void as_base64_64(struct buf *out, struct span s) { put_base64(out, s, "user:", 64); }
static void as_base64_76(struct buf *out, struct span s) { put_base64(out, s, "", 76); }
static void as_base64url(struct buf *out, struct span s) { base64url_encode(out, s); }

/* clang-format off */
static const struct way_to_write {
    const char *name;
    encode_fn *fn;
    size_t spare; /* characters at its ends that are not its own alone */
    bool is_json; /* in a JSON string it is escaped twice, which only whoever can read that finds */
} ways[] = {
    { "as it is", as_is, 0 },               { "JSON", as_json, 0, true },
    { "JSON \\/", as_json_slashes, 0, true },     { "JSON twice", as_json_twice, 0, true },
    { "\\uxxxx", as_units, 0, true },             { "\\uXXXX", as_upper_units, 0, true },
    { "URL", as_url, 0 },                   { "URL, lower", as_lower_url, 0 },
    { "URL, form", as_form, 0 },            { "URL, script", as_script_url, 0 },
    { "HTML", as_html, 0 },                 { "hex", as_hex, 0 },
    { "hex, upper", as_upper_hex, 0 },      { "base64", as_base64, 12 },
    { "base64 + 1", as_base64_1, 14 },      { "base64 + 2", as_base64_2, 14 },
    { "base64, 64", as_base64_64, 20 },     { "base64, 76", as_base64_76, 12 },
    { "base64url", as_base64url, 2 },
};
/* clang-format on */

/* ---- places; `text` is to be hidden ---- */

typedef void place_fn(struct buf *out, struct span text);

static void in_text(struct buf *out, struct span text)
{
    buf_str(out, "it says: ");
    buf_add_span(out, text);
    buf_str(out, " (twice)");
}

static void put_member(struct buf *out, const char *before, struct span text, const char *after)
{
    buf_str(out, before);
    json_quote(out, text);
    buf_str(out, after);
}

static void in_value(struct buf *out, struct span text)
{
    put_member(out, "{\"a\":1,\"note\":", text, "}");
}

static void in_depth(struct buf *out, struct span text)
{
    put_member(out, "{\"a\":[[],{\"b\":[1,{\"c\":", text, "}]}]}");
}

static void in_key(struct buf *out, struct span text) { put_member(out, "{", text, ":{\"x\":1}}"); }

static void in_json_in_json(struct buf *out, struct span text)
{
    AUTO_BUF struct buf inner = { 0 };

    in_depth(&inner, text);
    put_member(out, "{\"content\":[{\"type\":\"text\",\"text\":", buf_span(&inner), "}]}");
}

static void in_url(struct buf *out, struct span text)
{
    buf_str(out, "GET https://example.com/x?page=1&q=");
    buf_add_span(out, text);
    buf_str(out, "&z=1 failed");
}

static void in_header(struct buf *out, struct span text)
{
    buf_str(out, "GET / HTTP/1.1\r\nX-Thing: ");
    buf_add_span(out, text);
    buf_str(out, "\r\nHost: x\r\n\r\n");
}

static void at_the_end(struct buf *out, struct span text)
{
    buf_str(out, "the end was cut: ");
    buf_add_span(out, text);
}

static void in_broken_json(struct buf *out, struct span text)
{
    put_member(out, "{\"a\":1,\"note\":", text, ",\"rest");
}

static const struct {
    const char *name;
    place_fn *fn;
} places[] = {
    { "text", in_text },
    { "value", in_value },
    { "depth", in_depth },
    { "key", in_key },
    { "JSON in JSON", in_json_in_json },
    { "URL", in_url },
    { "header", in_header },
    { "end", at_the_end },
    { "broken JSON", in_broken_json },
};

/* ---- the walk ---- */

static bool is_json(struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return json_parse(&doc, text, NULL, NULL) == 0;
}

/* Is any half of it still there? */
static bool is_left(struct span text, struct span written, size_t spare)
{
    size_t half = (written.n + 1) / 2 + spare;

    for (size_t i = 0; i + half <= written.n; i++)
        if (memmem(text.p, text.n, written.p + i, half))
            return true;
    return written.n && memmem(text.p, text.n, written.p, written.n);
}

static void check_hidden(struct vault *v, struct span written, size_t spare, const char *way,
                         size_t place)
{
    AUTO_BUF struct buf text = { 0 };
    bool was_json;

    places[place].fn(&text, written);
    was_json = is_json(buf_span(&text));
    if (!vault_redact(v, &text, NULL) || is_left(buf_span(&text), written, spare))
        TAP_FAIL("%.*s (%s, %s) is left in: %s", SPAN_ARG(written), way, places[place].name,
                 buf_cstr(&text));
    CHECK_INT(is_json(buf_span(&text)), was_json);
    CHECK(utf8_valid(buf_span(&text)));
}

TEST(no_canary_is_left_anywhere_in_any_way_to_write_it)
{
    AUTO(vault) struct vault *v = vault_new();
    AUTO_BUF struct buf canary = { 0 };

    for (int i = 0; i < CANARIES; i++) {
        make_canary(&canary, i);
        vault_add(v, buf_span(&canary));
    }
    for (int i = 0; i < CANARIES; i++) {
        make_canary(&canary, i);
        for (size_t w = 0; w < ARRAY_LEN(ways); w++) {
            AUTO_BUF struct buf written = { 0 };

            ways[w].fn(&written, buf_span(&canary));
            for (size_t p = 0; p < ARRAY_LEN(places); p++)
                if (!ways[w].is_json || places[p].fn != in_broken_json)
                    check_hidden(v, buf_span(&written), ways[w].spare, ways[w].name, p);
        }
    }
}

TEST(a_canary_in_two_fields_is_hidden_in_both)
{
    AUTO(vault) struct vault *v = vault_new();
    AUTO_BUF struct buf canary = { 0 };

    for (int i = 0; i < CANARIES; i++) {
        AUTO_BUF struct buf text = { 0 };
        struct span a, b;

        make_canary(&canary, i);
        vault_add(v, buf_span(&canary));
        if (canary.n < REDACT_GUESS_MIN * 2)
            continue;
        a = utf8_cut(buf_span(&canary), canary.n / 2 + canary.n % 2);
        b = span_from(buf_span(&canary), a.n);
        buf_str(&text, "{\"first\":");
        json_quote(&text, a);
        buf_str(&text, ",\"second\":");
        json_quote(&text, b);
        buf_str(&text, "}");
        CHECK(vault_redact(v, &text, NULL));
        CHECK(is_json(buf_span(&text)));
        if (a.n == (canary.n + 1) / 2 && !memchr(canary.p, '"', canary.n) &&
            !memchr(canary.p, '\\', canary.n))
            CHECK(!memmem(text.p, text.n, a.p, a.n));
        if (b.n * 2 >= canary.n && !memchr(canary.p, '"', canary.n) &&
            !memchr(canary.p, '\\', canary.n))
            CHECK(!memmem(text.p, text.n, b.p, b.n));
    }
}
