/* scrub_json.c - JSON without its secrets. The text is checked first and then read from one end to
 * the other, token by token: what is not touched is copied as it was written, and no tape is kept,
 * so that a text may have any number of values. What the check refused for its size is read as far
 * as it makes sense. */
#include "hub/spec/spec.h"
#include "named.h"
#include "scrub.h"

struct scrub_reader {
    struct scrub_run *r;
    struct span text;
    size_t at;     /* what is read next, */
    size_t copied; /* and what was written so far, if anything was */
    struct buf *out;
    unsigned base;  /* the level at which this text begins */
    bool wants_key; /* the next string is one */
    enum name_claim claim;
    bool touched;
    struct scrub_level root; /* around it all */
};

static struct scrub_level *level_of(struct scrub_reader *d)
{
    return d->r->depth > d->base ? &d->r->levels[d->r->depth - 1] : &d->root;
}

/* Puts something in the place of bytes of the text. */
static void replace(struct scrub_reader *d, size_t from, size_t end, struct span by)
{
    buf_add(d->out, d->text.p + d->copied, from - d->copied);
    buf_add_span(d->out, by);
    d->copied = end;
    d->touched = true;
}

static void hide(struct scrub_reader *d, size_t from, size_t end, enum hit_why why)
{
    replace(d, from, end, SPAN("\"" SPEC_MASKED "\""));
    scrub_tell(d->r, why);
}

/* ---- strings ---- */

/* Behind the closing quote of the string that begins at `at`; 0: there is none. */
static size_t string_end(struct span text, size_t at)
{
    const char *p = text.p + at + 1, *end = span_end(text), *quote = NULL;

    while (p < end) {
        const char *slash;

        if (!quote || quote < p)
            quote = memchr(p, '"', (size_t)(end - p));
        if (!quote)
            return 0;
        slash = memchr(p, '\\', (size_t)(quote - p));
        if (!slash)
            return (size_t)(quote - text.p) + 1;
        p = slash + 2;
    }
    return 0;
}

/* The characters of a string, decoded; of a text that was refused what it can be. */
static struct span decode(struct scrub_reader *d, size_t from, size_t end, struct json_doc *doc)
{
    struct span inside = span_make(d->text.p + from + 1, end - from - 2);

    if (!inside.n || !memchr(inside.p, '\\', inside.n))
        return inside;
    if (json_parse(doc, span_make(d->text.p + from, end - from), NULL, NULL) < 0)
        return inside;
    return json_str(json_root(doc), &d->r->arena);
}

/* What a string says may be JSON, too. */
static bool scrub_inside(struct scrub_run *r, struct span text, struct buf *out)
{
    struct span start = span_trim(text);
    bool is_json = start.n && (start.p[0] == '{' || start.p[0] == '[');
    bool changed = false;

    if (!is_json || r->nest + 1 >= REDACT_NEST_MAX)
        return scrub_text(r, text, out);
    if (!r->nest++)
        r->told_depth = r->depth;
    changed = scrub_json(r, text, out, &is_json);
    r->nest--;
    return is_json ? changed : scrub_text(r, text, out);
}

/* True: something in it was hidden. */
static bool scrub_string(struct scrub_reader *d, size_t from, size_t end)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf clean = { 0 }, quoted = { 0 };

    if (!scrub_suspects(d->r->o->finder, span_make(d->text.p + from + 1, end - from - 2),
                        &d->r->steps))
        return false;
    if (!scrub_inside(d->r, decode(d, from, end, &doc), &clean))
        return false;
    json_quote(&quoted, buf_span(&clean));
    replace(d, from, end, buf_span(&quoted));
    return true;
}

static bool is_named_secret(struct scrub_reader *d, struct span decoded, bool inherited)
{
    if (named_is_hidden(decoded))
        return false;
    if (inherited || d->claim == NAME_SECRET || d->claim == NAME_WORDS)
        return true;
    return d->claim == NAME_DOUBTFUL && mask_looks_like_key(decoded);
}

/* {"name":"API_KEY","value":"..."} */
static bool is_pair_name(struct span key) { return span_is(key, "name") || span_is(key, "key"); }

static bool promises_secret(struct scrub_reader *d, size_t from, size_t end)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return name_claims(decode(d, from, end, &doc)) == NAME_SECRET;
}

/* Is there such a name behind `at`, in the same object? */
static bool name_follows(struct scrub_reader *d, size_t at)
{
    unsigned depth = 0;
    bool wants_key = false, named = false;

    while (at < d->text.n) {
        char c = d->text.p[at];
        size_t end = c == '"' ? string_end(d->text, at) : at + 1;

        if (!end || (!depth && (c == '}' || c == ']')))
            return false;
        if (!d->r->steps)
            return true; /* it cannot be told any more */
        d->r->steps -= end - at < d->r->steps ? end - at : d->r->steps;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (c == '"' && !depth) {
            AUTO_JSON struct json_doc doc = { 0 };

            if (!wants_key && named && promises_secret(d, at, end))
                return true;
            named = wants_key && is_pair_name(decode(d, at, end, &doc));
        }
        wants_key = (wants_key && c != '"') || (c == ',' && !depth);
        at = end;
    }
    return false;
}

/* `at` is behind the key "value". */
static bool is_pair_value(struct scrub_reader *d, struct scrub_level *l, size_t at)
{
    if (!l->named_value && !l->looked)
        l->named_value = name_follows(d, at);
    l->looked = true;
    return l->named_value;
}

static void read_value_string(struct scrub_reader *d, size_t from, size_t end)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct scrub_level *l = level_of(d);
    bool pair_name = l->object && is_pair_name(l->key);
    bool secret = false;

    if (l->secret || d->claim != NAME_PLAIN || pair_name) {
        struct span decoded = decode(d, from, end, &doc);

        secret = is_named_secret(d, decoded, l->secret) && !named_is_directory(l->key, decoded);
        l->named_value |= pair_name && name_claims(decoded) == NAME_SECRET;
    }
    if (secret)
        hide(d, from, end, HIT_NAME);
    else
        scrub_string(d, from, end);
}

static struct span keep_text(struct scrub_run *r, struct span s)
{
    return span_make(arena_dup(&r->arena, s), s.n);
}

/* A key may be a secret itself; and the place where something is found is told with it. */
static void read_key(struct scrub_reader *d, size_t from, size_t end)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf clean = { 0 }, quoted = { 0 };
    struct scrub_level *l = level_of(d);
    struct span inside = span_make(d->text.p + from + 1, end - from - 2);
    struct span key = decode(d, from, end, &doc);

    l->key = key;
    d->claim = l->of_schemas ? NAME_PLAIN : name_claims(key);
    if (span_is(key, "value") && is_pair_value(d, l, end))
        d->claim = NAME_SECRET;
    if (!scrub_suspects(d->r->o->finder, inside, &d->r->steps))
        return;
    l->key = SPAN(SPEC_MASKED);
    if (scrub_text(d->r, key, &clean)) {
        json_quote(&quoted, buf_span(&clean));
        replace(d, from, end, buf_span(&quoted));
        l->key = keep_text(d->r, buf_span(&clean));
    } else {
        l->key = key;
    }
}

/* ---- the rest ---- */

static void read_word(struct scrub_reader *d, size_t from)
{
    size_t end = from;
    struct span word;
    bool number;

    while (end < d->text.n && !strchr(" \t\r\n,:{}[]\"", d->text.p[end]))
        end++;
    word = span_make(d->text.p + from, end - from);
    number = word.n && (word.p[0] == '-' || (word.p[0] >= '0' && word.p[0] <= '9'));
    if (number && d->claim == NAME_SECRET)
        hide(d, from, end, HIT_NAME);
    else if (number) {
        AUTO_HITS struct hits hits = { .one = true, .steps = d->r->steps };

        finder_find(d->r->o->finder, word, &hits);
        d->r->steps = hits.steps;
        if (hits_enough(&hits))
            hide(d, from, end, HIT_VALUE);
    }
    d->at = end > from ? end : from + 1;
}

static bool names_schemas(struct span key)
{
    static const char *const names[] = { "$defs", "definitions", "patternProperties",
                                         "properties" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (span_is(key, names[i]))
            return true;
    return false;
}

/* All that a secret name holds is hidden with it; but what describes a member called "password" is
 * no password. */
static bool open_level(struct scrub_reader *d, bool object)
{
    struct scrub_level *l = level_of(d), *inner;

    if (d->r->depth == JSON_DEPTH_MAX)
        return false;
    inner = &d->r->levels[d->r->depth++];
    *inner = (struct scrub_level){ .object = object };
    inner->secret = l->secret || d->claim == NAME_SECRET;
    inner->of_schemas = l->object && names_schemas(l->key);
    d->claim = NAME_PLAIN;
    d->wants_key = object;
    return true;
}

static bool close_level(struct scrub_reader *d)
{
    if (d->r->depth == d->base)
        return false;
    d->r->depth--;
    d->wants_key = false;
    d->claim = NAME_PLAIN;
    return true;
}

static void next_member(struct scrub_reader *d)
{
    struct scrub_level *l = level_of(d);

    l->index++;
    d->claim = NAME_PLAIN;
    d->wants_key = l->object;
}

static bool read_string(struct scrub_reader *d)
{
    size_t from = d->at, end = string_end(d->text, from);

    if (!end)
        return false;
    if (d->wants_key)
        read_key(d, from, end);
    else
        read_value_string(d, from, end);
    d->wants_key = false;
    d->at = end;
    return true;
}

/* False: it makes no sense any more. */
static bool read_token(struct scrub_reader *d)
{
    char c = d->text.p[d->at];

    switch (c) {
    case '"':
        return read_string(d);
    case '{':
    case '[':
        d->at++;
        return open_level(d, c == '{');
    case '}':
    case ']':
        d->at++;
        return close_level(d);
    case ',':
        next_member(d);
        d->at++;
        return true;
    case ' ':
    case '\t':
    case '\r':
    case '\n':
    case ':':
        d->at++;
        return true;
    default:
        read_word(d, d->at);
        return true;
    }
}

/* What was hidden and told stays so; what follows is read as any other text. */
static bool end_as_text(struct scrub_reader *d, bool *is_json)
{
    struct span rest = span_from(d->text, d->copied);

    if (!scrub_text(d->r, rest, d->out))
        buf_add_span(d->out, rest);
    *is_json = true;
    return true;
}

bool scrub_json(struct scrub_run *r, struct span text, struct buf *out, bool *is_json)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct scrub_reader d = { .r = r, .text = text, .out = out, .base = r->depth };
    int rc = json_parse(&doc, text, &(struct json_opts){ .keep_depth = 1 }, NULL);

    *is_json = rc == 0 || rc == -(int)PB_E_LIMIT;
    if (!*is_json)
        return false;
    while (d.at < text.n)
        if (!read_token(&d)) {
            *is_json = false;
            break;
        }
    r->depth = d.base;
    if (!*is_json)
        return d.touched && end_as_text(&d, is_json);
    if (d.touched)
        buf_add(out, text.p + d.copied, text.n - d.copied);
    return d.touched;
}
