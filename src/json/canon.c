#include "chars.h"
#include "number.h"
#include "tape.h"
#include "write.h"

static int by_key(const void *x, const void *y)
{
    const struct json *a = x, *b = y;
    int order = chars_cmp(json_key(*a), json_key(*b));

    return order ? order : (a->at > b->at) - (a->at < b->at);
}

/* The members in the order of their decoded keys; the caller frees. */
static struct json *sorted_members(struct json object)
{
    struct json *list = mem_alloc(json_len(object) * sizeof *list);
    size_t n = 0;

    JSON_FOREACH(v, object)
        list[n++] = v;
    qsort(list, n, sizeof *list, by_key);
    return list;
}

static bool children_equal(struct json a, struct json b)
{
    struct json y = json_first(b);

    JSON_FOREACH(x, a) {
        if (!json_equal(x, y))
            return false;
        y = json_next(y);
    }
    return true;
}

static bool strings_equal(const struct json_doc *a, const struct json_node *x,
                          const struct json_doc *b, const struct json_node *y)
{
    if ((x->info | y->info) & NODE_ESCAPED)
        return chars_cmp(node_inside(a, x), node_inside(b, y)) == 0;
    return span_eq(node_inside(a, x), node_inside(b, y));
}

static bool keys_equal(struct json a, struct json b)
{
    return strings_equal(a.doc, node_of(a) - 1, b.doc, node_of(b) - 1);
}

static bool same_key_order(struct json a, struct json b)
{
    struct json y = json_first(b);

    JSON_FOREACH(x, a) {
        if (!keys_equal(x, y))
            return false;
        y = json_next(y);
    }
    return true;
}

static bool objects_equal(struct json a, struct json b)
{
    AUTO_FREE struct json *x = NULL;
    AUTO_FREE struct json *y = NULL;

    if (same_key_order(a, b))
        return children_equal(a, b);
    x = sorted_members(a);
    y = sorted_members(b);
    for (size_t i = 0, n = json_len(a); i < n; i++)
        if (!keys_equal(x[i], y[i]) || !json_equal(x[i], y[i]))
            return false;
    return true;
}

/* The depth of both values, and with it the recursion, is at most JSON_DEPTH_MAX. */
bool json_equal(struct json a, struct json b)
{
    enum json_type t = json_type(a);

    if (t != json_type(b) || json_len(a) != json_len(b))
        return false;
    switch (t) {
    case JSON_NUMBER:
        return number_cmp(json_text(a), json_text(b)) == 0;
    case JSON_STRING:
        return strings_equal(a.doc, node_of(a), b.doc, node_of(b));
    case JSON_ARRAY:
        return children_equal(a, b);
    case JSON_OBJECT:
        return objects_equal(a, b);
    default:
        return true;
    }
}

static void canonical_string(struct buf *out, const struct json_doc *doc, const struct json_node *n)
{
    struct span inside = node_inside(doc, n);
    struct chars c = chars_of(inside);
    int32_t ch;

    buf_byte(out, '"');
    if (!(n->info & NODE_ESCAPED))
        buf_add_span(out, inside);
    else
        while ((ch = chars_next(&c)) != CHARS_END)
            json_escape(out, (uint32_t)ch);
    buf_byte(out, '"');
}

static void canonical_object(struct buf *out, struct json v)
{
    AUTO_FREE struct json *list = sorted_members(v);

    buf_byte(out, '{');
    for (size_t i = 0, n = json_len(v); i < n; i++) {
        if (i)
            buf_byte(out, ',');
        canonical_string(out, v.doc, node_of(list[i]) - 1);
        buf_byte(out, ':');
        json_canonical(out, list[i]);
    }
    buf_byte(out, '}');
}

static void canonical_array(struct buf *out, struct json v)
{
    char before = '[';

    JSON_FOREACH(item, v) {
        buf_byte(out, before);
        json_canonical(out, item);
        before = ',';
    }
    buf_str(out, before == '[' ? "[]" : "]");
}

void json_canonical(struct buf *out, struct json v)
{
    switch (json_type(v)) {
    case JSON_STRING:
        canonical_string(out, v.doc, node_of(v));
        break;
    case JSON_ARRAY:
        canonical_array(out, v);
        break;
    case JSON_OBJECT:
        canonical_object(out, v);
        break;
    default:
        buf_add_span(out, json_text(v));
    }
}
