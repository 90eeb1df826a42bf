#include "policy_impl.h"

/* ---- reading ---- */

/* "/a~1b/0" -> "a/b", "0". */
static int read_pointer(struct arg_condition *c, struct json v, struct arena *a,
                        struct pb_error *err)
{
    struct span s = json_str(v, a);

    if (!json_is(v, JSON_STRING) || (s.n && *s.p != '/'))
        return fail(err, PB_E_INVALID, "at: expected a JSON pointer such as \"/path\", got %.*s",
                    SPAN_ARG(json_text(v)));
    c->steps = arena_alloc(a, (s.n + 1) * sizeof *c->steps);
    while (s.n) {
        size_t n = 1, out = 0;
        char *step;

        while (n < s.n && s.p[n] != '/')
            n++;
        step = arena_alloc(a, n);
        for (size_t i = 1; i < n; i++) {
            bool escaped = s.p[i] == '~' && i + 1 < n && (s.p[i + 1] == '0' || s.p[i + 1] == '1');

            step[out++] = escaped ? s.p[++i] == '0' ? '~' : '/' : s.p[i];
        }
        c->steps[c->n++] = span_make(step, out);
        s = span_from(s, n);
    }
    return 0;
}

static int read_regex(struct arg_condition *c, struct json v, struct arena *a,
                      size_t *pattern_bytes, struct pb_error *err)
{
    if (!json_is(v, JSON_STRING))
        return fail(err, PB_E_INVALID, "regex: expected a string, got %s", json_type_phrase(v));
    if (pattern_new(&c->regex, json_str(v, a), pattern_bytes, err) < 0)
        return fail_in(err, "regex");
    return 0;
}

int arg_condition_read(struct arg_condition *c, struct json v, struct arena *a,
                       size_t *pattern_bytes, struct pb_error *err)
{
    unsigned wants = 0;
    int rc = 0;

    if (!json_is(v, JSON_OBJECT))
        return fail(err, PB_E_INVALID, "expected an object, got %s", json_type_phrase(v));
    JSON_FOREACH(m, v) {
        if (json_key_is(m, "at")) {
            rc = read_pointer(c, m, a, err);
            if (rc < 0)
                return rc;
            continue;
        }
        wants++;
        if (json_key_is(m, "regex"))
            rc = read_regex(c, m, a, pattern_bytes, err);
        else if (json_key_is(m, "equals"))
            rc = json_parse(&c->equals, json_text(m), NULL, err);
        else if (json_key_is(m, "glob") && (c->glob = json_cstr(m, a)))
            rc = 0;
        else if (json_key_is(m, "present") && (json_is(m, JSON_TRUE) || json_is(m, JSON_FALSE)))
            c->present = true, c->wants_present = json_bool(m, true);
        else
            rc =
                fail(err, PB_E_INVALID,
                     "%.*s: expected \"at\" with one of \"glob\" (a string), \"regex\" (a string), "
                     "\"equals\" and \"present\" (true or false)",
                     SPAN_ARG(json_key(m)));
        if (rc < 0)
            return rc;
    }
    if (!c->steps || wants != 1)
        return fail(err, PB_E_INVALID,
                    "expected \"at\" and exactly one of \"glob\", \"regex\", \"equals\", "
                    "\"present\"");
    return 0;
}

void arg_condition_done(struct arg_condition *c)
{
    pattern_free(c->regex);
    pattern_run_done(&c->run);
    json_doc_done(&c->equals);
}

/* ---- deciding ---- */

struct arg_walk {
    struct arg_condition *c;
    struct arena arena;
    size_t steps; /* left */
};

static enum holds holds_here(struct arg_walk *w, struct json v)
{
    struct arg_condition *c = w->c;
    struct span text = json_is(v, JSON_STRING) ? json_str(v, &w->arena) : json_text(v);
    int rc;

    if (c->present)
        return HOLDS_YES;
    if (c->equals.n)
        return json_equal(v, json_root(&c->equals)) ? HOLDS_YES : HOLDS_NO;
    if (json_is(v, JSON_ARRAY) || json_is(v, JSON_OBJECT))
        return HOLDS_NO;
    if (c->glob) {
        size_t cost = strlen(c->glob) * (text.n + 1);

        if (cost > w->steps)
            return HOLDS_UNDECIDED;
        w->steps -= cost;
        return glob_match(c->glob, text) ? HOLDS_YES : HOLDS_NO;
    }
    rc = pattern_search(c->regex, text, &c->run);
    w->steps -= c->run.steps < w->steps ? c->run.steps : w->steps;
    return rc < 0 ? HOLDS_UNDECIDED : rc ? HOLDS_YES : HOLDS_NO;
}

/* An element by its number, a member by its name. */
static struct json child_of(struct json v, struct span step)
{
    size_t i = 0;

    if (json_is(v, JSON_OBJECT))
        return json_get_span(v, step);
    if (!json_is(v, JSON_ARRAY) || !step.n || step.n > 7)
        return (struct json){ 0 };
    for (size_t at = 0; at < step.n; at++) {
        if (step.p[at] < '0' || step.p[at] > '9')
            return (struct json){ 0 };
        i = i * 10 + (size_t)(step.p[at] - '0');
    }
    return json_item(v, i);
}

static enum holds holds_below(struct arg_walk *w, struct json v, size_t at)
{
    enum holds any = HOLDS_NO;
    struct span step;

    if (json_is(v, JSON_NONE))
        return HOLDS_NO;
    if (!w->steps)
        return HOLDS_UNDECIDED;
    w->steps--;
    if (at == w->c->n)
        return holds_here(w, v);
    step = w->c->steps[at];
    if (!span_is(step, "*"))
        return holds_below(w, child_of(v, step), at + 1);
    JSON_FOREACH(child, v) {
        enum holds one = holds_below(w, child, at + 1);

        if (one == HOLDS_YES)
            return HOLDS_YES;
        if (one == HOLDS_UNDECIDED)
            any = HOLDS_UNDECIDED;
    }
    return any;
}

enum holds arg_condition_holds(struct arg_condition *c, struct json arguments, size_t *steps)
{
    struct arg_walk w = { .c = c, .steps = *steps };
    enum holds found = holds_below(&w, arguments, 0);

    *steps = w.steps;
    arena_done(&w.arena);
    if (c->present && !c->wants_present && found != HOLDS_UNDECIDED)
        return found == HOLDS_YES ? HOLDS_NO : HOLDS_YES;
    return found;
}
