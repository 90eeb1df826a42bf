#include "config_edit_text.h"

enum { INLINE_ARRAY_COLUMNS = 80 };

/* How something that is put in looks. */
struct look {
    struct span newline; /* "\n" or "\r\n"; empty: everything on one line */
    struct span unit;    /* one step of indentation */
    struct span base;    /* the indentation of what is put in */
    struct span colon;   /* white space behind a colon */
};

void edit_text_done(struct edit_text *e)
{
    buf_done(&e->text);
    json_doc_done(&e->doc);
}

struct json edit_text_root(const struct edit_text *e) { return json_root(&e->doc); }

static size_t offset_of(const struct edit_text *e, const char *p)
{
    return (size_t)(p - e->text.p);
}

unsigned edit_text_line(const struct edit_text *e, struct json v)
{
    unsigned line, column;

    json_position(buf_span(&e->text), offset_of(e, json_text(v).p), &line, &column);
    return line;
}

int edit_text_parse(struct edit_text *e, struct pb_error *err)
{
    struct pb_error why;

    if (span_trim(buf_span(&e->text)).n == 0) {
        e->text.n = 0;
        buf_str(&e->text, "{}\n");
    }
    if (json_parse(&e->doc, buf_span(&e->text), &(struct json_opts){ .unique_depth = JSON_ALL },
                   &why) < 0) {
        fail_in(&why, "%s", e->path);
        return fail_copy(err, &why);
    }
    if (!json_is(edit_text_root(e), JSON_OBJECT))
        return fail(err, PB_E_INVALID, "%s:%u: expected an object, got %s", e->path,
                    edit_text_line(e, edit_text_root(e)), json_type_phrase(edit_text_root(e)));
    return 0;
}

/* Bytes from..to of the text give way to `with`. */
static int splice(struct edit_text *e, size_t from, size_t to, struct span with,
                  struct pb_error *err)
{
    struct buf out = { 0 };

    if (e->text.n - (to - from) + with.n > CONFIG_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "%s: it would grow past %d bytes", e->path, CONFIG_BYTES_MAX);
    buf_add(&out, e->text.p, from);
    buf_add_span(&out, with);
    buf_add(&out, e->text.p + to, e->text.n - to);
    buf_done(&e->text);
    e->text = out;
    e->changed = true;
    return edit_text_parse(e, err);
}

/* Where a child begins, its key included. */
static const char *child_start(struct json child)
{
    struct span key = json_key(child);

    return key.p ? key.p - 1 : json_text(child).p;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static struct span space_before(const struct edit_text *e, const char *p)
{
    const char *start = p;

    while (start > e->text.p && is_space(start[-1]))
        start--;
    return span_make(start, (size_t)(p - start));
}

/* The white space that the line of p begins with. */
static struct span line_indent(const struct edit_text *e, const char *p)
{
    const char *start = p, *end;

    while (start > e->text.p && start[-1] != '\n')
        start--;
    for (end = start; end < p && (*end == ' ' || *end == '\t'); end++)
        ;
    return span_make(start, (size_t)(end - start));
}

static struct span after_newline(struct span space)
{
    const char *nl = space.n ? memrchr(space.p, '\n', space.n) : NULL;

    return nl ? span_from(space, (size_t)(nl + 1 - space.p)) : (struct span){ 0 };
}

static bool has_newline(struct span s) { return s.n && memchr(s.p, '\n', s.n); }

static struct span newline_of(const struct edit_text *e)
{
    const char *nl = e->text.n ? memchr(e->text.p, '\n', e->text.n) : NULL;

    return nl && nl > e->text.p && nl[-1] == '\r' ? SPAN("\r\n") : SPAN("\n");
}

/* What the first member of the file is indented by; it stands for all. */
static struct span unit_of(const struct edit_text *e)
{
    struct json first = json_first(edit_text_root(e));
    struct span unit = { 0 };

    if (!json_is(first, JSON_NONE))
        unit = after_newline(space_before(e, child_start(first)));
    return unit.n ? unit : SPAN("  ");
}

/* Is the file written on one line, on purpose? An empty object is not a purpose. */
static bool on_one_line(const struct edit_text *e)
{
    struct json first = json_first(edit_text_root(e));

    return !json_is(first, JSON_NONE) && !has_newline(space_before(e, child_start(first)));
}

static struct span space_after_colon(struct json member)
{
    struct span key = json_key(member);
    const char *value = json_text(member).p, *start = value;

    if (!key.p)
        return SPAN(" ");
    while (is_space(start[-1]))
        start--;
    return span_make(start, (size_t)(value - start));
}

static void indent(struct buf *out, const struct look *look, unsigned depth)
{
    buf_add_span(out, look->newline);
    buf_add_span(out, look->base);
    for (unsigned i = 0; i < depth; i++)
        buf_add_span(out, look->unit);
}

static bool fits_a_line(struct json array)
{
    if (json_text(array).n > INLINE_ARRAY_COLUMNS)
        return false;
    JSON_FOREACH(item, array)
        if (json_is(item, JSON_OBJECT) || json_is(item, JSON_ARRAY))
            return false;
    return true;
}

static void lay_out(struct buf *out, struct json v, const struct look *look, unsigned depth)
{
    bool object = json_is(v, JSON_OBJECT), first = true;
    bool flat = json_is(v, JSON_ARRAY) && fits_a_line(v);

    if (!look->newline.n || json_len(v) == 0) {
        buf_add_span(out, json_text(v));
        return;
    }
    buf_byte(out, object ? '{' : '[');
    JSON_FOREACH(child, v) {
        if (!first)
            buf_str(out, flat ? ", " : ",");
        first = false;
        if (!flat)
            indent(out, look, depth + 1);
        if (object) {
            buf_byte(out, '"');
            buf_add_span(out, json_key(child));
            buf_str(out, "\": ");
        }
        lay_out(out, child, look, depth + 1);
    }
    if (!flat)
        indent(out, look, depth);
    buf_byte(out, object ? '}' : ']');
}

static void write_child(struct buf *out, const char *key, struct json value,
                        const struct look *look)
{
    if (key) {
        json_quote(out, span_of(key));
        buf_byte(out, ':');
        buf_add_span(out, look->colon);
    }
    lay_out(out, value, look, 0);
}

static int replace_value(struct edit_text *e, struct json old, struct json value,
                         struct pb_error *err)
{
    struct span was = json_text(old);
    bool one_line = !has_newline(space_before(e, child_start(old)));
    struct look look = {
        .newline = one_line ? (struct span){ 0 } : newline_of(e),
        .unit = unit_of(e),
        .base = line_indent(e, child_start(old)),
    };
    AUTO_BUF struct buf with = { 0 };
    size_t from = offset_of(e, was.p);

    if (span_eq(json_text(value), was))
        return 0;
    lay_out(&with, value, &look, 0);
    return span_eq(buf_span(&with), was) ? 0 : splice(e, from, from + was.n, buf_span(&with), err);
}

static int append_child(struct edit_text *e, struct json last, const char *key, struct json value,
                        struct pb_error *err)
{
    struct span space = space_before(e, child_start(last));
    bool one_line = !has_newline(space);
    struct look look = {
        .newline = one_line ? (struct span){ 0 } : newline_of(e),
        .unit = unit_of(e),
        .base = after_newline(space),
        .colon = space_after_colon(last),
    };
    AUTO_BUF struct buf with = { 0 };
    size_t at = offset_of(e, span_end(json_text(last)));

    buf_byte(&with, ',');
    if (one_line)
        buf_add_span(&with, space);
    else
        indent(&with, &look, 0);
    write_child(&with, key, value, &look);
    return splice(e, at, at, buf_span(&with), err);
}

static int fill_empty(struct edit_text *e, struct json container, const char *key,
                      struct json value, struct pb_error *err)
{
    struct span was = json_text(container);
    struct span unit = unit_of(e), outer = line_indent(e, was.p);
    AUTO_BUF struct buf base = { 0 }, with = { 0 };
    struct look look = { .unit = unit, .colon = SPAN(" ") };
    size_t from = offset_of(e, was.p);

    buf_add_span(&base, outer);
    buf_add_span(&base, unit);
    look.base = buf_span(&base);
    if (!on_one_line(e))
        look.newline = newline_of(e);
    buf_byte(&with, *was.p);
    if (look.newline.n)
        indent(&with, &look, 0);
    write_child(&with, key, value, &look);
    if (look.newline.n) {
        look.base = outer;
        indent(&with, &look, 0);
    }
    buf_byte(&with, was.p[was.n - 1]);
    return splice(e, from, from + was.n, buf_span(&with), err);
}

/* key NULL: into an array; `old` JSON_NONE: at the end. */
static int put(struct edit_text *e, struct json container, struct json old, const char *key,
               struct span value, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json last = { 0 };

    if (json_parse(&doc, value, NULL, err) < 0)
        return fail_in(err, "the new value of '%s'", key ? key : "an element");
    if (!json_is(old, JSON_NONE))
        return replace_value(e, old, json_root(&doc), err);
    JSON_FOREACH(child, container)
        last = child;
    if (json_is(last, JSON_NONE))
        return fill_empty(e, container, key, json_root(&doc), err);
    return append_child(e, last, key, json_root(&doc), err);
}

int edit_text_put(struct edit_text *e, struct json object, const char *key, struct span value,
                  struct pb_error *err)
{
    return put(e, object, json_get(object, key), key, value, err);
}

int edit_text_put_item(struct edit_text *e, struct json array, struct json child, struct span value,
                       struct pb_error *err)
{
    return put(e, array, child, NULL, value, err);
}

/* It takes the place of the one that was the first, which moves behind it as it stood. */
int edit_text_put_first(struct edit_text *e, struct json array, struct span value,
                        struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf with = { 0 };
    struct json first = json_first(array);
    struct span space;
    struct look look = { .unit = unit_of(e) };
    size_t at;

    if (json_is(first, JSON_NONE))
        return put(e, array, (struct json){ 0 }, NULL, value, err);
    if (json_parse(&doc, value, NULL, err) < 0)
        return fail_in(err, "the new value of an element");
    space = space_before(e, child_start(first));
    look.base = after_newline(space);
    look.newline = has_newline(space) ? newline_of(e) : (struct span){ 0 };
    at = offset_of(e, child_start(first));
    write_child(&with, NULL, json_root(&doc), &look);
    buf_byte(&with, ',');
    if (has_newline(space))
        indent(&with, &look, 0);
    else
        buf_byte(&with, ' ');
    return splice(e, at, at, buf_span(&with), err);
}

int edit_text_drop(struct edit_text *e, struct json container, struct json child,
                   struct pb_error *err)
{
    struct json prev = { 0 }, next = json_next(child);
    struct span all = json_text(container);
    size_t from, to;

    JSON_FOREACH(c, container) {
        if (c.at == child.at)
            break;
        prev = c;
    }
    if (!json_is(next, JSON_NONE)) {
        from = offset_of(e, child_start(child));
        to = offset_of(e, child_start(next));
    } else if (!json_is(prev, JSON_NONE)) {
        from = offset_of(e, span_end(json_text(prev)));
        to = offset_of(e, span_end(json_text(child)));
    } else {
        from = offset_of(e, all.p) + 1;
        to = from + all.n - 2;
    }
    return splice(e, from, to, (struct span){ 0 }, err);
}
