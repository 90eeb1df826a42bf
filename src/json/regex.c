/* regex.c - regular expressions for searching in files.
 *
 * Each is compiled twice: for text that is UTF-8, and for bytes. Matching is bounded by PCRE2's
 * limit of steps, which starts anew at each character of the subject: who calls keeps subjects
 * short. look() reads the expression for what makes searching fast, and in doubt knows nothing. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "regex.h"
#include <ctype.h>
#include <pcre2.h>

struct regex {
    pcre2_code *text, *bytes; /* bytes NULL: it has no meaning for them */
    bool same;                /* both mean the same: bytes are enough */
    bool lines, nocase;
    struct buf required[REGEX_REQUIRED_MAX];
    size_t n_required;
};

/* ---- what is known of it before it runs ---- */

struct regex_look {
    struct span in;
    struct buf run, best;
    struct buf branches[REGEX_REQUIRED_MAX]; /* the best of each alternative */
    size_t n;
    size_t char_at; /* where the last character of the run begins */
    bool unknown;   /* nothing can be said of what is required */
    bool by_line, chars;
};

static void end_run(struct regex_look *l)
{
    if (l->run.n > l->best.n) {
        struct buf shorter = l->best;

        l->best = l->run;
        l->run = shorter;
    }
    l->run.n = 0;
    l->char_at = 0;
}

/* One byte alone is hardly rarer than a line. */
static void end_branch(struct regex_look *l)
{
    end_run(l);
    if (l->best.n < 2 || l->n == REGEX_REQUIRED_MAX)
        l->unknown = true;
    else
        l->branches[l->n++] = buf_move(&l->best);
    l->best.n = 0;
}

static void add_literal(struct regex_look *l, size_t n)
{
    l->char_at = l->run.n;
    if ((signed char)l->in.p[0] < 0) {
        l->chars = true;
        end_run(l);
    } else {
        buf_byte(&l->run, l->in.p[n - 1]);
    }
    l->in = span_from(l->in, n);
}

/* A class to its end. ] is itself at the beginning, and [:alpha:] has its own. */
static void skip_class(struct regex_look *l)
{
    size_t i = 1;

    if (i < l->in.n && l->in.p[i] == '^') {
        l->chars = true;
        i++;
    }
    if (i < l->in.n && l->in.p[i] == ']')
        i++;
    for (; i < l->in.n && l->in.p[i] != ']'; i++) {
        if (l->in.p[i] == '[' && i + 1 < l->in.n && strchr(":.=", l->in.p[i + 1]))
            l->unknown = l->chars = true; /* rare, and where it ends is hard to say */
        l->chars |= l->in.p[i] == '\\' || (signed char)l->in.p[i] < 0;
        i += l->in.p[i] == '\\';
    }
    l->in = span_from(l->in, i < l->in.n ? i + 1 : l->in.n);
    end_run(l);
}

static void take_escape(struct regex_look *l)
{
    /* what sees more than its place, or means something else where lines are together */
    static const char far[] = "AzZGKkgRXCQEN123456789";
    char c = '\0';

    if (l->in.n > 1)
        c = l->in.p[1];
    if (c && ispunct((unsigned char)c)) {
        add_literal(l, 2);
        return;
    }
    l->by_line |= !c || strchr(far, c);
    l->unknown |= c == 'Q' || c == 'E' || !c;
    l->chars |= !strchr("dwsbBtr", c);
    end_run(l);
    l->in = span_from(l->in, l->in.n > 1 ? 2 : 1);
}

/* What is in a group is not looked at for what is required. It may need its own line. */
static void take_group(struct regex_look *l, size_t *depth)
{
    bool plain =
        l->in.n < 2 || (l->in.p[1] != '?' && l->in.p[1] != '*') || span_starts(l->in, "(?:");

    l->by_line |= !plain;
    l->unknown |= !plain && !span_starts(l->in, "(?=") && !span_starts(l->in, "(?!") &&
                  !span_starts(l->in, "(?<");
    l->chars |= !plain;
    end_run(l);
    ++*depth;
    l->in = span_from(l->in, 1);
}

static void take_repeat(struct regex_look *l)
{
    char c = l->in.p[0];

    if (c != '+') { /* the character before it may be missing */
        l->run.n = l->char_at;
    }
    end_run(l);
    l->in = span_from(l->in, 1);
    if (c == '{')
        while (l->in.n && (isdigit((unsigned char)l->in.p[0]) || l->in.p[0] == ','))
            l->in = span_from(l->in, 1);
    if (c == '{' && l->in.n && l->in.p[0] == '}')
        l->in = span_from(l->in, 1);
    if (l->in.n && l->in.p[0] == '+')
        l->by_line = true; /* takes what it can and gives nothing back */
}

static void take_other(struct regex_look *l, size_t *depth)
{
    char c = l->in.p[0];

    l->by_line |= c == '$'; /* also before a carriage return */
    l->chars |= c == '.';
    *depth -= c == ')' && *depth;
    if (c == '|' && !*depth)
        end_branch(l);
    else
        end_run(l);
    l->in = span_from(l->in, 1);
}

static void look(struct regex_look *l)
{
    size_t depth = 0;

    while (l->in.n) {
        char c = l->in.p[0];

        if (c == '\\')
            take_escape(l);
        else if (c == '[')
            skip_class(l);
        else if (c == '(')
            take_group(l, &depth);
        else if (strchr("?*+{", c) && c)
            take_repeat(l);
        else if (strchr(".^$|)", c) && c)
            take_other(l, &depth);
        else
            add_literal(l, 1);
        if (depth)
            l->run.n = l->char_at = 0;
    }
    end_branch(l);
}

static void know(struct regex *r, struct span text, unsigned flags)
{
    struct regex_look l = { .in = text };

    r->nocase = flags & REGEX_NOCASE;
    if (flags & REGEX_LITERAL) {
        r->lines = true;
        return;
    }
    look(&l);
    r->lines = !l.by_line;
    r->same = !l.chars;
    for (size_t i = 0; i < l.n; i++)
        if (l.unknown)
            buf_done(&l.branches[i]);
        else
            r->required[r->n_required++] = l.branches[i];
    buf_done(&l.best);
    buf_done(&l.run);
}

/* ---- making it ---- */

static pcre2_code *compile(struct span text, uint32_t options, int *error, size_t *at)
{
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    pcre2_code *code;

    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_set_parens_nest_limit(context, JSON_PATTERN_NEST_MAX);
    code = pcre2_compile((PCRE2_SPTR)text.p, text.n, options, error, at, context);
    pcre2_compile_context_free(context);
    if (code)
        pcre2_jit_compile(code, PCRE2_JIT_COMPLETE); /* without it: slower, not otherwise */
    return code;
}

int regex_new(struct regex **out, struct span text, unsigned flags, struct pb_error *err)
{
    uint32_t options = (flags & REGEX_NOCASE ? PCRE2_CASELESS : 0) |
                       (flags & REGEX_LITERAL ? PCRE2_LITERAL : PCRE2_MULTILINE);
    AUTO(regex) struct regex *r = NEW(struct regex);
    size_t at = 0, size = 0;
    int error = 0;

    if (text.n > REGEX_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "an expression of more than %d bytes", REGEX_BYTES_MAX);
    r->text =
        compile(text, options | PCRE2_UTF | (flags & REGEX_LITERAL ? 0 : PCRE2_NEVER_BACKSLASH_C),
                &error, &at);
    if (!r->text) {
        char why[96] = "";

        pcre2_get_error_message(error, (PCRE2_UCHAR *)why, sizeof why);
        return fail(err, PB_E_INVALID, "%s, at character %zu", why, at);
    }
    pcre2_pattern_info(r->text, PCRE2_INFO_SIZE, &size);
    if (size > JSON_PATTERN_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "it takes more than %d bytes", JSON_PATTERN_BYTES_MAX);
    r->bytes = compile(text, options, &error, &at);
    know(r, text, flags);
    r->same &= r->bytes != NULL;
    *out = TAKE(r);
    return 0;
}

void regex_free(struct regex *r)
{
    if (!r)
        return;
    pcre2_code_free(r->text);
    pcre2_code_free(r->bytes);
    for (size_t i = 0; i < r->n_required; i++)
        buf_done(&r->required[i]);
    free(r);
}

bool regex_takes_lines(const struct regex *r) { return r->lines; }

size_t regex_required(const struct regex *r, struct span out[static REGEX_REQUIRED_MAX],
                      bool *nocase)
{
    *nocase = r->nocase;
    for (size_t i = 0; i < r->n_required; i++)
        out[i] = buf_span(&r->required[i]);
    return r->n_required;
}

/* ---- running it ---- */

static bool run_ready(struct regex_run *run)
{
    if (run->data)
        return true;
    run->data = pcre2_match_data_create(1, NULL);
    run->context = pcre2_match_context_create(NULL);
    run->stack = pcre2_jit_stack_create(32768, REGEX_STACK_BYTES, NULL);
    if (!run->data || !run->context) {
        regex_run_done(run);
        return false;
    }
    pcre2_set_match_limit(run->context, REGEX_STEPS_MAX);
    pcre2_set_heap_limit(run->context, JSON_PATTERN_HEAP_KIB);
    if (run->stack)
        pcre2_jit_stack_assign(run->context, NULL, run->stack);
    return true;
}

int regex_find(const struct regex *r, struct span subject, struct regex_run *run, struct span *hit)
{
    const pcre2_code *code = r->same || !utf8_valid(subject) ? r->bytes : r->text;
    const size_t *at;
    int rc;

    if (!code)
        return 0;
    if (!run_ready(run))
        return -PB_E_LIMIT;
    rc = pcre2_match(code, (PCRE2_SPTR)(subject.p ? subject.p : ""), subject.n, 0,
                     PCRE2_NO_UTF_CHECK, run->data, run->context);
    if (rc < 0)
        return rc == PCRE2_ERROR_NOMATCH ? 0 : -PB_E_LIMIT;
    at = pcre2_get_ovector_pointer(run->data);
    /* \K can put the beginning behind the end */
    *hit = span_make(subject.p + at[0], at[1] > at[0] ? at[1] - at[0] : 0);
    return 1;
}

void regex_run_done(struct regex_run *run)
{
    pcre2_match_data_free(run->data);
    pcre2_match_context_free(run->context);
    pcre2_jit_stack_free(run->stack);
    *run = (struct regex_run){ 0 };
}
