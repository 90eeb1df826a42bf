/* fuzz_uri_template - the first line is a template, the rest a URI. What a match costs stays within
 * its bound, whoever gives it fewer steps than it needs gets no answer, what it finds are values
 * that fit into the URI; and a template takes what can be made of it. */
#include "mcp/rpc/rpc.h"
#include "mcp/rpc/uri_template.h"

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

/* {"x":"value"}: every value lies in the URI, decoded, which makes nothing longer. */
static void check_values(struct span uri, struct span values)
{
    struct json_opts strict = { .unique_depth = JSON_ALL };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    size_t sum = 0;

    MUST(json_parse(&doc, values, &strict, NULL) == 0);
    JSON_FOREACH(v, json_root(&doc)) {
        struct span text = json_str(v, &a);

        MUST(!memchr(uri.p, '%', uri.n) ? span_has(uri, text) : text.n <= uri.n);
        sum += text.n;
    }
    MUST(sum <= uri.n);
}

static bool match(const struct uri_template *t, struct span uri, size_t *cost, struct buf *out)
{
    size_t steps = MCP_TEMPLATE_STEPS_MAX;
    bool fits = uri_template_match(t, uri, &steps, out);

    MUST(fits || !out->n);
    MUST(steps > 0); /* none of these lengths can use them up */
    *cost = MCP_TEMPLATE_STEPS_MAX - steps;
    MUST(*cost <= 1 + (uri.n + 1) * 3 * (size_t)(MCP_TEMPLATE_PARTS_MAX + uri.n / 16));
    return fits;
}

/* One step less than it takes is not enough; as many as it takes are. */
static void check_budget(const struct uri_template *t, struct span uri, size_t cost, bool fits)
{
    AUTO_BUF struct buf out = { 0 };
    size_t exact = cost, fewer = cost - 1;

    MUST(uri_template_match(t, uri, &exact, &out) == fits && exact == 0);
    out.n = 0;
    MUST(!uri_template_match(t, uri, &fewer, &out) && fewer == 0 && !out.n);
}

/* Each variable becomes "v". */
static void expand(struct buf *out, struct span template)
{
    while (template.n) {
        const char *close = template.p[0] == '{' ? memchr(template.p, '}', template.n) : NULL;
        size_t n = close ? (size_t)(close - template.p) + 1 : 1;
        bool segment = close && template.p[1] == '/';

        if (!close)
            buf_byte(out, template.p[0]);
        else if (template.p[1] != '?')
            for (size_t i = 0; i < n; i++)
                if (i == 0 || template.p[i] == ',')
                    buf_str(out, segment ? "/v" : "v");
        template = span_from(template, n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(uri_template) struct uri_template *t = NULL;
    struct span text = { (const char *)data, size }, uri = SPAN("");
    AUTO_BUF struct buf out = { 0 }, made = { 0 }, values = { 0 };
    const char *end = size ? memchr(data, '\n', size) : NULL;
    struct pb_error err = { 0 };
    size_t cost;
    bool fits;

    if (size > 4096)
        return 0;
    if (end) {
        uri = span_from(text, (size_t)(end - text.p) + 1);
        text.n = (size_t)(end - text.p);
    }
    if (uri_template_new(&t, text, &err) < 0) {
        MUST(err.msg[0]);
        return 0;
    }
    fits = match(t, uri, &cost, &out);
    check_budget(t, uri, cost, fits);
    if (fits)
        check_values(uri, buf_span(&out));
    expand(&made, text);
    MUST(match(t, buf_span(&made), &cost, &values));
    check_values(buf_span(&made), buf_span(&values));
    return 0;
}
