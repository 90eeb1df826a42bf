/* Patterns are ECMA-262 by the draft, and matched by PCRE2. What makes PCRE2 behave so:
 *   PCRE2_UTF                     one character is one code point, as with the `u` flag
 *   no PCRE2_UCP                  \d \w \b know ASCII only
 *   PCRE2_DOLLAR_ENDONLY          $ is the very end, not "or before a last line feed"
 *   PCRE2_ALT_BSUX, both          \u0041 \u{41} \x41
 *   PCRE2_MATCH_UNSET_BACKREF     a group that took no part matches the empty string
 *   PCRE2_ALLOW_EMPTY_CLASS       [] matches nothing, [^] everything
 *   PCRE2_NEWLINE_ANYCRLF         . stops at CR and LF
 * and translate() does the rest: \s and \S know Unicode's spaces; in a class [ is itself, and so is
 * a hyphen beside \w; \p takes long names; two \u of a surrogate pair are one character. What is
 * left: U+2028 and U+2029 match . and \S in a class; what ECMA-262 would refuse but Perl knows is
 * taken as Perl means it.
 *
 * PCRE2's own match limit starts anew at each character of the subject, so it bounds nothing
 * for a long one. Therefore automatic callouts: our own meter runs at each item of the pattern
 * and counts over the whole match, far moves included. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "schema_parts.h"
#include <pcre2.h>

enum {
    SCAN_BYTES = 256,  /* subject bytes passed over that count as one step */
    WEIGHT_BYTES = 64, /* longer patterns may have slow classes: each such piece counts again */
};

struct pattern {
    pcre2_code *code;
    char *text;
    size_t n;
    uint64_t weight;
    uint64_t fixed; /* the largest n in {n}: scanned without a callout in between */
    bool backrefs;
};

/* ---- From ECMA-262 to PCRE2 -------------------------------------------------------------- */

#define MORE_SPACES                                                                         \
    "\xc2\xa0\xe1\x9a\x80\xe2\x80\x80-\xe2\x80\x8a\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaf\xe2" \
    "\x81\x9f\xe3\x80\x80\xef\xbb\xbf"

/* clang-format off */
static const struct {
    const char *name, *known_as;
} categories[] = {
    { "Cased_Letter",          "L&" },
    { "Close_Punctuation",     "Pe" },
    { "Connector_Punctuation", "Pc" },
    { "Control",               "Cc" },
    { "Currency_Symbol",       "Sc" },
    { "Dash_Punctuation",      "Pd" },
    { "Decimal_Number",        "Nd" },
    { "Enclosing_Mark",        "Me" },
    { "Final_Punctuation",     "Pf" },
    { "Format",                "Cf" },
    { "Initial_Punctuation",   "Pi" },
    { "LC",                    "L&" },
    { "Letter",                "L"  },
    { "Letter_Number",         "Nl" },
    { "Line_Separator",        "Zl" },
    { "Lowercase_Letter",      "Ll" },
    { "Mark",                  "M"  },
    { "Math_Symbol",           "Sm" },
    { "Modifier_Letter",       "Lm" },
    { "Modifier_Symbol",       "Sk" },
    { "Nonspacing_Mark",       "Mn" },
    { "Number",                "N"  },
    { "Open_Punctuation",      "Ps" },
    { "Other",                 "C"  },
    { "Other_Letter",          "Lo" },
    { "Other_Number",          "No" },
    { "Other_Punctuation",     "Po" },
    { "Other_Symbol",          "So" },
    { "Paragraph_Separator",   "Zp" },
    { "Private_Use",           "Co" },
    { "Punctuation",           "P"  },
    { "Separator",             "Z"  },
    { "Space_Separator",       "Zs" },
    { "Spacing_Mark",          "Mc" },
    { "Surrogate",             "Cs" },
    { "Symbol",                "S"  },
    { "Titlecase_Letter",      "Lt" },
    { "Unassigned",            "Cn" },
    { "Uppercase_Letter",      "Lu" },
    { "digit",                 "Nd" },
    { "punct",                 "P"  },
};
/* clang-format on */

struct translation {
    struct span in;
    struct buf out;
    bool in_class;
    bool after_set; /* in a class: the last item was \w or the like */
    uint64_t fixed;
};

static bool is_set(struct span s)
{
    return s.n > 1 && s.p[0] == '\\' && s.p[1] && strchr("dDwWsSpP", s.p[1]);
}

static struct span take(struct translation *t, size_t n)
{
    struct span head = span_make(t->in.p, n);

    t->in = span_from(t->in, n);
    return head;
}

/* \p{...}: false when it is not of that form. */
static bool take_property(struct translation *t)
{
    static const char *const prefixes[] = { "General_Category=", "gc=" };
    const char *close = t->in.n > 3 && t->in.p[2] == '{' ? memchr(t->in.p, '}', t->in.n) : NULL;
    struct span name;

    if (!close)
        return false;
    name = span_make(t->in.p + 3, (size_t)(close - t->in.p) - 3);
    buf_add_span(&t->out, take(t, 3));
    take(t, name.n + 1);
    for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
        if (span_starts(name, prefixes[i]))
            name = span_from(name, strlen(prefixes[i]));
    for (size_t i = 0; i < ARRAY_LEN(categories); i++)
        if (span_is(name, categories[i].name))
            name = span_of(categories[i].known_as);
    buf_add_span(&t->out, name);
    buf_byte(&t->out, '}');
    return true;
}

/* The four hex digits of \uXXXX at s, or 0. */
static uint32_t unicode_escape(struct span s)
{
    uint32_t v = 0;

    if (s.n < 6 || s.p[0] != '\\' || s.p[1] != 'u')
        return 0;
    for (size_t i = 2; i < 6; i++) {
        if (hex_digit(s.p[i]) < 0)
            return 0;
        v = v << 4 | (uint32_t)hex_digit(s.p[i]);
    }
    return v;
}

static bool take_pair(struct translation *t)
{
    uint32_t high = unicode_escape(t->in), low;

    if (high < 0xd800 || high > 0xdbff)
        return false;
    low = unicode_escape(span_from(t->in, 6));
    if (low < 0xdc00 || low > 0xdfff)
        return false;
    take(t, 12);
    utf8_append(&t->out, 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
    return true;
}

static void take_escape(struct translation *t)
{
    char c = t->in.p[t->in.n > 1]; /* a lone backslash stands for itself, and is refused later */

    t->after_set = is_set(t->in);
    if ((c == 'p' || c == 'P') && take_property(t))
        return;
    if (c == 'u' && take_pair(t))
        return;
    if (c == 's' || (c == 'S' && !t->in_class)) {
        take(t, 2);
        buf_str(&t->out, t->in_class ? "\\s" MORE_SPACES
                         : c == 's'  ? "[\\s" MORE_SPACES "]"
                                     : "[^\\s" MORE_SPACES "]");
        return;
    }
    buf_add_span(&t->out, take(t, t->in.n > 1 ? 2 : 1));
}

static void note_repeat(struct translation *t)
{
    uint64_t n = 0;

    for (size_t i = 1; i < t->in.n && t->in.p[i] >= '0' && t->in.p[i] <= '9' && n < 100000; i++)
        n = n * 10 + (uint64_t)(t->in.p[i] - '0');
    t->fixed = n > t->fixed ? n : t->fixed;
}

static void take_in_class(struct translation *t)
{
    char c = t->in.p[0];
    bool hyphen = c == '-' && (t->after_set || is_set(span_from(t->in, 1)));

    t->in_class = c != ']';
    t->after_set = false;
    if (c == '[' || hyphen)
        buf_byte(&t->out, '\\');
    buf_add_span(&t->out, take(t, 1));
}

static void take_outside(struct translation *t)
{
    bool negated = span_starts(t->in, "[^");

    t->in_class = t->in.p[0] == '[';
    t->after_set = false;
    if (t->in.p[0] == '{')
        note_repeat(t);
    buf_add_span(&t->out, take(t, negated ? 2 : 1));
}

static void translate(struct translation *t)
{
    while (t->in.n) {
        if (t->in.p[0] == '\\')
            take_escape(t);
        else if (t->in_class)
            take_in_class(t);
        else
            take_outside(t);
    }
}

/* ---- Compiling --------------------------------------------------------------------------- */

static pcre2_code *compile(struct span text, int *error, size_t *at)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    pcre2_code *code;

    pcre2_set_newline(context, PCRE2_NEWLINE_ANYCRLF);
    pcre2_set_compile_extra_options(context, PCRE2_EXTRA_ALT_BSUX);
    pcre2_set_parens_nest_limit(context, JSON_PATTERN_NEST_MAX);
    code =
        pcre2_compile((PCRE2_SPTR)(text.p ? text.p : ""), text.n,
                      PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_DOLLAR_ENDONLY | PCRE2_ALT_BSUX |
                          PCRE2_MATCH_UNSET_BACKREF | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_AUTO_CALLOUT,
                      error, at, context);
    pcre2_compile_context_free(context);
    return code;
}

int pattern_new(struct pattern **out, struct span text, size_t *bytes, struct pb_error *err)
{
    struct translation t = { .in = text };
    struct pattern *p;
    pcre2_code *code;
    size_t at = 0, size = 0, alone = 0;
    uint32_t backrefs = 0;
    int error = 0;

    translate(&t);
    code = compile(buf_span(&t.out), &error, &at);
    buf_done(&t.out);
    if (!code) {
        char why[96] = "";

        pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof why);
        return fail(err, PB_E_INVALID, "not a usable pattern: %s, near character %zu", why, at);
    }
    pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size);
    pcre2_pattern_info(code, PCRE2_INFO_BACKREFMAX, &backrefs);
    bytes = bytes ? bytes : &alone;
    *bytes += size;
    if (*bytes > JSON_PATTERN_BYTES_MAX) {
        pcre2_code_free(code);
        return fail(err, PB_E_LIMIT, "patterns of more than %d bytes", JSON_PATTERN_BYTES_MAX);
    }
    p = NEW(struct pattern);
    *p = (struct pattern){
        .code = code,
        .text = mem_dupn(text.p, text.n),
        .n = text.n,
        .weight = 1 + text.n / WEIGHT_BYTES,
        .fixed = t.fixed,
        .backrefs = backrefs > 0,
    };
    *out = p;
    return 0;
}

void pattern_free(struct pattern *p)
{
    if (!p)
        return;
    pcre2_code_free(p->code);
    free(p->text);
    free(p);
}

struct span pattern_text(const struct pattern *p) { return span_make(p->text, p->n); }

/* ---- Matching ---------------------------------------------------------------------------- */

struct meter {
    const struct pattern *p;
    uint64_t steps;
    size_t at;
};

static int count_step(pcre2_callout_block *b, void *ctx)
{
    struct meter *m = ctx;
    size_t moved = b->current_position > m->at ? b->current_position - m->at : 0;

    /* comparing with what a group matched may cost the whole subject, without moving */
    if (m->p->backrefs)
        moved = b->subject_length;
    m->at = b->current_position;
    m->steps += 1 + (moved + m->p->fixed) * m->p->weight / SCAN_BYTES;
    return m->steps > JSON_PATTERN_STEPS_MAX ? PCRE2_ERROR_CALLOUT : 0;
}

static bool run_ready(struct pattern_run *run)
{
    if (!run->data)
        run->data = pcre2_match_data_create(1, NULL);
    if (!run->context) {
        run->context = pcre2_match_context_create(NULL);
        if (run->context) {
            pcre2_set_match_limit(run->context, JSON_PATTERN_STEPS_MAX);
            pcre2_set_heap_limit(run->context, JSON_PATTERN_HEAP_KIB);
        }
    }
    return run->data && run->context;
}

int pattern_search(const struct pattern *p, struct span subject, struct pattern_run *run)
{
    struct meter meter = { .p = p, .steps = subject.n / SCAN_BYTES };
    int rc;

    if (!run_ready(run))
        return -PB_E_LIMIT;
    pcre2_set_callout(run->context, count_step, &meter);
    rc = pcre2_match(p->code, (PCRE2_SPTR)(subject.p ? subject.p : ""), subject.n, 0, 0, run->data,
                     run->context);
    run->steps = meter.steps;
    if (rc >= 0)
        return 1;
    return rc == PCRE2_ERROR_NOMATCH ? 0 : -PB_E_LIMIT;
}

void pattern_run_done(struct pattern_run *run)
{
    pcre2_match_data_free(run->data);
    pcre2_match_context_free(run->context);
    *run = (struct pattern_run){ 0 };
}
