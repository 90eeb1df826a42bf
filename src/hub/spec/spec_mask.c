#include "spec_mask.h"
#include "spec.h"
#include "spec_names.h"
#include "spec_shapes.h"

enum {
    QUERY_KEY_MIN = 16, /* shorter values in a query are seldom keys */
    PATH_KEY_MIN = 24,  /* parts of a path are more often words */
};

/* Long, of letters and digits both, and nothing a person would write: dots and slashes part words,
 * numbers and dates. */
static bool looks_like_key(struct span s, size_t min)
{
    size_t digits = 0, letters = 0;

    if (shape_begins(s))
        return true;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (c >= '0' && c <= '9')
            digits++;
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
            letters++;
        else if (!strchr("-_=+%~", c) || !c)
            return false;
    }
    return s.n >= min && digits && letters;
}

bool mask_looks_like_key(struct span value) { return looks_like_key(value, QUERY_KEY_MIN); }

bool mask_wants(struct span name, struct span value)
{
    return name_hints(name) || looks_like_key(value, QUERY_KEY_MIN);
}

/* Where the shown text goes, and who wants to know what is not in it. */
struct masked_out {
    struct buf *out;
    mask_found_fn *found; /* may be NULL */
    void *ctx;
};

static void hide(const struct masked_out *s, struct span secret)
{
    buf_str(s->out, SPEC_MASKED);
    if (s->found)
        s->found(s->ctx, secret);
}

/* ---- URLs ---------------------------------------------------------------------------------- */

/* Up to the first of the stops, which stay in *rest. */
static struct span cut(struct span *rest, const char *stops)
{
    size_t i = 0;
    struct span head;

    while (i < rest->n && !(rest->p[i] && strchr(stops, rest->p[i])))
        i++;
    head = span_make(rest->p, i);
    *rest = span_from(*rest, i);
    return head;
}

static void take_stop(struct buf *out, struct span *rest)
{
    buf_byte(out, rest->p[0]);
    *rest = span_from(*rest, 1);
}

static void show_path(const struct masked_out *s, struct span path)
{
    while (path.n) {
        struct span part = cut(&path, "/");

        if (looks_like_key(part, PATH_KEY_MIN))
            hide(s, part);
        else
            buf_add_span(s->out, part);
        if (path.n)
            take_stop(s->out, &path);
    }
}

static void show_query(const struct masked_out *s, struct span query)
{
    while (query.n) {
        struct span pair = cut(&query, "&;");
        struct span name = cut(&pair, "=");
        struct span value = pair.n ? span_from(pair, 1) : name;

        /* A bare word has no name that could excuse it. */
        if (pair.n) {
            buf_add_span(s->out, name);
            buf_byte(s->out, '=');
        }
        if ((pair.n && name_hints(name)) || looks_like_key(value, QUERY_KEY_MIN))
            hide(s, value);
        else
            buf_add_span(s->out, value);
        if (query.n)
            take_stop(s->out, &query);
    }
}

static const char *find_scheme_end(struct span url)
{
    const char *at = url.n ? memmem(url.p, url.n, "://", 3) : NULL;

    for (const char *p = url.p; at && p < at; p++)
        if (!((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') && !(*p >= '0' && *p <= '9') &&
            !strchr("+-.", *p))
            return NULL;
    return at && at > url.p ? at : NULL;
}

static void show_url(const struct masked_out *s, struct span url)
{
    const char *scheme_end = find_scheme_end(url);
    struct span rest = url, authority;
    const char *at;

    if (!scheme_end) {
        buf_add_span(s->out, url);
        return;
    }
    rest = span_from(url, (size_t)(scheme_end - url.p) + 3);
    buf_add(s->out, url.p, (size_t)(rest.p - url.p));
    authority = cut(&rest, "/?#");
    at = authority.n ? memrchr(authority.p, '@', authority.n) : NULL;
    if (at) {
        hide(s, span_make(authority.p, (size_t)(at - authority.p)));
        authority = span_from(authority, (size_t)(at - authority.p));
    }
    buf_add_span(s->out, authority);
    show_path(s, cut(&rest, "?#"));
    if (rest.n && rest.p[0] == '?')
        take_stop(s->out, &rest);
    show_query(s, cut(&rest, "#"));
    if (rest.n > 1) {
        take_stop(s->out, &rest);
        hide(s, rest);
    }
}

void mask_url(struct buf *out, struct span url)
{
    show_url(&(struct masked_out){ .out = out }, url);
}

void mask_find_in_url(struct span url, mask_found_fn *fn, void *ctx)
{
    AUTO_BUF struct buf out = { 0 };

    show_url(&(struct masked_out){ &out, fn, ctx }, url);
}

/* ---- Command lines ------------------------------------------------------------------------- */

static bool has_bearer(struct span s)
{
    static const char word[] = "bearer ";

    for (size_t i = 0; i + sizeof word - 1 <= s.n; i++)
        if (span_is_nocase(span_make(s.p + i, sizeof word - 1), word))
            return true;
    return false;
}

/* "--api-key", "-token", "Authorization:", "API_KEY": a name, and it promises a secret. */
static bool secret_name(struct span name)
{
    for (size_t i = 0; i < name.n; i++)
        if (strchr(" /\\@.", name.p[i]))
            return false;
    return name.n && name_hints(name);
}

static void show_word(const struct masked_out *s, const char *word, const char *before)
{
    struct span rest = span_of(word), name;

    if ((before && before[0] == '-' && !strchr(before, '=') && word[0] != '-' &&
         secret_name(span_of(before))) ||
        shape_begins(rest)) {
        hide(s, rest);
        return;
    }
    if (find_scheme_end(rest)) {
        show_url(s, rest);
        return;
    }
    name = cut(&rest, "=:");
    buf_add_span(s->out, name);
    if (rest.n <= 1) {
        buf_add_span(s->out, rest);
        return;
    }
    take_stop(s->out, &rest);
    if (secret_name(name) || has_bearer(rest) || shape_begins(rest))
        hide(s, rest);
    else
        show_url(s, rest); /* "--url=https://user:password@host" */
}

void mask_word(struct buf *out, const char *word, const char *before)
{
    show_word(&(struct masked_out){ .out = out }, word, before);
}

void mask_find_in_word(const char *word, const char *before, mask_found_fn *fn, void *ctx)
{
    AUTO_BUF struct buf out = { 0 };

    show_word(&(struct masked_out){ &out, fn, ctx }, word, before);
}

void spec_describe(struct buf *out, const struct spec *s)
{
    const char *before = NULL;

    if (s->transport != SPEC_STDIO) {
        mask_url(out, span_of(s->url));
        return;
    }
    mask_word(out, s->command ? s->command : "", NULL);
    for (const char *const *word = s->args; *word; before = *word++) {
        buf_byte(out, ' ');
        mask_word(out, *word, before);
    }
}

/* ---- Free JSON ----------------------------------------------------------------------------- */

static void mask_member(struct json_out *o, const char *key, struct json v, bool secret)
{
    AUTO_ARENA struct arena a = { 0 };

    switch (json_type(v)) {
    case JSON_OBJECT:
        json_begin_object(o, key);
        JSON_FOREACH(m, v) {
            struct span name = json_key_str(m, &a);

            mask_member(o, arena_dup(&a, name), m, secret || name_hints(name));
        }
        json_end(o);
        return;
    case JSON_ARRAY:
        json_begin_array(o, key);
        JSON_FOREACH(m, v)
            mask_member(o, NULL, m, secret);
        json_end(o);
        return;
    case JSON_STRING:
        if (secret || shape_begins(json_str(v, &a))) {
            json_put_str(o, key, SPEC_MASKED);
        } else {
            AUTO_BUF struct buf shown = { 0 };

            mask_url(&shown, json_str(v, &a));
            json_put_span(o, key, buf_span(&shown));
        }
        return;
    case JSON_NUMBER:
        if (secret) {
            json_put_str(o, key, SPEC_MASKED);
            return;
        }
        break;
    default:
        break;
    }
    json_put_raw(o, key, json_text(v));
}

void mask_json(struct json_out *o, const char *key, struct json v)
{
    mask_member(o, key, v, false);
}
