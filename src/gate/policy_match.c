#include "hub/spec/spec.h"
#include "policy_impl.h"

/* What a tool may say about itself, and what it means when it says nothing. */
static const struct {
    const char *word, *member;
    bool otherwise;
} annotations[] = {
    { "read_only", "readOnlyHint", false },
    { "destructive", "destructiveHint", true },
    { "idempotent", "idempotentHint", false },
    { "open_world", "openWorldHint", true },
};
enum { READ_ONLY, DESTRUCTIVE };

int annotation_read(struct rule *r, struct span word, struct pb_error *err)
{
    bool negated = word.n && *word.p == '!';
    struct span plain = negated ? span_from(word, 1) : word;

    for (unsigned i = 0; i < ARRAY_LEN(annotations); i++)
        if (span_is(plain, annotations[i].word)) {
            *(negated ? &r->must_not : &r->must) |= 1U << i;
            return 0;
        }
    return fail(err, PB_E_INVALID,
                "expected \"read_only\", \"destructive\", \"idempotent\" or \"open_world\", or one "
                "of them behind \"!\", got \"%.*s\"",
                SPAN_ARG(word));
}

unsigned policy_annotations(struct span definition)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json said = { 0 };
    unsigned bits = 0;

    if (definition.n &&
        json_parse(&doc, definition, &(struct json_opts){ .keep_depth = 2 }, NULL) == 0)
        said = json_get(json_root(&doc), "annotations");
    for (unsigned i = 0; i < ARRAY_LEN(annotations); i++) {
        struct json v =
            json_is(said, JSON_OBJECT) ? json_get(said, annotations[i].member) : (struct json){ 0 };

        if (json_bool(v, annotations[i].otherwise))
            bits |= 1U << i;
    }
    /* The protocol: that it destroys means something only for what is not read only. */
    return bits & 1U << READ_ONLY ? bits & ~(1U << DESTRUCTIVE) : bits;
}

static bool any_glob(const char *const *globs, struct span text)
{
    for (; *globs; globs++)
        if (glob_match(*globs, text))
            return true;
    return false;
}

static bool is_tool_call(const struct policy_subject *s)
{
    return strcmp(s->method, "tools/call") == 0;
}

/* What a rule says about tools is for calls of tools, unless it says otherwise. */
static bool fits_method(const struct rule *r, const struct policy_subject *s)
{
    if (r->methods)
        return any_glob(r->methods, span_of(s->method));
    return is_tool_call(s) || !(r->tools || r->n_args || r->must || r->must_not);
}

/* An operation of a tool of our own ("file_operations.read_file") is meant by its full name, by
 * that of the tool and by its own, whichever the caller has used. */
static bool names_tool(const char *const *globs, const struct policy_subject *s)
{
    const char *dot = s->server && strcmp(s->server, SPEC_OWN) == 0 && s->tool.n
                          ? memchr(s->tool.p, '.', s->tool.n)
                          : NULL;
    size_t before = dot ? (size_t)(dot - s->tool.p) : 0;

    return any_glob(globs, s->tool) || (dot && (any_glob(globs, span_make(s->tool.p, before)) ||
                                                any_glob(globs, span_from(s->tool, before + 1))));
}

/* Who decodes more often than this is not helped. */
enum { URI_ROUNDS = 3 };

/* Is the URI, as it is written or as a server may take it, one of these? To be let through it must
 * be so in both ways, to be stopped in one; then what is behind "?" or "#" does not matter either.
 */
static bool fits_uri(const struct rule *r, struct span uri)
{
    AUTO_BUF struct buf even = { 0 }, odd = { 0 };
    bool lets = r->action == POLICY_ALLOW, written = any_glob(r->tools, uri), fits = false;

    if (lets != written) /* decided, the one way or the other */
        return written;
    for (int i = 0; i < URI_ROUNDS; i++) {
        struct buf *now = i % 2 ? &odd : &even, *last = i % 2 ? &even : &odd;
        struct span form, path;
        size_t path_end;

        now->n = 0;
        uri_normal(now, i ? buf_span(last) : uri, &path_end);
        form = buf_span(now);
        path = span_make(form.p, path_end);
        fits = any_glob(r->tools, form) || any_glob(r->uris, form) ||
               (!lets && (any_glob(r->tools, path) || any_glob(r->uris, path)));
        if (lets || fits || (i && span_eq(form, buf_span(last))))
            break;
    }
    return fits;
}

static bool fits_name(const struct rule *r, const struct policy_subject *s)
{
    return strncmp(s->method, "resources/", 10) == 0 ? fits_uri(r, s->tool)
                                                     : names_tool(r->tools, s);
}

/* All that does not depend on who asks, when, and with which arguments. */
static bool fits_tool(const struct rule *r, const struct policy_subject *s)
{
    if (!fits_method(r, s) ||
        (r->servers && !any_glob(r->servers, span_of(s->server ? s->server : ""))) ||
        (r->tools && !fits_name(r, s)))
        return false;
    return (s->annotations & r->must) == r->must && !(s->annotations & r->must_not);
}

static bool fits_caller(const struct rule *r, const struct policy_subject *s)
{
    return (!r->faces || r->faces & 1U << s->face) &&
           (!r->callers || any_glob(r->callers, span_of(s->client ? s->client : ""))) &&
           (!r->modes || any_glob(r->modes, span_of(s->mode ? s->mode : ""))) &&
           time_of_day_holds(&r->when, s->now_ms);
}

static enum holds fits_arguments(const struct rule *r, struct json arguments, bool readable,
                                 size_t *steps)
{
    enum holds all = HOLDS_YES;

    if (r->n_args && !readable)
        return HOLDS_UNDECIDED;
    for (size_t i = 0; i < r->n_args; i++) {
        enum holds one = arg_condition_holds(&r->args[i], arguments, steps);

        if (one == HOLDS_NO)
            return HOLDS_NO;
        if (one == HOLDS_UNDECIDED)
            all = HOLDS_UNDECIDED;
    }
    return all;
}

bool policy_concerns(const struct policy *p, const struct policy_subject *s)
{
    if (is_tool_call(s) && p->usual[s->face] != POLICY_ALLOW)
        return true;
    for (size_t i = 0; i < p->n; i++)
        if (fits_tool(&p->rules[i], s))
            return true;
    return false;
}

/* What the rules read is what is executed: of a key that is there twice nobody knows which. */
static bool read_arguments(struct json_doc *doc, struct span text)
{
    return json_parse(doc, text.n ? text : SPAN("{}"),
                      &(struct json_opts){ .unique_depth = JSON_ALL }, NULL) == 0;
}

void policy_decide(const struct policy *p, const struct policy_subject *s,
                   struct policy_verdict *out)
{
    AUTO_JSON struct json_doc doc = { 0 };
    bool read = false, readable = false;
    size_t steps = POLICY_STEPS_MAX; /* whatever the caller has sent */

    *out = (struct policy_verdict){ .by = ASK_ANYBODY };
    if (is_tool_call(s))
        out->action = p->usual[s->face];
    for (size_t i = 0; i < p->n; i++) {
        const struct rule *r = &p->rules[i];
        enum holds holds;

        if (!fits_tool(r, s) || !fits_caller(r, s))
            continue;
        if (r->n_args && !read) {
            readable = read_arguments(&doc, s->arguments);
            read = true;
        }
        holds = fits_arguments(r, json_root(&doc), readable, &steps);
        if (holds == HOLDS_YES || (holds == HOLDS_UNDECIDED && r->action != POLICY_ALLOW)) {
            *out = (struct policy_verdict){ r->action, r->name, r->reason, r->by, r->ask_ms };
            return;
        }
    }
}
