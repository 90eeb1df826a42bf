/* string.c - texts: what a model would get wrong letter by letter. Characters are those of Unicode,
 * not bytes. */
#include "io/http/http.h"
#include "plain_impl.h"
#include <locale.h>
#include <pthread.h>
#include <wctype.h>

typedef int text_fn(struct tool_call *c, struct span input, struct buf *out);

/* ---- letters ---- */

static struct {
    pthread_once_t once;
    locale_t locale;
} letters = { .once = PTHREAD_ONCE_INIT };

static void find_letters(void)
{
    letters.locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

static wint_t in_case(wint_t c, bool upper)
{
    pthread_once(&letters.once, find_letters);
    if (letters.locale)
        return upper ? towupper_l(c, letters.locale) : towlower_l(c, letters.locale);
    return upper ? towupper(c) : towlower(c);
}

static bool is_letter(wint_t c)
{
    pthread_once(&letters.once, find_letters);
    return letters.locale ? iswalpha_l(c, letters.locale) != 0 : iswalpha(c) != 0;
}

/* The first character of valid text. */
static uint32_t first(struct span s, size_t *n)
{
    const uint8_t *p = (const uint8_t *)s.p;
    uint32_t c;

    *n = utf8_length(p, p + s.n);
    if (*n <= 1) {
        *n = 1;
        return *p;
    }
    c = *p & (0xffU >> (*n + 1));
    for (size_t i = 1; i < *n; i++)
        c = c << 6 | (p[i] & 0x3f);
    return c;
}

/* title: the first letter of each word is large, all others are small. */
static void change_case(struct buf *out, struct span s, bool upper, bool title)
{
    bool inside = false;

    for (size_t n; s.n; s = span_from(s, n)) {
        uint32_t c = first(s, &n);

        utf8_append(out, in_case(c, title ? !inside : upper));
        inside = is_letter(c) || (inside && c == '\'');
    }
}

static int to_upper(struct tool_call *c, struct span s, struct buf *out)
{
    (void)c;
    change_case(out, s, true, false);
    return 0;
}

static int to_lower(struct tool_call *c, struct span s, struct buf *out)
{
    (void)c;
    change_case(out, s, false, false);
    return 0;
}

static int to_title(struct tool_call *c, struct span s, struct buf *out)
{
    (void)c;
    change_case(out, s, false, true);
    return 0;
}

static int reverse(struct tool_call *c, struct span s, struct buf *out)
{
    char *end = buf_reserve(out, s.n) + s.n;

    (void)c;
    out->n = s.n;
    for (size_t n; s.n; s = span_from(s, n)) {
        first(s, &n);
        end -= n;
        memcpy(end, s.p, n);
    }
    return 0;
}

static size_t characters(struct span s)
{
    size_t count = 0;

    for (size_t n; s.n; s = span_from(s, n), count++)
        first(s, &n);
    return count;
}

static int trim(struct tool_call *c, struct span s, struct buf *out)
{
    (void)c;
    buf_add_span(out, span_trim(s));
    return 0;
}

/* From character `start` to before `end`; from 0; negative ones count from the end. */
static int substring(struct tool_call *c, struct span s, struct buf *out)
{
    int64_t all = (int64_t)characters(s), at = 0;
    int64_t from = pb_arg_int(c->call, "start");
    int64_t to = pb_arg_has(c->call, "end") ? pb_arg_int(c->call, "end") : all;

    from = from < 0 && from >= -all ? from + all : from;
    to = to < 0 && to >= -all ? to + all : to;
    for (size_t n; s.n; s = span_from(s, n), at++) {
        first(s, &n);
        if (at >= from && at < to)
            buf_add(out, s.p, n);
    }
    return 0;
}

/* ---- parts ---- */

static const char *find(struct span s, struct span what)
{
    return what.n && s.n >= what.n ? memmem(s.p, s.n, what.p, what.n) : NULL;
}

static int need_pattern(struct tool_call *c, struct span *out)
{
    *out = span_of(pb_arg_string(c->call, "pattern"));
    return out->n ? 0 : pb_fail(c->call, "pattern is empty: say what to look for");
}

static int replace(struct tool_call *c, struct span s, struct buf *out)
{
    struct span what, by = span_of(pb_arg_string(c->call, "replacement"));
    int rc = need_pattern(c, &what);

    if (rc < 0)
        return rc;
    for (const char *at; (at = find(s, what)) != NULL && out->n <= STRING_BYTES_MAX;) {
        buf_add(out, s.p, (size_t)(at - s.p));
        buf_add_span(out, by);
        s = span_from(s, (size_t)(at - s.p) + what.n);
    }
    buf_add_span(out, s);
    return 0;
}

static int count(struct tool_call *c, struct span s, struct buf *out)
{
    struct span what;
    size_t n = 0;
    int rc = need_pattern(c, &what);

    for (const char *at; rc == 0 && (at = find(s, what)) != NULL; n++)
        s = span_from(s, (size_t)(at - s.p) + what.n);
    buf_uint(out, n);
    return rc;
}

static int contains(struct tool_call *c, struct span s, struct buf *out)
{
    struct span what;
    int rc = need_pattern(c, &what);

    buf_str(out, rc == 0 && find(s, what) ? "true" : "false");
    return rc;
}

/* ---- codes ---- */

static int encode_base64(struct tool_call *c, struct span s, struct buf *out)
{
    (void)c;
    base64_encode(out, s);
    return 0;
}

static int check_text(struct tool_call *c, const struct buf *out)
{
    if (utf8_valid(buf_span(out)))
        return 0;
    return pb_fail(c->call, "what is encoded is no text but %zu other bytes", out->n);
}

static int decode_base64(struct tool_call *c, struct span s, struct buf *out)
{
    if (!base64_decode(out, span_trim(s)) && !base64url_decode(out, span_trim(s)))
        return pb_fail(c->call, "input is not base64");
    return check_text(c, out);
}

static int encode_url(struct tool_call *c, struct span s, struct buf *out)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";

    (void)c;
    for (size_t i = 0; i < s.n; i++)
        if (strchr(plain, s.p[i]))
            buf_byte(out, s.p[i]);
        else
            buf_printf(out, "%%%02X", (unsigned char)s.p[i]);
    return 0;
}

static int decode_url(struct tool_call *c, struct span s, struct buf *out)
{
    if (!http_decode(out, s))
        return pb_fail(c->call, "input has a '%%' that two hex digits do not follow, or a NUL");
    return check_text(c, out);
}

static int digest(struct tool_call *c, struct span s, struct buf *out)
{
    char hex[2 * SHA256_BYTES + 1];

    (void)c;
    sha256_hex(s, hex);
    buf_str(out, hex);
    return 0;
}

/* ---- answers that are more than a text ---- */

static int run_length(struct tool_call *c)
{
    AUTO_BUF struct buf json = { 0 };
    struct span s = span_of(pb_arg_string(c->call, "input"));

    pb_reply_text(c->call, "%zu characters, %zu bytes", characters(s), s.n);
    buf_printf(&json, "{\"characters\":%zu,\"bytes\":%zu}", characters(s), s.n);
    return pb_reply_structured(c->call, buf_cstr(&json));
}

static int run_split(struct tool_call *c)
{
    AUTO_BUF struct buf json = { 0 }, text = { 0 };
    struct json_out o = json_out(&json);
    struct span s = span_of(pb_arg_string(c->call, "input")), by;
    size_t n = 1;
    int rc = need_pattern(c, &by);

    if (rc < 0)
        return rc;
    json_begin_object(&o, NULL);
    json_begin_array(&o, "parts");
    for (const char *at; (at = find(s, by)) != NULL; n++) {
        if (n == STRING_PARTS_MAX)
            return pb_fail(c->call, "there are more than %d parts", STRING_PARTS_MAX);
        json_put_span(&o, NULL, span_make(s.p, (size_t)(at - s.p)));
        buf_add(&text, s.p, (size_t)(at - s.p));
        buf_byte(&text, '\n');
        s = span_from(s, (size_t)(at - s.p) + by.n);
    }
    json_put_span(&o, NULL, s);
    buf_add_span(&text, s);
    json_end(&o);
    json_end(&o);
    pb_reply_bytes(c->call, text.p ? text.p : "", text.n);
    return pb_reply_structured(c->call, buf_cstr(&json));
}

static int run_join(struct tool_call *c)
{
    AUTO_BUF struct buf out = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    const char *by = pb_arg_string(c->call, "separator");
    size_t n = 0;

    if (json_parse(&doc, span_of(pb_arg_json(c->call, "parts")), NULL, NULL) < 0)
        return pb_fail(c->call, "parts: too many");
    JSON_FOREACH(part, json_root(&doc)) {
        if (n++ && by)
            buf_str(&out, by);
        buf_add_span(&out, json_str(part, &a));
        if (out.n > STRING_BYTES_MAX)
            return pb_fail(c->call, "the result is larger than %d bytes", STRING_BYTES_MAX);
    }
    return pb_reply_bytes(c->call, out.p ? out.p : "", out.n);
}

/* ---- rows ---- */

#define INPUT                                                         \
    {                                                                 \
        .name = "input", .type = PB_STRING, .description = "The text" \
    }
#define PATTERN                                                                              \
    {                                                                                        \
        .name = "pattern", .type = PB_STRING, .description = "What is looked for, literally" \
    }
static const struct pb_param one[] = { INPUT, { 0 } };
static const struct pb_param two[] = { INPUT, PATTERN, { 0 } };
static const struct pb_param replace_params[] = {
    INPUT,
    PATTERN,
    { .name = "replacement", .type = PB_STRING, .description = "What comes in its place" },
    { 0 },
};
static const struct pb_param substring_params[] = {
    INPUT,
    { .name = "start",
      .type = PB_INT,
      .description = "The first character, from 0; negative ones count from the end" },
    { .name = "end",
      .type = PB_INT,
      .flags = PB_OPTIONAL,
      .description = "The one behind the last; the end of the text if not said" },
    { 0 },
};
static const struct pb_param join_params[] = {
    { .name = "parts",
      .type = PB_ARRAY,
      .of = &(const struct pb_param){ .type = PB_STRING },
      .description = "The texts" },
    { .name = "separator",
      .type = PB_STRING,
      .flags = PB_OPTIONAL,
      .description = "What comes between two of them" },
    { 0 },
};

/* What operations that make a text of a text do. */
/* clang-format off */
static const struct {
    const char *name;
    text_fn *fn;
} texts[] = {
    { "upper",         to_upper },
    { "lower",         to_lower },
    { "title",         to_title },
    { "reverse",       reverse },
    { "trim",          trim },
    { "substring",     substring },
    { "replace",       replace },
    { "count",         count },
    { "contains",      contains },
    { "base64_encode", encode_base64 },
    { "base64_decode", decode_base64 },
    { "url_encode",    encode_url },
    { "url_decode",    decode_url },
    { "sha256",        digest },
};
/* clang-format on */

static int run_text(struct tool_call *c)
{
    AUTO_BUF struct buf out = { 0 };
    size_t i = 0;
    int rc;

    while (strcmp(texts[i].name, c->op->name) != 0)
        i++;
    rc = texts[i].fn(c, span_of(pb_arg_string(c->call, "input")), &out);
    if (rc < 0)
        return rc;
    if (out.n > STRING_BYTES_MAX)
        return pb_fail(c->call, "the result is larger than %d bytes", STRING_BYTES_MAX);
    return pb_reply_bytes(c->call, out.p ? out.p : "", out.n);
}

/* Their own names are words that others have as well. */
enum { PLAIN = PB_READ_ONLY | PB_CLOSED_WORLD | TOOL_FULL_NAME };

/* clang-format off */
static const struct tool_operation rows[] = {
    { "upper",         "all letters large",                         one,              PLAIN, run_text, NULL, NULL },
    { "lower",         "all letters small",                         one,              PLAIN, run_text, NULL, NULL },
    { "title",         "the first letter of each word large",       one,              PLAIN, run_text, NULL, NULL },
    { "reverse",       "the characters from the last to the first", one,              PLAIN, run_text, NULL, NULL },
    { "length",        "how many characters and bytes it has",      one,              PLAIN, run_length,        NULL, NULL },
    { "trim",          "without white space at both ends",          one,              PLAIN, run_text, NULL, NULL },
    { "substring",     "some of its characters",                    substring_params, PLAIN, run_text, NULL, NULL },
    { "replace",       "another text in each place of a pattern",   replace_params,   PLAIN, run_text, NULL, NULL },
    { "split",         "the parts between a pattern",               two,              PLAIN, run_split,         NULL, NULL },
    { "join",          "several texts as one",                      join_params,      PLAIN, run_join,          NULL, NULL },
    { "count",         "how often a pattern is in it",              two,              PLAIN, run_text, NULL, NULL },
    { "contains",      "whether a pattern is in it",                two,              PLAIN, run_text, NULL, NULL },
    { "base64_encode", "as base64",                                 one,              PLAIN, run_text, NULL, NULL },
    { "base64_decode", "the text that base64 stands for",           one,              PLAIN, run_text, NULL, NULL },
    { "url_encode",    "with % for what a URL cannot hold",         one,              PLAIN, run_text, NULL, NULL },
    { "url_decode",    "the text that such % stand for",            one,              PLAIN, run_text, NULL, NULL },
    { "sha256",        "its digest, in hex digits",                 one,              PLAIN, run_text, NULL, NULL },
    { 0 },
};
/* clang-format on */

static const struct tool_spelling spellings[] = {
    { "text", "input" },        { "string", "input" }, { "find", "pattern" },
    { "separator", "pattern" }, { "texts", "parts" },  { 0 },
};

const struct tool string_tool = {
    .name = "string",
    .title = "Texts",
    .help = "Counts, changes and encodes texts exactly, character by character.",
    .icon = "textformat",
    .group = TOOLS_PLAIN,
    .spellings = spellings,
    .operations = rows,
};
