/* result_text.c - a result in the words that a person would want to read. */
#include "result_text.h"

struct text_out {
    struct buf *b;
    struct arena arena;
    bool started;
};

static void begin_line(struct text_out *t)
{
    if (t->started)
        buf_byte(t->b, '\n');
    t->started = true;
}

/* The bytes behind base64, by its length alone. */
static size_t decoded_size(struct span s)
{
    size_t pad = 0;

    while (pad < 2 && pad < s.n && s.p[s.n - 1 - pad] == '=')
        pad++;
    return (s.n - pad) * 3 / 4;
}

static void put_text(struct text_out *t, struct json block)
{
    begin_line(t);
    buf_add_span(t->b, json_str(json_get(block, "text"), &t->arena));
}

static void put_data(struct text_out *t, const char *what, struct json block)
{
    struct span type = json_str(json_get(block, "mimeType"), &t->arena);
    struct span data = json_str(json_get(block, "data"), &t->arena);

    if (!type.n)
        type = SPAN("unknown type");
    begin_line(t);
    buf_printf(t->b, "[%s: %.*s, %zu bytes]", what, SPAN_ARG(type), decoded_size(data));
}

static void put_image(struct text_out *t, struct json block) { put_data(t, "Image", block); }

static void put_audio(struct text_out *t, struct json block) { put_data(t, "Audio", block); }

static void put_contents(struct text_out *t, struct json resource)
{
    struct span uri = json_str(json_get(resource, "uri"), &t->arena);

    if (json_is(json_get(resource, "text"), JSON_STRING)) {
        put_text(t, resource);
        return;
    }
    begin_line(t);
    buf_str(t->b, "[Resource: ");
    buf_add_span(t->b, uri);
    buf_byte(t->b, ']');
}

static void put_resource(struct text_out *t, struct json block)
{
    put_contents(t, json_get(block, "resource"));
}

/* clang-format off */
static const struct {
    const char *type;
    void (*put)(struct text_out *t, struct json block);
} blocks[] = {
    { "audio",         put_audio },
    { "image",         put_image },
    { "resource",      put_resource },
    { "resource_link", put_contents },
    { "text",          put_text },
};
/* clang-format on */

static void put_block(struct text_out *t, struct json block)
{
    for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
        if (json_str_is(json_get(block, "type"), blocks[i].type)) {
            blocks[i].put(t, block);
            return;
        }
    begin_line(t); /* a kind of the future: better shown raw than not at all */
    buf_add_span(t->b, json_text(block));
}

static void put_message(struct text_out *t, struct json message)
{
    struct json content = json_get(message, "content");

    if (!json_is(content, JSON_ARRAY)) {
        put_block(t, content);
        return;
    }
    JSON_FOREACH(block, content)
        put_block(t, block);
}

/* Tools give content, resources contents, prompts messages. */
/* clang-format off */
static const struct {
    const char *member;
    void (*put)(struct text_out *t, struct json item);
} members[] = {
    { "content",  put_block },
    { "contents", put_contents },
    { "messages", put_message },
};
/* clang-format on */

/* Messages lie deepest: [{"content":[{"resource":{ and what is in there. */
static void put_items(struct text_out *t, struct span array,
                      void (*put)(struct text_out *t, struct json item))
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (array.n && json_parse(&doc, array, &(struct json_opts){ .keep_depth = 5 }, NULL) == 0)
        JSON_FOREACH(item, json_root(&doc))
            put(t, item);
}

void result_text(struct buf *out, struct span json)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct text_out t = { .b = out };
    struct json root;

    if (json_parse(&doc, json, &(struct json_opts){ .keep_depth = 1 }, NULL) < 0)
        return;
    root = json_root(&doc);
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        put_items(&t, json_text(json_get(root, members[i].member)), members[i].put);
    if (!t.started)
        buf_add_span(out, json_text(json_get(root, "structuredContent")));
    arena_done(&t.arena);
}

bool result_is_error(struct span result)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return json_parse(&doc, result, &(struct json_opts){ .keep_depth = 1 }, NULL) == 0 &&
           json_bool(json_get(json_root(&doc), "isError"), false);
}
