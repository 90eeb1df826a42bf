/* result_text.c - a result as text: S0-47 to S0-51. */
#include "texts.h"

/* How many bytes base64 stands for. */
static size_t decoded_size(struct span base64)
{
    size_t n = base64.n;

    while (n > 0 && base64.p[n - 1] == '=')
        n--;
    return n / 4 * 3 + (n % 4 ? n % 4 - 1 : 0);
}

static void put_string(struct buf *out, struct json v, const char *fallback, struct arena *a)
{
    if (json_is(v, JSON_STRING))
        buf_add_span(out, json_str(v, a));
    else
        buf_str(out, fallback);
}

static void put_media(struct buf *out, const char *what, struct json item, struct arena *a)
{
    buf_printf(out, "[%s: ", what);
    put_string(out, json_get(item, "mimeType"), "unknown type", a);
    buf_printf(out, ", %zu bytes]", decoded_size(json_str(json_get(item, "data"), a)));
}

static void put_text(struct buf *out, struct json item, struct arena *a)
{
    put_string(out, json_get(item, "text"), "", a);
}

static void put_image(struct buf *out, struct json item, struct arena *a)
{
    put_media(out, "Image", item, a);
}

static void put_audio(struct buf *out, struct json item, struct arena *a)
{
    put_media(out, "Audio", item, a);
}

static void put_link(struct buf *out, struct json item, struct arena *a)
{
    buf_str(out, "[Resource: ");
    put_string(out, json_get(item, "uri"), "", a);
    buf_byte(out, ']');
}

static void put_resource(struct buf *out, struct json item, struct arena *a)
{
    struct json resource = json_get(item, "resource");

    if (json_is(json_get(resource, "text"), JSON_STRING))
        put_text(out, resource, a);
    else
        put_link(out, resource, a);
}

/* clang-format off */
static const struct {
    const char *type;
    void (*put)(struct buf *out, struct json item, struct arena *a);
} types[] = {
    { "audio",         put_audio },
    { "image",         put_image },
    { "resource",      put_resource },
    { "resource_link", put_link },
    { "text",          put_text },
};
/* clang-format on */

static void put_item(struct buf *out, struct json item, struct arena *a)
{
    struct json type = json_get(item, "type");

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (json_str_is(type, types[i].type)) {
            types[i].put(out, item, a);
            return;
        }
    }
    buf_byte(out, '[');
    put_string(out, type, "unknown content", a);
    buf_byte(out, ']');
}

/* The root, its content, an item, its resource: nothing below is looked at. */
static const struct json_opts shallow = { .keep_depth = 4 };

void result_text(struct buf *out, struct span result)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    struct json content;
    bool first = true;

    if (json_parse(&doc, result, &shallow, NULL) < 0)
        return;
    content = json_get(json_root(&doc), "content");
    JSON_FOREACH(item, content) {
        if (!first)
            buf_byte(out, '\n');
        put_item(out, item, &arena);
        first = false;
    }
    if (first)
        buf_add_span(out, json_text(json_get(json_root(&doc), "structuredContent")));
}

bool result_is_error(struct span result)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return json_parse(&doc, result, &(struct json_opts){ .keep_depth = 1 }, NULL) == 0 &&
           json_bool(json_get(json_root(&doc), "isError"), false);
}
