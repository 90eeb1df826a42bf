#include "config_entry.h"

const char *config_env(const struct config_request *r, const char *name)
{
    return r && r->env ? r->env(r->env_ctx, name) : getenv(name);
}

const char *config_no_env(void *ctx, const char *name)
{
    (void)ctx, (void)name;
    return NULL;
}

static bool name_char(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

/* What stands between the braces: a name, and perhaps a default. */
struct variable {
    struct span name, fallback;
    bool has_fallback;
};

static bool parse_variable(struct span inside, struct variable *out)
{
    size_t n = 0;

    if (span_starts(inside, "env:"))
        inside = span_from(inside, 4);
    while (n < inside.n && name_char(inside.p[n], n == 0))
        n++;
    out->name = span_make(inside.p, n);
    inside = span_from(inside, n);
    out->has_fallback = span_starts(inside, ":-");
    out->fallback = out->has_fallback ? span_from(inside, 2) : SPAN("");
    return n > 0 && (out->has_fallback || !inside.n);
}

/* The value is not looked at again: what a variable holds cannot name further variables. */
static void fill_in(struct buf *out, struct span whole, struct span inside,
                    const struct config_request *r, const struct expand_hooks *hooks)
{
    AUTO_FREE char *name = NULL;
    struct variable v;
    const char *value;

    if (!parse_variable(inside, &v)) {
        hooks->unset(hooks->ctx, whole);
        buf_add_span(out, whole);
        return;
    }
    name = mem_dupn(v.name.p, v.name.n);
    value = config_env(r, name);
    if (value && (*value || !v.has_fallback)) {
        buf_str(out, value);
        if (hooks->used)
            hooks->used(hooks->ctx, name, value);
    } else if (v.has_fallback) {
        buf_add_span(out, v.fallback);
    } else {
        hooks->unset(hooks->ctx, whole);
        buf_add_span(out, whole);
    }
}

void expand_each(struct buf *out, struct span text, const struct config_request *r,
                 const struct expand_hooks *hooks)
{
    size_t start = out->n;

    while (text.n && out->n - start <= CONFIG_VALUE_MAX) {
        const char *open = memmem(text.p, text.n, "${", 2);
        size_t before = open ? (size_t)(open - text.p) : text.n;
        const char *close = open ? memchr(open, '}', text.n - before) : NULL;
        struct span whole;

        if (!close) {
            buf_add_span(out, text);
            return;
        }
        buf_add(out, text.p, before);
        whole = span_make(open, (size_t)(close - open) + 1);
        fill_in(out, whole, span_make(open + 2, whole.n - 3), r, hooks);
        text = span_from(text, before + whole.n);
    }
}
