/* arguments_call.c - tool(k: value, k: "json"): a call as programs write it. A value is JSON, a
 * text in single quotes, or whatever stands before the next comma. */
#include "arguments.h"

struct call_text {
    struct arguments *a;
    struct span rest;
    struct pb_error *err;
};

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void skip_space(struct call_text *t)
{
    while (t->rest.n && is_space(t->rest.p[0]))
        t->rest = span_from(t->rest, 1);
}

static bool skip(struct call_text *t, char c)
{
    skip_space(t);
    if (!t->rest.n || t->rest.p[0] != c)
        return false;
    t->rest = span_from(t->rest, 1);
    return true;
}

static struct span take(struct call_text *t, size_t n)
{
    struct span taken = span_make(t->rest.p, n);

    t->rest = span_from(t->rest, n);
    return taken;
}

static int unexpected(struct call_text *t, const char *wanted)
{
    struct span here = utf8_cut(t->rest, 40);

    return fail(t->err, PB_E_INVALID, "the call's arguments: expected %s at '%.*s'", wanted,
                SPAN_ARG(here));
}

/* From one quote to the next of its kind, both included; 0: there is none. */
static size_t quoted_length(struct span s)
{
    for (size_t i = 1; i < s.n; i++) {
        if (s.p[i] == '\\')
            i++;
        else if (s.p[i] == s.p[0])
            return i + 1;
    }
    return 0;
}

/* From a bracket to the one that closes it; 0: none does. Whether it is JSON is seen later. */
static size_t bracketed_length(struct span s)
{
    size_t depth = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '"') {
            size_t n = quoted_length(span_from(s, i));

            if (!n)
                return 0;
            i += n - 1;
        } else if (s.p[i] == '[' || s.p[i] == '{') {
            depth++;
        } else if ((s.p[i] == ']' || s.p[i] == '}') && --depth == 0) {
            return i + 1;
        }
    }
    return 0;
}

/* In single quotes a backslash keeps only a quote and itself from meaning anything. */
static struct span json_of_single(struct arguments *a, struct span inside)
{
    AUTO_BUF struct buf plain = { 0 };
    AUTO_BUF struct buf json = { 0 };

    for (size_t i = 0; i < inside.n; i++) {
        if (inside.p[i] == '\\' && i + 1 < inside.n && strchr("\\'", inside.p[i + 1]))
            i++;
        buf_byte(&plain, inside.p[i]);
    }
    json_quote(&json, buf_span(&plain));
    return span_make(arena_dup(&a->arena, buf_span(&json)), json.n);
}

static int read_key(struct call_text *t, struct span *key)
{
    AUTO_JSON struct json_doc doc = { 0 };
    size_t n = 0;

    skip_space(t);
    if (t->rest.n && t->rest.p[0] == '"') {
        n = quoted_length(t->rest);
        if (!n || json_parse(&doc, span_make(t->rest.p, n), NULL, NULL) < 0)
            return unexpected(t, "a key");
        *key = json_str(json_root(&doc), &t->a->arena);
    } else {
        while (n < t->rest.n && !is_space(t->rest.p[n]) && !strchr(":=,(){}[]\"'", t->rest.p[n]))
            n++;
        if (!n)
            return unexpected(t, "'key: value'");
        *key = span_make(t->rest.p, n);
    }
    take(t, n);
    if (!skip(t, ':') && !skip(t, '='))
        return unexpected(t, "':' after a key");
    skip(t, '='); /* k:=json is at home here, too */
    skip_space(t);
    return 0;
}

static int read_value(struct call_text *t, struct span key)
{
    size_t n = 0;
    char c = ',';

    if (t->rest.n)
        c = t->rest.p[0];
    if (c == '"' || c == '\'')
        n = quoted_length(t->rest);
    else if (c == '[' || c == '{')
        n = bracketed_length(t->rest);
    else
        while (n < t->rest.n && t->rest.p[n] != ',')
            n++;
    if (!n)
        return unexpected(t, "a value that is complete");
    if (c == '\'') {
        struct span whole = take(t, n);

        return arguments_add(t->a, ARGUMENT_JSON, key,
                             json_of_single(t->a, span_make(whole.p + 1, whole.n - 2)), t->err);
    }
    if (strchr("\"[{", c))
        return arguments_add_json(t->a, ARGUMENT_JSON, key, take(t, n), t->err);
    return arguments_add(t->a, ARGUMENT_WORD, key, span_trim(take(t, n)), t->err);
}

static int read_pairs(struct call_text *t)
{
    skip_space(t);
    if (t->rest.n && t->rest.p[0] == '{')
        return arguments_add_json(t->a, ARGUMENT_OBJECT, SPAN(""), t->rest, t->err);
    while (t->rest.n) {
        struct span key;
        int rc = read_key(t, &key);

        if (rc == 0)
            rc = read_value(t, key);
        if (rc < 0)
            return rc;
        skip_space(t);
        if (t->rest.n && !skip(t, ','))
            return unexpected(t, "','");
        skip_space(t);
    }
    return 0;
}

int arguments_read_call(struct arguments *a, const char *word, const char **tool,
                        struct pb_error *err)
{
    const char *open = strchr(word, '(');
    struct span all = span_trim(span_of(word));
    struct call_text t = { .a = a, .err = err };

    *tool = word;
    if (!open || open == word || all.p[all.n - 1] != ')')
        return 0;
    *tool = arena_dup(&a->arena, span_trim(span_make(word, (size_t)(open - word))));
    t.rest = span_make(open + 1, (size_t)(span_end(all) - open) - 2);
    return read_pairs(&t);
}
